"""HEFT: each task on the one processor where it finishes first, in gaps if need be.

References
----------
.. [1] H. Topcuoglu, S. Hariri, M.-Y. Wu (2002). Performance-Effective and Low-Complexity Task
   Scheduling for Heterogeneous Computing. IEEE Transactions on Parallel and Distributed Systems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.list_schedules import Draft, by_level
from simplugin.taskgraphs.timing import task_times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.schedules import Schedule
    from simplugin.workloads.graph_sets import GraphSet

_ONE = np.ones(1, dtype=np.int64)


def heft(graphs: GraphSet, site: Site, *, transfers: bool = True) -> Schedule:
    """Schedule all tasks of all graphs by HEFT [1]_, each on one processor.

    Tasks come by decreasing upward rank, see `upward_ranks`. Each goes to the processor where it
    finishes first, possibly between two tasks that are there already; ties go to the first cluster,
    then to the first processor. Data of a task on the same processor take as long as any other, as
    everywhere here.

    Parameters
    ----------
    graphs : GraphSet
        What to schedule, as one list; release dates are respected.
    site : Site
        Where.
    transfers : bool
        Whether data take time.

    Returns
    -------
    Schedule
        Of all tasks; its `order` is by start.
    """
    time = task_times(graphs.flop, graphs.alpha, 1, site.speed[:, np.newaxis])
    draft = Draft(graphs, site, transfers)
    gaps = [_Gaps(int(count)) for count in site.processors]
    for task in by_level(graphs, upward_ranks(graphs, site, transfers=transfers)).tolist():
        places = []
        for cluster in range(site.n_clusters):
            [ready] = draft.arrival(task, cluster, _ONE).tolist()
            gap, start = gaps[cluster].earliest(ready, float(time[cluster, task]))
            places.append((start + float(time[cluster, task]), cluster, start, gap))
        finish, cluster, start, gap = min(places)
        processor = gaps[cluster].fill(gap, start, finish)
        draft.place(task, cluster, site.first[cluster : cluster + 1] + processor, start, finish)
    return draft.schedule(by_start=True)


def upward_ranks(graphs: GraphSet, site: Site, *, transfers: bool = True) -> NDArray[np.float64]:
    """Return the bottom levels by which HEFT sorts: those of mean times.

    The time of a task is the mean over all processors of the site, one at a time; that of an edge
    the mean over all pairs of processors.

    Parameters
    ----------
    graphs : GraphSet
        The tasks.
    site : Site
        Processors.
    transfers : bool
        Whether edges take time.

    Returns
    -------
    float64, shape (n_tasks,)
        Of all graphs [s].
    """
    share = site.processors / site.n_processors
    time = graphs.flop * float(np.sum(share / site.speed))
    pair = np.outer(share, share)
    ends = np.minimum.outer(site.bandwidth, site.bandwidth)
    slowness = float(np.sum(pair / np.minimum(ends, site.shared)))
    byte = graphs.edge_byte
    transfer = np.where(byte > 0, float(np.sum(pair * site.latency)) + byte * slowness, 0.0)
    ranks, edges = [], 0
    for graph, first in zip(graphs.graphs, graphs.first, strict=False):
        part = transfer[edges : edges + graph.n_edges] if transfers else None
        ranks.append(graph.bottom_levels(time[first : first + graph.n_tasks], part))
        edges += graph.n_edges
    return np.concatenate(ranks)


class _Gaps:
    """When the processors of a cluster have nothing to do."""

    def __init__(self, processors: int) -> None:
        self._start = np.zeros(processors)
        self._end = np.full(processors, np.inf)
        self._processor = np.arange(processors)

    def earliest(self, ready: float, time: float) -> tuple[int, float]:
        """Return the gap where a task can start first, and when; of several the processor's."""
        start = np.maximum(self._start, ready)
        start[start + time > self._end] = np.inf
        date = float(np.min(start))
        among = np.flatnonzero(start == date)
        return int(among[np.argmin(self._processor[among])]), date

    def fill(self, gap: int, start: float, finish: float) -> int:
        """Put a task into a gap; return its processor."""
        processor = int(self._processor[gap])
        # Gaps of no length stay, for tasks of no length.
        self._start = np.append(self._start, finish)
        self._end = np.append(self._end, self._end[gap])
        self._processor = np.append(self._processor, processor)
        self._end[gap] = start
        return processor
