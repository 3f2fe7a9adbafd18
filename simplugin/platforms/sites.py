"""Multi-cluster sites as platforms and as arrays, with four sites of Grid'5000 of 2008.

Processors and speeds of `SUBSETS` are Table 1 of [1]_; which sites have one switch is in its
section 2. It gives no bandwidths and latencies: those of `MultiCluster` are gigabit adapters and
switches of 10 Gbit/s.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import PlatformError
from simplugin.platforms.arrays import set_array
from simplugin.platforms.hosts import Cluster, Host, spoke
from simplugin.platforms.links import SPLITDUPLEX, Backbone, Link, ZoneRoute
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.validation import (
    Bandwidth,
    Latency,
    Name,
    check_fields,
    require_count,
    require_distinct,
    require_name,
    require_positive,
    require_truth,
)


@dataclass(frozen=True, eq=False)
class Site:
    """Clusters of equal processors, as schedulers of parallel tasks see them.

    Attributes
    ----------
    name : str
        Of the site.
    clusters : tuple of str
        Names.
    hosts : tuple of tuple of str
        The hosts of each cluster: each is one processor.
    speed : float64, shape (n_clusters,)
        Of each processor of a cluster [flop/s].
    bandwidth : float64, shape (n_clusters,)
        Capacity of the link of each host of a cluster, in each direction [byte/s].
    latency : float64, shape (n_clusters, n_clusters)
        From a host of one cluster to another host of the other [s].
    shared : float64, shape (n_clusters, n_clusters)
        Capacity from all hosts of one cluster to those of the other [byte/s]; inf where
        nothing but the hosts' own links limits it.
    switch : int64, shape (n_clusters,), optional
        Number of the switch of each cluster: those with the same number share it, and what goes
        from one switch to another passes both. One a cluster without.

    Raises
    ------
    PlatformError
        A length or a range is wrong, or two hosts are alike.
    """

    name: str
    clusters: tuple[str, ...]
    hosts: tuple[tuple[str, ...], ...]
    speed: NDArray[np.float64]
    bandwidth: NDArray[np.float64]
    latency: NDArray[np.float64]
    shared: NDArray[np.float64]
    switch: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "clusters", tuple(self.clusters))
        object.__setattr__(self, "hosts", tuple(tuple(names) for names in self.hosts))
        count = len(self.clusters)
        if not count or len(self.hosts) != count or not all(self.hosts):
            raise PlatformError(f"site {self.name!r} has a cluster without hosts, or none at all")
        require_distinct(f"hosts of site {self.name!r}", self.names)
        set_array(self, "speed", (count,), "finite numbers > 0", unit="flop/s")
        set_array(self, "bandwidth", (count,), "numbers > 0", unit="byte/s")
        set_array(self, "latency", (count, count), "finite numbers >= 0", unit="s")
        set_array(self, "shared", (count, count), "numbers > 0", unit="byte/s")
        if not np.size(self.switch):
            object.__setattr__(self, "switch", np.arange(count))
        set_array(self, "switch", (count,), dtype=np.int64)
        if np.any((self.switch < 0) | (self.switch >= count)):
            raise PlatformError(
                f"switch of site {self.name!r} is {self.switch.tolist()}",
                remedy=f"give a number from 0 to {count - 1} for each of its {count} clusters",
            )

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.clusters)

    @cached_property
    def processors(self) -> NDArray[np.int64]:
        """Number of processors of each cluster; shape (n_clusters,)."""
        return np.array([len(names) for names in self.hosts], dtype=np.int64)

    @cached_property
    def n_processors(self) -> int:
        """Number of processors."""
        return int(np.sum(self.processors))

    @cached_property
    def power(self) -> float:
        """Speed of all processors together [flop/s]."""
        return float(np.sum(self.processors * self.speed))

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Number of the first processor of each cluster; shape (n_clusters + 1,)."""
        return np.concatenate([[0], np.cumsum(self.processors)]).astype(np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The hosts of all clusters, by the numbers of their processors."""
        return tuple(host for hosts in self.hosts for host in hosts)


# Of a gigabit adapter and of a switch [byte/s], and of either [s].
GIGABIT, TEN_GIGABITS, LATENCY = 1.25e8, 1.25e9, 50e-6


@dataclass(frozen=True)
class MultiCluster:
    """Clusters of one site.

    Attributes
    ----------
    name : str
        Of the site.
    clusters : tuple of (str, int, float)
        Of each its name, its number of processors and their speed [flop/s].
    one_switch : bool
        True if all hosts hang from one switch; each cluster has a switch of its own otherwise,
        and data between two clusters pass both.
    bandwidth, latency : float
        Of the link of each host, in each direction [byte/s], [s].
    switch_bandwidth, switch_latency : float
        Of a switch, shared by all that passes it [byte/s], [s].

    Raises
    ------
    PlatformError
        A number is out of its range, or two clusters are alike.
    """

    kind: ClassVar[str] = "site"
    name: Name
    clusters: tuple[tuple[str, int, float], ...]
    one_switch: Annotated[bool, require_truth] = True
    bandwidth: Bandwidth = GIGABIT
    latency: Latency = LATENCY
    switch_bandwidth: Bandwidth = TEN_GIGABITS
    switch_latency: Latency = LATENCY

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "clusters", tuple(tuple(each) for each in self.clusters))
        if not self.clusters:
            raise PlatformError(f"site {self.name!r} has no cluster; give at least one")
        check_fields(self)
        for name, processors, speed in self.clusters:
            require_name(f"a cluster of site {self.name!r}", name)
            what = f"of cluster {name!r} of site {self.name!r}"
            require_count(f"the number of processors {what}", processors, 1)
            require_positive(f"the speed {what}", speed, "flop/s")
        self.site()
        self.platform()

    def host_names(self, cluster: str, processors: int) -> tuple[str, ...]:
        """Return the hosts of a cluster."""
        return tuple(f"{cluster}-{number}" for number in range(1, processors + 1))

    def site(self) -> Site:
        """Return what schedulers see."""
        count = len(self.clusters)
        crossed = np.ones((count, count)) if self.one_switch else 2.0 - np.eye(count)
        return Site(
            self.name,
            tuple(name for name, _, _ in self.clusters),
            tuple(self.host_names(name, processors) for name, processors, _ in self.clusters),
            np.array([speed for _, _, speed in self.clusters]),
            np.full(count, self.bandwidth),
            2 * self.latency + crossed * self.switch_latency,
            np.full((count, count), self.switch_bandwidth),
            np.zeros(count, dtype=np.int64) if self.one_switch else np.arange(count),
        )

    def platform(self) -> Platform:
        """Return the same for SimGrid."""
        if not self.one_switch:
            return Platform((self._with_switches(),))
        spokes = [
            spoke(
                Host(host, speed=speed),
                Link(f"{host}-link", self.bandwidth, self.latency, SPLITDUPLEX),
            )
            for name, processors, speed in self.clusters
            for host in self.host_names(name, processors)
        ]
        hosts, links, ends = zip(*spokes, strict=True)
        switch = Backbone(f"{self.name}-switch", self.switch_bandwidth, self.switch_latency)
        return Platform((Zone(self.name, "Cluster", (*hosts, *links, *ends, switch)),))

    def _with_switches(self) -> Zone:
        """Return clusters that are joined by their switches."""
        clusters = [
            Cluster(
                id=name,
                prefix=f"{name}-",
                radical=f"1-{processors}",
                speed=speed,
                bandwidth=self.bandwidth,
                latency=self.latency,
                backbone_bandwidth=self.switch_bandwidth,
                backbone_latency=self.switch_latency,
                router=f"{name}-switch",
            )
            for name, processors, speed in self.clusters
        ]
        # Switches are joined directly: what passes between two clusters is limited by either.
        cable = Link(f"{self.name}-cable", self.switch_bandwidth, 0.0, sharing_policy="FATPIPE")
        routes = [
            ZoneRoute(one.id, other.id, one.router, other.router, (cable.id,))
            for one, other in combinations(clusters, 2)
        ]
        return Zone(self.name, "Full", (*clusters, cable), tuple(routes))


LILLE = MultiCluster(
    "lille", (("chuque", 53, 3.647e9), ("chti", 20, 4.311e9), ("chicon", 26, 4.384e9))
)
NANCY = MultiCluster(
    "nancy", (("grillon", 47, 3.379e9), ("grelon", 120, 3.185e9)), one_switch=False
)
RENNES = MultiCluster(
    "rennes", (("parasol", 64, 3.573e9), ("paravent", 99, 3.364e9), ("paraquad", 66, 4.603e9))
)
SOPHIA = MultiCluster(
    "sophia",
    (("azur", 74, 3.258e9), ("helios", 56, 3.675e9), ("sol", 50, 4.389e9)),
    one_switch=False,
)
SUBSETS = {site.name: site for site in (LILLE, NANCY, RENNES, SOPHIA)}
