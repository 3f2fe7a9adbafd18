"""FFT graphs: counts, and a transform that follows the graph against numpy's."""

from __future__ import annotations

import cmath

import numpy as np
import pytest

from simplugin.workloads import TaskGraph
from simplugin.workloads.regular_graphs import fft
from simplugin.workloads.task_costs import CostLaw


def graph_of(points: int, seed: int = 1) -> TaskGraph:
    """Return a graph of so many points."""
    return fft(points, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("points", "n_tasks", "n_edges"),
    # The paper has "37" instead of 39; no number of points gives 37.
    [(2, 5, 6), (4, 15, 22), (8, 39, 62), (16, 95, 158)],
)
def test_counts(points: int, n_tasks: int, n_edges: int) -> None:
    graph = graph_of(points)
    rows = int(np.log2(points))
    assert (graph.n_tasks, graph.n_edges) == (n_tasks, n_edges)
    widths = [2**row for row in range(rows)] + [points] * (rows + 1)
    assert np.bincount(graph.level).tolist() == widths
    assert (len(graph.entries), len(graph.exits)) == (1, points)


@pytest.mark.parametrize("points", [2, 4, 8, 16, 32])
def test_a_transform_along_the_graph(points: int) -> None:
    graph = graph_of(points)
    draws = np.random.default_rng(2)
    signal = draws.normal(size=points) + 1j * draws.normal(size=points)
    data: dict[int, np.ndarray] = {0: signal}
    # The tree halves the signal: its even numbers to the first child, the odd ones to the second.
    for task in range(points - 1):
        left, right = graph.successors.of(task).tolist()
        data[left], data[right] = data[task][::2], data[task][1::2]
    value = {task: complex(data[task][0]) for task in range(points - 1, 2 * points - 1)}
    # Row r + 1 joins transforms of 2^r points into those of twice as many.
    for task in range(2 * points - 1, graph.n_tasks):
        row, j = divmod(task - (2 * points - 1), points)
        size = 2**row
        even, odd = sorted(graph.predecessors.of(task).tolist())
        turn = cmath.exp(-2j * cmath.pi * (j % (2 * size)) / (2 * size))
        value[task] = value[even] + turn * value[odd]
    found = [value[task] for task in range(graph.n_tasks - points, graph.n_tasks)]
    assert np.allclose(found, np.fft.fft(signal), atol=1e-12)


def test_tasks_of_a_level_cost_the_same() -> None:
    graph = graph_of(16)
    for level in range(9):
        tasks = graph.level == level
        for column in (graph.flop, graph.alpha, graph.byte):
            assert len(np.unique(column[tasks])) == 1
    assert len(np.unique(graph.alpha)) == 9
    assert graph.edge_byte.tolist() == graph.byte[graph.edges[:, 0]].tolist()


def test_costs_are_drawn_by_their_law() -> None:
    graph = fft(8, np.random.default_rng(5), costs=CostLaw("power"), name="f")
    assert graph.name == "f"
    assert np.allclose(graph.flop, (graph.byte / 8) ** 1.5, rtol=1e-12)
