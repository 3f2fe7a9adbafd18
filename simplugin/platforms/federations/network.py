"""The network of a federation: switches with their hosts, routers, links and routes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from simplugin.platforms.federations.draws import DrawnCluster, DrawnSwitch
from simplugin.platforms.graphs import quickest
from simplugin.platforms.hosts import Cabinet, Host, Router
from simplugin.platforms.links import (
    FATPIPE,
    SPLITDUPLEX,
    Backbone,
    HostLink,
    Link,
    LinkUse,
    Route,
)
from simplugin.platforms.platform import Zone, ZoneElement


def pool(switch: DrawnSwitch, clusters: list[DrawnCluster]) -> tuple[Zone, str, str]:
    """Return a zone of hosts around a switch.

    Parameters
    ----------
    switch : DrawnSwitch
        With a bandwidth.
    clusters : list of DrawnCluster
        The clusters of the hosts. Those of one core are a cabinet; SimGrid's cabinets know no
        other, so hosts of more are written one by one.

    Returns
    -------
    tuple of Zone, str and str
        The zone, the router at which it is left, and the link that is the switch.
    """
    assert switch.bandwidth is not None
    gateway = f"{switch.id}-router"
    elements: list[ZoneElement] = [Backbone(switch.id, switch.bandwidth, switch.latency)]
    for cluster in clusters:
        cabinet = Cabinet(
            cluster.id,
            f"1-{cluster.hosts}",
            cluster.speed,
            cluster.bandwidth,
            cluster.latency,
            prefix=f"{cluster.name}-",
            suffix=f".{cluster.site}",
        )
        if cluster.cores == 1:
            elements.append(cabinet)
            continue
        for name in cabinet.host_names():
            link = f"link_{name}"
            elements += [
                Host(name, cluster.speed, cluster.cores),
                Link(link, cluster.bandwidth, cluster.latency, SPLITDUPLEX),
                HostLink(name, f"{link}_UP", f"{link}_DOWN"),
            ]
    return Zone(switch.id, "Cluster", (Router(gateway), *elements)), gateway, switch.id


# Latencies are compared in whole units of this many seconds, so that rounding decides nothing.
_TICK = 1e-15
_MOST_LINKS = 2**32
_CABLE = "cable"


@dataclass(frozen=True, slots=True)
class Edge:
    """A step between two routers.

    Attributes
    ----------
    source, destination : str
        The routers.
    use : LinkUse
        The link, on the way from the source.
    latency : float
        Of the link [s].
    both_ways : bool
        True if it serves the way back too.
    """

    source: str
    destination: str
    use: LinkUse
    latency: float
    both_ways: bool

    def back(self) -> Edge:
        """Return the way back."""
        return Edge(self.destination, self.source, self.use.back(), self.latency, True)


@dataclass(slots=True)
class Network:
    """Routers and links between the clusters of a federation, as they are put together.

    Attributes
    ----------
    routers : list of str
        Names.
    links : list of Link
        Between them.
    edges : list of Edge
        One for each link of each pair of routers.
    entries, exits : dict of str to None
        Routers at which transfers come in and go out, in the order in which they were named.
    widest : float
        Bandwidth of the fastest link of a host [byte/s].
    """

    routers: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    entries: dict[str, None] = field(default_factory=dict)
    exits: dict[str, None] = field(default_factory=dict)
    widest: float = 0.0
    has_cable: bool = False

    def add_wire(self, wire: Link) -> LinkUse:
        """Add a cable; return its use on the way up, towards the hub."""
        self.links.append(wire)
        return LinkUse(wire.id, "UP" if wire.sharing_policy == SPLITDUPLEX else "NONE")

    def cable(self) -> LinkUse:
        """Return the use of a cable that limits nothing: each transfer has all of it."""
        self.has_cable = True
        return LinkUse(_CABLE)

    def join(self, source: str, destination: str, use: LinkUse, latency: float) -> None:
        """Join two routers in both directions."""
        self.edges.append(Edge(source, destination, use, latency, True))

    def lead(self, source: str, destination: str, use: LinkUse, latency: float) -> None:
        """Join two routers in one direction."""
        self.edges.append(Edge(source, destination, use, latency, False))

    def zone(self, name: str, *, is_tree: bool) -> Zone:
        """Return the network as a zone of routers.

        Parameters
        ----------
        name : str
            Name of the zone.
        is_tree : bool
            True if there is but one way between any two routers. SimGrid then composes routes of
            those between neighbours; else it is given each, since it counts links, not latencies.
        """
        # No transfer is faster than the link of its host.
        cable = [Link(_CABLE, self.widest, 0.0, FATPIPE)] if self.has_cable else []
        routers = [Router(name) for name in self.routers]
        parts: tuple[ZoneElement, ...] = (*routers, *cable, *self.links)
        if is_tree:
            routes = [
                Route(edge.source, edge.destination, [edge.use], symmetrical=edge.both_ways)
                for edge in self.edges
            ]
            return Zone(name, "Floyd", parts, tuple(routes))
        return Zone(name, "Full", parts, tuple(self._all_routes()))

    def _all_routes(self) -> list[Route]:
        """Return the routes from each entry to each exit, those of the least latency."""
        onward: defaultdict[str, list[tuple[str, int, Edge]]] = defaultdict(list)
        for edge in self.edges:
            for step in (edge, edge.back())[: 1 + edge.both_ways]:
                # Of equal latency, the way of the fewest links.
                cost = round(step.latency / _TICK) * _MOST_LINKS + 1
                onward[step.source].append((step.destination, cost, step))
        routes = []
        done: set[tuple[str, str]] = set()
        for entry in self.entries:
            ways = quickest(entry, onward)
            for leaving in self.exits:
                if leaving == entry or (entry, leaving) in done:
                    continue
                uses = [edge.use for edge in ways[leaving]]
                both_ways = all(edge.both_ways for edge in ways[leaving])
                symmetrical = both_ways and leaving in self.entries and entry in self.exits
                if symmetrical:
                    done.add((leaving, entry))
                routes.append(Route(entry, leaving, uses, symmetrical=symmetrical))
        return routes
