"""Every scenario gives its closed-form dates on each back end, and the same on both."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from itertools import chain, repeat
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from conformance import SCENARIOS, Outcome, Scenario, run
from differences import differences
from operations import state_of

from simplugin.core.errors import SimpluginError, SimulationError
from simplugin.simulation import simulate, simulation

for file in sorted(Path(__file__).parent.glob("scenarios_*.py")):
    import_module(file.stem)

REFUSED = re.compile(r"back_end='threads' refuses (.*?); run it with")


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
    try:
        threads = run(scenario, "threads", tmp_path)
        refused = REFUSED.search(str(threads.values.get("cause")))
    except SimpluginError as error:
        refused = REFUSED.search(str(error))
        assert refused
    if refused:
        assert state_of(refused.group(1)) == "refused"
    else:
        assert disagreements(scenario, threads) == []
        assert list(differences(vars(threads), vars(coroutines))) == []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_same_step_by_step(scenario: Scenario, tmp_path: Path) -> None:
    inputs = scenario.inputs(tmp_path)
    error: SimulationError | None = None
    try:
        whole = simulate(**inputs)
    except SimulationError as raised:
        error = raised

    def same() -> AbstractContextManager[Any]:
        if error is None:
            return nullcontext()
        return pytest.raises(type(error), match=re.escape(str(error)))

    with same(), simulation(**inputs) as sim:
        # The last ones would repeat the first.
        for at_first in chain([True] * 3, repeat(False)):
            if at_first:
                with sim.branch(quiet=True) as branch, same():
                    assert branch.run() == whole
            if not sim.step():
                break
            left = [each.remaining / each.amount for each in sim.activities if each.amount > 0]
            assert all(isnan(each) or 0 <= each <= 1 + 1e-9 for each in left)
        assert sim.run() == whole
