"""Graphs joined into one numbering of tasks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.workloads import GraphSet, TaskGraph


def graph_called(name: str, n_tasks: int, edges: list[tuple[int, int]]) -> TaskGraph:
    """Return a graph whose numbers tell its tasks and edges apart."""
    number = np.arange(n_tasks)
    return TaskGraph(
        name,
        tuple(f"{name}{task}" for task in number),
        number + 1.0,
        number / 10,
        number + 2.0,
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        np.arange(len(edges)) + 0.5,
    )


A = graph_called("a", 3, [(0, 2), (0, 1)])
B = graph_called("b", 1, [])
C = graph_called("c", 3, [(1, 0), (0, 2), (1, 2)])


def test_numbering() -> None:
    graphs = GraphSet((A, B, C))
    assert (graphs.n_graphs, graphs.n_tasks) == (3, 7)
    assert graphs.first.tolist() == [0, 3, 4, 7]
    assert graphs.graph_of.tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert graphs.flop.tolist() == [1, 2, 3, 1, 1, 2, 3]
    assert graphs.alpha.tolist() == [0.0, 0.1, 0.2, 0.0, 0.0, 0.1, 0.2]
    assert graphs.edges.tolist() == [[0, 2], [0, 1], [5, 4], [4, 6], [5, 6]]
    assert graphs.edge_byte.tolist() == [0.5, 1.5, 0.5, 1.5, 2.5]
    assert [graphs.name_of(task) for task in (2, 3, 4)] == ["a:a2", "b:b0", "c:c0"]


def test_release_dates() -> None:
    assert GraphSet((A, B)).release.tolist() == [0.0, 0.0]
    assert GraphSet([A, B], [0, 3]).release.tolist() == [0.0, 3.0]  # type: ignore[arg-type]


@given(st.permutations([A, B, C]), st.integers(1, 3))
def test_neighbours_are_those_of_each_graph(order: list[TaskGraph], count: int) -> None:
    graphs = GraphSet(tuple(order[:count]))
    edges = graphs.edges.tolist()
    for side, neighbours in ((0, graphs.successors), (1, graphs.predecessors)):
        for task in range(graphs.n_tasks):
            expected = [at for at, edge in enumerate(edges) if edge[side] == task]
            assert neighbours.edges_of(task).tolist() == expected
            assert neighbours.of(task).tolist() == [edges[at][1 - side] for at in expected]


@pytest.mark.parametrize(
    ("graphs", "release", "message"),
    [
        ((), (), "there is no task graph"),
        ((A, B, A), (), "two graphs are called 'a'; name them apart"),
        ((A, B), (1.0,), r"release dates are \(1.0,\); give one date >= 0 for each of the 2"),
        ((A, B), (1.0, -1.0), r"release dates are \(1.0, -1.0\)"),
        ((A, B), (1.0, np.nan), r"release dates are \(1.0, nan\)"),
        ((A, B), ("soon", 1.0), r"release dates are \('soon', 1.0\)"),
    ],
)
def test_refused(graphs: tuple[TaskGraph, ...], release: tuple[float, ...], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        GraphSet(graphs, release)  # type: ignore[arg-type] # as users give it
