"""Workloads of kind "fair_sharing": endless applications that share the platform by prices."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from simplugin.core.errors import InfeasibleError, PlatformError, SimpluginError, WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import NOT_NEGATIVE, POSITIVE, Time
from simplugin.inputs.sections import Section
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.optimum.verification import fair_sharing_optimum
from simplugin.platforms import Platform
from simplugin.pricing.assessment import PricingAssessment, Recovery, Stretch, events_of
from simplugin.pricing.changes import intervals
from simplugin.pricing.deployment import sharing_of
from simplugin.pricing.execution import PeriodicSettings, negotiate, simulate_periodic
from simplugin.pricing.method import Method, require_method
from simplugin.pricing.methods import POLICIES
from simplugin.scenarios.kinds.applications import (
    ApplicationTable,
    ChangeTable,
    change_in,
    errors_at_applications,
    keys_of_kind,
)
from simplugin.scenarios.scenario import Scenario, ScenarioResult, Schedulers, WorkloadKind
from simplugin.scenarios.schedulers import PARAMETERS, read_scheduler
from simplugin.simulation.platform_changes import changeable, profile_changes, profiles
from simplugin.workloads import AlphaFair, SharedDeployment

ROUNDS = 200
# Without rounds messages are old, and markets must move more slowly.
RELAXATION = 0.5
PATIENCE = 5
_WITHOUT_ROUNDS = "give [scheduler] a parameter period, in s, to run without rounds"
_SIMULATED = ("makespan", "actors", "actors_killed", "energy")

_Period = Annotated[Time, POSITIVE]


class EndlessApplicationTable(ApplicationTable):
    """``[[workload.applications]]`` of kind "fair_sharing": an application without end of tasks.

    Attributes
    ----------
    name, master, flop, byte, weight, hosts
        See `ApplicationTable`.
    start, end : float
        Dates at which it arrives and leaves [s].
    """

    _other_keys = keys_of_kind("bags", "count")
    start: Annotated[Time, NOT_NEGATIVE] = 0.0
    end: Annotated[Time, Field(gt=0)] = math.inf

    @model_validator(mode="after")
    def _sensible(self) -> EndlessApplicationTable:
        """Raise unless it ends after it starts."""
        if not self.start < self.end:
            message = f"{{key}} is {self.end:g} s, not after the start, {self.start:g} s"
            raise InvalidValueError(message, "give a later date", ("end",))
        return self


class FairSharingWorkload(Section):
    """``[workload]`` of kind "fair_sharing".

    Attributes
    ----------
    applications : list of EndlessApplicationTable
        At least one.
    alpha : float
        Parameter of the fairness between them; 1 is proportional fairness.
    trees : dict of str to dict of str to str
        For an application's name, the parent of each host of its tree but the master; by
        default those of `simplugin.pricing.deployment.sharing_of`.
    changes : list of ChangeTable
        Changes of hosts and links, in addition to profiles of the platform.
    """

    _other_keys = keys_of_kind("bags", "parents", "distributors")
    applications: Annotated[list[EndlessApplicationTable], Field(min_length=1)]
    alpha: Annotated[float, Field(ge=0)] = 1.0
    trees: dict[str, dict[str, str]] = Field(default_factory=dict)
    changes: list[ChangeTable] = Field(default_factory=list)


class PricingSchedulerSection(Section):
    """The parameters of the scheduler that are not those of the method.

    Attributes
    ----------
    rounds : int, optional
        The number of rounds, for a run with rounds.
    period, until : float, optional
        Time between two decisions of a role, and end of a run without rounds [s].
    patience : int, optional
        Periods for which a role may be silent.
    """

    rounds: Annotated[int, Field(ge=1)] | None = None
    period: _Period | None = None
    until: _Period | None = None
    patience: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_clock(self) -> PricingSchedulerSection:
        """Raise ValueError unless there are either rounds or periods, and the run ends."""
        if self.period is None:
            for name in ("until", "patience"):
                if getattr(self, name) is not None:
                    remedy = f"remove it, or {_WITHOUT_ROUNDS}"
                    raise InvalidValueError("{key} is for runs without rounds", remedy, (name,))
        elif self.rounds is not None:
            remedy = "remove one of the two"
            raise InvalidValueError("{key} is given beside a period", remedy, ("rounds",))
        elif self.until is None:
            remedy = "add it: the end of the run, in s"
            raise InvalidValueError("key '{key}' is missing", remedy, ("until",))
        elif self.until <= self.period:
            message = f"{{key}} is {self.until:g} s, not after the first period"
            raise InvalidValueError(message, f"give more than {self.period:g} s", ("until",))
        return self


def run(scenario: Scenario) -> ScenarioResult:
    """Simulate the negotiation of a scenario, and compare it with the optimum."""
    settings, method = check(scenario)
    if settings.until is None or settings.period is None:
        return _in_rounds(scenario, method, settings.rounds or ROUNDS)
    periodic = PeriodicSettings(settings.until, settings.period, settings.patience or PATIENCE)
    return _through_changes(scenario, method, periodic)


def check(scenario: Scenario) -> tuple[PricingSchedulerSection, Method[Any]]:
    """Return the settings and the method that a scenario names.

    Raises
    ------
    ScenarioError
        A parameter is unknown or invalid, or no actors run the method.
    """
    chosen = read_scheduler(scenario, SCHEDULERS)
    settings, parameters = chosen.settings, chosen.parameters
    periodic = settings.period is not None
    if periodic and scenario.scheduler.name == "pricing.market":
        parameters = {"relaxation": RELAXATION} | parameters
    try:
        method = chosen.policy(**parameters)
    except (TypeError, WorkloadError) as error:
        remedy = getattr(error, "remedy", None) or "give other parameters"
        raise scenario.error(str(error), *PARAMETERS, remedy=remedy) from error
    try:
        method = require_method(method)
        if periodic:
            method.periodic_roles(AlphaFair(), settings.patience or PATIENCE)
        else:
            method.roles(AlphaFair(), settings.rounds or ROUNDS)
    except SimpluginError as error:
        name, message = scenario.scheduler.name, str(error)
        remedy = "define the roles of the method; `iterate` runs methods without roles in Python"
        if periodic and ":" not in name:
            message = f"{name!r} needs rounds: {message}"
            remedy = "use pricing.market or pricing.scaled, or rounds instead of period"
        raise scenario.error(message, "scheduler", "name", remedy=remedy) from error
    return settings, method


def _in_rounds(scenario: Scenario, method: Method[Any], rounds: int) -> ScenarioResult:
    """Simulate synchronous rounds."""
    utility = _utility(scenario)
    _check_unchanging(scenario)
    platform = scenario.make_platform()
    sharing = _sharing(scenario, platform, method)
    # Rounds wait for all hosts, and there is no one optimum.
    for name, kind in profiles(_described(platform)):
        if kind != "LATENCY":
            raise scenario.error(
                f"{name!r} of the platform has a profile, but in rounds platforms must not change",
                "platform",
                remedy=f"remove it, or {_WITHOUT_ROUNDS}",
            )
    with errors_at_applications(scenario):
        best = fair_sharing(sharing, scenario.workload.alpha)
    simulation = scenario.traced_on_demand("trace", "gantt")
    done = negotiate(platform, sharing, method, rounds, utility, **simulation.keywords())
    found = PricingAssessment(sharing, utility, done.trajectory, best)
    optima = (fair_sharing_optimum(sharing, scenario.workload.alpha, best),)
    return ScenarioResult.of(
        found, done.result, figures=found.figures(), optima=optima, also=_SIMULATED
    )


def _through_changes(
    scenario: Scenario, method: Method[Any], periodic: PeriodicSettings
) -> ScenarioResult:
    """Simulate periods, and compare with the optimum between any two changes."""
    workload: FairSharingWorkload = scenario.workload
    utility = _utility(scenario)
    until = periodic.until
    _check_dates(scenario, until)
    platform = scenario.make_platform()
    sharing = _sharing(scenario, platform, method)
    applications = [each.application() for each in workload.applications]
    with scenario.errors_at("platform", of=PlatformError):
        of_platform = profile_changes(platform, sharing, until)
    changes = []
    if workload.changes:
        known = changeable(_described(platform))
        changes = [change_in(scenario, place, known) for place in range(len(workload.changes))]
    parts = intervals(sharing, applications, changes, until, platform)
    optima = []
    for part in parts:
        span = f"from {part.start:g} s to {part.end:g} s: "
        with scenario.errors_at("workload", "applications", of=InfeasibleError, before=span):
            optima.append(fair_sharing(part.sharing, workload.alpha))
    if not parts:
        message = f"no application is there at any time before {until:g} s"
        raise scenario.error(message, "workload", "applications")
    simulation = scenario.traced_on_demand("trace", "gantt")
    if simulation.until is not None:
        raise scenario.error(
            "simulation.until is set, but the run ends with its scheduler",
            *("simulation", "until"),
            remedy="remove it: scheduler.parameters.until is the end",
        )
    with scenario.errors_at("workload", "changes", of=WorkloadError):
        problem = platform, applications, sharing, method, utility, periodic
        kept = simulate_periodic(*problem, changes=changes, **simulation.keywords())
    stretches = [Stretch(kept, part, best) for part, best in zip(parts, optima, strict=True)]
    events = events_of(sharing, applications, [*changes, *of_platform])
    found = Recovery(sharing, utility, kept, stretches, events)
    verifiable = tuple(
        fair_sharing_optimum(part.sharing, workload.alpha, best, f"objective from {part.start:g} s")
        for part, best in zip(parts, optima, strict=True)
    )
    return ScenarioResult.of(
        found, kept.result, figures=found.figures(), optima=verifiable, also=_SIMULATED
    )


def _utility(scenario: Scenario) -> AlphaFair:
    """Return the utility of every application."""
    utility = AlphaFair(scenario.workload.alpha)
    if math.isinf(utility.alpha):
        message = "workload.alpha is inf, max-min fairness, which has no utility to follow"
        raise scenario.error(message, "workload", "alpha", remedy="give a finite number")
    return utility


def _sharing(
    scenario: Scenario, platform: Platform | Path, method: Method[Any]
) -> SharedDeployment:
    """Return the deployment of the scenario's applications, for which the method has steps."""
    workload: FairSharingWorkload = scenario.workload
    applications = [each.application() for each in workload.applications]
    with errors_at_applications(scenario):
        sharing = sharing_of(platform, applications, workload.trees)
    with scenario.errors_at(*PARAMETERS, of=WorkloadError):
        method.check(sharing)
    return sharing


def _check_unchanging(scenario: Scenario) -> None:
    """Raise if applications come and go, or something changes."""
    workload: FairSharingWorkload = scenario.workload
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


def _described(platform: Platform | Path) -> Platform:
    """Return a platform, read from its file if it is one."""
    return read_platform(platform) if isinstance(platform, Path) else platform


def _check_dates(scenario: Scenario, until: float) -> None:
    """Raise if something happens after the end."""
    workload: FairSharingWorkload = scenario.workload
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


SCHEDULERS = Schedulers("pricing", POLICIES, PricingSchedulerSection)
KIND = WorkloadKind(FairSharingWorkload, run, SCHEDULERS, check, outputs=("result", "curves"))
