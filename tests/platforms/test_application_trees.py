"""Trees of applications, against networkx and against those who take them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.bags.platform_trees import tree_of
from simplugin.errors import DeploymentError
from simplugin.formats.deployment_xml import read_deployment, write_deployment
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms import (
    BypassRoute,
    Cluster,
    Deployment,
    Host,
    Link,
    LinkUse,
    Platform,
    Route,
    Router,
    Zone,
)
from simplugin.platforms.application_trees import ApplicationTree, application_trees, find_fault
from simplugin.platforms.graphs import Graph
from simplugin.platforms.shortest_paths import METRICS, neighbour_routes
from simplugin.platforms.tree_shapes import (
    require_routes,
    shortest_path_tree,
    star_tree,
    zone_tree,
)
from simplugin.pricing.platform_trees import sharing_of
from simplugin.workloads.applications import Application

ROOT = Path(__file__).parents[2]
FAMILY = ApplicationTree("a", "r", {"x": "r", "u": "x", "y": "r", "v": "x", "w": "y"})


def test_order() -> None:
    assert FAMILY.hosts == ("r", "x", "y", "u", "v", "w")
    assert list(FAMILY.parent) == ["x", "y", "u", "v", "w"]
    assert FAMILY.children == {
        "r": ("x", "y"),
        "x": ("u", "v"),
        "y": ("w",),
        "u": (),
        "v": (),
        "w": (),
    }
    assert FAMILY.depth == {"r": 0, "x": 1, "y": 1, "u": 2, "v": 2, "w": 2}
    assert ApplicationTree.of_parents("a", FAMILY.parent) == FAMILY


def test_pruning() -> None:
    assert FAMILY.pruned(["v"]).parent == {"x": "r", "v": "x"}
    assert FAMILY.pruned([]).hosts == ("r",)
    assert FAMILY.pruned(FAMILY.hosts) == FAMILY
    with pytest.raises(DeploymentError, match="host 'z' is not in the tree of application 'a'"):
        FAMILY.pruned(["z"])


@pytest.mark.parametrize(
    ("root", "parent", "message"),
    [
        ("a", {"a": "b"}, "its root 'a' has a parent, 'b'"),
        ("a", {"b": "a", "c": "d"}, "host 'c' is not below the root 'a': 'd' has no parent"),
        ("a", {"b": "c", "c": "d", "d": "c"}, "the parents of 'c' lead back to it: 'c' <- 'd'"),
        ("a", {"b": "b"}, "the parents of 'b' lead back to it"),
        ("a", {"-": "a"}, "a host is called '-'"),
        ("-", {}, "a host is called '-'"),
        ("", {}, "has no name"),
        ("a", {"b\0": "a"}, "XML cannot hold"),
    ],
)
def test_what_is_no_tree(root: str, parent: dict[str, str], message: str) -> None:
    with pytest.raises(DeploymentError, match=message) as caught:
        ApplicationTree("render", root, parent)
    assert "'render'" in str(caught.value)


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ({}, "does not tell its root"),
        ({"a": "b", "b": "a"}, "every host has a parent, 'a' too"),
        ({"a": "b", "c": "d"}, "'b' and 'd' have no parent"),
    ],
)
def test_no_sole_root(parent: dict[str, str], message: str) -> None:
    with pytest.raises(DeploymentError, match=message):
        ApplicationTree.of_parents("render", parent)


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef"), max_size=6))
def test_faults_are_those_of_trees(parent: dict[str, str]) -> None:
    graph = nx.DiGraph((above, host) for host, above in parent.items())
    graph.add_node("a")
    is_tree = nx.is_arborescence(graph) and graph.in_degree("a") == 0
    assert (find_fault("a", parent) is None) == is_tree


@st.composite
def trees(draw: st.DrawFn, application: str = "app") -> ApplicationTree:
    """Draw a tree whose hosts have any names."""
    text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
    names = draw(st.lists(text.filter(lambda name: name != "-"), min_size=1, unique=True))
    names = [name for name in names if "￾" not in name and "￿" not in name] or ["a"]
    parent = {name: names[draw(st.integers(0, number))] for number, name in enumerate(names[1:])}
    return ApplicationTree(application, names[0], parent)


def through_xml(deployment: Deployment) -> Deployment:
    """Write a deployment and read it."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "deployment.xml"
        write_deployment(deployment, path)
        return read_deployment(path)


@settings(max_examples=60)
@given(trees("a"), trees("b"), st.lists(st.sampled_from(["1e6", "{host}", "-", "b"])))
def test_trees_come_back_from_xml(
    one: ApplicationTree, other: ApplicationTree, arguments: list[str]
) -> None:
    first, second = (tree.deployment("run", "pass", arguments) for tree in (one, other))
    deployment = through_xml(Deployment(first.actors + second.actors))
    found = application_trees(deployment, {"run", "pass"}, len(arguments))
    assert found == (one, other)
    assert [list(tree.parent.items()) for tree in found] == [
        list(tree.parent.items()) for tree in (one, other)
    ]


def test_what_actors_are_told() -> None:
    actors = FAMILY.deployment(
        "lead",
        "follow",
        ("{number} {depth} {workers} {master}", "{hosts}"),
        start_time=1,
        kill_time=2,
        on_failure="RESTART",
    ).actors
    assert [actor.host for actor in actors] == list(FAMILY.hosts)
    assert [actor.function for actor in actors] == ["lead"] + ["follow"] * 5
    assert actors[0].arguments == ("0 0 5 r", "x", "y", "u", "v", "w", "a", "-", "x", "y")
    assert actors[5].arguments == ("5 2 5 r", "x", "y", "u", "v", "w", "a", "y")
    assert {(each.start_time, each.kill_time, each.on_failure) for each in actors} == {
        (1, 2, "RESTART")
    }


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([("r", "a")], "actor 'node' on host 'r' does not tell its application"),
        ([("r", "a", "x")], "application 'a' has no root"),
        ([("r", "a", "-"), ("s", "a", "-")], "application 'a' has several roots, 'r' and 's'"),
        ([("r", "a", "-"), ("r", "a", "-")], "application 'a' has two actors on host 'r'"),
        ([("r", "a", "-", "x")], "host 'r' has a child 'x'"),
        ([("r", "a", "-", "x", "x"), ("x", "a", "r")], "host 'r' has a child 'x'"),
        ([("r", "a", "-"), ("x", "a", "r")], "host 'x' has a parent 'r'"),
        ([("r", "a", "-"), ("x", "a", "y", "y"), ("y", "a", "x", "x")], "lead back"),
    ],
)
def test_actors_that_tell_of_no_tree(places: list[tuple[str, ...]], message: str) -> None:
    actors = [
        actor
        for host, *arguments in places
        for actor in ApplicationTree("a", host).deployment("node").actors
        for actor in [type(actor)(host, "node", tuple(arguments))]
    ]
    with pytest.raises(DeploymentError, match=message):
        application_trees(Deployment(tuple(actors)))


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


@given(graphs(), st.sampled_from(list(METRICS)))
def test_distances_are_those_of_networkx(graph: Graph, metric: str) -> None:
    root = graph.hosts[0]
    tree = shortest_path_tree(graph, "a", root, metric)
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


@pytest.mark.parametrize("seed", range(20))
def test_ties_go_to_fewer_routes_and_then_to_the_first_name(seed: int) -> None:
    """By brute force over all simple paths; sums of whole latencies have no rounding."""
    random = np.random.default_rng(seed)
    ends = np.argwhere((random.random((7, 7)) < 0.6) & ~np.eye(7, dtype=bool))
    latency = random.integers(0, 3, len(ends)).astype(float)
    names = tuple(random.permutation(list("abcdefg")).tolist())
    graph = Graph(names, np.ones(7), ends[:, 0], ends[:, 1], np.ones(len(ends)), latency)
    tree = shortest_path_tree(graph, "a", names[0])
    lengths = weighted(graph, "latency")
    assert len(tree.hosts) == 7
    for host, parent in tree.parent.items():
        paths = nx.all_simple_paths(lengths, names[0], host)
        keys = [(nx.path_weight(lengths, path, "length"), len(path), path[-2]) for path in paths]
        assert parent == min(keys)[2]


def test_metrics_choose_different_ways() -> None:
    """From r to t: one slow route of little latency, two fast ones, or three in between."""
    graph = Graph(
        ("r", "m", "t", "p", "q"),
        np.ones(5),
        np.array([0, 0, 1, 0, 3, 4]),
        np.array([2, 1, 2, 3, 4, 2]),
        np.array([1e6, 1e9, 1e9, 1e8, 1e8, 1e8]),
        np.array([5e-3, 9e-3, 9e-3, 1e-3, 1e-3, 1e-3]),
    )
    parents = {
        metric: shortest_path_tree(graph, "a", "r", metric).parent["t"] for metric in METRICS
    }
    assert parents == {"latency": "q", "hops": "r", "transfer": "m"}
    only = shortest_path_tree(graph, "a", "r", "transfer", ["t"])
    assert only.parent == {"m": "r", "t": "m"}


def test_routes_of_several_links() -> None:
    elements = (
        *(Host(name, 1e9) for name in "abc"),
        Router("x"),
        Link("one", 1e8, 1e-3),
        Link("two", 5e7, 2e-3, "SPLITDUPLEX"),
    )
    routes = (
        Route("a", "b", ["one", LinkUse("two", "UP")]),
        Route("b", "c", ["two_DOWN"], symmetrical=False),
        BypassRoute("c", "a", ["one"]),
        Route("a", "x", ["one"]),
        Route("b", "b", ["one"]),
    )
    found = neighbour_routes(Platform(Zone("z", "Full", elements, routes)))
    assert found is not None
    assert [(each.source, each.destination, each.bandwidth) for each in found] == [
        ("a", "b", 5e7),
        ("b", "a", 5e7),
        ("b", "c", 5e7),
        ("c", "a", 1e8),
    ]
    assert [each.latency for each in found] == pytest.approx([3e-3, 3e-3, 2e-3, 1e-3])
    assert neighbour_routes(Platform(Zone("z", "Floyd", elements, routes))) is None


def test_refused_shortest_paths() -> None:
    graph = Graph.duplex(("a", "b", "c"), np.ones(3), np.array([[0, 1]]), np.array([1e8]))
    platform = graph.platform()
    for where in (graph, platform):
        with pytest.raises(DeploymentError, match=r"'z' .*is no host"):
            shortest_path_tree(where, "x", "z")
        with pytest.raises(
            DeploymentError, match="there is no metric 'speed'; choose among latency"
        ):
            shortest_path_tree(where, "x", "a", "speed")
        with pytest.raises(DeploymentError, match="host 'c' is not in the tree"):
            shortest_path_tree(where, "x", "a", hosts=["c"])
    with pytest.raises(DeploymentError, match=r"does not say which hosts are neighbours.*'zones'"):
        shortest_path_tree(Platform(Cluster("c", "0-3", 1e9, 1e8, 0.0)), "x", "0")


# Zones and stars.


@st.composite
def platforms(draw: st.DrawFn) -> Platform:
    """Draw zones in zones with clusters and hosts at the bottom."""
    numbers = iter(range(10_000))

    def part(depth: int) -> Zone | Cluster:
        number = next(numbers)
        kind = draw(
            st.sampled_from(["cluster", "hosts", "zones"] if depth else ["cluster", "hosts"])
        )
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


@given(platforms(), st.data())
def test_data_enter_each_zone_once(platform: Platform, data: st.DataObject) -> None:
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
        entries = [
            host for host, parent in tree.parent.items() if host in inside and parent not in inside
        ]
        assert len(entries) == (1 if inside and root not in inside else 0)
        if isinstance(element, Cluster) and inside:
            [head] = entries or [root]
            assert {tree.parent[host] for host in inside - {head}} <= {head}
    require_routes(platform, tree)


def test_zones_of_two_sites() -> None:
    platform = read_platform(ROOT / "platforms_xml/lille_nancy.xml")
    tree = zone_tree(platform, "a", "grelon-3")
    assert tree.children["grelon-3"][:6] == (
        "chuque-1",
        "chti-1",
        "chicon-1",
        "grillon-1",
        "grelon-1",
        "grelon-2",
    )
    assert len(tree.children["grelon-3"]) == 4 + 119
    assert len(tree.children["chuque-1"]) == 52
    assert max(tree.depth.values()) == 2
    assert len(tree.hosts) == platform.host_count == 266
    star = star_tree(platform, "a", "grelon-3", ["chti-2", "chuque-1"])
    assert star.parent == {"chuque-1": "grelon-3", "chti-2": "grelon-3"}
    with pytest.raises(DeploymentError, match="application 'a': host 'chti-99' is no host"):
        star_tree(platform, "a", "grelon-3", ["chti-99"])
    with pytest.raises(DeploymentError, match="the root of application 'a', 'nancy' is no host"):
        zone_tree(platform, "a", "nancy")


# Who takes trees.


FIVE = read_platform(ROOT / "platforms_xml/five_hosts.xml")


def test_pricing_takes_trees() -> None:
    masters = {"one": "A", "two": "C"}
    made = {name: shortest_path_tree(FIVE, name, master) for name, master in masters.items()}
    applications = [Application(name, master, 1e9, 1e6) for name, master in masters.items()]
    sharing = sharing_of(FIVE, applications, {name: tree.parent for name, tree in made.items()})
    for number, (name, tree) in enumerate(made.items()):
        found: dict[str, str] = {}
        for agent in np.flatnonzero(sharing.application == number).tolist():
            above = int(sharing.father[agent])
            if above >= 0:
                found[sharing.hosts[sharing.host[agent]]] = sharing.hosts[sharing.host[above]]
        assert ApplicationTree.of_parents(name, found) == tree
    assert made["one"].parent != made["two"].parent


def test_bags_take_trees() -> None:
    tree = shortest_path_tree(FIVE, "one", "A", "hops")
    taken = tree_of(FIVE, "A", tree.parent)
    assert set(taken.hosts) == set(FIVE.host_names())
    found = {
        host: taken.hosts[parent]
        for host, parent in zip(taken.hosts, taken.parent.tolist(), strict=True)
        if parent >= 0
    }
    assert ApplicationTree("one", "A", found) == tree


def test_trees_over_no_routes_are_refused() -> None:
    tree: Any = star_tree(FIVE, "one", "A")
    with pytest.raises(DeploymentError, match=r"there is no route from 'A' to its child '[B-E]'"):
        require_routes(FIVE, tree)
    with pytest.raises(DeploymentError, match="application 'one': host 'Z' is no host"):
        require_routes(FIVE, ApplicationTree("one", "A", {"Z": "A"}))
