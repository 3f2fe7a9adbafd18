"""Parallel task graphs as arrays, and sets of them that share a site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.core.units import parse_size, parse_work
from simplugin.results.tables import OpenPoint
from simplugin.workloads.parameter_ranges import numbers, texts

_COLUMNS: tuple[tuple[str, str, Callable[[Any], float]], ...] = (
    ("flop", "task", parse_work),
    ("alpha", "task", float),
    ("byte", "task", parse_size),
    ("edge_byte", "edge", parse_size),
)

# Tasks of a cycle that a message names.
_SHOWN = 12


@dataclass(frozen=True)
class Adjacency:
    """The neighbours of each task on one side, in compressed rows.

    Attributes
    ----------
    start : int64, shape (n_tasks + 1,)
        Where the neighbours of each task start in the other two; the last entry is the number of
        edges.
    task : int64, shape (n_edges,)
        The neighbours, in the order of the edges.
    edge : int64, shape (n_edges,)
        The edge to each of them.
    """

    start: NDArray[np.int64]
    task: NDArray[np.int64]
    edge: NDArray[np.int64]

    def of(self, task: int) -> NDArray[np.int64]:
        """Return the neighbours of a task."""
        return self.task[self.start[task] : self.start[task + 1]]

    def edges_of(self, task: int) -> NDArray[np.int64]:
        """Return the edges to the neighbours of a task."""
        return self.edge[self.start[task] : self.start[task + 1]]


def _adjacency(edges: NDArray[np.int64], n_tasks: int, side: int) -> Adjacency:
    """Return the other ends of the edges of each task on one side."""
    edge = np.argsort(edges[:, side], kind="stable")
    counts = np.bincount(edges[:, side], minlength=n_tasks)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Adjacency(start, edges[edge, 1 - side], edge.astype(np.int64))


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """A parallel task graph: a directed acyclic graph of data-parallel tasks.

    A task takes ``(alpha + (1 - alpha) / p) flop / speed`` on p equal processors (Amdahl's law).

    Attributes
    ----------
    name : str
        Of the graph.
    tasks : tuple of str
        Names, no two alike.
    flop : float64, shape (n_tasks,)
        Computation [flop]; 0 for tasks that only join others.
    alpha : float64, shape (n_tasks,)
        The part of it that cannot be run in parallel, from 0 to 1.
    byte : float64, shape (n_tasks,)
        Size of the data that a task works on [byte]; 0 where it is not known.
    edges : int64, shape (n_edges, 2)
        The task that sends data, and the one that receives them.
    edge_byte : float64, shape (n_edges,)
        Amount of data [byte].
    left_open : tuple of OpenPoint
        Values that were assumed or left out when the graph was read from a file.

    Raises
    ------
    WorkloadError
        A length or a range is wrong, an edge is given twice or leads nowhere, or there is a
        cycle; the message names the tasks.
    """

    name: str
    tasks: tuple[str, ...]
    flop: NDArray[np.float64]
    alpha: NDArray[np.float64]
    byte: NDArray[np.float64]
    edges: NDArray[np.int64]
    edge_byte: NDArray[np.float64]
    left_open: tuple[OpenPoint, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "tasks", texts(f"tasks of graph {self.name!r}", self.tasks))
        if not self.tasks:
            raise WorkloadError(f"graph {self.name!r} has no task; give at least one")
        if len(set(self.tasks)) < len(self.tasks):
            twice, _ = Counter(self.tasks).most_common(1)[0]
            raise WorkloadError(
                f"graph {self.name!r} has two tasks called {twice!r}; name them apart"
            )
        edges = np.asarray(self.edges)
        if not edges.size:
            edges = np.zeros((0, 2), dtype=np.int64)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise WorkloadError(
                f"edges of graph {self.name!r} have shape {edges.shape} and type {edges.dtype};"
                " give a row of two whole numbers for each"
            )
        object.__setattr__(self, "edges", np.array(edges, dtype=np.int64, order="C"))
        for source, target in self.edges[np.any((edges < 0) | (edges >= self.n_tasks), axis=1)]:
            raise WorkloadError(
                f"graph {self.name!r} has an edge from task {source} to task {target};"
                f" its tasks are 0 to {self.n_tasks - 1}"
            )
        for column, of, read in _COLUMNS:
            count = self.n_tasks if of == "task" else self.n_edges
            values = numbers(f"graph {self.name!r}: {column}", getattr(self, column), read)
            if values.shape != (count,):
                raise WorkloadError(
                    f"{column} of graph {self.name!r} has shape {values.shape}; give ({count},)"
                )
            most = 1.0 if column == "alpha" else np.finfo(np.float64).max
            for place in np.flatnonzero(~((values >= 0) & (values <= most))).tolist():
                expected = "a part from 0 to 1" if column == "alpha" else "a number >= 0"
                value = float(values[place])
                raise WorkloadError(
                    f"{column} of {self.label(of, place)} is {value!r}; give {expected}"
                )
            object.__setattr__(self, column, values)
        pairs = np.sort(self.edges[:, 0] * self.n_tasks + self.edges[:, 1])
        for pair in pairs[1:][pairs[1:] == pairs[:-1]].tolist():
            source, target = divmod(pair, self.n_tasks)
            raise WorkloadError(
                f"graph {self.name!r} has two edges from {self.tasks[source]!r} to"
                f" {self.tasks[target]!r}; add their bytes up in one"
            )
        _ = self.order

    def label(self, of: str, place: int) -> str:
        """Return how messages call a task or an edge."""
        if of == "task":
            return f"task {self.tasks[place]!r} of graph {self.name!r}"
        source, target = self.edges[place].tolist()
        return f"edge {self.tasks[source]!r} -> {self.tasks[target]!r} of graph {self.name!r}"

    def __eq__(self, other: object) -> bool:
        """Compare all fields but `left_open`."""
        if not isinstance(other, TaskGraph):
            return NotImplemented
        return (self.name, self.tasks) == (other.name, other.tasks) and all(
            np.array_equal(getattr(self, column), getattr(other, column))
            for column in ("edges", *(name for name, *_ in _COLUMNS))
        )

    __hash__ = None  # type: ignore[assignment] # arrays have no hash

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return len(self.tasks)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def work(self) -> float:
        """Computation of all tasks [flop]."""
        return float(np.sum(self.flop))

    @cached_property
    def successors(self) -> Adjacency:
        """The tasks that get data from each task."""
        return _adjacency(self.edges, self.n_tasks, 0)

    @cached_property
    def predecessors(self) -> Adjacency:
        """The tasks from which each task gets data."""
        return _adjacency(self.edges, self.n_tasks, 1)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """All tasks, each after its predecessors: as they become free, the entry tasks first."""
        waits = np.diff(self.predecessors.start).tolist()
        start, successor = self.successors.start.tolist(), self.successors.task.tolist()
        order = [task for task in range(self.n_tasks) if not waits[task]]
        for task in order:
            for after in successor[start[task] : start[task + 1]]:
                waits[after] -= 1
                if not waits[after]:
                    order.append(after)
        if len(order) < self.n_tasks:
            task = next(task for task in range(self.n_tasks) if waits[task])
            place: dict[int, int] = {}
            while task not in place:
                place[task] = len(place)
                task = next(each for each in self.predecessors.of(task).tolist() if waits[each])
            cycle = [repr(self.tasks[task]) for task in [*list(place)[place[task] :], task][::-1]]
            if len(cycle) > _SHOWN:
                cycle[_SHOWN // 2 : -_SHOWN // 2] = [f"... {len(cycle) - _SHOWN} more ..."]
            circle = " -> ".join(cycle)
            raise WorkloadError(
                f"graph {self.name!r} has a cycle: {circle}; remove one of its edges"
            )
        return np.array(order, dtype=np.int64)

    @cached_property
    def level(self) -> NDArray[np.int64]:
        """Precedence level of each task: edges of the longest path to it from an entry task."""
        return self.top_levels(np.ones(self.n_tasks)).astype(np.int64) - 1

    @cached_property
    def width(self) -> int:
        """Size of the largest precedence level: how many tasks could run side by side."""
        return int(np.max(np.bincount(self.level)))

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """The tasks without a predecessor."""
        return np.flatnonzero(np.diff(self.predecessors.start) == 0)

    @cached_property
    def exits(self) -> NDArray[np.int64]:
        """The tasks without a successor."""
        return np.flatnonzero(np.diff(self.successors.start) == 0)

    def bottom_levels(
        self, time: NDArray[np.float64], transfer: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return how long it takes from the start of each task to the end of the graph.

        Parameters
        ----------
        time : float64, shape (n_tasks,)
            Of each task [s].
        transfer : float64, shape (n_edges,), optional
            Of the data of each edge [s]; 0 without.

        Returns
        -------
        float64, shape (n_tasks,)
            Length of the longest path to an exit task, both ends included [s].
        """
        return self._levels(time, transfer, self.successors, self.order[::-1])

    def top_levels(
        self, time: NDArray[np.float64], transfer: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the earliest end of each task, were there processors without end.

        Parameters and shape are those of `bottom_levels`; the task itself is included.
        """
        return self._levels(time, transfer, self.predecessors, self.order)

    def _levels(
        self,
        time: NDArray[np.float64],
        transfer: NDArray[np.float64] | None,
        neighbours: Adjacency,
        order: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return the length of the longest path to each task, in an order that paths follow."""
        start, other, edge = (
            each.tolist() for each in (neighbours.start, neighbours.task, neighbours.edge)
        )
        moves = [0.0] * self.n_edges if transfer is None else np.asarray(transfer).tolist()
        level = np.asarray(time, dtype=np.float64).tolist()
        for task in order.tolist():
            longest = 0.0
            for at in range(start[task], start[task + 1]):
                way = level[other[at]] + moves[edge[at]]
                if way > longest:
                    longest = way
            level[task] += longest
        return np.array(level)

    def critical_path(
        self, time: NDArray[np.float64], transfer: NDArray[np.float64] | None = None
    ) -> list[int]:
        """Return the tasks of the longest path, in its order; of several the first.

        Parameters are those of `bottom_levels`.
        """
        below, after = self.bottom_levels(time, transfer), self.successors
        moves = np.zeros(self.n_edges) if transfer is None else np.asarray(transfer)
        path = [int(self.entries[np.argmax(below[self.entries])])]
        while (following := after.of(path[-1])).size:
            ways = below[following] + moves[after.edges_of(path[-1])]
            path.append(int(following[np.argmax(ways)]))
        return path

    def without(self, tasks: NDArray[np.bool_]) -> TaskGraph:
        """Return the graph without some of its tasks, not all.

        Parameters
        ----------
        tasks : bool, shape (n_tasks,)
            Those to be left out, with their edges.
        """
        kept = ~np.asarray(tasks, dtype=np.bool_)
        number = np.cumsum(kept) - 1
        edges = np.all(kept[self.edges], axis=1)
        return TaskGraph(
            self.name,
            tuple(name for name, keep in zip(self.tasks, kept.tolist(), strict=True) if keep),
            self.flop[kept],
            self.alpha[kept],
            self.byte[kept],
            number[self.edges[edges]],
            self.edge_byte[edges],
        )


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
        There is no graph, two have the same name, or a date is not a number from 0 on.
    """

    graphs: tuple[TaskGraph, ...]
    release: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "graphs", tuple(self.graphs))
        if not self.graphs:
            raise WorkloadError("there is no task graph; give at least one")
        twice, count = Counter(graph.name for graph in self.graphs).most_common(1)[0]
        if count > 1:
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
    def union(self) -> TaskGraph:
        """All graphs as the parts of one, whose tasks have their numbers as names."""
        pairs = zip(self.graphs, self.first[:-1], strict=True)
        return TaskGraph(
            "union",
            tuple(map(str, range(self.n_tasks))),
            np.concatenate([graph.flop for graph in self.graphs]),
            np.concatenate([graph.alpha for graph in self.graphs]),
            np.concatenate([graph.byte for graph in self.graphs]),
            np.concatenate([graph.edges + first for graph, first in pairs]),
            np.concatenate([graph.edge_byte for graph in self.graphs]),
        )

    @property
    def flop(self) -> NDArray[np.float64]:
        """Computation of each task [flop]; shape (n_tasks,)."""
        return self.union.flop

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Part of each task that cannot be run in parallel; shape (n_tasks,)."""
        return self.union.alpha

    @property
    def edge_byte(self) -> NDArray[np.float64]:
        """Data of each edge [byte]; shape (n_edges,)."""
        return self.union.edge_byte

    @property
    def edges(self) -> NDArray[np.int64]:
        """Edges between tasks, numbered through all graphs; shape (n_edges, 2)."""
        return self.union.edges

    @property
    def predecessors(self) -> Adjacency:
        """The tasks from which each task gets data."""
        return self.union.predecessors

    @property
    def successors(self) -> Adjacency:
        """The tasks that get data from each task."""
        return self.union.successors

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
