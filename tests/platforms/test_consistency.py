from __future__ import annotations

import pytest

from simplugin.errors import PlatformError
from simplugin.platforms import (
    BypassRoute,
    BypassZoneRoute,
    Cluster,
    Host,
    Link,
    LinkUse,
    Peer,
    Platform,
    Route,
    Router,
    Zone,
    ZoneRoute,
)
from simplugin.platforms.consistency import find_problems, require_consistent
from simplugin.platforms.links import AnyRoute
from simplugin.platforms.platform import ZoneElement
from simplugin.simulation.resolve import resolve


def zone(elements: list[ZoneElement], routes: list[AnyRoute], routing: str = "Full") -> Platform:
    """Return a platform of one zone."""
    return Platform(Zone("w", routing, tuple(elements), tuple(routes)))


def messages(platform: Platform) -> list[str]:
    """Say what is wrong with a platform."""
    return [f"{problem.severity}: {problem.message}" for problem in find_problems(platform)]


A, B, C, LINK = Host("a", 1e9), Host("b", 1e9), Host("c", 1e9), Link("l", 1e8)
NODES = Cluster("n", "0-3", 1e9, 1e8, 1e-4, prefix="n-")
MORE = Cluster("m", "0-3", 1e9, 1e8, 1e-4, prefix="m-")


def _between(source: str, destination: str, link: str | LinkUse) -> ZoneRoute:
    """Return a route between the routers of two clusters."""
    gateways = f"{source}-{source}_router", f"{destination}-{destination}_router"
    return ZoneRoute(source, destination, *gateways, [link])


def test_links_of_clusters_have_simgrids_names() -> None:
    for link in ("n_link_2_UP", LinkUse("n_link_2", "DOWN")):
        platform = zone([NODES, MORE], [_between("n", "m", link)])
        assert messages(platform) == []
        assert resolve(platform, 40).unreachable == ()
    for link in ("n_link_4_UP", "n_link_2", "n_backbone"):
        assert len(messages(zone([NODES, MORE], [_between("n", "m", link)]))) == 1


def test_a_cluster_of_another_topology_needs_a_zone() -> None:
    torus = Cluster("t", "0-3", 1e9, 1e8, 1e-4, topology="TORUS", topology_parameters="2,2")
    with pytest.raises(PlatformError, match="cluster 't' of topology TORUS is in no zone"):
        require_consistent(Platform(torus))
    require_consistent(Platform(Zone("w", "Full", (torus,))))


def test_peers_need_coordinates() -> None:
    peer = Peer("p", 1e9, 1e6, 1e6, (0.0, 0.0, 1.0))
    assert messages(zone([peer], [])) == ["error: peer 'p' is in zone 'w' of routing Full"]
    assert messages(zone([peer], [], "Vivaldi")) == []


def test_bypasses_count_as_routes() -> None:
    there, back = (BypassRoute(*ends, [LinkUse("l")]) for ends in (("a", "b"), ("b", "a")))
    assert messages(zone([A, B, LINK], [there, back])) == []
    assert "'b' cannot reach 'a'" in messages(zone([A, B, LINK], [there]))[0]
    sites = [Zone(f"z{host.id}", "Full", (host,)) for host in (A, B)]
    bypass = [BypassZoneRoute(f"z{a}", f"z{b}", a, b, [LinkUse("l")]) for a, b in ("ab", "ba")]
    assert messages(zone([*sites, LINK], bypass)) == []


def test_a_gateway_must_be_reached_from_within() -> None:
    routes = Route("a", "b", ["l"]), Route("a", "g", ["l"])
    inner = Zone("x", "Full", (A, B, Router("g"), LINK), routes)
    outer = Zone("y", "Full", (C,))
    platform = zone([inner, outer], [ZoneRoute("x", "y", "g", "c", ["l"])])
    message = "warning: 'b' cannot reach 'g': zone 'x' of routing Full has no route"
    assert messages(platform) == [message]
    # SimGrid leaves out the way to the gateway without a word.
    routes = resolve(platform, [("a", "c"), ("b", "c")]).routes
    assert [route.links for route in routes] == [("l", "l"), ("l",)]


def test_a_gateway_in_a_zone_of_zones_serves_its_own_zone_only() -> None:
    site = Zone("site", "Full", (NODES, MORE), (_between("n", "m", "n_link_0_UP"),))
    outer = Zone("y", "Full", (C, LINK))
    route = ZoneRoute("site", "y", "m-m_router", "c", ["l"])
    (message,) = messages(zone([site, outer], [route]))
    assert "hosts of zone 'site' outside 'm' cannot leave by gateway 'm-m_router'" in message
    alone = Zone("site", "Full", (MORE,))
    assert messages(zone([alone, outer], [route])) == []


def test_shortest_paths_need_only_hang_together() -> None:
    routes: list[AnyRoute] = [Route("a", "b", ["l"]), Route("b", "c", ["l"])]
    elements: list[ZoneElement] = [A, B, C, LINK]
    assert messages(zone(elements, routes, "Floyd")) == []
    assert messages(zone(elements, routes, "Dijkstra")) == []
    assert "'a' cannot reach 'c'" in messages(zone(elements, routes, "Full"))[0]
    assert "'a' cannot reach 'c'" in messages(zone(elements, routes[:1], "Floyd"))[0]


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra"])
@pytest.mark.parametrize("joined", [False, True])
def test_a_way_may_break_inside_a_zone_that_it_passes(routing: str, joined: bool) -> None:
    ends = [Route("in", "out", ["k"])] if joined else []
    middle = Zone("y", "Floyd", (Router("in"), Router("out"), Link("k", 1e8)), ends)
    sites = [Zone(f"z{host.id}", "Full", (host,)) for host in (A, B)]
    routes = [ZoneRoute("za", "y", "a", "in", ["l"]), ZoneRoute("y", "zb", "out", "b", ["l"])]
    platform = zone([*sites, middle, LINK], list(routes), routing)
    # SimGrid 4.1 crashes where the way of routing Dijkstra enters and leaves by different gateways.
    lost = routing == "Dijkstra" or not joined
    told = messages(platform)
    assert all("the way through zone 'y'" in message for message in told)
    assert bool(told) == bool(resolve(platform, 2).unreachable) == lost


def test_zones_without_a_zone_around_them_are_apart() -> None:
    platform = Platform((Zone("x", "Full", (A,)), Zone("y", "Full", (B,))))
    assert "'x' and 'y' have no zone around them" in messages(platform)[0]
    assert len(resolve(platform, 2).unreachable) == 2


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        ("1", None),
        ("2", "error: host 'h' has wifi_rate '2'"),
        ("fast", "error: host 'h' has wifi_rate 'fast'"),
        (None, "warning: host 'h' of Wi-Fi zone 'z' has no property wifi_rate"),
    ],
)
def test_hosts_of_wifi_zones_have_a_rate(rate: str | None, message: str | None) -> None:
    host = Host("h", 1e9, properties={} if rate is None else {"wifi_rate": rate})
    air = Link("air", 2e6, 0.0, "WIFI", further_bandwidths=(1e6,))
    platform = Platform(Zone("z", "Wifi", (host, air)))
    assert messages(platform) == ([] if message is None else [message])
