"""Counts of platforms whose numbers are known; shipped files are counted beside SimGrid."""

from __future__ import annotations

from simplugin.platforms import Cluster, Host, Link, Platform, Router, Zone, ZoneRoute
from simplugin.platforms.census import Computing, Part, census_of


def cluster(name: str, count: int, cores: int = 1) -> Cluster:
    return Cluster(name, f"1-{count}", 2e9, 1e8, 1e-4, prefix=f"{name}-", cores=cores)


def test_nested_zones() -> None:
    gateway = Zone("gw", "Full", (Router("router"),))
    link = Link("up", 1e9, 1e-3, "SPLITDUPLEX")
    inner = Zone(
        "site",
        "Floyd",
        (gateway, cluster("a", 3, 4), cluster("b", 2), link),
        (ZoneRoute("a", "b", "a-a_router", "b-b_router", ["up"]),),
    )
    other = Zone("office", "Full", (Host("desk", 1e9, 2, (5e8,), 1), Host("shelf", 3e9)))
    census = census_of(Platform(Zone("all", "Full", (inner, other))))
    assert (census.zones, census.clusters) == (4, 2)
    assert census.computing == Computing(7, 17, 3 * 4 * 2e9 + 2 * 2e9 + 2 * 5e8 + 3e9)
    assert census.links == {"SPLITDUPLEX": 1}
    assert census.routes == {"zoneRoute": 1}
    assert census.parts == (
        Part("site", "zone", "Floyd", 2, Computing(5, 14, 28e9)),
        Part("office", "zone", "Full", 0, Computing(2, 3, 4e9)),
    )


def test_parts_are_those_of_the_first_zone_that_divides() -> None:
    site = Zone("site", "Floyd", (cluster("a", 3), cluster("b", 2), Zone("empty", "Full")))
    census = census_of(Platform(Zone("all", "Full", (site,))))
    assert [part.name for part in census.parts] == ["a", "b"]
    assert census.zones == 3


def test_a_cluster_alone() -> None:
    census = census_of(Platform(cluster("a", 5, 2)))
    assert census.parts == (Part("a", "cluster", "FLAT", 1, Computing(5, 10, 20e9)),)
    assert census.zones == 0
