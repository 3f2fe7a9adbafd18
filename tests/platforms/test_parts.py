"""Parts of platforms: what is refused by name, radicals, and parts that do not fit together."""

import copy
import math
import pickle
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import DeploymentError, PlatformError
from simplugin.platforms import (
    BypassRoute,
    BypassZoneRoute,
    Cabinet,
    Cluster,
    DeployedActor,
    Deployment,
    Disk,
    Host,
    HostLink,
    Link,
    LinkUse,
    Peer,
    Platform,
    Profile,
    ProfileUse,
    Route,
    Router,
    Zone,
    ZoneRoute,
    radical,
)
from simplugin.platforms.consistency import find_problems, require_consistent
from simplugin.platforms.links import AnyRoute
from simplugin.platforms.platform import ZoneElement
from simplugin.simulation.resolve import resolve

VALID = (
    Host("a", 1e9),
    Disk("a", 1e8, 1e8),
    Link("a", 1e6),
    Cluster("a", "0-3", 1e9, 1e8, 0.0, backbone_bandwidth=1e9, backbone_latency=1e-4),
    Cabinet("a", "0-3", 1e9, 1e8, 0.0),
    Peer("a", 1e9, 1e6, 1e6),
)


@pytest.mark.parametrize("part", VALID, ids=lambda part: type(part).__name__)
def test_numbers_of_parts_are_in_their_range(part):
    words = ("speed", "bandwidth", "latency")
    names = [each.name for each in fields(part) if any(word in each.name for word in words)]
    for name in (each for each in names if isinstance(getattr(part, each), float | int)):
        wrong = [-1.0, 5e-324, math.inf, math.nan] + ([0.0] if "bandwidth" in name else [])
        quantity = name.replace("_", " ")
        for value in wrong:
            with raises_naming(PlatformError, quantity, f"'a' is {value!r}") as caught:
                replace(part, **{name: value})
            assert caught.value.remedy


INVALID_PARTS = [
    (lambda: Host("", 1e9), "''"),
    (lambda: Host("a\0", 1e9), "'a\\x00'"),
    (lambda: Host("a", 1e9, cores=0), "cores 'a' 0"),
    (lambda: Host("a", 1e9, cores=1.5), "cores 'a' 1.5"),
    (lambda: Host("a", 1e9, pstate=1), "'a' 1"),
    (lambda: Router("r", (1.0, 2.0)), "'r' (1.0, 2.0)"),
    (lambda: Link("l", 1e6, sharing_policy="FULLDUPLEX"), "'l' 'FULLDUPLEX' WIFI"),
    (lambda: Link("l", 1e6, 1.0, "WIFI"), "'l' WIFI latency"),
    (lambda: Link("l", 1.0, 0.0, "SPLITDUPLEX", state_profile="p"), "'l' SPLITDUPLEX l_UP"),
    (lambda: LinkUse("l", "LEFT"), "direction 'l' 'LEFT'"),
    (lambda: HostLink("a", "", "l"), "'a' ''"),
    (lambda: Route("a", "b", []), "'a' 'b'"),
    (lambda: ZoneRoute("x", "y", "g", "g", ["l"]), "'x' 'y' 'g'"),
    (lambda: Cluster("c", "0-x", 1e9, 1e8, 0), "'c' '0-x'"),
    (lambda: Cluster("c", "0-3", 1e9, 1e8, 0, topology="TORUS"), "'c' topology"),
    (lambda: Cluster("c", "0", 1e9, 1e8, 0, backbone_latency=1.0), "'c' backbone"),
    (lambda: Zone("w", "Star"), "'w' 'Star' Cluster"),
    (lambda: Zone("w", "Full", (VALID[0], VALID[3])), "'w' host cluster"),
    (lambda: Zone("w", "Full", (VALID[0],), (JOINS,)), "'w' host zoneRoute"),
    (lambda: Profile("t"), "'t'"),
    (lambda: ProfileUse("t", "a", "COLOUR"), "'t' 'COLOUR'"),
    (lambda: DeployedActor("", "f"), "'f' ''"),
    (lambda: DeployedActor("a", "f", start_time=-1), "start 'f' 'a' -1"),
    (lambda: DeployedActor("a", "f", start_time=2, kill_time=2), "'f' 'a' 2"),
    (lambda: DeployedActor("a", "f", on_failure="CRY"), "'f' 'a' 'CRY' DIE"),
    (lambda: DeployedActor("a", "f", (1,)), "arguments 'f' 'a' 1"),
]


@pytest.mark.parametrize(("make", "named"), INVALID_PARTS)
def test_an_invalid_part_is_refused_by_name_with_a_remedy(make, named):
    with raises_naming((PlatformError, DeploymentError), *named.split()) as caught:
        make()
    assert caught.value.remedy


JOINS = ZoneRoute("x", "y", "g", "h", ["l"])


def test_parts_are_values():
    properties = {"ram": "1"}
    parts = [Host("a", 1e9, properties=properties), Host("b", 1e9), Link("l", 1e6)]
    routes = [Route("a", "b", ["l"], symmetrical=False)]
    platform = Platform(Zone("w", "full", parts, routes), directory=Path("somewhere"))
    properties["ram"] = "2"
    for twin in (copy.deepcopy(platform), pickle.loads(pickle.dumps(platform))):
        assert twin == platform
        assert hash(twin) == hash(platform)
    (zone,) = platform.elements
    assert isinstance(zone, Zone)
    assert zone.routing == "Full"
    assert [host.id for host in zone.hosts] == ["a", "b"]
    assert zone.hosts[0].properties == {"ram": "1"}
    assert zone.routes[0].links == (LinkUse("l"),)
    assert Deployment([DeployedActor("a", "f")]).actors == (DeployedActor("a", "f"),)  # type: ignore[arg-type]


def test_hosts_of_clusters_count_too():
    cluster = Cluster("c", "7,1-2", 1e9, 1e8, 0, prefix="n-", suffix=".x")
    platform = Platform((Zone("w", "Full", (Zone("v", "Full", (Host("a", 1.0),)), cluster)),))
    assert list(platform.host_names()) == ["a", "n-7.x", "n-1.x", "n-2.x"]
    assert platform.host_count == 4
    assert cluster.router_name == "n-c_router.x"


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, unique=True))
def test_numbers_survive(values):
    text = radical.of_numbers(values)
    assert list(radical.numbers(text)) == values
    assert radical.count(text) == len(values)
    radical.require_radical("a cluster", text)


def test_runs_are_ranges():
    assert radical.of_numbers([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"


def test_spaces_are_overlooked():
    assert list(radical.numbers("0 - 2, 5")) == [0, 1, 2, 5]


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1-2-3", "1,,2", "3-1", "9999999999", "1.5"])
def test_nonsense_is_refused(text):
    with raises_naming(PlatformError, repr(text)):
        radical.ranges(text)


@pytest.mark.parametrize("text", ["1,1", "0-5,3", "3,0-5", "0-3,3-4"])
def test_a_number_twice_is_refused(text):
    with raises_naming(PlatformError, "'c'", repr(text)):
        radical.require_radical("cluster 'c'", text)


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


def test_links_of_clusters_have_simgrids_names():
    for link in ("n_link_2_UP", LinkUse("n_link_2", "DOWN")):
        platform = zone([NODES, MORE], [_between("n", "m", link)])
        assert messages(platform) == []
        assert resolve(platform, 40).unreachable == ()
    for link in ("n_link_4_UP", "n_link_2", "n_backbone"):
        assert len(messages(zone([NODES, MORE], [_between("n", "m", link)]))) == 1


def test_a_cluster_of_another_topology_needs_a_zone():
    torus = Cluster("t", "0-3", 1e9, 1e8, 1e-4, topology="TORUS", topology_parameters="2,2")
    with raises_naming(PlatformError, "'t'", "TORUS"):
        require_consistent(Platform(torus))
    require_consistent(Platform(Zone("w", "Full", (torus,))))


def test_peers_need_coordinates():
    peer = Peer("p", 1e9, 1e6, 1e6, (0.0, 0.0, 1.0))
    assert messages(zone([peer], [])) == ["error: peer 'p' is in zone 'w' of routing Full"]
    assert messages(zone([peer], [], "Vivaldi")) == []


def test_bypasses_count_as_routes():
    there, back = (BypassRoute(*ends, [LinkUse("l")]) for ends in (("a", "b"), ("b", "a")))
    assert messages(zone([A, B, LINK], [there, back])) == []
    assert "'b' cannot reach 'a'" in messages(zone([A, B, LINK], [there]))[0]
    sites = [Zone(f"z{host.id}", "Full", (host,)) for host in (A, B)]
    bypass = [BypassZoneRoute(f"z{a}", f"z{b}", a, b, [LinkUse("l")]) for a, b in ("ab", "ba")]
    assert messages(zone([*sites, LINK], bypass)) == []


def test_a_gateway_must_be_reached_from_within():
    routes = Route("a", "b", ["l"]), Route("a", "g", ["l"])
    inner = Zone("x", "Full", (A, B, Router("g"), LINK), routes)
    outer = Zone("y", "Full", (C,))
    platform = zone([inner, outer], [ZoneRoute("x", "y", "g", "c", ["l"])])
    message = "warning: 'b' cannot reach 'g': zone 'x' of routing Full has no route"
    assert messages(platform) == [message]
    # SimGrid leaves out the way to the gateway without a word.
    routes = resolve(platform, [("a", "c"), ("b", "c")]).routes
    assert [route.links for route in routes] == [("l", "l"), ("l",)]


def test_a_gateway_in_a_zone_of_zones_serves_its_own_zone_only():
    site = Zone("site", "Full", (NODES, MORE), (_between("n", "m", "n_link_0_UP"),))
    outer = Zone("y", "Full", (C, LINK))
    route = ZoneRoute("site", "y", "m-m_router", "c", ["l"])
    (message,) = messages(zone([site, outer], [route]))
    assert "hosts of zone 'site' outside 'm' cannot leave by gateway 'm-m_router'" in message
    alone = Zone("site", "Full", (MORE,))
    assert messages(zone([alone, outer], [route])) == []


def test_shortest_paths_need_only_hang_together():
    routes: list[AnyRoute] = [Route("a", "b", ["l"]), Route("b", "c", ["l"])]
    elements: list[ZoneElement] = [A, B, C, LINK]
    assert messages(zone(elements, routes, "Floyd")) == []
    assert messages(zone(elements, routes, "Dijkstra")) == []
    assert "'a' cannot reach 'c'" in messages(zone(elements, routes, "Full"))[0]
    assert "'a' cannot reach 'c'" in messages(zone(elements, routes[:1], "Floyd"))[0]


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra"])
@pytest.mark.parametrize("joined", [False, True])
def test_a_way_may_break_inside_a_zone_that_it_passes(routing, joined):
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


def test_zones_without_a_zone_around_them_are_apart():
    platform = Platform((Zone("x", "Full", (A,)), Zone("y", "Full", (B,))))
    assert "'x' and 'y' have no zone around them" in messages(platform)[0]
    assert len(resolve(platform, 2).unreachable) == 2


WIFI_RATES = [
    ("1", None),
    ("2", "error: host 'h' has wifi_rate '2'"),
    ("fast", "error: host 'h' has wifi_rate 'fast'"),
    (None, "warning: host 'h' of Wi-Fi zone 'z' has no property wifi_rate"),
]


@pytest.mark.parametrize(("rate", "message"), WIFI_RATES)
def test_hosts_of_wifi_zones_have_a_rate(rate, message):
    host = Host("h", 1e9, properties={} if rate is None else {"wifi_rate": rate})
    air = Link("air", 2e6, 0.0, "WIFI", further_bandwidths=(1e6,))
    platform = Platform(Zone("z", "Wifi", (host, air)))
    assert messages(platform) == ([] if message is None else [message])
