from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.platforms.topologies.random_graphs import MEAN, SHAPES, random_graph

TREES = ("recursive", "preferential", "binary", "deep", "path", "star", "clusters")


def undirected(shape: str, n_hosts: int, seed: int) -> nx.Graph:
    """Return the shape as networkx sees it, refusing repeated edges and loops."""
    ends = SHAPES[shape](n_hosts, np.random.default_rng(seed))
    graph = nx.Graph(ends.tolist())
    assert graph.number_of_edges() == len(ends)
    assert nx.number_of_selfloops(graph) == 0
    return graph


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_hosts", [2, 3, 5, 12, 60])
def test_every_shape_is_connected(shape: str, n_hosts: int) -> None:
    for seed in range(4):
        graph = undirected(shape, n_hosts, seed)
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
    preferential = [max(dict(undirected("preferential", 900, s).degree).values()) for s in range(9)]
    recursive = [max(dict(undirected("recursive", 900, s).degree).values()) for s in range(9)]
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


def test_homogeneous_platforms_are_alike() -> None:
    graph = random_graph("grid", 30, np.random.default_rng(2), latency=0.01)
    assert set(graph.speed) == {MEAN}
    assert set(graph.bandwidth) == {MEAN}
    assert set(graph.latency) == {0.01}


def test_the_generator_alone_decides() -> None:
    first, again, other = (
        random_graph("recursive", 40, np.random.default_rng(seed), decades=1.0)
        for seed in (7, 7, 8)
    )
    assert np.array_equal(first.bandwidth, again.bandwidth)
    assert first.links == again.links
    assert first.links != other.links


def test_what_makes_no_sense_is_refused() -> None:
    generator = np.random.default_rng(0)
    with pytest.raises(PlatformError, match=r"no shape 'ring'; give one of recursive, "):
        random_graph("ring", 5, generator)
    with pytest.raises(PlatformError, match="number of hosts is 1; give a whole number from 2"):
        random_graph("path", 1, generator)
