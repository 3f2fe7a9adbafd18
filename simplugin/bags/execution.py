"""Execution of bags of tasks on a simulated tree, by a policy or by a periodic schedule."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.actors.fault_tolerant_node import run_fault_tolerant_host
from simplugin.bags.actors.hosts import run_host
from simplugin.bags.actors.messages import NodeLog, NodeSetup, Supply
from simplugin.bags.actors.periodic import periodic_host
from simplugin.bags.periodic import PeriodicSchedule
from simplugin.bags.policy import BUFFER, BagPolicy, NodeKnowledge, NodePlan, TreePosition
from simplugin.core.errors import ActorError, DeadlockError, WorkloadError
from simplugin.inputs.locations import shown
from simplugin.platforms import Platform
from simplugin.platforms.graphs import Tree
from simplugin.simulation import Result, SimGridOptions
from simplugin.simulation.options import SimulationKeywords, with_defaults
from simplugin.simulation.placement import Placement
from simplugin.simulation.simulate import simulate
from simplugin.workloads.applications import Bags
from simplugin.workloads.parameter_ranges import one_of, whole

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What travels: data down the tree, or results up.
Direction = Literal["data", "results"]

# Tasks of one run, beyond which the period was hardly chosen for being simulated.
MOST_TASKS = 10_000_000
# Turns of the actors in which a free request comes from a child's decision, and more.
_TURNS = 8
# Plans in the time that computing alone takes.
_MOST_LOOKS = 1e5
# Dates closer than these shares of a period, and of the shortest time of a task, are the same, but
# for rounding; or 1e-8 s, as SimGrid's own precision is 1e-9 s.
SAME = (1e-9, 1e-5, 1e-8)


@dataclass(frozen=True, eq=False)
class BagExecution:
    """Result of an execution.

    Attributes
    ----------
    tree : Tree
        Where.
    bags : Bags
        What.
    policy : str
        By which policy.
    completion : tuple of float64, each of shape (n_done,)
        Of each application, when its tasks ended, in order [s].
    computed : int64, shape (n_hosts, n_applications)
        Tasks of each application that each host computed.
    port_busy : float64, shape (n_hosts,)
        Time for which each host's port was sending, or receiving results [s].
    first : float
        When the first task was handed out [s].
    most : int64, shape (n_hosts,)
        Most tasks, or macro-tasks, that the buffer of each host held.
    result : Result
        The simulation's.
    lost : int
        Tasks, or macro-tasks, that were lost with hosts that failed and were handed out again.
    direction : {"data", "results"}
        Whether data travelled down, or results up.
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


def execute(
    tree: Tree,
    bags: Bags,
    policy: BagPolicy,
    *,
    platform: Platform | str | os.PathLike[str] | None = None,
    known: Tree | None = None,
    bias: NDArray[np.float64] | None = None,
    buffer: int = BUFFER,
    delays: NDArray[np.float64] | None = None,
    others: Sequence[Placement] = (),
    failures: bool = False,
    patience: float | None = None,
    direction: Direction = "data",
    free_requests: bool = False,
    single_requests: bool = False,
    **simulation: Unpack[SimulationKeywords],
) -> BagExecution:
    """Execute all tasks of some bags on a simulated tree.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The tasks; all start at the root.
    policy : Policy
        The decisions of the nodes.
    platform : Platform or path, optional
        The platform to simulate instead of ``tree.platform()``: its hosts have the tree's names,
        and there are routes between hosts and their parents.
    known : Tree, optional
        The same tree with the speeds and bandwidths that the nodes have measured before; their
        true values without. What they measure later takes their place.
    bias : float64, shape (n_hosts, 2), optional
        Factors of each host's later measurements of its speed, and of its parent's measurements
        of the bandwidth to it; 1 by default.
    buffer : int
        Tasks that the buffer of a node holds. Where tasks are bundled, or each application has
        schedulers of its own (but see `BagPolicy.buffer_per_application`), or hosts are restricted
        and there is no plan, each type has its part of it, and one task at least.
    delays : float64, shape (n_hosts,), optional
        When each node first asks for tasks [s]; 0 without.
    others : sequence of Placement
        Daemons that use the platform too, such as traffic of others.
    failures : bool
        True if hosts other than the root, and links, may go off. Nodes then keep account of the
        tasks below them, report tasks that are done, and call silent children; the root
        distributes lost tasks again. Each task counts once, when the root first hears of its end.
        Plans are negotiated once, before anything fails, whatever the policy's `period`. If no
        host that computes is left forever, the execution does not end: give ``until``.
    patience : float, optional
        With failures: after how long without an answer a host is held to be off [s]. As long as
        an average task takes on an average host, without.
    direction : {"data", "results"}
        ``data``: the data of tasks travel down, and results are negligible. ``results``: the bytes
        of tasks are those of their results, which travel up to the root and are counted when they
        are there; tasks are messages of some bytes. A port then receives one result at a time;
        handing out a task books it for the time of the result. A node holds up to `buffer` results,
        one more that was on its way, and one of its own. The tree has the bandwidths upwards.
    free_requests : bool
        True if requests arrive at once and take nothing of links, as in the paper's model: a node
        decides when all of an instant are there. Else they are messages of some bytes. With
        failures, they are messages.
    single_requests : bool
        True if each request is for one task, so that the first requests of children, which then
        have all slots free, come in turn; else each is for all free slots, and they come in blocks.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``options=SimGridOptions.linear()`` and ``trace=False``.

    Raises
    ------
    WorkloadError
        The buffer, the patience, a delay or a bias is out of its range, there is not one plan,
        delay or bias for each host, `known` is another tree, an application is restricted to a
        host that is not in the tree, or hosts fail where results travel or requests are free.
    InfeasibleError
        No host computes an application or, if tasks are bundled, all of them.
    """
    known = known or tree
    _check(tree, bags, known, policy, buffer, bias, delays)
    if patience is None:
        patience = float(np.mean(bags.flop) / np.mean(tree.speed[tree.speed > 0]))
    elif not patience > 0:
        raise WorkloadError(f"patience is {patience!r}; give a time above 0 s")
    one_of("direction", direction, get_args(Direction))
    if failures and direction == "results":
        raise WorkloadError("results cannot travel where hosts fail; give direction='data'")
    if failures and free_requests:
        raise WorkloadError("requests are messages where hosts fail; leave free_requests out")
    ways = free_requests, single_requests, direction == "results"
    stations = _stations(known, bags, policy, buffer, bias, delays, ways)
    # Plans go to their nodes only: all of them to each would be most of what is sent.
    shared = replace(policy, plans=())
    placements = [
        Placement(
            name,
            run_fault_tolerant_host if failures else run_host,
            (lines, shared, patience) if failures else (lines, shared),
            name=f"node {name}",
            restart=failures,
            daemon=failures and number > 0,
        )
        for number, (name, lines) in enumerate(zip(tree.hosts, stations, strict=True))
    ]
    platform = tree.platform() if platform is None else platform
    try:
        result = simulate(
            platform,
            [*placements, *others],
            **with_defaults(simulation, SimGridOptions.linear()),
        )
    except DeadlockError as error:
        raise DeadlockError(
            error.clock or 0.0,
            error.blocked,
            f"policy {policy.name!r} leaves tasks; let it return one of servable(state) at last",
        ) from None
    except ActorError as error:
        # What a policy decides wrongly is for the caller.
        if isinstance(error.__cause__, WorkloadError):
            raise error.__cause__ from error
        raise
    # Actors write the numbers of applications.
    names = {str(number): name for number, name in enumerate(bags.names)}
    labels = tuple(names.get(label, label) for label in result.trace.label_names)
    result = replace(result, trace=replace(result.trace, label_names=labels))
    done = _execution(tree, bags, policy.name, result, failures=failures)
    return replace(done, direction=direction)


def _check(
    tree: Tree,
    bags: Bags,
    known: Tree,
    policy: BagPolicy,
    buffer: int,
    bias: NDArray[np.float64] | None,
    delays: NDArray[np.float64] | None,
) -> None:
    """Raise if arguments of `execute` are invalid."""
    given: Any = policy
    if not isinstance(given, BagPolicy) or not callable(given.decide):
        raise WorkloadError(
            f"policy is {shown(given)}; give a Policy, such as Policy('mine', decide), or"
            " one of POLICIES, called with tree and bags"
        )
    for name, value, kind in (("tree", tree, Tree), ("bags", bags, Bags)):
        if not isinstance(value, kind):
            raise WorkloadError(f"{name} is {shown(value)}; give a {kind.__name__}")
    if whole("buffer", buffer) > MOST_TASKS:
        raise WorkloadError(f"buffer is {buffer!r}; give a number of tasks, 1 to {MOST_TASKS}")
    bags.allowed(tree.hosts, tree.speed, bundled=policy.bundled)
    shortest = float(np.sum(bags.flop * bags.count)) / float(tree.speed.sum())
    if not policy.period * _MOST_LOOKS > shortest:
        raise WorkloadError(
            f"the period of policy {policy.name!r} is {policy.period!r}; give more than"
            f" {shortest / _MOST_LOOKS:.1e} s, or inf to plan once: the tasks take {shortest:.1e} s"
            " at least"
        )
    for name, rows in (("bias", bias), ("delays", delays), ("policy.plans", policy.plans or None)):
        if rows is not None and len(rows) != tree.n_hosts:
            raise WorkloadError(f"{name} has {len(rows)} rows; give one a host, {tree.n_hosts}")
    if bias is not None and (
        np.shape(bias) != (tree.n_hosts, 2) or not np.all((bias > 0) & np.isfinite(bias))
    ):
        raise WorkloadError("bias is invalid; give two finite factors above 0 for each host")
    if delays is not None and not np.all((delays >= 0) & np.isfinite(delays)):
        raise WorkloadError("a delay is invalid; give finite times from 0 s on")
    for name in ("hosts", "parent"):
        if not np.array_equal(getattr(known, name), getattr(tree, name)):
            raise WorkloadError(f"known.{name} is not tree.{name}; give the same tree as measured")
    if wrong := np.flatnonzero((known.speed > 0) != (tree.speed > 0)).tolist():
        raise WorkloadError(
            f"known.speed of host {tree.hosts[wrong[0]]!r} is {known.speed[wrong[0]]:g}, but"
            f" tree.speed is {tree.speed[wrong[0]]:g}; both are 0 for a host that computes nothing"
        )


def _shortest(tree: Tree, bags: Bags) -> float:
    """Return the shortest time that a task takes somewhere [s]."""
    sent = [bags.byte[bags.byte > 0].min(initial=np.inf) / each for each in tree.bandwidth[1:]]
    return float(min([bags.flop.min() / tree.speed.max(), *sent]))


def _stations(
    known: Tree,
    bags: Bags,
    policy: BagPolicy,
    buffer: int,
    bias: NDArray[np.float64] | None,
    delays: NDArray[np.float64] | None,
    ways: tuple[bool, bool, bool],
) -> list[tuple[NodeSetup, ...]]:
    """Return the data with which the nodes of each host start, one for each line."""
    capacity = buffer
    if policy.bundled or (policy.parallel and not policy.buffer_per_application):
        capacity = max(buffer // bags.n_applications, 1)
    elif bags.hosts is not None and not policy.plans and policy.planner is None:
        # A child that asks for some types only must not wait for a slot that holds another one.
        capacity = max(buffer, bags.n_applications)
    factors = np.ones((known.n_hosts, 2)) if bias is None else bias
    dates = np.zeros(known.n_hosts) if delays is None else delays
    supplies = Supply.lines(bags, bundled=policy.bundled, parallel=policy.parallel)
    # Children decide first: what they ask for then belongs to the same instant.
    height = [0] * known.n_hosts
    for host in range(known.n_hosts - 1, 0, -1):
        parent = int(known.parent[host])
        height[parent] = max(height[parent], 1 + height[host])
    turns = [_TURNS * each if ways[0] else 0 for each in height]
    stations = [
        tuple(
            NodeSetup(
                TreePosition.of(known, host),
                line,
                supply.known(NodeKnowledge.of(known, bags, host)),
                capacity,
                supply if host == 0 else None,
                (float(factors[host, 0]), *factors[list(children), 1].tolist()),
                float(dates[host]),
                policy.plans[host] if policy.plans else None,
                *ways,
                turns[host],
            )
            for line, supply in enumerate(supplies)
        )
        for host, children in enumerate(known.children)
    ]
    for each in chain.from_iterable(stations if policy.plans else ()):
        who = f"the plan of policy {policy.name!r} for {each.place.name!r}"
        NodePlan.checked(who, each.plan, each.known)
    return stations


def _execution(
    tree: Tree, bags: Bags, policy: str, result: Result, *, failures: bool
) -> BagExecution:
    """Put together what the nodes did."""
    number = {name: each for each, name in enumerate(tree.hosts)}
    if failures:
        logs, notices = result.returned[0].value
        done = [(part, number[each.host]) for each in notices for part in each.parts]
    else:
        logs = list(zip(tree.hosts, (each.value for each in result.returned), strict=False))
        done = [
            (part, number[name]) for name, lines in logs for each in lines for part in each.done
        ]
        if returned := [each for line in logs[0][1] for each in line.returned]:
            done = [(part, number[name]) for name, part in returned]
    which = np.array([part[0] for part, _ in done], dtype=np.int64)
    date = np.array([part[2] for part, _ in done], dtype=np.float64)
    computed = np.zeros((tree.n_hosts, bags.n_applications), dtype=np.int64)
    np.add.at(computed, (np.array([host for _, host in done], dtype=np.int64), which), 1)
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
    )


@dataclass(frozen=True, eq=False)
class PeriodicExecution:
    """Result of the execution of a periodic schedule.

    Attributes
    ----------
    schedule : PeriodicSchedule
        The schedule.
    n_periods : int
        For how many periods the root handed out tasks.
    date : float64, shape (n_tasks,)
        When tasks were computed, in order [s].
    kind, host : int64, shape (n_tasks,)
        The type of each, and where it was computed.
    most : int64, shape (n_hosts,)
        Most tasks that the buffer of each host held, those being computed or sent included.
    result : Result
        The simulation's.
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

    The root hands out tasks in the first `n_periods` periods; a host at depth d starts d periods
    later and ends as much later. Each task crosses the links one by one, and is computed or sent
    on only after it has come.

    Parameters
    ----------
    schedule : PeriodicSchedule
        For a tree without latencies: with them, sends end later than planned, and what waits for
        them starts later.
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
        # Of those at the same date, the leaving go first.
        change = np.repeat([1, -1], [len(came), len(left)])
        order = np.lexsort((change, np.array(came + left)))
        most[host] = np.cumsum(change[order]).max(initial=0)
    dates = np.array([date for date, _, _ in done])
    kind, host_of = np.array([each[1:] for each in done], dtype=np.int64).reshape(-1, 2).T
    return PeriodicExecution(schedule, n_periods, dates, kind, host_of, most, result)


def _slack(schedule: PeriodicSchedule) -> float:
    """Return by how much dates may differ and be the same [s]."""
    of_task = SAME[1] * _shortest(schedule.tree, schedule.bags)
    return SAME[0] * float(schedule.period) + min(of_task, SAME[2])
