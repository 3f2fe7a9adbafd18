"""Networks that are found from routes, and positions of graphs with a closed form."""

import itertools
import operator

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.reports.platforms.layouts import apart, layout, parts
from simplugin.reports.platforms.network import Connection, Way, network


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
        Connection(i, 3, (f"l{name}",)) for i, name in enumerate("xyz")
    ]


def test_links_that_all_ways_cross_together_are_one_bus():
    pairs = [(a, b) for a, b in ("xy", "xz", "yz")]
    chain = (("up", -1), ("switch", -1), ("down", -1))
    for reverse in (False, True):
        ways = [Way(a, b, chain) for a, b in pairs]
        ways += [Way(b, a, chain[::-1]) for a, b in pairs] if reverse else []
        found = network("xyz", ways)
        assert found.buses == {3: ("up", "switch", "down")}
        assert set(found.lines) == {Connection(i, 3) for i in range(3)}
    # In a row between two sides they stay lines.
    found = network("xy", [Way("x", "y", chain)])
    assert not found.buses
    assert len(found.lines) == 3


def test_one_link_from_one_to_many_has_two_ends():
    found = network("gabc", [Way("g", name, (("backbone", -1),)) for name in "abc"])
    assert not found.buses
    assert set(found.lines) == {
        Connection(0, 4, ("backbone",)),
        *(Connection(i, 4) for i in (1, 2, 3)),
    }


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


def laid(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    return layout(len(graph), list(graph.edges)), graph


def lengths(spots, graph):
    ends = np.array(graph.edges)
    return np.hypot(*(spots[ends[:, 0]] - spots[ends[:, 1]]).T)


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 7), (6, 4), (5, 9)])
@pytest.mark.parametrize("seed", range(4))
def test_grids_are_drawn_as_grids(rows, columns, seed):
    graph = nx.grid_2d_graph(rows, columns)
    order = np.random.default_rng(seed).permutation(rows * columns).tolist()
    graph = nx.relabel_nodes(graph, dict(zip(graph, order, strict=True)))
    found = layout(rows * columns, list(graph.edges))
    assert found.kind == "grid"
    np.testing.assert_allclose(lengths(found.spots, graph), 1.0)
    assert sorted(np.ptp(found.spots, axis=0) + 1) == sorted((rows, columns))


def test_a_torus_or_a_grid_with_another_edge_is_no_grid():
    assert laid(nx.grid_2d_graph(4, 5, periodic=True))[0].kind == "free"
    graph = nx.grid_2d_graph(4, 5)
    graph.add_edge((1, 1), (2, 2))
    assert laid(graph)[0].kind == "free"


OF_ONE_LENGTH = [
    *(("ring", nx.cycle_graph(n)) for n in (3, 6, 25)),
    ("star", nx.star_graph(9)),
    ("row", nx.path_graph(6)),
]


@pytest.mark.parametrize(("kind", "graph"), OF_ONE_LENGTH)
def test_rings_stars_and_paths_have_edges_of_one_length(kind, graph):
    found, graph = laid(graph)
    assert found.kind == kind
    known = lengths(found.spots, graph)
    np.testing.assert_allclose(known, known[0] if kind == "star" else 1.0)
    radius = np.hypot(*found.spots.T)
    assert kind != "ring" or radius == pytest.approx(radius[0])


@settings(max_examples=25)
@given(st.integers(5, 25), st.integers(0, 10**6))
def test_trees_have_the_first_at_the_top_and_no_crossing(n, seed):
    graph = nx.random_labeled_tree(n, seed=seed)
    if max(dict(graph.degree).values()) in (2, n - 1):
        return
    found = layout(n, list(graph.edges))
    assert found.kind == "tree"
    depth = nx.single_source_shortest_path_length(graph, 0)
    assert found.spots[:, 1].tolist() == [depth[i] for i in range(n)]
    # Between two levels, lines that start further left end further left.
    lines = [sorted(edge, key=depth.get) for edge in graph.edges]
    for (a, b), (c, d) in itertools.permutations(lines, 2):
        if depth[a] == depth[c] and found.spots[a, 0] < found.spots[c, 0]:
            assert found.spots[b, 0] < found.spots[d, 0]


@settings(max_examples=25)
@given(st.integers(2, 40), st.integers(0, 10**6))
def test_boxes_are_moved_until_none_overlaps(n, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.2, 3.0, (n, 2))
    spots = apart(rng.uniform(0, 2, (n, 2)), sizes, 0.1)
    one, other = np.triu_indices(n, 1)
    gaps = np.abs(spots[one] - spots[other]) - (sizes[one] + sizes[other]) / 2
    assert gaps.max(axis=1).min() > 0.1 - 1e-6


def test_parts_are_the_connected_components():
    graph = nx.gnp_random_graph(60, 0.03, seed=4)
    components = map(sorted, nx.connected_components(graph))
    expected = sorted(components, key=lambda part: (-len(part), part[0]))
    assert parts(60, list(graph.edges)) == expected
