"""Shortest paths from a host over the routes between neighbours."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.errors import DeploymentError
from simplugin.platforms.graphs import Graph
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.routes import BypassRoute, Route

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LATENCY = "latency"
HOPS = "hops"
TRANSFER = "transfer"
# Zones of these routings hold routes between their hosts.
_ROUTINGS = {"Full", "Floyd", "Dijkstra", "DijkstraCache"}


@dataclass(frozen=True, slots=True)
class NeighbourRoute:
    """A route from a host to a neighbour.

    Attributes
    ----------
    source, destination : str
        The hosts.
    latency : float
        Of all its links together [s].
    bandwidth : float
        Of its narrowest link [byte/s].
    """

    source: str
    destination: str
    latency: float
    bandwidth: float


METRICS: Mapping[str, Callable[[NeighbourRoute], float]] = {
    LATENCY: lambda route: route.latency,
    HOPS: lambda _: 1.0,
    # What a byte takes that each host on the way receives before it sends it on.
    TRANSFER: lambda route: 1 / route.bandwidth,
}


def neighbour_routes(platform: Platform | Graph) -> list[NeighbourRoute] | None:
    """Return the routes that a platform gives between hosts; None if it is not a plain graph.

    A plain graph is a `Graph`, or one zone with hosts and routes between them. A zone of routing
    ``Floyd``, ``Dijkstra`` or ``DijkstraCache`` counts only if no route ends at a router, for
    then SimGrid composes the ways of hosts from more than routes between hosts.

    Parameters
    ----------
    platform : Platform or Graph
        Where.

    Returns
    -------
    list of NeighbourRoute, or None
        Each direction by itself, in the order of the platform; none over links that are not in
        the zone.
    """
    if isinstance(platform, Graph):
        return _graph_routes(platform)
    zones = [element for element in platform.elements if isinstance(element, Zone)]
    if len(zones) != 1 or zones[0].routing not in _ROUTINGS:
        return None
    [zone] = zones
    hosts = set(platform.host_names())
    if zone.zones or zone.clusters or len(hosts) > len(zone.hosts):
        return None
    links = {name: link for link in zone.links for name in (link.id, *link.simgrid_names)}
    routes: dict[tuple[str, str], NeighbourRoute] = {}
    for route in zone.routes:
        if not isinstance(route, Route | BypassRoute) or route.source == route.destination:
            continue
        if not hosts.issuperset((route.source, route.destination)):
            if zone.routing != "Full":
                return None
            continue
        passed = [links[use.link] for use in route.links if use.link in links]
        if len(passed) < len(route.links):
            continue
        latency = sum(link.latency for link in passed)
        bandwidth = min(link.bandwidth for link in passed)
        ends = route.source, route.destination
        routes[ends] = NeighbourRoute(*ends, latency, bandwidth)
        if isinstance(route, Route) and route.symmetrical:
            routes[ends[::-1]] = NeighbourRoute(*ends[::-1], latency, bandwidth)
    return list(routes.values())


def shortest_parents(
    routes: Iterable[NeighbourRoute], root: str, metric: str = LATENCY
) -> dict[str, str]:
    """Return the parents in the tree of shortest paths from a host, by Dijkstra's algorithm.

    Of paths of equal length the one over fewer routes counts, then the one whose last host before
    the end comes first by name.

    Parameters
    ----------
    routes : iterable of NeighbourRoute
        One way each.
    root : str
        Where the paths begin.
    metric : str
        Length of a path: ``latency``, the sum of latencies [s]; ``hops``, the number of routes;
        ``transfer``, the sum of 1 / bandwidth [s/byte], what a byte takes where each host on the
        way receives a message before it sends it on.

    Returns
    -------
    dict of str to str
        The parent of each host that can be reached but the root, nearest first; those equally
        near by name.

    Raises
    ------
    DeploymentError
        There is no such metric.
    """
    length = METRICS.get(metric)
    if length is None:
        raise DeploymentError(
            f"there is no metric {metric!r}", remedy=f"choose among {', '.join(METRICS)}"
        )
    onward: dict[str, list[tuple[str, float]]] = {}
    for route in routes:
        onward.setdefault(route.source, []).append((route.destination, length(route)))
    best: dict[str, tuple[float, int, str]] = {root: (0.0, 0, "")}
    settled: dict[str, str] = {}
    heap: list[tuple[float, int, str]] = [(0.0, 0, root)]
    while heap:
        distance, hops, host = heapq.heappop(heap)
        if host in settled or (distance, hops) != best[host][:2]:
            continue
        settled[host] = best[host][2]
        for neighbour, step in onward.get(host, ()):
            found = (distance + step, hops + 1, host)
            if neighbour not in best or found < best[neighbour]:
                # A settled host is never nearer by another way: each step adds a hop at least.
                best[neighbour] = found
                heapq.heappush(heap, (*found[:2], neighbour))
    del settled[root]
    return settled


def _graph_routes(graph: Graph) -> list[NeighbourRoute]:
    """Return the links of a graph that have a bandwidth."""
    columns = (graph.source, graph.destination, graph.latency, graph.bandwidth)
    return [
        NeighbourRoute(graph.hosts[source], graph.hosts[destination], latency, bandwidth)
        for source, destination, latency, bandwidth in zip(
            *(column.tolist() for column in columns), strict=True
        )
        if bandwidth > 0
    ]
