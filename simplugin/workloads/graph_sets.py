"""Parallel task graphs that share a site, joined into one numbering of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import WorkloadError
from simplugin.workloads.parameter_ranges import numbers
from simplugin.workloads.task_graphs import Adjacency, TaskGraph


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Graphs, and when each is submitted.

    The tasks of all graphs are numbered through: those of graph g are ``first[g]`` to
    ``first[g + 1] - 1``.

    Attributes
    ----------
    graphs : tuple of TaskGraph
        At least one.
    release : float64, shape (n_graphs,)
        When each is submitted [s]; all at 0 if it is not given.

    Raises
    ------
    WorkloadError
        There is no graph, two have the same name, or a date is none.
    """

    graphs: tuple[TaskGraph, ...]
    release: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "graphs", tuple(self.graphs))
        if not self.graphs:
            raise WorkloadError("there is no task graph; give at least one")
        names = [graph.name for graph in self.graphs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise WorkloadError(f"two graphs are called {twice!r}; name them apart", twice)
        release = numbers("release dates", self.release)
        if not release.size:
            release = np.zeros(self.n_graphs)
        if release.shape != (self.n_graphs,) or not np.all(np.isfinite(release) & (release >= 0)):
            raise WorkloadError(
                f"release dates are {self.release!r}; give one date >= 0 for each of the"
                f" {self.n_graphs} graphs"
            )
        object.__setattr__(self, "release", release)

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.graphs)

    @property
    def n_tasks(self) -> int:
        """Number of tasks of all graphs."""
        return int(self.first[-1])

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Number of the first task of each graph; shape (n_graphs + 1,)."""
        return np.cumsum([0, *(graph.n_tasks for graph in self.graphs)], dtype=np.int64)

    @cached_property
    def graph_of(self) -> NDArray[np.int64]:
        """The graph of each task; shape (n_tasks,)."""
        return np.repeat(np.arange(self.n_graphs), np.diff(self.first))

    @cached_property
    def flop(self) -> NDArray[np.float64]:
        """Computation of each task [flop]; shape (n_tasks,)."""
        return np.concatenate([graph.flop for graph in self.graphs])

    @cached_property
    def alpha(self) -> NDArray[np.float64]:
        """Part of each task that cannot be run in parallel; shape (n_tasks,)."""
        return np.concatenate([graph.alpha for graph in self.graphs])

    @cached_property
    def edge_byte(self) -> NDArray[np.float64]:
        """Data of each edge [byte]; shape (n_edges,)."""
        return np.concatenate([graph.edge_byte for graph in self.graphs])

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Edges between tasks as they are numbered here; shape (n_edges, 2)."""
        pairs = zip(self.graphs, self.first[:-1], strict=True)
        return np.concatenate([graph.edges + first for graph, first in pairs])

    @cached_property
    def predecessors(self) -> Adjacency:
        """The tasks from which each task gets data."""
        return self._joined([graph.predecessors for graph in self.graphs])

    @cached_property
    def successors(self) -> Adjacency:
        """The tasks that get data from each task."""
        return self._joined([graph.successors for graph in self.graphs])

    def _joined(self, parts: Sequence[Adjacency]) -> Adjacency:
        """Return the neighbours in all graphs."""
        edges = np.cumsum([0, *(graph.n_edges for graph in self.graphs)], dtype=np.int64)
        return Adjacency(
            np.concatenate(
                [[0], *(part.start[1:] + edge for part, edge in zip(parts, edges, strict=False))]
            ).astype(np.int64),
            np.concatenate(
                [part.task + first for part, first in zip(parts, self.first, strict=False)]
            ),
            np.concatenate([part.edge + edge for part, edge in zip(parts, edges, strict=False)]),
        )

    def parts(self) -> Iterator[tuple[slice, slice]]:
        """Yield the numbers of the tasks and of the edges of each graph."""
        edge = 0
        for graph, first in zip(self.graphs, self.first.tolist(), strict=False):
            yield slice(first, first + graph.n_tasks), slice(edge, edge + graph.n_edges)
            edge += graph.n_edges

    def name_of(self, task: int) -> str:
        """Return the name of a task, with that of its graph before it."""
        number = int(self.graph_of[task])
        graph = self.graphs[number]
        return f"{graph.name}:{graph.tasks[task - int(self.first[number])]}"
