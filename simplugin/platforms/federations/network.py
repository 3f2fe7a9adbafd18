"""The network of a federation: its clusters, switches and cables, drawn and laid out as zones."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

import numpy as np

from simplugin.platforms.federations.parts import (
    ClusterGroup,
    FederationError,
    Quantity,
    SiteBackbone,
    SiteGroup,
    SiteLink,
    Switch,
    Wire,
    in_digits,
)
from simplugin.platforms.graphs import quickest
from simplugin.platforms.hosts import Cabinet, Cluster, Host, Router, spoke
from simplugin.platforms.laws import Law
from simplugin.platforms.links import (
    FATPIPE,
    SHARED,
    SPLITDUPLEX,
    Backbone,
    Link,
    LinkUse,
    Route,
    ZoneRoute,
)
from simplugin.platforms.platform import Platform, Zone, ZoneElement
from simplugin.platforms.validation import MOST_HOSTS

_FAR_TOO_LARGE = 1e300


@dataclass(slots=True)
class DrawnSwitch:
    """A switch, and what hangs from it.

    Attributes
    ----------
    id : str
        Its name in the federation.
    bandwidth, latency : float
        Capacity, shared by all that passes it [byte/s], and latency [s]; a bandwidth of None
        limits nothing.
    uplink : Link, optional
        To the switch above it.
    switches, clusters : list
        The switches and clusters below it.
    """

    id: str
    bandwidth: float | None = None
    latency: float = 0.0
    uplink: Link | None = None
    switches: list[DrawnSwitch] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)


class Draws:
    """Draws from laws; each from a stream of its own, which seed and name determine.

    An addition to a federation, or a number turned into a law, changes nothing else.

    Parameters
    ----------
    seed : int
        Of all streams.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def number(self, quantity: Quantity, *name: str) -> float:
        """Return a number, or the draw of a name from a law."""
        if not isinstance(quantity, Law):
            return float(quantity)
        # Apart by what no name holds, so that "a", "bc" is not "ab", "c".
        digest = hashlib.sha256("\0".join(name).encode()).digest()
        words = np.frombuffer(digest, dtype="<u4").tolist()
        return float(quantity.draw(np.random.default_rng([self._seed, *words]), 1)[0])

    def count(self, quantity: Quantity, *name: str) -> int:
        """Return a whole number of at least 1."""
        # Infinity cannot be rounded; too large numbers are refused before they are used.
        return max(1, round(min(self.number(quantity, *name), _FAR_TOO_LARGE)))

    def wire(self, wire: Wire, called: str, *name: str) -> Link:
        """Return a cable."""
        return Link(
            called,
            self.number(wire.bandwidth, *name, "bandwidth"),
            self.number(wire.latency, *name, "latency"),
            SPLITDUPLEX if wire.duplex else SHARED,
        )

    def switch(self, switch: Switch | None, called: str, *name: str) -> DrawnSwitch:
        """Return a switch without anything that hangs from it; None limits nothing."""
        if switch is None:
            return DrawnSwitch(called)
        bandwidth = switch.bandwidth
        return DrawnSwitch(
            called,
            None if bandwidth is None else self.number(bandwidth, *name, "bandwidth"),
            self.number(switch.latency, *name, "latency"),
            None if switch.uplink is None else self.wire(switch.uplink, f"{called}-uplink", *name),
        )

    def site(self, name: str, group: SiteGroup, uplink: Wire | None) -> DrawnSwitch:
        """Return the router of a site with all that hangs from it."""
        root = DrawnSwitch(f"router.{name}")
        if uplink is not None:
            root.uplink = self.wire(uplink, f"{name}-uplink", name, "uplink")
        switches = {"": root}
        if group.switch is not None and group.one_switch:
            switches[""] = self.switch(group.switch, f"switch.{name}", name, "switch")
            root.switches.append(switches[""])
        for switch in group.switches:
            called = f"{switch.name}.{name}"
            switches[switch.name] = self.switch(switch, called, name, "switch", switch.name)
        for switch in group.switches:
            switches[switch.to].switches.append(switches[switch.name])
        for clusters in group.clusters:
            for each in clusters.names:
                self._hang(switches[clusters.switch], each, clusters, name, group)
        return root

    def _hang(
        self, above: DrawnSwitch, name: str, group: ClusterGroup, site: str, around: SiteGroup
    ) -> None:
        """Hang a cluster from a switch, with a switch of its own where it has one."""
        path = (site, "cluster", name)
        cluster = Cluster(
            f"{name}.{site}",
            f"1-{self.count(group.hosts, *path, 'hosts')}",
            self.number(group.speed, *path, "speed"),
            self.number(group.bandwidth, *path, "bandwidth"),
            self.number(group.latency, *path, "latency"),
            prefix=f"{name}-",
            suffix=f".{site}",
            cores=self.count(group.cores, *path, "cores"),
            router=f"{name}-router.{site}",
        )
        own, uplink = group.backbone, group.uplink
        if around.switch is not None and not around.one_switch:
            own, uplink = around.switch, around.switch.uplink
        if own is None and uplink is None:
            above.clusters.append(cluster)
            return
        switch = self.switch(own, cluster.id, *path, "switch")
        if uplink is not None:
            switch.uplink = self.wire(uplink, f"{cluster.id}-uplink", *path, "uplink")
        switch.clusters.append(cluster)
        above.switches.append(switch)

    def require_few_hosts(self, groups: tuple[SiteGroup, ...]) -> None:
        """Raise if clusters exceed `MOST_HOSTS`; the error is about the largest cluster."""
        hosts = {
            (name, site, at, number): self.count(group.hosts, site, "cluster", name, "hosts")
            for at, sited in enumerate(groups)
            for site in sited.names
            for number, group in enumerate(sited.clusters)
            for name in group.names
        }
        if sum(hosts.values()) > MOST_HOSTS:
            (name, site, at, number), most = max(hosts.items(), key=lambda each: each[1])
            raise FederationError(
                f"the clusters have {in_digits(sum(hosts.values()))} hosts, {in_digits(most)} of "
                f"them cluster {name!r} of site {site!r}: more than the {MOST_HOSTS:,} that are "
                "made",
                *("sites", at, "clusters", number, "hosts"),
                remedy="ask for fewer hosts, or a law of smaller numbers",
            )


# Latencies are compared in whole units of this many seconds, so that rounding decides nothing.
_TICK = 1e-15
_MOST_LINKS = 2**32
_CABLE = "cable"


@dataclass(frozen=True, slots=True)
class _Edge:
    """A step from a router to another over a link, with its latency [s]; perhaps also back."""

    source: str
    destination: str
    use: LinkUse
    latency: float
    both_ways: bool = False

    def back(self) -> _Edge:
        """Return the way back."""
        return _Edge(self.destination, self.source, self.use.back(), self.latency, True)


class FederationLayout:
    """Turns sites into zones, routers and routes.

    Parameters
    ----------
    name : str
        Of the federation.
    sites : tuple of SiteGroup
        At least one.
    backbone : SiteBackbone, optional
        Between them.
    draws : Draws
        Source of the numbers.

    Raises
    ------
    FederationError
        There would be too many hosts.
    """

    def __init__(
        self,
        name: str,
        sites: tuple[SiteGroup, ...],
        backbone: SiteBackbone | None,
        draws: Draws,
    ) -> None:
        self._name, self._network_id = name, f"{name}-network"
        self._around: list[Zone | Cluster] = []
        self._zone_routes: list[ZoneRoute] = []
        self._routers: list[str] = []
        self._links: list[Link] = []
        self._edges: list[_Edge] = []
        # Routers at which transfers come in and go out, in the order in which they were named.
        self._entries: dict[str, None] = {}
        self._exits: dict[str, None] = {}
        self._has_cable, self._widest = False, 0.0
        self._is_tree = True
        draws.require_few_hosts(sites)
        usual = backbone.wire if backbone is not None and backbone.kind == "star" else None
        drawn = {
            name: draws.site(name, group, group.uplink or usual)
            for group in sites
            for name in group.names
        }
        if backbone is None or len(drawn) == 1:
            self._place(next(iter(drawn.values())), None)
        elif backbone.kind == "star":
            hub = draws.switch(backbone.hub, "hub", "hub")
            hub.switches += drawn.values()
            self._place(hub, None)
        else:
            self._join_sites(drawn, backbone, draws)

    def platform(self) -> Platform:
        """Return the whole."""
        if len(self._around) == 1:
            return Platform((Zone(self._name, "Full", (self._around[0],)),))
        elements = (*self._around, self._network())
        return Platform((Zone(self._name, "Floyd", elements, tuple(self._zone_routes)),))

    def _join_sites(
        self, sites: dict[str, DrawnSwitch], backbone: SiteBackbone, draws: Draws
    ) -> None:
        """Place the sites, each below a router at which cables to others end."""
        edges = {}
        for name, site in sites.items():
            edge = DrawnSwitch(f"edge.{name}", switches=[site]) if site.uplink else site
            edges[name] = edge.id
            self._place(edge, None)
        # The cables of any backbone but a star, each once.
        joined = list(backbone.links)
        if backbone.wire is not None:
            names = list(sites)
            pairs = list(combinations(names, 2) if backbone.kind == "mesh" else pairwise(names))
            if backbone.kind == "ring" and len(names) > 2:
                pairs.append((names[-1], names[0]))
            joined = [SiteLink(*pair, backbone.wire) for pair in pairs]
        self._is_tree = len(joined) == len(sites) - 1
        for link in joined:
            ends = sorted((link.source, link.destination))
            wire = draws.wire(link.wire, f"{link.source}--{link.destination}", "backbone", *ends)
            use, latency = self._wire(wire), wire.latency
            self._edges.append(
                _Edge(edges[link.source], edges[link.destination], use, latency, True)
            )

    def _place(self, switch: DrawnSwitch, above: tuple[str, str] | None) -> None:
        """Place a switch below the routers for coming in to and going out of the one above it."""
        limits = switch.bandwidth is not None
        alone = len(switch.switches) + len(switch.clusters) == 1
        # Below a switch that limits, only what must pass it may be at its two routers.
        merges = above is not None and (alone or above[0] == above[1])
        if above is not None and not switch.switches and (limits or alone):
            self._attach(switch, switch.clusters, above)
        elif limits:
            inner = (f"{switch.id}-in", f"{switch.id}-out")
            self._routers += inner
            # Clusters at a switch pass it on leaving, and before they are entered.
            if switch.clusters:
                through = self._attach(switch, switch.clusters, (inner[1], inner[0]), direct=True)
            else:
                assert switch.bandwidth is not None
                self._links.append(Link(switch.id, switch.bandwidth, switch.latency))
                through = switch.id
            self._edges.append(_Edge(*inner, LinkUse(through), switch.latency))
            if above is not None:
                self._step(switch, inner, above)
            for each in switch.switches:
                self._place(each, inner)
        elif above is not None and merges and switch.uplink is None:
            self._place_below(switch, above)
        else:
            self._routers.append(switch.id)
            if above is not None:
                self._step(switch, (switch.id, switch.id), above)
            self._place_below(switch, (switch.id, switch.id))

    def _place_below(self, switch: DrawnSwitch, routers: tuple[str, str]) -> None:
        """Place what hangs from a switch that limits nothing."""
        for inner in switch.switches:
            self._place(inner, routers)
        for cluster in switch.clusters:
            self._attach(DrawnSwitch(cluster.id), [cluster], routers)

    def _wire(self, wire: Link | None) -> LinkUse:
        """Add a cable; return its use on the way up. None limits nothing, each has all of it."""
        if wire is None:
            self._has_cable = True
            return LinkUse(_CABLE)
        self._links.append(wire)
        return LinkUse(wire.id, "UP" if wire.sharing_policy == SPLITDUPLEX else "NONE")

    def _step(self, switch: DrawnSwitch, inner: tuple[str, str], above: tuple[str, str]) -> None:
        """Join a switch with the one above it."""
        latency = 0.0 if switch.uplink is None else switch.uplink.latency
        up = self._wire(switch.uplink)
        if inner[0] == inner[1] and above[0] == above[1]:
            self._edges.append(_Edge(inner[0], above[0], up, latency, True))
        else:
            self._edges.append(_Edge(inner[1], above[0], up, latency))
            self._edges.append(_Edge(above[1], inner[0], up.back(), latency))

    def _attach(
        self,
        switch: DrawnSwitch,
        clusters: list[Cluster],
        routers: tuple[str, str],
        *,
        direct: bool = False,
    ) -> str:
        """Put clusters around the network; return the name of the link that is their switch.

        Over the uplink of their switch, or directly where that is in the network itself.
        """
        zone: Zone | Cluster
        if len(clusters) > 1:
            zone, gateway, link = _pool(switch, clusters), f"{switch.id}-router", switch.id
        else:
            limit, latency = switch.bandwidth, switch.latency
            zone = replace(clusters[0], backbone_bandwidth=limit, backbone_latency=latency)
            gateway, link = zone.router, f"{zone.id}_backbone"
        self._around.append(zone)
        self._widest = max(self._widest, *(each.bandwidth for each in clusters))
        up = self._wire(None if direct else switch.uplink)
        self._entries[routers[0]] = self._exits[routers[1]] = None
        add, name = self._zone_routes.append, self._network_id
        if routers[0] == routers[1]:
            add(ZoneRoute(zone.id, name, gateway, routers[0], [up]))
        else:
            add(ZoneRoute(zone.id, name, gateway, routers[0], [up], symmetrical=False))
            add(ZoneRoute(name, zone.id, routers[1], gateway, [up.back()], symmetrical=False))
        return link

    def _network(self) -> Zone:
        """Return the zone of routers.

        If there is but one way between any two routers, SimGrid composes routes of those between
        neighbours; else it is given each, since it counts links, not latencies.
        """
        parts: list[ZoneElement] = [Router(name) for name in self._routers]
        if self._has_cable:
            # No transfer is faster than the link of its host.
            parts.append(Link(_CABLE, self._widest, 0.0, FATPIPE))
        parts += self._links
        if not self._is_tree:
            return Zone(self._network_id, "Full", tuple(parts), tuple(self._all_routes()))
        routes = [
            Route(edge.source, edge.destination, [edge.use], symmetrical=edge.both_ways)
            for edge in self._edges
        ]
        return Zone(self._network_id, "Floyd", tuple(parts), tuple(routes))

    def _all_routes(self) -> Iterator[Route]:
        """Yield the routes from each entry to each exit, those of the least latency."""
        onward: defaultdict[str, list[tuple[str, int, _Edge]]] = defaultdict(list)
        for edge in self._edges:
            for step in (edge, edge.back())[: 1 + edge.both_ways]:
                # Of equal latency, the way of the fewest links.
                cost = round(step.latency / _TICK) * _MOST_LINKS + 1
                onward[step.source].append((step.destination, cost, step))
        done: set[tuple[str, str]] = set()
        for entry in self._entries:
            ways = quickest(entry, onward)
            for leaving in self._exits:
                if leaving == entry or (entry, leaving) in done:
                    continue
                both_ways = all(edge.both_ways for edge in ways[leaving])
                symmetrical = both_ways and leaving in self._entries and entry in self._exits
                if symmetrical:
                    done.add((leaving, entry))
                uses = [edge.use for edge in ways[leaving]]
                yield Route(entry, leaving, uses, symmetrical=symmetrical)


def _pool(switch: DrawnSwitch, clusters: list[Cluster]) -> Zone:
    """Return a zone of hosts around a switch with a bandwidth.

    Clusters of one core are cabinets; SimGrid's cabinets know no other, so hosts of more are
    written one by one.
    """
    assert switch.bandwidth is not None
    elements: list[ZoneElement] = [Router(f"{switch.id}-router")]
    elements.append(Backbone(switch.id, switch.bandwidth, switch.latency))
    for each in clusters:
        speed, bandwidth, latency = each.speed, each.bandwidth, each.latency
        if each.cores == 1:
            names = (each.prefix, each.suffix)
            elements.append(Cabinet(each.id, each.radical, speed, bandwidth, latency, *names))
            continue
        for name in each.host_names():
            link = Link(f"link_{name}", bandwidth, latency, SPLITDUPLEX)
            elements += spoke(Host(name, speed, each.cores), link)
    return Zone(switch.id, "Cluster", tuple(elements))
