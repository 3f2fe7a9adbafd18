from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.platforms import Zone
from simplugin.platforms.graphs import NO_SPEED, Graph
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
    assert graph.link_name(2) == "b->c"
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
        ({"speed": np.array([1, -1, 1])}, "speed has a negative or infinite value"),
        ({"bandwidth": np.array([1, np.inf, 1])}, "bandwidth has a negative or infinite value"),
        ({"latency": np.array([0, np.nan, 1])}, "latency has a negative or infinite value"),
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
