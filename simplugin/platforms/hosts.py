"""Hosts and what stands beside them: disks, peers, cabinets, routers."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError
from simplugin.platforms import radical as radicals
from simplugin.platforms.links import FATPIPE, SHARED, SPLITDUPLEX
from simplugin.platforms.validation import (
    require_choice,
    require_coordinates,
    require_name,
    require_not_negative,
    require_positive,
    require_properties,
    require_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk of a host.

    Attributes
    ----------
    id : str
        Its name.
    read_bandwidth, write_bandwidth : float
        What it reads and writes at most [byte/s].
    properties : mapping of str to str
        Free annotations, such as ``mount`` and ``size``.
    """

    id: str
    read_bandwidth: float
    write_bandwidth: float
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        require_name("a disk", self.id)
        require_positive(f"the read bandwidth of disk {self.id!r}", self.read_bandwidth, "byte/s")
        require_positive(f"the write bandwidth of disk {self.id!r}", self.write_bandwidth, "byte/s")
        properties = require_properties(f"disk {self.id!r}", self.properties)
        object.__setattr__(self, "properties", properties)


@dataclass(frozen=True, slots=True)
class Host:
    """A host: cores of one speed under one name.

    Attributes
    ----------
    id : str
        Its name, unlike that of any other host of the platform.
    speed : float
        Speed of each core [flop/s], in power state 0.
    cores : int
        How many cores it has.
    further_speeds : tuple of float
        Speeds of the power states 1, 2, ... [flop/s].
    pstate : int
        The power state it starts in.
    speed_profile, state_profile : str
        Profile files of its available speed (a fraction of the peak) and of its state (1 on,
        0 off), relative to the platform file or absolute; empty for none.
    coordinates : tuple of three float, optional
        Network coordinates in a Vivaldi zone (x, y, height) [ms].
    disks : tuple of Disk
        Its disks.
    properties : mapping of str to str
        Free annotations; the energy model reads ``wattage_per_state`` from them.

    Raises
    ------
    PlatformError
        A field is out of its range; the message names the host.
    """

    id: str
    speed: float
    cores: int = 1
    further_speeds: tuple[float, ...] = ()
    pstate: int = 0
    speed_profile: str = ""
    state_profile: str = ""
    coordinates: tuple[float, float, float] | None = None
    disks: tuple[Disk, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        require_name("a host", self.id)
        object.__setattr__(self, "further_speeds", tuple(self.further_speeds))
        object.__setattr__(self, "disks", tuple(self.disks))
        what = f"host {self.id!r}"
        require_speeds(what, self.speeds)
        require_cores(what, self.cores)
        if not 0 <= self.pstate < len(self.speeds):
            raise PlatformError(
                f"{what} starts in power state {self.pstate}, but has {len(self.speeds)} speed(s)",
                remedy=f"give a pstate from 0 to {len(self.speeds) - 1}",
            )
        require_text(f"the speed profile of {what}", self.speed_profile)
        require_text(f"the state profile of {what}", self.state_profile)
        if self.coordinates is not None:
            require_coordinates(what, self.coordinates)
        object.__setattr__(self, "properties", require_properties(what, self.properties))

    @property
    def speeds(self) -> tuple[float, ...]:
        """Speed of each core in the power states 0, 1, ... [flop/s]."""
        return (self.speed, *self.further_speeds)


@dataclass(frozen=True, slots=True)
class Router:
    """A named point that routes start, end or pass at, without a host.

    Attributes
    ----------
    id : str
        Its name, unlike that of any host.
    coordinates : tuple of three float, optional
        Network coordinates in a Vivaldi zone (x, y, height) [ms].
    """

    id: str
    coordinates: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        require_name("a router", self.id)
        require_coordinates(f"router {self.id!r}", self.coordinates)


@dataclass(frozen=True, slots=True)
class Peer:
    """A host of a Vivaldi zone with its own access link.

    Attributes
    ----------
    id : str
        Its name.
    speed : float
        Its speed [flop/s].
    bandwidth_in, bandwidth_out : float
        What its access link brings in and takes out at most [byte/s].
    coordinates : tuple of three float, optional
        Network coordinates (x, y, height) [ms]; routes from and to it need them.
    speed_profile, state_profile : str
        As for a `Host`.
    """

    id: str
    speed: float
    bandwidth_in: float
    bandwidth_out: float
    coordinates: tuple[float, float, float] | None = None
    speed_profile: str = ""
    state_profile: str = ""

    def __post_init__(self) -> None:
        """Check the fields."""
        require_name("a peer", self.id)
        what = f"peer {self.id!r}"
        require_positive(f"the speed of {what}", self.speed, "flop/s")
        require_positive(f"the incoming bandwidth of {what}", self.bandwidth_in, "byte/s")
        require_positive(f"the outgoing bandwidth of {what}", self.bandwidth_out, "byte/s")
        require_coordinates(what, self.coordinates)
        require_text(f"the speed profile of {what}", self.speed_profile)
        require_text(f"the state profile of {what}", self.state_profile)


@dataclass(frozen=True, slots=True)
class Cabinet:
    """Equal hosts with an access link each, inside a zone of routing ``Cluster``.

    Attributes
    ----------
    id : str
        Its name; no host or link bears it.
    radical : str
        Numbers of the hosts, for instance ``"0-7,9"``.
    speed : float
        Speed of each host [flop/s].
    bandwidth : float
        Of each host's link, in each direction [byte/s].
    latency : float
        Of each host's link [s].
    prefix, suffix : str
        What stands before and after the number in a host's name.
    """

    id: str
    radical: str
    speed: float
    bandwidth: float
    latency: float
    prefix: str = ""
    suffix: str = ""

    def __post_init__(self) -> None:
        """Check the fields."""
        require_name("a cabinet", self.id)
        what = f"cabinet {self.id!r}"
        require_text(f"the prefix of {what}", self.prefix)
        require_text(f"the suffix of {what}", self.suffix)
        radicals.require_radical(what, self.radical)
        require_positive(f"the speed of {what}", self.speed, "flop/s")
        require_positive(f"the bandwidth of {what}", self.bandwidth, "byte/s")
        require_not_negative(f"the latency of {what}", self.latency, "s")

    @property
    def host_count(self) -> int:
        """How many hosts it has."""
        return radicals.count(self.radical)

    def host_names(self) -> Iterator[str]:
        """Yield the names of its hosts, in order."""
        for number in radicals.numbers(self.radical):
            yield f"{self.prefix}{number}{self.suffix}"


def require_speeds(what: str, speeds: tuple[float, ...]) -> None:
    """Refuse speeds none of which computes; a booting host may have power states of speed 0."""
    for speed in speeds:
        require_not_negative(f"the speed of {what}", speed, "flop/s")
    if not any(speeds):
        require_positive(f"the speed of {what}", speeds[0], "flop/s")


def require_cores(what: str, cores: int) -> None:
    """Refuse a number of cores that SimGrid would refuse."""
    if not 1 <= cores < 2**31 or int(cores) != cores:
        raise PlatformError(f"{what} has {cores!r} cores", remedy="give it at least 1 core")


_MOST_DIMENSIONS = 64
TOPOLOGIES = frozenset({"FLAT", "TORUS", "FAT_TREE", "DRAGONFLY"})


@dataclass(frozen=True, slots=True)
class Cluster:
    """Equal hosts with an access link each, and perhaps a backbone.

    Stays one element however many hosts it has. To its surroundings it is a zone.

    Attributes
    ----------
    id : str
        Its name as a zone; its links are ``<id>_link_<number>``.
    radical : str
        Numbers of the hosts, for instance ``"0-99,105"``.
    speed : float
        Speed of each core [flop/s].
    bandwidth : float
        Of each host's link [byte/s]; in each direction if split-duplex.
    latency : float
        Of each host's link [s].
    prefix, suffix : str
        What stands before and after the number in a host's name.
    cores : int
        Cores of each host.
    further_speeds : tuple of float
        Speeds of the power states 1, 2, ... [flop/s].
    sharing_policy : str
        Of the hosts' links: ``SPLITDUPLEX``, ``SHARED`` or ``FATPIPE``.
    topology, topology_parameters : str
        ``FLAT``; ``TORUS`` with ``"2,3,4"`` (sizes); ``FAT_TREE`` with ``"2;4,4;1,2;1,2"``
        (levels; children; parents; parallel links); ``DRAGONFLY`` with ``"3,4;4,3;5,1;2"``
        (groups, links; chassis, links; routers, links; hosts of a router).
    backbone_bandwidth : float, optional
        Of the backbone of a flat cluster [byte/s].
    backbone_latency : float
        Of the backbone [s].
    backbone_sharing_policy : str
        ``SHARED`` or ``FATPIPE``.
    router : str
        Name of the router of a flat cluster; empty for ``<prefix><id>_router<suffix>``.
    limiter_bandwidth : float, optional
        What a host sends and receives at most, both together [byte/s].
    loopback_bandwidth : float, optional
        Between processes of one host [byte/s].
    loopback_latency : float
        The same [s].
    properties : mapping of str to str
        Given to each host.

    Raises
    ------
    PlatformError
        A field is out of its range, or the topology needs more hosts than there are; the
        message names the cluster.
    """

    id: str
    radical: str
    speed: float
    bandwidth: float
    latency: float
    prefix: str = ""
    suffix: str = ""
    cores: int = 1
    further_speeds: tuple[float, ...] = ()
    sharing_policy: str = SPLITDUPLEX
    topology: str = "FLAT"
    topology_parameters: str = ""
    backbone_bandwidth: float | None = None
    backbone_latency: float = 0.0
    backbone_sharing_policy: str = SHARED
    router: str = ""
    limiter_bandwidth: float | None = None
    loopback_bandwidth: float | None = None
    loopback_latency: float = 0.0
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        require_name("a cluster", self.id)
        what = f"cluster {self.id!r}"
        for name in ("prefix", "suffix", "router"):
            require_text(f"the {name} of {what}", getattr(self, name))
        object.__setattr__(self, "further_speeds", tuple(self.further_speeds))
        require_speeds(what, self.speeds)
        require_cores(what, self.cores)
        self._check_links(what)
        radicals.require_radical(what, self.radical)
        require_choice(f"the topology of {what}", self.topology, TOPOLOGIES)
        self._check_topology(what)
        object.__setattr__(self, "properties", require_properties(what, self.properties))

    def _check_links(self, what: str) -> None:
        """Check bandwidths, latencies and sharing policies."""
        policies = {SHARED, SPLITDUPLEX, FATPIPE}
        require_choice(f"the sharing policy of {what}", self.sharing_policy, policies)
        policy = self.backbone_sharing_policy
        require_choice(f"the backbone's sharing policy of {what}", policy, {SHARED, FATPIPE})
        require_positive(f"the bandwidth of {what}", self.bandwidth, "byte/s")
        for name in ("backbone", "limiter", "loopback"):
            bandwidth = getattr(self, f"{name}_bandwidth")
            if bandwidth is not None:
                require_positive(f"the {name} bandwidth of {what}", bandwidth, "byte/s")
        require_not_negative(f"the latency of {what}", self.latency, "s")
        for name in ("backbone", "loopback"):
            latency = getattr(self, f"{name}_latency")
            require_not_negative(f"the {name} latency of {what}", latency, "s")
            if latency > 0 and getattr(self, f"{name}_bandwidth") is None:
                raise PlatformError(
                    f"{what} has a {name} latency without a {name} bandwidth",
                    remedy=f"SimGrid would make a {name} of bandwidth 0: give both or none",
                )

    def _check_topology(self, what: str) -> None:
        """Check that the topology can be read and has hosts enough."""
        if self.topology == "FLAT":
            return
        needed = _TOPOLOGY_SIZES[self.topology](self.topology_parameters)
        if needed is None:
            raise PlatformError(
                f"the topology parameters of {what} are {self.topology_parameters!r}",
                remedy=_TOPOLOGY_REMEDIES[self.topology],
            )
        if needed != self.host_count:
            raise PlatformError(
                f"{what} has {self.host_count} hosts, but its topology has {needed} places",
                remedy="make the radical and the topology parameters agree",
            )

    @property
    def speeds(self) -> tuple[float, ...]:
        """Speed of each core in the power states 0, 1, ... [flop/s]."""
        return (self.speed, *self.further_speeds)

    @property
    def host_count(self) -> int:
        """How many hosts it has, without listing them."""
        return radicals.count(self.radical)

    @property
    def router_name(self) -> str | None:
        """Name of its router; only a flat cluster has one."""
        if self.topology != "FLAT":
            return None
        return self.router or f"{self.prefix}{self.id}_router{self.suffix}"

    def host_names(self) -> Iterator[str]:
        """Yield the names of its hosts, in order."""
        for number in radicals.numbers(self.radical):
            yield f"{self.prefix}{number}{self.suffix}"


def _integers(text: str) -> list[int] | None:
    """Read comma-separated positive integers, or None."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        return None
    values = [int(word) for word in words]
    return values if all(values) else None


def _torus_size(parameters: str) -> int | None:
    """Count the hosts of a torus, None where the parameters are wrong."""
    sizes = _integers(parameters)
    return None if sizes is None or len(sizes) > _MOST_DIMENSIONS else prod(sizes)


def _fat_tree_size(parameters: str) -> int | None:
    """Count the hosts of a fat tree, None where the parameters are wrong."""
    parts = [_integers(part) for part in parameters.split(";")]
    if len(parts) != 4 or None in parts:
        return None
    levels, children, parents, ports = (part or [] for part in parts)
    if (
        len(levels) != 1
        or levels[0] > _MOST_DIMENSIONS
        or not len(children) == len(parents) == len(ports) == levels[0]
    ):
        return None
    return prod(children)


def _dragonfly_size(parameters: str) -> int | None:
    """Count the hosts of a dragonfly, None where the parameters are wrong."""
    parts = [_integers(part) for part in parameters.split(";")]
    if [len(part or ()) for part in parts] != [2, 2, 2, 1]:
        return None
    return prod(part[0] for part in parts if part)


_TOPOLOGY_SIZES = {
    "TORUS": _torus_size,
    "FAT_TREE": _fat_tree_size,
    "DRAGONFLY": _dragonfly_size,
}
_TOPOLOGY_REMEDIES = {
    "TORUS": "give the size in each dimension, e.g. '2,3,4'",
    "FAT_TREE": "give levels; children; parents; parallel links, e.g. '2;4,4;1,2;1,2'",
    "DRAGONFLY": "give groups; chassis; routers; hosts of a router, e.g. '3,4;4,3;5,1;2'",
}
