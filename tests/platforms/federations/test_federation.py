"""Federations: the routes that SimGrid makes of each arrangement, and what makes no sense."""

import pytest

from simplugin.errors import PlatformError
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
from simplugin.simulation.resolve import resolve

WIRE = Wire(1e9, 1e-3)
SWITCH = Switch("", 1e8)


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


def test_routes_of_a_tree_of_switches(turned):
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
        assert _routes(federation, back) == [turned(route) for route in routes]


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


def test_equal_ways_are_the_same_there_and_back(turned):
    sites = tuple(_site(name, _cluster("c")) for name in "ABCDEF")
    federation = Federation("f", sites, SiteBackbone("ring", WIRE))
    there, back = _routes(federation, [("c-1.A", "c-1.D"), ("c-1.D", "c-1.A")])
    assert back == turned(there)
    assert _routes(federation, [("c-1.A", "c-1.E")])[0][1:-1] == ("F--A_DOWN", "E--F_DOWN")


def test_a_chain_is_passed_link_by_link():
    sites = tuple(_site(name, _cluster("c"), uplink=WIRE) for name in "ABC")
    federation = Federation("f", sites, SiteBackbone("chain", WIRE))
    assert _routes(federation, [("c-1.A", "c-1.C")])[0][1:-1] == (
        "A-uplink_UP", "A--B_UP", "B--C_UP", "C-uplink_DOWN"
    )  # fmt: skip


def test_names_that_only_look_alike_are_taken():
    site = _site("x", _cluster("a", 5), _cluster("a-6"), _cluster("edge"), _cluster("switch"))
    platform = Federation("f", (site, _site("y", uplink=WIRE)), SiteBackbone("chain", WIRE))
    require_consistent(platform.platform())


# What cannot be.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wire(0.0), "the bandwidth of a cable is 0.0 byte/s"),
        (lambda: Wire(1e9, -1.0), "the latency of a cable is -1.0 s"),
        (lambda: Switch("x", -1.0), "the bandwidth of switch 'x' is -1.0 byte/s"),
        (lambda: Switch("", None, 1e-3), "a switch has a latency without a bandwidth; give both"),
        (lambda: _cluster("a", 0), "the hosts of cluster 'a' cannot be 0; give a whole number"),
        (lambda: _cluster("a", cores=1.5), "the cores of cluster 'a' cannot be 1.5"),
        (lambda: _cluster("a", repeat=0), "the repeat of cluster 'a' cannot be 0"),
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
        (lambda: _cluster("a", 10**11), "the hosts of cluster 'a' cannot be 100,000,000,000"),
        (lambda: _cluster("a", repeat=10**13), "the repeat of cluster 'a' cannot be 10,000"),
        (lambda: _site("s", repeat=10**13), "the repeat of site 's' cannot be 10,000"),
        (lambda: _site("s", _cluster("a", repeat=99_999), _cluster("b", repeat=2)),
         "the number of clusters of site 's' cannot be"),
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
