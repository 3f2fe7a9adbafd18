"""Which processors tasks may get, and the least time that they and their data then take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.workloads.graph_sets import GraphSet
    from simplugin.workloads.task_graphs import TaskGraph

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Choices:
    """All pairs of a cluster and a number of processors, for each task and each edge.

    The last two axes of the larger arrays are (n_clusters, n_most): [k, p - 1] is for p processors
    of cluster k, and says nothing where the cluster has fewer, see `allowed`.

    Attributes
    ----------
    graphs : GraphSet
        The tasks.
    site : Site
        The clusters.
    transfers : bool
        Whether data take time on their way.
    """

    graphs: GraphSet
    site: Site
    transfers: bool = False

    @cached_property
    def processors(self) -> Floats:
        """The numbers of processors that the last axis stands for; shape (n_most,)."""
        return np.arange(1.0, float(np.max(self.site.processors)) + 1)

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Whether the cluster has that many; shape (n_clusters, n_most)."""
        allowed: NDArray[np.bool_] = self.processors <= self.site.processors[:, None]
        return allowed

    @cached_property
    def time(self) -> Floats:
        """Of each task [s]; shape (n_tasks, n_clusters, n_most)."""
        alpha, flop = self.graphs.alpha[:, None, None], self.graphs.flop[:, None, None]
        part = alpha + (1 - alpha) / self.processors
        return np.asarray(part * (flop / self.site.speed[:, None]))

    @cached_property
    def load(self) -> Floats:
        """For how long each task would keep all of the cluster busy [s]; shaped as `time`."""
        return np.asarray(self.time * (self.processors / self.site.processors[:, None]))

    @cached_property
    def least_time(self) -> Floats:
        """Of each task on its best cluster [s]; shape (n_tasks,)."""
        return np.asarray(np.min(np.where(self.allowed, self.time, np.inf), axis=(1, 2)))

    @cached_property
    def moved(self) -> Floats:
        """Data that take time on each edge [byte]; shape (n_edges,)."""
        byte = self.graphs.edge_byte
        return byte if self.transfers else np.zeros_like(byte)

    @cached_property
    def sending(self) -> Floats:
        """Of each edge by what its first task runs on [s]; shape (n_edges, n_clusters, n_most)."""
        return self._transfer(self.site.latency, self.site.shared)

    @cached_property
    def receiving(self) -> Floats:
        """Of each edge by what its second task runs on [s]; shaped as `sending`."""
        return self._transfer(self.site.latency.T, self.site.shared.T)

    def _transfer(self, latency: Floats, shared: Floats) -> Floats:
        """Return the least time over all other ends, each with all processors of its cluster."""
        site, byte = self.site, self.moved[:, None, None]
        own = byte / (self.processors * site.bandwidth[:, None])
        best = np.full(own.shape, np.inf)
        for other, processors in enumerate(site.processors.tolist()):
            most = np.minimum(processors * site.bandwidth[other], shared[:, other])
            time = latency[:, other, None] + np.maximum(own, byte / most[:, None])
            np.minimum(best, time, out=best)
        return np.where(byte > 0, best, 0.0)

    @cached_property
    def least_transfer(self) -> Floats:
        """Of each edge, over all choices of both tasks [s]; shape (n_edges,)."""
        if not self.moved.size:
            return np.zeros(0)
        return np.asarray(np.min(np.where(self.allowed, self.sending, np.inf), axis=(1, 2)))

    @cached_property
    def earliest(self) -> Floats:
        """Before when no task starts: its release and the longest path [s]; shape (n_tasks,)."""
        parts = zip(self._by_graph(), self.graphs.release.tolist(), strict=True)
        return np.concatenate(
            [
                release + (graph.top_levels(time, transfer) - time)
                for (graph, time, transfer), release in parts
            ]
        )

    @cached_property
    def rest(self) -> Floats:
        """How long its graph goes on after the end of each task, at least [s]; (n_tasks,)."""
        return np.concatenate(
            [
                graph.bottom_levels(time, transfer) - time
                for graph, time, transfer in self._by_graph()
            ]
        )

    def _by_graph(self) -> Iterator[tuple[TaskGraph, Floats, Floats]]:
        """Yield each graph with the least times of its tasks and of its edges."""
        first, edge = self.graphs.first.tolist(), 0
        for number, graph in enumerate(self.graphs.graphs):
            after = edge + graph.n_edges
            yield (
                graph,
                self.least_time[first[number] : first[number + 1]],
                self.least_transfer[edge:after],
            )
            edge = after
