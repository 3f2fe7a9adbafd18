"""Running scenarios whose tasks are handed out over a tree."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.bags.assessment import Assessment
from simplugin.bags.execution import execute
from simplugin.bags.measurement import measure, with_errors
from simplugin.bags.policies.classics import first_request_delays
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BUFFER, Policy
from simplugin.bags.trees import tree_of
from simplugin.errors import InfeasibleError, SimpluginError, UnitError, WorkloadError
from simplugin.inputs.kinds import Outcome, Progress
from simplugin.inputs.messages import suggestion
from simplugin.inputs.parameters import policy_of
from simplugin.optimum.steady_state import steady_state
from simplugin.rows import Row
from simplugin.scenarios.tree_changes import changing
from simplugin.simulation.metrics import metrics
from simplugin.units import parse_time
from simplugin.workloads.applications import Bags

if TYPE_CHECKING:
    from simplugin.bags.policies.shipped import PolicyMaker
    from simplugin.platforms import Platform
    from simplugin.platforms.graphs import Tree
    from simplugin.scenarios.scenario import Scenario
    from simplugin.workloads.bag_sections import BagsWorkload

# Tasks of an application that does not say.
COUNT = 200
_KEY = ("scheduler", "parameters")


@dataclass(frozen=True)
class _Wishes:
    """The parameters of the scheduler that are not the policy's own.

    Attributes
    ----------
    buffer : int
        Tasks that the buffer of a node holds.
    measure : bool
        Whether speeds and bandwidths are measured from within the simulation.
    errors : float
        By which part measurements may be off.
    shuffle : bool
        Whether first requests come in a random order.
    """

    buffer: int = BUFFER
    measure: bool = True
    errors: float = 0.0
    shuffle: bool = False


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Hand out all tasks on the simulated platform, and compare with the optimum."""
    wishes = _wishes(scenario)
    bags = _bags(scenario)
    given = scenario.simulation.arguments() | {
        "trace": scenario.has_traced_output("trace", "gantt")
    }
    platform = scenario.make_platform()
    tree = _tree(scenario, platform)
    made = changing(scenario, platform, tree)
    measured = tree
    if wishes.measure:
        # As it is before anything changes, as the optimum is.
        how = {name: given[name] for name in ("options", "back_end", "wall_limit", "memory_limit")}
        measured = measure(tree, bags, platform=platform, progress=progress, **how)
    try:
        best = steady_state(measured, bags)
    except InfeasibleError as error:
        raise scenario.error(str(error), "workload", "applications") from error
    draws = np.random.default_rng(scenario.simulation.seed)
    known, bias = with_errors(measured, wishes.errors, draws)
    policy = _policy(scenario, known, bags)
    done = execute(
        tree,
        bags,
        policy,
        platform=made.platform,
        known=known,
        bias=bias,
        buffer=wishes.buffer,
        delays=first_request_delays(tree, draws) if wishes.shuffle else None,
        failures=made.fails,
        progress=progress,
        **given,
    )
    told = Assessment(done, best, policy.theory, made.changes)
    energy = [metric for metric in metrics(done.result) if metric.name == "energy"]
    row = Row((*told.metrics(), *energy), done.result.provenance, told.best)
    return Outcome(row, done.result, told.listings(), told.figures())


def check(scenario: Scenario) -> None:
    """Raise ScenarioError if a parameter of the scheduler is unknown or invalid."""
    _wishes(scenario)
    _parameters(scenario, _maker(scenario))


def _bags(scenario: Scenario) -> Bags:
    """Return the tasks."""
    applications = [each.application() for each in scenario.workload.applications]
    try:
        return Bags.of(applications, COUNT)
    except WorkloadError as error:
        names = [each.name for each in applications]
        place = [names.index(error.application)] if error.application in names else []
        raise scenario.error(str(error), "workload", "applications", *place) from error


def _tree(scenario: Scenario, platform: Platform | Path) -> Tree:
    """Return the tree that the tasks travel on."""
    workload: BagsWorkload = scenario.workload
    told = "parents" in workload.model_fields_set
    try:
        return tree_of(
            platform,
            workload.applications[0].master,
            workload.parents if told else None,
            distributors=workload.distributors,
        )
    except WorkloadError as error:
        words = str(error).partition(" ")[0]
        place: tuple[str | int, ...] = ("applications", 0, "master")
        if words in ("parents", "distributors"):
            place = (words,)
        raise scenario.error(str(error), "workload", *place) from error


def _wishes(scenario: Scenario) -> _Wishes:
    """Return the parameters that are not the policy's own, checked."""
    names = _Wishes.__dataclass_fields__
    given = {name: value for name, value in scenario.scheduler.parameters.items() if name in names}
    wishes = _Wishes(**given)
    for name, is_right, remedy in (
        ("buffer", _is_whole(wishes.buffer) and wishes.buffer >= 1, "a number of tasks from 1 on"),
        ("measure", isinstance(wishes.measure, bool), "true or false"),
        ("errors", _is_share(wishes.errors), "a number from 0 on, under 1, such as 0.2 for 20 %"),
        ("shuffle", isinstance(wishes.shuffle, bool), "true or false"),
    ):
        if not is_right:
            message = f"scheduler.parameters.{name} is {given[name]!r}"
            raise scenario.error(message, *_KEY, name, remedy=f"give {remedy}")
    return wishes


def _is_whole(value: Any) -> bool:
    """Whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    """Whether a value is a number from 0 on, under 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1


def _maker(scenario: Scenario) -> PolicyMaker:
    """Return the function that makes the policy."""
    return policy_of(scenario, POLICIES)


def _policy(scenario: Scenario, tree: Tree, bags: Bags) -> Policy:
    """Return the policy that the scenario names."""
    section = scenario.scheduler
    make = _maker(scenario)
    parameters = _parameters(scenario, make)
    try:
        policy: object = make(tree, bags, **parameters)
    except (SimpluginError, TypeError, ValueError) as error:
        place = _KEY if section.parameters else ("scheduler", "name")
        message = f"{section.name!r} refused its parameters: {error}"
        raise scenario.error(message, *place) from error
    if not isinstance(policy, Policy):
        message = f"{section.name!r} returned {type(policy).__name__}, not a Policy"
        remedy = "applications with a count are handed out by simplugin.bags.policy.Policy"
        raise scenario.error(message, "scheduler", "name", remedy=remedy)
    return policy


def _parameters(scenario: Scenario, make: PolicyMaker) -> dict[str, Any]:
    """Return what the maker of the policy is given besides the tree and the bags."""
    given = dict(scenario.scheduler.parameters)
    wishes = _Wishes.__dataclass_fields__
    signature = inspect.signature(make).parameters
    own = list(signature)[2:]
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.values())
    if not takes_any:
        for name in given:
            if name not in own and name not in wishes:
                known = [*own, *wishes]
                remedy = suggestion(name, known, f"{scenario.scheduler.name!r} takes")
                message = f"unknown key 'scheduler.parameters.{name}'"
                raise scenario.error(message, *_KEY, name, remedy=remedy)
    for name, value in given.items():
        default = signature[name].default if name in own else None
        is_switch = isinstance(default, bool)
        # A text is true, and true is 1: neither would be noticed.
        if isinstance(default, int | float) and is_switch != isinstance(value, bool):
            message = f"scheduler.parameters.{name} is {value!r}"
            remedy = "give true or false" if is_switch else "give a number"
            raise scenario.error(message, *_KEY, name, remedy=remedy)
    # What is also the policy's own, such as the buffer that it plans for, is passed on.
    passed = {name: value for name, value in given.items() if name in own or name not in wishes}
    if isinstance(passed.get("period"), str):
        passed["period"] = _time(scenario, passed["period"])
    return passed


def _time(scenario: Scenario, text: str) -> float:
    """Return a time that is written with a unit."""
    try:
        time = parse_time(text)
    except UnitError as error:
        time, reason = math.nan, f": {error}"
    else:
        reason = f" is {text!r}"
    if not time > 0:
        message = f"scheduler.parameters.period{reason}"
        remedy = "give a time in s above 0, such as 600.0 or '10m'"
        raise scenario.error(message, *_KEY, "period", remedy=remedy)
    return time
