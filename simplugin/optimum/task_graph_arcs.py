"""Choices of processors for task graphs, and the events and windows that bound any schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simplugin.platforms.sites import Site
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Entries = tuple[NDArray[np.intp], NDArray[np.intp], Floats]


@dataclass(frozen=True, eq=False)
class Choices:
    """All pairs of a cluster and a number of processors, for each task and each edge.

    The last two axes of the larger arrays are (n_clusters, n_most): [k, p - 1] is for p processors
    of cluster k, and is meaningless where the cluster has fewer, see `allowed`.

    Attributes
    ----------
    graphs : GraphSet
        The tasks.
    site : Site
        The clusters.
    transfers : bool
        True if data take time on their way.
    """

    graphs: GraphSet
    site: Site
    transfers: bool = False

    @cached_property
    def processors(self) -> Floats:
        """The numbers of processors of the last axis; shape (n_most,)."""
        return np.arange(1.0, float(np.max(self.site.processors)) + 1)

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """True if the cluster has that many; shape (n_clusters, n_most)."""
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
        """Least time that its graph takes after the end of each task [s]; (n_tasks,)."""
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


# Of each cluster, the number of windows added in a round.
WINDOWS = 3


@dataclass(frozen=True, eq=False)
class Window:
    """Tasks that all run between two dates within a schedule.

    Attributes
    ----------
    margin : float
        Time in which no such task runs, at the start and at the end together [unit].
    cluster : int
        The cluster that could be too small for them.
    member : bool, shape (n_tasks,)
        The tasks.
    """

    margin: float
    cluster: int
    member: NDArray[np.bool_]


class Arcs:
    """Arcs between events, with lengths that are linear in the choices.

    Event 0 is the start of all, 1 + 2 v and 2 + 2 v are start and end of task v, and the last one
    is the end of all. An arc says that its length passes at least from one event to another:

    - the release date of a graph, from the start to each of its entry tasks;
    - the time of a task, from its start to its end;
    - the time of a transfer by the choice of its source, and once more by that of its target;
    - nothing, from exit tasks to the end;
    - of each cluster and some tasks that cannot run in the first and the last seconds of a
      schedule (a window): those seconds, and for how long these tasks keep the cluster busy.

    Parameters
    ----------
    choices : Choices
        Times of tasks and transfers.
    unit : float
        Of time [s].

    Attributes
    ----------
    tail, head : int64, shape (n_arcs,)
        From and to which event. The arcs of tasks come first, in their order.
    constant : float64, shape (n_arcs,)
        Part of the length that no choice changes [unit].
    windows : list of Window
        Those of the last arcs.
    """

    def __init__(self, choices: Choices, unit: float) -> None:
        self.choices = choices
        self.unit = unit
        graphs = choices.graphs
        n = graphs.n_tasks
        start, end = 1 + 2 * np.arange(n), 2 + 2 * np.arange(n)
        self.n_tasks, self.n_events, self.last = n, 2 * n + 2, 2 * n + 1
        self.edge = _needed(choices)
        self.moving = self.edge[choices.moved[self.edge] > 0]
        entries = np.concatenate([graphs.first[g] + x.entries for g, x in enumerate(graphs.graphs)])
        exits = np.concatenate([graphs.first[g] + x.exits for g, x in enumerate(graphs.graphs)])
        source, target = graphs.edges[self.edge].T
        parts = (
            (start, end),
            (np.zeros_like(entries), start[entries]),
            (end[exits], np.full_like(exits, self.last)),
            (end[source], start[target]),
            (end[graphs.edges[self.moving, 0]], start[graphs.edges[self.moving, 1]]),
        )
        self.tail, self.head = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        self.constant = np.zeros(len(self.tail))
        self.constant[n : n + len(entries)] = graphs.release[graphs.graph_of[entries]] / unit
        self.first_receiving = len(self.tail) - len(self.moving)
        self.first_sending = self.first_receiving - len(self.edge)
        self.first_window = len(self.tail)
        self.windows: list[Window] = []
        self.time, self.load = choices.time / unit, choices.load / unit
        self.earliest, self.rest = choices.earliest / unit, choices.rest / unit
        everyone = np.ones(n, dtype=bool)
        self.add([Window(0.0, cluster, everyone) for cluster in range(choices.site.n_clusters)])

    def add(self, windows: Sequence[Window]) -> None:
        """Add arcs of windows."""
        count = len(windows)
        self.windows.extend(windows)
        self.tail = np.append(self.tail, np.zeros(count, dtype=np.int64))
        self.head = np.append(self.head, np.full(count, self.last))
        self.constant = np.append(self.constant, [window.margin for window in windows])

    @cached_property
    def position(self) -> Integers:
        """Rank of each event in an order that all arcs follow; shape (n_events,)."""
        graphs = self.choices.graphs
        pairs = zip(graphs.graphs, graphs.first[:-1], strict=True)
        order = np.concatenate([graph.order + first for graph, first in pairs])
        position = np.zeros(self.n_events, dtype=np.int64)
        position[1 + 2 * order] = 1 + 2 * np.arange(self.n_tasks)
        position[2 + 2 * order] = 2 + 2 * np.arange(self.n_tasks)
        position[self.last] = self.last
        return position

    @cached_property
    def _sides(self) -> tuple[tuple[int, Integers, int, Floats], ...]:
        """Sides of edges, the edges, the first of their arcs, and times; none if no data move."""
        sending = 0, self.edge, self.first_sending, self.choices.sending
        receiving = 1, self.moving, self.first_receiving, self.choices.receiving
        return (sending, receiving) if self.moving.size else ()

    def lengths(self, task: Integers, cluster: Integers, index: Integers) -> Entries:
        """Return what choices add to the lengths of arcs other than windows.

        Parameters
        ----------
        task, cluster, index : int64, shape (n,)
            The choices: of each task a cluster, and the number of processors less one.

        Returns
        -------
        arc, choice : int64, shape (m,)
            Pairs of an arc and a choice that adds to it.
        length : float64, shape (m,)
            Length added, for the whole task [unit].
        """
        parts = [(task, np.arange(len(task)), self.time[task, cluster, index])]
        for side, edges, first, time in self._sides:
            ends = self.choices.graphs.edges[edges, side]
            at, choice = _pairs(ends, task, self.n_tasks)
            length = time[edges[at], cluster[choice], index[choice]] / self.unit
            parts.append((first + at, choice, length))
        arc, choice, length = (np.concatenate(each) for each in zip(*parts, strict=True))
        return arc, choice, length

    def window_lengths(
        self, windows: Sequence[Window], task: Integers, cluster: Integers, index: Integers
    ) -> Entries:
        """Return what choices add to the lengths of windows, as `lengths` does."""
        member = np.array([window.member for window in windows]).reshape(-1, self.n_tasks)
        clusters = np.array([window.cluster for window in windows], dtype=np.int64)
        at, choice = np.nonzero(member[:, task] & (clusters[:, None] == cluster))
        return at, choice, self.load[task[choice], cluster[choice], index[choice]]

    def unit_flow(self, weight: Floats) -> Floats:
        """Return a flow of one from the start to the end that divides as arcs weigh.

        Parameters
        ----------
        weight : float64, shape (n_arcs,)
            Not negative; arcs from an event that are all 0 get equal parts.

        Returns
        -------
        float64, shape (n_arcs,)
            What enters an event leaves it: a mean of chains of arcs from the start to the end.
        """
        out = np.bincount(self.tail, weight, minlength=self.n_events)[self.tail]
        alike = 1 / np.bincount(self.tail, minlength=self.n_events)[self.tail]
        share = np.where(out > 0, weight / np.where(out > 0, out, 1.0), alike).tolist()
        order = np.argsort(self.position[self.tail], kind="stable").tolist()
        tail, head = self.tail.tolist(), self.head.tolist()
        inflow, flow = [0.0] * self.n_events, [0.0] * len(tail)
        inflow[0] = 1.0
        for arc in order:
            flow[arc] = inflow[tail[arc]] * share[arc]
            inflow[head[arc]] += flow[arc]
        return np.array(flow)

    def prices(self, flow: Floats) -> Floats:
        """Return what each choice adds to the mean length of the chains of a flow.

        Parameters
        ----------
        flow : float64, shape (n_arcs,)
            From `unit_flow`.

        Returns
        -------
        float64, shape (n_tasks, n_clusters, n_most)
            For the whole task [unit]; inf where a cluster has fewer processors.
        """
        choices = self.choices
        price = flow[: self.n_tasks, None, None] * self.time
        price += self.load_prices(flow)[:, :, None] * self.load
        for side, edges, first, time in self._sides:
            used = np.flatnonzero(flow[first : first + len(edges)])
            length = time[edges[used]] / self.unit
            task = choices.graphs.edges[edges[used], side]
            np.add.at(price, task, flow[first + used, None, None] * length)
        return np.where(choices.allowed, price, np.inf)

    def load_prices(self, flow: Floats) -> Floats:
        """Return the flow through windows that each task is in; shape (n_tasks, n_clusters)."""
        price = np.zeros((self.n_tasks, self.choices.site.n_clusters))
        for window, through in zip(self.windows, flow[self.first_window :].tolist(), strict=True):
            if through:
                price[window.member, window.cluster] += through
        return price

    def violated(self, load: Floats, makespan: float, tolerance: float) -> list[Window]:
        """Return windows that are too short for the tasks that must run in them.

        Candidates are the sets of tasks that start no earlier than some task can, and after which
        no less remains to be done than after some task.

        Parameters
        ----------
        load : float64, shape (n_tasks, n_clusters)
            For how long each task keeps each cluster busy [unit].
        makespan : float
            When all ends [unit].
        tolerance : float
            Largest lack of a window [unit].
        """
        firsts, first = np.unique(self.earliest, return_inverse=True)
        rests, rest = np.unique(self.rest, return_inverse=True)
        shape = (len(firsts), len(rests))
        margin = firsts[:, None] + rests
        member = _above(np.ones(self.n_tasks), first, rest, shape) > 0
        found = []
        for cluster in range(load.shape[1]):
            needed = margin + _above(load[:, cluster], first, rest, shape)
            lack = np.where(member, needed - makespan, -np.inf)
            most = lack.max(axis=1)
            for row in np.argsort(-most, kind="stable")[:WINDOWS].tolist():
                if most[row] > tolerance:
                    column = int(np.argmax(lack[row]))
                    inside = (first >= row) & (rest >= column)
                    found.append(Window(float(margin[row, column]), cluster, inside))
        return found


def _above(
    values: Floats, row: NDArray[np.intp], column: NDArray[np.intp], shape: tuple[int, int]
) -> Floats:
    """Return for each cell of a table the sum of the values there, below it and to its right."""
    table = np.zeros(shape)
    np.add.at(table, (row, column), values)
    return table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]


def _pairs(ends: Integers, task: Integers, n_tasks: int) -> tuple[Integers, Integers]:
    """Return all pairs of an edge and a choice for the task at its end, by their positions."""
    order = np.argsort(ends, kind="stable")
    count = np.bincount(ends, minlength=n_tasks)
    start = np.cumsum(count) - count
    many = count[task]
    choice = np.repeat(np.arange(len(task)), many)
    within = np.arange(len(choice)) - np.repeat(np.cumsum(many) - many, many)
    return order[start[task][choice] + within], choice


def _needed(choices: Choices) -> Integers:
    """Return the edges that other edges do not imply."""
    graphs: GraphSet = choices.graphs
    kept, first_edge = [], 0
    for graph in graphs.graphs:
        below = np.zeros((graph.n_tasks, graph.n_tasks), dtype=bool)
        implied = np.zeros(graph.n_edges, dtype=bool)
        for task in graph.order[::-1].tolist():
            after = graph.successors.of(task)
            below[task] = below[after].any(axis=0)
            implied[graph.successors.edges_of(task)] = below[task, after]
            below[task, after] = True
        implied &= choices.moved[first_edge : first_edge + graph.n_edges] == 0
        kept.append(first_edge + np.flatnonzero(~implied))
        first_edge += graph.n_edges
    return np.concatenate(kept)
