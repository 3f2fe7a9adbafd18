"""Running scenarios whose applications share the platform by prices."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplugin.campaigns.actors import metrics
from simplugin.campaigns.kinds import Outcome, Progress
from simplugin.errors import SimpluginError, WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.agents.methods import cast
from simplugin.pricing.agents.negotiation import negotiate
from simplugin.pricing.assessment import Assessment
from simplugin.pricing.platform_trees import sharing_of
from simplugin.pricing.policies import POLICIES
from simplugin.rows import Metric, Row
from simplugin.workloads import AlphaFair

if TYPE_CHECKING:
    from simplugin.campaigns.bags import BagsWorkload
    from simplugin.campaigns.scenario import Scenario
    from simplugin.platforms import Platform
    from simplugin.pricing.trajectory import Method
    from simplugin.simulation import Result
    from simplugin.workloads import Sharing

# Rounds, where the scenario gives no number.
ROUNDS = 200
_SIMULATED = ("makespan", "actors", "actors_killed", "energy")


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Let the agents negotiate on the simulated platform, and compare with the optimum."""
    workload: BagsWorkload = scenario.workload
    utility = AlphaFair(workload.alpha)
    if math.isinf(utility.alpha):
        message = "workload.alpha is inf, max-min fairness, which has no utility to follow"
        raise scenario.error(message, "workload", "alpha", remedy="give a finite number")
    rounds, method = _method(scenario)
    try:
        cast(method, utility, rounds)
    except SimpluginError as error:
        raise scenario.error(str(error), "scheduler", "name") from error
    platform = scenario.make_platform()
    sharing = _sharing(scenario, platform)
    best = fair_sharing(sharing, workload.alpha)
    done = negotiate(
        platform,
        sharing,
        method,
        rounds,
        utility,
        progress=progress,
        **_arguments(scenario),
    )
    told = Assessment(sharing, utility, done.trajectory, best)
    row = Row((*told.metrics(), *_simulated(done.result)), done.result.provenance, told.best)
    return Outcome(row, done.result, told.listings(), told.figures())


def _arguments(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario's arguments of `simulate`, with a trace only if one is to be written.

    Each message is an activity, and there are many.
    """
    output = scenario.output
    traced = scenario.simulation.trace and (output.trace or output.gantt) is not None
    return scenario.simulation.arguments() | {"trace": traced}


def _simulated(result: Result) -> tuple[Metric, ...]:
    """Return the metrics of the simulation that make sense without executions."""
    return tuple(metric for metric in metrics(result) if metric.name in _SIMULATED)


def _method(scenario: Scenario) -> tuple[int, Method[Any]]:
    """Return how many rounds there are to be, and what a round does."""
    section = scenario.scheduler
    assert section is not None
    parameters = dict(section.parameters)
    rounds = parameters.pop("rounds", ROUNDS)
    if not isinstance(rounds, int) or rounds < 1:
        message = f"scheduler.parameters.rounds is {rounds!r}"
        key = ("scheduler", "parameters", "rounds")
        raise scenario.error(message, *key, remedy="give a number of rounds from 1 on")
    make: Callable[..., Method[Any]]
    if ":" in section.name:
        make = scenario.function(section.name, "scheduler", "name")
    else:
        make = POLICIES[section.name.partition(".")[2]]
    try:
        return rounds, make(**parameters)
    except TypeError as error:
        known = ", ".join(["rounds", *inspect.signature(make).parameters])
        raise scenario.error(
            f"{section.name!r} refused its parameters: {error}",
            *("scheduler", "parameters" if parameters else "name"),
            remedy=f"it takes {known}",
        ) from error


def _sharing(scenario: Scenario, platform: Platform | Path) -> Sharing:
    """Return what the scenario's applications share."""
    workload: BagsWorkload = scenario.workload
    applications = [each.application() for each in workload.applications]
    for number, each in enumerate(applications):
        if each.start > 0 or math.isfinite(each.end):
            raise scenario.error(
                f"application {each.name!r} is not there all the time",
                *("workload", "applications", number),
                remedy="remove its start and end; simplugin.pricing.agents.keep_up has such runs",
            )
    try:
        return sharing_of(platform, applications, workload.trees)
    except WorkloadError as error:
        raise scenario.error(str(error), "workload", "applications") from error
