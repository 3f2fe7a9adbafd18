"""The platform of Grid'5000 as SimGrid has it, and some of its sites."""

import math
from collections import defaultdict
from dataclasses import replace
from itertools import permutations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.formats.check import check
from simplugin.formats.grid5000.catalogue import shipped_catalogue
from simplugin.formats.platform_xml import platform_text, read_platform, write_platform
from simplugin.platforms import Platform, radical
from simplugin.platforms.consistency import find_problems
from simplugin.platforms.grid5000.facts import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    DataWarning,
    Grid5000,
    NodeGroup,
    SiteFacts,
    Uplink,
    selected,
)
from simplugin.platforms.grid5000.latencies import Latencies
from simplugin.platforms.grid5000.platform import grid5000_platform
from simplugin.simulation.resolve import resolve

G = 1e9
# Every part has a latency of its own, so that a sum tells what it is made of.
PARTS = {
    "adapters": {"Ethernet": {1 * G: 1e-6, 10 * G: 2e-6, 25 * G: 4e-6}, "Omni-Path": {1 * G: 5e-7}},
    "switch": 1e-3,
    "links": {
        ("lille", "renater-lille"): 1.0,
        ("lyon", "renater-lyon"): 2.0,
        ("nancy", "renater-nancy"): 4.0,
        ("renater-lille", "renater-paris"): 8.0,
        ("renater-paris", "renater-nancy"): 16.0,
        ("renater-lyon", "renater-paris"): 32.0,
    },
}
TABLE = Latencies(**PARTS)
OPA = Adapter("Omni-Path", 100 * G, "opa")


def ethernet(rate, switch=""):
    return Adapter("Ethernet", rate * G, switch)


def cluster(uid, *groups):
    return ClusterFacts(uid, tuple(NodeGroup(*group) for group in groups))


GROS = (("1-3", "s1"), ("4-5,7", "s2"))
GRVINGT = (("1-2", "s3"), ("3-4", "s1"))
# Only some of them can use the faster network, so that none does.
MIXED = ("1", 8, 1e9, ethernet(10, "gw"), OPA), ("2", 8, 1e9, ethernet(10, "gw"))
NANCY = SiteFacts(
    "nancy",
    "gw",
    (
        cluster("gros", *((numbers, 18, 2e9, ethernet(25, switch)) for numbers, switch in GROS)),
        cluster(
            "grvingt", *((each, 32, 3e9, ethernet(10, switch), OPA) for each, switch in GRVINGT)
        ),
        cluster("mixed", *MIXED),
    ),
    (Uplink("s1", "gw", 40 * G), Uplink("s2", "s1", 20 * G), Uplink("s3", "gw", 10 * G)),
)
CHIC = cluster("chic", ("1-4", 16, 5e9, ethernet(25, "sw")))
# The second one carries no node that is left.
UPLINKS = Uplink("sw", "gw-lille", 200 * G), Uplink("idle", "gw-lille", 1 * G)
LILLE = SiteFacts("lille", "gw-lille", (CHIC,), UPLINKS)
LYON = SiteFacts("lyon", "gw", (cluster("nova", ("1-4", 4, 1e9, ethernet(1))),))
GRID = Grid5000(
    "2026-03", (LILLE, LYON, NANCY), tuple(BackboneLink(ends, 10 * G) for ends in PARTS["links"])
)


def lost(*instead):
    """Return the facts of Nancy with other uplinks instead of its first."""
    return Grid5000("", (replace(NANCY, uplinks=(*instead, *NANCY.uplinks[1:])),))


# From one host to another: the latency and the links, by hand from the facts and the table above.
# One switch, a switch behind another, over the router, from the router itself, other sites.
ROUTES = """\
gros-1.nancy gros-3.nancy 8e-6: gros_a_link_1_UP gros_a_link_3_DOWN
gros-1.nancy grvingt-4.nancy 6e-6: gros_a_link_1_UP patch.nancy patch.nancy grvingt_b_link_4_DOWN
gros-7.nancy gros-1.nancy 1.008e-3: gros_b_link_7_UP patch.nancy s2_s1.nancy_UP patch.nancy
 gros_a_link_1_DOWN
gros-4.nancy grvingt-1.nancy 3.006e-3: gros_b_link_4_UP patch.nancy s2_s1.nancy_UP
 s1_gw.nancy_UP s3_gw.nancy_DOWN patch.nancy grvingt_a_link_1_DOWN
mixed-1.nancy gros-2.nancy 1.006e-3: mixed_a_link_1_UP patch.nancy s1_gw.nancy_DOWN patch.nancy
 gros_a_link_2_DOWN
gros-4.nancy chic-2.lille 29.003008: gros_b_link_4_UP patch.nancy s2_s1.nancy_UP s1_gw.nancy_UP
 nancy_renater-nancy_UP renater-paris_renater-nancy_DOWN renater-lille_renater-paris_DOWN
 lille_renater-lille_DOWN sw_gw-lille.lille_DOWN patch.lille chic_link_2_DOWN
nova-4.lyon mixed-2.nancy 54.000003: nova_link_4_UP patch.lyon lyon_renater-lyon_UP
 renater-lyon_renater-paris_UP renater-paris_renater-nancy_UP nancy_renater-nancy_DOWN patch.nancy
 mixed_b_link_2_DOWN"""


def full(name):
    return f"{name}.grid5000.fr"


def test_routes_follow_the_cables(turned):
    platform = grid5000_platform(GRID, TABLE)
    for line in ROUTES.replace("\n ", " ").splitlines():
        head, links = line.split(": ")
        one, other, latency = head.split()
        pair = full(one), full(other)
        there, back = resolve(platform, [pair, pair[::-1]]).routes
        assert there.links == tuple(links.split())
        assert back.links == turned(there.links)
        known = pytest.approx([float(latency)] * 2, rel=1e-12)
        assert [there.latency, back.latency] == known


@pytest.mark.parametrize("interconnect", ["ethernet", "fast"])
def test_all_pairs_connect(interconnect):
    platform = grid5000_platform(GRID, TABLE, interconnect)
    names = list(platform.host_names())
    found = resolve(platform, permutations(names, 2))
    assert len(found.hosts) == len(names) == 20
    assert not found.unreachable
    assert all(route.links for route in found.routes)


def test_parts_have_their_rates():
    found = resolve(grid5000_platform(GRID, TABLE))
    links = {link.name: link for link in found.links}
    rates = {"gros_a_link_1_UP": 25, "grvingt_b_link_4_DOWN": 10, "nova_link_2_UP": 1}
    rates |= {"s1_gw.nancy_UP": 40, "s2_s1.nancy_DOWN": 20, "sw_gw-lille.lille_UP": 200}
    rates |= {"renater-lille_renater-paris_DOWN": 10}
    assert {name: links[name].bandwidth * 8 / G for name in rates} == rates
    # What no node needs is not there.
    assert not [name for name in links if name.startswith(("idle", "fabric"))]
    # Patches limit nothing; each direction of a cable is shared.
    policies = {(name.startswith("patch"), link.sharing_policy) for name, link in links.items()}
    assert policies == {(True, "FATPIPE"), (False, "SHARED")}


def test_a_faster_network_within_clusters():
    fast, slow = (grid5000_platform(GRID, TABLE, kind) for kind in ("fast", "ethernet"))
    pairs = [("grvingt-1", other) for other in ("grvingt-2", "grvingt-3", "gros-1")]
    pairs.append(("mixed-1", "mixed-2"))
    named = [(full(f"{one}.nancy"), full(f"{other}.nancy")) for one, other in pairs]
    found, before = resolve(fast, named).routes, resolve(slow, named).routes
    assert found[0].links == ("grvingt_a_link_1_UP", "grvingt_a_link_2_DOWN")
    assert found[1].links == ("grvingt_a_link_1_UP", "fabric.nancy", "grvingt_b_link_3_DOWN")
    assert [route.latency for route in found[:2]] == pytest.approx([1e-6, 1e-6], rel=1e-12)
    assert found[2].links[:3] == ("grvingt_a_link_1_UP", "grvingt_a.nancy_UP", "s3_gw.nancy_UP")
    # To hosts of other clusters it takes as long as without.
    assert found[2].latency == pytest.approx(before[2].latency, rel=1e-12)
    assert found[3].links == before[3].links
    links = {link.name: link for link in resolve(fast).links}
    assert links["grvingt_a_link_1_UP"].bandwidth * 8 == 100 * G
    assert links["grvingt_a.nancy_UP"].bandwidth * 8 == 2 * 10 * G  # two hosts of 10 Gbit/s
    assert links["fabric.nancy"].sharing_policy == "FATPIPE"


def test_a_site_alone_needs_no_backbone():
    for site, hosts in ((NANCY, 12), (LYON, 4)):
        platform = grid5000_platform(Grid5000("", (site,)), TABLE)
        assert len(resolve(platform).hosts) == hosts
        assert [zone.id for zone in platform.elements] == [site.uid]


@pytest.mark.parametrize("interconnect", ["ethernet", "fast"])
def test_files(tmp_path, interconnect):
    platform = grid5000_platform(GRID, interconnect=interconnect)
    write_platform(platform, tmp_path / "grid.xml")
    assert check([tmp_path / "grid.xml"]) == []
    assert read_platform(tmp_path / "grid.xml") == platform
    again = grid5000_platform(GRID, Latencies(), interconnect)
    assert platform_text(again) == platform_text(platform)


def test_a_route_that_is_missing_is_found():
    (grid,) = grid5000_platform(GRID).elements
    for site, cut in ((0, 0), (0, 1), (2, 0), (2, 4), (2, 8)):
        zone = grid.zones[site]
        less = replace(zone, routes=zone.routes[:cut] + zone.routes[cut + 1 :])
        elements = tuple(less if part.id == zone.id else part for part in grid.elements)
        platform = Platform(replace(grid, elements=elements))
        (problem,) = find_problems(platform)
        assert "has no route" in problem.message
        assert resolve(platform, permutations(platform.host_names(), 2)).unreachable


INVALID_FACTS = [
    (lost(), "'s1' 'nancy' 'gw'"),
    (lost(Uplink("s1", "s2", G)), "'s1' 'nancy' 'gw'"),
    (replace(GRID, backbone=GRID.backbone[:5]), "'lille' 'lyon'"),
    (Grid5000("", ()), ""),
    (Grid5000("", (replace(NANCY, clusters=()),)), "'nancy'"),
]


@pytest.mark.parametrize(("facts", "named"), INVALID_FACTS)
def test_invalid_facts_are_refused(facts, named):
    with raises_naming(PlatformError, *named.split()):
        grid5000_platform(facts, TABLE)
    with raises_naming(PlatformError, "'infiniband'"):
        grid5000_platform(GRID, interconnect="infiniband")


@pytest.fixture(scope="module")
def facts() -> Grid5000:
    return shipped_catalogue()[0]


def _site(uid: str) -> SiteFacts:
    """A site of two clusters: one at switch a, one at switch c behind b."""
    groups = {
        switch: (NodeGroup("1-2", 1, 1e9, Adapter("Ethernet", 1e9, switch)),) for switch in "ac"
    }
    clusters = tuple(ClusterFacts(f"{uid}-{switch}", group) for switch, group in groups.items())
    ways = (("a", "gw"), ("b", "gw"), ("c", "b"))
    return SiteFacts(uid, "gw", clusters, tuple(Uplink(*way, 1e9) for way in ways))


@st.composite
def grids(draw: st.DrawFn) -> Grid5000:
    """Sites on a connected backbone, with rings or without."""
    pops = [f"pop{at}" for at in range(draw(st.integers(1, 7)))]
    ends = {(pops[draw(st.integers(0, at - 1))], pops[at]) for at in range(1, len(pops))}
    pairs = [(a, b) for a in pops for b in pops if a < b]
    ends |= set(draw(st.lists(st.sampled_from(pairs), max_size=2))) if pairs else set()
    sites = [f"site{at}" for at in range(draw(st.integers(1, 5)))]
    ends |= {(site, draw(st.sampled_from(pops))) for site in sites}
    links = tuple(BackboneLink(each, 1e9) for each in sorted(ends))
    return Grid5000("", tuple(map(_site, sites)), links)


@settings(max_examples=50)
@given(grids(), st.data())
def test_ways_between_chosen_sites_stay_as_they_are(grid, data):
    names = [site.uid for site in grid.sites]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    some = selected(grid, chosen)
    assert [site.uid for site in some.sites] == sorted(chosen)
    assert selected(some, chosen) == some
    before = nx.Graph([link.ends for link in grid.backbone])
    after = nx.Graph([link.ends for link in some.backbone])
    # Other sites pass nothing on: routes through them do not exist before, either.
    before.remove_nodes_from(set(names) - set(chosen))
    if len(chosen) == 1:
        assert some.backbone == ()
        return
    for source in chosen:
        for target in chosen:
            ways = {tuple(way) for way in nx.all_simple_paths(before, source, target)}
            assert {tuple(way) for way in nx.all_simple_paths(after, source, target)} == ways
    leaves = {vertex for vertex, degree in after.degree() if degree == 1}
    assert leaves <= set(chosen)


def test_switches_on_the_way_of_what_is_left_stay():
    grid = Grid5000("2026-03", (_site("x"), _site("y")))
    (site,) = selected(grid, clusters=["x-c"]).sites
    assert [cluster.uid for cluster in site.clusters] == ["x-c"]
    assert [uplink.switch for uplink in site.uplinks] == ["b", "c"]
    (site,) = selected(grid, ["y"], ["y-a"]).sites
    assert [uplink.switch for uplink in site.uplinks] == ["a"]
    assert selected(grid, ["y"]).date == "2026-03"


def test_nothing_chosen_is_everything(facts):
    assert selected(facts) == facts
    assert selected(facts, [site.uid for site in reversed(facts.sites)]) == facts
    every = [cluster.uid for site in facts.sites for cluster in site.clusters]
    assert selected(facts, clusters=every) == facts


def test_choices_keep_the_order_of_the_facts(facts):
    some = selected(facts, ["rennes", "nancy", "rennes"], ["paradoxe", "gruss", "gros"])
    found = {site.uid: [cluster.uid for cluster in site.clusters] for site in some.sites}
    assert list(found.items()) == [("nancy", ["gros", "gruss"]), ("rennes", ["paradoxe"])]


@pytest.mark.parametrize(
    ("sites", "clusters", "named"),
    [
        (["rene"], [], "'rene' 'rennes'"),
        ([], ["parravance"], "'parravance' grenoble"),
        (["toulouse"], ["parravance"], "'parravance' estats montcalm"),
        (["x"], [], "'x' grenoble"),
        (["nancy"], ["dahu"], "'dahu' grenoble nancy"),
        (["nancy", "lille"], ["gros"], "'lille' gros chiclet"),
    ],
)  # fmt: skip
def test_wrong_choices_are_refused(sites, clusters, named, facts):
    with raises_naming(PlatformError, *named.split()):
        selected(facts, sites, clusters)


def test_why_something_was_left_out_is_quoted(facts):
    warnings = (
        *shipped_catalogue()[1],
        DataWarning("left-out", "", "old is retired", ("cluster", "nancy", "old")),
        DataWarning("assumed", "", "something else", ("cluster", "nancy", "older")),
    )
    with raises_naming(PlatformError, "'bordeaux'"):
        selected(facts, ["bordeaux"], warnings=warnings)
    with raises_naming(PlatformError, "'old'", "old is retired"):
        selected(facts, clusters=["old"], warnings=warnings)
    with raises_naming(PlatformError, "'older'") as caught:
        selected(facts, clusters=["older"], warnings=warnings)
    assert "something else" not in str(caught.value)


def test_simgrid_has_the_hosts_of_the_facts(facts):
    found = resolve(grid5000_platform(facts))
    cores, speed, names = defaultdict(int), defaultdict(list), set()
    for host in found.hosts:
        site = host.name.split(".")[1]
        cores[site] += host.cores
        speed[site].append(host.cores * host.speed)
    for site in facts.sites:
        assert cores[site.uid] == site.core_count
        assert math.fsum(speed[site.uid]) == site.speed
        for cluster in site.clusters:
            numbers = [n for group in cluster.groups for n in radical.numbers(group.numbers)]
            names.update(full(f"{cluster.uid}-{number}.{site.uid}") for number in numbers)
    assert {host.name for host in found.hosts} == names
    assert (len(names), len(cores)) == (939, 11)
