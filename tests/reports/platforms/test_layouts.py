"""Positions of graphs whose shape has a closed form."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.reports.platforms.layouts import apart, layout, parts


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


@pytest.mark.parametrize(
    ("kind", "graph"),
    [
        *(("ring", nx.cycle_graph(n)) for n in (3, 6, 25)),
        ("star", nx.star_graph(9)),
        ("row", nx.path_graph(6)),
    ],
)
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
