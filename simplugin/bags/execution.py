"""Execution of bags of tasks on a simulated tree, by a policy or by a periodic schedule."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.actors.fault_tolerant_node import run_fault_tolerant_host
from simplugin.bags.actors.hosts import run_host
from simplugin.bags.actors.messages import HostSetup, NodeLog, NodeSetup, Supply
from simplugin.bags.actors.periodic import periodic_host
from simplugin.bags.periodic import PeriodicSchedule
from simplugin.bags.policy import BUFFER, BagPolicy, NodeKnowledge, NodePlan, TreePosition
from simplugin.core.errors import ActorError, DeadlockError, WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.inputs.locations import shown
from simplugin.platforms import Platform
from simplugin.platforms.graphs import Tree
from simplugin.simulation import Result, SimGridOptions
from simplugin.simulation.options import SimulationKeywords, SimulationOptions, with_defaults
from simplugin.simulation.placement import Placement
from simplugin.simulation.prepared import PreparedSimulation
from simplugin.simulation.simulate import simulate
from simplugin.workloads.applications import Bags
from simplugin.workloads.parameter_ranges import one_of, whole

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Transfers: data down the tree, or results up.
Direction = Literal["data", "results"]

# Maximum number of tasks of a simulation.
MOST_TASKS = 10_000_000
# Upper bound of the turns of actors between a child's decision and its free request.
_TURNS = 8
# Maximum number of plans in the time of all computations.
_MOST_LOOKS = 1e5
# Tolerance of dates: these shares of a period, and of the shortest time of a task, up to 1e-8 s, as
# SimGrid's precision is 1e-9 s.
SAME = (1e-9, 1e-5, 1e-8)


@dataclass(frozen=True, eq=False)
class BagExecution:
    """Result of an execution.

    Attributes
    ----------
    tree : Tree
        The tree.
    bags : Bags
        The tasks.
    policy : str
        Name of the policy.
    completion : tuple of float64, each of shape (n_done,)
        Dates at which the tasks of each application ended, in order [s].
    computed : int64, shape (n_hosts, n_applications)
        Tasks of each application that each host computed.
    port_busy : float64, shape (n_hosts,)
        Time for which each host's port was sending, or receiving results [s].
    first : float
        Date at which the first task was served [s].
    most : int64, shape (n_hosts,)
        Maximum number of tasks, or macro-tasks, in the buffer of each host.
    result : Result
        Result of the simulation.
    lost : int
        Tasks, or macro-tasks, that were lost by failures and distributed again.
    direction : {"data", "results"}
        Direction of transfers: data down, or results up.
    """

    tree: Tree
    bags: Bags
    policy: str
    completion: tuple[NDArray[np.float64], ...]
    computed: NDArray[np.int64]
    port_busy: NDArray[np.float64]
    first: float
    most: NDArray[np.int64]
    result: Result
    lost: int = 0
    direction: Direction = "data"


@dataclass(frozen=True, kw_only=True, eq=False)
class BagConditions:
    """Conditions of an execution: the knowledge, buffers and requests of nodes, and failures.

    Attributes
    ----------
    known : Tree, optional
        The tree with initially measured speeds and bandwidths; by default the true values. Later
        measurements of the nodes replace them.
    bias : float64, shape (n_hosts, 2), optional
        Factors of each host's later measurements of its speed, and of its parent's measurements
        of the bandwidth to it; by default 1.
    buffer : int
        Capacity of a node's buffer [tasks]. It is split among the types, with at least one task
        each, if tasks are bundled, or each application has its own schedulers (except with
        `BagPolicy.buffer_per_application`), or hosts are restricted and there is no plan.
    delays : float64, shape (n_hosts,), optional
        Time of each node's first request [s]; by default 0.
    failures : bool
        True if hosts other than the root, and links, may fail. Nodes then record the tasks in
        their subtrees, report completed tasks, and call silent children; the root distributes lost
        tasks again. Each task counts once, when its completion is first reported to the root.
        Plans are negotiated once, before the first failure, regardless of the policy's `period`.
        If all computing hosts fail forever, the execution does not end: give ``until``.
    patience : float, optional
        With failures: time without an answer after which a host counts as failed [s]; by default
        the time of an average task on an average host.
    direction : {"data", "results"}
        ``data``: the data of tasks travel down, results are negligible. ``results``: `Bags.byte`
        is the size of results, which travel up and are counted at the root; tasks are small
        messages. A port then receives one result after the other, and sending a task reserves it
        for the time of the result. A node holds up to `buffer` results, one more that was in
        transit, and one of its own. The tree has the upward bandwidths.
    free_requests : bool
        True if requests arrive at once without using links, as in the paper's model: a node
        decides after all requests of an instant. Otherwise, and with failures, they are messages.
    single_requests : bool
        True if each request is for one task, so that the first requests of children, with all
        slots free, alternate; otherwise each request is for all free slots.

    Raises
    ------
    WorkloadError
        The buffer, the patience or the direction is invalid, or hosts fail although results travel
        or requests are free.
    """

    known: Tree | None = None
    bias: Floats | None = None
    buffer: int = BUFFER
    delays: Floats | None = None
    failures: bool = False
    patience: float | None = None
    direction: Direction = "data"
    free_requests: bool = False
    single_requests: bool = False

    def __post_init__(self) -> None:
        """Check the values that do not depend on the tree."""
        if whole("buffer", self.buffer) > MOST_TASKS:
            rule = f"give a number of tasks, 1 to {MOST_TASKS}"
            raise WorkloadError(f"buffer is {self.buffer!r}; {rule}")
        if self.patience is not None and not self.patience > 0:
            raise WorkloadError(f"patience is {self.patience!r}; give a time above 0 s")
        one_of("direction", self.direction, get_args(Direction))
        if self.failures and self.direction == "results":
            raise WorkloadError("results cannot travel where hosts fail; give direction='data'")
        if self.failures and self.free_requests:
            raise WorkloadError("requests are messages where hosts fail; leave free_requests out")

    def check(self, tree: Tree) -> None:
        """Raise WorkloadError if a value does not fit the tree."""
        known, hosts = self.known or tree, f"each of {tree.n_hosts} hosts"
        if self.bias is not None:
            rule = f"two finite factors above 0 for {hosts}"
            decided("bias is", self.bias, rule, (tree.n_hosts, 2), least=math.ulp(0.0))
        if self.delays is not None:
            rule = f"finite times from 0 s on, one for {hosts}"
            decided("delays are", self.delays, rule, (tree.n_hosts,), least=0.0)
        for name in ("hosts", "parent"):
            if not np.array_equal(getattr(known, name), getattr(tree, name)):
                raise WorkloadError(
                    f"known.{name} is not tree.{name}; give the same tree as measured"
                )
        if wrong := np.flatnonzero((known.speed > 0) != (tree.speed > 0)).tolist():
            raise WorkloadError(
                f"known.speed of host {tree.hosts[wrong[0]]!r} is {known.speed[wrong[0]]:g}, but"
                f" tree.speed is {tree.speed[wrong[0]]:g}; both are 0 for a host that computes"
                " nothing"
            )


def execute(
    tree: Tree,
    bags: Bags,
    policy: BagPolicy,
    conditions: BagConditions | None = None,
    *,
    platform: Platform | str | os.PathLike[str] | None = None,
    others: Sequence[Placement] = (),
    choices: bool = False,
    **simulation: Unpack[SimulationKeywords],
) -> BagExecution:
    """Execute all tasks of some bags on a simulated tree.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The tasks; all start at the root.
    policy : BagPolicy
        The decisions of the nodes.
    conditions : BagConditions, optional
        Knowledge, buffers and requests of nodes, and failures; by default those of the paper.
    platform : Platform or path, optional
        The platform to simulate instead of ``tree.platform()``: its hosts have the tree's names,
        and there are routes between hosts and their parents.
    others : sequence of Placement
        Further daemons on the platform, such as competing traffic.
    choices : bool
        True to offer a choice wherever a node can serve several pairs of a target and a type: the
        decision of the policy, then all others that are `servable`. It has the `NodeState`, and
        the host's name as label.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``options=SimGridOptions.linear()`` and ``trace=False``.

    Raises
    ------
    WorkloadError
        An argument is invalid, a condition does not fit the tree, or an application is restricted
        to a host that is not in the tree.
    InfeasibleError
        No host computes an application or, if tasks are bundled, all of them.
    """
    return prepare(
        tree,
        bags,
        policy,
        conditions,
        platform=platform,
        others=others,
        choices=choices,
        **simulation,
    ).run()


def prepare(
    tree: Tree,
    bags: Bags,
    policy: BagPolicy,
    conditions: BagConditions | None = None,
    *,
    platform: Platform | str | os.PathLike[str] | None = None,
    others: Sequence[Placement] = (),
    choices: bool = False,
    **simulation: Unpack[SimulationKeywords],
) -> PreparedSimulation[BagExecution]:
    """Return an execution that is ready to start; parameters and errors as in `execute`."""
    given = conditions or BagConditions()
    _check(tree, bags, policy)
    given.check(tree)
    run = run_fault_tolerant_host if given.failures else run_host
    placements = [
        Placement(
            setup.name,
            run,
            (setup,),
            name=f"node {setup.name}",
            restart=given.failures,
            daemon=given.failures and number > 0,
        )
        for number, setup in enumerate(_host_setups(tree, bags, policy, given, choices))
    ]

    def outcome(result: Result) -> BagExecution:
        """Return the execution, with names of applications in the trace."""
        # Actors write the numbers of applications.
        names = {str(number): name for number, name in enumerate(bags.names)}
        labels = tuple(names.get(label, label) for label in result.trace.label_names)
        result = replace(result, trace=replace(result.trace, label_names=labels))
        return _execution(tree, bags, policy.name, result, given)

    return PreparedSimulation(
        tree.platform() if platform is None else platform,
        [*placements, *others],
        SimulationOptions(**with_defaults(simulation, SimGridOptions.linear())),
        outcome,
        partial(_errors_for_caller, policy.name),
    )


@contextmanager
def _errors_for_caller(policy: str) -> Iterator[None]:
    """Translate errors of the nodes: those of a policy's decisions are for the caller."""
    try:
        yield
    except DeadlockError as error:
        raise DeadlockError(
            error.clock or 0.0,
            error.blocked,
            f"policy {policy!r} leaves tasks; let it return one of servable(state) at last",
        ) from None
    except ActorError as error:
        if isinstance(error.__cause__, WorkloadError):
            raise error.__cause__ from error
        raise


def _check(tree: Tree, bags: Bags, policy: BagPolicy) -> None:
    """Raise if the tree, the bags or the policy are invalid."""
    given: Any = policy
    if not isinstance(given, BagPolicy) or not callable(given.decide):
        raise WorkloadError(
            f"policy is {shown(given)}; give a BagPolicy, such as BagPolicy('mine', decide), or"
            " one of POLICIES, called with tree and bags"
        )
    for name, value, kind in (("tree", tree, Tree), ("bags", bags, Bags)):
        if not isinstance(value, kind):
            raise WorkloadError(f"{name} is {shown(value)}; give a {kind.__name__}")
    bags.allowed(tree.hosts, tree.speed, bundled=policy.bundled)
    shortest = float(np.sum(bags.flop * bags.count)) / float(tree.speed.sum())
    if not policy.period * _MOST_LOOKS > shortest:
        raise WorkloadError(
            f"the period of policy {policy.name!r} is {policy.period!r}; give more than"
            f" {shortest / _MOST_LOOKS:.1e} s, or inf to plan once: the tasks take {shortest:.1e} s"
            " at least"
        )
    if policy.plans and len(policy.plans) != tree.n_hosts:
        rows = f"{len(policy.plans)} rows; give one a host, {tree.n_hosts}"
        raise WorkloadError(f"policy.plans has {rows}")


def _shortest(tree: Tree, bags: Bags) -> float:
    """Return the shortest time of a transfer or computation of a task [s]."""
    sent = [bags.byte[bags.byte > 0].min(initial=np.inf) / each for each in tree.bandwidth[1:]]
    return float(min([bags.flop.min() / tree.speed.max(), *sent]))


def _host_setups(
    tree: Tree, bags: Bags, policy: BagPolicy, conditions: BagConditions, choices: bool
) -> list[HostSetup]:
    """Return the data with which each host starts; no host gets the plans of others."""
    known, capacity = conditions.known or tree, conditions.buffer
    if policy.bundled or (policy.parallel and not policy.buffer_per_application):
        capacity = max(capacity // bags.n_applications, 1)
    elif bags.hosts is not None and not policy.plans and policy.planner is None:
        # A child that requests some types only must not wait for a slot with another one.
        capacity = max(capacity, bags.n_applications)
    patience = conditions.patience
    if patience is None:
        patience = float(np.mean(bags.flop) / np.mean(tree.speed[tree.speed > 0]))
    bias = np.ones((tree.n_hosts, 2)) if conditions.bias is None else conditions.bias
    delays = np.zeros(tree.n_hosts) if conditions.delays is None else conditions.delays
    # Children decide first, so that their requests belong to the same instant.
    height = [0] * tree.n_hosts
    for host in range(tree.n_hosts - 1, 0, -1):
        parent = int(tree.parent[host])
        height[parent] = max(height[parent], 1 + height[host])
    supplies = Supply.lines(bags, bundled=policy.bundled, parallel=policy.parallel)
    shared = replace(policy, plans=())
    setups = []
    for host, children in enumerate(known.children):
        knowledge = NodeKnowledge.of(known, bags, host)
        nodes = tuple(
            NodeSetup(
                place=TreePosition.of(known, host),
                line=line,
                known=supply.known(knowledge),
                capacity=capacity,
                supply=None if host else supply,
                bias=(float(bias[host, 0]), *bias[list(children), 1].tolist()),
                delay=float(delays[host]),
                plan=policy.plans[host] if policy.plans else None,
                free_requests=conditions.free_requests,
                single_requests=conditions.single_requests,
                results=conditions.direction == "results",
                turns=_TURNS * height[host] if conditions.free_requests else 0,
                choices=choices,
            )
            for line, supply in enumerate(supplies)
        )
        for node in nodes if policy.plans else ():
            who = f"the plan of policy {policy.name!r} for {node.place.name!r}"
            NodePlan.checked(who, node.plan, node.known)
        setups.append(HostSetup(nodes, shared, patience))
    return setups


def last_completion(result: Result) -> float:
    """Return the date at which the last task of an execution ended [s]."""
    return max(part[2] for part, _ in _completed(result)[1])


def _completed(
    result: Result,
) -> tuple[list[tuple[str, list[NodeLog]]], list[tuple[tuple[int, int, float], str]]]:
    """Return the logs of each host, and each task with its date and its host."""
    root = result.returned[0].value
    if isinstance(root, tuple):  # hosts may fail
        logs, notices = root
        return logs, [(part, each.host) for each in notices for part in each.parts]
    logs = [(each.host, each.value) for each in result.returned if each.value]
    if returned := [each for line in root for each in line.returned]:
        return logs, [(part, name) for name, part in returned]
    return logs, [(part, name) for name, lines in logs for each in lines for part in each.done]


def _execution(
    tree: Tree, bags: Bags, policy: str, result: Result, conditions: BagConditions
) -> BagExecution:
    """Return the execution from the logs of the nodes."""
    number = {name: each for each, name in enumerate(tree.hosts)}
    logs, done = _completed(result)
    which = np.array([part[0] for part, _ in done], dtype=np.int64)
    date = np.array([part[2] for part, _ in done], dtype=np.float64)
    computed = np.zeros((tree.n_hosts, bags.n_applications), dtype=np.int64)
    np.add.at(computed, (np.array([number[host] for _, host in done], dtype=np.int64), which), 1)
    of_host: list[list[NodeLog]] = [[] for _ in tree.hosts]
    for name, lines in logs:
        of_host[number[name]] += lines
    return BagExecution(
        tree,
        bags,
        policy,
        tuple(np.sort(date[which == each]) for each in range(bags.n_applications)),
        computed,
        np.array([sum(each.port_busy for each in lines) for lines in of_host]),
        min(each.first for lines in of_host for each in lines),
        np.array([max((each.most for each in lines), default=0) for lines in of_host]),
        result,
        sum(each.again for each in of_host[0]),
        conditions.direction,
    )


@dataclass(frozen=True, eq=False)
class PeriodicExecution:
    """Result of the execution of a periodic schedule.

    Attributes
    ----------
    schedule : PeriodicSchedule
        The schedule.
    n_periods : int
        Number of periods in which the root distributed tasks.
    date : float64, shape (n_tasks,)
        End of the computation of each task, in order [s].
    kind, host : int64, shape (n_tasks,)
        Type and host of each task.
    most : int64, shape (n_hosts,)
        Maximum number of tasks in the buffer of each host, those computed or sent included.
    result : Result
        Result of the simulation.
    """

    schedule: PeriodicSchedule
    n_periods: int
    date: Floats
    kind: Integers
    host: Integers
    most: Integers
    result: Result

    def done(self, until: float) -> Integers:
        """Return how many tasks of each type were computed by a date [s], shape (n_types,)."""
        early = self.kind[: np.searchsorted(self.date, until + _slack(self.schedule), side="right")]
        return np.bincount(early, minlength=self.schedule.bags.n_applications)


def execute_periodic(
    schedule: PeriodicSchedule,
    n_periods: int,
    *,
    options: SimGridOptions | None = None,
    trace: bool = True,
) -> PeriodicExecution:
    """Follow a periodic schedule on SimGrid.

    The root distributes tasks in the first `n_periods` periods; a host at depth d starts and ends d
    periods later. Each task crosses one link after the other, and is computed or forwarded only
    after its arrival.

    Parameters
    ----------
    schedule : PeriodicSchedule
        For a tree without latencies, which would delay sends and all that follows.
    n_periods : int
        From 1 on.

    Raises
    ------
    WorkloadError
        There is no period, or there are too many tasks to simulate.
    """
    if n_periods < 1:
        raise WorkloadError(f"n_periods is {n_periods!r}; give a number from 1 on")
    tasks = n_periods * sum(schedule.sent[0])
    if tasks > MOST_TASKS:
        raise WorkloadError(
            f"{n_periods} periods of {float(schedule.period):g} s have {tasks:.2g} tasks, more than"
            f" {MOST_TASKS:.0e}; give periodic_schedule a shorter period"
        )
    hosts = [host for host, row in enumerate(schedule.sent) if any(row)]
    result = simulate(
        schedule.tree.platform(),
        [
            Placement(
                schedule.tree.hosts[host],
                periodic_host,
                (schedule, host, n_periods),
                name=f"periodic {schedule.tree.hosts[host]}",
            )
            for host in hosts
        ],
        options=SimGridOptions.linear() if options is None else options,
        trace=trace,
    )
    logs = {host: each.value for host, each in zip(hosts, result.returned, strict=False)}
    done = sorted((date, kind, host) for host in hosts for date, kind in logs[host].computed)
    most = np.zeros(schedule.tree.n_hosts, dtype=np.int64)
    for host in hosts[1:]:
        log = logs[host]
        came = [date for date, _ in log.came]
        left = [date - _slack(schedule) for date, _ in (*log.computed, *log.sent)]
        # At equal dates, tasks leave first.
        change = np.repeat([1, -1], [len(came), len(left)])
        order = np.lexsort((change, np.array(came + left)))
        most[host] = np.cumsum(change[order]).max(initial=0)
    dates = np.array([date for date, _, _ in done])
    kind, host_of = np.array([each[1:] for each in done], dtype=np.int64).reshape(-1, 2).T
    return PeriodicExecution(schedule, n_periods, dates, kind, host_of, most, result)


def _slack(schedule: PeriodicSchedule) -> float:
    """Return the tolerance of dates [s]."""
    of_task = SAME[1] * _shortest(schedule.tree, schedule.bags)
    return SAME[0] * float(schedule.period) + min(of_task, SAME[2])
