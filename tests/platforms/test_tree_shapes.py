"""Trees from the shape of a platform: against networkx, brute force, and zones drawn."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import DeploymentError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms import (
    BypassRoute,
    Cluster,
    Host,
    Link,
    LinkUse,
    Platform,
    Route,
    Router,
    Zone,
)
from simplugin.platforms.deployments import ApplicationTree
from simplugin.platforms.graphs import Graph
from simplugin.platforms.tree_shapes import (
    METRICS,
    neighbour_routes,
    require_routes,
    shortest_path_tree,
    star_tree,
    zone_tree,
)

ROOT = Path(__file__).parents[2]


# Shortest paths.


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph with links one way or both, of few different latencies and bandwidths."""
    count = draw(st.integers(1, 8))
    numbers = st.integers(0, count - 1)
    pairs = draw(st.sets(st.tuples(numbers, numbers).filter(lambda pair: pair[0] != pair[1])))
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    few = [0.0, 1e-3, 2e-3, 5e-3]
    latency = draw(st.lists(st.sampled_from(few), min_size=len(ends), max_size=len(ends)))
    speeds = [0.0, 1e8, 2e8, 1e9]
    bandwidth = draw(st.lists(st.sampled_from(speeds), min_size=len(ends), max_size=len(ends)))
    names = tuple(f"h{number}" for number in range(count))
    return Graph(names, np.ones(count), ends[:, 0], ends[:, 1], bandwidth, latency)  # type: ignore[arg-type]


def weighted(graph: Graph, metric: str) -> nx.DiGraph:
    """Return the same graph with lengths, for networkx."""
    lengths = {
        "latency": graph.latency,
        "hops": np.ones(graph.n_links),
        "transfer": 1 / np.where(graph.bandwidth > 0, graph.bandwidth, np.inf),
    }[metric]
    result = nx.DiGraph()
    result.add_nodes_from(graph.hosts)
    for link in np.flatnonzero(graph.bandwidth > 0).tolist():
        ends = graph.hosts[graph.source[link]], graph.hosts[graph.destination[link]]
        result.add_edge(*ends, length=float(lengths[link]))
    return result


@settings(max_examples=60)
@given(graphs(), st.sampled_from(list(METRICS)))
def test_distances_are_those_of_networkx(graph, metric):
    root = graph.hosts[0]
    tree = shortest_path_tree(graph.platform(), "a", root, metric)
    lengths = weighted(graph, metric)
    expected = nx.single_source_dijkstra_path_length(lengths, root, weight="length")
    assert set(tree.hosts) == set(expected)
    found = {root: 0.0}
    for host, parent in tree.parent.items():
        found[host] = found[parent] + lengths.edges[parent, host]["length"]
    assert found == pytest.approx(expected, rel=1e-12)
    # The platform says the same as the graph, also where SimGrid composes routes.
    for routing in ("Full", "Floyd"):
        assert shortest_path_tree(graph.platform(routing), "a", root, metric) == tree
    require_routes(graph.platform(), tree)


def test_ties_go_to_fewer_routes_and_then_to_the_first_name():
    """By brute force over all simple paths; sums of whole latencies have no rounding."""
    for seed in range(6):
        random = np.random.default_rng(seed)
        ends = np.argwhere((random.random((7, 7)) < 0.6) & ~np.eye(7, dtype=bool))
        latency = random.integers(0, 3, len(ends)).astype(float)
        names = tuple(random.permutation(list("abcdefg")).tolist())
        graph = Graph(names, np.ones(7), ends[:, 0], ends[:, 1], np.ones(len(ends)), latency)
        tree = shortest_path_tree(graph.platform(), "a", names[0])
        lengths = weighted(graph, "latency")
        assert len(tree.hosts) == 7

        for host, parent in tree.parent.items():
            paths = nx.all_simple_paths(lengths, names[0], host)
            keys = [(nx.path_weight(lengths, p, "length"), len(p), p[-2]) for p in paths]
            assert parent == min(keys)[2]


def test_hosts_that_are_on_no_way_to_those_wanted_are_left_out():
    ends = np.array([[0, 1], [1, 2], [0, 2], [0, 3]])
    bandwidth = np.array([1e9, 1e9, 1e6, 1e9])
    graph = Graph.duplex(("r", "m", "t", "p"), np.ones(4), ends, bandwidth)
    only = shortest_path_tree(graph.platform(), "a", "r", "transfer", ["t"])
    assert only.parent == {"m": "r", "t": "m"}


def test_routes_of_several_links():
    links = Link("one", 1e8, 1e-3), Link("two", 5e7, 2e-3, "SPLITDUPLEX")
    elements = (*(Host(name, 1e9) for name in "abc"), Router("x"), *links)
    routes = (
        Route("a", "b", ["one", LinkUse("two", "UP")]),
        Route("b", "c", ["two_DOWN"], symmetrical=False),
        BypassRoute("c", "a", ["one"]),
        Route("a", "x", ["one"]),
        Route("b", "b", ["one"]),
    )
    found = neighbour_routes(Platform(Zone("z", "Full", elements, routes)))
    assert found is not None
    assert [each.source + each.destination for each in found] == ["ab", "ba", "bc", "ca"]
    assert [each.bandwidth for each in found] == [5e7, 5e7, 5e7, 1e8]
    assert [each.latency for each in found] == pytest.approx([3e-3, 3e-3, 2e-3, 1e-3])
    assert neighbour_routes(Platform(Zone("z", "Floyd", elements, routes))) is None


def test_refused_shortest_paths():
    graph = Graph.duplex(("a", "b", "c"), np.ones(3), np.array([[0, 1]]), np.array([1e8]))
    cluster = Platform(Cluster("c", "0-3", 1e9, 1e8, 0.0))
    for platform, root, options, named in (
        (graph.platform(), "z", {}, "'x' 'z'"),
        (graph.platform(), "a", {"metric": "speed"}, "'speed' hops"),
        (graph.platform(), "a", {"hosts": ["c"]}, "'c' 'x'"),
        (cluster, "0", {}, "'zones' 'star'"),
    ):
        with raises_naming(DeploymentError, *named.split()):
            shortest_path_tree(platform, "x", root, **options)


# Zones and stars.


@st.composite
def platforms(draw: st.DrawFn) -> Platform:
    """Draw zones in zones with clusters and hosts at the bottom."""
    numbers = iter(range(10_000))

    def part(depth: int) -> Zone | Cluster:
        number = next(numbers)
        kind = draw(st.sampled_from(["cluster", "hosts", "zones"][: 3 if depth else 2]))
        if kind == "cluster":
            last = draw(st.integers(0, 3))
            return Cluster(f"z{number}", f"0-{last}", 1e9, 1e8, 0.0, prefix=f"c{number}-")
        if kind == "hosts":
            names = [f"h{next(numbers)}" for _ in range(draw(st.integers(0, 3)))]
            hosts = tuple(Host(name, 1e9) for name in names)
            return Zone(f"z{number}", "Full", (Router(f"r{number}"), *hosts))
        inner = [part(depth - 1) for _ in range(draw(st.integers(0, 3)))]
        return Zone(f"z{number}", "Full", tuple(inner))

    one = Cluster("one", "0", 1e9, 1e8, 0.0, prefix="one-")
    return Platform(Zone("world", "Full", (part(3), part(3), one)))


@settings(max_examples=60)
@given(platforms(), st.data())
def test_data_enter_each_zone_once(platform, data):
    hosts = list(platform.host_names())
    root = data.draw(st.sampled_from(hosts))
    chosen = data.draw(st.one_of(st.none(), st.sets(st.sampled_from(hosts))))
    tree = zone_tree(platform, "a", root, chosen)
    members = set(hosts) if chosen is None else {root, *chosen}
    assert set(tree.hosts) == members
    for element, _ in platform.walk():
        if not isinstance(element, Zone | Cluster):
            continue
        inside = set(Platform((element,)).host_names()) & members
        parents = {host: tree.parent[host] for host in inside - {root}}
        entries = [host for host, parent in parents.items() if parent not in inside]
        assert len(entries) == (1 if inside and root not in inside else 0)
        if isinstance(element, Cluster) and inside:
            [head] = entries or [root]
            assert {tree.parent[host] for host in inside - {head}} <= {head}
    require_routes(platform, tree)


def test_zones_of_two_sites():
    platform = read_platform(ROOT / "platforms_xml/lille_nancy.xml")
    tree = zone_tree(platform, "a", "grelon-3")
    sites = ("chuque-1", "chti-1", "chicon-1", "grillon-1")
    assert tree.children["grelon-3"][:6] == (*sites, "grelon-1", "grelon-2")
    assert len(tree.children["grelon-3"]) == 4 + 119
    assert len(tree.children["chuque-1"]) == 52
    assert max(tree.depth.values()) == 2
    assert len(tree.hosts) == platform.host_count == 266
    star = star_tree(platform, "a", "grelon-3", ["chti-2", "chuque-1"])
    assert star.parent == {"chuque-1": "grelon-3", "chti-2": "grelon-3"}
    with raises_naming(DeploymentError, "'a'", "'chti-99'"):
        star_tree(platform, "a", "grelon-3", ["chti-99"])
    with raises_naming(DeploymentError, "'a'", "'nancy'"):
        zone_tree(platform, "a", "nancy")
    five = read_platform(ROOT / "platforms_xml/five_hosts.xml")
    with raises_naming(DeploymentError, "'one'", "'A'"):
        require_routes(five, star_tree(five, "one", "A"))
    with raises_naming(DeploymentError, "'one'", "'Z'"):
        require_routes(five, ApplicationTree("one", "A", {"Z": "A"}))
