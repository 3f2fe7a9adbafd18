"""Schedulers of tasks on one processor each: HEFT, CPoP, PEFT, min-min, max-min and sufferage.

Tasks are placed one after the other, each after its predecessors. Several graphs are one list;
release dates are respected. Clusters consist of equal processors: within one, a task takes the
processor where it can start first. Ties go to the first cluster, then to the first processor. Data
between two tasks on the same processor take time, too.

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
from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.policies.lists import (
    Draft,
    Redistribution,
    by_level,
    mean_times,
    upward_ranks,
)
from simplugin.taskgraphs.timing import redistribution_time, task_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.schedule import Schedule
    from simplugin.workloads.graph_sets import GraphSet

_ONE = np.ones(1, dtype=np.int64)


def heft(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
) -> Schedule:
    """Schedule all tasks by HEFT [1]_.

    Tasks come by decreasing upward rank, see `upward_ranks`. Each goes to the processor where it
    finishes first, possibly between two tasks that are there already.

    Parameters
    ----------
    graphs : GraphSet
        The graphs.
    site : Site
        The site.
    transfers, redistribution
        As in `simplugin.taskgraphs.policies.lists.Draft`.

    Returns
    -------
    Schedule
        The schedule; its `order` is by start.
    """
    placing = _Placing(graphs, site, transfers, redistribution)
    for task in by_level(graphs, upward_ranks(graphs, site, transfers=transfers)).tolist():
        placing.put(task)
    return placing.schedule()


def cpop(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
) -> Schedule:
    """Schedule all tasks by CPoP [1]_: critical paths each on one processor.

    Of the tasks whose predecessors are placed, that with the largest sum of upward and downward
    rank comes first. The critical path of graph g goes to processor g, modulo their number, of the
    fastest cluster; other tasks as in `heft`.

    Parameters
    ----------
    graphs, site, transfers, redistribution
        As in `heft`.
    """
    placing = _Placing(graphs, site, transfers, redistribution)
    time, transfer = mean_times(graphs, site, transfers=transfers)
    priority, processor = np.empty(graphs.n_tasks), {}
    fastest = int(np.argmax(site.speed))
    for number, (tasks, edges) in enumerate(graphs.parts()):
        graph, costs = graphs.graphs[number], (time[tasks], transfer[edges])
        priority[tasks] = graph.bottom_levels(*costs) + graph.top_levels(*costs) - costs[0]
        for task in graph.critical_path(*costs):
            processor[tasks.start + task] = number % int(site.processors[fastest])
    for task in _by_priority(graphs, priority):
        if task in processor:
            placing.put_on(task, fastest, processor[task])
        else:
            placing.put(task)
    return placing.schedule()


def peft(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
) -> Schedule:
    """Schedule all tasks by PEFT [2]_.

    The optimistic cost of a task on a cluster is how long its successors would take after it at
    least, were there processors without end, with the transfers between clusters that this costs.
    Of the tasks whose predecessors are placed, that with the largest mean of it comes first; it
    goes where its finish and optimistic cost have the least sum.

    Parameters
    ----------
    graphs, site, transfers, redistribution
        As in `heft`.
    """
    placing = _Placing(graphs, site, transfers, redistribution)
    cost = _optimistic_costs(graphs, site, placing.time, transfers)
    for task in _by_priority(graphs, np.sum(cost * (site.processors / site.n_processors), axis=1)):
        placing.put(task, cost[task])
    return placing.schedule()


def _optimistic_costs(
    graphs: GraphSet, site: Site, time: NDArray[np.float64], transfers: bool
) -> NDArray[np.float64]:
    """Return the optimistic cost table; shape (n_tasks, n_clusters) [s]."""
    clusters = np.arange(site.n_clusters)
    cost = np.zeros((graphs.n_tasks, site.n_clusters))
    after = graphs.successors
    for number, (tasks, _) in enumerate(graphs.parts()):
        for task in (tasks.start + graphs.graphs[number].order[::-1]).tolist():
            successors = after.of(task)
            if not successors.size:
                continue
            there = cost[successors] + time[:, successors].T
            ways = np.repeat(there[:, np.newaxis], site.n_clusters, axis=1)
            if transfers:
                byte = graphs.edge_byte[after.edges_of(task)][:, np.newaxis, np.newaxis]
                ways += redistribution_time(site, byte, clusters[:, np.newaxis], 1, clusters, 1)
            cost[task] = np.max(np.min(ways, axis=2), axis=0)
    return cost


def min_min(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
) -> Schedule:
    """Schedule all tasks by min-min [3]_.

    Of the tasks whose predecessors are placed, that which can finish first comes next, to where it
    does, after all that is there. Tasks of graphs that are released later come later.

    Parameters
    ----------
    graphs, site, transfers, redistribution
        As in `heft`.
    """
    return _in_batches(
        graphs, site, transfers, redistribution, lambda finish: -np.min(finish, axis=1)
    )


def max_min(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
) -> Schedule:
    """Schedule all tasks by max-min [3]_: as `min_min`, but that which finishes last comes next.

    Parameters
    ----------
    graphs, site, transfers, redistribution
        As in `heft`.
    """
    return _in_batches(
        graphs, site, transfers, redistribution, lambda finish: np.min(finish, axis=1)
    )


def sufferage(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
) -> Schedule:
    """Schedule all tasks by sufferage between clusters, XSufferage of [4]_.

    As `min_min`, but the task comes next that would lose most if it had to go to the second-best
    cluster. (Between processors, as in [3]_, equal ones would leave nothing to lose.)

    Parameters
    ----------
    graphs, site, transfers, redistribution
        As in `heft`.
    """

    def loss(finish: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.sort(finish, axis=1)
        return best[:, min(1, best.shape[1] - 1)] - best[:, 0]

    return _in_batches(graphs, site, transfers, redistribution, loss)


def _in_batches(
    graphs: GraphSet,
    site: Site,
    transfers: bool,
    redistribution: Redistribution,
    merit: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Schedule:
    """Place the ready task of most merit, by its finish on each cluster (n_ready, n_clusters)."""
    placing = _Placing(graphs, site, transfers, redistribution)
    arrival = np.empty((graphs.n_tasks, site.n_clusters))
    free = [np.zeros(int(count)) for count in site.processors]
    first_free = np.zeros(site.n_clusters)
    for released in np.unique(graphs.release):
        waiting = _Waiting(graphs, np.flatnonzero(graphs.release == released))
        ready: list[int] = []
        entered = waiting.entries()
        while ready or entered:
            for task in entered:
                arrival[task] = placing.arrival(task)
                insort(ready, task)
            among = np.array(ready)
            finish = np.maximum(arrival[among], first_free) + placing.time[:, among].T
            chosen = int(np.argmax(merit(finish)))
            task, cluster = ready.pop(chosen), int(np.argmin(finish[chosen]))
            processor = int(np.argmin(free[cluster]))
            placing.put_on(task, cluster, processor)
            free[cluster][processor] = finish[chosen, cluster]
            first_free[cluster] = np.min(free[cluster])
            entered = waiting.placed(task)
    return placing.schedule()


def _by_priority(graphs: GraphSet, priority: NDArray[np.float64]) -> Iterator[int]:
    """Yield all tasks, of those with all predecessors yielded that of the highest priority."""
    waiting = _Waiting(graphs, range(graphs.n_graphs))
    ready = [(-priority[task], task) for task in waiting.entries()]
    heapq.heapify(ready)
    while ready:
        task = heapq.heappop(ready)[1]
        yield task
        for after in waiting.placed(task):
            heapq.heappush(ready, (-priority[after], after))


class _Waiting:
    """The predecessors that tasks of some graphs still wait for."""

    def __init__(self, graphs: GraphSet, numbers: Iterable[int]) -> None:
        self._graphs, self._numbers = graphs, numbers
        self._left = np.diff(graphs.predecessors.start)

    def entries(self) -> list[int]:
        """Return the tasks without predecessors."""
        graphs = self._graphs
        parts = [graphs.first[each] + graphs.graphs[each].entries for each in self._numbers]
        return [int(task) for task in np.concatenate(parts)]

    def placed(self, task: int) -> list[int]:
        """Return the tasks of which this was the last predecessor to be placed."""
        after = self._graphs.successors.of(task)
        self._left[after] -= 1
        return [int(each) for each in after[self._left[after] == 0]]


class _Placing:
    """A schedule in the making.

    Attributes
    ----------
    time : float64, shape (n_clusters, n_tasks)
        Duration of each task on a processor of each cluster [s].
    """

    def __init__(
        self, graphs: GraphSet, site: Site, transfers: bool, redistribution: Redistribution
    ) -> None:
        self.time = task_times(graphs.flop, graphs.alpha, 1, site.speed[:, np.newaxis])
        self._draft = Draft(graphs, site, transfers, redistribution)
        self._site = site
        self._gaps = [_Gaps(int(count)) for count in site.processors]

    def arrival(self, task: int) -> NDArray[np.float64]:
        """Return when all data of a task would be on each cluster [s]; shape (n_clusters,)."""
        clusters = range(self._site.n_clusters)
        return np.concatenate([self._draft.arrival(task, each, _ONE) for each in clusters])

    def put(self, task: int, cost: NDArray[np.float64] | float = 0.0) -> None:
        """Place a task where its finish and a cost (n_clusters,) have the least sum [s]."""
        found = [
            gaps.earliest(ready, time)
            for gaps, ready, time in zip(
                self._gaps, self.arrival(task).tolist(), self.time[:, task].tolist(), strict=True
            )
        ]
        finish = np.array([start for _, start in found]) + self.time[:, task]
        cluster = int(np.argmin(finish + cost))
        self._place(task, cluster, *found[cluster])

    def put_on(self, task: int, cluster: int, processor: int) -> None:
        """Place a task on a processor, by its number in the cluster."""
        [ready] = self._draft.arrival(task, cluster, _ONE).tolist()
        time = float(self.time[cluster, task])
        self._place(task, cluster, *self._gaps[cluster].earliest(ready, time, processor))

    def _place(self, task: int, cluster: int, gap: int, start: float) -> None:
        """Place a task in an idle interval."""
        finish = start + float(self.time[cluster, task])
        received = self._draft.contending(task)
        processor = self._gaps[cluster].fill(gap, start, finish, received)
        at = self._site.first[cluster : cluster + 1] + processor
        self._draft.place(task, cluster, at, start, finish)

    def schedule(self) -> Schedule:
        """Return the schedule, in the order of starts."""
        return self._draft.schedule(by_start=True)


class _Gaps:
    """The idle intervals of the processors of a cluster."""

    def __init__(self, processors: int) -> None:
        self._start = np.zeros(processors)
        self._end = np.full(processors, np.inf)
        self._processor = np.arange(processors)
        self._received = np.zeros(processors)

    def earliest(
        self, ready: float, time: float, processor: int | None = None
    ) -> tuple[int, float]:
        """Return the gap where a task can start first, and its start.

        Ties go to the processor that has received least, then to the first one.
        """
        start = np.maximum(self._start, ready)
        start[start + time > self._end] = np.inf
        if processor is not None:
            start[self._processor != processor] = np.inf
        date = float(np.min(start))
        among = np.flatnonzero(start == date)
        processors = self._processor[among]
        return int(among[np.lexsort((processors, self._received[processors]))[0]]), date

    def fill(self, gap: int, start: float, finish: float, received: float) -> int:
        """Place a task in a gap, and what it receives; return its processor."""
        processor = int(self._processor[gap])
        self._received[processor] += received
        # Gaps of no length stay, for tasks of no length.
        self._start = np.append(self._start, finish)
        self._end = np.append(self._end, self._end[gap])
        self._processor = np.append(self._processor, processor)
        self._end[gap] = start
        return processor
