"""Schedulers of tasks on one processor each: HEFT, CPoP, PEFT, min-min, max-min and sufferage.

Tasks are placed one after the other, each after its predecessors. Several graphs are one list;
release dates are respected. Clusters consist of equal processors: within one, a task takes the
processor where it can start first. Ties go to the first cluster, then to the first processor. As
published, data between two tasks on the same processor take no time, unless `local` is "sent".

References
----------
.. [1] H. Topcuoglu, S. Hariri, M.-Y. Wu (2002). Performance-Effective and Low-Complexity Task
   Scheduling for Heterogeneous Computing. IEEE Transactions on Parallel and Distributed Systems.
.. [2] H. Arabnejad, J. G. Barbosa (2014). List Scheduling Algorithm for Heterogeneous Systems by
   an Optimistic Cost Table. IEEE Transactions on Parallel and Distributed Systems.
.. [3] M. Maheswaran, S. Ali, H. J. Siegel, D. Hensgen, R. F. Freund (1999). Dynamic Mapping of a
   Class of Independent Tasks onto Heterogeneous Computing Systems. Journal of Parallel and
   Distributed Computing.
.. [4] H. Casanova, A. Legrand, D. Zagorodnov, F. Berman (2000). Heuristics for Scheduling Parameter
   Sweep Applications in Grid Environments. Heterogeneous Computing Workshop.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simplugin.platforms.sites import Site
from simplugin.taskgraphs.policies.lists import Draft, Redistribution, by_level
from simplugin.taskgraphs.schedule import Schedule
from simplugin.taskgraphs.timing import Local, task_times
from simplugin.workloads.task_graphs import GraphSet


class SingleProcessorScheduler(Protocol):
    """Scheduler of tasks on one processor each."""

    __name__: str

    def __call__(
        self,
        graphs: GraphSet,
        site: Site,
        *,
        transfers: bool = True,
        redistribution: Redistribution = "alone",
        local: Local = "kept",
    ) -> Schedule:
        """Return the schedule of all tasks; parameters are those of `heft`."""


def _scheduler(place: Callable[[Placing], None]) -> SingleProcessorScheduler:
    """Return the scheduler that places all tasks by a function, under its name."""

    def scheduler(
        graphs: GraphSet,
        site: Site,
        *,
        transfers: bool = True,
        redistribution: Redistribution = "alone",
        local: Local = "kept",
    ) -> Schedule:
        placing = Placing(graphs, site, transfers, redistribution, local)
        place(placing)
        return placing.schedule(by_start=True)

    for name in ("__name__", "__qualname__", "__doc__"):
        setattr(scheduler, name, getattr(place, name))
    return scheduler


@_scheduler
def heft(placing: Placing) -> None:
    """Schedule all tasks by HEFT [1]_.

    Tasks come by decreasing upward rank, see `Draft.upward_ranks`. Each goes to the processor where
    it finishes first, possibly between two tasks that are there already.

    Parameters
    ----------
    graphs : GraphSet
        The graphs.
    site : Site
        The site.
    transfers, redistribution, local
        As in `simplugin.taskgraphs.policies.lists.Draft`.

    Returns
    -------
    Schedule
        The schedule; its `order` is by start.
    """
    for task in by_level(placing.graphs, placing.upward_ranks()).tolist():
        placing.put(task)


@_scheduler
def cpop(placing: Placing) -> None:
    """Schedule all tasks by CPoP [1]_: critical paths each on one processor.

    Of the ready tasks, that with the largest sum of upward and downward
    rank comes first. The critical path of graph g goes to processor g, modulo their number, of the
    fastest cluster; other tasks as in `heft`.

    Parameters are those of `heft`.
    """
    graphs, site = placing.graphs, placing.site
    time, transfer = placing.mean_times()
    processor = {}
    fastest = int(np.argmax(site.speed))
    for number, (tasks, edges) in enumerate(graphs.parts()):
        at = int(site.first[fastest] + number % site.processors[fastest])
        for task in graphs.graphs[number].critical_path(time[tasks], transfer[edges]):
            processor[tasks.start + task] = at
    union = graphs.union
    priority = union.bottom_levels(time, transfer) + union.top_levels(time, transfer) - time
    for task in _by_priority(graphs, priority):
        if task in processor:
            placing.put_on(task, processor[task])
        else:
            placing.put(task)


@_scheduler
def peft(placing: Placing) -> None:
    """Schedule all tasks by PEFT [2]_.

    The optimistic cost of a task on a cluster is how long its successors would take after it at
    least, were there processors without end, with the mean times of transfers to other processors.
    Of the ready tasks, that with the largest mean of it comes first; it
    goes where its finish and optimistic cost have the least sum.

    Parameters are those of `heft`.
    """
    site = placing.site
    cost = _optimistic_costs(placing)
    mean = np.sum(cost * (site.processors / site.n_processors), axis=1)
    for task in _by_priority(placing.graphs, mean):
        placing.put(task, cost[task])


def _optimistic_costs(placing: Placing) -> NDArray[np.float64]:
    """Return the optimistic cost table; shape (n_tasks, n_clusters) [s]."""
    graphs, n_clusters = placing.graphs, placing.site.n_clusters
    _, transfer = placing.mean_times()
    # A task that follows on the same processor has its data there.
    moves = 1 - np.eye(n_clusters) if placing.local == "kept" else 1.0
    cost = np.zeros((graphs.n_tasks, n_clusters))
    after = graphs.successors
    for task in graphs.union.order[::-1].tolist():
        successors = after.of(task)
        if not successors.size:
            continue
        there = cost[successors] + placing.time[:, successors].T
        away = transfer[after.edges_of(task), np.newaxis, np.newaxis] * moves
        ways = there[:, np.newaxis] + away
        cost[task] = np.max(np.min(ways, axis=2), axis=0)
    return cost


@_scheduler
def min_min(placing: Placing) -> None:
    """Schedule all tasks by min-min [3]_.

    Of the ready tasks, that which can finish first comes next, to where it
    does, after all that is there. Tasks of graphs that are released later come later.

    Parameters are those of `heft`.
    """
    _in_batches(placing, lambda finish: -np.min(finish, axis=1))


@_scheduler
def max_min(placing: Placing) -> None:
    """Schedule all tasks by max-min [3]_: as `min_min`, but that which finishes last comes next.

    Parameters are those of `heft`.
    """
    _in_batches(placing, lambda finish: np.min(finish, axis=1))


@_scheduler
def sufferage(placing: Placing) -> None:
    """Schedule all tasks by sufferage between clusters, XSufferage of [4]_.

    As `min_min`, but the task comes next that would lose most if it had to go to the second-best
    cluster. (Between processors, as in [3]_, equal ones would leave nothing to lose.)

    Parameters are those of `heft`.
    """

    def loss(finish: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.sort(finish, axis=1)
        return best[:, min(1, best.shape[1] - 1)] - best[:, 0]

    _in_batches(placing, loss)


def _in_batches(
    placing: Placing, merit: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> None:
    """Place the ready task of most merit, by its finish on each cluster (n_ready, n_clusters)."""
    graphs, site, of = placing.graphs, placing.site, placing.cluster_of
    arrival = np.empty((graphs.n_tasks, site.n_clusters))
    free = np.zeros(site.n_processors)
    for released in np.unique(graphs.release):
        waiting = _Waiting(graphs, np.flatnonzero(graphs.release == released))
        ready: list[int] = []
        entered = waiting.entries()
        # Tasks, processors that hold their data, and dates at which the other data arrive.
        held = np.empty((3, 0))
        while ready or entered:
            for task in entered:
                arrival[task], *there = placing.ready(task)
                held = np.hstack([held, [np.full(len(there[0]), task), *there]])
                insort(ready, task)
            among = np.array(ready)
            first_free = np.minimum.reduceat(free, site.first[:-1])
            finish = np.maximum(arrival[among], first_free) + placing.time[:, among].T
            tasks, at = held[:2].astype(np.int64)
            sooner = np.maximum(held[2], free[at]) + placing.time[of[at], tasks]
            np.minimum.at(finish, (np.searchsorted(among, tasks), of[at]), sooner)
            chosen = int(np.argmax(merit(finish)))
            task, cluster = ready.pop(chosen), int(np.argmin(finish[chosen]))
            dates = np.where(of == cluster, arrival[task, cluster], np.inf)
            own, held = held[1:, tasks == task], held[:, tasks != task]
            dates[own[0].astype(np.int64)] = own[1]
            dates[of != cluster] = np.inf
            processor = int(np.argmin(np.maximum(dates, free)))
            at = np.array([processor])
            [there] = placing.arrivals(task, cluster, [at]).tolist()
            start = max(there, float(free[processor]))
            free[processor] = start + placing.time[cluster, task]
            placing.place(task, cluster, at, start, float(free[processor]))
            entered = waiting.placed(task)


def _by_priority(graphs: GraphSet, priority: NDArray[np.float64]) -> list[int]:
    """Return all tasks; the next one is the ready task of the highest priority."""
    waiting = _Waiting(graphs, range(graphs.n_graphs))
    ready = [(-priority[task], task) for task in waiting.entries()]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        order.append(heapq.heappop(ready)[1])
        for after in waiting.placed(order[-1]):
            heapq.heappush(ready, (-priority[after], after))
    return order


class _Waiting:
    """Numbers of unplaced predecessors of the tasks of some graphs."""

    def __init__(self, graphs: GraphSet, numbers: Iterable[int]) -> None:
        self._graphs, self._numbers = graphs, numbers
        self._left = np.diff(graphs.predecessors.start)

    def entries(self) -> list[int]:
        """Return the tasks without predecessors."""
        graphs = self._graphs
        parts = [graphs.first[each] + graphs.graphs[each].entries for each in self._numbers]
        return [int(task) for task in np.concatenate(parts)]

    def placed(self, task: int) -> list[int]:
        """Return the successors that are ready after the placement of a task."""
        after = self._graphs.successors.of(task)
        self._left[after] -= 1
        return [int(each) for each in after[self._left[after] == 0]]


class Placing(Draft):
    """A draft of tasks on single processors.

    Attributes
    ----------
    graphs, site
        The graphs and the site.
    time : float64, shape (n_clusters, n_tasks)
        Duration of each task on a processor of each cluster [s].
    cluster_of : int64, shape (n_processors,)
        Cluster of each processor.
    """

    def __init__(
        self,
        graphs: GraphSet,
        site: Site,
        transfers: bool,
        redistribution: Redistribution,
        local: Local,
    ) -> None:
        super().__init__(graphs, site, transfers, redistribution, local)
        self.time = task_times(graphs.flop, graphs.alpha, 1, site.speed[:, np.newaxis])
        self.cluster_of = np.repeat(np.arange(site.n_clusters), site.processors)
        self._gaps = [_Gaps(count, graphs.n_tasks) for count in site.processors.tolist()]

    def ready(
        self, task: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """Return when all data of a task would be where it may run.

        Returns
        -------
        anywhere : float64, shape (n_clusters,)
            On a processor of each cluster that holds none of them [s].
        at : int64, shape (n,)
            Processors that hold some, where all would be sooner.
        there : float64, shape (n,)
            When [s].
        """
        holders = np.zeros(0, dtype=np.int64)
        before = self.graphs.predecessors.of(task).tolist()
        if self.local == "kept" and before:
            holders = np.unique(np.concatenate([self.processors[each] for each in before]))
        n_clusters, cluster = self.site.n_clusters, self.cluster_of[holders]
        clusters = np.concatenate([np.arange(n_clusters), cluster])
        places = np.concatenate([np.full(n_clusters, -1), holders])[:, np.newaxis]
        dates = self.arrivals(task, clusters, list(places))
        anywhere, there = dates[:n_clusters], dates[n_clusters:]
        sooner = there < anywhere[cluster]
        return anywhere, holders[sooner], there[sooner]

    def put(self, task: int, cost: NDArray[np.float64] | None = None) -> None:
        """Place a task where its finish and a cost (n_clusters,) have the least sum [s]."""
        anywhere, at, there = self.ready(task)
        n_clusters = self.site.n_clusters
        costs = [0.0] * n_clusters if cost is None else cost.tolist()
        times = self.time[:, task].tolist()
        dates = zip(range(n_clusters), anywhere.tolist(), [None] * n_clusters, strict=True)
        own = zip(self.cluster_of[at].tolist(), there.tolist(), at.tolist(), strict=True)
        places = [(date + times[k] + costs[k], k, date, p) for k, date, p in (*dates, *own)]
        best, start, gaps = (np.inf, -1), 0.0, at
        # Where it can start at once, the sum is the least that it can be.
        for bound, cluster, ready, holder in sorted(places, key=lambda place: place[:2]):
            if (bound, cluster) > best:
                break
            date, among = self._earliest(task, cluster, ready, holder)
            found = date + times[cluster] + costs[cluster], cluster
            if (*found, date) == (*best, start):
                gaps = np.union1d(gaps, among)
            elif found < best:
                best, start, gaps = found, date, among
        self._place(task, best[1], start, gaps)

    def put_on(self, task: int, processor: int) -> None:
        """Place a task on a processor, possibly between two tasks."""
        cluster = int(self.cluster_of[processor])
        [ready] = self.arrivals(task, cluster, [np.array([processor])]).tolist()
        self._place(task, cluster, *self._earliest(task, cluster, ready, processor))

    def _earliest(
        self, task: int, cluster: int, ready: float, processor: int | None
    ) -> tuple[float, NDArray[np.int64]]:
        """Return when a task can start on a cluster or processor, and the idle intervals."""
        if processor is not None:
            processor -= int(self.site.first[cluster])
        return self._gaps[cluster].earliest(ready, float(self.time[cluster, task]), processor)

    def _place(self, task: int, cluster: int, start: float, gaps: NDArray[np.int64]) -> None:
        """Place a task in one of some idle intervals."""
        finish = start + float(self.time[cluster, task])
        received = self.contending(task)
        processor = self._gaps[cluster].fill(gaps, start, finish, received)
        at = self.site.first[cluster : cluster + 1] + processor
        self.place(task, cluster, at, start, finish)


class _Gaps:
    """The idle intervals of the processors of a cluster, by their ends."""

    def __init__(self, processors: int, n_tasks: int) -> None:
        # The end, the start and the processor of each; a task adds one interval at most.
        self._gaps = np.empty((3, processors + n_tasks))
        self._gaps[:2, :processors] = [[np.inf], [0.0]]
        self._gaps[2, :processors] = np.arange(processors)
        self._count = processors
        self._received = np.zeros(processors)

    def earliest(
        self, ready: float, time: float, processor: int | None = None
    ) -> tuple[float, NDArray[np.int64]]:
        """Return when a task can start first, and the intervals where it can."""
        first = int(self._gaps[0, : self._count].searchsorted(ready + time))
        end, start, own = self._gaps[:, first : self._count]
        start = np.maximum(start, ready)
        start[start + time > end] = np.inf
        if processor is not None:
            start[own != processor] = np.inf
        date = float(start.min())
        return date, first + np.flatnonzero(start == date)

    def fill(self, gaps: NDArray[np.int64], start: float, finish: float, received: float) -> int:
        """Place a task and its received data in one of some intervals; return its processor.

        The processor that has received least gets it; ties go to the first one.
        """
        processors = self._gaps[2, gaps].astype(np.int64)
        chosen = int(np.lexsort((processors, self._received[processors]))[0])
        gap, processor = int(gaps[chosen]), int(processors[chosen])
        self._received[processor] += received
        # Intervals of no length stay, for tasks of no length.
        before = start, self._gaps[1, gap], processor
        self._gaps[1, gap] = finish
        at = int(self._gaps[0, : self._count].searchsorted(start))
        self._gaps[:, at + 1 : self._count + 1] = self._gaps[:, at : self._count]
        self._gaps[:, at] = before
        self._count += 1
        return processor
