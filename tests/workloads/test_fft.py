"""FFT, Strassen's and simple graphs: counts, and results that follow the graphs."""

import cmath
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simplugin.workloads import TaskGraph
from simplugin.workloads.graph_generators import chain, fft, fork_join, strassen
from simplugin.workloads.task_costs import CostLaw


def graph_of(points: int, seed: int = 1) -> TaskGraph:
    """Return a graph of so many points."""
    return fft(points, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("points", "n_tasks", "n_edges"),
    # The paper has "37" instead of 39; no number of points gives 37.
    [(2, 5, 6), (4, 15, 22), (8, 39, 62), (16, 95, 158)],
)
def test_counts_of_fft(points, n_tasks, n_edges):
    graph = graph_of(points)
    rows = int(np.log2(points))
    assert (graph.n_tasks, graph.n_edges) == (n_tasks, n_edges)
    widths = [2**row for row in range(rows)] + [points] * (rows + 1)
    assert np.bincount(graph.level).tolist() == widths
    assert (len(graph.entries), len(graph.exits)) == (1, points)


@pytest.mark.parametrize("points", [2, 4, 8, 16, 32])
def test_a_transform_along_the_graph(points):
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


def test_tasks_of_a_level_cost_the_same():
    graph = graph_of(16)
    for level in range(9):
        tasks = graph.level == level
        for column in (graph.flop, graph.alpha, graph.byte):
            assert len(np.unique(column[tasks])) == 1
    assert len(np.unique(graph.alpha)) == 9
    assert graph.edge_byte.tolist() == graph.byte[graph.edges[:, 0]].tolist()


def test_costs_are_drawn_by_their_law():
    graph = fft(8, np.random.default_rng(5), costs=CostLaw("power"), name="f")
    assert graph.name == "f"
    assert np.allclose(graph.flop, (graph.byte / 8) ** 1.5, rtol=1e-12)


# What each task computes of quadrants and of other tasks; V. Strassen (1969).
EITHER = """
S1 = A11 + A22; S2 = B11 + B22; S3 = A21 + A22; S4 = B12 - B22; S5 = B21 - B11
S6 = A11 + A12; S7 = A21 - A11; S8 = B11 + B12; S9 = A12 - A22; S10 = B21 + B22
M1 = S1 @ S2; M2 = S3 @ B11; M3 = A11 @ S4; M4 = A22 @ S5; M5 = S6 @ B22; M6 = S7 @ S8
M7 = S9 @ S10; C12 = M3 + M5; C21 = M2 + M4; C11a = M1 + M4; C22a = M1 - M2
"""
FORMULAS = {
    "chain": "C11b = C11a - M5; C11 = C11b + M7; C22b = C22a + M3; C22 = C22b + M6",
    "tree": "C11b = M7 - M5; C11 = C11a + C11b; C22b = M3 + M6; C22 = C22a + C22b",
}
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "@": np.matmul,
}


def strassen_of(**parameters: Any) -> TaskGraph:
    """Return a graph."""
    return strassen(np.random.default_rng(1), **parameters)


@pytest.mark.parametrize(("sums", "widths"), [("chain", [10, 7, 4, 2, 2]), ("tree", [10, 7, 6, 2])])
def test_counts_of_strassen(sums, widths):
    graph = strassen_of(sums=sums)
    assert (graph.n_tasks, graph.n_edges) == (25, 26)
    assert np.bincount(graph.level).tolist() == widths
    assert [graph.tasks[task] for task in graph.entries] == [f"S{each}" for each in range(1, 11)]
    assert sorted(graph.tasks[task] for task in graph.exits) == ["C11", "C12", "C21", "C22"]


@pytest.mark.parametrize("sums", ["chain", "tree"])
def test_a_product_along_the_graph(sums):
    graph = strassen_of(sums=sums)
    a, b = np.random.default_rng(2).normal(size=(2, 6, 6))
    value = {
        f"{name}{row + 1}{column + 1}": matrix[3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
        for name, matrix in (("A", a), ("B", b))
        for row in (0, 1)
        for column in (0, 1)
    }
    lines = re.findall(r"(\w+) = (\w+) (.) (\w+)", EITHER + FORMULAS[sums])
    formulas = {name: formula for name, *formula in lines}
    for task in graph.order.tolist():
        left, sign, right = formulas[graph.tasks[task]]
        sources = [graph.tasks[each] for each in graph.predecessors.of(task)]
        assert sources == [each for each in (left, right) if each[0] not in "AB"]
        value[graph.tasks[task]] = OPERATIONS[sign](value[left], value[right])
    found = np.block([[value["C11"], value["C12"]], [value["C21"], value["C22"]]])
    assert np.allclose(found, a @ b)


PRODUCTS = np.array([name.startswith("M") for name in strassen_of().tasks])


def test_real_costs():
    graph = strassen_of()
    d = graph.byte[0] / 8
    assert graph.byte.tolist() == [8 * d] * 25
    assert graph.edge_byte.tolist() == [8 * d] * 26
    assert graph.flop[~PRODUCTS].tolist() == [d] * 18
    assert np.allclose(graph.flop[PRODUCTS], 2 * d**1.5, rtol=1e-12)
    assert len(np.unique(graph.alpha)) == 25


def test_scaled_additions():
    graph, real = strassen_of(counting="scaled"), strassen_of()
    factor = graph.flop[~PRODUCTS] / real.flop[~PRODUCTS]
    assert np.all((factor >= 64) & (factor <= 512))
    assert len(np.unique(factor)) == 18
    assert graph.flop[PRODUCTS].tolist() == real.flop[PRODUCTS].tolist()


def test_all_drawn():
    graph = strassen_of(counting="drawn")
    assert len(np.unique(graph.byte)) > 5
    assert graph.edge_byte.tolist() == graph.byte[graph.edges[:, 0]].tolist()
    d = graph.byte / 8
    assert np.all((graph.flop >= 64 * d) & (graph.flop <= 512 * d * np.log2(d) + d**1.5))


def test_chain():
    graph = chain(4, np.random.default_rng(1), name="c")
    assert (graph.name, graph.tasks) == ("c", ("1", "2", "3", "4"))
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.edge_byte.tolist() == graph.byte[:3].tolist()
    assert chain(1, np.random.default_rng(1)).n_edges == 0


def test_fork_join():
    graph = fork_join(3, np.random.default_rng(1), stages=2)
    assert np.bincount(graph.level).tolist() == [1, 3, 1, 3, 1]
    assert graph.n_edges == 12
    assert graph.tasks == (
        "join 0",
        *("task 1.0", "task 1.1", "task 1.2", "join 1"),
        *("task 2.0", "task 2.1", "task 2.2", "join 2"),
    )
    assert graph.successors.of(4).tolist() == [5, 6, 7]
    assert graph.predecessors.of(4).tolist() == [1, 2, 3]
