"""Every scenario gives its closed-form dates on each back end, and the same on both."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conformance import Outcome, Scenario, differences, run

MODULES = (
    "scenarios_actors",
    "scenarios_edges",
    "scenarios_ends",
    "scenarios_execution",
    "scenarios_failures",
    "scenarios_mailbox",
    "scenarios_platform",
    "scenarios_plugins",
    "scenarios_profiles",
    "scenarios_synchro",
    "scenarios_waiting",
)
SCENARIOS: list[Scenario] = [
    scenario for module in MODULES for scenario in import_module(module).SCENARIOS
]
ON_BOTH = [scenario for scenario in SCENARIOS if not scenario.only]


def name_of(value: Any) -> str | None:
    return value.name if isinstance(value, Scenario) else None


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that runs a scenario, once for each back end."""
    directory: Path = tmp_path_factory.mktemp("platforms")
    known: dict[tuple[str, str], Outcome] = {}

    def outcome(scenario: Scenario, back_end: str) -> Outcome:
        key = scenario.name, back_end
        if key not in known:
            known[key] = run(scenario, back_end, directory)
        return known[key]

    return outcome


def disagreements(scenario: Scenario, outcome: Outcome) -> list[str]:
    """Compare what a scenario gave with what it must give."""
    # Values of actors that the scenario spawns need not be given.
    asked = {name: outcome.values.get(name) for name in scenario.expected}
    found = list(differences(scenario.expected, asked))
    if scenario.clock is not None:
        found += differences(scenario.clock, outcome.clock, "clock")
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=name_of)
def test_closed_form_on_coroutines(scenario: Scenario, outcomes: Any) -> None:
    assert disagreements(scenario, outcomes(scenario, "coroutines")) == []


@pytest.mark.parametrize("scenario", ON_BOTH, ids=name_of)
def test_closed_form_on_threads(scenario: Scenario, outcomes: Any) -> None:
    assert disagreements(scenario, outcomes(scenario, "threads")) == []


@pytest.mark.parametrize("scenario", ON_BOTH, ids=name_of)
def test_same_on_both(scenario: Scenario, outcomes: Any) -> None:
    reference, measured = (outcomes(scenario, name) for name in ("threads", "coroutines"))
    assert list(differences(vars(reference), vars(measured))) == []
