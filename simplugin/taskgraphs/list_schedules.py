"""Schedules that are made by going down a list of all tasks once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.schedules import Schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.workloads.graph_sets import GraphSet


def by_level(graphs: GraphSet, level: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return all tasks by decreasing bottom level.

    Ties go to the first graph, and in a graph to tasks before their successors: those that take no
    time have the same level.

    Parameters
    ----------
    graphs : GraphSet
        Of them all tasks.
    level : float64, shape (n_tasks,)
        Bottom level of each [s].

    Returns
    -------
    int64, shape (n_tasks,)
        A permutation; each task comes after its predecessors.
    """
    parts = zip(graphs.graphs, graphs.first, strict=False)
    order = np.concatenate([graph.order + first for graph, first in parts])
    return np.asarray(order[np.argsort(-level[order], kind="stable")])


class Draft:
    """A schedule in the making.

    Parameters
    ----------
    graphs : GraphSet
        Whose tasks are placed, each after its predecessors.
    site : Site
        Where.
    transfers : bool
        Whether redistributions take time; they start when the task that sends has finished, and
        last as long as `redistribution_time` says.
    """

    def __init__(self, graphs: GraphSet, site: Site, transfers: bool) -> None:
        self._graphs = graphs
        self._site = site
        self._edge_byte = graphs.edge_byte if transfers else np.zeros(len(graphs.edges))
        self._cluster = np.zeros(graphs.n_tasks, dtype=np.int64)
        self._count = np.ones(graphs.n_tasks, dtype=np.int64)
        self._start = np.zeros(graphs.n_tasks)
        self._finish = np.zeros(graphs.n_tasks)
        self._processors: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * graphs.n_tasks
        self._order: list[int] = []

    def arrival(self, task: int, cluster: int, count: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return when all data of a task are there, not before its release.

        Parameters
        ----------
        task : int
            All its predecessors are placed.
        cluster : int
            Where to.
        count : int64, shape (n,)
            On how many processors.

        Returns
        -------
        float64, shape (n,)
            For each of these numbers [s].
        """
        release = float(self._graphs.release[self._graphs.graph_of[task]])
        before = self._graphs.predecessors.of(task)
        if not before.size:
            return np.full(len(count), release)
        site, source = self._site, self._cluster[before]
        byte = self._edge_byte[self._graphs.predecessors.edges_of(task)]
        sent = np.maximum(
            byte / (self._count[before] * site.bandwidth[source]),
            byte / site.shared[source, cluster],
        )
        received = byte[:, np.newaxis] / (count * site.bandwidth[cluster])
        time = site.latency[source, cluster][:, np.newaxis] + np.maximum(
            sent[:, np.newaxis], received
        )
        time[byte == 0] = 0.0
        there = self._finish[before][:, np.newaxis] + time
        return np.asarray(np.maximum(np.max(there, axis=0), release))

    def place(
        self, task: int, cluster: int, processors: NDArray[np.int64], start: float, finish: float
    ) -> None:
        """Put a task on processors, by their numbers in the site."""
        self._cluster[task], self._count[task] = cluster, len(processors)
        self._start[task], self._finish[task] = start, finish
        self._processors[task] = np.sort(processors)
        self._order.append(task)

    def schedule(self, *, by_start: bool) -> Schedule:
        """Return the schedule, once all tasks are placed.

        Parameters
        ----------
        by_start : bool
            Whether `Schedule.order` is by dates, as where tasks are inserted before others, or as
            tasks were placed.
        """
        order = np.array(self._order, dtype=np.int64)
        if by_start:
            order = order[np.lexsort((self._finish[order], self._start[order]))]
        return Schedule(
            self._site,
            self._graphs,
            self._cluster,
            self._start,
            self._finish,
            np.concatenate([[0], np.cumsum(self._count)]).astype(np.int64),
            np.concatenate(self._processors),
            order,
        )
