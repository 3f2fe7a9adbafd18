from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from simplugin.bags.trees import tree_of
from simplugin.errors import PlatformError
from simplugin.formats.platform_xml import platform_text
from simplugin.platforms.graphs import GRAPH_ROUTINGS, Graph
from simplugin.platforms.laws import Law
from simplugin.platforms.topologies import shapes
from simplugin.platforms.topologies.shapes import Capacities
from simplugin.pricing.deployment import sharing_of
from simplugin.simulation.resolve import resolve
from simplugin.workloads.applications import Application

EVERY = 10**9
JOINING = [routing for routing in GRAPH_ROUTINGS if routing != "Full"]
LATE = Capacities(latency=1e-3)


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
    "ring": lambda g, c: shapes.ring(9, g, c),
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
        (shapes.ring(17, draws()), nx.cycle_graph(17)),
        (shapes.ring(3, draws()), nx.cycle_graph(3)),
        (shapes.grid(4, 7, draws()), nx.grid_2d_graph(4, 7)),
        (shapes.grid(1, 5, draws()), nx.path_graph(5)),
        (shapes.complete_tree(2, 4, draws()), nx.balanced_tree(2, 4)),
        (shapes.complete_tree(3, 3, draws()), nx.balanced_tree(3, 3)),
        (shapes.complete_tree(1, 4, draws()), nx.path_graph(5)),
        (shapes.small_world(20, draws(), rewired=0.0), nx.circulant_graph(20, [1, 2])),
    ],
)
def test_shapes_are_those_of_networkx(graph: Graph, same: nx.Graph) -> None:
    assert nx.is_isomorphic(seen(graph), same)


def test_numbers_of_links_and_diameters() -> None:
    grid = seen(shapes.grid(5, 8, draws()))
    assert grid.number_of_edges() == 5 * 7 + 8 * 4
    assert nx.diameter(grid) == 4 + 7
    assert nx.diameter(seen(shapes.ring(12, draws()))) == 6
    tree = seen(shapes.complete_tree(4, 3, draws()))
    assert len(tree) == (4**4 - 1) // 3
    assert nx.diameter(tree) == 6
    for links in (1, 2, 5):
        hubs = seen(shapes.preferential_attachment(60, draws(links), links=links))
        assert hubs.number_of_edges() == links * (60 - links)
        assert nx.is_connected(hubs)
    small = [seen(shapes.small_world(200, draws(3), rewired=p)) for p in (0.0, 0.2)]
    assert [each.number_of_edges() for each in small] == [400, 400]
    # Each hop of the ring leads two hosts further at most; a few others make it small.
    assert nx.diameter(small[0]) == 50
    assert nx.diameter(small[1]) < 20


@pytest.mark.parametrize("seed", range(50))
def test_geometric_graphs_are_connected(seed: int) -> None:
    for radius in (None, 0.05):
        graph = shapes.random_geometric(30, draws(seed), radius=radius)
        assert nx.is_connected(seen(graph))


@pytest.mark.parametrize("routing", JOINING)
def test_simgrid_takes_a_shortest_way_of_a_grid(routing: str) -> None:
    rows, columns = 4, 5
    platform = shapes.grid(rows, columns, draws(), LATE).platform(routing)
    resolved = resolve(platform, EVERY)
    assert not resolved.unreachable
    assert len(resolved.routes) == 20 * 19
    for route in resolved.routes:
        ends = [list(map(int, name[1:].split("-"))) for name in (route.source, route.destination)]
        distance = sum(abs(a - b) for a, b in zip(*ends, strict=True))
        assert len(route.links) == distance
        assert route.latency == pytest.approx(distance * 1e-3)
        # Each link starts where the one before ends.
        steps = [link.split("->") for link in route.links]
        assert [route.source, *(step[1] for step in steps)] == [
            *(step[0] for step in steps),
            route.destination,
        ]


@pytest.mark.parametrize("routing", JOINING)
@pytest.mark.parametrize("n_hosts", [7, 8])
def test_simgrid_takes_the_shorter_way_round(routing: str, n_hosts: int) -> None:
    resolved = resolve(shapes.ring(n_hosts, draws(), LATE).platform(routing), EVERY)
    assert len(resolved.routes) == n_hosts * (n_hosts - 1)
    for route in resolved.routes:
        apart = abs(int(route.source[1:]) - int(route.destination[1:]))
        assert len(route.links) == min(apart, n_hosts - apart)


def test_simgrid_counts_links_not_latencies() -> None:
    ends = np.array([[0, 1], [1, 2], [0, 2]])
    late = np.array([1e-3, 1e-3, 5.0])
    triangle = Graph.duplex("abc", np.ones(3), ends, np.ones(3), late)
    for routing in JOINING:
        [route] = resolve(triangle.platform(routing), [("a", "c")]).routes
        assert route.links == ("a->c",)


def test_full_routing_joins_neighbours_only() -> None:
    resolved = resolve(shapes.chain(4, draws()).platform("Full"), EVERY)
    assert {len(route.links) for route in resolved.routes} == {1}
    assert len(resolved.routes) == 6


@pytest.mark.parametrize("name", MADE)
def test_all_hosts_reach_each_other_by_shortest_ways(name: str) -> None:
    graph = MADE[name](draws(5), Capacities())
    resolved = resolve(graph.platform("DijkstraCache"), EVERY)
    assert len(resolved.routes) == graph.n_hosts * (graph.n_hosts - 1)
    index = {host: number for number, host in enumerate(graph.hosts)}
    hops = dict(nx.all_pairs_shortest_path_length(seen(graph)))
    for route in resolved.routes:
        assert len(route.links) == hops[index[route.source]][index[route.destination]]


@pytest.mark.parametrize("name", MADE)
def test_laws_are_kept_to_and_do_not_change_the_shape(name: str) -> None:
    drawn = Capacities(
        Law("uniform", (1e9, 2e9)), Law("log-uniform", (1e6, 1e8)), Law("uniform", (1e-3, 1e-2))
    )
    plain, uneven = (MADE[name](draws(6), capacities) for capacities in (Capacities(), drawn))
    assert plain.links == uneven.links
    assert set(plain.speed) == {1e9}
    assert len(set(uneven.speed)) == uneven.n_hosts
    for values, low, high in (
        (uneven.speed, 1e9, 2e9),
        (uneven.bandwidth, 1e6, 1e8),
        (uneven.latency, 1e-3, 1e-2),
    ):
        assert low <= values.min() < values.max() <= high
    # Both directions of an edge are alike.
    width = dict(zip(uneven.links, uneven.bandwidth.tolist(), strict=True))
    assert all(width["->".join(link.split("->")[::-1])] == width[link] for link in width)


def test_laws_have_their_means() -> None:
    drawn = Capacities(Law("lognormal", (3e9, 0.5)), Law("exponential", (1e8,)), 0.0)
    graph = shapes.chain(4000, draws(7), drawn)
    # Four standard errors.
    assert abs(graph.speed.mean() / 3e9 - 1) < 4 * 0.5 / np.sqrt(4000)
    assert abs(graph.bandwidth[::2].mean() / 1e8 - 1) < 4 / np.sqrt(3999)
    assert not graph.latency.any()


@pytest.mark.parametrize("name", MADE)
def test_the_seed_alone_decides(name: str) -> None:
    drawn = Capacities(speed=Law("uniform", (1e9, 2e9)))
    one, two, other = (
        platform_text(MADE[name](draws(seed), drawn).platform("Floyd")) for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other


def test_links_take_longer_the_longer_they_are() -> None:
    graph = shapes.random_geometric(25, draws(8), LATE, radius=0.3, side_latency=0.02)
    place = np.random.default_rng(8).random((25, 2))
    length = np.sqrt(((place[graph.source] - place[graph.destination]) ** 2).sum(axis=1))
    assert graph.latency == pytest.approx(1e-3 + 0.02 * length)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g: shapes.chain(1, g), "number of hosts is 1; give a whole number from 2 on"),
        (lambda g: shapes.chain(2.5, g), r"number of hosts is 2\.5"),
        (lambda g: shapes.chain(True, g), "number of hosts is True"),
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
        (lambda g: shapes.chain(3, g).platform("Cluster"), "the routing of a graph is"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message) -> None:
    with pytest.raises(PlatformError, match=message):
        make(draws())


def test_small_worlds_that_fall_apart_are_refused(monkeypatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise nx.NetworkXError("Maximum number of tries exceeded")

    monkeypatch.setattr(nx, "connected_watts_strogatz_graph", never)
    with pytest.raises(PlatformError, match=r"tries exceeded; give more neighbours"):
        shapes.small_world(9, draws())


def test_bags_and_prices_go_along_the_ways_of_simgrid() -> None:
    chain = shapes.chain(4, draws(), Capacities(bandwidth=1e6, latency=1e-3))
    far = [tree_of(chain.platform(routing), "h0") for routing in ("Full", "Floyd")]
    # Neighbours only: from host to host. All joined: straight from the root.
    assert [tree.parent.tolist() for tree in far] == [[-1, 0, 1, 2], [-1, 0, 0, 0]]
    assert far[1].latency.tolist() == pytest.approx([0, 1e-3, 2e-3, 3e-3])
    application = Application("a", "h0", flop=1.0, byte=1.0)
    near, along = (
        sharing_of(chain.platform(routing), [application]) for routing in ("Full", "Floyd")
    )
    passed = [
        Counter(each.links[link] for link in each.link if link >= 0) for each in (near, along)
    ]
    # What goes to the last host passes all links, and the first link carries it all.
    assert passed[0] == {"h0->h1": 1, "h1->h2": 1, "h2->h3": 1}
    assert passed[1] == {"h0->h1": 3, "h1->h2": 2, "h2->h3": 1}
