from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simplugin.errors import PlatformError
from simplugin.platforms import Zone
from simplugin.platforms.graphs import NO_SPEED, Graph, Tree
from simplugin.platforms.topologies.random_trees import BANDWIDTHS, LATENCIES, SPEEDS, random_tree
from simplugin.simulation import Placement, SimGridOptions, simulate

FORK: dict[str, Any] = {
    "hosts": ("a", "b", "c"),
    "speed": np.array([1e9, 0.0, 2e9]),
    "source": np.array([0, 1, 1]),
    "destination": np.array([1, 0, 2]),
    "bandwidth": np.array([1e6, 2e6, 3e6]),
    "latency": np.array([0.0, 0.5, 0.25]),
}


async def ask(me: Any, name: str, size: float) -> None:
    """Send something over a link."""
    await me.mailbox(name).put("", size)


async def answer(me: Any, name: str) -> None:
    """Receive it."""
    await me.mailbox(name).get()


def test_links_are_named_after_their_ends() -> None:
    graph = Graph(**FORK)
    assert graph.links == ("a->b", "b->a", "b->c")
    assert graph.links[2] == "b->c"
    assert (graph.n_hosts, graph.n_links) == (3, 3)


def test_an_edge_becomes_a_link_a_direction() -> None:
    graph = Graph.duplex(
        ["a", "b", "c"],
        np.ones(3),
        np.array([[0, 1], [2, 1]]),
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([0.1, 0.2]),
    )
    assert graph.links == ("a->b", "b->a", "c->b", "b->c")
    assert graph.bandwidth.tolist() == [1, 2, 3, 4]
    assert graph.latency.tolist() == [0.1, 0.1, 0.2, 0.2]


def test_both_directions_may_have_one_bandwidth() -> None:
    graph = Graph.duplex("abc", np.ones(3), np.array([[0, 1], [2, 1]]), np.array([5.0, 6.0]))
    assert graph.bandwidth.tolist() == [5, 5, 6, 6]
    assert graph.latency.tolist() == [1e-3] * 4


def test_a_single_host_has_no_links() -> None:
    graph = Graph.duplex(["a"], np.ones(1), np.zeros((0, 2), dtype=int), np.zeros(0))
    assert (graph.n_links, graph.links) == (0, ())


def test_the_platform_has_the_hosts_and_links() -> None:
    (zone,) = Graph(**FORK).platform().elements
    assert isinstance(zone, Zone)
    assert [(host.id, host.speed) for host in zone.hosts] == [
        ("a", 1e9),
        ("b", NO_SPEED),
        ("c", 2e9),
    ]
    assert [(link.id, link.bandwidth, link.latency) for link in zone.links] == [
        ("a->b", 1e6, 0.0),
        ("b->a", 2e6, 0.5),
        ("b->c", 3e6, 0.25),
    ]


def test_a_link_without_bandwidth_is_not_in_the_platform() -> None:
    one_way = Graph.duplex("ab", np.ones(2), np.array([[0, 1]]), np.array([[1e6, 0.0]]))
    (zone,) = one_way.platform().elements
    assert isinstance(zone, Zone)
    assert [link.id for link in zone.links] == ["a->b"]
    assert [(route.source, route.destination) for route in zone.routes] == [("a", "b")]


@pytest.mark.parametrize(("start", "stop", "date"), [("b", "a", 0.5 + 2), ("b", "c", 0.25 + 4 / 3)])
def test_simgrid_routes_between_neighbours(start: str, stop: str, date: float) -> None:
    result = simulate(
        Graph(**FORK).platform(),
        [
            Placement(start, ask, ("box", 4e6)),
            Placement(stop, answer, ("box",)),
        ],
        options=SimGridOptions.linear(),
    )
    assert result.clock == pytest.approx(date, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"speed": np.ones(2)}, r"speed has shape \(2,\); give \(3,\)"),
        ({"latency": np.ones(2)}, r"latency has shape \(2,\); give \(3,\)"),
        ({"speed": np.array([1, -1, 1])}, "speed has a value out of its range"),
        ({"bandwidth": np.array([1, np.inf, 1])}, "bandwidth has a value out of its range"),
        ({"latency": np.array([0, np.nan, 1])}, "latency has a value out of its range"),
        ({"source": np.array([0, 3, 1])}, r"an end of a link is not in 0\.\.2"),
        ({"destination": np.array([1, -1, 2])}, r"an end of a link is not in 0\.\.2"),
        ({"hosts": ("a", "b", "b")}, "two hosts are called 'b'"),
        ({"destination": np.array([1, 1, 2])}, "a link joins a host to itself"),
        (
            {"source": np.array([0, 1, 1]), "destination": np.array([1, 2, 2])},
            "two links join the same hosts in the same direction",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PlatformError, match=message):
        Graph(**(FORK | changes))


INF = np.inf


def tree(**changed):
    fields = {
        "hosts": ("r", "a", "b", "c"),
        "parent": [-1, 0, 0, 1],
        "speed": [1.0, 2.0, 0.0, 4.0],
        "bandwidth": [INF, 5.0, 6.0, 7.0],
        "latency": [0.0, 0.1, 0.2, 0.3],
    }
    return Tree(**(fields | changed))


def test_children_and_depth():
    assert tree().children == ((1, 2), (3,), (), ())
    assert tree().depth.tolist() == [0, 1, 1, 2]


def test_graph_has_a_link_in_each_direction():
    graph = tree().graph()
    ends = set(zip(graph.source.tolist(), graph.destination.tolist(), strict=True))
    assert ends == {(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1)}
    widths = {graph.links[i]: graph.bandwidth[i] for i in range(graph.n_links)}
    assert widths["a->c"] == widths["c->a"] == 7.0
    assert graph.latency.tolist() == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parent": [-1, 0, 3, 1]}, "'b' comes before its parent"),
        ({"parent": [-1, 0, -1, 1]}, "no other, must have the parent -1"),
        ({"parent": [-1, 0, 0]}, r"parent has shape \(3,\)"),
        ({"speed": [1.0, -2.0, 0.0, 4.0]}, "speed has a value out of its range"),
        ({"bandwidth": [INF, 0.0, 6.0, 7.0]}, "bandwidth has a value out of its range"),
        ({"bandwidth": [9.0, 1.0, 6.0, 7.0]}, "the root has no link"),
        ({"hosts": ("r", "a", "b", "a")}, "two hosts are called 'a'"),
    ],
)
def test_refused(changed, message):
    with pytest.raises(PlatformError, match=message):
        tree(**changed)


def test_no_host():
    with pytest.raises(PlatformError, match="no host"):
        Tree((), [], [], [], [])


@pytest.mark.parametrize("law", ["uniform", "log-uniform"])
def test_random_tree_keeps_to_its_ranges(law):
    made = random_tree(2000, 5, np.random.default_rng(3), bandwidth_law=law)
    assert made.n_hosts == 2000
    degrees = np.bincount(made.parent[1:], minlength=2000)
    assert degrees.max() == 5
    # Breadth first: all hosts but the last ones, which nobody was left for, have children.
    filled = int(made.parent.max())
    assert degrees[:filled].min() >= 1
    assert np.all(np.diff(made.parent) >= 0)
    for drawn, (low, high) in ((made.speed, SPEEDS), (made.bandwidth[1:], BANDWIDTHS)):
        assert low <= drawn.min()
        assert drawn.max() <= high
    middle = np.mean(BANDWIDTHS) if law == "uniform" else np.sqrt(np.prod(BANDWIDTHS))
    assert np.median(made.bandwidth[1:]) == pytest.approx(middle, rel=0.15)


def test_random_tree_is_its_seed_and_its_root_may_only_distribute():
    one, two = (random_tree(9, 2, np.random.default_rng(7), root_computes=c) for c in (True, False))
    assert one.parent.tolist() == two.parent.tolist()
    assert one.speed[1:].tolist() == two.speed[1:].tolist()
    assert one.speed[0] > 0
    assert two.speed[0] == 0


def test_latencies_are_drawn_apart_from_all_else():
    draws = np.random.default_rng(7)
    made = random_tree(4000, 5, draws, latencies=LATENCIES)
    plain_draws = np.random.default_rng(7)
    plain = random_tree(4000, 5, plain_draws)
    assert not plain.latency.any()
    for name in ("parent", "speed", "bandwidth"):
        assert np.array_equal(getattr(made, name), getattr(plain, name))
    # What is drawn next is the same too.
    assert draws.integers(2**63) == plain_draws.integers(2**63)
    late = made.latency
    assert late[0] == 0
    # "latency ranged from 6 ms to 10 sec", evenly over the powers of ten between.
    exponents = np.log10(late[1:])
    law = stats.uniform(np.log10(6e-3), 1 - np.log10(6e-3))
    assert stats.kstest(exponents, law.cdf).pvalue > 0.01
    # Not those of the bandwidths in another scale.
    assert abs(np.corrcoef(exponents, np.log(made.bandwidth[1:]))[0, 1]) < 0.06
    again = random_tree(4000, 5, np.random.default_rng(7), latencies=LATENCIES)
    assert np.array_equal(late, again.latency)


def test_trees_of_old_seeds_stay_as_they_were():
    # The draws as they always were, made anew: speeds, logarithms of bandwidths, degrees.
    draws = np.random.default_rng(11)
    speed = draws.uniform(*SPEEDS, 12)
    bandwidth = np.exp(draws.uniform(*np.log(BANDWIDTHS), 12))
    parent = [-1]
    for host in range(12):
        if len(parent) < 12:
            parent += [host] * int(draws.integers(1, 4))
    for latencies in (None, LATENCIES):
        made = random_tree(12, 3, np.random.default_rng(11), latencies=latencies)
        assert made.speed.tolist() == speed.tolist()
        assert made.bandwidth[1:].tolist() == bandwidth[1:].tolist()
        assert made.parent.tolist() == parent[:12]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2), "hosts of a tree is 0; give a whole number from 1"),
        ((3, 0), "largest number of children is 0; give a whole number from 1"),
    ],
)
def test_random_tree_refuses(arguments, message):
    with pytest.raises(PlatformError, match=message):
        random_tree(*arguments, np.random.default_rng(0))


def test_random_tree_refuses_ranges_and_laws():
    generator = np.random.default_rng(0)
    with pytest.raises(PlatformError, match="speeds is"):
        random_tree(3, 2, generator, speeds=(2.0, 1.0))
    with pytest.raises(PlatformError, match="bandwidth_law is 'normal'"):
        random_tree(3, 2, generator, bandwidth_law="normal")
