"""Federations: routes of each arrangement, latencies against shortest paths, contention."""

import math
import re
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin import simulate
from simplugin.core.errors import PlatformError
from simplugin.formats.check import check
from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.platforms import Cluster
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.federations.federation import Federation
from simplugin.platforms.federations.parts import (
    ClusterGroup,
    SiteBackbone,
    SiteGroup,
    SiteLink,
    Switch,
    Wire,
)
from simplugin.platforms.laws import Law
from simplugin.simulation.options import SimGridOptions
from simplugin.simulation.resolve import resolve

WIRE = Wire(1e9, 1e-3)
SWITCH = Switch("", 1e8)


def _cluster(name, hosts=2, latency=1e-4, **further):
    return ClusterGroup(name, hosts, 1e9, 1e8, latency, **further)


def _site(name, *clusters, **further):
    return SiteGroup(name, clusters or (_cluster("a"), _cluster("b")), **further)


def _of(*sites, backbone=None):
    return Federation("fed.x", sites, backbone)


def _routes(federation, pairs):
    found = resolve(federation.platform(), pairs)
    assert not found.unreachable
    # The cable limits nothing.
    return [tuple(link for link in route.links if link != "cable") for route in found.routes]


def test_routes_of_a_star():
    federation = _of(
        _site("A"),
        _site("B", switch=Switch("", 5e8), one_switch=False),
        _site("C", uplink=Wire(2e9, 7e-3, duplex=False)),
        backbone=SiteBackbone("star", WIRE, hub=Switch("", 1e10)),
    )
    routes = {
        ("a-1.A", "a-2.A"): "a.A_link_1_UP a.A_link_2_DOWN",
        ("a-1.A", "b-1.A"): "a.A_link_1_UP b.A_link_1_DOWN",
        ("a-1.A", "b-2.B"): (
            "a.A_link_1_UP A-uplink_UP hub B-uplink_DOWN b.B_backbone b.B_link_2_DOWN"
        ),
        ("a-1.B", "a-2.B"): "a.B_link_1_UP a.B_backbone a.B_link_2_DOWN",
        ("b-2.C", "a-2.A"): "b.C_link_2_UP C-uplink hub A-uplink_DOWN a.A_link_2_DOWN",
    }
    assert _routes(federation, list(routes)) == [tuple(each.split()) for each in routes.values()]


def _joined(*links):
    names = sorted({end for link in links for end in link[:2]})
    wires = tuple(SiteLink(a, b, Wire(1e9, latency)) for a, b, latency in links)
    sites = (_site(name, _cluster("c")) for name in names)
    return _of(*sites, backbone=SiteBackbone("links", links=wires))


def test_routes_between_sites_have_the_least_latency_and_of_those_the_fewest_links():
    federation = _joined(("A", "B", 1e-3), ("B", "C", 1e-3), ("C", "D", 1e-3), ("A", "D", 9e-3))
    there, back = _routes(federation, [("c-1.A", "c-1.D"), ("c-1.D", "c-1.A")])
    assert there[1:-1] == ("A--B_UP", "B--C_UP", "C--D_UP")
    assert back[1:-1] == ("C--D_DOWN", "B--C_DOWN", "A--B_DOWN")
    # In floating point, 0.1 + 0.7 < 0.8; and 0.1 + 0.2 > 0.3.
    for first, second, both in ((0.1, 0.7, 0.8), (0.1, 0.2, 0.3)):
        federation = _joined(("A", "B", first), ("B", "C", second), ("A", "C", both))
        assert _routes(federation, [("c-1.A", "c-2.C")])[0][1:-1] == ("A--C_UP",)


def test_equal_ways_are_the_same_there_and_back(turned):
    sites = (_site(name, _cluster("c")) for name in "ABCDEF")
    federation = _of(*sites, backbone=SiteBackbone("ring", WIRE))
    there, back = _routes(federation, [("c-1.A", "c-1.D"), ("c-1.D", "c-1.A")])
    assert back == turned(there)


def test_names_that_only_look_alike_are_taken():
    site = _site("x", _cluster("a", 5), _cluster("a-6"), _cluster("edge"), _cluster("switch"))
    federation = _of(site, _site("y", uplink=WIRE), backbone=SiteBackbone("chain", WIRE))
    require_consistent(federation.platform())


# Draws.

LAW = Law("lognormal", (3e9, 0.5))
# A site without draws.
FIXED = _site("t")


def _drawn(*clusters, seed=1):
    sites = (SiteGroup("s", clusters, repeat=2), FIXED)
    platform = Federation("f", sites, SiteBackbone("star", WIRE), seed).platform()
    return {part.id: part for part, _ in platform.walk() if isinstance(part, Cluster)}


LAWS = {
    "hosts": Law("uniform", (5.0, 50.0)),
    "speed": LAW,
    "bandwidth": Law("log-uniform", (1e7, 1e9)),
    "latency": Law("exponential", (1e-4,)),
    "cores": Law("uniform", (1.0, 8.0)),
}
PLACES = [f"c{at}.s{site}" for site in (1, 2) for at in (1, 2, 3)]


def _drawn_cluster(name, **changes):
    return ClusterGroup(name, **(LAWS | {"repeat": 3} | changes))


def test_each_cluster_has_draws_of_its_own():
    clusters = _drawn(_drawn_cluster("c"))
    drawn = [clusters[place] for place in PLACES]
    for name in ("speed", "bandwidth", "latency"):
        assert len({getattr(cluster, name) for cluster in drawn}) == 6
    for cluster in drawn:
        assert 5 <= cluster.host_count <= 50
        assert 1 <= cluster.cores <= 8
        assert 1e7 <= cluster.bandwidth <= 1e9


def test_neither_more_clusters_nor_other_laws_change_the_draws_of_the_rest():
    before = _drawn(_drawn_cluster("c"))
    other = _drawn_cluster("c", repeat=5, latency=1e-5, hosts=7)
    after = _drawn(_drawn_cluster("new", repeat=None), other)
    for old, new in ((before[place], after[place]) for place in PLACES):
        assert (old.speed, old.bandwidth, old.cores) == (new.speed, new.bandwidth, new.cores)
        assert (new.latency, new.host_count) == (1e-5, 7)


def test_the_seed_decides():
    one, again, other = (_drawn(_drawn_cluster("c"), seed=seed) for seed in (1, 1, 2**63))
    assert one == again
    assert all(one[place] != other[place] for place in PLACES)


def test_draws_follow_their_law():
    clusters = _drawn(ClusterGroup("c", 1, LAW, 1e8, 1e-4, repeat=500))
    speeds = np.array([cluster.speed for cluster in clusters.values() if ".t" not in cluster.id])
    assert len(speeds) == 1000
    assert speeds.mean() == pytest.approx(3e9, rel=0.07)
    assert speeds.std() / speeds.mean() == pytest.approx(0.5, rel=0.15)


def test_a_draw_of_less_than_one_host_is_one():
    tiny = Law("constant", (0.2,))
    assert _drawn(_drawn_cluster("c", hosts=tiny, cores=tiny))["c1.s1"].host_count == 1


# Contention: cables and switches of 1e8 byte/s, transfers of 1e8 byte.


async def _send(me, box):
    await me.mailbox(box).put(None, 1e8)


async def _receive(me, box):
    await me.mailbox(box).get()
    return me.now


def _pair(switch=None, one_switch=True, **first):
    clusters = _cluster("a", 4, 0.0, **first), _cluster("b", 4, 0.0)
    return _of(_site("s", *clusters, switch=switch, one_switch=one_switch))


def _five(kind, bandwidth, hub=None):
    sites = (_site(name, _cluster("a", 4, 0.0)) for name in "ABCDE")
    return _of(*sites, backbone=SiteBackbone(kind, Wire(bandwidth), hub))


AT_X = _cluster("a", 4, 0.0, switch="x"), _cluster("b", 4, 0.0, switch="x", backbone=SWITCH)
PASSED_ONCE = _site("s", *AT_X, switches=(Switch("x", 1e8),))


CONTENTION = [
    # A switch of all is shared by any two; of two switches, only by those that pass one.
    (_pair(SWITCH), "a-1.s a-2.s, b-1.s b-2.s", [2, 2]),
    (_pair(SWITCH, one_switch=False), "a-1.s a-2.s, b-1.s b-2.s", [1, 1]),
    (_pair(SWITCH, one_switch=False), "a-1.s b-1.s, b-2.s b-3.s", [2, 2]),
    # No switch limits anything, though both pass the same cable.
    (_pair(), "a-1.s b-1.s, a-2.s b-2.s", [1, 1]),
    # An uplink is shared by those in the same direction, unless it is half-duplex.
    (_pair(uplink=Wire(1e8)), "a-1.s b-1.s, a-2.s b-2.s", [2, 2]),
    (_pair(uplink=Wire(1e8)), "a-1.s b-1.s, b-2.s a-2.s", [1, 1]),
    (_pair(uplink=Wire(1e8, duplex=False)), "a-1.s b-1.s, b-2.s a-2.s", [2, 2]),
    # A switch on the way between two others is not twice as slow.
    (_of(PASSED_ONCE), "b-1.s a-1.s", [1]),
    (_five("star", 1e9), "a-1.A a-1.B, a-1.C a-1.D", [1, 1]),
    (_five("star", 1e9, SWITCH), "a-1.A a-1.B, a-1.C a-1.D", [2, 2]),
    # From A to C by B; from A to B: both over A--B. From E to A: not.
    (_five("ring", 1e8), "a-1.A a-1.C, a-2.A a-1.B, a-1.E a-3.A", [2, 2, 1]),
]


@pytest.mark.parametrize(("federation", "transfers", "ends"), CONTENTION)
def test_contention(federation, transfers, ends):
    actors = []
    for number, pair in enumerate(transfers.split(", ")):
        source, destination = pair.split()
        actors += [(source, _send, f"{number}"), (destination, _receive, f"{number}")]
    result = simulate(federation.platform(), actors, options=SimGridOptions.linear())
    assert result.values("_receive") == pytest.approx(ends)


# Invalid descriptions. Others are refused with their lines by tests of the format.

OF_X, X, RING = _cluster("a", switch="x"), (Switch("x"),), (Switch("x", to="x"),)
LINK = (SiteLink("s", "paris", WIRE),)
STAR, MESH, CHAIN = (SiteBackbone(kind, WIRE) for kind in ("star", "mesh", "chain"))
MANY = _site("s", _cluster("a", repeat=1000), repeat=101)


INVALID_DESCRIPTIONS = [
    (lambda: Wire(0.0), "bandwidth 0.0"),
    (lambda: _cluster("a", 0), "hosts 'a' 0"),
    (lambda: _cluster("a", cores=1.5), "cores 'a' 1.5"),
    (lambda: ClusterGroup("a", 1, -1.0, 1.0, 0.0), "speed 'a' -1.0"),
    (lambda: _cluster("a", backbone=Switch()), "backbone 'a' bandwidth"),
    (lambda: SiteBackbone("mesh"), "'mesh' bandwidth"),
    (lambda: SiteBackbone("links", WIRE, None, LINK), "'links' bandwidth"),
    (lambda: SiteBackbone("ring", WIRE, SWITCH), "'ring' hub"),
    (lambda: SiteBackbone("star", WIRE, Switch()), "hub bandwidth"),
    # Sites.
    (lambda: SiteGroup("s", ()), "'s' cluster"),
    (lambda: _site("s", *MANY.clusters * 101), "clusters 's' 101,000 100,000"),
    (lambda: _site("s", switch=SWITCH, switches=X), "'s' switches"),
    (lambda: _site("s", switch=Switch("", 1.0, 0.0, WIRE)), "'s' uplink"),
    (lambda: _site("s", switch=Switch()), "switch 's' bandwidth"),
    (lambda: _site("s", OF_X, switches=RING), "'s' 'x' ring"),
    # Federations.
    (lambda: Federation("f", (_site("s"),), None, -1), "seed 'f' -1"),
    (lambda: _joined(("A", "B", 1.0), ("C", "D", 1.0)), "'A' 'C'"),
    (lambda: _joined(("A", "A", 1.0)), "'A'"),
    (lambda: _of(MANY, backbone=STAR), "101,000 100,000"),
    (lambda: _of(_site("s", repeat=1001), backbone=MESH), "mesh 1,001 1,000"),
]


SAME_NAMES = [
    (_site("x", _cluster("switch"), switch=SWITCH), "'switch.x'"),
    (_site("x", _cluster("edge"), uplink=WIRE), "'edge.x' uplink"),
    (_site("x", _cluster("a-router"), _cluster("a")), "'a-router' 'a' 'a-router.x'"),
    (_site("x", OF_X, _cluster("x"), switches=X), "'x.x' switch"),
    (_site("x", _cluster("fed")), "'fed.x' federation"),
    (_site("x", _cluster("a-5"), _cluster("a", 5)), "'a-5.x' 'a'"),
]
INVALID_DESCRIPTIONS += [
    (lambda site=site: _of(site, _site("y"), backbone=CHAIN), named) for site, named in SAME_NAMES
]


@pytest.mark.parametrize(("make", "named"), INVALID_DESCRIPTIONS)
def test_invalid_descriptions_are_refused(make, named):
    with raises_naming(PlatformError, *named.split()) as caught:
        make()
    assert caught.value.remedy


@st.composite
def _federations(draw):
    """Draw a federation, each part of which has a latency that no other parts add up to."""
    places = iter(range(1, 60))

    def latency():
        return 2.0 ** next(places) * 1e-12

    def wire():
        return Wire(1e9, latency(), draw(st.booleans()))

    def backbone():
        return Switch("", 1e9, latency())

    def perhaps(make):
        return make() if draw(st.booleans()) else None

    sites = []
    for at in range(draw(st.integers(1, 3))):
        switches, switch, one = (), None, True
        kind = draw(st.sampled_from(["none", "one", "each", "tree"]))
        if kind == "one":
            switch = backbone()
        elif kind == "each":
            switch, one = Switch("", 1e9, latency(), perhaps(wire)), False
        elif kind == "tree":
            for number in range(draw(st.integers(1, 3))):
                to = draw(st.sampled_from(["", *(each.name for each in switches)]))
                has = draw(st.booleans())
                numbers = (1e9, latency()) if has else (None, 0.0)
                switches = (*switches, Switch(f"s{number}", *numbers, perhaps(wire), to))
        above = {each.to for each in switches}
        hung = [each.name for each in switches if each.name not in above]
        hung += draw(st.lists(st.sampled_from(["", *(each.name for each in switches)]), max_size=2))
        clusters = []
        for number, to in enumerate(hung or [""]):
            inner = (latency(), draw(st.integers(1, 2)))
            own = (None, None) if kind == "each" else (perhaps(backbone), perhaps(wire))
            clusters.append(ClusterGroup(f"c{number}", 2, 1e9, 1e9, *inner, *own, to))
        uplink = perhaps(wire)
        sites.append(SiteGroup(f"S{at}", tuple(clusters), switch, one, switches, uplink))
    kind = draw(st.sampled_from(["star", "mesh", "ring", "chain"]))
    hub = perhaps(backbone) if kind == "star" else None
    return Federation("f", tuple(sites), SiteBackbone(kind, Wire(1e9, latency()), hub))


def _graph(federation):
    """Return the cables of a federation; each end adds half of what a switch there takes."""
    graph = nx.Graph()
    inner = {}

    def join(one, other, latency):
        half = (inner.get(one, 0.0) + inner.get(other, 0.0)) / 2
        graph.add_edge(one, other, weight=latency + half)

    def latency_of(wire):
        return 0.0 if wire is None else wire.latency

    backbone = federation.backbone
    names = [site.name for site in federation.sites]
    inner["hub"] = 0.0 if backbone.hub is None else backbone.hub.latency
    for site in federation.sites:
        for switch in site.switches:
            inner[site.name, switch.name] = switch.latency
        if site.switch is not None and site.one_switch:
            inner[site.name, "one"] = site.switch.latency
            join(site.name, (site.name, "one"), 0.0)
        for cluster in site.clusters:
            at = (site.name, "cluster", cluster.name)
            own, uplink = cluster.backbone, cluster.uplink
            if site.switch is not None and not site.one_switch:
                own, uplink = site.switch, site.switch.uplink
            inner[at] = 0.0 if own is None else own.latency
            above = (site.name, cluster.switch) if cluster.switch else site.name
            if (site.name, "one") in inner:
                above = (site.name, "one")
            if own is None and uplink is None:
                at = above  # its hosts hang directly from there
            else:
                join(at, above, latency_of(uplink))
            for host in ("1", "2"):
                join((cluster.name, host, site.name), at, cluster.latency)
        for switch in site.switches:
            to = (site.name, switch.to) if switch.to else site.name
            join((site.name, switch.name), to, latency_of(switch.uplink))
        if backbone.kind == "star":
            join(site.name, "hub", latency_of(site.uplink or backbone.wire))
        else:
            join(site.name, ("edge", site.name), latency_of(site.uplink))
    pairs = list(combinations(names, 2)) if backbone.kind == "mesh" else list(pairwise(names))
    if backbone.kind == "ring" and len(names) == 3:
        pairs.append((names[2], names[0]))
    for one, other in pairs if backbone.kind != "star" else ():
        join(("edge", one), ("edge", other), backbone.wire.latency)
    return graph


@settings(max_examples=15)
@given(_federations())
def test_any_description_loads_and_its_routes_are_the_shortest(
    tmp_path_factory, turned, federation
):
    platform = federation.platform()
    found = resolve(platform, 10_000)
    clusters = [cluster for site in federation.sites for cluster in site.clusters]
    assert sorted(host.cores for host in found.hosts) == sorted(2 * [c.cores for c in clusters])
    assert not found.unreachable
    graph = _graph(federation)
    ways = {(route.source, route.destination): route.links for route in found.routes}
    expected = dict(nx.all_pairs_dijkstra_path_length(graph))
    for route in found.routes:
        ends = route.source, route.destination
        source, destination = (tuple(re.split("[-.]", name)) for name in ends)
        assert math.isclose(route.latency, expected[source][destination], rel_tol=1e-9)
        passed = [link for link in route.links if link != "cable"]
        assert len(passed) == len(set(passed))
        assert ways[route.destination, route.source] == turned(route.links)
    # Nor does our own checker find anything; and the file gives the same platform back.
    file = tmp_path_factory.mktemp("federation") / "platform.xml"
    write_platform(platform, file)
    odd = "which no hardware has"
    assert [each for each in check([file]) if odd not in each.message] == []
    assert read_platform(file) == platform
