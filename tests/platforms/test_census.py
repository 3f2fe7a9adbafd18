"""Counts of platforms whose numbers are known, and the pairs of hosts that are asked for."""

from collections import Counter
from collections.abc import Callable
from itertools import permutations

import pytest

from simplugin.platforms import Cluster, Host, Link, Platform, Router, Zone, ZoneRoute, census
from simplugin.platforms.census import Computing, HostPairs, PlatformPart, census_of, telling_pairs

Sampled = Callable[[Platform, int], HostPairs]


def cluster(
    name: str, numbers: str, topology: str = "FLAT", sizes: str = "", cores: int = 1
) -> Cluster:
    fields = {"topology": topology, "topology_parameters": sizes}
    return Cluster(name, numbers, 1e9, 1e8, 1e-4, prefix=name, cores=cores, **fields)


def hosts(count: int) -> Platform:
    return Platform(Zone("all", "Full", tuple(Host(f"h{at}", 1e9) for at in range(count))))


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> Sampled:
    """A function that chooses pairs where so many are too many."""

    def choose(platform: Platform, most: int) -> HostPairs:
        monkeypatch.setattr(census, "MOST_PAIRS", most)
        return telling_pairs(platform)

    return choose


def all_pairs_of(zone: Zone, wanted: list[tuple[str, str]]) -> None:
    chosen = telling_pairs(Platform(zone))
    assert chosen.complete
    assert sorted(chosen.pairs) == sorted(wanted)


def test_a_host_stands_for_its_cluster():
    office = Zone("office", "Full", (Host("x", 1e9), Host("y", 1e9)))
    place = Zone("all", "Full", (cluster("a", "1-30"), cluster("b", "1"), office))
    all_pairs_of(place, [*permutations(("a2", "b1", "x", "y"), 2), ("a1", "a2"), ("a2", "a1")])


def test_every_host_is_in_a_sample(sampled):
    chosen = sampled(hosts(50), 200)
    assert not chosen.complete
    assert len(set(chosen.pairs)) == 200
    assert all(source != destination for source, destination in chosen.pairs)
    for end in range(2):
        assert Counter(pair[end] for pair in chosen.pairs) == {f"h{at}": 4 for at in range(50)}
    assert sampled(hosts(50), 200) == chosen
    # Too many hosts even for one pair each.
    few = sampled(hosts(50), 20)
    assert not few.complete
    assert len(few.pairs) == 20
    assert all(source != destination for source, destination in few.pairs)
    # As many as allowed is all.
    assert sampled(hosts(5), 20).complete
    assert not sampled(hosts(5), 19).complete
    assert telling_pairs(hosts(1)).pairs == ()


def test_the_first_of_many_pairs_are_a_sample():
    chosen = telling_pairs(hosts(40))
    assert chosen.complete
    assert {*chosen.pairs} == {*permutations((f"h{at}" for at in range(40)), 2)}
    # In order the first 78 would start at two hosts.
    assert len({source for source, _ in chosen.pairs[:78]}) > 20


@pytest.mark.parametrize(
    ("topology", "sizes"),
    [("TORUS", "3,4"), ("FAT_TREE", "2;4,3;1,2;1,1"), ("DRAGONFLY", "2,1;3,1;2,1;1")],
)
def test_hosts_of_other_topologies_stand_for_themselves(topology, sizes):
    place = Zone("all", "Floyd", (cluster("c", "1-12", topology, sizes), cluster("flat", "1-30")))
    alike = [("flat1", "flat2"), ("c2", "flat2"), tuple(f"c{at}" for at in range(1, 13))]
    all_pairs_of(place, [pair for names in alike for pair in permutations(names, 2)])


def test_tori_share_the_pairs(sampled):
    # 12 x 11 pairs each, and 2 between them.
    tori = cluster("a", "1-12", "TORUS", "12"), cluster("b", "7-12,1-6", "TORUS", "3,4")
    two = Platform(Zone("all", "Full", tori))
    assert len(sampled(two, 264).pairs) == 266
    assert sampled(two, 264).complete
    less = sampled(two, 263)
    assert not less.complete
    # 131 each are 10 shifts of 12.
    within = [pair for pair in less.pairs if pair[0][0] == pair[1][0]]
    assert len(within) + 2 == len(less.pairs)
    for end in range(2):
        counts = Counter(pair[end] for pair in within)
        assert counts == {f"{name}{at}": 10 for name in "ab" for at in range(1, 13)}


def test_a_torus_too_large_to_be_listed():
    numbers = f"5-9,20-{20 + 1400**2 - 6}"
    chosen = telling_pairs(Platform(cluster("t", numbers, "TORUS", "1400,1400")))
    assert not chosen.complete
    # Some thousand: routes of a torus are long.
    assert 1000 <= len(chosen.pairs) < 10_000
    assert all(source != destination for source, destination in chosen.pairs)
    found = {int(name[1:]) for pair in chosen.pairs for name in pair}
    assert all(at in range(5, 10) or at in range(20, 20 + 1400**2 - 5) for at in found)
    assert max(found) > 1_000_000


def test_nested_zones():
    gateway = Zone("gw", "Full", (Router("router"),))
    link = Link("up", 1e9, 1e-3, "SPLITDUPLEX")
    parts = gateway, cluster("a", "1-3", cores=4), cluster("b", "1-2"), link
    route = ZoneRoute("a", "b", "aa_router", "bb_router", ["up"])
    inner = Zone("site", "Floyd", parts, (route,))
    other = Zone("office", "Full", (Host("desk", 1e9, 2, (5e8,), 1), Host("shelf", 3e9)))
    found = census_of(Platform(Zone("all", "Full", (inner, other))))
    assert (found.zones, found.clusters) == (4, 2)
    assert found.computing == Computing(7, 17, 3 * 4 * 1e9 + 2 * 1e9 + 2 * 5e8 + 3e9)
    assert found.links == {"SPLITDUPLEX": 1}
    assert found.routes == {"zoneRoute": 1}
    assert found.parts == (
        PlatformPart("site", "zone", "Floyd", 2, Computing(5, 14, 14e9)),
        PlatformPart("office", "zone", "Full", 0, Computing(2, 3, 4e9)),
    )


def test_parts_are_those_of_the_first_zone_that_divides():
    site = Zone("site", "Floyd", (cluster("a", "1-3"), cluster("b", "1-2"), Zone("empty", "Full")))
    found = census_of(Platform(Zone("all", "Full", (site,))))
    assert [part.name for part in found.parts] == ["a", "b"]
    assert found.zones == 3
    # A cluster alone.
    found = census_of(Platform(cluster("a", "1-5", cores=2)))
    assert found.parts == (PlatformPart("a", "cluster", "FLAT", 1, Computing(5, 10, 10e9)),)
    assert found.zones == 0
