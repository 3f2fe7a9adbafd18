"""A site of Grid'5000 as a zone: clusters, switches, the router, and the cables between them."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError
from simplugin.platforms.cluster import Cluster
from simplugin.platforms.hosts import Router
from simplugin.platforms.links import FATPIPE, SPLITDUPLEX, Link, LinkUse
from simplugin.platforms.platform import Zone
from simplugin.platforms.routes import BypassZoneRoute, ZoneRoute

if TYPE_CHECKING:
    from simplugin.platforms.grid5000 import ClusterFacts, NodeGroup, SiteFacts, Uplink
    from simplugin.platforms.grid5000_latencies import Latencies
    from simplugin.platforms.platform import ZoneElement
    from simplugin.platforms.routes import AnyRoute

ETHERNET_ONLY, FAST = "ethernet", "fast"
DOMAIN = "grid5000.fr"


def site_zone(site: SiteFacts, latencies: Latencies, interconnect: str = ETHERNET_ONLY) -> Zone:
    """Return a site as a zone, its router in the zone `router_zone` names.

    Parameters
    ----------
    site : SiteFacts
        The facts.
    latencies : Latencies
        How long data take.
    interconnect : str
        ``ethernet`` or ``fast``, as in `simplugin.platforms.grid5000_platform.grid5000_platform`.

    Returns
    -------
    Zone
        Of routing Floyd over a tree.

    Raises
    ------
    PlatformError
        A switch has no way to the router, or nothing hangs from it.
    """
    return _SiteLayout(site, latencies, fast=interconnect == FAST).zone()


def is_fast(facts: ClusterFacts) -> bool:
    """Whether all nodes of a cluster have a fast adapter of the same kind."""
    interfaces = {group.fast_adapter and group.fast_adapter.interface for group in facts.groups}
    return len(interfaces) == 1 and None not in interfaces


def router_zone(site: SiteFacts) -> tuple[str, str]:
    """Return the names of the zone that holds a site's router, and of the router."""
    return f"{site.router}.{site.uid}", f"{site.router}.{site.uid}.{DOMAIN}"


class _SiteLayout:
    """Gathers the parts of a site."""

    def __init__(self, site: SiteFacts, latencies: Latencies, *, fast: bool) -> None:
        self._site = site
        self._latencies = latencies
        self._fast = fast
        self._uplinks = {uplink.switch: uplink for uplink in site.uplinks}
        self._clusters: list[Cluster] = []
        self._links: list[Link] = []
        self._routes: list[AnyRoute] = []
        self._switches: dict[str, None] = {}  # those on the ways from hosts to the router
        # A route must have a link, also where a cluster is at its switch. It never limits.
        rates = [group.adapter.rate for facts in site.clusters for group in facts.groups]
        fast_rates = [
            group.fast_adapter.rate
            for facts in site.clusters
            for group in facts.groups
            if group.fast_adapter is not None
        ]
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
            self._uplink(uplink)
        used = {use.link for route in self._routes for use in route.links}
        patches = [link for link in (self._patch, self._fabric) if link.id in used]
        names = [self._site.router, *(uplink.switch for uplink in uplinks)]
        equipment = [
            Zone(zone, "Full", (Router(router),)) for zone, router in map(self._equipment, names)
        ]
        # SimGrid wants links after zones and clusters.
        elements: list[ZoneElement] = [*self._clusters, *equipment, *patches, *self._links]
        return Zone(self._site.uid, "Floyd", tuple(elements), tuple(self._routes))

    def _equipment(self, uid: str) -> tuple[str, str]:
        """Return the names of the zone of a switch or router, and of what is in it."""
        return f"{uid}.{self._site.uid}", f"{uid}.{self._site.uid}.{DOMAIN}"

    def _cluster(self, facts: ClusterFacts) -> None:
        """Add the groups of a cluster, each at its switch."""
        fast = self._fast and is_fast(facts)
        several = len(facts.groups) > 1
        parts = []
        for number, group in enumerate(facts.groups):
            name = f"{facts.uid}_{_letters(number)}" if several else facts.uid
            parts.append(self._group(name, facts.uid, group, fast=fast))
        if not fast:
            return
        for one, other in permutations(parts, 2):
            gateways = str(one.router_name), str(other.router_name)
            self._routes.append(
                BypassZoneRoute(one.id, other.id, *gateways, links=(self._fabric.id,))
            )

    def _group(self, name: str, uid: str, group: NodeGroup, *, fast: bool) -> Cluster:
        """Add hosts that are alike."""
        adapter = group.fast_adapter if fast and group.fast_adapter else group.adapter
        cluster = Cluster(
            id=name,
            radical=group.numbers,
            speed=group.speed,
            bandwidth=adapter.rate / 8,
            latency=self._latencies.of_adapter(adapter),
            prefix=f"{uid}-",
            suffix=f".{self._site.uid}.{DOMAIN}",
            cores=group.cores,
        )
        self._clusters.append(cluster)
        switch = group.adapter.switch or self._site.router
        self._towards_router(switch)
        zone, router = self._equipment(switch)
        use = LinkUse(self._patch.id)
        if adapter is not group.adapter:
            use = self._way_out(cluster, group)
        self._routes.append(ZoneRoute(name, zone, str(cluster.router_name), router, (use,)))
        return cluster

    def _way_out(self, cluster: Cluster, group: NodeGroup) -> LinkUse:
        """Add the Ethernet adapters of hosts that talk to each other over something faster."""
        # From a host to the switch it takes as long as over its own Ethernet adapter.
        latency = max(0.0, self._latencies.of_adapter(group.adapter) - cluster.latency)
        link = Link(
            f"{cluster.id}.{self._site.uid}",
            group.count * group.adapter.rate / 8,
            latency,
            sharing_policy=SPLITDUPLEX,
        )
        self._links.append(link)
        return LinkUse(link.id, "UP")

    def _towards_router(self, switch: str) -> None:
        """Note a switch and what is between it and the router."""
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

    def _uplink(self, uplink: Uplink) -> None:
        """Add the cables between a switch and the next one towards the router."""
        link = Link(
            f"{uplink.switch}_{uplink.towards}.{self._site.uid}",
            uplink.rate / 8,
            self._latencies.switch,
            sharing_policy=SPLITDUPLEX,
        )
        self._links.append(link)
        zone, router = self._equipment(uplink.switch)
        next_zone, next_router = self._equipment(uplink.towards)
        uses = (LinkUse(link.id, "UP"),)
        self._routes.append(ZoneRoute(zone, next_zone, router, next_router, uses))


def _letters(number: int) -> str:
    """Return a, b, ..., z, ba, bb, ...: the number in base 26."""
    first, last = divmod(number, 26)
    return (_letters(first) if first else "") + chr(ord("a") + last)
