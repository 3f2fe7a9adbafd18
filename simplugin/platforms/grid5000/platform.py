"""The platform of Grid'5000: sites of clusters and switches, and the backbone between them.

A zone a site, in it a cluster for each group of nodes that are alike, and a zone with a router for
each switch and for the site's router. Clusters hang from their switches, switches from others or
from the router, as the cables do; sites are joined by the links of the backbone along the way of
least latency. SimGrid 4.1 finds a way out of a zone of zones only over ``bypassZoneRoute``s, so
there is one for each two sites in either direction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import permutations

from simplugin.core.errors import PlatformError
from simplugin.platforms.graphs import quickest
from simplugin.platforms.grid5000.facts import BackboneLink, ClusterFacts, Grid5000, SiteFacts
from simplugin.platforms.grid5000.latencies import Latencies
from simplugin.platforms.hosts import Cluster, Router
from simplugin.platforms.links import (
    FATPIPE,
    SPLITDUPLEX,
    AnyRoute,
    BypassZoneRoute,
    Link,
    LinkUse,
    ZoneRoute,
)
from simplugin.platforms.platform import Platform, Zone, ZoneElement
from simplugin.platforms.validation import require_choice


def backbone_ways(
    links: Iterable[BackboneLink], latencies: Latencies, sites: Sequence[str]
) -> tuple[dict[tuple[str, str], tuple[LinkUse, ...]], tuple[Link, ...]]:
    """Return the ways of least latency between any two sites over the backbone.

    The way back is the same. Ties go to the way whose names come first in the alphabet, as
    seen from the site that comes first.

    Parameters
    ----------
    links : iterable of BackboneLink
        Between sites and points of presence, at most one between any two.
    latencies : Latencies
        Latencies of the network.
    sites : sequence of str
        Uids of sites.

    Returns
    -------
    ways : dict
        From two sites to the links from the first to the second; both directions.
    links : tuple of Link
        Those that a way passes, in the order in which the backbone has them.

    Raises
    ------
    PlatformError
        Two links have the same ends, it is unknown where an end is, or there is no way between
        two sites.
    """
    made: dict[str, Link] = {}
    # Of each place: the places at the other ends of links, latencies [s] and uses of links.
    crossings: defaultdict[str, list[tuple[str, float, LinkUse]]] = defaultdict(list)
    joined: set[frozenset[str]] = set()
    for link in links:
        one, other = link.ends
        if one == other or frozenset(link.ends) in joined:
            raise PlatformError(
                f"the backbone joins {one!r} and {other!r} twice, or an end with itself",
                remedy="leave one link between two ends, of the sum of the rates",
            )
        joined.add(frozenset(link.ends))
        name = f"{one}_{other}"
        latency = latencies.of_backbone(link)
        made[name] = Link(name, link.rate / 8, latency, sharing_policy=SPLITDUPLEX)
        crossings[one].append((other, latency, LinkUse(name, "UP")))
        crossings[other].append((one, latency, LinkUse(name, "DOWN")))
    ways: dict[tuple[str, str], tuple[LinkUse, ...]] = {}
    for at, site in enumerate(sites):
        found = quickest(site, crossings)
        for other in sites[at + 1 :]:
            if other not in found:
                raise PlatformError(
                    f"the backbone has no way from {site!r} to {other!r}",
                    remedy="add the missing link to the reference, or take one of the sites",
                )
            ways[site, other] = found[other]
            ways[other, site] = tuple(use.back() for use in reversed(found[other]))
    used = {use.link for way in ways.values() for use in way}
    return ways, tuple(link for name, link in made.items() if name in used)


ETHERNET_ONLY, FAST = "ethernet", "fast"
DOMAIN = "grid5000.fr"


def is_fast(facts: ClusterFacts) -> bool:
    """Return True if all nodes of a cluster share a kind of fast adapter."""
    interfaces = {group.fast_adapter and group.fast_adapter.interface for group in facts.groups}
    return len(interfaces) == 1 and None not in interfaces


def equipment(uid: str, site: str) -> tuple[str, str]:
    """Return the names of the zone of a switch or router of a site, and of what is in it."""
    return f"{uid}.{site}", f"{uid}.{site}.{DOMAIN}"


class _SiteLayout:
    """A site as a zone of routing Floyd over a tree; its router is in a zone of `equipment`."""

    def __init__(self, site: SiteFacts, latencies: Latencies, *, fast: bool) -> None:
        self._site = site
        self._latencies = latencies
        self._fast = fast
        self._uplinks = {uplink.switch: uplink for uplink in site.uplinks}
        self._clusters: list[Cluster] = []
        self._links: list[Link] = []
        self._routes: list[AnyRoute] = []
        self._switches: dict[str, None] = {}  # those on the ways from hosts to the router
        # A route needs a link, even if a cluster is at its switch. It never limits.
        rates = [group.adapter.rate for group in site.groups]
        fast_rates = [each.fast_adapter.rate for each in site.groups if each.fast_adapter]
        if not rates:
            raise PlatformError(f"site {site.uid!r} has no nodes", remedy="leave it out")
        self._patch = Link(f"patch.{site.uid}", max(rates) / 8, 0.0, sharing_policy=FATPIPE)
        self._fabric = Link(
            f"fabric.{site.uid}", max([*rates, *fast_rates]) / 8, 0.0, sharing_policy=FATPIPE
        )

    def zone(self) -> Zone:
        """Return the whole."""
        for facts in self._site.clusters:
            self._cluster(facts)
        uplinks = [self._uplinks[name] for name in self._switches if name != self._site.router]
        for uplink in uplinks:
            link = Link(
                f"{uplink.switch}_{uplink.towards}.{self._site.uid}",
                uplink.rate / 8,
                self._latencies.switch,
                sharing_policy=SPLITDUPLEX,
            )
            self._links.append(link)
            zone, router = equipment(uplink.switch, self._site.uid)
            next_zone, next_router = equipment(uplink.towards, self._site.uid)
            uses = (LinkUse(link.id, "UP"),)
            self._routes.append(ZoneRoute(zone, next_zone, router, next_router, uses))
        used = {use.link for route in self._routes for use in route.links}
        patches = [link for link in (self._patch, self._fabric) if link.id in used]
        names = [self._site.router, *(uplink.switch for uplink in uplinks)]
        switches = [
            Zone(zone, "Full", (Router(router),))
            for zone, router in (equipment(name, self._site.uid) for name in names)
        ]
        # SimGrid wants links after zones and clusters.
        elements: list[ZoneElement] = [*self._clusters, *switches, *patches, *self._links]
        return Zone(self._site.uid, "Floyd", tuple(elements), tuple(self._routes))

    def _cluster(self, facts: ClusterFacts) -> None:
        """Add the groups of a cluster, each at its switch."""
        fast = self._fast and is_fast(facts)
        several = len(facts.groups) > 1
        parts = []
        for number, group in enumerate(facts.groups):
            name = f"{facts.uid}_{_letters(number)}" if several else facts.uid
            adapter = group.fast_adapter if fast and group.fast_adapter else group.adapter
            cluster = Cluster(
                id=name,
                radical=group.numbers,
                speed=group.speed,
                bandwidth=adapter.rate / 8,
                latency=self._latencies.of_adapter(adapter),
                prefix=f"{facts.uid}-",
                suffix=f".{self._site.uid}.{DOMAIN}",
                cores=group.cores,
            )
            self._clusters.append(cluster)
            switch = group.adapter.switch or self._site.router
            self._towards_router(switch)
            zone, router = equipment(switch, self._site.uid)
            use = LinkUse(self._patch.id)
            if adapter is not group.adapter:
                # Their Ethernet adapters; a host to the switch takes as long as over its own.
                late = max(0.0, self._latencies.of_adapter(group.adapter) - cluster.latency)
                rate = group.count * group.adapter.rate / 8
                self._links.append(Link(f"{name}.{self._site.uid}", rate, late, SPLITDUPLEX))
                use = LinkUse(self._links[-1].id, "UP")
            self._routes.append(ZoneRoute(name, zone, str(cluster.router_name), router, (use,)))
            parts.append(cluster)
        if not fast:
            return
        for one, other in permutations(parts, 2):
            gateways = str(one.router_name), str(other.router_name)
            self._routes.append(
                BypassZoneRoute(one.id, other.id, *gateways, links=(self._fabric.id,))
            )

    def _towards_router(self, switch: str) -> None:
        """Record a switch and those between it and the router."""
        passed: list[str] = []
        at = switch
        while at != self._site.router:
            if at not in self._uplinks or at in passed:
                raise PlatformError(
                    f"switch {at!r} of site {self._site.uid!r} has no way to the router "
                    f"{self._site.router!r}",
                    remedy="add its uplink to the facts",
                )
            passed.append(at)
            at = self._uplinks[at].towards
        self._switches.update(dict.fromkeys(passed))


def _letters(number: int) -> str:
    """Return a, b, ..., z, ba, bb, ...: the number in base 26."""
    first, last = divmod(number, 26)
    return (_letters(first) if first else "") + chr(ord("a") + last)


INTERCONNECTS = (ETHERNET_ONLY, FAST)


def grid5000_platform(
    facts: Grid5000, latencies: Latencies | None = None, interconnect: str = ETHERNET_ONLY
) -> Platform:
    """Return the platform of Grid'5000, or of the sites and clusters that are left of it.

    Hosts are called ``<node>.<site>.grid5000.fr``. A host's link has its adapter's rate in either
    direction, and so have the cables between switches and the links of the backbone. Switches
    themselves are never a bottleneck.

    Parameters
    ----------
    facts : Grid5000
        The facts.
    latencies : Latencies, optional
        Latencies of the network; `Latencies()` without.
        Places that it lacks are those of the facts.
    interconnect : str
        ``ethernet``: all data go over Ethernet. ``fast``: where all nodes of a cluster have an
        InfiniBand adapter, or all an Omni-Path one, their links are these, and nothing else limits
        data within the cluster. What leaves a group of its nodes goes over a link as fast as all
        their Ethernet adapters together. So these are shared, and a single host can send more than
        its own, up to the rate of its fast adapter.

    Returns
    -------
    Platform
        A zone ``grid5000`` around the sites; the site alone if there is one only.

    Raises
    ------
    PlatformError
        There are no sites, a switch or a site cannot be reached, or a latency is missing.
    """
    require_choice("the interconnect", interconnect, INTERCONNECTS)
    latencies = (Latencies() if latencies is None else latencies).with_places(facts.places)
    if not facts.sites:
        raise PlatformError("there is no site", remedy="select at least one that has nodes")
    zones = [_SiteLayout(site, latencies, fast=interconnect == FAST).zone() for site in facts.sites]
    if len(zones) == 1:
        return Platform((zones[0],))
    gateways = {site.uid: equipment(site.router, site.uid)[1] for site in facts.sites}
    uids = [site.uid for site in facts.sites]
    ways, links = backbone_ways(facts.backbone, latencies, uids)
    routes = [
        BypassZoneRoute(source, destination, gateways[source], gateways[destination], way)
        for (source, destination), way in ways.items()
    ]
    return Platform((Zone("grid5000", "Full", (*zones, *links), tuple(routes)),))
