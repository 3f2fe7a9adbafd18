"""Platforms as graphs of hosts joined by directed links, and as rooted trees."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import PlatformError
from simplugin.platforms.arrays import set_array
from simplugin.platforms.hosts import Host
from simplugin.platforms.links import Link, Route
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.validation import require_choice, require_distinct, require_parts

Pair = tuple[str, str]

# In place of no speed at all in a platform file, where SimGrid requires a positive one [flop/s]:
# less than in any unit of speeds.
NO_SPEED = 1e-250
# Of zones that hold a graph.
GRAPH_ROUTINGS = ("Full", "Floyd", "Dijkstra", "DijkstraCache")


@dataclass(frozen=True, eq=False)
class Graph:
    """Hosts and the directed links between neighbours, as arrays.

    Attributes
    ----------
    hosts : tuple of str
        Names.
    speed : float64, shape (n_hosts,)
        Of each host [flop/s]; 0 for one that only forwards.
    source, destination : int64, shape (n_links,)
        The hosts that each directed link joins, at most one link a direction.
    bandwidth : float64, shape (n_links,)
        Of each link [byte/s].
    latency : float64, shape (n_links,)
        Of each link [s].

    Raises
    ------
    PlatformError
        Lengths or ranges are wrong, a link joins a host to itself, or two hosts or links are alike.
    """

    hosts: tuple[str, ...]
    speed: NDArray[np.float64]
    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    bandwidth: NDArray[np.float64]
    latency: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "hosts", require_parts("the hosts", self.hosts, (str,)))
        set_array(self, "speed", (self.n_hosts,), "finite numbers >= 0", unit="flop/s")
        for name in ("source", "destination"):
            set_array(self, name, (len(self.source),), dtype=np.int64)
        for name, unit in (("bandwidth", "byte/s"), ("latency", "s")):
            set_array(self, name, (self.n_links,), "finite numbers >= 0", unit=unit)
        require_distinct("hosts", self.hosts)
        for ends in (self.source, self.destination):
            if np.any((ends < 0) | (ends >= self.n_hosts)):
                raise PlatformError(f"an end of a link is not in 0..{self.n_hosts - 1}")
        if np.any(self.source == self.destination):
            raise PlatformError("a link joins a host to itself; leave it out")
        # Ten times faster than numpy.unique on a million hosts.
        pairs = np.sort(self.source * self.n_hosts + self.destination)
        if np.any(pairs[1:] == pairs[:-1]):
            raise PlatformError("two links join the same hosts in the same direction; merge them")

    @classmethod
    def duplex(
        cls,
        hosts: Iterable[str],
        speed: NDArray[np.float64],
        ends: NDArray[np.int64],
        bandwidth: NDArray[np.float64],
        latency: NDArray[np.float64] | float = 1e-3,
    ) -> Graph:
        """Return a graph with one link a direction between neighbours.

        Parameters
        ----------
        hosts : iterable of str
            Names.
        speed : float64, shape (n_hosts,)
            Of each host [flop/s].
        ends : int64, shape (n_edges, 2)
            The hosts that each edge joins.
        bandwidth : float64, shape (n_edges,) or (n_edges, 2)
            Of each edge, or of each of its directions, from the first end first [byte/s].
        latency : float or float64, shape (n_edges,)
            Of each edge [s].
        """
        ends = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
        both = np.broadcast_to(np.asarray(bandwidth, float).T, (2, len(ends)))
        late = np.broadcast_to(np.asarray(latency, float), (2, len(ends)))
        return cls(
            tuple(hosts),
            speed,
            ends.ravel(),
            ends[:, ::-1].ravel(),
            both.T.ravel(),
            late.T.ravel(),
        )

    @property
    def n_hosts(self) -> int:
        """Number of hosts."""
        return len(self.hosts)

    @property
    def n_links(self) -> int:
        """Number of directed links."""
        return len(self.source)

    @property
    def links(self) -> tuple[str, ...]:
        """The names of all directed links."""
        hosts = self.hosts
        ends = zip(self.source.tolist(), self.destination.tolist(), strict=True)
        return tuple([f"{hosts[start]}->{hosts[stop]}" for start, stop in ends])

    def platform(self, routing: str = "Full") -> Platform:
        """Return the platform: one flat zone with a route between neighbours.

        A host that only forwards has a speed of `NO_SPEED`; a link without bandwidth is not there.

        Parameters
        ----------
        routing : {"Full", "Floyd", "Dijkstra", "DijkstraCache"}
            With ``Full`` there are no other routes than those between neighbours. With the others
            SimGrid joins any two hosts by a way of as few links as possible, whatever their
            latencies: ``Floyd`` finds all ways at once, in time n^3 and memory n^2, ``Dijkstra``
            each when it is used, and ``DijkstraCache`` caches them.

        Raises
        ------
        PlatformError
            There is no such routing of a graph.
        """
        require_choice("the routing of a graph", routing, GRAPH_ROUTINGS)
        # Numbers of Python's own: one by one they are faster than those of arrays.
        names = self.hosts
        hosts = [
            Host(name, max(speed, NO_SPEED))
            for name, speed in zip(names, self.speed.tolist(), strict=True)
        ]
        links, routes = [], []
        for start, stop, bandwidth, latency in zip(
            self.source.tolist(),
            self.destination.tolist(),
            self.bandwidth.tolist(),
            self.latency.tolist(),
            strict=True,
        ):
            if bandwidth > 0:
                source, destination = names[start], names[stop]
                link = f"{source}->{destination}"
                links.append(Link(link, bandwidth, latency))
                routes.append(Route(source, destination, [link], symmetrical=False))
        return Platform((Zone("graph", routing, (*hosts, *links), tuple(routes)),))


Step = TypeVar("Step")


def quickest(
    start: str, onward: Mapping[str, Iterable[tuple[str, float, Step]]]
) -> dict[str, tuple[Step, ...]]:
    """Return the ways of the least cost from a node, by Dijkstra's algorithm.

    Ties go to the path with the alphabetically first names, from the start on.

    Parameters
    ----------
    start : str
        The node.
    onward : mapping of str to iterable of (str, float, step)
        Of each node the neighbours, with the cost of each step and the step itself.

    Returns
    -------
    dict of str to tuple
        The steps to each node that can be reached.
    """
    ways: dict[str, tuple[Step, ...]] = {}
    heap: list[tuple[float, tuple[str, ...], tuple[Step, ...]]] = [(0, (start,), ())]
    while heap:
        cost, path, steps = heapq.heappop(heap)
        if path[-1] in ways:
            continue
        ways[path[-1]] = steps
        for name, further, step in onward.get(path[-1], ()):
            if name not in ways:
                heapq.heappush(heap, (cost + further, (*path, name), (*steps, step)))
    return ways


def neighbours(platform: Platform, hosts: Sequence[str]) -> list[Pair] | None:
    """Return the pairs of hosts with a route of their own; None if the routing joins all.

    Only one flat zone of routing ``Full`` can lack routes between some of its hosts, as that of
    `Graph.platform` does.

    Parameters
    ----------
    platform : Platform
        Where.
    hosts : sequence of str
        All of its hosts.

    Returns
    -------
    list of (str, str), or None
        Source and destination, in the order of the routes.
    """
    zones = [element for element in platform.elements if isinstance(element, Zone)]
    if len(zones) != 1 or zones[0].routing != "Full" or zones[0].zones or zones[0].clusters:
        return None
    known = set(hosts)
    pairs: dict[Pair, None] = {}
    for route in zones[0].routes:
        ends = (route.source, route.destination)
        if not known.issuperset(ends) or ends[0] == ends[1]:
            continue
        pairs[ends] = None
        if isinstance(route, Route) and route.symmetrical:
            pairs[ends[::-1]] = None
    return None if len(pairs) == len(hosts) * (len(hosts) - 1) else list(pairs)


@dataclass(frozen=True, eq=False)
class Tree:
    """Hosts of a rooted tree as arrays, the root first and parents before their children.

    Attributes
    ----------
    hosts : tuple of str
        Names.
    parent : int64, shape (n_hosts,)
        Of each host, -1 for the root.
    speed : float64, shape (n_hosts,)
        Of each host [flop/s]; 0 for one that only distributes.
    bandwidth : float64, shape (n_hosts,)
        Of the link from the parent [byte/s]; inf for the root.
    latency : float64, shape (n_hosts,)
        Of the same link [s]; 0 for the root.

    Raises
    ------
    PlatformError
        Lengths, ranges or the order are wrong, or two hosts are alike.
    """

    hosts: tuple[str, ...]
    parent: NDArray[np.int64]
    speed: NDArray[np.float64]
    bandwidth: NDArray[np.float64]
    latency: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "hosts", require_parts("the hosts", self.hosts, (str,)))
        count = len(self.hosts)
        if not count:
            raise PlatformError("a tree has no host; give its root at least")
        set_array(self, "parent", (count,), dtype=np.int64)
        for name, unit in (("speed", "flop/s"), ("latency", "s")):
            set_array(self, name, (count,), "finite numbers >= 0", unit=unit)
        set_array(self, "bandwidth", (count,), "numbers > 0", unit="byte/s")
        if self.parent[0] != -1 or np.any(self.parent[1:] < 0):
            raise PlatformError("the first host, and no other, must have the parent -1")
        if np.any(self.parent >= np.arange(count)):
            late = self.hosts[int(np.argmax(self.parent >= np.arange(count)))]
            raise PlatformError(f"host {late!r} comes before its parent; put parents first")
        if self.bandwidth[0] != math.inf or self.latency[0] != 0:
            raise PlatformError("the root has no link: give it a bandwidth of inf, a latency of 0")
        if not np.all(np.isfinite(self.bandwidth[1:])):
            raise PlatformError("a bandwidth is infinite", remedy="give the root alone none")
        require_distinct("hosts", self.hosts)

    @property
    def n_hosts(self) -> int:
        """Number of hosts."""
        return len(self.hosts)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each host, in their order."""
        found: list[list[int]] = [[] for _ in self.hosts]
        for host, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(host)
        return tuple(map(tuple, found))

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """Number of links between each host and the root, shape (n_hosts,)."""
        depth = np.zeros(self.n_hosts, dtype=np.int64)
        for host in range(1, self.n_hosts):
            depth[host] = depth[self.parent[host]] + 1
        return depth

    def graph(self) -> Graph:
        """Return the graph with a link in each direction between a host and its parent."""
        children = np.arange(1, self.n_hosts)
        return Graph.duplex(
            self.hosts,
            self.speed,
            np.column_stack([self.parent[1:], children]),
            self.bandwidth[1:],
            self.latency[1:],
        )

    def platform(self, routing: str = "Full") -> Platform:
        """Return the platform, see `Graph.platform`.

        Parameters
        ----------
        routing : {"Full", "Floyd", "Dijkstra", "DijkstraCache"}
            With ``Full`` routes join hosts and their parents only; the others join all hosts.
        """
        return self.graph().platform(routing)
