"""Graphs joined into one numbering of tasks, and applications that make no sense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.workloads import Application, Bags, GraphSet, TaskGraph


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


def test_numbering():
    graphs = GraphSet((A, B, C))
    assert (graphs.n_graphs, graphs.n_tasks) == (3, 7)
    assert graphs.first.tolist() == [0, 3, 4, 7]
    assert graphs.graph_of.tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert graphs.flop.tolist() == [1, 2, 3, 1, 1, 2, 3]
    assert graphs.alpha.tolist() == [0.0, 0.1, 0.2, 0.0, 0.0, 0.1, 0.2]
    assert graphs.edges.tolist() == [[0, 2], [0, 1], [5, 4], [4, 6], [5, 6]]
    assert graphs.edge_byte.tolist() == [0.5, 1.5, 0.5, 1.5, 2.5]
    assert [graphs.name_of(task) for task in (2, 3, 4)] == ["a:a2", "b:b0", "c:c0"]


def test_release_dates():
    assert GraphSet((A, B)).release.tolist() == [0.0, 0.0]
    assert GraphSet([A, B], [0, 3]).release.tolist() == [0.0, 3.0]  # type: ignore[arg-type]


@given(st.permutations([A, B, C]), st.integers(1, 3))
def test_neighbours_are_those_of_each_graph(order, count):
    graphs = GraphSet(tuple(order[:count]))
    edges = graphs.edges.tolist()
    for side, neighbours in ((0, graphs.successors), (1, graphs.predecessors)):
        for task in range(graphs.n_tasks):
            expected = [at for at, edge in enumerate(edges) if edge[side] == task]
            assert neighbours.edges_of(task).tolist() == expected
            assert neighbours.of(task).tolist() == [edges[at][1 - side] for at in expected]


REFUSED = [
    ((), (), ""),
    ((A, B, A), (), "'a'"),
    ((A, B), (1.0,), "(1.0,)"),
    ((A, B), (1.0, -1.0), "(1.0, -1.0)"),
    ((A, B), (1.0, np.nan), "(1.0, nan)"),
    ((A, B), ("soon", 1.0), "[0] 'soon'"),
]


@pytest.mark.parametrize(("graphs", "release", "named"), REFUSED)
def test_refused(graphs, release, named):
    with raises_naming(WorkloadError, *named.split()):
        GraphSet(graphs, release)  # type: ignore[arg-type] # as users give it


def test_hosts_are_names_and_no_text():
    with raises_naming(WorkloadError, "hosts", "'k'", "'h1'"):
        Application("k", "h0", 1.0, 1.0, hosts="h1")  # type: ignore[arg-type]
    assert Application("k", "h0", 1.0, 1.0, hosts=["h1"]).hosts == ("h1",)  # type: ignore[arg-type]


def test_scalars_stand_for_all_applications():
    bags = Bags(("a", "b"), 2.0, [4.0, 1.0], 1, 200)
    assert bags.flop.tolist() == [2.0, 2.0]
    assert bags.count.tolist() == [200, 200]
    assert bags.ratio.tolist() == [2.0, 0.5]
    assert bags.n_applications == 2


def test_of_applications():
    applications = [Application("a", "m", 1e9, 0.0), Application("b", "m", 2e9, 5.0, 3.0, count=7)]
    bags = Bags.of(applications, 50)
    assert bags.names == ("a", "b")
    assert bags.count.tolist() == [50, 7]
    assert bags.weight.tolist() == [1.0, 3.0]
    assert bags.byte.tolist() == [0.0, 5.0]


SENSELESS_APPLICATIONS = [
    ("flop", [1.0, 0.0], "b"),
    ("byte", [-1.0, 0.0], "a"),
    ("weight", [np.inf, 1.0], "a"),
    ("count", [3, 0], "b"),
    ("count", [2.5, 1], "a"),
]


@pytest.mark.parametrize(("field", "value", "application"), SENSELESS_APPLICATIONS)
def test_applications_that_make_no_sense_are_refused(field, value, application):
    fields = {"flop": 1.0, "byte": 1.0, "weight": 1.0, "count": 1} | {field: value}
    with raises_naming(WorkloadError, field) as raised:
        Bags(("a", "b"), **fields)
    assert raised.value.application == application


def test_names():
    with raises_naming(WorkloadError, "'a'"):
        Bags(("a", "a"), 1.0, 1.0, 1.0, 1)
    with pytest.raises(WorkloadError):
        Bags((), 1.0, 1.0, 1.0, 1)


IMPOSSIBLE_APPLICATIONS = [
    (Application("b", "n", 1.0, 1.0), "'n' 'm'"),
    (Application("b", "m", 1.0, 1.0, start=1.0), "end"),
]


@pytest.mark.parametrize(("other", "named"), IMPOSSIBLE_APPLICATIONS)
def test_applications_that_no_tree_can_have(other, named):
    with raises_naming(WorkloadError, *named.split()) as raised:
        Bags.of([Application("a", "m", 1.0, 1.0), other], 5)
    assert raised.value.application == "b"


def test_hosts_that_may_compute():
    plain, some = Application("a", "m", 1.0, 1.0), Application("b", "m", 1.0, 1.0, hosts=("m", "n"))
    assert Bags.of([plain], 5).hosts is None
    bags = Bags.of([plain, some], 5)
    assert bags.hosts == (None, ("m", "n"))
    assert bags.allowed(["n", "o", "m"], np.ones(3)).tolist() == [
        [True, True],
        [True, False],
        [True, True],
    ]
    assert bags.may_compute("o") == [True, False]
    assert Bags(("a", "b"), 1, 1, 1, 1, {"b": ["m"]}).hosts == (None, ("m",))
    for hosts, named in (({"c": ["m"]}, "'c'"), ([["m"]], "[['m']]")):
        with raises_naming(WorkloadError, named):
            Bags(("a", "b"), 1, 1, 1, 1, hosts)
