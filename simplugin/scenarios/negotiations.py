"""Running scenarios whose applications share the platform by prices."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplugin.errors import InfeasibleError, SimpluginError, WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.inputs.kinds import Outcome, Progress
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms import ProfileUse
from simplugin.pricing.actors.roles import cast
from simplugin.pricing.assessment import Assessment
from simplugin.pricing.deployment import sharing_of
from simplugin.pricing.execution import negotiate
from simplugin.pricing.policies.shipped import POLICIES
from simplugin.rows import Metric, Row
from simplugin.simulation.metrics import metrics
from simplugin.workloads import AlphaFair

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.pricing.iteration import Method
    from simplugin.scenarios.scenario import Scenario
    from simplugin.simulation import Result
    from simplugin.workloads import Sharing
    from simplugin.workloads.bag_sections import BagsWorkload

# Rounds, where the scenario gives no number.
ROUNDS = 200
_WITHOUT_ROUNDS = "give [scheduler] a parameter period, in s, to run without rounds"
_SIMULATED = ("makespan", "actors", "actors_killed", "energy")


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Let the agents negotiate on the simulated platform, and compare with the optimum."""
    workload: BagsWorkload = scenario.workload
    utility = utility_of(scenario)
    _check_unchanging(scenario)
    rounds, method = _method(scenario)
    try:
        cast(method, utility, rounds)
    except SimpluginError as error:
        raise scenario.error(str(error), "scheduler", "name") from error
    platform = scenario.make_platform()
    sharing = sharing_for(scenario, platform)
    _check_constant(scenario, platform)
    try:
        best = fair_sharing(sharing, workload.alpha)
    except InfeasibleError as error:
        raise scenario.error(str(error), "workload", "applications") from error
    done = negotiate(
        platform,
        sharing,
        method,
        rounds,
        utility,
        progress=progress,
        **arguments(scenario),
    )
    told = Assessment(sharing, utility, done.trajectory, best)
    row = Row((*told.metrics(), *simulated(done.result)), done.result.provenance, told.best)
    return Outcome(row, done.result, told.listings(), told.figures())


def _check_constant(scenario: Scenario, platform: Platform | Path) -> None:
    """Refuse a platform that changes: rounds wait for all hosts, and there is no one optimum."""
    described = read_platform(platform) if isinstance(platform, Path) else platform
    kinds = ("speed_profile", "bandwidth_profile", "state_profile")
    for element, _ in described.walk():
        if isinstance(element, ProfileUse):
            name = element.element if element.kind != "LATENCY" else ""
        else:
            changes = any(getattr(element, kind, "") for kind in kinds)
            name = getattr(element, "id", "") if changes else ""
        if name:
            raise scenario.error(
                f"{name!r} of the platform has a profile, but in rounds platforms must not change",
                "platform",
                remedy=f"remove it, or {_WITHOUT_ROUNDS}",
            )


def arguments(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario's arguments of `simulate`, with a trace only if one is to be written.

    Each message is an activity, and there are many.
    """
    output = scenario.output
    traced = scenario.simulation.trace and (output.trace or output.gantt) is not None
    return scenario.simulation.arguments() | {"trace": traced}


def simulated(result: Result) -> tuple[Metric, ...]:
    """Return the metrics of the simulation that make sense without executions."""
    return tuple(metric for metric in metrics(result) if metric.name in _SIMULATED)


def utility_of(scenario: Scenario) -> AlphaFair:
    """Return what every application wants, which must be something to follow."""
    utility = AlphaFair(scenario.workload.alpha)
    if math.isinf(utility.alpha):
        message = "workload.alpha is inf, max-min fairness, which has no utility to follow"
        raise scenario.error(message, "workload", "alpha", remedy="give a finite number")
    return utility


def _method(scenario: Scenario) -> tuple[int, Method[Any]]:
    """Return how many rounds there are to be, and what a round does."""
    parameters = dict(scenario.scheduler.parameters)
    rounds = parameters.pop("rounds", ROUNDS)
    if not isinstance(rounds, int) or isinstance(rounds, bool) or rounds < 1:
        message = f"scheduler.parameters.rounds is {rounds!r}"
        key = ("scheduler", "parameters", "rounds")
        raise scenario.error(message, *key, remedy="give a number of rounds from 1 on")
    if "until" in parameters:
        key = ("scheduler", "parameters", "until")
        raise scenario.error(
            "scheduler.parameters.until ends runs without rounds",
            *key,
            remedy=f"remove it, or {_WITHOUT_ROUNDS}",
        )
    return rounds, method_of(scenario, parameters, ["rounds"])


def method_of(
    scenario: Scenario, parameters: Mapping[str, Any], further: Sequence[str]
) -> Method[Any]:
    """Return the method that the scenario names, made with some parameters.

    Parameters
    ----------
    scenario : Scenario
        With a ``[scheduler]``.
    parameters : mapping
        What the method is given.
    further : sequence of str
        What else could have been given, for the message.
    """
    section = scenario.scheduler
    make: Callable[..., Method[Any]]
    if ":" in section.name:
        make = scenario.function(section.name, "scheduler", "name")
    else:
        make = POLICIES[section.name.partition(".")[2]]
    try:
        return make(**parameters)
    except TypeError as error:
        known = ", ".join([*further, *inspect.signature(make).parameters])
        raise scenario.error(
            f"{section.name!r} refused its parameters: {error}",
            *("scheduler", "parameters" if parameters else "name"),
            remedy=f"it takes {known}",
        ) from error
    except WorkloadError as error:
        raise scenario.error(str(error), "scheduler", "parameters") from error


def _check_unchanging(scenario: Scenario) -> None:
    """Refuse applications that come and go, and changes."""
    workload: BagsWorkload = scenario.workload
    for number, each in enumerate(workload.applications):
        if each.start > 0 or math.isfinite(each.end):
            raise scenario.error(
                f"application {each.name!r} is not there all the time, but rounds know no changes",
                *("workload", "applications", number),
                remedy=f"remove its start and end, or {_WITHOUT_ROUNDS}",
            )
    if workload.changes:
        raise scenario.error(
            "workload.changes is given, but rounds know no changes",
            *("workload", "changes", 0),
            remedy=f"remove it, or {_WITHOUT_ROUNDS}",
        )


def sharing_for(scenario: Scenario, platform: Platform | Path) -> Sharing:
    """Return what the scenario's applications share."""
    workload: BagsWorkload = scenario.workload
    applications = [each.application() for each in workload.applications]
    try:
        return sharing_of(platform, applications, workload.trees)
    except WorkloadError as error:
        names = [each.name for each in applications]
        place = [names.index(error.application)] if error.application in names else []
        raise scenario.error(str(error), "workload", "applications", *place) from error
