"""Workloads of kind "bags": independent tasks that are distributed over a tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from simplugin.bags.assessment import BagAssessment
from simplugin.bags.execution import BagConditions, BagExecution, Direction, last_completion
from simplugin.bags.execution import prepare as prepare_execution
from simplugin.bags.measurement import measure, with_errors
from simplugin.bags.policies.classics import first_request_delays
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BUFFER, BagPolicy
from simplugin.bags.trees import tree_of
from simplugin.core.errors import PlatformError, SimpluginError, WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.inputs.sections import Section
from simplugin.optimum.steady_state import steady_state
from simplugin.optimum.verification import steady_state_optimum
from simplugin.platforms import Platform
from simplugin.platforms.graphs import Tree
from simplugin.scenarios.kinds.applications import (
    ApplicationTable,
    ChangeTable,
    change_in,
    errors_at_applications,
    keys_of_kind,
)
from simplugin.scenarios.scenario import Scenario, ScenarioResult, Schedulers, WorkloadKind
from simplugin.scenarios.schedulers import PARAMETERS, ChosenScheduler, read_scheduler
from simplugin.simulation.platform_changes import (
    CapacityChange,
    ChangeableResources,
    changeable,
    profiles,
    with_changes,
)
from simplugin.simulation.prepared import PreparedSimulation
from simplugin.simulation.resolve import resolve
from simplugin.workloads.applications import Bags

# Tasks of an application without a count.
COUNT = 200
_STATES = ("HOST_AVAIL", "LINK_AVAIL")


class CountedApplicationTable(ApplicationTable):
    """``[[workload.applications]]`` of kind "bags": an application with a number of tasks.

    Attributes
    ----------
    name, master, flop, byte, weight, hosts
        See `ApplicationTable`.
    count : int, optional
        Number of tasks; by default 200.
    """

    _other_keys = keys_of_kind("fair_sharing", "start", "end")
    count: Annotated[int, Field(ge=1)] | None = None


class BagsWorkload(Section):
    """``[workload]`` of kind "bags".

    Attributes
    ----------
    applications : list of CountedApplicationTable
        At least one.
    changes : list of ChangeTable
        Changes of hosts and links, in addition to profiles of the platform.
    parents : dict of str to str
        The parent of each host of the tree but the master; by default as in
        `simplugin.bags.trees.tree_of`.
    distributors : list of str
        Hosts that compute no tasks.
    """

    _other_keys = keys_of_kind("fair_sharing", "alpha", "trees")
    applications: Annotated[list[CountedApplicationTable], Field(min_length=1)]
    changes: list[ChangeTable] = Field(default_factory=list)
    parents: dict[str, str] = Field(default_factory=dict)
    distributors: list[str] = Field(default_factory=list)


class BagSchedulerSection(Section):
    """The parameters of the scheduler that are not the policy's own.

    Attributes
    ----------
    buffer : int
        Tasks that the buffer of a node holds.
    measure : bool
        True if speeds and bandwidths are measured from within the simulation.
    errors : float
        Largest relative error of measurements.
    shuffle : bool
        True if first requests come in a random order.
    direction : {"data", "results"}
        Whether the data of tasks travel down, or their results up; their bytes are those of what
        travels.
    free_requests : bool
        True if requests arrive at once and take nothing of links; else they are messages.
    single_requests : bool
        True if each request is for one task, so that first requests come in turn; else each is
        for all free slots.
    """

    buffer: Annotated[int, Field(ge=1)] = BUFFER
    measure: bool = True
    errors: Annotated[float, Field(ge=0, lt=1)] = 0.0
    shuffle: bool = False
    direction: Direction = "data"
    free_requests: bool = False
    single_requests: bool = False


def run(scenario: Scenario) -> ScenarioResult:
    """Distribute all tasks on the simulated platform, and compare with the optimum."""
    return prepare(scenario).run()


def prepare(scenario: Scenario, *, choices: bool = False) -> PreparedSimulation[ScenarioResult]:
    """Return the simulation of all tasks, ready to start; nodes offer choices or not."""
    chosen = check(scenario)
    settings = chosen.settings
    with errors_at_applications(scenario):
        bags = Bags.of([each.application() for each in scenario.workload.applications], COUNT)
    chooser = scenario.rollout("scheduler", last_completion)
    simulation = replace(scenario.traced_on_demand("trace", "gantt"), chooser=chooser)
    platform = scenario.make_platform()
    workload: BagsWorkload = scenario.workload
    try:
        tree = tree_of(
            platform,
            workload.applications[0].master,
            workload.parents if "parents" in workload.model_fields_set else None,
            distributors=workload.distributors,
        )
    except WorkloadError as error:
        key = (error.argument,) if error.argument else ("applications", 0, "master")
        raise scenario.error(str(error), "workload", *key) from error
    changing, changes, fails = _changing(scenario, platform, tree)
    for name, wrong in (
        ("direction", settings.direction == "results"),
        ("free_requests", settings.free_requests),
    ):
        if fails and wrong:
            message = f"{name} is given, but hosts or links fail"
            raise scenario.error(
                message, *PARAMETERS, name, remedy="remove it, or let nothing fail"
            )
    measured = tree
    if settings.measure:
        # Before anything changes, as is the optimum.
        measured = measure(
            tree,
            bags,
            platform=platform,
            options=simulation.options,
            back_end=simulation.back_end,
            wall_limit=simulation.wall_limit,
            memory_limit=simulation.memory_limit,
            progress=simulation.progress,
        )
    with errors_at_applications(scenario):
        best = steady_state(measured, bags)
    draws = np.random.default_rng(scenario.simulation.seed)
    known, bias = with_errors(measured, settings.errors, draws)
    called = scenario.scheduler.name
    place = PARAMETERS if scenario.scheduler.parameters else ("scheduler", "name")
    refused = f"{called!r} {'refused its parameters' if chosen.parameters else 'cannot be used'}: "
    kinds = SimpluginError, TypeError, ValueError
    with scenario.errors_at(*place, of=kinds, before=refused):
        policy: object = chosen.policy(known, bags, **chosen.parameters)
    if not isinstance(policy, BagPolicy):
        message = f"{called!r} returned {type(policy).__name__}, not a BagPolicy"
        remedy = "return a simplugin.bags.BagPolicy; a pricing method needs kind 'fair_sharing'"
        raise scenario.error(message, "scheduler", "name", remedy=remedy)
    execution = prepare_execution(
        tree,
        bags,
        policy,
        BagConditions(
            known=known,
            bias=bias,
            buffer=settings.buffer,
            delays=first_request_delays(tree, draws) if settings.shuffle else None,
            failures=fails,
            direction=settings.direction,
            free_requests=settings.free_requests,
            single_requests=settings.single_requests,
        ),
        platform=changing,
        choices=choices or chooser is not None,
        **simulation.keywords(),
    )
    optima = (steady_state_optimum(best, bags),)

    def assessed(done: BagExecution) -> ScenarioResult:
        """Compare an execution with the optimum."""
        found = BagAssessment(done, best, policy.expected_throughput, changes)
        return ScenarioResult.of(found, done.result, figures=found.figures(), optima=optima)

    return execution.then(assessed)


def check(scenario: Scenario) -> ChosenScheduler[BagSchedulerSection]:
    """Return the maker of the policy with its parameters.

    Raises
    ------
    ScenarioError
        A parameter of the scheduler is unknown or invalid.
    """
    return read_scheduler(scenario, SCHEDULERS)


def _changing(
    scenario: Scenario, platform: Platform | Path, tree: Tree
) -> tuple[Platform | Path, bool, bool]:
    """Return a platform with profiles of its changes; whether anything changes, or fails."""
    workload: BagsWorkload = scenario.workload
    described = read_platform(platform) if isinstance(platform, Path) else platform
    with scenario.errors_at("platform", of=PlatformError):
        followed = profiles(described)
    fails = any(kind in _STATES for _, kind in followed)
    if (tree.hosts[0], _STATES[0]) in followed:
        message = f"the root {tree.hosts[0]!r} has a profile of its state, but it has all tasks"
        raise scenario.error(message, "platform", remedy="let it be on all the time")
    if not workload.changes:
        return platform, bool(followed), fails
    known = changeable(described)
    speeds = {host.name: host.speed * host.cores for host in resolve(platform).hosts}
    changes = [_change(scenario, number, known, tree) for number in range(len(workload.changes))]
    fails = fails or any(change.fails for change in changes)
    return with_changes(described, changes, speeds), True, fails


def _change(
    scenario: Scenario, number: int, known: ChangeableResources, tree: Tree
) -> CapacityChange:
    """Return a change, checked."""
    change = change_in(scenario, number, known)
    key = ("workload", "changes", number)
    of_host = change.resource in known.hosts
    at = tree.hosts.index(change.resource) if change.resource in tree.hosts else -1
    if of_host and not change.fails and (at < 0 or tree.speed[at] <= 0):
        message = f"there is a change of {change.resource!r}, which computes no tasks"
        raise scenario.error(message, *key, "resource", remedy="remove it, or let it fail")
    if of_host and change.fails and at == 0:
        message = f"a change makes the root {change.resource!r} fail, but it has all tasks"
        raise scenario.error(message, *key, "capacity", remedy="give a capacity above 0")
    return change


SCHEDULERS = Schedulers("bags", POLICIES, BagSchedulerSection, by_position=2)
KIND = WorkloadKind(
    BagsWorkload, run, SCHEDULERS, check, outputs=("result", "curves"), prepare=prepare
)
