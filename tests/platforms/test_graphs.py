from typing import Any

import numpy as np
import pytest
from naming import raises_naming
from scipy import stats

from simplugin.core.errors import PlatformError
from simplugin.platforms.graphs import NO_SPEED, Graph, Tree
from simplugin.platforms.topologies.random_graphs import BANDWIDTHS, LATENCIES, SPEEDS, random_tree
from simplugin.simulation.resolve import resolve

FORK: dict[str, Any] = {
    "hosts": ("a", "b", "c"),
    "speed": np.array([1e9, 0.0, 2e9]),
    "source": np.array([0, 1, 1]),
    "destination": np.array([1, 0, 2]),
    "bandwidth": np.array([1e6, 2e6, 3e6]),
    "latency": np.array([0.0, 0.5, 0.25]),
}


def test_an_edge_becomes_a_link_a_direction():
    edges = np.array([[0, 1], [2, 1]])
    both = np.array([[1.0, 2.0], [3.0, 4.0]])
    graph = Graph.duplex(["a", "b", "c"], np.ones(3), edges, both, np.array([0.1, 0.2]))
    assert graph.links == ("a->b", "b->a", "c->b", "b->c")
    assert graph.bandwidth.tolist() == [1, 2, 3, 4]
    assert graph.latency.tolist() == [0.1, 0.1, 0.2, 0.2]
    same = Graph.duplex("abc", np.ones(3), edges, np.array([5.0, 6.0]))
    assert same.bandwidth.tolist() == [5, 5, 6, 6]
    assert same.latency.tolist() == [1e-3] * 4
    single = Graph.duplex(["a"], np.ones(1), np.zeros((0, 2), dtype=int), np.zeros(0))
    assert (single.n_hosts, single.n_links, single.links) == (1, 0, ())


def test_simgrid_has_the_hosts_and_links_and_routes_between_neighbours():
    found = resolve(Graph(**FORK).platform(), 9)
    assert {host.name: host.speed for host in found.hosts} == {"a": 1e9, "b": NO_SPEED, "c": 2e9}
    widths = {link.name: link.bandwidth for link in found.links}
    assert widths == {"a->b": 1e6, "b->a": 2e6, "b->c": 3e6}
    latencies = {route.links: route.latency for route in found.routes}
    assert latencies == {("a->b",): 0.0, ("b->a",): 0.5, ("b->c",): 0.25}
    # A link without bandwidth is not in the platform.
    one_way = Graph.duplex("ab", np.ones(2), np.array([[0, 1]]), np.array([[1e6, 0.0]]))
    found = resolve(one_way.platform(), 9)
    assert [link.name for link in found.links] == ["a->b"]
    assert [(route.source, route.destination) for route in found.routes] == [("a", "b")]


TREE: dict[str, Any] = {
    "hosts": ("r", "a", "b", "c"),
    "parent": [-1, 0, 0, 1],
    "speed": [1.0, 2.0, 0.0, 4.0],
    "bandwidth": [np.inf, 5.0, 6.0, 7.0],
    "latency": [0.0, 0.1, 0.2, 0.3],
}


INVALID_GRAPHS = [
    (Graph, {"speed": np.ones(2)}, "speed (2,) (3,)"),
    (Graph, {"latency": np.ones(2)}, "latency (2,) (3,)"),
    (Graph, {"speed": [1, -1, 1]}, "speed[1] -1.0"),
    (Graph, {"bandwidth": [1, np.inf, 1]}, "bandwidth[1] inf"),
    (Graph, {"latency": [0, np.nan, 1]}, "latency[1] nan"),
    (Graph, {"source": np.array([0, 3, 1])}, "0..2"),
    (Graph, {"hosts": ("a", "b", "b")}, "'b'"),
    (Graph, {"destination": np.array([1, 1, 2])}, ""),
    (Graph, {"source": [0, 1, 1], "destination": [1, 2, 2]}, ""),
    (Tree, {"parent": [-1, 0, 3, 1]}, "'b' parent"),
    (Tree, {"parent": [-1, 0, -1, 1]}, "parent -1"),
    (Tree, {"parent": [-1, 0, 0]}, "parent (3,) (4,)"),
    (Tree, {"speed": [1.0, -2.0, 0.0, 4.0]}, "speed[1] -2.0"),
    (Tree, {"bandwidth": [np.inf, 0.0, 6.0, 7.0]}, "bandwidth[1] 0.0"),
    (Tree, {"bandwidth": [9.0, 1.0, 6.0, 7.0]}, "bandwidth latency"),
    (Tree, dict.fromkeys(TREE, ()), ""),
]


@pytest.mark.parametrize(("kind", "changes", "named"), INVALID_GRAPHS)
def test_invalid_graphs_are_refused(kind, changes, named):
    with raises_naming(PlatformError, *named.split()):
        kind(**((FORK if kind is Graph else TREE) | changes))


def test_a_tree_has_children_depths_and_a_graph():
    tree = Tree(**TREE)
    assert tree.children == ((1, 2), (3,), (), ())
    assert tree.depth.tolist() == [0, 1, 1, 2]
    graph = tree.graph()
    found = zip(graph.links, graph.bandwidth.tolist(), graph.latency.tolist(), strict=True)
    known = {"r->a": (5.0, 0.1), "r->b": (6.0, 0.2), "a->c": (7.0, 0.3)}
    back = {"->".join(link.split("->")[::-1]): numbers for link, numbers in known.items()}
    assert {link: tuple(numbers) for link, *numbers in found} == known | back


def test_random_tree_is_its_seed_and_its_root_may_only_distribute():
    one, two = (random_tree(9, 2, np.random.default_rng(7), root_computes=c) for c in (True, False))
    assert one.parent.tolist() == two.parent.tolist()
    assert one.speed[1:].tolist() == two.speed[1:].tolist()
    assert one.speed[0] > 0
    assert two.speed[0] == 0


@pytest.mark.parametrize("law", ["uniform", "log-uniform"])
@pytest.mark.parametrize("latency", [0.0, LATENCIES])
def test_trees_of_old_seeds_stay_as_they_were(law, latency):
    # The draws as they always were, made anew: speeds, (logarithms of) bandwidths, degrees.
    draws = np.random.default_rng(11)
    speed = draws.uniform(*SPEEDS, 500)
    bounds = BANDWIDTHS if law == "uniform" else np.log(BANDWIDTHS)
    bandwidth = draws.uniform(*bounds, 500)
    if law == "log-uniform":
        bandwidth = np.exp(bandwidth)
    parent = [-1]
    for host in range(500):
        if len(parent) < 500:
            parent += [host] * int(draws.integers(1, 4))
    generator = np.random.default_rng(11)
    made = random_tree(500, 3, generator, bandwidth_law=law, latency=latency)
    assert made.speed.tolist() == speed.tolist()
    assert made.bandwidth[1:] == pytest.approx(bandwidth[1:], rel=1e-12)
    assert made.parent.tolist() == parent[:500]
    # What is drawn next is the same too, whether there are latencies or not.
    assert generator.integers(2**63) == draws.integers(2**63)


def test_latencies_are_even_over_powers_of_ten_and_independent_of_bandwidths():
    made = random_tree(4000, 5, np.random.default_rng(7), latency=LATENCIES)
    assert made.latency[0] == 0
    # "latency ranged from 6 ms to 10 sec", evenly over the powers of ten between.
    exponents = np.log10(made.latency[1:])
    law = stats.uniform(np.log10(6e-3), 1 - np.log10(6e-3))
    assert stats.kstest(exponents, law.cdf).pvalue > 0.01
    assert abs(np.corrcoef(exponents, np.log(made.bandwidth[1:]))[0, 1]) < 0.06
    again = random_tree(4000, 5, np.random.default_rng(7), latency=LATENCIES)
    assert np.array_equal(made.latency, again.latency)


INVALID_RANDOM_TREES = [
    ({"n_hosts": 0}, "hosts 0"),
    ({"max_degree": 0}, "children 0"),
    ({"speeds": (2.0, 1.0)}, "speeds (2.0, 1.0)"),
    ({"bandwidth_law": "normal"}, "bandwidth_law 'normal'"),
]


@pytest.mark.parametrize(("changes", "named"), INVALID_RANDOM_TREES)
def test_invalid_random_trees_are_refused(changes, named):
    given = {"n_hosts": 3, "max_degree": 2, "generator": np.random.default_rng(0)} | changes
    with raises_naming(PlatformError, *named.split()):
        random_tree(**given)
