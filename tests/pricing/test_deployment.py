from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.workloads import Application, Sharing

# A square a-b-d-c with a tail d-e.
SQUARE_ENDS = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4]])
SQUARE = Graph.duplex(
    "abcde",
    np.array([1e9, 2e9, 0.0, 3e9, 4e9]),
    SQUARE_ENDS,
    np.full(5, 1e6),
)
FROM_A = Application("left", "a", flop=1e6, byte=10)
FROM_E = Application("right", "e", flop=2e6, byte=20, weight=3)


def arcs(graph: Graph, sharing: Sharing, application: int) -> list[tuple[str, str]]:
    """Return from where to where an application's data go, in the order of its agents."""
    found = []
    for agent in np.flatnonzero((sharing.application == application) & (sharing.father >= 0)):
        ends = sharing.host[sharing.father[agent]], sharing.host[agent]
        link = sharing.link[agent]
        assert (graph.source[link], graph.destination[link]) == ends
        found.append((graph.hosts[ends[0]], graph.hosts[ends[1]]))
    return found


@st.composite
def deployments(draw: st.DrawFn) -> tuple[Graph, Sharing, list[int]]:
    """Graphs, connected or not, some of whose links carry nothing, and applications on them."""
    n = draw(st.integers(1, 9))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    ends = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    each = st.lists(st.sampled_from([0.0, 1e6]), min_size=2 * len(ends), max_size=2 * len(ends))
    graph = Graph.duplex(
        [f"h{i}" for i in range(n)],
        np.ones(n),
        np.array(ends, dtype=np.int64),
        np.array(draw(each)).reshape(-1, 2),
    )
    masters = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))
    applications = [Application(f"a{k}", f"h{m}", 1, 1) for k, m in enumerate(masters)]
    return graph, deploy(graph, applications), masters


def test_an_application_goes_breadth_first_from_its_master() -> None:
    sharing = deploy(SQUARE, [FROM_A, FROM_E])
    assert arcs(SQUARE, sharing, 0) == [("a", "b"), ("a", "c"), ("b", "d"), ("d", "e")]
    assert arcs(SQUARE, sharing, 1) == [("e", "d"), ("d", "b"), ("d", "c"), ("b", "a")]
    assert sharing.depth.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    assert sharing.application.tolist() == [0, 1, 0, 0, 1, 0, 1, 1, 0, 1]
    assert sharing.flop.tolist() == [1e6, 2e6]
    assert sharing.byte.tolist() == [10, 20]
    assert sharing.weight.tolist() == [1, 3]


def test_an_application_computes_where_it_may_and_a_host_can() -> None:
    restricted = Application("left", "a", 1e6, 10, hosts=("c", "d"))
    sharing = deploy(SQUARE, [restricted, FROM_E])
    computing = {
        (int(k), SQUARE.hosts[host])
        for k, host in zip(
            sharing.application[sharing.computes], sharing.host[sharing.computes], strict=True
        )
    }
    # Host c only forwards; the second application may go anywhere.
    assert computing == {(0, "d"), (1, "a"), (1, "b"), (1, "d"), (1, "e")}


def test_a_tree_that_is_given_is_taken() -> None:
    tree = {"c": "a", "d": "c", "b": "d"}
    sharing = deploy(SQUARE, [FROM_A, FROM_E], {"left": tree})
    assert arcs(SQUARE, sharing, 0) == [("a", "c"), ("c", "d"), ("d", "b")]
    assert arcs(SQUARE, sharing, 1) == [("e", "d"), ("d", "b"), ("d", "c"), ("b", "a")]


def test_a_link_without_bandwidth_is_avoided() -> None:
    bandwidth = np.full((5, 2), 1e6)
    bandwidth[0, 0] = 0.0
    graph = Graph.duplex("abcde", SQUARE.speed, SQUARE_ENDS, bandwidth)
    sharing = deploy(graph, [FROM_A, FROM_E])
    assert arcs(graph, sharing, 0) == [("a", "c"), ("c", "d"), ("d", "b"), ("d", "e")]
    assert arcs(graph, sharing, 1)[-1] == ("b", "a")


@given(deployments())
def test_routes_are_shortest(case: tuple[Graph, Sharing, list[int]]) -> None:
    graph, sharing, masters = case
    usable = nx.DiGraph()
    usable.add_nodes_from(range(graph.n_hosts))
    usable.add_edges_from(
        (int(graph.source[i]), int(graph.destination[i]))
        for i in np.flatnonzero(graph.bandwidth > 0)
    )
    for k, master in enumerate(masters):
        mine = sharing.application == k
        found = dict(zip(sharing.host[mine].tolist(), sharing.depth[mine].tolist(), strict=True))
        assert found == nx.single_source_shortest_path_length(usable, master)
        assert len(arcs(graph, sharing, k)) == mine.sum() - 1
    # Sons of one father are neighbours: a father does not come back.
    runs = sharing.father[np.flatnonzero(np.diff(sharing.father, prepend=-2))]
    sons = runs[runs >= 0]
    assert len(np.unique(sons)) == len(sons)


@pytest.mark.parametrize(
    ("applications", "trees", "message"),
    [
        ([], None, "there is no application"),
        ([FROM_A, FROM_A], None, "two applications are called 'left'"),
        ([FROM_A], {"up": {}}, "a tree for 'up', which is no application"),
        ([replace(FROM_A, master="z")], None, "'left': its master 'z' is no host of the platform"),
        ([replace(FROM_A, hosts=("a", "y"))], None, "'left': its host 'y' is no host of"),
        ([FROM_A], {"left": {"x": "a"}}, "'left': its tree's host 'x' is no host of"),
        ([FROM_A], {"left": {"d": "a"}}, "'left': its tree goes from 'a' to 'd', which no link"),
        ([FROM_A], {"left": {"a": "b"}}, "'left': its tree gives its master 'a' a father"),
        ([FROM_A], {"left": {"b": "a", "e": "d"}}, "'left': its tree does not join 'e' to"),
    ],
)
def test_what_cannot_be_deployed_is_refused(
    applications: list[Application], trees: dict[str, dict[str, str]] | None, message: str
) -> None:
    with pytest.raises(WorkloadError, match=message):
        deploy(SQUARE, applications, trees)
