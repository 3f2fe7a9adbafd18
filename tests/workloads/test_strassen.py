"""Strassen's graph: counts, and a product of matrices that follows the graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simplugin.workloads import TaskGraph
from simplugin.workloads.regular_graphs import strassen

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


def graph_of(**parameters: Any) -> TaskGraph:
    """Return a graph."""
    return strassen(np.random.default_rng(1), **parameters)


@pytest.mark.parametrize(("sums", "widths"), [("chain", [10, 7, 4, 2, 2]), ("tree", [10, 7, 6, 2])])
def test_counts(sums: str, widths: list[int]) -> None:
    graph = graph_of(sums=sums)
    assert (graph.n_tasks, graph.n_edges) == (25, 26)
    assert np.bincount(graph.level).tolist() == widths
    assert [graph.tasks[task] for task in graph.entries] == [f"S{each}" for each in range(1, 11)]
    assert sorted(graph.tasks[task] for task in graph.exits) == ["C11", "C12", "C21", "C22"]


@pytest.mark.parametrize("sums", ["chain", "tree"])
def test_a_product_along_the_graph(sums: str) -> None:
    graph = graph_of(sums=sums)
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


PRODUCTS = np.array([name.startswith("M") for name in graph_of().tasks])


def test_real_costs() -> None:
    graph = graph_of()
    d = graph.byte[0] / 8
    assert graph.byte.tolist() == [8 * d] * 25
    assert graph.edge_byte.tolist() == [8 * d] * 26
    assert graph.flop[~PRODUCTS].tolist() == [d] * 18
    assert np.allclose(graph.flop[PRODUCTS], 2 * d**1.5, rtol=1e-12)
    assert len(np.unique(graph.alpha)) == 25


def test_scaled_additions() -> None:
    graph, real = graph_of(counting="scaled"), graph_of()
    factor = graph.flop[~PRODUCTS] / real.flop[~PRODUCTS]
    assert np.all((factor >= 64) & (factor <= 512))
    assert len(np.unique(factor)) == 18
    assert graph.flop[PRODUCTS].tolist() == real.flop[PRODUCTS].tolist()


def test_all_drawn() -> None:
    graph = graph_of(counting="drawn")
    assert len(np.unique(graph.byte)) > 5
    assert graph.edge_byte.tolist() == graph.byte[graph.edges[:, 0]].tolist()
    d = graph.byte / 8
    assert np.all((graph.flop >= 64 * d) & (graph.flop <= 512 * d * np.log2(d) + d**1.5))
