"""The actor that executes task graphs: it asks who comes next, starts it, and waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import PlatformError, SimpluginError, TimeoutException, WorkloadError
from simplugin.taskgraphs.progress import Progress
from simplugin.taskgraphs.redistribution import redistribution
from simplugin.taskgraphs.trace_labels import edge_label, task_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.simulation.api import Activity, Actor
    from simplugin.taskgraphs.online_mapping import Mapped, OnlineMapper, Revision
    from simplugin.taskgraphs.redistribution import Local, Pattern
    from simplugin.workloads.graph_sets import GraphSet

# Tasks whose ends are no further apart, relative to the date, end at the same instant.
INSTANT = 1e-9
# SimGrid sleeps no shorter [s].
SHORTEST = 1e-9


@dataclass(frozen=True, eq=False)
class Orders:
    """What a conductor needs to know.

    Attributes
    ----------
    graphs : GraphSet
        What to execute.
    site : Site
        Where.
    mapped : tuple of (int, tuple of int)
        Tasks and their processors in the order of a plan; empty where a mapper decides.
    mapper : callable, optional
        Makes the mapper.
    revise : Revision, optional
        Who revises allocations.
    pattern, local
        Of redistributions.
    labelled : bool
        Whether the trace shall have labels.
    """

    graphs: GraphSet
    site: Site
    mapped: tuple[tuple[int, tuple[int, ...]], ...]
    mapper: Callable[[], OnlineMapper] | None
    revise: Revision | None
    pattern: Pattern
    local: Local
    labelled: bool


@dataclass(frozen=True, eq=False)
class Deeds:
    """What a conductor tells in the end.

    Attributes
    ----------
    start, finish : float64, shape (n_tasks,)
        Of each task [s].
    sent, arrived : float64, shape (n_edges,)
        When each redistribution started and ended [s].
    order : tuple of int
        Tasks as they were mapped.
    processors : tuple of tuple of int
        Of each task.
    """

    start: NDArray[np.float64]
    finish: NDArray[np.float64]
    sent: NDArray[np.float64]
    arrived: NDArray[np.float64]
    order: tuple[int, ...]
    processors: tuple[tuple[int, ...], ...]


async def conduct(me: Actor, orders: Orders) -> Deeds:
    """Execute all graphs; one actor does it for the whole site."""
    run = _Run(me, orders)
    while not run.progress.is_over:
        run.submit()
        run.map()
        run.start()
        await run.wait()
    return run.deeds()


class _Run:
    """The state of a conductor."""

    def __init__(self, me: Actor, orders: Orders) -> None:
        self.me = me
        self.orders = orders
        graphs, site = orders.graphs, orders.site
        self.hosts = _hosts(me, site)
        self.flop, self.alpha = graphs.flop.tolist(), graphs.alpha.tolist()
        self.byte, self.edges = graphs.edge_byte.tolist(), graphs.edges.tolist()
        self.progress = Progress(graphs, site.n_processors)
        for task, processors in orders.mapped:
            self.progress.assign(task, processors)
        self.mapper = None if orders.mapper is None else orders.mapper()
        release = graphs.release.tolist()
        self.to_come = sorted(range(graphs.n_graphs), key=release.__getitem__)[::-1]
        self.release = release
        self.active: list[int] = []
        self.changed = False
        # What runs: tasks, and redistributions by their edges.
        self.tasks: dict[Activity, int] = {}
        self.moves: dict[Activity, int] = {}
        self.began, self.ended = [0.0] * graphs.n_tasks, [0.0] * graphs.n_tasks
        self.sent, self.arrived = [0.0] * len(self.edges), [0.0] * len(self.edges)

    def submit(self) -> None:
        """Take in the graphs whose date has come; have allocations revised."""
        now = self.me.now
        self.active = [graph for graph in self.active if self.progress.left[graph]]
        # Where a timer rings, the last digits of its date may be others.
        while self.to_come and self.release[self.to_come[-1]] <= now + 1e-12 * max(now, 1.0):
            graph = self.to_come.pop()
            self.progress.release(graph)
            self.active.append(graph)
            self.changed = True
        if self.orders.revise and self.mapper and self.active and self.changed:
            mapped = [processors is not None for processors in self.progress.processors]
            revised = self.orders.revise(now, self.active, mapped, self.mapper.forecast)
            for graph, allocation in revised.items():
                if graph not in range(self.orders.graphs.n_graphs):
                    raise _unknown("revised allocations are for graph", graph, len(self.release))
                self.mapper.set_allocation(graph, allocation)

    def map(self) -> None:
        """Have ready tasks mapped, all of this instant together."""
        ready = sorted(self.progress.ready_tasks())
        if self.mapper is not None and self.changed:
            for each in self.mapper.map_ready(self.me.now, ready):
                self._assign(each)
        self.changed = False

    def _assign(self, mapped: Mapped) -> None:
        """Take over what a mapper decided, or refuse it."""
        graphs, task = self.orders.graphs, int(mapped.task)
        processors = mapped.processors.tolist()
        if not 0 <= task < graphs.n_tasks:
            raise _unknown("the mapper maps task", task, graphs.n_tasks)
        fault = misplaced(processors, self.orders.site)
        if fault:
            raise WorkloadError(f"the mapper has task {graphs.name_of(task)!r} on {fault}")
        if self.progress.processors[task] is not None:
            raise WorkloadError(
                f"the mapper maps task {graphs.name_of(task)!r} twice; map each task once"
            )
        self.progress.assign(task, processors)

    def start(self) -> None:
        """Start what can start."""
        for edge in self.progress.edges_to_start():
            self._send(edge)
        for task in self.progress.tasks_to_start():
            self._compute(task)

    def _send(self, edge: int) -> None:
        """Start a redistribution; nothing takes no time."""
        source, target = self.edges[edge]
        self.sent[edge] = self.arrived[edge] = self.me.now
        if not self.byte[edge]:
            self.progress.arrive(edge)
            return
        held = self.progress.processors
        numbers, sizes = redistribution(
            self.byte[edge],
            held[source] or (),
            held[target] or (),
            pattern=self.orders.pattern,
            local=self.orders.local,
        )
        hosts = [self.hosts[number] for number in numbers.tolist()]
        label = edge_label(self.orders.graphs, edge) if self.orders.labelled else None
        self.moves[self.me.parallel_async(hosts, None, sizes, label=label)] = edge

    def _compute(self, task: int) -> None:
        """Start a task: by Amdahl's law each processor has the part that cannot be split."""
        numbers = self.progress.processors[task] or ()
        alpha, count = self.alpha[task], len(numbers)
        flop = np.full(count, (alpha + (1 - alpha) / count) * self.flop[task])
        hosts = [self.hosts[number] for number in numbers]
        label = task_label(self.orders.graphs, task) if self.orders.labelled else None
        self.tasks[self.me.parallel_async(hosts, flop, None, label=label)] = task
        self.began[task] = self.me.now
        if self.mapper is not None:
            self.mapper.started(task, self.me.now)

    async def wait(self) -> None:
        """Wait until something ends or a graph is submitted, and see what ended."""
        due = self.release[self.to_come[-1]] if self.to_come else None
        if not self.tasks and not self.moves:
            if due is not None:
                await self.me.sleep_until(due)
            elif not self.progress.is_over:
                raise _stuck(self.orders.graphs, self.progress)
            return
        try:
            patience = None if due is None else max(due - self.me.now, 0.0)
            await self.me.wait_any([*self.tasks, *self.moves], patience)
        except TimeoutException:
            return
        await self._settle()
        for activity in _over(self.me, self.moves):
            await activity  # one that failed raises here
            self._arrive(self.moves.pop(activity), activity)
        for activity in _over(self.me, self.tasks):
            await activity
            self._finish(self.tasks.pop(activity), activity)

    async def _settle(self) -> None:
        """See all tasks that end at this instant before the ready ones are mapped together.

        Sums of the same times in another order differ in their last digits.
        """
        pause = INSTANT * self.me.now
        if self.mapper is None or not pause:
            return
        if 0 < len(_over(self.me, self.tasks)) < len(self.tasks):
            await self.me.sleep_for(max(pause, SHORTEST))

    def _arrive(self, edge: int, activity: Activity) -> None:
        """Take note that a redistribution has ended."""
        self.arrived[edge] = activity.finish_time or 0.0
        self.progress.arrive(edge)

    def _finish(self, task: int, activity: Activity) -> None:
        """Take note that a task has ended."""
        self.ended[task] = activity.finish_time or 0.0
        self.progress.finish(task)
        self.changed = True
        if self.mapper is not None:
            self.mapper.finished(task, self.ended[task])

    def deeds(self) -> Deeds:
        """Return what was done."""
        return Deeds(
            np.array(self.began),
            np.array(self.ended),
            np.array(self.sent),
            np.array(self.arrived),
            tuple(self.progress.order),
            tuple(each or () for each in self.progress.processors),
        )


def _over(me: Actor, running: dict[Activity, int]) -> list[Activity]:
    """Return those that have ended."""
    left, found = list(running), []
    # Few have: to ask for the first of the rest is faster than to ask each.
    while (activity := me.test_any(left)) is not None:
        found.append(activity)
        left = left[left.index(activity) + 1 :]
    return found


def _hosts(me: Actor, site: Site) -> list[Any]:
    """Return the hosts of a site by the numbers of their processors."""
    found = []
    for name in site.names:
        try:
            found.append(me.host_by_name(name))
        except SimpluginError:
            raise no_host(site, name) from None
    return found


def no_host(site: Site, name: str) -> PlatformError:
    """Say that a platform is not that of a site."""
    return PlatformError(
        f"the platform has no host {name!r}, which site {site.name!r} has",
        remedy="give the platform that the site describes",
    )


def misplaced(processors: Sequence[int], site: Site) -> str:
    """Say where a task cannot be, and what to do about it; nothing if all is well."""
    if not processors:
        return "no processor; give at least one"
    last = site.n_processors - 1
    if min(processors) < 0 or max(processors) > last:
        return f"processors {list(processors)}; site {site.name!r} has the numbers from 0 to {last}"
    if len(set(processors)) < len(processors):
        return f"processors {list(processors)}; give each once"
    return ""


def _unknown(what: str, number: int, count: int) -> WorkloadError:
    """Say that there is no such number."""
    return WorkloadError(
        f"{what} {number!r}, which is not there; give a number from 0 to {count - 1}"
    )


def _stuck(graphs: GraphSet, progress: Progress) -> WorkloadError:
    """Say that a plan can never be executed."""
    mapped = [processors is not None for processors in progress.processors]
    if all(mapped):
        task = next(task for task in progress.order if not progress.has_finished(task))
        return WorkloadError(
            f"task {graphs.name_of(task)!r} can never start: the schedule has it on a processor"
            " before tasks that it waits for; order tasks after their predecessors"
        )
    task = mapped.index(False)
    return WorkloadError(
        f"task {graphs.name_of(task)!r} is never mapped; map every ready task sooner or later"
    )
