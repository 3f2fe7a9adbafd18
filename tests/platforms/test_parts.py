from __future__ import annotations

import copy
import math
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from simplugin.errors import DeploymentError, PlatformError
from simplugin.platforms import (
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
)

VALID = (
    Host("a", 1e9),
    Disk("a", 1e8, 1e8),
    Link("a", 1e6),
    Cluster("a", "0-3", 1e9, 1e8, 0.0, backbone_bandwidth=1e9, backbone_latency=1e-4),
    Cabinet("a", "0-3", 1e9, 1e8, 0.0),
    Peer("a", 1e9, 1e6, 1e6),
)


@pytest.mark.parametrize("part", VALID, ids=lambda part: type(part).__name__)
def test_numbers_of_parts_are_in_their_range(part: Any) -> None:
    words = ("speed", "bandwidth", "latency")
    names = [each.name for each in fields(part) if any(word in each.name for word in words)]
    for name in (each for each in names if isinstance(getattr(part, each), float | int)):
        wrong = [-1.0, 5e-324, math.inf, math.nan] + ([] if "latency" in name else [0.0])
        for value in wrong:
            message = f"{name.replace('_', ' ')} of .* 'a' is {value!r}"
            with pytest.raises(PlatformError, match=message) as caught:
                replace(part, **{name: value})
            assert caught.value.remedy


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Host("", 1e9), "no name"),
        (lambda: Host("a\0", 1e9), "XML cannot hold"),
        (lambda: Host("a", 1e9, cores=0), "cores of host 'a' cannot be 0"),
        (lambda: Host("a", 1e9, cores=1.5), r"cannot be 1\.5"),
        (lambda: Host("a", 1e9, pstate=1), "power state 1, but has 1"),
        (lambda: Router("r", (1.0, 2.0)), "coordinates"),
        (lambda: Link("l", 1e6, sharing_policy="FULLDUPLEX"), "FATPIPE, SHARED"),
        (lambda: Link("l", 1e6, 1.0, "WIFI"), "'l' is WIFI and has a latency"),
        (lambda: Link("l", 1.0, 0.0, "SPLITDUPLEX", state_profile="p"), "has a state profile"),
        (lambda: LinkUse("l", "LEFT"), "direction of link 'l'"),
        (lambda: HostLink("a", "", "l"), "link up from host 'a'"),
        (lambda: Route("a", "b", []), "route from 'a' to 'b' has no link"),
        (lambda: ZoneRoute("x", "y", "g", "g", ["l"]), "'g' as both gateways"),
        (lambda: Cluster("c", "0-x", 1e9, 1e8, 0), "of cluster 'c' is invalid: radical '0-x' is m"),
        (lambda: Cluster("c", "3-0", 1e9, 1e8, 0), "'3-0' .* holds no number"),
        (lambda: Cluster("c", "0-3,2", 1e9, 1e8, 0), "number 2 twice"),
        (lambda: Cluster("c", "0-3", 1e9, 1e8, 0, topology="TORUS"), "topology param"),
        (lambda: Cluster("c", "0", 1e9, 1e8, 0, backbone_latency=1.0), "without a back"),
        (lambda: Zone("w", "Star"), "routing of zone 'w' is 'Star'.*Cluster"),
        (lambda: Zone("w", "Full", (VALID[0], VALID[3])), "'w' holds a host beside a cluster"),
        (lambda: Zone("w", "Full", (VALID[0],), (JOINS,)), "holds a host beside a zoneRoute"),
        (lambda: Profile("t"), "neither values nor a file"),
        (lambda: ProfileUse("t", "a", "COLOUR"), "'COLOUR'.*HOST_AVAIL"),
        (lambda: DeployedActor("", "f"), "host of actor 'f' .* has no name"),
        (
            lambda: DeployedActor("a", "f", start_time=-1),
            "time of actor 'f' on host 'a' is -1",
        ),
        (lambda: DeployedActor("a", "f", start_time=2, kill_time=2), "killed at 2 s"),
        (lambda: DeployedActor("a", "f", on_failure="CRY"), "choose among DIE, RESTART"),
        (lambda: DeployedActor("a", "f", (1,)), "arguments of actor .* is 1"),
    ],
)
def test_an_invalid_part_is_refused_by_name_with_a_remedy(make: Any, message: str) -> None:
    with pytest.raises((PlatformError, DeploymentError), match=message) as caught:
        make()
    assert caught.value.remedy


JOINS = ZoneRoute("x", "y", "g", "h", ["l"])


def test_parts_are_values() -> None:
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


def test_hosts_of_clusters_count_too() -> None:
    cluster = Cluster("c", "7,1-2", 1e9, 1e8, 0, prefix="n-", suffix=".x")
    platform = Platform((Zone("w", "Full", (Zone("v", "Full", (Host("a", 1.0),)), cluster)),))
    assert list(platform.host_names()) == ["a", "n-7.x", "n-1.x", "n-2.x"]
    assert platform.host_count == 4
    assert cluster.router_name == "n-c_router.x"
