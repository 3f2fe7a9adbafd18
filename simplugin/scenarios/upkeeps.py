"""Running scenarios in which hosts, links and applications come, go and change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplugin.errors import (
    InfeasibleError,
    PlatformError,
    SimpluginError,
    UnitError,
    WorkloadError,
)
from simplugin.formats.platform_xml import read_platform
from simplugin.inputs.kinds import Outcome, Progress
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.actors.roles import ticking_cast
from simplugin.pricing.assessment import Recovery, Stretch, events_of
from simplugin.pricing.changes import intervals
from simplugin.pricing.execution import keep_up
from simplugin.rows import Row
from simplugin.scenarios.negotiations import (
    arguments,
    method_of,
    sharing_for,
    simulated,
    utility_of,
)
from simplugin.simulation.platform_changes import Change, changeable, own_changes
from simplugin.units import parse_time

if TYPE_CHECKING:
    from simplugin.optimum.fair_sharing import FairShare
    from simplugin.platforms import Platform
    from simplugin.pricing.changes import Interval
    from simplugin.pricing.iteration import Method
    from simplugin.scenarios.scenario import Scenario
    from simplugin.workloads import AlphaFair, Sharing
    from simplugin.workloads.bag_sections import BagsWorkload

# Without rounds agents hear old news, and markets must move more slowly.
RELAXATION = 0.5
PATIENCE = 5
_OWN = ("period", "until", "patience")
_KEY = ("scheduler", "parameters")


@dataclass(frozen=True)
class _Clock:
    """How time passes: between two decisions [s], to the end [s], periods of silence."""

    period: float
    until: float
    patience: int


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Let agents follow what changes, and compare with the optimum between any two changes."""
    workload: BagsWorkload = scenario.workload
    utility = utility_of(scenario)
    clock = _clock(scenario)
    method = _method(scenario, utility, clock)
    _check_dates(scenario, clock.until)
    platform = scenario.make_platform()
    sharing = sharing_for(scenario, platform)
    applications = [each.application() for each in workload.applications]
    changes, of_platform = _changes(scenario, platform, sharing, clock.until)
    parts = intervals(sharing, applications, changes, clock.until, platform)
    optima = [_optimum(scenario, part) for part in parts]
    if not parts:
        message = f"no application is there at any time before {clock.until:g} s"
        raise scenario.error(message, "workload", "applications")
    try:
        kept = keep_up(
            platform,
            applications,
            sharing,
            method,
            utility,
            until=clock.until,
            period=clock.period,
            changes=changes,
            patience=clock.patience,
            progress=progress,
            **_simulation(scenario),
        )
    except WorkloadError as error:
        raise scenario.error(str(error), "workload", "changes") from error
    told = Recovery(
        sharing,
        utility,
        kept,
        [Stretch.of(kept, part, best) for part, best in zip(parts, optima, strict=True)],
        events_of(sharing, applications, [*changes, *of_platform]),
    )
    row = Row((*told.metrics(), *simulated(kept.result)), kept.result.provenance, told.best)
    return Outcome(row, kept.result, told.listings(), told.figures())


def _simulation(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario's arguments of `simulate`, which must not end before it is over."""
    given: dict[str, Any] = arguments(scenario)
    if given.pop("until") is not None:
        raise scenario.error(
            "simulation.until is set, but the run ends with its scheduler",
            *("simulation", "until"),
            remedy="remove it: scheduler.parameters.until is the end",
        )
    return given


def _clock(scenario: Scenario) -> _Clock:
    """Return how time passes."""
    parameters = scenario.scheduler.parameters
    if "rounds" in parameters:
        message = "scheduler.parameters has both rounds and a period"
        raise scenario.error(message, *_KEY, "rounds", remedy="remove one of the two")
    if "until" not in parameters:
        message = "key 'scheduler.parameters.until' is missing, which goes with period"
        raise scenario.error(message, *_KEY, remedy="add it: when the run ends, in s")
    period, until = (_time(scenario, name) for name in ("period", "until"))
    if until <= period:
        message = f"scheduler.parameters.until is {until:g} s, not after the first period"
        raise scenario.error(message, *_KEY, "until", remedy=f"give more than {period:g} s")
    patience = parameters.get("patience", PATIENCE)
    if not isinstance(patience, int) or isinstance(patience, bool) or patience < 1:
        message = f"scheduler.parameters.patience is {patience!r}"
        remedy = "give a number of periods from 1 on"
        raise scenario.error(message, *_KEY, "patience", remedy=remedy)
    return _Clock(period, until, patience)


def _time(scenario: Scenario, name: str) -> float:
    """Return a parameter that is a time."""
    value = scenario.scheduler.parameters[name]
    remedy = "give a time in s above 0, such as 0.02 or '20ms'"
    if isinstance(value, str):
        try:
            value = parse_time(value)
        except UnitError as error:
            message = f"scheduler.parameters.{name}: {error}"
            raise scenario.error(message, *_KEY, name, remedy=remedy) from None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        message = f"scheduler.parameters.{name} is {value!r}"
        raise scenario.error(message, *_KEY, name, remedy=remedy)
    return float(value)


def _method(scenario: Scenario, utility: AlphaFair, clock: _Clock) -> Method[Any]:
    """Return what a role does in a period."""
    parameters = {
        name: value for name, value in scenario.scheduler.parameters.items() if name not in _OWN
    }
    if scenario.scheduler.name == "pricing.market":
        parameters.setdefault("relaxation", RELAXATION)
    method = method_of(scenario, parameters, _OWN)
    try:
        ticking_cast(method, utility, clock.patience)
    except SimpluginError as error:
        message = f"{scenario.scheduler.name!r} needs rounds: {error}"
        remedy = "use pricing.market or pricing.scaled, or rounds instead of period"
        raise scenario.error(message, "scheduler", "name", remedy=remedy) from error
    return method


def _check_dates(scenario: Scenario, until: float) -> None:
    """Refuse what would happen after the end."""
    workload: BagsWorkload = scenario.workload
    remedy = "give an earlier date, or a later scheduler.parameters.until"
    for number, each in enumerate(workload.applications):
        if each.start >= until:
            message = f"application {each.name!r} starts at {each.start:g} s, when the run is over"
            key = ("workload", "applications", number, "start")
            raise scenario.error(message, *key, remedy=remedy)
    for number, change in enumerate(workload.changes):
        if change.date >= until:
            message = f"a change of {change.resource!r} is at {change.date:g} s, at or after"
            key = ("workload", "changes", number, "date")
            raise scenario.error(f"{message} the end, {until:g} s", *key, remedy=remedy)


def _changes(
    scenario: Scenario, platform: Platform | Path, sharing: Sharing, until: float
) -> tuple[list[Change], list[Change]]:
    """Return the changes of the scenario, and those that the platform makes itself."""
    try:
        of_platform = own_changes(platform, sharing, until)
    except PlatformError as error:
        raise scenario.error(str(error), "platform") from error
    tables = scenario.workload.changes
    if not tables:
        return [], of_platform
    described = read_platform(platform) if isinstance(platform, Path) else platform
    known = changeable(described)
    found: list[Change] = []
    for number, table in enumerate(tables):
        key = ("workload", "changes", number)
        try:
            known.check(table.resource)
        except WorkloadError as error:
            raise scenario.error(str(error), *key, "resource") from error
        try:
            capacity = table.value(of_host=table.resource in known.hosts)
        except UnitError as error:
            message = f"workload.changes.{number}.capacity: {error}"
            raise scenario.error(message, *key, "capacity") from None
        found.append(Change(table.date, table.resource, capacity))
    return found, of_platform


def _optimum(scenario: Scenario, part: Interval) -> FairShare:
    """Return the best that can be done in an interval."""
    try:
        return fair_sharing(part.sharing, scenario.workload.alpha)
    except InfeasibleError as error:
        message = f"from {part.start:g} s to {part.end:g} s: {error}"
        raise scenario.error(message, "workload", "applications") from error
