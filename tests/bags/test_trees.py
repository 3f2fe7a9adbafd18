"""The tree of a platform: its routes, its clusters, and the parents that one gives."""

import math

import numpy as np
import pytest
from naming import raises_naming

from simplugin.bags.trees import tree_of
from simplugin.core.errors import PlatformError, WorkloadError
from simplugin.formats.platform_xml import write_platform
from simplugin.platforms import Cluster, Host, Link, Platform, Route, Zone
from simplugin.platforms.graphs import NO_SPEED, Graph
from simplugin.platforms.links import FATPIPE
from simplugin.platforms.topologies.random_graphs import random_tree

# a - b - c - d - a, and e that c reaches but that does not reach anybody.
RING = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
BANDWIDTH = {"ab": 1e6, "bc": 2e6, "cd": 3e6, "da": 4e6}


def ring():
    hosts = [Host(name, 1e9 * number) for number, name in enumerate("abcde", 1)]
    links = [Link(a + b, BANDWIDTH[a + b], 1e-3) for a, b in RING]
    routes = [Route(a, b, [a + b]) for a, b in RING]
    lonely = Route("c", "e", ["cd"], symmetrical=False)
    return Platform(Zone("ring", "Full", (*hosts, *links), (*routes, lonely)))


def parents_of(tree):
    return {tree.hosts[at]: tree.hosts[parent] for at, parent in enumerate(tree.parent) if at}


@pytest.mark.parametrize("n_hosts", [1, 30])
def test_tree_of_a_trees_platform_is_the_tree(n_hosts):
    tree = random_tree(n_hosts, 4, np.random.default_rng(5), latency=2e-3)
    found = tree_of(tree.platform(), "n0")
    assert found.hosts == tree.hosts
    for name in ("parent", "speed", "bandwidth", "latency"):
        np.testing.assert_allclose(getattr(found, name), getattr(tree, name), rtol=1e-12)


def test_any_host_can_be_the_root():
    tree = random_tree(30, 4, np.random.default_rng(5))
    root = tree.hosts[-1]
    found = tree_of(tree.platform(), root)
    assert found.hosts[0] == root
    edges = {frozenset(edge) for edge in parents_of(tree).items()}
    assert {frozenset(edge) for edge in parents_of(found).items()} == edges


def test_graph_with_a_cycle_becomes_its_breadth_first_tree():
    tree = tree_of(ring(), "a")
    assert parents_of(tree) == {"b": "a", "d": "a", "c": "b"}
    widths = dict(zip(tree.hosts, tree.bandwidth.tolist(), strict=True))
    assert widths == {"a": math.inf, "b": 1e6, "d": 4e6, "c": 2e6}
    assert tree.speed.tolist() == [1e9, 2e9, 4e9, 3e9]


def test_parents_choose_another_tree():
    tree = tree_of(ring(), "a", {"c": "d", "d": "a"})
    assert tree.hosts == ("a", "d", "c")
    assert parents_of(tree) == {"d": "a", "c": "d"}
    assert tree.bandwidth.tolist() == [math.inf, 4e6, 3e6]
    assert tree_of(ring(), "b", {}).hosts == ("b",)


def test_cluster_is_a_star(tmp_path):
    cluster = Cluster(
        "lab", "0-3", 3e9, cores=4, bandwidth=2e6, latency=1e-3, backbone_bandwidth=1e6,
        backbone_latency=5e-3, backbone_sharing_policy=FATPIPE, prefix="lab-",
    )  # fmt: skip
    path = tmp_path / "lab.xml"
    write_platform(Platform(cluster), path)
    for platform in (Platform(cluster), path):
        tree = tree_of(platform, "lab-2")
        assert tree.hosts == ("lab-2", "lab-0", "lab-1", "lab-3")
        assert tree.parent.tolist() == [-1, 0, 0, 0]
        # A task is computed by one core; what passes all links is as narrow as the narrowest.
        assert tree.speed.tolist() == [3e9] * 4
        assert tree.bandwidth[1:].tolist() == [1e6] * 3
        assert tree.latency[1:] == pytest.approx([7e-3] * 3)


def test_who_only_distributes():
    graph = Graph.duplex("ab", np.array([0.0, 1e9]), np.array([(0, 1)]), np.array([1e6]))
    assert NO_SPEED > 0
    assert tree_of(graph.platform(), "a").speed.tolist() == [0.0, 1e9]
    assert tree_of(graph.platform(), "b", distributors=["b"]).speed.tolist() == [0.0, 0.0]


NO_TREES = [
    ("z", None, (), "", ["'z'"]),
    ("a", {"b": "z"}, (), "parents", ["'z'"]),
    ("a", None, ("z",), "distributors", ["'z'"]),
    ("a", {"a": "b", "b": "a"}, (), "parents", ["'a'", "'b'"]),
    ("a", {"b": "c", "c": "b"}, (), "parents", ["'a'", "'b'", "'c'"]),
    ("a", {"c": "a"}, (), "parents", ["from 'a' to 'c'"]),
    ("c", {"e": "c"}, (), "parents", ["from 'e' to 'c'"]),
]


@pytest.mark.parametrize(("root", "parents", "distributors", "argument", "hosts"), NO_TREES)
def test_what_is_no_tree_is_refused(root, parents, distributors, argument, hosts):
    with raises_naming(WorkloadError, *hosts) as caught:
        tree_of(ring(), root, parents, distributors=distributors)
    assert caught.value.argument == argument


def test_simgrids_objections_are_passed_on():
    twice = Platform(Zone("z", "Full", (Host("a", 1e9), Host("b", 1e9), Link("l", 1e6))))
    wrong = Platform(Zone("z", "Full", (Host("a", 1e9), Host("b", 1e9)), (Route("a", "b", ["l"]),)))
    assert tree_of(twice, "a").hosts == ("a",)
    with raises_naming(PlatformError, "'a'", "'b'", "'l'"):
        tree_of(wrong, "a")


def test_wifi_is_no_number(simgrid_prefix):
    wifi = simgrid_prefix / "share" / "examples" / "platforms" / "wifi.xml"
    with raises_naming(WorkloadError, "'Station 2'", "'AP1'"):
        tree_of(wifi, "Station 1")
