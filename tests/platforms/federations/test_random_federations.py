"""Any federation: SimGrid's latencies against shortest paths of a graph that the test builds."""

import math
import re
from itertools import combinations, pairwise

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.formats.check import check
from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.platforms.federations.federation import Federation
from simplugin.platforms.federations.parts import (
    ClusterGroup,
    SiteBackbone,
    SiteGroup,
    Switch,
    Wire,
)
from simplugin.simulation.resolve import resolve


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
    assert check([file]) == []
    assert read_platform(file) == platform
