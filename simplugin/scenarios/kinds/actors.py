"""Workloads of kind "actors": actors of a deployment file, of the scenario itself, or of both."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

from pydantic import Field, PlainValidator, model_validator

from simplugin.core.errors import DeploymentError
from simplugin.inputs.messages import InputProblem, Path, dotted, unknown_key
from simplugin.inputs.parameters import Signature
from simplugin.inputs.quantities import Time
from simplugin.inputs.sections import ExistingFile, LookaheadSection, Reference, Section
from simplugin.results.row import Row
from simplugin.scenarios.scenario import Scenario, ScenarioResult, WorkloadKind
from simplugin.scenarios.sections import Hosts
from simplugin.simulation.placement import Placement, placements
from simplugin.simulation.prepared import PreparedSimulation

# Keys that are fields of `Placement` too.
_PLACEMENT = ("name", "start_time", "kill_time", "restart", "daemon")
Called = tuple[Callable[..., Any], tuple[Any, ...]]


def _list_or_table(value: Any) -> Any:
    """Raise unless a value is a list of arguments or a table of keyword arguments."""
    if not isinstance(value, list | Mapping):
        raise ValueError("give a list, or a table by keyword")
    return value


class ActorTable(Section):
    """``[[workload.actors]]``: a function that actors run on one or more hosts.

    Attributes
    ----------
    function : str
        ``module:function``.
    host, hosts : str
        Name of a host, or a choice of several.
    args : list or dict
        Arguments after the actor itself, by position or by keyword.
    name : str, optional
        The actors' name; by default the function's. Sweeps find the table by it.
    start_time, kill_time, restart, daemon
        As in `simplugin.simulation.Placement`.
    """

    function: Reference
    host: str | None = None
    hosts: Hosts | None = None
    args: Annotated[Any, PlainValidator(_list_or_table)] = Field(default_factory=list)
    name: str | None = None
    start_time: Time = 0.0
    kill_time: Time | None = None
    restart: bool = False
    daemon: bool = False

    @model_validator(mode="after")
    def _somewhere(self) -> ActorTable:
        """Raise ValueError unless there is one of `host` and `hosts`."""
        if (self.host is None) == (self.hosts is None):
            raise ValueError("give either host or hosts")
        return self


class ActorsWorkload(Section):
    """``[workload]`` of kind "actors".

    Attributes
    ----------
    deployment : path, optional
        A SimGrid deployment file.
    functions : dict of str to str
        For each function name of the deployment, ``module:function``.
    actors : list of ActorTable
        Further actors.
    lookahead : LookaheadSection, optional
        Rollouts of the actors' choices, as in ``[scheduler.lookahead]``.
    """

    deployment: ExistingFile | None = None
    functions: dict[str, Reference] = Field(default_factory=dict)
    actors: list[ActorTable] = Field(default_factory=list)
    lookahead: LookaheadSection | None = None

    @model_validator(mode="after")
    def _some_actors(self) -> ActorsWorkload:
        """Raise ValueError if there are no actors, or functions of no deployment."""
        if self.deployment is None and not self.actors:
            raise ValueError("give a deployment, or list actors in [[workload.actors]]")
        if self.deployment is None and self.functions:
            raise ValueError("functions go with a deployment; remove them or give one")
        return self


def check(scenario: Scenario) -> list[Called]:
    """Return the function and the arguments by position of each table of actors.

    Raises
    ------
    ScenarioError
        A function cannot be had, or arguments are unknown, missing or invalid.
    """
    found, problems = [], []
    for number, table in enumerate(scenario.workload.actors):
        path = ("workload", "actors", number)
        function = scenario.function(table.function, *path, "function")
        called, wrong = _called(function, table, (*path, "args"))
        found.append(called)
        problems += wrong
    if problems:
        raise scenario.errors(problems)
    return found


def _called(
    function: Callable[..., Any], table: ActorTable, path: Path
) -> tuple[Called, list[InputProblem]]:
    """Return a function with its arguments by position, and the problems of these."""
    signature = Signature.of(function, by_position=1)
    names, takes = list(signature.types), f"{table.function!r} takes"
    if isinstance(table.args, Mapping):
        values, problems = signature.read(table.args, path)
        if not signature.takes_any:
            unknown = [name for name in values if name not in signature.types]
            problems += [unknown_key((*path, name), names, takes) for name in unknown]
        return (partial(function, **values) if values else function, ()), problems
    try:
        bound = inspect.signature(function).bind_partial(None, *table.args).arguments
    except (TypeError, ValueError):
        message = f"{dotted(path)} has {len(table.args)} values"
        return (function, ()), [
            InputProblem(path, message, f"{takes} {', '.join(names) or 'none'}")
        ]
    # Without the actor itself, and what goes to ``*further``.
    named = {name: value for name, value in bound.items() if name in names}
    values, problems = signature.read(named, path)
    # By position, where there is one, since that is what can be swept.
    places, at = {name: number for number, name in enumerate(named)}, len(path)
    problems = [
        replace(each, path=(*path, places.get(str(name), name), *each.path[at + 1 :]))
        for each in problems
        for name in each.path[at : at + 1]
    ]
    return (function, (*values.values(), *table.args[len(named) :])), problems


def run(scenario: Scenario) -> ScenarioResult:
    """Simulate the actors on the platform."""
    return prepare(scenario).run()


def prepare(scenario: Scenario, *, choices: bool = True) -> PreparedSimulation[ScenarioResult]:  # noqa: ARG001
    """Return the simulation of the actors, ready to start; they offer choices themselves."""
    from simplugin.scenarios.user_metrics import host_choice
    from simplugin.simulation.metrics import metrics

    workload: ActorsWorkload = scenario.workload
    functions = {
        name: scenario.function(reference, "workload", "functions", name)
        for name, reference in workload.functions.items()
    }
    called = check(scenario)
    platform = scenario.make_platform()
    actors: list[Placement] = []
    if workload.deployment is not None:
        actors += placements(workload.deployment, functions)
    choice = host_choice(platform) if workload.actors else None
    for number, (table, (function, args)) in enumerate(zip(workload.actors, called, strict=True)):
        path: Path = ("workload", "actors", number)
        given = {name: getattr(table, name) for name in _PLACEMENT}
        try:
            assert choice is not None
            hosts = choice.chosen(table.hosts or [str(table.host)])
            actors += [Placement(host, function, args, **given) for host in hosts]
        except DeploymentError as error:
            message = f"{dotted(path)}: {error.message}"
            raise scenario.error(message, *path, remedy=error.remedy) from error
    chooser = scenario.rollout("workload", attrgetter("clock"))
    return PreparedSimulation(
        platform,
        actors,
        replace(scenario.simulation, chooser=chooser),
        lambda result: ScenarioResult(Row(metrics(result), result.provenance), result),
    )


KIND = WorkloadKind(workload=ActorsWorkload, run=run, check=check, prepare=prepare)
