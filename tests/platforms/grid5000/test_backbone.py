"""Ways over the backbone against networkx, and distances against another formula."""

import math
from itertools import combinations, pairwise

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.platforms.grid5000.facts import Adapter, BackboneLink, SitePosition
from simplugin.platforms.grid5000.latencies import CITIES, EARTH_RADIUS, Latencies, distance
from simplugin.platforms.grid5000.platform import backbone_ways

NAMES = "abcdef"


@st.composite
def networks(draw):
    """Latencies between places, all of which can be reached."""
    tree = {(NAMES[draw(st.integers(0, at - 1))], NAMES[at]) for at in range(1, len(NAMES))}
    further = draw(st.sets(st.sampled_from(list(combinations(NAMES, 2)))))
    ends = sorted(tree | further)
    turned = [draw(st.permutations(pair)) for pair in ends]
    # Whole numbers: ties are frequent, and sums exact.
    return {tuple(pair): float(draw(st.integers(1, 4))) for pair in turned}


def found_ways(latencies, sites):
    links = [BackboneLink(ends, 1e9) for ends in latencies]
    return backbone_ways(links, Latencies(links=latencies), sites)


@settings(max_examples=50)
@given(networks(), st.sets(st.sampled_from(NAMES), min_size=2))
def test_ways_are_shortest(latencies, chosen):
    sites = sorted(chosen)
    ways, links = found_ways(latencies, sites)
    graph = networkx.Graph()
    graph.add_weighted_edges_from((*ends, value) for ends, value in latencies.items())
    assert set(ways) == {(one, other) for one in sites for other in sites if one != other}
    for (one, other), way in ways.items():
        at, places, total = one, [one], 0.0
        for use in way:
            ends = tuple(use.link.split("_"))
            start, at = ends if use.direction == "UP" else ends[::-1]
            assert start == places[-1]
            places.append(at)
            total += latencies[ends]
        assert places[-1] == other
        assert total == networkx.dijkstra_path_length(graph, one, other)
        back = [(use.link, use.direction != "UP") for use in reversed(ways[other, one])]
        assert back == [(use.link, use.direction == "UP") for use in way]
        if one < other:
            assert places == min(networkx.all_shortest_paths(graph, one, other, "weight"))
    assert {link.id for link in links} == {use.link for way in ways.values() for use in way}


def test_links_are_data():
    latencies = {("a", "p"): 0.5, ("p", "b"): 0.25, ("p", "idle"): 1.0}
    ways, links = found_ways(latencies, ["a", "b"])
    assert [use.link + use.direction for use in ways["b", "a"]] == ["p_bDOWN", "a_pDOWN"]
    found = [(link.id, link.bandwidth, link.latency) for link in links]
    assert found == [("a_p", 1.25e8, 0.5), ("p_b", 1.25e8, 0.25)]


def test_refusals():
    with raises_naming(PlatformError, "'a'", "'c'"):
        found_ways({("a", "b"): 1.0}, ["a", "b", "c"])
    links = [BackboneLink(ends, 1e9) for ends in pairwise("aba")]
    with raises_naming(PlatformError, "'b'", "'a'"):
        backbone_ways(links, Latencies(links={("a", "b"): 1.0}), "ab")
    with raises_naming(PlatformError, "'atlantis'"):
        backbone_ways([BackboneLink(("atlantis", "lyon"), 1e9)], Latencies(), ["lyon"])


PLACES = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def test_an_adapter_has_the_latency_of_the_rate_below():
    table = Latencies({"Ethernet": {1e9: 3.0, 1e10: 2.0, 1e11: 1.0}})
    found = [table.of_adapter(Adapter("Ethernet", rate)) for rate in (1e8, 1e9, 9e9, 1e10, 4e11)]
    assert found == [3.0, 3.0, 3.0, 2.0, 1.0]


def test_interfaces_that_are_not_given_stay():
    table = Latencies({"Myrinet": {10e9: 2e-6}, "Ethernet": {1e9: 1e-3}})
    assert table.of_adapter(Adapter("Myrinet", 2e9)) == 2e-6
    assert table.of_adapter(Adapter("Ethernet", 100e9)) == 1e-3
    for interface in ("InfiniBand", "Omni-Path"):
        assert table.adapters[interface] == Latencies().adapters[interface]
    with raises_naming(PlatformError, "Token Ring"):
        table.of_adapter(Adapter("Token Ring", 16e6))


def test_backbone_links_take_the_time_of_light_in_fibres():
    # Paris and Lyon are 392 km apart (great circle between the city halls, to a kilometre).
    link = BackboneLink(("renater-paris", "renater-lyon"), 1e10)
    table = Latencies(router=0.0, detour=1.0)
    assert table.of_backbone(link) * 2 / 3 * 299_792_458 == pytest.approx(392e3, abs=2e3)
    longer = Latencies(router=1.0, detour=3.0).of_backbone(link)
    # All in whole microseconds.
    assert longer == pytest.approx(1.0 + 3 * table.of_backbone(link), abs=2.1e-6)
    assert longer == float(f"{longer * 1e3:.3f}") * 1e-3
    # A site and the point of presence of its town.
    here = BackboneLink(("nancy", "renater-nancy"), 1e10)
    assert Latencies(router=0.25).of_backbone(here) == 0.25
    # Known links are taken as they are.
    known = Latencies(links={("x", "a"): 0.5})
    for ends in (("a", "x"), ("x", "a")):
        assert known.of_backbone(BackboneLink(ends, 1e9)) == 0.5


@given(PLACES, PLACES)
def test_distance_is_the_angle_between_two_vectors(one, other):
    vectors = []
    for latitude, longitude in (one, other):
        south, west = math.radians(latitude), math.radians(longitude)
        ring = math.cos(south)
        vectors.append((ring * math.cos(west), ring * math.sin(west), math.sin(south)))
    angle = 2 * math.asin(min(1.0, math.dist(*vectors) / 2))
    assert distance(one, other) == pytest.approx(EARTH_RADIUS * angle, rel=1e-6, abs=1e-6)
    assert distance(one, other) == distance(other, one)


WRONG_TABLES = [
    ({"switch": -1e-6}, "switch -1e-06"),
    ({"router": math.nan}, "router nan"),
    ({"detour": 0.9}, "detour 0.9"),
    ({"adapters": {"Ethernet": {}}}, "Ethernet"),
    ({"adapters": {"Ethernet": {0.0: 1.0}}}, "Ethernet 0.0"),
    ({"adapters": {"Ethernet": {1e9: -1.0}}}, "Ethernet -1.0"),
    ({"links": {("a", "b"): -1.0}}, "a - b -1.0"),
    ({"cities": {"a": (91.0, 0.0)}}, "'a' 91.0"),
]


@pytest.mark.parametrize(("fields", "named"), WRONG_TABLES)
def test_refusals_of_tables(fields, named):
    with raises_naming(PlatformError, *named.split()):
        Latencies(**fields)


def test_towns_are_where_they_are():
    # All between the Atlantic and the Rhine, the Channel and the Mediterranean.
    for name, (latitude, longitude) in CITIES.items():
        assert 43 < latitude < 51, name
        assert -2 < longitude < 8, name
    assert distance(CITIES["lille"], CITIES["sophia"]) == pytest.approx(835e3, rel=0.02)


def test_places_of_the_reference_are_taken_where_the_table_has_none():
    places = [
        SitePosition("brest", 0.0, 0.0),
        SitePosition("renater-sea", 0.0, 90.0),
        SitePosition("lyon", 0.0, 90.0),
    ]
    plain = Latencies(router=0.0, detour=1.0)
    table = plain.with_places(places)
    quarter = math.pi / 2 * EARTH_RADIUS / (2 / 3 * 299_792_458)
    # A point of presence called after the site is there, too.
    for ends in (("brest", "renater-sea"), ("renater-brest", "renater-sea")):
        link = BackboneLink(ends, 1e9)
        assert table.of_backbone(link) == pytest.approx(quarter, abs=1e-6)
        with raises_naming(PlatformError, repr(ends[0])):
            plain.of_backbone(link)
    here = BackboneLink(("lyon", "renater-paris"), 1e9)
    assert table.of_backbone(here) == plain.of_backbone(here)
    mine = Latencies(cities={"brest": (0.0, 90.0)}, router=0.0).with_places(places)
    assert mine.of_backbone(BackboneLink(("brest", "renater-sea"), 1e9)) == 0.0
    assert plain.with_places(places[2:]) == plain
