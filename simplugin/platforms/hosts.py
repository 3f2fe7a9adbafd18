"""Hosts, alone and in clusters, with disks, peers, cabinets and routers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Annotated, ClassVar

from simplugin.core.errors import PlatformError
from simplugin.platforms import radical as radicals
from simplugin.platforms.links import FATPIPE, SHARED, SPLITDUPLEX, HostLink, Link
from simplugin.platforms.validation import (
    Bandwidth,
    Coordinates,
    Latency,
    Name,
    Properties,
    Speed,
    Text,
    ValidatedElement,
    check_fields,
    choice,
    require_count,
)

TOPOLOGIES = frozenset({"FLAT", "TORUS", "FAT_TREE", "DRAGONFLY"})


def _require_cores(what: str, cores: int) -> None:
    """Raise unless SimGrid takes a number of cores."""
    if not 1 <= cores < 2**31 or int(cores) != cores:
        raise PlatformError(f"{what} cannot be {cores!r}", remedy="give it at least 1 core")


Cores = Annotated[int, _require_cores]
Radical = Annotated[str, radicals.require_radical]


class _PowerStates(ValidatedElement):
    """A host, or equal hosts, of one or several speeds."""

    __slots__ = ()
    speed: float
    further_speeds: tuple[float, ...]

    @property
    def speeds(self) -> tuple[float, ...]:
        """Speed of each core in the power states 0, 1, ... [flop/s]."""
        return (self.speed, *self.further_speeds)


class _Numbered(ValidatedElement):
    """Equal hosts, numbered names."""

    __slots__ = ()
    prefix: str
    suffix: str
    radical: str

    @property
    def host_count(self) -> int:
        """Number of hosts, without listing them."""
        return radicals.count(self.radical)

    def host_names(self) -> Iterator[str]:
        """Yield the names of its hosts, in order."""
        for number in radicals.numbers(self.radical):
            yield f"{self.prefix}{number}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Disk(ValidatedElement):
    """A disk of a host.

    Attributes
    ----------
    id : str
        Its name.
    read_bandwidth, write_bandwidth : float
        Capacity of reading and of writing [byte/s].
    properties : mapping of str to str
        Free annotations, such as ``mount`` and ``size``.
    """

    id: Name
    read_bandwidth: Bandwidth
    write_bandwidth: Bandwidth
    properties: Properties = field(default_factory=dict, hash=False)


class _Follower(ValidatedElement):
    """A host that follows profile files."""

    __slots__ = ()
    host_count: ClassVar[int] = 1
    id: str
    speed_profile: str
    state_profile: str

    @property
    def profile_files(self) -> dict[str, str]:
        """The profile files that it follows, by kind."""
        if not (self.speed_profile or self.state_profile):
            return {}  # like nearly all
        files = (("SPEED", self.speed_profile), ("HOST_AVAIL", self.state_profile))
        return {kind: file for kind, file in files if file}

    def host_names(self) -> Iterator[str]:
        """Yield its name."""
        yield self.id


@dataclass(frozen=True, slots=True)
class Host(_Follower, _PowerStates):
    """A host: cores of one speed under one name.

    Attributes
    ----------
    id : str
        Its name, unlike that of any other host of the platform.
    speed : float
        Speed of each core [flop/s], in power state 0.
    cores : int
        Number of cores.
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

    id: Name
    speed: Speed
    cores: Cores = 1
    further_speeds: tuple[Speed, ...] = ()
    pstate: Annotated[int, partial(require_count, least=0)] = 0
    speed_profile: Text = ""
    state_profile: Text = ""
    coordinates: Coordinates | None = None
    disks: tuple[Disk, ...] = ()
    properties: Properties = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        if self.pstate > len(self.further_speeds):
            raise PlatformError(
                f"{what} starts in power state {self.pstate}, but has {len(self.speeds)} speed(s)",
                remedy=f"give a pstate from 0 to {len(self.speeds) - 1}",
            )


@dataclass(frozen=True, slots=True)
class Router(ValidatedElement):
    """A named point that routes start, end or pass at, without a host.

    Attributes
    ----------
    id : str
        Its name, unlike that of any host.
    coordinates : tuple of three float, optional
        Network coordinates in a Vivaldi zone (x, y, height) [ms].
    """

    id: Name
    coordinates: Coordinates | None = None


@dataclass(frozen=True, slots=True)
class Peer(_Follower):
    """A host of a Vivaldi zone with its own access link.

    Attributes
    ----------
    id : str
        Its name.
    speed : float
        Its speed [flop/s].
    bandwidth_in, bandwidth_out : float
        Capacity of its access link in each direction [byte/s].
    coordinates : tuple of three float, optional
        Network coordinates (x, y, height) [ms]; routes from and to it need them.
    speed_profile, state_profile : str
        As for a `Host`.
    """

    id: Name
    speed: Speed
    bandwidth_in: Bandwidth
    bandwidth_out: Bandwidth
    coordinates: Coordinates | None = None
    speed_profile: Text = ""
    state_profile: Text = ""


@dataclass(frozen=True, slots=True)
class Cabinet(_Numbered):
    """Equal hosts with an access link each, inside a zone of routing ``Cluster``.

    Attributes
    ----------
    id : str
        Its name; no host or link has it.
    radical : str
        Numbers of the hosts, for instance ``"0-7,9"``.
    speed : float
        Speed of each host [flop/s].
    bandwidth : float
        Of each host's link, in each direction [byte/s].
    latency : float
        Of each host's link [s].
    prefix, suffix : str
        Parts of a host's name before and after the number.
    """

    id: Name
    radical: Radical
    speed: Speed
    bandwidth: Bandwidth
    latency: Latency
    prefix: Text = ""
    suffix: Text = ""


_MOST_DIMENSIONS = 64


@dataclass(frozen=True, slots=True)
class Cluster(_Numbered, _PowerStates):
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
        Parts of a host's name before and after the number.
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
        Capacity of sending and receiving together, of each host [byte/s].
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

    id: Name
    radical: Radical
    speed: Speed
    bandwidth: Bandwidth
    latency: Latency
    prefix: Text = ""
    suffix: Text = ""
    cores: Cores = 1
    further_speeds: tuple[Speed, ...] = ()
    sharing_policy: Annotated[str, choice(SHARED, SPLITDUPLEX, FATPIPE)] = SPLITDUPLEX
    topology: Annotated[str, choice(*TOPOLOGIES)] = "FLAT"
    topology_parameters: Text = ""
    backbone_bandwidth: Bandwidth | None = None
    backbone_latency: Latency = 0.0
    backbone_sharing_policy: Annotated[str, choice(SHARED, FATPIPE)] = SHARED
    router: Text = ""
    limiter_bandwidth: Bandwidth | None = None
    loopback_bandwidth: Bandwidth | None = None
    loopback_latency: Latency = 0.0
    properties: Properties = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        for name in ("backbone", "loopback"):
            if getattr(self, f"{name}_latency") and getattr(self, f"{name}_bandwidth") is None:
                raise PlatformError(
                    f"{what} has a {name} latency without a {name} bandwidth",
                    remedy=f"SimGrid would make a {name} of bandwidth 0: give both or none",
                )
        if self.topology == "FLAT":
            return
        needed = _topology_size(self.topology, self.topology_parameters)
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
    def router_name(self) -> str | None:
        """Name of its router; only a flat cluster has one."""
        if self.topology != "FLAT":
            return None
        return self.router or f"{self.prefix}{self.id}_router{self.suffix}"


def _topology_size(topology: str, parameters: str) -> int | None:
    """Return how many hosts a topology has places for; None if its parameters are invalid."""
    words = [[word.strip() for word in part.split(",")] for part in parameters.split(";")]
    if not all(re.fullmatch("[0-9]{1,9}", word) for part in words for word in part):
        return None
    numbers = [list(map(int, part)) for part in words]
    lengths = [len(part) for part in numbers]
    if not all(map(all, numbers)):
        return None
    if topology == "TORUS":
        valid, sizes = len(numbers) == 1 and lengths[0] <= _MOST_DIMENSIONS, numbers[0]
    elif topology == "DRAGONFLY":
        valid, sizes = lengths == [2, 2, 2, 1], [part[0] for part in numbers]
    else:
        levels = numbers[0][0]
        valid = lengths == [1, levels, levels, levels] and levels <= _MOST_DIMENSIONS
        sizes = numbers[1] if valid else []
    return prod(sizes) if valid else None


_TOPOLOGY_REMEDIES = {
    "TORUS": "give the size in each dimension, e.g. '2,3,4'",
    "FAT_TREE": "give levels; children; parents; parallel links, e.g. '2;4,4;1,2;1,2'",
    "DRAGONFLY": "give groups; chassis; routers; hosts of a router, e.g. '3,4;4,3;5,1;2'",
}


def spoke(host: Host, link: Link) -> tuple[Host, Link, HostLink]:
    """Return a host with its link to the middle of a zone of routing ``Cluster``."""
    names = link.simgrid_names
    return host, link, HostLink(host.id, names[0], names[-1])


# The elements that are hosts or hold them. A tuple takes less time than a union.
HOSTS = (Host, Peer, Cluster, Cabinet)


@dataclass(frozen=True, slots=True)
class Computing:
    """Totals of some hosts.

    Attributes
    ----------
    hosts, cores : int
        Numbers of hosts and of cores.
    speed : float
        Speed of all cores together, in the power states that they start in [flop/s].
    """

    hosts: int
    cores: int
    speed: float


def computing_of(elements: Iterable[object]) -> Computing:
    """Add up hosts, cores and speeds; sums are exact up to one rounding."""
    hosts, cores, speeds = 0, 0, []
    for element in elements:
        if not isinstance(element, HOSTS):
            continue
        count = element.host_count
        each = count * getattr(element, "cores", 1)
        speed = element.speeds[element.pstate] if isinstance(element, Host) else element.speed
        hosts += count
        cores += each
        speeds.append(each * speed)
    return Computing(hosts, cores, math.fsum(speeds))
