"""Running scenarios whose applications share the platform by prices, with rounds or without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.scenarios import negotiations, upkeeps

if TYPE_CHECKING:
    from simplugin.scenarios.kinds import Outcome, Progress
    from simplugin.scenarios.scenario import Scenario


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Let agents negotiate: in rounds, or where there is a period, each by its own clock."""
    assert scenario.scheduler is not None
    without_rounds = "period" in scenario.scheduler.parameters
    if without_rounds:
        return upkeeps.run(scenario, progress)
    return negotiations.run(scenario, progress)
