"""Draws of a described federation: each cluster, switch and cable with its numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from simplugin.platforms.federations.parts import (
    ClusterGroup,
    FederationError,
    Quantity,
    SiteBackbone,
    SiteGroup,
    Switch,
    Wire,
    in_digits,
)
from simplugin.platforms.laws import Law
from simplugin.platforms.links import SHARED, SPLITDUPLEX, Link
from simplugin.platforms.platform import MOST_HOSTS

_FAR_TOO_LARGE = 1e300


@dataclass(frozen=True, slots=True)
class DrawnCluster:
    """A cluster: its name and site, hosts, cores, speed [flop/s], and link of each host."""

    name: str
    site: str
    hosts: int
    cores: int
    speed: float
    bandwidth: float
    latency: float

    @property
    def id(self) -> str:
        """Its name in the federation."""
        return f"{self.name}.{self.site}"


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
    clusters: list[DrawnCluster] = field(default_factory=list)


class Draws:
    """Draws from laws; each from a stream of its own, which seed and name determine.

    So what is added to a federation, or turned from a number into a law, changes nothing else.

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
        # Infinity cannot be rounded; what is far too large is refused when all are drawn.
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
            switches[switch.name] = self.switch(
                switch, f"{switch.name}.{name}", name, "switch", switch.name
            )
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
        cluster = DrawnCluster(
            name,
            site,
            self.count(group.hosts, *path, "hosts"),
            self.count(group.cores, *path, "cores"),
            self.number(group.speed, *path, "speed"),
            self.number(group.bandwidth, *path, "bandwidth"),
            self.number(group.latency, *path, "latency"),
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


def drawn_sites(
    sites: tuple[SiteGroup, ...], backbone: SiteBackbone | None, draws: Draws
) -> dict[str, DrawnSwitch]:
    """Return the router of each site by the site's name, with all that hangs from it.

    Parameters
    ----------
    sites : tuple of SiteGroup
        As described.
    backbone : SiteBackbone, optional
        The backbone, whose cable joins a site without an uplink to a hub.
    draws : Draws
        Where the numbers come from.

    Returns
    -------
    dict of str to DrawnSwitch
        In the order of the description.

    Raises
    ------
    FederationError
        They have more hosts than can be.
    """
    usual = backbone.wire if backbone is not None and backbone.kind == "star" else None
    drawn = {
        name: draws.site(name, group, group.uplink or usual)
        for group in sites
        for name in group.names
    }
    _require_few_hosts(sites, drawn.values())
    return drawn


def _require_few_hosts(groups: tuple[SiteGroup, ...], sites: Iterable[DrawnSwitch]) -> None:
    """Raise if the drawn clusters have more hosts than `MOST_HOSTS`; about the largest cluster."""
    clusters = [cluster for site in sites for cluster in _below(site)]
    largest = max(clusters, key=lambda cluster: cluster.hosts)
    total = sum(cluster.hosts for cluster in clusters)
    if total <= MOST_HOSTS:
        return
    where = next(
        (at, number)
        for at, site in enumerate(groups)
        for number, group in enumerate(site.clusters)
        if largest.site in site.names and largest.name in group.names
    )
    raise FederationError(
        f"the clusters have {in_digits(total)} hosts, {in_digits(largest.hosts)} of them cluster "
        f"{largest.name!r} of site {largest.site!r}: more than the {MOST_HOSTS:,} that are made",
        *("sites", where[0], "clusters", where[1], "hosts"),
        remedy="ask for fewer hosts, or a law of smaller numbers",
    )


def _below(switch: DrawnSwitch) -> Iterator[DrawnCluster]:
    """Go through the clusters that hang from a switch or from those below it."""
    yield from switch.clusters
    for inner in switch.switches:
        yield from _below(inner)
