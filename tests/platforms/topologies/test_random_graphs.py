from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import PlatformError
from simplugin.platforms.topologies.random_graphs import (
    MEAN,
    SHAPES,
    geometric_graph,
    random_graph,
    usual_radius,
)

TREES = ("recursive", "preferential", "binary", "deep", "path", "star", "clusters")


def undirected(shape: str, n_hosts: int, seed: int) -> nx.Graph:
    """Return the shape as networkx sees it, refusing repeated edges and loops."""
    ends = SHAPES[shape](n_hosts, np.random.default_rng(seed))
    graph = nx.Graph(ends.tolist())
    assert graph.number_of_edges() == len(ends)
    assert nx.number_of_selfloops(graph) == 0
    return graph


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_connected(shape: str) -> None:
    for n_hosts in (2, 3, 5, 12, 60):
        graph = undirected(shape, n_hosts, n_hosts)
        assert sorted(graph) == list(range(n_hosts))
        assert nx.is_connected(graph)
        if shape in TREES:
            assert nx.is_tree(graph)


def test_shapes_are_what_they_are_called() -> None:
    assert nx.diameter(undirected("path", 30, 0)) == 29
    assert nx.diameter(undirected("star", 30, 0)) == 2
    assert nx.diameter(undirected("clusters", 90, 0)) == 4
    assert nx.is_isomorphic(undirected("binary", 31, 0), nx.balanced_tree(2, 4))
    assert nx.is_isomorphic(undirected("grid", 36, 0), nx.grid_2d_graph(6, 6))
    chords = undirected("small_world", 100, 0)
    assert all(chords.has_edge(i, (i + 1) % 100) for i in range(100))
    assert 130 < chords.number_of_edges() <= 150
    assert nx.diameter(chords) < 20
    # Fathers among the last three: at least a third of the hosts deep.
    depths = nx.single_source_shortest_path_length(undirected("deep", 91, 0), 0)
    assert max(depths.values()) >= 30


def test_preferential_trees_have_hubs() -> None:
    # The largest degree grows as the root of the hosts [Bollobas, Riordan 2003], not as the log.
    preferential = [max(dict(undirected("preferential", 900, s).degree).values()) for s in range(5)]
    recursive = [max(dict(undirected("recursive", 900, s).degree).values()) for s in range(5)]
    assert np.median(preferential) > 2 * np.median(recursive)


def test_capacities_spread_as_asked() -> None:
    graph = random_graph("star", 2000, np.random.default_rng(1), decades=3.0, forwarding=0.25)
    for values in (graph.speed[graph.speed > 0], graph.bandwidth):
        exponents = np.log10(values / MEAN)
        assert -1.5 <= exponents.min() < -1.45
        assert 1.45 < exponents.max() <= 1.5
        assert abs(exponents.mean()) < 0.1
    assert graph.speed[0] > 0
    # Four standard deviations of a binomial.
    assert abs((graph.speed == 0).mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2000)
    assert not np.any(graph.bandwidth[0::2] == graph.bandwidth[1::2])


def test_the_generator_alone_decides_and_without_decades_all_are_alike() -> None:
    first, again, other = (
        random_graph("recursive", 40, np.random.default_rng(seed), latency=0.01)
        for seed in (7, 7, 8)
    )
    assert first.links == again.links
    assert first.links != other.links
    assert (set(first.speed), set(first.bandwidth), set(first.latency)) == ({MEAN}, {MEAN}, {0.01})


def test_what_makes_no_sense_is_refused() -> None:
    generator = np.random.default_rng(0)
    with pytest.raises(PlatformError, match=r"no shape 'ring'; give one of recursive, "):
        random_graph("ring", 5, generator)
    with pytest.raises(PlatformError, match="number of hosts is 1; give a whole number from 2"):
        random_graph("path", 1, generator)


@given(st.integers(2, 25), st.integers(0, 2**32), st.floats(0, 0.6))
@settings(max_examples=30)
def test_near_hosts_are_neighbours_and_parts_are_joined_cheaply(n_hosts, seed, radius) -> None:
    made = geometric_graph(n_hosts, np.random.default_rng(seed), radius)
    assert np.all((made.position >= 0) & (made.position < 1))
    pairs = itertools.combinations(range(n_hosts), 2)
    away = {pair: math.dist(*made.position[list(pair)]) for pair in pairs}
    near = {pair for pair, distance in away.items() if distance <= radius}
    edges = list(map(tuple, made.edges.tolist()))
    assert edges == sorted(set(edges))
    assert near <= set(edges)
    assert made.length.tolist() == pytest.approx([away[edge] for edge in edges])
    # Kruskal's algorithm on all pairs, those that are near taken first for nothing.
    complete = nx.Graph()
    complete.add_nodes_from(range(n_hosts))
    complete.add_weighted_edges_from((*pair, away[pair]) for pair in away)
    apart = nx.Graph(sorted(near))
    apart.add_nodes_from(range(n_hosts))
    parts = nx.number_connected_components(apart)
    assert len(edges) - len(near) == parts - 1
    spanning = nx.minimum_spanning_tree(complete)
    bridges = {tuple(sorted(edge)) for edge in spanning.edges} - near
    # The edges of a minimum spanning tree that are not near join the parts.
    assert set(edges) - near == bridges
    assert nx.is_connected(nx.Graph(edges))


def test_the_usual_radius_leaves_one_part_in_most_draws() -> None:
    for n_hosts in (10, 1000):
        wanted = 2 * math.log(n_hosts) / n_hosts
        assert math.pi * usual_radius(n_hosts) ** 2 == pytest.approx(wanted)
    assert usual_radius(1) > 0
    made = [geometric_graph(400, np.random.default_rng(seed)) for seed in range(9)]
    assert sum(bool(np.all(each.length <= usual_radius(400))) for each in made) > 4
