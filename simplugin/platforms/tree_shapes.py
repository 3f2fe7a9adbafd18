"""Trees of hosts by the shape of a platform: stars, zones, shortest paths."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from simplugin.core.errors import DeploymentError
from simplugin.platforms.deployments import ApplicationTree
from simplugin.platforms.graphs import GRAPH_ROUTINGS, neighbours
from simplugin.platforms.host_choices import HostChoice
from simplugin.platforms.hosts import HOSTS, Cluster
from simplugin.platforms.links import BypassRoute, Route
from simplugin.platforms.platform import Platform, Zone, ZoneElement

LATENCY = "latency"
HOPS = "hops"
TRANSFER = "transfer"


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
    # Time of a byte if each host on the way receives it before sending.
    TRANSFER: lambda route: 1 / route.bandwidth,
}


def neighbour_routes(platform: Platform) -> list[NeighbourRoute] | None:
    """Return the routes that a platform gives between hosts; None if it is not a plain graph.

    A plain graph is one zone with hosts and routes between them. A zone of routing
    ``Floyd``, ``Dijkstra`` or ``DijkstraCache`` counts only if no route ends at a router, for
    then SimGrid composes the ways of hosts from more than routes between hosts.

    Parameters
    ----------
    platform : Platform
        Where.

    Returns
    -------
    list of NeighbourRoute, or None
        Each direction by itself, in the order of the platform; none over links that are not in
        the zone.
    """
    zones = [element for element in platform.elements if isinstance(element, Zone)]
    if len(zones) != 1 or zones[0].routing not in GRAPH_ROUTINGS:
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


def star_tree(
    platform: Platform, application: str, root: str, hosts: Collection[str] | None = None
) -> ApplicationTree:
    """Return the tree in which the root is the parent of all other hosts.

    Parameters
    ----------
    platform : Platform
        Where.
    application : str
        Name of the application.
    root : str
        The host of the root.
    hosts : collection of str, optional
        The others; None for all of the platform.

    Returns
    -------
    ApplicationTree
        The children are in the order of the platform.

    Raises
    ------
    DeploymentError
        A host is not there.
    """
    members = _members(platform, application, root, hosts)
    parent = {host: root for host in platform.host_names() if host in members and host != root}
    return ApplicationTree(application, root, parent)


def zone_tree(
    platform: Platform, application: str, root: str, hosts: Collection[str] | None = None
) -> ApplicationTree:
    """Return the tree that follows the zones of a platform: heads of zones, then their hosts.

    Each zone and cluster has a head: the root if it is in there, else its first host. It is the
    parent of the hosts that are directly in the zone, and of the heads of the zones and clusters
    directly in it. So data enter each zone once.

    Parameters
    ----------
    platform, application, root, hosts
        As those of `star_tree`; heads are chosen among the hosts.

    Returns
    -------
    ApplicationTree
        Children are in the order of the platform.

    Raises
    ------
    DeploymentError
        A host is not there.
    """
    members = _members(platform, application, root, hosts)
    below: dict[int, list[str]] = {}

    def head(part: Zone | Cluster) -> str:
        hosts = below[id(part)]
        return root if root in hosts else hosts[0]

    def entered(part: ZoneElement) -> list[str]:
        """Return the hosts at which data enter a part."""
        if isinstance(part, Zone | Cluster):
            return [head(part)] if below[id(part)] else []
        hosts = part.host_names() if isinstance(part, HOSTS) else ()
        return [host for host in hosts if host in members]

    elements = [element for element, _ in platform.walk() if isinstance(element, Zone | Cluster)]
    for element in reversed(elements):
        below[id(element)] = (
            [host for host in element.host_names() if host in members]
            if isinstance(element, Cluster)
            else [host for part in element.elements for host in entered(part)]
        )
    parent = {host: root for top in platform.elements for host in entered(top) if host != root}
    for element in elements:
        parent |= {host: head(element) for host in below[id(element)] if host != head(element)}
    return ApplicationTree(application, root, parent)


def shortest_path_tree(
    platform: Platform,
    application: str,
    root: str,
    metric: str = LATENCY,
    hosts: Collection[str] | None = None,
) -> ApplicationTree:
    """Return the tree of shortest paths over the routes between neighbours.

    For platforms that say which hosts are neighbours: one zone of hosts and routes between them,
    as `Graph.platform` and `Tree.platform` make.

    Parameters
    ----------
    platform : Platform
        Where.
    application : str
        Name of the application.
    root : str
        Where the paths begin.
    metric : str
        ``latency``, ``hops`` or ``transfer``; see `shortest_parents`, also for
        the rule for ties.
    hosts : collection of str, optional
        The hosts to be reached; those on the way to them are in the tree too. None for all.

    Returns
    -------
    ApplicationTree
        Children are ordered by their distance from the root, then by name. Hosts that no path
        leads to are not in it.

    Raises
    ------
    DeploymentError
        The root is not there, one of `hosts` cannot be reached, there is no such metric, or the
        platform does not say which hosts are neighbours.
    """
    _members(platform, application, root, hosts)
    routes = neighbour_routes(platform)
    if routes is None:
        raise DeploymentError(
            "the platform does not say which hosts are neighbours: its zones join them all",
            remedy="choose the tree 'zones' or 'star', or give one in a file",
        )
    tree = ApplicationTree(application, root, shortest_parents(routes, root, metric))
    return tree if hosts is None else tree.pruned(hosts)


def require_routes(platform: Platform, tree: ApplicationTree) -> None:
    """Raise unless the hosts of a tree exist and their parents reach them.

    Only on platforms that lack routes between some hosts by intention, see `neighbours`, are
    routes looked at; elsewhere the platform is taken to join all, as `simplugin check` checks.

    Parameters
    ----------
    platform : Platform
        Where.
    tree : ApplicationTree
        Over its hosts.

    Raises
    ------
    DeploymentError
        A host is not there, or a parent has no route to a child; the message names it.
    """
    choice = HostChoice(platform)
    for host in tree.hosts:
        choice.require(f"application {tree.application!r}: host", host)
    pairs = neighbours(platform, choice.hosts)
    if pairs is None:
        return
    joined = set(pairs)
    for host, parent in tree.parent.items():
        if (parent, host) not in joined:
            raise DeploymentError(
                f"application {tree.application!r}: there is no route from {parent!r} to its child"
                f" {host!r}",
                remedy="choose a neighbour as parent, or the tree 'shortest'",
            )


def _members(
    platform: Platform, application: str, root: str, hosts: Collection[str] | None
) -> set[str]:
    """Return the hosts of a tree, which the platform must have."""
    choice = HostChoice(platform)
    choice.require(f"the root of application {application!r},", root)
    if hosts is None:
        return set(choice.hosts)
    for host in hosts:
        choice.require(f"application {application!r}: host", host)
    return {root, *hosts}
