"""Charts of schedules and task graphs, with a layered layout of graphs.

The layout follows K. Sugiyama, S. Tagawa and M. Toda (1981), Methods for visual understanding of
hierarchical system structures: each precedence level is a row, edges that pass levels get a bend in
each of them, the order within levels follows the barycentres of neighbours, and places follow their
means, kept apart in that order.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simplugin.results.charts import Bar, DrawnEdge, DrawnNode, GraphChart, ScheduleChart
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.task_graphs import TaskGraph

# Distances within a row: of two tasks, of a task and a bend, of two bends.

_APART = (1.0, 0.7, 0.4)
_SWEEPS, _ROUNDS = 24, 30
# Weight of a bend, so that long edges become straight.
_WEIGHT = 3.0
# Segments between rows beyond which there are fewer sweeps.
_LARGE = 3000


@dataclass(frozen=True, eq=False)
class Places:
    """Places of tasks and edges; 1 is the least distance of two tasks of a level, and of levels.

    Attributes
    ----------
    x, y : float64, shape (n_tasks,)
        Places of tasks; y is the precedence level.
    bends : tuple of tuple of (float, float)
        Points of each edge, one in each level between those of its ends.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    bends: tuple[tuple[tuple[float, float], ...], ...]


def layered_layout(graph: TaskGraph) -> Places:
    """Return the places of the tasks and edges of a graph; the smallest x is 0."""
    drawing = _Drawing(graph)
    drawing.arrange()
    x = drawing.across()
    bends = tuple(
        tuple((float(x[bend]), float(drawing.level[bend])) for bend in chain)
        for chain in drawing.chains
    )
    return Places(x[: graph.n_tasks], graph.level.astype(float), bends)


class _Drawing:
    """Tasks and bends of a graph in their rows."""

    def __init__(self, graph: TaskGraph) -> None:
        self.n_tasks = graph.n_tasks
        self.level: list[int] = graph.level.tolist()
        self.chains: list[list[int]] = []
        self.above: list[list[int]] = [[] for _ in range(self.n_tasks)]
        self.below: list[list[int]] = [[] for _ in range(self.n_tasks)]
        for source, target in graph.edges.tolist():
            self._add(source, target)
        self.rows: list[list[int]] = [[] for _ in range(max(self.level) + 1)]
        for node, level in enumerate(self.level):
            self.rows[level].append(node)

    def _add(self, source: int, target: int) -> None:
        """Add an edge, with a bend in each level that it passes."""
        chain = []
        last = source
        for level in range(self.level[source] + 1, self.level[target]):
            chain.append(len(self.level))
            self.level.append(level)
            self.above.append([])
            self.below.append([])
            self._join(last, chain[-1])
            last = chain[-1]
        self._join(last, target)
        self.chains.append(chain)

    def _join(self, upper: int, lower: int) -> None:
        """Add a segment between two consecutive rows."""
        self.below[upper].append(lower)
        self.above[lower].append(upper)

    def arrange(self) -> None:
        """Order each row so that few segments cross."""
        best, fewest = [list(row) for row in self.rows], self.crossings()
        sweeps = _SWEEPS if sum(map(len, self.below)) <= _LARGE else 4
        for sweep in range(sweeps):
            if not fewest:
                break
            downwards = sweep % 2 == 0
            neighbours = self.above if downwards else self.below
            order = range(1, len(self.rows)) if downwards else range(len(self.rows) - 2, -1, -1)
            for number in order:
                beside = self.rows[number - 1 if downwards else number + 1]
                place = {node: float(at) for at, node in enumerate(beside)}
                self.rows[number] = _by_barycentre(self.rows[number], neighbours, place)
            found = self.crossings()
            if found < fewest:
                best, fewest = [list(row) for row in self.rows], found
        self.rows = best

    def crossings(self) -> int:
        """Return the number of crossings of segments."""
        count = 0
        for upper, lower in zip(self.rows, self.rows[1:], strict=False):
            place = {node: at for at, node in enumerate(lower)}
            ends: list[int] = []
            for node in upper:
                new = sorted(place[each] for each in self.below[node])
                # Those before this node that end further right.
                count += sum(len(ends) - bisect_right(ends, each) for each in new)
                for each in new:
                    insort(ends, each)
        return count

    def across(self) -> NDArray[np.float64]:
        """Return x of tasks and bends."""
        x = np.zeros(len(self.level))
        gaps = [self._gaps(row) for row in self.rows]
        for row, gap in zip(self.rows, gaps, strict=True):
            x[row] = gap - gap[-1] / 2
        weight = np.where(np.arange(len(x)) < self.n_tasks, 1.0, _WEIGHT)
        downwards = list(range(len(self.rows)))
        for number in range(_ROUNDS):
            # The sides alternate; both count at the end.
            sides = (
                [[self.above], [self.below]][number % 2]
                if number < _ROUNDS // 2
                else [self.above, self.below]
            )
            for at in downwards if number % 2 == 0 else downwards[::-1]:
                row = self.rows[at]
                wanted = np.array([_mean(x, node, sides) for node in row])
                x[row] = gaps[at] + _increasing(wanted - gaps[at], weight[row])
        # Without empty strips: parts that no edge joins drift apart.
        order = np.argsort(x, kind="stable")
        steps = np.minimum(np.diff(x[order]), _APART[0])
        closer = np.empty(len(x))
        closer[order] = np.concatenate([[0.0], np.cumsum(steps)])
        return closer

    def _gaps(self, row: Sequence[int]) -> NDArray[np.float64]:
        """Return the places in a row that is as narrow as it can be."""
        bends = np.array([node >= self.n_tasks for node in row], dtype=np.int64)
        apart = np.array(_APART)[bends[1:] + bends[:-1]]
        return np.concatenate([[0.0], np.cumsum(apart)])


def _by_barycentre(
    row: Sequence[int], neighbours: Sequence[Sequence[int]], place: dict[int, float]
) -> list[int]:
    """Sort a row by the mean places of neighbours; nodes without neighbours stay."""
    free = {at: node for at, node in enumerate(row) if not neighbours[node]}
    key = {
        node: sum(place[each] for each in neighbours[node]) / len(neighbours[node])
        for node in row
        if neighbours[node]
    }
    bound = iter(sorted(key, key=key.__getitem__))
    return [free[at] if at in free else next(bound) for at in range(len(row))]


def _mean(x: NDArray[np.float64], node: int, sides: Sequence[Sequence[Sequence[int]]]) -> float:
    """Return the mean place of a node's neighbours; its own if it has none."""
    means = [float(np.mean(x[side[node]])) for side in sides if side[node]]
    return sum(means) / len(means) if means else float(x[node])


def _increasing(wanted: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest nondecreasing numbers by weighted least squares."""
    blocks: list[tuple[float, float, int]] = []
    for value, heavy in zip(wanted.tolist(), weight.tolist(), strict=True):
        block = (value, heavy, 1)
        while blocks and blocks[-1][0] >= block[0]:
            before, its, count = blocks.pop()
            total = its + block[1]
            block = ((before * its + block[0] * block[1]) / total, total, count + block[2])
        blocks.append(block)
    return np.repeat([value for value, _, _ in blocks], [count for _, _, count in blocks])


def schedule_chart(
    schedule: Schedule,
    title: str = "",
    *,
    name: str = "schedule",
    dates: Mapping[str, float] | None = None,
) -> ScheduleChart:
    """Return the Gantt chart of a schedule, with a colour for each graph.

    Parameters
    ----------
    schedule : Schedule
        Planned or executed.
    title : str
        Title of the chart.
    name : str
        Name of the file, without suffix.
    dates : mapping of str to float, optional
        Dates to mark, such as a lower bound, by their names [s].

    Returns
    -------
    ScheduleChart
        Labels are the names of tasks.
    """
    site, graphs = schedule.site, schedule.graphs
    tasks = [task for graph in graphs.graphs for task in graph.tasks]
    bars = tuple(
        Bar(
            int(graphs.graph_of[task]),
            tuple(schedule.processors_of(task).tolist()),
            float(schedule.start[task]),
            float(schedule.finish[task]),
            label,
        )
        for task, label in enumerate(tasks)
    )
    used = schedule.area / (site.n_processors * schedule.makespan) if schedule.makespan else 0.0
    return ScheduleChart(
        name,
        title,
        tuple(zip(site.clusters, site.processors.tolist(), strict=True)),
        tuple(graph.name for graph in graphs.graphs),
        bars,
        facts=f"{len(tasks)} task{'s' * (len(tasks) != 1)}, makespan {schedule.makespan:.4g} s,"
        f" {100 * used:.0f} % of the processors' time taken",
        dates=dict(dates or {}),
        completion=tuple(schedule.completion.tolist()),
    )


def graph_chart(
    graph: TaskGraph,
    allocation: NDArray[np.int64] | None = None,
    cluster: NDArray[np.int64] | None = None,
    clusters: Sequence[str] = (),
    *,
    time: NDArray[np.float64] | None = None,
    colour: int | None = None,
) -> GraphChart:
    """Return the drawing of a graph, a row for each precedence level.

    Areas of nodes are in proportion to their work. The critical path is emphasised.

    Parameters
    ----------
    graph : TaskGraph
        The graph.
    allocation : int64, shape (n_tasks,), optional
        Number of processors of each task, for its label.
    cluster : int64, shape (n_tasks,), optional
        Cluster of each task, for its colour.
    clusters : sequence of str
        Names of the clusters.
    time : float64, shape (n_tasks,), optional
        Time of each task, for the critical path [s]; by default that on one processor.
    colour : int, optional
        Number of the graph among others, for its colour in their schedule.
    """
    places = layered_layout(graph)
    path = graph.critical_path(graph.flop if time is None else time)
    steps = set(pairwise(path))
    most = float(np.max(graph.flop)) or 1.0
    nodes = tuple(
        DrawnNode(
            float(places.x[task]),
            float(places.y[task]),
            name,
            "" if allocation is None else f"{int(allocation[task])}×",  # noqa: RUF001
            float(graph.flop[task]) / most,
            None if cluster is None else int(cluster[task]),
            task in path,
        )
        for task, name in enumerate(graph.tasks)
    )
    edges = tuple(
        DrawnEdge(source, target, bends, (source, target) in steps)
        for (source, target), bends in zip(graph.edges.tolist(), places.bends, strict=True)
    )
    levels = int(np.max(graph.level)) + 1
    counts = ((graph.n_tasks, "task"), (graph.n_edges, "edge"), (levels, "level"))
    words = [f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts]
    facts = ", ".join([*words, f"width {graph.width}", f"{graph.work / 1e12:.3g} Tflop"])
    return GraphChart(graph.name, graph.name, nodes, edges, tuple(clusters), facts, colour)


def graph_charts(schedule: Schedule) -> tuple[GraphChart, ...]:
    """Return the drawings of all graphs of a schedule, with its allocations and times."""
    took, graphs = schedule.finish - schedule.start, schedule.graphs
    return tuple(
        graph_chart(
            graph,
            schedule.allocation[own],
            schedule.cluster[own],
            schedule.site.clusters,
            time=took[own],
            colour=number,
        )
        for number, (graph, (own, _)) in enumerate(zip(graphs.graphs, graphs.parts(), strict=True))
    )
