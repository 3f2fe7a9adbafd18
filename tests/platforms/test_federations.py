"""Federations: what SimGrid makes of each arrangement, against graphs built by the test itself."""

import math
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin import simulate
from simplugin.errors import PlatformError
from simplugin.formats.check import check
from simplugin.formats.platform_xml import platform_text, read_platform, write_platform
from simplugin.platforms import Cluster
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.federation_parts import (
    ClusterGroup,
    SiteBackbone,
    SiteGroup,
    SiteLink,
    Switch,
    Wire,
)
from simplugin.platforms.federations import Federation
from simplugin.platforms.laws import Law
from simplugin.simulation.options import SimGridOptions
from simplugin.simulation.resolve import resolve

WIRE = Wire(1e9, 1e-3)


def _cluster(name, hosts=2, latency=1e-4, **further):
    return ClusterGroup(name, hosts, 1e9, 1e8, latency, **further)


def _site(name, *clusters, **further):
    return SiteGroup(name, clusters or (_cluster("a"), _cluster("b")), **further)


def _routes(federation, pairs):
    found = resolve(federation.platform(), pairs)
    assert not found.unreachable
    return [
        tuple(link for link in route.links if link != "cable") for route in found.routes
    ]  # the cable limits nothing


def _turned(links):
    """Return the way back."""
    other = {"UP": "DOWN", "DOWN": "UP"}
    parts = [link.rpartition("_") for link in reversed(links)]
    return tuple(f"{name}{bar}{other.get(end, end)}" for name, bar, end in parts)


def test_hosts_of_one_switch_pass_it_once():
    site = _site("lille", _cluster("a"), _cluster("b", cores=4), switch=Switch("", 5e8, 1e-5))
    found = resolve(Federation("f", (site,)).platform(), 100)
    assert not found.unreachable
    for route in found.routes:
        ends = f"link_{route.source}_UP", f"link_{route.destination}_DOWN"
        assert route.links == (ends[0], "switch.lille", ends[1])
        assert route.latency == pytest.approx(2e-4 + 1e-5)
    assert {host.name: host.cores for host in found.hosts} == {
        "a-1.lille": 1, "a-2.lille": 1, "b-1.lille": 4, "b-2.lille": 4
    }  # fmt: skip


def test_routes_of_a_star():
    sites = (
        _site("A"),
        _site("B", switch=Switch("", 5e8), one_switch=False),
        _site("C", uplink=Wire(2e9, 7e-3, duplex=False)),
    )
    federation = Federation("f", sites, SiteBackbone("star", WIRE, hub=Switch("", 1e10)))
    pairs = [("a-1.A", "a-2.A"), ("a-1.A", "b-1.A"), ("a-1.A", "b-2.B"), ("a-1.B", "a-2.B"),
             ("b-2.C", "a-2.A")]  # fmt: skip
    assert _routes(federation, pairs) == [
        ("a.A_link_1_UP", "a.A_link_2_DOWN"),
        ("a.A_link_1_UP", "b.A_link_1_DOWN"),
        ("a.A_link_1_UP", "A-uplink_UP", "hub", "B-uplink_DOWN", "b.B_backbone", "b.B_link_2_DOWN"),
        ("a.B_link_1_UP", "a.B_backbone", "a.B_link_2_DOWN"),
        ("b.C_link_2_UP", "C-uplink", "hub", "A-uplink_DOWN", "a.A_link_2_DOWN"),
    ]


@pytest.mark.parametrize("own", [{"uplink": WIRE}, {"backbone": Switch("", 1e9, 1e-5)}])
def test_what_stays_in_a_cluster_with_a_switch_of_its_own_does_not_reach_the_site_s(own):
    site = _site("s", _cluster("a"), _cluster("b", **own), switch=SWITCH)
    pairs = [("a-1.s", "a-2.s"), ("b-1.s", "b-2.s"), ("b-1.s", "a-1.s")]
    found = resolve(Federation("f", (site,)).platform(), pairs)
    [shared] = {*found.routes[0].links} - {"a.s_link_1_UP", "a.s_link_2_DOWN"}
    passed = [shared in route.links for route in found.routes]
    assert passed == [True, False, True]


def test_routes_of_a_tree_of_switches():
    site = _site(
        "D",
        _cluster("a", switch="x"),
        _cluster("b", switch="y"),
        _cluster("c"),
        _cluster("d", switch="x", backbone=Switch("", 3e8), uplink=WIRE),
        _cluster("e", switch="z"),
        switches=(
            Switch("x", 7e8, to="y"),
            Switch("y", 3e8, uplink=WIRE),
            Switch("z", uplink=WIRE),
        ),
    )
    x, y, up = "a.D_backbone", "b.D_backbone", "y.D-uplink"
    pairs = [("a-1.D", "b-1.D"), ("d-1.D", "a-1.D"), ("d-1.D", "d-2.D"), ("d-1.D", "c-1.D"),
             ("c-1.D", "a-1.D"), ("e-1.D", "b-1.D")]  # fmt: skip
    routes = [
        ("a.D_link_1_UP", x, y, "b.D_link_1_DOWN"),
        ("d.D_link_1_UP", "d.D_backbone", "d.D-uplink_UP", x, "a.D_link_1_DOWN"),
        ("d.D_link_1_UP", "d.D_backbone", "d.D_link_2_DOWN"),
        ("d.D_link_1_UP", "d.D_backbone", "d.D-uplink_UP", x, y, f"{up}_UP", "c.D_link_1_DOWN"),
        ("c.D_link_1_UP", f"{up}_DOWN", y, x, "a.D_link_1_DOWN"),
        ("e.D_link_1_UP", "z.D-uplink_UP", f"{up}_DOWN", y, "b.D_link_1_DOWN"),
    ]
    back = [(destination, source) for source, destination in pairs]
    others = (_site("E", _cluster("c")), _site("F", _cluster("c")))
    for federation in (
        Federation("f", (site,)),
        Federation("f", (site, *others), SiteBackbone("star", WIRE)),
        Federation("f", (site, *others), SiteBackbone("mesh", WIRE)),  # not a tree
    ):
        assert _routes(federation, pairs) == routes
        assert _routes(federation, back) == [_turned(route) for route in routes]


def test_a_switch_without_limits_below_one_with_keeps_what_is_between_its_own():
    site = _site(
        "s",
        _cluster("a", switch="y"),
        _cluster("b", switch="y"),
        _cluster("c"),
        switches=(Switch("x", 7e8), Switch("y", to="x")),
    )
    pairs = [("a-1.s", "b-1.s"), ("a-1.s", "c-1.s")]
    assert _routes(Federation("f", (site,)), pairs) == [
        ("a.s_link_1_UP", "b.s_link_1_DOWN"),
        ("a.s_link_1_UP", "x.s", "c.s_link_1_DOWN"),
    ]


def _joined(*links):
    names = sorted({end for link in links for end in link[:2]})
    wires = tuple(SiteLink(a, b, Wire(1e9, latency)) for a, b, latency in links)
    return Federation(
        "f", tuple(_site(name, _cluster("c")) for name in names), SiteBackbone("links", links=wires)
    )


def test_routes_between_sites_have_the_least_latency_not_the_fewest_links():
    federation = _joined(("A", "B", 1e-3), ("B", "C", 1e-3), ("C", "D", 1e-3), ("A", "D", 9e-3))
    there, back = _routes(federation, [("c-1.A", "c-1.D"), ("c-1.D", "c-1.A")])
    assert there[1:-1] == ("A--B_UP", "B--C_UP", "C--D_UP")
    assert back[1:-1] == ("C--D_DOWN", "B--C_DOWN", "A--B_DOWN")


def test_of_equal_latencies_the_fewest_links_are_taken():
    # In floating point, 0.1 + 0.7 < 0.8; and 0.1 + 0.2 > 0.3.
    for first, second, both in ((0.1, 0.7, 0.8), (0.1, 0.2, 0.3)):
        federation = _joined(("A", "B", first), ("B", "C", second), ("A", "C", both))
        assert _routes(federation, [("c-1.A", "c-2.C")])[0][1:-1] == ("A--C_UP",)


def test_equal_ways_are_the_same_there_and_back():
    sites = tuple(_site(name, _cluster("c")) for name in "ABCDEF")
    federation = Federation("f", sites, SiteBackbone("ring", WIRE))
    there, back = _routes(federation, [("c-1.A", "c-1.D"), ("c-1.D", "c-1.A")])
    assert back == _turned(there)
    assert _routes(federation, [("c-1.A", "c-1.E")])[0][1:-1] == ("F--A_DOWN", "E--F_DOWN")


def test_a_chain_is_passed_link_by_link():
    sites = tuple(_site(name, _cluster("c"), uplink=WIRE) for name in "ABC")
    federation = Federation("f", sites, SiteBackbone("chain", WIRE))
    assert _routes(federation, [("c-1.A", "c-1.C")])[0][1:-1] == (
        "A-uplink_UP", "A--B_UP", "B--C_UP", "C-uplink_DOWN"
    )  # fmt: skip


# Contention: hosts have 1e8 byte/s, switches 1e8 too, so that two transfers show the sharing.


async def _send(me, box, size):
    await me.mailbox(box).put(None, size)


async def _receive(me, box):
    await me.mailbox(box).get()
    return me.now


def _ends(federation, transfers, size=1e8):
    """Return when transfers of one second each arrive, all started at 0."""
    actors = []
    for number, (source, destination) in enumerate(transfers):
        actors += [(source, _send, f"{number}", size), (destination, _receive, f"{number}")]
    result = simulate(federation.platform(), actors, options=SimGridOptions.linear())
    return result.values("_receive")


def _still(name, *, hosts=4, **further):
    return _cluster(name, hosts, latency=0.0, **further)


SWITCH = Switch("", 1e8)
PAIRS = [("a-1.s", "a-2.s"), ("b-1.s", "b-2.s")]


@pytest.mark.parametrize(
    ("site", "transfers", "ends"),
    [
        # A switch of all: any two transfers get half of it each.
        (_site("s", _still("a"), _still("b"), switch=SWITCH), PAIRS, [2, 2]),
        (_site("s", _still("a"), _still("b"), switch=SWITCH),
         [("a-1.s", "b-1.s"), ("b-2.s", "b-3.s")], [2, 2]),
        # Two switches: those of different clusters get all, those through one get half.
        (_site("s", _still("a"), _still("b"), switch=SWITCH, one_switch=False), PAIRS, [1, 1]),
        (_site("s", _still("a"), _still("b"), switch=SWITCH, one_switch=False),
         [("a-1.s", "b-1.s"), ("b-2.s", "b-3.s")], [2, 2]),
        # No switch limits anything, though both pass the same cable.
        (_site("s", _still("a"), _still("b")), [("a-1.s", "b-1.s"), ("a-2.s", "b-2.s")], [1, 1]),
        # An uplink is shared by those in the same direction, unless it is half-duplex.
        (_site("s", _still("a", uplink=Wire(1e8)), _still("b")),
         [("a-1.s", "b-1.s"), ("a-2.s", "b-2.s")], [2, 2]),
        (_site("s", _still("a", uplink=Wire(1e8)), _still("b")),
         [("a-1.s", "b-1.s"), ("b-2.s", "a-2.s")], [1, 1]),
        (_site("s", _still("a", uplink=Wire(1e8, duplex=False)), _still("b")),
         [("a-1.s", "b-1.s"), ("b-2.s", "a-2.s")], [2, 2]),
        # A switch on the way between two others is shared, and passed once: not twice as slow.
        (_site("s", _still("a", switch="x"), _still("b", switch="x", backbone=SWITCH),
               switches=(Switch("x", 1e8),)),
         [("b-1.s", "a-1.s")], [1]),
        (_site("s", _still("a", switch="x"), _still("b", switch="y"), _still("c"),
               switches=(Switch("x", 1e8), Switch("y", 1e9, to="x"))),
         [("b-1.s", "c-1.s"), ("a-1.s", "a-2.s")], [2, 2]),
    ],
)  # fmt: skip
def test_contention_within_a_site(site, transfers, ends):
    assert _ends(Federation("f", (site,)), transfers) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("hub", "ends"), [(None, [1, 1]), (Switch("", 1e8), [2, 2]), (Switch("", 1e9), [1, 1])]
)
def test_contention_at_a_hub(hub, ends):
    sites = tuple(_site(name, _still("a")) for name in "ABCD")
    federation = Federation("f", sites, SiteBackbone("star", Wire(1e9), hub))
    assert _ends(federation, [("a-1.A", "a-1.B"), ("a-1.C", "a-1.D")]) == pytest.approx(ends)


def test_contention_on_a_ring():
    # From A to C by B; from A to B: both over A--B. From E to A: not.
    sites = tuple(_site(name, _still("a")) for name in "ABCDE")
    federation = Federation("f", sites, SiteBackbone("ring", Wire(1e8)))
    transfers = [("a-1.A", "a-1.C"), ("a-2.A", "a-1.B"), ("a-1.E", "a-3.A")]
    assert _ends(federation, transfers) == pytest.approx([2, 2, 1])


# Any description: SimGrid's latencies against shortest paths of a graph made here.


def test_names_that_only_look_alike_are_taken():
    site = _site("x", _cluster("a", 5), _cluster("a-6"), _cluster("edge"), _cluster("switch"))
    platform = Federation("f", (site, _site("y", uplink=WIRE)), SiteBackbone("chain", WIRE))
    require_consistent(platform.platform())


@st.composite
def _federations(draw):
    """Draw a federation, each part of which has a latency that no other parts add up to."""
    places = iter(range(1, 60))

    def latency():
        return 2.0 ** next(places) * 1e-12

    def wire():
        return Wire(1e9, latency(), draw(st.booleans()))

    def perhaps(make):
        return make() if draw(st.booleans()) else None

    sites = []
    for at in range(draw(st.integers(1, 3))):
        switches, switch, one = (), None, True
        kind = draw(st.sampled_from(["none", "one", "each", "tree"]))
        if kind == "one":
            switch = Switch("", 1e9, latency())
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
        clusters = [
            ClusterGroup(
                f"c{number}",
                2,
                1e9,
                1e9,
                latency(),
                draw(st.integers(1, 2)),
                perhaps(lambda: Switch("", 1e9, latency())) if kind != "each" else None,
                perhaps(wire) if kind != "each" else None,
                to,
            )
            for number, to in enumerate(hung or [""])
        ]
        uplink = perhaps(wire)
        sites.append(SiteGroup(f"S{at}", tuple(clusters), switch, one, switches, uplink))
    kind = draw(st.sampled_from(["star", "mesh", "ring", "chain"]))
    hub = Switch("", 1e9, latency()) if kind == "star" and draw(st.booleans()) else None
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


@settings(max_examples=25, deadline=None)
@given(_federations())
def test_any_description_loads_and_its_routes_are_the_shortest(tmp_path_factory, federation):
    platform = federation.platform()
    found = resolve(platform, 10_000)
    assert not found.unreachable
    graph = _graph(federation)
    assert len(found.hosts) == 2 * sum(len(site.clusters) for site in federation.sites)
    ways = {(route.source, route.destination): route.links for route in found.routes}
    expected = dict(nx.all_pairs_dijkstra_path_length(graph))
    for route in found.routes:
        source, destination = (
            (name.partition("-")[0], name.partition("-")[2].partition(".")[0], name.split(".")[1])
            for name in (route.source, route.destination)
        )
        assert math.isclose(route.latency, expected[source][destination], rel_tol=1e-9)
        passed = [link for link in route.links if link != "cable"]
        assert len(passed) == len(set(passed))
        assert ways[route.destination, route.source] == _turned(route.links)
    # Nor does our own checker find anything; and the file gives the same platform back.
    file = tmp_path_factory.mktemp("federation") / "platform.xml"
    write_platform(platform, file)
    assert check([file]) == []
    assert read_platform(file) == platform


# Draws.

LAW = Law("lognormal", (3e9, 0.5))


def _drawn(*clusters, seed=1):
    sites = (SiteGroup("s", clusters, repeat=2), _site("t"))
    platform = Federation("f", sites, SiteBackbone("star", WIRE), seed).platform()
    return {part.id: part for part, _ in platform.walk() if isinstance(part, Cluster)}


def _drawn_cluster(name, **changes):
    fields = {
        "hosts": Law("uniform", (5.0, 50.0)),
        "speed": LAW,
        "bandwidth": Law("log-uniform", (1e7, 1e9)),
        "latency": Law("exponential", (1e-4,)),
        "cores": Law("uniform", (1.0, 8.0)),
        "repeat": 3,
    }
    return ClusterGroup(name, **(fields | changes))


def test_each_cluster_has_draws_of_its_own():
    clusters = _drawn(_drawn_cluster("c"))
    drawn = [clusters[f"c{at}.s{site}"] for site in (1, 2) for at in (1, 2, 3)]
    for name in ("speed", "bandwidth", "latency"):
        assert len({getattr(cluster, name) for cluster in drawn}) == 6
    for cluster in drawn:
        assert 5 <= cluster.host_count <= 50
        assert 1 <= cluster.cores <= 8
        assert 1e7 <= cluster.bandwidth <= 1e9


def test_neither_more_clusters_nor_other_laws_change_the_draws_of_the_rest():
    before = _drawn(_drawn_cluster("c"))
    after = _drawn(
        _drawn_cluster("new", repeat=None), _drawn_cluster("c", repeat=5, latency=1e-5, hosts=7)
    )
    for site in (1, 2):
        for at in (1, 2, 3):
            old, new = before[f"c{at}.s{site}"], after[f"c{at}.s{site}"]
            for name in ("speed", "bandwidth", "cores"):
                assert getattr(old, name) == getattr(new, name)
            assert (new.latency, new.host_count) == (1e-5, 7)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**63), st.integers(0, 2**63))
def test_the_seed_decides(one, other):
    def text(seed):
        sites = (SiteGroup("s", (_drawn_cluster("c"),)),)
        return platform_text(Federation("f", sites, None, seed).platform())

    assert text(one) == text(one)
    assert (text(one) == text(other)) is (one == other)


def test_draws_follow_their_law():
    group = ClusterGroup("c", 1, LAW, 1e8, 1e-4, repeat=2000)
    clusters = _drawn(group)
    speeds = np.array([cluster.speed for cluster in clusters.values() if ".t" not in cluster.id])
    assert len(speeds) == 4000
    assert speeds.mean() == pytest.approx(3e9, rel=0.05)
    assert speeds.std() / speeds.mean() == pytest.approx(0.5, rel=0.1)


def test_a_draw_of_less_than_one_host_is_one():
    tiny = Law("constant", (0.2,))
    assert _drawn(_drawn_cluster("c", hosts=tiny, cores=tiny))["c1.s1"].host_count == 1


def test_a_large_federation_stays_small_on_file(tmp_path):
    clusters = (_drawn_cluster("c", hosts=100, repeat=10),)
    federation = Federation(
        "f", (SiteGroup("s", clusters, repeat=100),), SiteBackbone("star", WIRE)
    )
    platform = federation.platform()
    assert platform.host_count == 100_000
    write_platform(platform, tmp_path / "large.xml")
    assert (tmp_path / "large.xml").stat().st_size < 1_000_000


# What cannot be.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wire(0.0), "the bandwidth of a cable is 0.0 byte/s"),
        (lambda: Wire(1e9, -1.0), "the latency of a cable is -1.0 s"),
        (lambda: Switch("x", -1.0), "the bandwidth of switch 'x' is -1.0 byte/s"),
        (lambda: Switch("", None, 1e-3), "a switch has a latency without a bandwidth; give both"),
        (lambda: _cluster("a", 0), "the number of hosts of cluster 'a' is 0; give a whole number"),
        (lambda: _cluster("a", cores=1.5), "the number of cores of cluster 'a' is 1.5"),
        (lambda: _cluster("a", repeat=0), "the number of clusters 'a' is 0"),
        (lambda: _cluster("a", latency=-1.0), "the latency of cluster 'a' is -1.0 s"),
        (lambda: ClusterGroup("a", 1, 0.0, 1.0, 0.0), "the speed of cluster 'a' is 0.0 flop/s"),
        (lambda: _cluster("a", backbone=Switch()), "the backbone of cluster 'a' has no bandwidth"),
        (lambda: SiteGroup("s", ()), "site 's' has no cluster; give it one at least"),
        (lambda: _site("s", _cluster("c2"), _cluster("c", repeat=2)),
         "two clusters of site 's' are called 'c2'; name them apart"),
        (lambda: _site("s", switch=SWITCH, switches=(Switch("x"),)),
         "site 's' has a switch and switches; give one of the two"),
        (lambda: _site("s", switch=Switch("", 1.0, 0.0, WIRE)), "the one switch of site"),
        (lambda: _site("s", switch=Switch()), "the switch of site 's' has no bandwidth"),
        (lambda: _site("s", _cluster("a", switch="y")),
         "cluster 'a' of site 's' hangs from 'y', which is no switch of the site; describe it"),
        (lambda: _site("s", _cluster("a", switch="y"), switches=(Switch("x", to="x"),)),
         "the switches of site 's' form a ring through 'x'"),
        (lambda: _site("s", _cluster("a"), switches=(Switch("x"),)),
         "nothing hangs from switch 'x' of site 's'; write switch = \"x\" in a cluster"),
        (lambda: _site("s", _cluster("a", switch="x"), switches=(Switch("x", to="q"),)),
         "switch 'x' of site 's' goes to 'q', which is no switch; name one of x"),
        (lambda: _site("s", _cluster("a", uplink=WIRE), switch=SWITCH, one_switch=False),
         "cluster 'a' of site 's' has a backbone or an uplink beside the switch"),
        (lambda: SiteBackbone("web", WIRE), "a backbone is of kind 'web'; give one of star, mesh"),
        (lambda: SiteBackbone("mesh"), "a backbone of kind 'mesh' has no bandwidth"),
        (lambda: SiteBackbone("links"), "a backbone of kind 'links' has 0 links"),
        (lambda: SiteBackbone("links", WIRE, None, (SiteLink("a", "b", WIRE),)),
         "a backbone of kind 'links' has a bandwidth; give each link its own"),
        (lambda: SiteBackbone("ring", WIRE, SWITCH), "a backbone of kind 'ring' has a hub"),
        (lambda: SiteBackbone("star", WIRE, Switch()), "the hub has no bandwidth"),
        (lambda: Federation("f", ()), "federation 'f' has no site; give it one"),
        (lambda: Federation("f", (_site("s"),), None, -1), "the seed is -1; give a whole number"),
        (lambda: Federation("f", (_site("s"), _site("s"))), "two sites are called 's'"),
        (lambda: Federation("f", (_site("s", repeat=2),)),
         "nothing joins the 2 sites of federation 'f'; give it a backbone"),
        (lambda: Federation("f", (_site("s", uplink=WIRE), _site("t")), SiteBackbone("star")),
         "site 't' has no cable to the hub; give it an uplink, or the backbone a bandwidth"),
        (lambda: _joined(("A", "B", 1e-3), ("C", "D", 1e-3)),
         "no way leads from site 'A' to site 'C'; add a link to the backbone"),
        (lambda: _joined(("A", "B", 1e-3), ("B", "A", 1e-3)), "two links of the backbone join 'B'"),
        (lambda: _joined(("A", "A", 1e-3)), "a link of the backbone joins site 'A' to itself"),
        (lambda: Federation("f", (_site("s"),), SiteBackbone("links", links=(
            SiteLink("s", "paris", WIRE),))), "a link of the backbone ends at 'paris'"),
        # More than can be.
        (lambda: _cluster("a", 10**11), "the number of hosts of cluster 'a' is 100,000,000,000"),
        (lambda: _cluster("a", repeat=10**13), "the number of clusters 'a' is 10,000,000,000,000"),
        (lambda: _site("s", repeat=10**13), "the number of sites 's' is 10,000,000,000,000, more"),
        (lambda: _site("s", _cluster("a", repeat=99_999), _cluster("b", repeat=2)),
         "the number of clusters of site 's' is 100,001, more than the 100,000 that are made"),
        (lambda: Federation("f", (_site("s", _cluster("a", repeat=1000), repeat=101),),
                            SiteBackbone("star", WIRE)), "there are 101,000 clusters, more than"),
        (lambda: Federation("f", (_site("s", _cluster("a", 1_999_999), _cluster("b", 2)),))
         .platform(), "the clusters have 2,000,001 hosts, 1,999,999 of them cluster 'a' of site"),
        (lambda: Federation("f", (_site("s", repeat=1001),), SiteBackbone("mesh", WIRE)),
         "a mesh joins 1,001 sites, more than the 1,000 whose routes are made; use a star"),
        # Names that come to the same.
        (lambda: Federation("f", (_site("x", _cluster("router")),)),
         "cluster 'router' of site 'x' and the router of site 'x' would both be called 'router.x'"),
        (lambda: Federation("f", (_site("x", _cluster("switch"), switch=SWITCH),)),
         "cluster 'switch' of site 'x' and the switch of site 'x' would both be called 'switch.x'"),
        (lambda: Federation("f", (_site("b.c", _cluster("a")), _site("c", _cluster("a.b"))),
                            SiteBackbone("chain", WIRE)),
         "cluster 'a.b' of site 'c' and cluster 'a' of site 'b.c' would both be called 'a.b.c'"),
        (lambda: Federation("f", (_site("x", _cluster("edge"), uplink=WIRE), _site("y")),
                            SiteBackbone("chain", WIRE)),
         "cluster 'edge' of site 'x' and the router at the end of the uplink of site 'x' would"),
        (lambda: Federation("f", (_site("x", _cluster("a"), _cluster("a-router")),)),
         "cluster 'a-router' of site 'x' and the router of cluster 'a' of site 'x' would both"),
        (lambda: Federation("f", (_site("x", _cluster("a", switch="a"), switches=(Switch("a"),)),)),
         "cluster 'a' of site 'x' and switch 'a' of site 'x' would both be called 'a.x'"),
        (lambda: Federation("a.x", (_site("x", _cluster("a")),)),
         "cluster 'a' of site 'x' and the federation would both be called 'a.x'"),
        (lambda: Federation("f", (_site("x", _cluster("a", 5), _cluster("a-5")),)),
         "cluster 'a-5' of site 'x' would be called 'a-5.x', as a host of cluster 'a' of site 'x'"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(PlatformError) as caught:
        make()
    assert message in str(caught.value)
