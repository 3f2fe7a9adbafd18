"""Every scenario gives its closed-form dates on each back end, and the same on both."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from conformance import SCENARIOS, Outcome, Scenario, run
from differences import differences

for file in sorted(Path(__file__).parent.glob("scenarios_*.py")):
    import_module(file.stem)


def disagreements(scenario: Scenario, outcome: Outcome) -> list[str]:
    """Compare what a scenario gave with what it must give."""
    # Values of actors that the scenario spawns need not be given.
    expected = {"error": None, "energy": scenario.energy, **scenario.expected}
    asked = {name: outcome.values.get(name) for name in expected}
    found = list(differences(expected, asked))
    if scenario.clock is not None:
        found += differences(scenario.clock, outcome.clock, "clock")
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_closed_form_on_each_back_end_and_the_same_on_both(
    scenario: Scenario, tmp_path: Path
) -> None:
    coroutines = run(scenario, "coroutines", tmp_path)
    assert disagreements(scenario, coroutines) == []
    if not scenario.only:
        threads = run(scenario, "threads", tmp_path)
        assert disagreements(scenario, threads) == []
        assert list(differences(vars(threads), vars(coroutines))) == []
