"""How far the execution of task graphs has come, and what can start now."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.workloads.graph_sets import GraphSet
    from simplugin.workloads.task_graphs import Adjacency


class Progress:
    """Tasks and redistributions between submission and end.

    A redistribution starts when its source has finished and its target is mapped. A task starts
    when all its inputs are there and it is first in the queue of each of its processors; it is
    queued when it is mapped, and leaves when it has finished. Who asks what can start is told each
    thing once.

    Parameters
    ----------
    graphs : GraphSet
        Tasks and edges are numbered as there.
    n_processors : int
        How many processors there are.

    Attributes
    ----------
    order : list of int
        Tasks that were mapped, in that order.
    processors : list of (tuple of int or None), one for each task
        Where each task was mapped.
    left : list of int, one for each graph
        How many of its tasks have not finished.
    """

    def __init__(self, graphs: GraphSet, n_processors: int) -> None:
        self._sources = graphs.edges[:, 0].tolist()
        self._targets = graphs.edges[:, 1].tolist()
        self._inputs = _edges(graphs.predecessors)
        self._outputs = _edges(graphs.successors)
        self._graph = graphs.graph_of.tolist()
        self._entries = [
            (graph.entries + first).tolist()
            for graph, first in zip(graphs.graphs, graphs.first.tolist(), strict=False)
        ]
        self.order: list[int] = []
        self.processors: list[tuple[int, ...] | None] = [None] * graphs.n_tasks
        self.left = [graph.n_tasks for graph in graphs.graphs]
        self._finished = [False] * graphs.n_tasks
        self._unfinished = [len(edges) for edges in self._inputs]
        # What an entry task misses is the submission of its graph.
        self._missing = [len(edges) or 1 for edges in self._inputs]
        self._turns = [0] * graphs.n_tasks
        self._queues: list[deque[int]] = [deque() for _ in range(n_processors)]
        self._ready: list[int] = []
        self._tasks: list[int] = []
        self._edges: list[int] = []

    @property
    def is_over(self) -> bool:
        """Whether all tasks have finished."""
        return not any(self.left)

    def has_finished(self, task: int) -> bool:
        """Whether a task has finished."""
        return self._finished[task]

    def release(self, graph: int) -> None:
        """Take note that a graph is submitted."""
        for task in self._entries[graph]:
            self._arrived_at(task)
            if self.processors[task] is None:
                self._ready.append(task)

    def assign(self, task: int, processors: Sequence[int]) -> None:
        """Take note that a task is mapped: it comes after those that were mapped before it."""
        self.order.append(task)
        self.processors[task] = tuple(processors)
        for processor in processors:
            queue = self._queues[processor]
            self._turns[task] += bool(queue)
            queue.append(task)
        self._edges += [edge for edge in self._inputs[task] if self._finished[self._sources[edge]]]
        self._see(task)

    def arrive(self, edge: int) -> None:
        """Take note that a redistribution has ended."""
        self._arrived_at(self._targets[edge])

    def finish(self, task: int) -> None:
        """Take note that a task has ended."""
        self._finished[task] = True
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
            if self.processors[target] is not None:
                self._edges.append(edge)
            elif not self._unfinished[target]:
                self._ready.append(target)

    def ready_tasks(self) -> list[int]:
        """Return unmapped tasks that are ready, and were not returned before.

        Their graphs are submitted, and their predecessors have finished.
        """
        found, self._ready = self._ready, []
        return found

    def edges_to_start(self) -> list[int]:
        """Return the redistributions that can start and were not returned before."""
        found, self._edges = self._edges, []
        return found

    def tasks_to_start(self) -> list[int]:
        """Return the tasks that can start and were not returned before."""
        found, self._tasks = self._tasks, []
        return found

    def _arrived_at(self, task: int) -> None:
        """Count an input, or the submission of an entry task."""
        self._missing[task] -= 1
        self._see(task)

    def _see(self, task: int) -> None:
        """Let a task start if nothing is in its way any more."""
        if self.processors[task] is not None and not self._turns[task] and not self._missing[task]:
            self._tasks.append(task)


def _edges(neighbours: Adjacency) -> list[list[int]]:
    """Return the edges of each task on one side."""
    cuts, edges = neighbours.start.tolist(), neighbours.edge.tolist()
    return [edges[a:b] for a, b in pairwise(cuts)]
