"""Multi-clusters: clusters in one place, around one switch or with a switch each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from simplugin.errors import PlatformError
from simplugin.platforms.cluster import Cluster
from simplugin.platforms.hosts import Host
from simplugin.platforms.links import SPLITDUPLEX, Backbone, HostLink, Link
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.routes import ZoneRoute
from simplugin.platforms.sites import Site
from simplugin.platforms.validation import (
    require_count,
    require_name,
    require_not_negative,
    require_positive,
    require_truth,
)

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
        Whether all hosts hang from one switch; each cluster has a switch of its own otherwise,
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

    name: str
    clusters: tuple[tuple[str, int, float], ...]
    one_switch: bool = True
    bandwidth: float = GIGABIT
    latency: float = LATENCY
    switch_bandwidth: float = TEN_GIGABITS
    switch_latency: float = LATENCY

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "clusters", tuple(tuple(each) for each in self.clusters))
        if not self.clusters:
            raise PlatformError(f"site {self.name!r} has no cluster; give at least one")
        require_name("a site", self.name)
        require_truth(f"one_switch of site {self.name!r}", self.one_switch)
        for name, processors, speed in self.clusters:
            require_name(f"a cluster of site {self.name!r}", name)
            what = f"of cluster {name!r} of site {self.name!r}"
            require_count(f"the number of processors {what}", processors, 1)
            require_positive(f"the speed {what}", speed, "flop/s")
        require_positive("the bandwidth of links", self.bandwidth, "byte/s")
        require_not_negative("the latency of links", self.latency, "s")
        require_positive("the bandwidth of a switch", self.switch_bandwidth, "byte/s")
        require_not_negative("the latency of a switch", self.switch_latency, "s")
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
        return Platform((self._around_one_switch() if self.one_switch else self._with_switches(),))

    def _around_one_switch(self) -> Zone:
        """Return a star of all hosts."""
        hosts = [
            Host(host, speed=speed)
            for name, processors, speed in self.clusters
            for host in self.host_names(name, processors)
        ]
        links = [
            Link(f"{host.id}-link", self.bandwidth, self.latency, sharing_policy=SPLITDUPLEX)
            for host in hosts
        ]
        ends = [HostLink(host.id, f"{host.id}-link_UP", f"{host.id}-link_DOWN") for host in hosts]
        switch = Backbone(f"{self.name}-switch", self.switch_bandwidth, self.switch_latency)
        return Zone(self.name, "Cluster", (*hosts, *links, *ends, switch))

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
