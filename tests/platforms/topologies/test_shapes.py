"""Shapes of graphs and of clusters, and random graphs."""

import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.formats.platform_xml import platform_text
from simplugin.platforms import Platform
from simplugin.platforms.graphs import GRAPH_ROUTINGS, Graph
from simplugin.platforms.laws import Law
from simplugin.platforms.topologies import shapes
from simplugin.platforms.topologies.random_graphs import (
    MEAN,
    SHAPES,
    geometric_graph,
    random_graph,
    usual_radius,
)
from simplugin.platforms.topologies.shapes import Capacities, Parts
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


EXACT_SHAPES = [
    (shapes.chain(17, draws()), nx.path_graph(17)),
    (shapes.ring(3, draws()), nx.cycle_graph(3)),
    (shapes.ring(17, draws()), nx.cycle_graph(17)),
    (shapes.grid(4, 7, draws()), nx.grid_2d_graph(4, 7)),
    (shapes.grid(1, 5, draws()), nx.path_graph(5)),
    (shapes.complete_tree(3, 3, draws()), nx.balanced_tree(3, 3)),
    (shapes.complete_tree(1, 4, draws()), nx.path_graph(5)),
    (shapes.small_world(20, draws(), rewired=0.0), nx.circulant_graph(20, [1, 2])),
]


@pytest.mark.parametrize(("graph", "same"), EXACT_SHAPES)
def test_shapes_are_those_of_networkx(graph, same):
    assert nx.is_isomorphic(seen(graph), same)


def test_random_shapes_have_their_numbers_of_links():
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
def test_all_hosts_reach_each_other_by_shortest_ways(name, routing):
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


@pytest.mark.parametrize("name", MADE)
def test_laws_are_kept_to_and_do_not_change_the_shape(name):
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


def test_links_take_longer_the_longer_they_are():
    late = Capacities(latency=1e-3)
    graph = shapes.random_geometric(25, draws(8), late, radius=0.3, side_latency=0.02)
    place = np.random.default_rng(8).random((25, 2))
    length = np.sqrt(((place[graph.source] - place[graph.destination]) ** 2).sum(axis=1))
    assert graph.latency == pytest.approx(1e-3 + 0.02 * length)


INVALID_SHAPES = [
    (lambda g: shapes.chain(1, g), "hosts 1"),
    (lambda g: shapes.ring(2, g), "ring 2"),
    (lambda g: shapes.grid(0, 4, g), "rows 0"),
    (lambda g: shapes.grid(1, 1, g), "grid 1"),
    (lambda g: shapes.complete_tree(0, 4, g), "children 0"),
    (lambda g: shapes.complete_tree(2, 0, g), "depth 0"),
    (lambda g: shapes.complete_tree(10, 1000, g), "10 1000"),
    (lambda g: shapes.random_geometric(9, g, radius=-1.0), "radius -1.0"),
    (lambda g: shapes.random_geometric(9, g, side_latency=-1.0), "side -1.0"),
    (lambda g: shapes.preferential_attachment(5, g, links=5), "5 links"),
    (lambda g: shapes.small_world(9, g, neighbours=3), "9 3 neighbours"),
    (lambda g: shapes.small_world(4, g, neighbours=4), "4 neighbours"),
    (lambda g: shapes.small_world(9, g, rewired=1.5), "1.5"),
    (lambda g: shapes.chain(3, g, Capacities(speed=-1.0)), "speed -1.0"),
    (lambda g: shapes.chain(3, g, Capacities(bandwidth=np.inf)), "bandwidth inf"),
    (lambda g: shapes.chain(3, g, Capacities(latency=-1.0)), "latency -1.0"),
    (lambda _: shapes.torus([]), "sizes []"),
    (lambda _: shapes.torus([4, 0]), "sizes 0"),
    (lambda _: shapes.fat_tree([4, 4], [1]), "parents 1 2"),
    (lambda _: shapes.fat_tree([4, 4.5]), "children 4.5"),
    (lambda _: shapes.dragonfly(5, 4), "5 groups 4 routers"),
    (lambda _: shapes.dragonfly(0), "groups 0"),
    (lambda _: shapes.flat_cluster(0), "hosts 0"),
    (lambda g: random_graph("web", 5, g), "'web' small_world"),
    (lambda g: random_graph("path", 1, g), "hosts 1"),
]


@pytest.mark.parametrize(("make", "named"), INVALID_SHAPES)
def test_invalid_shapes_are_refused(make, named):
    with raises_naming(PlatformError, *named.split()) as caught:
        make(draws())
    assert caught.value.remedy


def test_small_worlds_that_fall_apart_are_refused(monkeypatch):
    def never(*_: object, **__: object) -> None:
        raise nx.NetworkXError("Maximum number of tries exceeded")

    monkeypatch.setattr(nx, "connected_watts_strogatz_graph", never)
    with pytest.raises(PlatformError):
        shapes.small_world(9, draws())


def number(name: str) -> int:
    return int(name.rpartition("-")[2])


def joined(platform: Platform, count: int):
    """Return what SimGrid makes of a platform all of whose hosts reach each other."""
    resolved = resolve(platform, 10**9)
    assert not resolved.unreachable
    assert platform.host_count == len(resolved.hosts) == count
    assert len(resolved.routes) == count * (count - 1)
    return resolved


@pytest.mark.parametrize("sizes", [[5], [4, 3], [2, 3, 4]])
def test_routes_of_a_torus_go_round_the_shorter_way(sizes):
    resolved = joined(shapes.torus(sizes, Parts(latency=1e-3)), math.prod(sizes))
    for route in resolved.routes:
        ends = number(route.source), number(route.destination)
        places = np.array(np.unravel_index(ends, sizes, order="F"))
        apart = np.abs(np.diff(places, axis=1))[:, 0].tolist()
        hops = sum(min(gap, size - gap) for gap, size in zip(apart, sizes, strict=True))
        assert len(route.links) == hops
        assert route.latency == pytest.approx(hops * 1e-3)


@pytest.mark.parametrize(
    ("children", "parents", "parallel"),
    [([4, 3], None, None), ([2, 3, 2], None, None), ([4, 4], [1, 2], [1, 2])],
)
def test_routes_of_a_fat_tree_go_up_as_far_as_they_must(children, parents, parallel):
    below = list(itertools.accumulate(children, lambda a, b: a * b))
    resolved = joined(shapes.fat_tree(children, parents, parallel), below[-1])
    for route in resolved.routes:
        ends = number(route.source), number(route.destination)
        level = next(i for i, n in enumerate(below, 1) if ends[0] // n == ends[1] // n)
        assert len(route.links) == 2 * level
    # As many links between two levels as the lower one has parents, in both directions.
    above = [1, *children[:-1]] if parents is None else parents
    count, links = below[-1], 0
    cables = parallel or [1] * len(children)
    for child, width, alike in zip(children, above, cables, strict=True):
        links += count * width * alike
        count = count * width // child
    assert len(resolved.links) == 2 * links


@pytest.mark.parametrize(("groups", "routers", "hosts"), [(4, 4, 2), (3, 5, 1), (1, 3, 2)])
def test_a_dragonfly_joins_all_groups(groups, routers, hosts):
    resolved = joined(shapes.dragonfly(groups, routers, hosts), groups * routers * hosts)
    within, between = groups * math.comb(routers, 2), math.comb(groups, 2)
    assert len(resolved.links) == 2 * (groups * routers * hosts + within + between)
    for route in resolved.routes:
        group, router = divmod(number(route.source) // hosts, routers)
        other, last = divmod(number(route.destination) // hosts, routers)
        # Router n leads to group n.
        away = (router != other) + 1 + (last != group)
        hops = router != last if group == other else away
        assert len(route.links) == 2 + hops


def test_parallel_links_of_a_dragonfly_are_one_wide_link():
    made = shapes.dragonfly(2, 3, 1, group_links=4, router_links=2, parts=Parts(bandwidth=1e8))
    width = Counter((link.name.split("_")[0], link.bandwidth) for link in resolve(made, []).links)
    assert set(width) == {("local", 1e8), ("green", 2e8), ("blue", 4e8)}


def test_a_flat_cluster_is_one_element():
    made = shapes.flat_cluster(40, Parts(speed=2e9, cores=8, latency=1e-4))
    assert len(platform_text(made)) < 500
    resolved = joined(made, 40)
    assert {(host.speed, host.cores) for host in resolved.hosts} == {(2e9, 8)}
    assert {round(route.latency, 12) for route in resolved.routes} == {2e-4}


def test_a_star_is_drawn_in_round_figures():
    made = shapes.star(40, np.random.default_rng(3))
    resolved = joined(made, 41)
    speeds = np.array([host.speed for host in resolved.hosts])
    assert np.allclose(speeds % 1e8, 0) | np.allclose(speeds % 1e8, 1e8)
    assert 1e9 <= speeds.min() < speeds.max() < 10e9
    widths = np.array([link.bandwidth for link in resolved.links])
    assert 10e6 <= widths.min() < widths.max() <= 125e6
    assert {len(route.links) for route in resolved.routes} == {2}


def test_a_star_has_the_laws_it_is_told():
    generators = [np.random.default_rng(3) for _ in range(2)]
    usual = shapes.star(5, generators[0])
    told = shapes.star(5, generators[1], speed=Law("uniform", (1.0, 2.0)), latency=0.0)
    ((one,), (two,)) = usual.elements, told.elements
    assert [link.bandwidth for link in one.links] == [link.bandwidth for link in two.links]
    assert all(1 <= host.speed <= 2 for host in two.hosts)
    assert {link.latency for link in two.links} == {0.0}


TREES = ("recursive", "preferential", "binary", "deep", "path", "star", "clusters")


def undirected(shape: str, n_hosts: int, seed: int) -> nx.Graph:
    """Return the shape as networkx sees it, refusing repeated edges and loops."""
    ends = SHAPES[shape](n_hosts, np.random.default_rng(seed))
    graph = nx.Graph(ends.tolist())
    assert graph.number_of_edges() == len(ends)
    assert nx.number_of_selfloops(graph) == 0
    return graph


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_connected(shape):
    for n_hosts in (2, 3, 5, 12, 60):
        graph = undirected(shape, n_hosts, n_hosts)
        assert sorted(graph) == list(range(n_hosts))
        assert nx.is_connected(graph)
        if shape in TREES:
            assert nx.is_tree(graph)


def test_shapes_are_what_they_are_called():
    assert nx.diameter(undirected("path", 30, 0)) == 29
    assert nx.diameter(undirected("star", 30, 0)) == 2
    assert nx.diameter(undirected("clusters", 90, 0)) == 4
    assert nx.is_isomorphic(undirected("binary", 31, 0), nx.balanced_tree(2, 4))
    assert nx.is_isomorphic(undirected("grid", 36, 0), nx.grid_2d_graph(6, 6))
    chords = undirected("small_world", 100, 0)
    assert all(chords.has_edge(i, (i + 1) % 100) for i in range(100))
    assert 130 < chords.number_of_edges() <= 150
    assert nx.diameter(chords) < 20
    # Parents among the last three: at least a third of the hosts deep.
    depths = nx.single_source_shortest_path_length(undirected("deep", 91, 0), 0)
    assert max(depths.values()) >= 30


def test_preferential_trees_have_hubs():
    # The largest degree grows as the root of the hosts [Bollobas, Riordan 2003], not as the log.
    preferential = [max(dict(undirected("preferential", 900, s).degree).values()) for s in range(5)]
    recursive = [max(dict(undirected("recursive", 900, s).degree).values()) for s in range(5)]
    assert np.median(preferential) > 2 * np.median(recursive)


def test_capacities_spread_as_asked():
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


def test_the_generator_alone_decides_and_without_decades_all_are_alike():
    first, again, other = (
        random_graph("recursive", 40, np.random.default_rng(seed), latency=0.01)
        for seed in (7, 7, 8)
    )
    assert first.links == again.links
    assert first.links != other.links
    assert (set(first.speed), set(first.bandwidth), set(first.latency)) == ({MEAN}, {MEAN}, {0.01})


@given(st.integers(2, 25), st.integers(0, 2**32), st.floats(0, 0.6))
@settings(max_examples=30)
def test_near_hosts_are_neighbours_and_parts_are_joined_cheaply(n_hosts, seed, radius):
    generator = np.random.default_rng(seed)
    position, ends, length = geometric_graph(n_hosts, generator, radius)
    assert np.all((position >= 0) & (position < 1))
    pairs = itertools.combinations(range(n_hosts), 2)
    away = {pair: math.dist(*position[list(pair)]) for pair in pairs}
    near = {pair for pair, distance in away.items() if distance <= radius}
    edges = list(map(tuple, ends.tolist()))
    assert edges == sorted(set(edges))
    assert near <= set(edges)
    assert length.tolist() == pytest.approx([away[edge] for edge in edges])
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


def test_the_usual_radius_leaves_one_part_in_most_draws():
    for n_hosts in (10, 1000):
        wanted = 2 * math.log(n_hosts) / n_hosts
        assert math.pi * usual_radius(n_hosts) ** 2 == pytest.approx(wanted)
    assert usual_radius(1) > 0
    made = [geometric_graph(400, np.random.default_rng(seed)) for seed in range(9)]
    assert sum(bool(np.all(length <= usual_radius(400))) for *_, length in made) > 4
