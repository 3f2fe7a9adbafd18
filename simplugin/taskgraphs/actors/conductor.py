"""The actor that executes task graphs: it starts what can start, and waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import PlatformError, SimpluginError, TimeoutException, WorkloadError
from simplugin.inputs.decisions import decided, listed
from simplugin.inputs.locations import shown
from simplugin.platforms.sites import Site
from simplugin.simulation.api import Activity, Actor
from simplugin.taskgraphs.actors.alternatives import (
    MappingObservation,
    MappingOptions,
    PlaceEstimates,
)
from simplugin.taskgraphs.policies.mapping import DeviatingMapper, OnlineMapper, Revision
from simplugin.taskgraphs.schedule import Schedule, placed
from simplugin.taskgraphs.timing import Local, Pattern, redistribution
from simplugin.workloads.task_graphs import GraphSet

# Ends of tasks within this distance, relative to the date, belong to the same instant.
INSTANT = 1e-9


def edge_label(graphs: GraphSet, edge: int) -> str:
    """Return ``graph:task->task`` of an edge by its number in the set."""
    source, target = graphs.edges[edge].tolist()
    graph = graphs.graphs[graphs.graph_of[source]]
    first = int(graphs.first[graphs.graph_of[source]])
    return f"{graph.name}:{graph.tasks[source - first]}->{graph.tasks[target - first]}"


class TaskProgress:
    """Progress of tasks and redistributions between submission and end.

    A redistribution starts when its source has finished and its target is mapped. A task starts
    when all its inputs have arrived and it is first in the queue of each of its processors; it is
    queued when it is mapped, and leaves when it has finished. Each of them is returned once.

    Parameters
    ----------
    graphs : GraphSet
        The graphs; tasks and edges have the numbers of the set.
    n_processors : int
        Number of processors.

    Attributes
    ----------
    order : list of int
        Mapped tasks, in the order of mapping.
    processors : list of (tuple of int or None), one for each task
        Processors of each mapped task.
    left : list of int, one for each graph
        Number of unfinished tasks.
    finished : list of bool, one for each task
        True if it has finished.
    n_ready : int
        Number of tasks of submitted graphs whose predecessors have finished, and which have not
        started.
    """

    def __init__(self, graphs: GraphSet, n_processors: int) -> None:
        self._sources = graphs.edges[:, 0].tolist()
        self._targets = graphs.edges[:, 1].tolist()
        self._inputs, self._outputs = (
            [side.edges_of(task).tolist() for task in range(graphs.n_tasks)]
            for side in (graphs.predecessors, graphs.successors)
        )
        self._graph = graphs.graph_of.tolist()
        self._entries = [
            (graph.entries + first).tolist()
            for graph, first in zip(graphs.graphs, graphs.first.tolist(), strict=False)
        ]
        self.order: list[int] = []
        self.processors: list[tuple[int, ...] | None] = [None] * graphs.n_tasks
        self.left = [graph.n_tasks for graph in graphs.graphs]
        self.finished = [False] * graphs.n_tasks
        self.n_ready = 0
        self._unfinished = [len(edges) for edges in self._inputs]
        # An entry task waits for the submission of its graph.
        self._missing = [len(edges) or 1 for edges in self._inputs]
        self._turns = [0] * graphs.n_tasks
        self._queues: list[deque[int]] = [deque() for _ in range(n_processors)]
        self._ready: list[int] = []
        self._tasks: list[int] = []
        self._edges: list[int] = []

    @property
    def is_over(self) -> bool:
        """True if all tasks have finished."""
        return not any(self.left)

    def release(self, graph: int) -> None:
        """Note that a graph is submitted."""
        self.n_ready += len(self._entries[graph])
        for task in self._entries[graph]:
            self._arrived_at(task)
            if self.processors[task] is None:
                self._ready.append(task)

    def assign(self, task: int, processors: Sequence[int]) -> None:
        """Note that a task is mapped: it queues after those that were mapped before it."""
        self.order.append(task)
        self.processors[task] = tuple(processors)
        for processor in processors:
            queue = self._queues[processor]
            self._turns[task] += bool(queue)
            queue.append(task)
        self._edges += [edge for edge in self._inputs[task] if self.finished[self._sources[edge]]]
        self._see(task)

    def move(self, task: int, processors: Sequence[int], rank: Sequence[int]) -> None:
        """Put a mapped task that has not started on other processors.

        Parameters
        ----------
        task : int
            The task.
        processors : sequence of int
            Processors of another cluster.
        rank : sequence of int
            Ranks of all tasks: it queues before all tasks with higher ones that have not started.
        """
        self._withdraw(task)
        for processor in self.processors[task] or ():
            queue = self._queues[processor]
            is_first = queue[0] == task
            queue.remove(task)
            if is_first and queue:
                self._turns[queue[0]] -= 1
                self._see(queue[0])
        self.processors[task] = tuple(processors)
        self._turns[task] = 0
        for processor in processors:
            queue = self._queues[processor]
            place = len(self.before(task, processor, rank))
            if place:
                self._turns[task] += 1
            elif queue:
                self._withdraw(queue[0])
                self._turns[queue[0]] += 1
            queue.insert(place, task)
        self._see(task)

    def before(self, task: int, processor: int, rank: Sequence[int] | None) -> list[int]:
        """Return the tasks of a processor's queue that come before one; all without ranks."""
        queue = self._queues[processor]
        if rank is None:
            return list(queue)
        # Only the first one can have started.
        return [
            each
            for number, each in enumerate(queue)
            if rank[each] < rank[task] or (not number and self.has_started(each))
        ]

    def has_started(self, task: int) -> bool:
        """Return True if a mapped task was returned to be started."""
        can_start = not self._turns[task] and not self._missing[task]
        return can_start and task not in self._tasks

    def arrive(self, edge: int) -> None:
        """Note that a redistribution has ended."""
        self._arrived_at(self._targets[edge])

    def finish(self, task: int) -> None:
        """Note that a task has ended."""
        self.finished[task] = True
        self.left[self._graph[task]] -= 1
        for processor in self.processors[task] or ():
            queue = self._queues[processor]
            queue.popleft()
            if queue:
                self._turns[queue[0]] -= 1
                self._see(queue[0])
        for edge in self._outputs[task]:
            target = self._targets[edge]
            self._unfinished[target] -= 1
            self.n_ready += not self._unfinished[target]
            if self.processors[target] is not None:
                self._edges.append(edge)
            elif not self._unfinished[target]:
                self._ready.append(target)

    def ready_tasks(self) -> list[int]:
        """Return unmapped tasks of submitted graphs with finished predecessors, each task once."""
        found, self._ready = self._ready, []
        return found

    def edges_to_start(self) -> list[int]:
        """Return the redistributions that can start and were not returned before."""
        found, self._edges = self._edges, []
        return found

    def tasks_to_start(self) -> list[int]:
        """Return the tasks that can start and were not returned before."""
        found, self._tasks = self._tasks, []
        self.n_ready -= len(found)
        return found

    def _arrived_at(self, task: int) -> None:
        """Count an input, or the submission of an entry task."""
        self._missing[task] -= 1
        self._see(task)

    def _see(self, task: int) -> None:
        """Add a task to those that can start, if it can."""
        if self.processors[task] is not None and not self._turns[task] and not self._missing[task]:
            self._tasks.append(task)

    def _withdraw(self, task: int) -> None:
        """Take a task from those that can start."""
        if task in self._tasks:
            self._tasks.remove(task)


@dataclass(frozen=True, eq=False)
class Orders:
    """The execution that a conductor is to make.

    Attributes
    ----------
    graphs : GraphSet
        The graphs.
    site : Site
        The site.
    schedule : Schedule, optional
        Places of all tasks and their order; None where a mapper decides.
    mapper : callable, optional
        Makes the mapper.
    revise : Revision, optional
        Revision of allocations.
    pattern, local
        Of redistributions.
    labelled : bool
        True if the trace has labels.
    choices : bool
        True if a chooser may send tasks elsewhere.
    """

    graphs: GraphSet
    site: Site
    schedule: Schedule | None
    mapper: Callable[[], OnlineMapper] | None
    revise: Revision | None
    pattern: Pattern
    local: Local
    labelled: bool
    choices: bool = False
    # SimGrid sleeps no shorter than its precision of dates [s].
    shortest_pause: float = 1e-9


@dataclass(frozen=True, eq=False)
class ExecutionRecord:
    """The execution that a conductor made.

    Attributes
    ----------
    start, finish : float64, shape (n_tasks,)
        Dates of each task [s].
    sent, arrived : float64, shape (n_edges,)
        Start and end of each redistribution [s].
    moved : float64, shape (n_edges,)
        Data of each that were sent over the network [byte].
    order : tuple of int
        Tasks in the order of mapping.
    processors : tuple of tuple of int
        Processors of each task.
    """

    start: NDArray[np.float64]
    finish: NDArray[np.float64]
    sent: NDArray[np.float64]
    arrived: NDArray[np.float64]
    moved: NDArray[np.float64]
    order: tuple[int, ...]
    processors: tuple[tuple[int, ...], ...]


async def conduct(me: Actor, orders: Orders) -> ExecutionRecord:
    """Execute all graphs; one actor does it for the whole site."""
    run = _Run(me, orders)
    while not run.progress.is_over:
        run.submit()
        await run.map()
        await run.start()
        await run.wait()
    return run.record()


class _Run:
    """The state of a conductor."""

    def __init__(self, me: Actor, orders: Orders) -> None:
        self.me = me
        self.orders = orders
        graphs, site = orders.graphs, orders.site
        self.hosts: list[Any] = []
        for name in site.names:
            try:
                self.hosts.append(me.host_by_name(name))
            except SimpluginError:
                raise no_host(site, name) from None
        self.flop, self.alpha = graphs.flop.tolist(), graphs.alpha.tolist()
        self.byte, self.edges = graphs.edge_byte.tolist(), graphs.edges.tolist()
        self.progress = TaskProgress(graphs, site.n_processors)
        if orders.schedule is not None:
            for task in orders.schedule.order.tolist():
                self.progress.assign(task, orders.schedule.processors_of(task).tolist())
        self.mapper = None if orders.mapper is None else orders.mapper()
        # Tasks of a plan whose places are still open, and the places of tasks in its order.
        self.open: set[int] = set()
        self.rank: list[int] | None = None
        if orders.choices and orders.schedule is not None:
            self.open = set(range(graphs.n_tasks))
            self.rank = _ranks(orders.schedule)
        self.estimates = PlaceEstimates(graphs, site, orders.local, self.progress.processors)
        self.has_moved = False
        release = graphs.release.tolist()
        self.to_come = sorted(range(graphs.n_graphs), key=release.__getitem__)[::-1]
        self.release = release
        self.active: list[int] = []
        self.submitted: list[int] = []
        self.changed = False
        # Running tasks, and redistributions by their edges.
        self.tasks: dict[Activity, int] = {}
        self.moves: dict[Activity, int] = {}
        self.began, self.ended = [0.0] * graphs.n_tasks, [0.0] * graphs.n_tasks
        self.sent, self.arrived, self.moved = np.zeros((3, len(self.edges)))

    def submit(self) -> None:
        """Submit the graphs that are due, and revise allocations."""
        now = self.me.now
        self.active = [graph for graph in self.active if self.progress.left[graph]]
        # The date of a timer may differ in its last digits.
        while self.to_come and self.release[self.to_come[-1]] <= now * (1 + 1e-12):
            graph = self.to_come.pop()
            self.progress.release(graph)
            self.submitted.append(graph)
            self.active.append(graph)
            self.changed = True
        if self.orders.revise and self.mapper and self.active and self.changed:
            mapped = [processors is not None for processors in self.progress.processors]
            revised: object = self.orders.revise(now, self.active, mapped, self.mapper.forecast)
            if not isinstance(revised, Mapping):
                raise WorkloadError(
                    f"a revision returns {shown(revised)}; return allocations by their graphs"
                )
            last = self.orders.graphs.n_graphs - 1
            for graph, allocation in revised.items():
                rule = f"numbers from 0 to {last}"
                what = "a revision returns an allocation of graph"
                number = int(decided(what, graph, rule, whole=True, least=0, most=last))
                self.mapper.set_allocation(number, allocation)

    async def map(self) -> None:
        """Map the ready tasks, all of this instant together."""
        ready = sorted(self.progress.ready_tasks())
        if self.mapper is not None and self.changed:
            who = f"mapper {type(self.mapper).__name__!r} returns"
            found = self.mapper.map_ready(self.me.now, ready)
            mapped = deque(listed(who, found, "tasks with their processors"))
            while mapped:
                task, processors = self._decision(mapped.popleft())
                chosen = await self._chosen(task, processors)
                if chosen is not None and isinstance(self.mapper, DeviatingMapper):
                    others = self.mapper.deviate(self.me.now, task, chosen)
                    mapped = deque(listed(who, others, "tasks with their processors"))
                self.progress.assign(task, chosen or processors)
        self.changed = False

    async def _chosen(self, task: int, processors: Sequence[int]) -> list[int] | None:
        """Return the processors that a chooser prefers for a task; None if there are none."""
        orders, now = self.orders, self.me.now
        if not orders.choices or orders.site.n_clusters == 1:
            return None

        def free(processor: int) -> float:
            queue = self.progress.before(task, processor, self.rank)
            if not queue:
                return now
            runs = self.progress.has_started(queue[0])
            return self.estimates.free(now, queue, self.began[queue[0]] if runs else None)

        options = MappingOptions(
            orders.site.n_clusters,
            lambda: self.estimates.options(task, processors, now, lru_cache(maxsize=None)(free)),
        )
        byte = sum(self.byte[edge] for edge in orders.graphs.predecessors.edges_of(task).tolist())
        observation = MappingObservation(
            task, self.flop[task], byte, self.progress.n_ready, options
        )
        index = await self.me.choose(options, observation, label=orders.graphs.name_of(task))
        chosen = options[index].processors.tolist() if index else None
        options.close()
        return chosen

    def _decision(self, mapped: Any) -> tuple[int, list[int]]:
        """Return a task and its processors, if the mapper decided well."""
        graphs, who = self.orders.graphs, f"mapper {type(self.mapper).__name__!r}"
        if not (hasattr(mapped, "task") and hasattr(mapped, "processors")):
            raise WorkloadError(f"{who} maps {shown(mapped)}; give it a task and processors")
        last = graphs.n_tasks - 1
        rule = f"a number from 0 to {last}"
        task = int(decided(f"{who} maps task", mapped.task, rule, whole=True, least=0, most=last))
        name = graphs.name_of(task)
        if self.progress.processors[task] is not None:
            raise WorkloadError(f"{who} maps task {name!r} twice; map each task once")
        what = f"{who} maps task {name!r} to processors"
        given = listed(what, mapped.processors, "numbers of processors of one cluster")
        return task, placed(what, given, self.orders.site)

    async def _settle(self, edges: Sequence[int]) -> None:
        """Let a chooser decide on tasks of a plan that are submitted, or whose first data leave."""
        graphs = self.orders.graphs
        due = [self.edges[edge][1] for edge in edges]
        for graph in self.submitted:
            due += (graphs.graphs[graph].entries + graphs.first[graph]).tolist()
        rank = self.rank or []
        for task in sorted(self.open.intersection(due), key=rank.__getitem__):
            self.open.remove(task)
            chosen = await self._chosen(task, self.progress.processors[task] or ())
            if chosen is not None:
                self.progress.move(task, chosen, rank)
                self.has_moved = True

    async def start(self) -> None:
        """Start the tasks and redistributions that can start."""
        edges = self.progress.edges_to_start()
        if self.open:
            await self._settle(edges)
        self.submitted.clear()
        for edge in edges:
            self._send(edge)
        for task in self.progress.tasks_to_start():
            numbers = self.progress.processors[task] or ()
            alpha, count = self.alpha[task], len(numbers)
            # By Amdahl's law each processor has the sequential part.
            flop = np.full(count, (alpha + (1 - alpha) / count) * self.flop[task])
            hosts = [self.hosts[number] for number in numbers]
            label = self.orders.graphs.name_of(task) if self.orders.labelled else None
            self.tasks[self.me.parallel_async(hosts, flop, None, label=label)] = task
            self.began[task] = self.me.now
            if self.mapper is not None:
                self.mapper.started(task, self.me.now)

    def _send(self, edge: int) -> None:
        """Start a redistribution; no data take no time."""
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
        self.moved[edge] = np.sum(sizes)
        hosts = [self.hosts[number] for number in numbers.tolist()]
        label = edge_label(self.orders.graphs, edge) if self.orders.labelled else None
        self.moves[self.me.parallel_async(hosts, None, sizes, label=label)] = edge

    async def wait(self) -> None:
        """Wait until something ends or a graph is submitted."""
        due = self.release[self.to_come[-1]] if self.to_come else None
        if not self.tasks and not self.moves:
            if due is not None:
                await self.me.sleep_until(due)
            elif not self.progress.is_over:
                raise _stuck(self.orders.graphs, self.progress)
            return
        running = [*self.tasks, *self.moves]
        try:
            patience = None if due is None else max(due - self.me.now, 0.0)
            await self.me.wait_any(running, patience)
        except TimeoutException:
            return
        over = _over(self.me, running)
        # Wait for all tasks of this instant: sums of times in another order differ in their last
        # digits.
        ended = sum(activity in self.tasks for activity in over)
        pause = INSTANT * self.me.now
        if self.mapper is not None and pause and 0 < ended < len(self.tasks):
            await self.me.sleep_for(max(pause, self.orders.shortest_pause))
            over = _over(self.me, running)
        tasks = [activity for activity in over if activity in self.tasks]
        for activity in over[len(tasks) :]:
            await activity  # one that failed raises here
            edge = self.moves.pop(activity)
            self.arrived[edge] = activity.finish_time or 0.0
            self.progress.arrive(edge)
        for activity in tasks:
            await activity
            task = self.tasks.pop(activity)
            self.ended[task] = activity.finish_time or 0.0
            self.progress.finish(task)
            self.changed = True
            if self.mapper is not None:
                self.mapper.finished(task, self.ended[task])

    def record(self) -> ExecutionRecord:
        """Return the execution."""
        order = self.progress.order
        if self.rank is not None and self.has_moved:
            # On its processors, a task that moved comes after those that had started.
            dates = zip(self.began, self.ended, self.rank, strict=True)
            order = [task for _, task in sorted(zip(dates, range(len(order)), strict=True))]
        return ExecutionRecord(
            np.array(self.began),
            np.array(self.ended),
            self.sent,
            self.arrived,
            self.moved,
            tuple(order),
            tuple(each or () for each in self.progress.processors),
        )


def _over(me: Actor, running: list[Activity]) -> list[Activity]:
    """Return all ended activities, in order."""
    found = []
    # Few have ended: testing for the first of the remaining ones is faster than testing each.
    while (activity := me.test_any(running)) is not None:
        found.append(activity)
        running = running[running.index(activity) + 1 :]
    return found


def _ranks(schedule: Schedule) -> list[int]:
    """Return the position of each task in the order of a plan that choices may change."""
    rank = np.argsort(schedule.order, kind="stable")
    source, target = schedule.graphs.edges.T
    wrong = np.flatnonzero(rank[source] > rank[target])
    if wrong.size:
        first, then = map(schedule.graphs.name_of, schedule.graphs.edges[wrong[0]].tolist())
        raise WorkloadError(
            f"with choices, the order of a schedule has each task after its predecessors, but"
            f" {then!r} comes before {first!r}; order tasks by their starts"
        )
    return [int(each) for each in rank]


def no_host(site: Site, name: str) -> PlatformError:
    """Return the error of a platform that is not that of a site."""
    return PlatformError(
        f"the platform has no host {name!r}, which site {site.name!r} has",
        remedy="give the platform that the site describes",
    )


def _stuck(graphs: GraphSet, progress: TaskProgress) -> WorkloadError:
    """Return the error of a plan that cannot be executed."""
    mapped = [processors is not None for processors in progress.processors]
    if all(mapped):
        task = next(task for task in progress.order if not progress.finished[task])
        return WorkloadError(
            f"task {graphs.name_of(task)!r} can never start: the schedule has it on a processor"
            " before tasks that it waits for; order tasks after their predecessors"
        )
    task = mapped.index(False)
    return WorkloadError(
        f"task {graphs.name_of(task)!r} is never mapped; map every task once it is ready"
    )
