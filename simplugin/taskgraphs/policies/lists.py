"""Schedulers of parallel tasks that go down a list of all tasks once: MHEFT, a global ordering.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
.. [2] H. Topcuoglu, S. Hariri, M.-Y. Wu (2002). Performance-Effective and Low-Complexity Task
   Scheduling for Heterogeneous Computing. IEEE Transactions on Parallel and Distributed Systems.
.. [3] H. Casanova, F. Desprez, F. Suter (2004). From Heterogeneous Task Scheduling to Heterogeneous
   Mixed Parallel Scheduling. Euro-Par.
.. [4] H. Zhao, R. Sakellariou (2006). Scheduling Multiple DAGs onto Heterogeneous Systems.
   Heterogeneous Computing Workshop.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import Site
from simplugin.taskgraphs._kernels import moved_parts
from simplugin.taskgraphs.policies.allocation import Allocation, check_allocations, scrap_max
from simplugin.taskgraphs.schedule import Schedule
from simplugin.taskgraphs.timing import Local, redistribution_time, task_times
from simplugin.workloads.parameter_ranges import one_of
from simplugin.workloads.task_graphs import GraphSet

Redistribution = Literal["alone", "together"]


def by_level(graphs: GraphSet, level: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return all tasks by decreasing bottom level, predecessors first; shape (n_tasks,).

    Ties go to the first graph, and in a graph to the predecessor: tasks of no length have the
    level of their successors.
    """
    parts = zip(graphs.graphs, graphs.first, strict=False)
    order = np.concatenate([graph.order + first for graph, first in parts])
    return np.asarray(order[np.argsort(-level[order], kind="stable")])


class Draft:
    """A partial schedule, to which tasks are added after their predecessors.

    Redistributions start when their source has finished, and take `redistribution_time`, or no
    time without `transfers`.

    Parameters
    ----------
    graphs : GraphSet
        The graphs.
    site : Site
        The site.
    transfers : bool
        True if redistributions take time.
    redistribution : {"alone", "together"}
        Each has the network alone; or they share links with all others of the tasks at their ends,
        and switches with those of the tasks that are placed already.
    local : {"sent", "kept"}
        Data that stay on a processor pass the network as others do, or cost nothing.
    """

    def __init__(
        self,
        graphs: GraphSet,
        site: Site,
        transfers: bool,
        redistribution: Redistribution,
        local: Local,
    ) -> None:
        one_of("redistribution", redistribution, get_args(Redistribution))
        one_of("local", local, get_args(Local))
        self.graphs, self.site = graphs, site
        self.transfers, self.local = transfers, local
        byte = graphs.edge_byte if transfers else np.zeros(len(graphs.edges))
        # In the order of predecessors: the data of each edge, and all that leaves its source.
        edges = graphs.predecessors.edge
        source = graphs.edges[:, 0]
        self._byte = byte[edges, np.newaxis]
        self._sent = np.bincount(source, byte, graphs.n_tasks)[source[edges], np.newaxis]
        self._release = graphs.release[graphs.graph_of]
        self._switches = {int(each): _Switch() for each in site.switch}
        self._together = redistribution == "together"
        self._cluster = np.zeros(graphs.n_tasks, dtype=np.int64)
        self._count = np.ones(graphs.n_tasks, dtype=np.int64)
        self._start = np.zeros(graphs.n_tasks)
        self._finish = np.zeros(graphs.n_tasks)
        self.processors: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * graphs.n_tasks
        self._order: list[int] = []
        self._free = np.zeros(site.n_processors)

    def arrivals(
        self,
        task: int,
        cluster: int | NDArray[np.int64],
        places: Sequence[NDArray[np.int64]],
    ) -> NDArray[np.float64]:
        """Return when all data of a task would be on sets of processors, not before its release.

        Parameters
        ----------
        task : int
            Number in the graph set.
        cluster : int or int64, shape (n_places,)
            The cluster of each set.
        places : sequence of int64
            The sets, by the numbers of their processors in the site.

        Returns
        -------
        float64, shape (n_places,)
            [s].
        """
        dates = np.full(len(places), self._release[task])
        source = self.graphs.predecessors.of(task)
        if not source.size:
            return dates
        sent, received, passed = self._moved(task, places)
        source = source[:, np.newaxis]
        time = redistribution_time(
            self.site,
            passed,
            self._cluster[source],
            self._count[source],
            cluster,
            np.array([len(each) for each in places]),
            sent,
            np.sum(received, axis=0) if self._together else received,
        )
        dates[:] = np.maximum(dates, np.max(self._finish[source] + time, axis=0))
        if not self._together:
            return dates
        clusters, _ = np.broadcast_arrays(cluster, passed[0])
        passed, _ = np.broadcast_arrays(passed, clusters)
        ends = [
            [self._switches[switch].end(*load) for switch, load in self._loads(task, *each).items()]
            for each in zip(clusters.tolist(), passed.T, strict=True)
        ]
        return np.asarray(np.maximum(dates, [max(each, default=0.0) for each in ends]))

    def _moved(self, task: int, places: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Return the data that leave processors, arrive at others and pass switches [byte].

        The shape is (3, n_predecessors, n_places), or (3, n_predecessors, 1) if they are equal for
        all places. The first two are the maximum of one processor, times their number.
        """
        before = self.graphs.predecessors
        edges = slice(before.start[task], before.start[task + 1])
        parts = np.ones((3, 1, 1))
        if self.local == "kept":
            sources = [self.processors[each] for each in before.of(task).tolist()]
            parts = moved_parts(sources, [np.sort(each) for each in places])
        moved = self._byte[edges] * parts
        if self._together:
            moved[0] += self._sent[edges] - self._byte[edges]
        return moved

    def _loads(
        self, task: int, cluster: int, passed: NDArray[np.float64]
    ) -> dict[int, tuple[float, float]]:
        """Return the switches that the data of a task pass, with start and duration [s].

        The data of all predecessors pass a switch one after the other.
        """
        site, before = self.site, self.graphs.predecessors
        loads: dict[int, tuple[float, float]] = {}
        for source, byte in zip(before.of(task).tolist(), passed.tolist(), strict=True):
            ends = {int(site.switch[at]): at for at in (cluster, int(self._cluster[source]))}
            for switch, at in ends.items():
                ready, work = loads.get(switch, (np.inf, 0.0))
                more = byte / site.shared[at, at]
                if more:
                    loads[switch] = min(ready, self._finish[source]), work + more
        return loads

    def contending(self, task: int) -> float:
        """Return the data that arrive at a task and share links, 0 if each has its own [byte]."""
        if not self._together:
            return 0.0
        start = self.graphs.predecessors.start
        return float(np.sum(self._byte[start[task] : start[task + 1]]))

    def place(
        self, task: int, cluster: int, processors: NDArray[np.int64], start: float, finish: float
    ) -> None:
        """Place a task on processors, by their numbers in the site."""
        if self._together:
            passed = self._moved(task, [processors])[2, :, 0]
            for switch, load in self._loads(task, cluster, passed).items():
                self._switches[switch].take(*load)
        self._cluster[task], self._count[task] = cluster, len(processors)
        self._start[task], self._finish[task] = start, finish
        self.processors[task] = np.sort(processors)
        self._order.append(task)

    def mean_times(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean times of tasks and edges [s]; shapes (n_tasks,), (n_edges,).

        The time of a task is the mean over all processors of the site, one at a time; that of an
        edge is the mean over all pairs of processors, or 0 without `transfers`.
        """
        site, byte = self.site, self.graphs.edge_byte
        share = site.processors / site.n_processors
        time = self.graphs.flop * float(np.sum(share / site.speed))
        if not self.transfers:
            return time, np.zeros(len(byte))
        pair = np.outer(share, share)
        ends = np.minimum.outer(site.bandwidth, site.bandwidth)
        slowness = float(np.sum(pair / np.minimum(ends, site.shared)))
        return time, np.where(byte > 0, float(np.sum(pair * site.latency)) + byte * slowness, 0.0)

    def upward_ranks(self) -> NDArray[np.float64]:
        """Return the bottom levels of all tasks by `mean_times` [s]; shape (n_tasks,)."""
        return self.graphs.union.bottom_levels(*self.mean_times())

    def place_earliest(
        self,
        task: int,
        counts: Sequence[NDArray[np.int64]] | NDArray[np.int64],
        not_before: float = 0.0,
    ) -> float:
        """Place a task where it finishes first, without backfilling, and return its start [s].

        Ties go to the first cluster, then to the fewest processors.

        Parameters
        ----------
        task : int
            Number in the graph set.
        counts : sequence of int64
            Of each cluster, the numbers of processors to try, rising: p are those that are free
            first.
        not_before : float
            Earliest start [s].
        """
        site, graphs = self.site, self.graphs
        places = []
        for cluster, count in enumerate(counts):
            free = self._free[site.first[cluster] : site.first[cluster + 1]]
            first = np.argsort(free, kind="stable")
            at = site.first[cluster] + first
            arrival = self.arrivals(task, cluster, [at[:each] for each in count.tolist()])
            start = np.maximum(np.maximum(free[first[count - 1]], arrival), not_before)
            finish = start + task_times(
                graphs.flop[task], graphs.alpha[task], count, site.speed[cluster]
            )
            best = int(np.argmin(finish))
            places.append((float(finish[best]), cluster, float(start[best]), at[: count[best]]))
        end, cluster, begin, chosen = min(places, key=lambda place: place[:2])
        self._free[chosen] = end
        self.place(task, cluster, chosen, begin, end)
        return begin

    def schedule(self, *, by_start: bool) -> Schedule:
        """Return the schedule of all tasks, in the order of their start or of their placement."""
        order = np.array(self._order, dtype=np.int64)
        if by_start:
            order = order[np.lexsort((self._finish[order], self._start[order]))]
        dates = self._start, self._finish
        return Schedule.of(self.site, self.graphs, self.processors, *dates, order, self.local)


class _Switch:
    """Busy intervals of a switch, in order and disjoint."""

    def __init__(self) -> None:
        self._start: list[float] = []
        self._end: list[float] = []

    def end(self, ready: float, work: float) -> float:
        """Return the date at which the idle time since a date reaches an amount of work [s]."""
        at = bisect_right(self._end, ready)
        for start, end in zip(self._start[at:], self._end[at:], strict=True):
            if start - ready >= work:
                break
            work -= max(0.0, start - ready)
            ready = end
        return ready + work

    def take(self, ready: float, work: float) -> None:
        """Use the idle time up to that date."""
        end = self.end(ready, work)
        # Merge with the busy intervals that it touches.
        first, last = bisect_left(self._end, ready), bisect_right(self._start, end)
        self._start[first:last] = [min([ready, *self._start[first:last]])]
        self._end[first:last] = [max([end, *self._end[first:last]])]


def mheft(
    graphs: GraphSet,
    site: Site,
    *,
    limit: float = 1.0,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
    local: Local = "kept",
) -> Schedule:
    """Schedule all tasks of all graphs by MHEFT [3]_.

    Tasks come by decreasing upward rank, as in `heft`. For each, all clusters and all numbers of
    processors are tried: p processors are those that are free first, without backfilling. The
    earliest finish is taken; ties go to the first cluster, then to the fewest processors. Under
    Amdahl's law a task always gains by more processors, so that tasks take whole clusters and
    graphs lose their task parallelism: a limit remedies that.

    Parameters
    ----------
    graphs : GraphSet
        The graphs, as one list; release dates are respected.
    site : Site
        The site.
    limit : float
        Largest part of a cluster that a task may have, above 0 and at most 1; one processor is
        always allowed.
    transfers, redistribution, local
        As in `Draft`.

    Returns
    -------
    Schedule
        The schedule.

    Raises
    ------
    WorkloadError
        The limit is out of its range.
    """
    if not 0 < limit <= 1:
        raise WorkloadError(f"limit is {limit!r}; give the part of a cluster, above 0 and up to 1")
    # A third of three processors is one, whatever rounding says.
    counts = [
        np.arange(1, max(1, int(limit * count * (1 + 1e-12))) + 1)
        for count in site.processors.tolist()
    ]
    draft = Draft(graphs, site, transfers, redistribution, local)
    for task in by_level(graphs, draft.upward_ranks()).tolist():
        draft.place_earliest(task, counts)
    return draft.schedule(by_start=False)


def global_ordering(
    graphs: GraphSet,
    allocations: Sequence[Allocation],
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
    local: Local = "sent",
) -> Schedule:
    """Map all tasks of all graphs in the order of their bottom levels, without backfilling.

    A task goes to the cluster where it finishes first (ties: the first cluster), to the processors
    that are free first. It waits for its predecessors, and for all tasks before it in the list to
    have started: no task overtakes another one, on any processor. [1]_ compares the mapping of
    ready tasks with this, in section 5 and Figure 1.

    Parameters
    ----------
    graphs : GraphSet
        The graphs. Release dates are respected, but the list is that of all graphs.
    allocations : sequence of Allocation
        One for each graph.
    site : Site
        The site.
    transfers, redistribution, local
        As in `Draft`.

    Returns
    -------
    Schedule
        The schedule.

    Raises
    ------
    WorkloadError
        An allocation does not fit; the message names the graph.
    """
    check_allocations(graphs, allocations, site)
    level = graphs.union.bottom_levels(np.concatenate([each.time for each in allocations]))
    allocation = np.concatenate([each.processors for each in allocations], axis=1)
    draft = Draft(graphs, site, transfers, redistribution, local)
    last_start = 0.0
    for task in by_level(graphs, level).tolist():
        last_start = draft.place_earliest(task, allocation[:, task : task + 1], last_start)
    return draft.schedule(by_start=False)


def merged(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = True,
    redistribution: Redistribution = "alone",
    local: Local = "sent",
) -> Schedule:
    """Schedule all graphs as the parts of a single one, for which the whole site is allocated.

    The tasks of all graphs share the precedence levels of `scrap_max` and its critical path, and
    are mapped by `global_ordering`. The single graph has an entry and an exit task without work
    [4]_ in thought only, since they change neither. Nothing keeps a short graph from waiting for
    long ones.

    Parameters
    ----------
    graphs : GraphSet
        The graphs; release dates are respected, but not known to the allocation.
    site : Site
        The site.
    transfers, redistribution, local
        As in `Draft`.

    Returns
    -------
    Schedule
        The schedule.
    """
    whole = scrap_max(graphs.union, site, 1.0)
    parts = [
        Allocation(whole.reference[tasks], whole.time[tasks], whole.processors[:, tasks])
        for tasks, _ in graphs.parts()
    ]
    return global_ordering(
        graphs, parts, site, transfers=transfers, redistribution=redistribution, local=local
    )
