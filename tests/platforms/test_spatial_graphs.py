from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.platforms.topologies.random_graphs import geometric_graph, usual_radius


@given(st.integers(2, 25), st.integers(0, 2**32), st.floats(0, 0.6))
@settings(max_examples=60)
def test_near_hosts_are_neighbours_and_parts_are_joined_cheaply(n_hosts, seed, radius) -> None:
    made = geometric_graph(n_hosts, np.random.default_rng(seed), radius)
    assert np.all((made.position >= 0) & (made.position < 1))
    away = {
        pair: math.dist(*made.position[list(pair)])
        for pair in itertools.combinations(range(n_hosts), 2)
    }
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
    made = [geometric_graph(400, np.random.default_rng(seed)) for seed in range(20)]
    assert sum(bool(np.all(each.length <= usual_radius(400))) for each in made) > 10


def test_radius_is_that_of_the_theorem() -> None:
    for n_hosts in (10, 1000):
        assert math.pi * usual_radius(n_hosts) ** 2 == pytest.approx(
            2 * math.log(n_hosts) / n_hosts
        )
    assert usual_radius(1) > 0
