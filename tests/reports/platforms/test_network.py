"""Networks that are found from routes, against the networks that the routes come from."""

import itertools
import operator

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.reports.platforms.network import Line, Way, network


def ways_over(graph, terminals, *, directed):
    """Routes along shortest paths between all terminals; end 0 of a link is its smaller point."""
    ways = []
    for source, destination in itertools.permutations(terminals, 2):
        path = nx.single_source_shortest_path(graph, source)[destination]
        steps = tuple(
            (link(here, there), int(here > there) if directed else -1)
            for here, there in itertools.pairwise(path)
        )
        ways.append(Way(f"t{source}", f"t{destination}", steps))
    return ways


def link(one, other):
    return f"{min(one, other)}={max(one, other)}"


def alike(found, graph, terminals):
    """Return True if a network is a graph, up to the names of its nameless points."""
    seen, expected = nx.Graph(), nx.Graph()
    seen.add_nodes_from((i, {"name": name}) for i, name in enumerate(found.points))
    seen.add_edges_from((line.start, line.stop, {"links": line.links}) for line in found.lines)
    expected.add_nodes_from((i, {"name": f"t{i}" if i in terminals else ""}) for i in graph)
    expected.add_edges_from((*ends, {"links": (link(*ends),)}) for ends in graph.edges)
    return nx.is_isomorphic(seen, expected, node_match=operator.eq, edge_match=operator.eq)


@settings(max_examples=25)
@given(st.integers(3, 14), st.integers(0, 10**6), st.booleans())
def test_trees_between_leaves_come_back(n, seed, directed):
    graph = nx.random_labeled_tree(n, seed=seed)
    leaves = [point for point in graph if graph.degree[point] == 1]
    found = network([f"t{leaf}" for leaf in leaves], ways_over(graph, leaves, directed=directed))
    assert not found.buses
    assert len(found.points) == n
    assert alike(found, graph, leaves)


@settings(max_examples=25)
@given(st.integers(3, 12), st.floats(0.2, 1.0), st.integers(0, 10**6))
def test_graphs_of_duplex_links_come_back(n, density, seed):
    graph = nx.gnp_random_graph(n, density, seed=seed)
    rng = np.random.default_rng(seed)
    for point in range(1, n):
        graph.add_edge(int(rng.integers(point)), point)
    # Neighbours have a route of one link, others pass neighbours: all ends are known.
    found = network([f"t{i}" for i in graph], ways_over(graph, list(graph), directed=True))
    assert found.n_terminals == n == len(found.points)
    assert alike(found, graph, graph)


def test_a_link_between_more_than_two_is_a_bus():
    ways = [
        Way(a, b, ((f"l{a}", -1), ("switch", -1), (f"l{b}", -1))) for a, b in ("xy", "xz", "yz")
    ]
    found = network("xyz", ways)
    assert found.buses == {3: ("switch",)}
    assert sorted(found.lines, key=str) == [
        Line(i, 3, (f"l{name}",)) for i, name in enumerate("xyz")
    ]


def test_one_link_from_one_to_many_has_two_ends():
    found = network("gabc", [Way("g", name, (("backbone", -1),)) for name in "abc"])
    assert not found.buses
    assert set(found.lines) == {Line(0, 4, ("backbone",)), *(Line(i, 4) for i in (1, 2, 3))}


def test_a_terminal_at_both_ends_makes_a_bus():
    ways = [Way("x", "y", (("up", 0),)), Way("y", "z", (("up", 0),)), Way("x", "z", (("up", 0),))]
    assert network("xyz", ways).buses == {3: ("up",)}


@pytest.mark.parametrize(("fat", "n_lines", "n_buses"), [(True, 4, 0), (False, 5, 1)])
def test_fat_pipes_that_stand_in_for_many_cables_are_many_lines(fat, n_lines, n_buses):
    # A cycle of five and a link that joins four neighbours of it, or a bus where it is shared.
    ways = [Way(a, b, (("patch", -1),)) for a, b in ("ab", "bc", "cd", "de")]
    ways += [] if fat else [Way("a", "c", (("patch", -1),))]
    found = network("abcde", ways, lambda _: fat)
    assert len(found.lines) == n_lines
    assert len(found.buses) == n_buses


def test_a_fat_pipe_between_all_pairs_is_a_bus():
    ways = [Way(a, b, (("hub", -1),)) for a, b in ("ab", "bc", "ac")]
    assert network("abc", ways, lambda _: True).buses == {3: ("hub",)}
    # Terminals that no way leads to stay.
    assert network("ab", []).points == ("a", "b")
