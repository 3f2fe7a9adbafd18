"""Contents of a part of a platform: groups of equal hosts, and their labels in a drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from simplugin.core.formatting import PREFIXES, counted
from simplugin.platforms.hosts import Cabinet, Cluster, Host, Peer
from simplugin.platforms.platform import PlatformElement, Zone, ZoneElement

_TOPOLOGIES = {"TORUS": "torus", "FAT_TREE": "fat tree", "DRAGONFLY": "dragonfly"}
_NUMBER = re.compile(r"[-_.]?\d+")


@dataclass(frozen=True, slots=True)
class Group:
    """Equal hosts.

    Attributes
    ----------
    name : str
        Name of the cluster, or the common start of the names of the hosts.
    count : int
        Number of hosts.
    cores : int
        Of each.
    speed : float
        Speed of each core [flop/s].
    topology : str
        Topology of the cluster as text; empty if flat.
    whole : bool
        True if it is a cluster, not some hosts of a zone.
    """

    name: str
    count: int
    cores: int
    speed: float
    topology: str = ""
    whole: bool = False

    @property
    def core_count(self) -> int:
        """Number of cores of all hosts."""
        return self.count * self.cores

    @property
    def power(self) -> float:
        """Speed of all hosts together [flop/s]."""
        return self.core_count * self.speed

    def size_words(self) -> str:
        """Return for instance ``124 hosts x 18 cores x 35.2Gf``."""
        words = f"{counted(self.count, 'host')} \u00d7 {self.host_words()}"
        return f"{words}, {self.topology}" if self.topology else words

    def host_words(self) -> str:
        """Return for instance ``18 cores x 35.2Gf``."""
        cores = f"{self.cores} cores \u00d7 " if self.cores > 1 else ""
        return f"{cores}{speed_words(self.speed)}"


@dataclass(frozen=True, slots=True)
class Contents:
    """All hosts of a part of a platform.

    Attributes
    ----------
    groups : tuple of Group
        Clusters, and the other hosts by kind.
    """

    groups: tuple[Group, ...]

    @property
    def host_count(self) -> int:
        """Number of hosts."""
        return sum(group.count for group in self.groups)

    @property
    def core_count(self) -> int:
        """Number of cores."""
        return sum(group.core_count for group in self.groups)

    def total_words(self) -> str:
        """Return for instance ``40 clusters, 4,000 hosts``."""
        parts = []
        if (clusters := sum(group.whole for group in self.groups)) > 1:
            parts.append(f"{clusters:,} clusters")
        parts.append(counted(self.host_count, "host"))
        return ", ".join(parts)

    def power_words(self) -> str:
        """Return for instance ``6,200 cores, 312Tf``."""
        power = speed_words(math.fsum(group.power for group in self.groups))
        if self.core_count == self.host_count:
            return power
        return f"{self.core_count:,} cores, {power}"


def contents(elements: Iterable[PlatformElement | ZoneElement]) -> Contents:
    """Return the hosts of elements of a platform, clusters one by one and other hosts by kind."""
    groups: list[Group] = []
    kinds: dict[tuple[str, int, float], list[str]] = {}
    stack = list(elements)[::-1]
    while stack:
        element = stack.pop()
        if isinstance(element, Zone):
            stack += reversed(element.elements)
        elif isinstance(element, Cluster | Cabinet):
            groups.append(group_of(element))
        elif isinstance(element, Host | Peer):
            kind = (stem(element.id), cores_of(element), element.speed)
            kinds.setdefault(kind, []).append(element.id)
    for (name, cores, speed), hosts in kinds.items():
        only = hosts[0] if len(hosts) == 1 else name
        groups.append(Group(only, len(hosts), cores, speed))
    return Contents(tuple(groups))


def group_of(element: Cluster | Cabinet | Host | Peer) -> Group:
    """Return an element as a group."""
    if isinstance(element, Cluster):
        topology = ""
        if element.topology != "FLAT":
            topology = f"{_TOPOLOGIES[element.topology]} {element.topology_parameters}"
            if element.topology == "TORUS":
                topology = topology.replace(",", "\u00d7")
        name = element.id
        return Group(name, element.host_count, element.cores, element.speed, topology, whole=True)
    if isinstance(element, Cabinet):
        return Group(element.id, element.host_count, 1, element.speed, whole=True)
    return Group(element.id, 1, cores_of(element), element.speed)


def cores_of(host: Host | Peer) -> int:
    """Return the number of cores of a host."""
    return host.cores if isinstance(host, Host) else 1


def stem(name: str) -> str:
    """Return the part of a host name before its number."""
    found = _NUMBER.search(name)
    return name[: found.start()] if found and found.start() else "hosts"


def speed_words(speed: float) -> str:
    """Write a speed [flop/s] with three digits: ``35.2Gf``."""
    return f"{_scaled(speed)}f"


def rate_words(bandwidth: float) -> str:
    """Write a bandwidth [byte/s] in bits with three digits: ``10Gbps``."""
    return f"{_scaled(8 * bandwidth)}bps"


def _scaled(value: float) -> str:
    """Write a number with three digits and a prefix."""
    for factor, prefix in PREFIXES:
        # A value that rounds to the factor has its prefix.
        if float(f"{value:.3g}") >= factor:
            return f"{float(f'{value / factor:.3g}'):,.12g}{prefix}"
    return f"{value:.3g}"
