"""Platforms as rooted trees: each host receives over one link, from its parent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import PlatformError
from simplugin.platforms.graphs import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.platform import Platform


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
        object.__setattr__(self, "hosts", tuple(self.hosts))
        count = len(self.hosts)
        if not count:
            raise PlatformError("a tree has no host; give its root at least")
        for name, kind in (
            ("parent", np.int64),
            ("speed", np.float64),
            ("bandwidth", np.float64),
            ("latency", np.float64),
        ):
            values = np.ascontiguousarray(getattr(self, name), dtype=kind)
            if values.shape != (count,):
                raise PlatformError(f"{name} has shape {values.shape}; give ({count},)")
            object.__setattr__(self, name, values)
        if self.parent[0] != -1 or np.any(self.parent[1:] < 0):
            raise PlatformError("the first host, and no other, must have the parent -1")
        if np.any(self.parent >= np.arange(count)):
            late = self.hosts[int(np.argmax(self.parent >= np.arange(count)))]
            raise PlatformError(f"host {late!r} stands before its parent; put parents first")
        for name in ("speed", "latency"):
            values = getattr(self, name)
            if not np.all(np.isfinite(values) & (values >= 0)):
                raise PlatformError(f"{name} has a negative or infinite value; give numbers >= 0")
        if self.bandwidth[0] != math.inf or self.latency[0] != 0:
            raise PlatformError("the root has no link: give it a bandwidth of inf, a latency of 0")
        if not np.all(np.isfinite(self.bandwidth[1:]) & (self.bandwidth[1:] > 0)):
            raise PlatformError("a bandwidth is not a positive number; leave out hosts without one")
        if len(set(self.hosts)) < count:
            twice = next(name for name in self.hosts if self.hosts.count(name) > 1)
            raise PlatformError(f"two hosts are called {twice!r}; name them apart")

    @property
    def n_hosts(self) -> int:
        """How many hosts there are."""
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
        """How many links each host is from the root, shape (n_hosts,)."""
        depth = np.zeros(self.n_hosts, dtype=np.int64)
        for host in range(1, self.n_hosts):
            depth[host] = depth[self.parent[host]] + 1
        return depth

    def graph(self) -> Graph:
        """Return the graph with a link in each direction between a host and its parent."""
        sons = np.arange(1, self.n_hosts)
        return Graph.duplex(
            self.hosts,
            self.speed,
            np.column_stack([self.parent[1:], sons]),
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
