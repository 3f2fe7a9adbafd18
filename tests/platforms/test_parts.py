from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from simplugin.errors import DeploymentError, PlatformError
from simplugin.platforms import (
    BypassRoute,
    Cabinet,
    Cluster,
    Config,
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
)

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no name": (lambda: Host("", 1e9), "no name"),
    "control character": (lambda: Host("a\0", 1e9), "XML cannot hold"),
    "no speed": (lambda: Host("a", 0.0), "speed of host 'a' is 0.0"),
    "negative speed": (lambda: Host("a", -1.0), "speed of host 'a' is -1.0"),
    "infinite speed": (lambda: Host("a", math.inf), "speed of host 'a' is inf"),
    "speed not a number": (lambda: Host("a", math.nan), "speed of host 'a' is nan"),
    "no core": (lambda: Host("a", 1e9, cores=0), "cores of host 'a' cannot be 0"),
    "half a core": (lambda: Host("a", 1e9, cores=1.5), "cannot be 1.5"),  # type: ignore[arg-type]
    "no such state": (lambda: Host("a", 1e9, pstate=1), "power state 1, but has 1"),
    "flat coordinates": (lambda: Router("r", (1.0, 2.0)), "coordinates"),  # type: ignore[arg-type]
    "disk": (lambda: Disk("d", 1e8, 0.0), "write bandwidth of disk 'd'"),
    "bandwidth": (lambda: Link("l", 0.0), "bandwidth of link 'l' is 0.0"),
    "latency": (lambda: Link("l", 1e6, -1e-6), "latency of link 'l' is -1e-06"),
    "tiny latency": (lambda: Link("l", 1e6, 5e-324), "latency of link 'l' is 5e-324"),
    "policy": (lambda: Link("l", 1e6, sharing_policy="FULLDUPLEX"), "FATPIPE, SHARED"),
    "Wi-Fi latency": (lambda: Link("l", 1e6, 1.0, "WIFI"), "'l' is WIFI and has a latency"),
    "direction": (lambda: LinkUse("l", "LEFT"), "direction of link 'l'"),
    "host link": (lambda: HostLink("a", "", "l"), "link up from host 'a'"),
    "empty route": (lambda: Route("a", "b", []), "route from 'a' to 'b' has no link"),
    "empty bypass": (lambda: BypassRoute("a", "b", []), "bypassRoute from 'a' to 'b'"),
    "gateways": (lambda: ZoneRoute("x", "y", "g", "g", ["l"]), "'g' as both gateways"),
    "radical": (
        lambda: Cluster("c", "0-x", 1e9, 1e8, 0),
        "radical of cluster 'c' is invalid: radical '0-x' is malformed",
    ),
    "backwards": (lambda: Cluster("c", "3-0", 1e9, 1e8, 0), "'3-0' .* holds no number"),
    "twice": (lambda: Cluster("c", "0-3,2", 1e9, 1e8, 0), "number 2 twice"),
    "torus": (lambda: Cluster("c", "0-3", 1e9, 1e8, 0, topology="TORUS"), "topology param"),
    "backbone": (lambda: Cluster("c", "0", 1e9, 1e8, 0, backbone_latency=1.0), "without a back"),
    "cabinet": (lambda: Cabinet("k", "", 1e9, 1e8, 0), "radical '' is malformed"),
    "peer": (lambda: Peer("p", 1e9, 0, 1e6), "bandwidth in of peer 'p'"),
    "routing": (lambda: Zone("w", "Star"), "routing of zone 'w' is 'Star'.*Cluster"),
    "mixture": (
        lambda: Zone("w", "Full", (Host("a", 1e9), Cluster("c", "0", 1e9, 1e8, 0))),
        "zone 'w' holds a host beside a cluster",
    ),
    "routes of zones": (
        lambda: Zone("w", "Full", (Host("a", 1e9),), (ZoneRoute("x", "y", "g", "h", ["l"]),)),
        "zone 'w' holds a host beside a zoneRoute",
    ),
    "split state": (
        lambda: Link("l", 1e6, 0.0, "SPLITDUPLEX", state_profile="p"),
        "'l' is SPLITDUPLEX and has a state profile",
    ),
    "no profile": (lambda: Profile("t"), "neither values nor a file"),
    "profile use": (lambda: ProfileUse("t", "a", "COLOUR"), "'COLOUR'.*HOST_AVAIL"),
    "property": (lambda: Config({"": "x"}), "no name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_part_is_refused_by_name_with_a_remedy(case: str) -> None:
    make, message = WRONG[case]
    with pytest.raises(PlatformError, match=message) as caught:
        make()
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DeployedActor("", "f"), "host of an actor has no name"),
        (lambda: DeployedActor("a", ""), "function of an actor has no name"),
        (lambda: DeployedActor("a", "f", start_time=-1), "actor 'f' on host 'a' starts at -1"),
        (lambda: DeployedActor("a", "f", start_time=2, kill_time=2), "killed at 2 s"),
        (lambda: DeployedActor("a", "f", on_failure="CRY"), "choose DIE or RESTART"),
        (lambda: DeployedActor("a", "f", (1,)), "an argument of .* is 1"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_actor_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(DeploymentError, match=message) as caught:
        make()
    assert caught.value.remedy


def test_parts_are_values() -> None:
    platform = Platform(
        Zone(
            "w",
            "full",
            [Host("a", 1e9, properties={"ram": "1"}), Host("b", 1e9), Link("l", 1e6)],
            [Route("a", "b", ["l"], symmetrical=False)],
        ),
        directory=Path("somewhere"),
    )
    for twin in (copy.deepcopy(platform), pickle.loads(pickle.dumps(platform))):
        assert twin == platform
        assert hash(twin) == hash(platform)
    (zone,) = platform.elements
    assert isinstance(zone, Zone)
    assert zone.routing == "Full"
    assert [host.id for host in zone.hosts] == ["a", "b"]
    assert zone.routes[0].links == (LinkUse("l"),)
    assert Deployment([DeployedActor("a", "f")]).actors == (DeployedActor("a", "f"),)  # type: ignore[arg-type]


def test_properties_are_a_copy() -> None:
    properties = {"ram": "1"}
    host = Host("a", 1e9, properties=properties)
    properties["ram"] = "2"
    assert host.properties == {"ram": "1"}


def test_hosts_of_clusters_count_too() -> None:
    cluster = Cluster("c", "7,1-2", 1e9, 1e8, 0, prefix="n-", suffix=".x")
    platform = Platform((Zone("w", "Full", (Zone("v", "Full", (Host("a", 1.0),)), cluster)),))
    assert list(platform.host_names()) == ["a", "n-7.x", "n-1.x", "n-2.x"]
    assert platform.host_count == 4
    assert cluster.router_name == "n-c_router.x"
