from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.formats.platform_xml import platform_text
from simplugin.platforms.graphs import GRAPH_ROUTINGS, Graph
from simplugin.platforms.laws import Law
from simplugin.platforms.topologies import shapes
from simplugin.platforms.topologies.shapes import Capacities
from simplugin.simulation.resolve import resolve

EVERY = 10**9
JOINING = [routing for routing in GRAPH_ROUTINGS if routing != "Full"]


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def seen(graph: Graph) -> nx.Graph:
    """Return the graph as networkx has it; each link must have one back."""
    directed = nx.DiGraph(zip(graph.source.tolist(), graph.destination.tolist(), strict=True))
    directed.add_nodes_from(range(graph.n_hosts))
    assert all(directed.has_edge(b, a) for a, b in directed.edges)
    return directed.to_undirected()


MADE = {
    "chain": lambda g, c: shapes.chain(9, g, c),
    "ring": lambda g, c: shapes.ring(8, g, c),
    "grid": lambda g, c: shapes.grid(3, 4, g, c),
    "complete_tree": lambda g, c: shapes.complete_tree(3, 2, g, c),
    "random_geometric": lambda g, c: shapes.random_geometric(20, g, c),
    "preferential_attachment": lambda g, c: shapes.preferential_attachment(20, g, c),
    "small_world": lambda g, c: shapes.small_world(20, g, c),
}


@pytest.mark.parametrize(
    ("graph", "same"),
    [
        (shapes.chain(17, draws()), nx.path_graph(17)),
        (shapes.ring(3, draws()), nx.cycle_graph(3)),
        (shapes.ring(17, draws()), nx.cycle_graph(17)),
        (shapes.grid(4, 7, draws()), nx.grid_2d_graph(4, 7)),
        (shapes.grid(1, 5, draws()), nx.path_graph(5)),
        (shapes.complete_tree(3, 3, draws()), nx.balanced_tree(3, 3)),
        (shapes.complete_tree(1, 4, draws()), nx.path_graph(5)),
        (shapes.small_world(20, draws(), rewired=0.0), nx.circulant_graph(20, [1, 2])),
    ],
)
def test_shapes_are_those_of_networkx(graph: Graph, same: nx.Graph) -> None:
    assert nx.is_isomorphic(seen(graph), same)


def test_random_shapes_have_their_numbers_of_links() -> None:
    for links in (1, 2, 5):
        hubs = seen(shapes.preferential_attachment(60, draws(links), links=links))
        assert hubs.number_of_edges() == links * (60 - links)
        assert nx.is_connected(hubs)
    small = [seen(shapes.small_world(200, draws(3), rewired=p)) for p in (0.0, 0.2)]
    assert [each.number_of_edges() for each in small] == [400, 400]
    # Each hop of the ring leads two hosts further at most; a few others make it small.
    assert nx.diameter(small[0]) == 50
    assert nx.diameter(small[1]) < 20
    for seed in range(10):
        for radius in (None, 0.05):
            assert nx.is_connected(seen(shapes.random_geometric(30, draws(seed), radius=radius)))


@pytest.mark.parametrize(
    ("name", "routing"), [(name, JOINING[at % len(JOINING)]) for at, name in enumerate(MADE)]
)
def test_all_hosts_reach_each_other_by_shortest_ways(name: str, routing: str) -> None:
    graph = MADE[name](draws(5), Capacities(latency=1e-3))
    resolved = resolve(graph.platform(routing), EVERY)
    assert len(resolved.routes) == graph.n_hosts * (graph.n_hosts - 1)
    index = {host: number for number, host in enumerate(graph.hosts)}
    hops = dict(nx.all_pairs_shortest_path_length(seen(graph)))
    for route in resolved.routes:
        assert len(route.links) == hops[index[route.source]][index[route.destination]]
        assert route.latency == pytest.approx(len(route.links) * 1e-3)
        # Each link starts where the one before ends.
        starts, stops = zip(*(link.split("->") for link in route.links), strict=True)
        assert (route.source, *stops) == (*starts, route.destination)


def test_full_routing_joins_neighbours_only() -> None:
    resolved = resolve(shapes.chain(4, draws()).platform("Full"), EVERY)
    assert {len(route.links) for route in resolved.routes} == {1}
    assert len(resolved.routes) == 6


@pytest.mark.parametrize("name", MADE)
def test_laws_are_kept_to_and_do_not_change_the_shape(name: str) -> None:
    drawn = Capacities(
        Law("uniform", (1e9, 2e9)), Law("log-uniform", (1e6, 1e8)), Law("uniform", (1e-3, 1e-2))
    )
    plain, uneven = (MADE[name](draws(6), capacities) for capacities in (Capacities(), drawn))
    assert plain.links == uneven.links
    assert set(plain.speed) == {1e9}
    assert len(set(uneven.speed)) == uneven.n_hosts
    assert 1e9 <= uneven.speed.min() < uneven.speed.max() <= 2e9
    assert 1e6 <= uneven.bandwidth.min() < uneven.bandwidth.max() <= 1e8
    assert 1e-3 <= uneven.latency.min() < uneven.latency.max() <= 1e-2
    # Both directions of an edge are alike.
    width = dict(zip(uneven.links, uneven.bandwidth.tolist(), strict=True))
    assert all(width["->".join(link.split("->")[::-1])] == width[link] for link in width)


@pytest.mark.parametrize("name", MADE)
def test_the_seed_alone_decides(name: str) -> None:
    drawn = Capacities(speed=Law("uniform", (1e9, 2e9)))
    one, two, other = (MADE[name](draws(seed), drawn) for seed in (1, 1, 2))
    text = platform_text(one.platform("Floyd"))
    assert text == platform_text(two.platform("Floyd"))
    assert text != platform_text(other.platform("Floyd"))


def test_links_take_longer_the_longer_they_are() -> None:
    late = Capacities(latency=1e-3)
    graph = shapes.random_geometric(25, draws(8), late, radius=0.3, side_latency=0.02)
    place = np.random.default_rng(8).random((25, 2))
    length = np.sqrt(((place[graph.source] - place[graph.destination]) ** 2).sum(axis=1))
    assert graph.latency == pytest.approx(1e-3 + 0.02 * length)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g: shapes.chain(1, g), "number of hosts is 1; give a whole number from 2 on"),
        (lambda g: shapes.ring(2, g), "hosts of a ring is 2; give a whole number from 3 on"),
        (lambda g: shapes.grid(0, 4, g), "number of rows is 0"),
        (lambda g: shapes.grid(1, 1, g), "hosts of a grid is 1"),
        (lambda g: shapes.complete_tree(0, 4, g), "number of children is 0"),
        (lambda g: shapes.complete_tree(2, 0, g), "depth of a tree is 0"),
        (lambda g: shapes.complete_tree(10, 1000, g), "is too large; give less"),
        (lambda g: shapes.random_geometric(9, g, radius=-1.0), r"the radius is -1\.0"),
        (lambda g: shapes.random_geometric(9, g, side_latency=-1.0), "latency over a side"),
        (lambda g: shapes.preferential_attachment(5, g, links=5), "give 1 to 4 links"),
        (lambda g: shapes.small_world(9, g, neighbours=3), "give an even number"),
        (lambda g: shapes.small_world(4, g, neighbours=4), "give an even number"),
        (lambda g: shapes.small_world(9, g, rewired=1.5), "give a number from 0 to 1"),
        (lambda g: shapes.chain(3, g, Capacities(speed=0.0)), "the speed of hosts is 0"),
        (lambda g: shapes.chain(3, g, Capacities(bandwidth=np.inf)), "bandwidth of links is"),
        (lambda g: shapes.chain(3, g, Capacities(latency=-1.0)), "latency of links is -1"),
    ],
)
def test_invalid_shapes_are_refused(make, message) -> None:
    with pytest.raises(PlatformError, match=message):
        make(draws())


def test_small_worlds_that_fall_apart_are_refused(monkeypatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise nx.NetworkXError("Maximum number of tries exceeded")

    monkeypatch.setattr(nx, "connected_watts_strogatz_graph", never)
    with pytest.raises(PlatformError, match=r"tries exceeded; give more neighbours"):
        shapes.small_world(9, draws())
