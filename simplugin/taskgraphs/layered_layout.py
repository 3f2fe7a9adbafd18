"""Where to draw the tasks of a graph: a row for each precedence level, few crossings.

As K. Sugiyama, S. Tagawa and M. Toda (1981), Methods for visual understanding of hierarchical
system structures: edges that pass levels by get a bend in each of them, the order within levels
follows the barycentres of neighbours, and places follow their means, kept apart in that order.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.workloads.task_graphs import TaskGraph

# Distances within a row: of two tasks, of a task and a bend, of two bends.
_APART = (1.0, 0.7, 0.4)
_SWEEPS, _ROUNDS = 24, 30
# Of a bend, so that long edges get straight.
_WEIGHT = 3.0
# Ways between rows, bends included, beyond which fewer sweeps have to do.
_LARGE = 3000


@dataclass(frozen=True, eq=False)
class Places:
    """Where everything is; 1 is the least distance of two tasks of a level, and that of two levels.

    Attributes
    ----------
    x, y : float64, shape (n_tasks,)
        Of tasks; y is the precedence level.
    bends : tuple of tuple of (float, float)
        For each edge the points that it passes, one in each level between those of its ends.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    bends: tuple[tuple[tuple[float, float], ...], ...]


def layered_layout(graph: TaskGraph) -> Places:
    """Return where to draw the tasks and edges of a graph.

    Parameters
    ----------
    graph : TaskGraph
        The graph.

    Returns
    -------
    Places
        Tasks of one level are at least 1 apart; the smallest x is 0.
    """
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
        """Note a way between two rows that follow each other."""
        self.below[upper].append(lower)
        self.above[lower].append(upper)

    def arrange(self) -> None:
        """Order each row so that few ways cross."""
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
        """Return how many pairs of ways cross."""
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
            # Each side has its turns; both count at the end.
            sides = (
                [[self.above], [self.below]][number % 2]
                if number < _ROUNDS // 2
                else [self.above, self.below]
            )
            for at in downwards if number % 2 == 0 else downwards[::-1]:
                row = self.rows[at]
                wanted = np.array([_mean(x, node, sides) for node in row])
                x[row] = gaps[at] + _increasing(wanted - gaps[at], weight[row])
        return _without_empty_strips(x)

    def _gaps(self, row: Sequence[int]) -> NDArray[np.float64]:
        """Return the places in a row that is as narrow as it can be."""
        bends = np.array([node >= self.n_tasks for node in row], dtype=np.int64)
        apart = np.array(_APART)[bends[1:] + bends[:-1]]
        return np.concatenate([[0.0], np.cumsum(apart)])


def _by_barycentre(
    row: Sequence[int], neighbours: Sequence[Sequence[int]], place: dict[int, float]
) -> list[int]:
    """Sort a row by the mean places of neighbours; who has none stays where it was."""
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


def _without_empty_strips(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places without room that nothing is in: parts that no edge joins drift apart."""
    order = np.argsort(x, kind="stable")
    steps = np.minimum(np.diff(x[order]), _APART[0])
    closer = np.empty(len(x))
    closer[order] = np.concatenate([[0.0], np.cumsum(steps)])
    return closer


def _increasing(wanted: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nondecreasing numbers that are nearest, by weighted least squares."""
    blocks: list[tuple[float, float, int]] = []
    for value, heavy in zip(wanted.tolist(), weight.tolist(), strict=True):
        block = (value, heavy, 1)
        while blocks and blocks[-1][0] >= block[0]:
            before, its, count = blocks.pop()
            total = its + block[1]
            block = ((before * its + block[0] * block[1]) / total, total, count + block[2])
        blocks.append(block)
    return np.repeat([value for value, _, _ in blocks], [count for _, _, count in blocks])
