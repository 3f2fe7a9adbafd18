"""Running scenarios whose applications share the platform by prices, with rounds or without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simplugin.inputs.parameters import policy_of, read_parameters
from simplugin.inputs.sections import Section
from simplugin.pricing.policies.shipped import POLICIES
from simplugin.scenarios import negotiations, upkeeps

if TYPE_CHECKING:
    from simplugin.inputs.kinds import Outcome, Progress
    from simplugin.scenarios.scenario import Scenario


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Let agents negotiate: in rounds, or where there is a period, each by its own clock."""
    without_rounds = "period" in scenario.scheduler.parameters
    if without_rounds:
        return upkeeps.run(scenario, progress)
    return negotiations.run(scenario, progress)


def check(scenario: Scenario) -> None:
    """Raise ScenarioError if a parameter of the method is unknown or invalid."""
    read_parameters(scenario, policy_of(scenario, POLICIES), Settings)


class Settings(Section):
    """The parameters of the scheduler that are not those of the method."""

    rounds: Any = None
    period: Any = None
    until: Any = None
    patience: Any = None
