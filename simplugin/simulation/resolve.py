"""A platform as SimGrid loads it: hosts, links, routes, and the time and memory that it takes."""

from __future__ import annotations

import math
import os
import pickle
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simplugin.core.errors import PlatformError, WorkloadError
from simplugin.platforms import Platform
from simplugin.platforms.links import WIFI
from simplugin.simulation.options import SimulationOptions
from simplugin.simulation.platform_files import platform_file
from simplugin.simulation.process.supervision import Supervision
from simplugin.simulation.protocol import SimulationSettings


@dataclass(frozen=True, slots=True)
class ResolvedHost:
    """A host as SimGrid has it.

    Attributes
    ----------
    name : str
        Its name.
    speed : float
        Of each core in the power state it starts in [flop/s].
    cores : int
        Number of cores.
    speeds : tuple of float
        Of each core in each power state [flop/s].
    properties : mapping of str to str
        Its properties.
    """

    name: str
    speed: float
    cores: int
    speeds: tuple[float, ...]
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link as SimGrid has it; a split-duplex link is two of them.

    Attributes
    ----------
    name : str
        Its name.
    bandwidth : float
        Maximum rate [byte/s].
    latency : float
        Latency [s].
    sharing_policy : str
        ``SHARED``, ``FATPIPE`` or ``WIFI``.
    properties : mapping of str to str
        Its properties.
    """

    name: str
    bandwidth: float
    latency: float
    sharing_policy: str
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ResolvedRoute:
    """The route from a host to another.

    Attributes
    ----------
    source, destination : str
        The hosts.
    links : tuple of str
        Names of the links, in the order in which they are passed.
    latency : float
        Latency of the whole route [s].
    """

    source: str
    destination: str
    links: tuple[str, ...]
    latency: float


@dataclass(frozen=True, slots=True)
class ResolvedPlatform:
    """A platform as SimGrid has it.

    Attributes
    ----------
    hosts : tuple of ResolvedHost
        All hosts, by name.
    links : tuple of ResolvedLink
        All links, by name; SimGrid's own loopback link left out.
    routes : tuple of ResolvedRoute
        Routes of the requested pairs, in their order.
    unreachable : tuple of (source, destination, reason)
        Requested pairs without a route, with SimGrid's message.
    """

    hosts: tuple[ResolvedHost, ...]
    links: tuple[ResolvedLink, ...]
    routes: tuple[ResolvedRoute, ...] = ()
    unreachable: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LoadStatistics:
    """Counts of a platform as SimGrid has it, and the time and memory that loading it took.

    Attributes
    ----------
    seconds : float
        Of real time, from reading the file to complete routing tables [s].
    memory : float
        Maximum growth of the process [byte].
    hosts, cores : int
        Their numbers.
    speed : float
        Of all cores together, in the power states that hosts start in [flop/s].
    links : mapping of str to int
        SimGrid's sharing policy to number of links; a split-duplex link is two, and its own
        loopback link is not counted.
    joined : int
        Number of pairs with a route, among those examined in time.
    unreachable : tuple of (source, destination, reason)
        Pairs without a route, with SimGrid's message.
    """

    seconds: float
    memory: float
    hosts: int
    cores: int
    speed: float
    links: Mapping[str, int]
    joined: int
    unreachable: tuple[tuple[str, str, str], ...]

    @property
    def asked(self) -> int:
        """Number of pairs examined."""
        return self.joined + len(self.unreachable)


def refuse_wifi(
    route: ResolvedRoute, links: Mapping[str, ResolvedLink], remedy: str, argument: str = ""
) -> None:
    """Raise WorkloadError if a route passes a Wi-Fi link, which has several bandwidths.

    Parameters
    ----------
    route : ResolvedRoute
        The route.
    links : mapping of str to ResolvedLink
        Links by their names; others of the route do not count.
    remedy : str
        Remedy for the message.
    argument : str
        The argument at fault.
    """
    for name in route.links:
        if name in links and links[name].sharing_policy == WIFI:
            raise WorkloadError(
                f"the route from {route.source!r} to {route.destination!r} passes the Wi-Fi link"
                f" {name!r}, whose bandwidth is not one number; {remedy}",
                argument=argument,
            )


def resolve(
    platform: Platform | str | os.PathLike[str],
    pairs: Iterable[tuple[str, str]] | int = (),
    *,
    options: Sequence[str] = (),
    wall_limit: float = 600.0,
) -> ResolvedPlatform:
    """Return hosts, links and routes of a platform as SimGrid loads it in a child process.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    pairs : iterable of (source, destination), or int
        Hosts to give the routes between; a number for as many pairs, spread evenly over all,
        or all if there are no more.
    options : sequence of str
        SimGrid command-line options, for instance ``--cfg=network/model:CM02``.
    wall_limit : float
        Maximum real time of SimGrid [s].

    Returns
    -------
    ResolvedPlatform
        Hosts, links, and the requested routes.

    Raises
    ------
    PlatformError
        SimGrid refuses the platform; with SimGrid's own message, and file and line where it
        gives them.
    CrashError
        SimGrid crashed without a message.
    SetupError
        SimGrid's Python bindings cannot be imported.
    WallClockLimitError
        SimGrid took too long.
    """
    if not isinstance(pairs, int):
        pairs = list(pairs)
    answer = _ask(platform, wall_limit, options, pairs, math.inf, described=True)
    return ResolvedPlatform(
        tuple(ResolvedHost(*host) for host in answer["hosts"]),
        tuple(ResolvedLink(*link) for link in answer["links"]),
        tuple(ResolvedRoute(*route) for route in answer["routes"]),
        tuple(answer["lost"]),
    )


def load(
    platform: Platform | str | os.PathLike[str],
    pairs: Iterable[tuple[str, str]] = (),
    *,
    route_limit: float = 30.0,
    wall_limit: float = 600.0,
) -> LoadStatistics:
    """Let SimGrid load a platform in a child process.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    pairs : iterable of (source, destination)
        Hosts to look for routes between; `simplugin.platforms.census` chooses them.
    route_limit : float
        Time to look for routes [s of real time]; the remaining pairs are skipped.
        In a zone of 100,000 hosts of routing ``Dijkstra`` a route takes some 0.2 s.
    wall_limit : float
        Time that all that may take [s of real time].

    Returns
    -------
    LoadStatistics
        Times and counts.

    Raises
    ------
    PlatformError, CrashError, SetupError, WallClockLimitError
        As `simplugin.simulation.resolve.resolve`.
    """
    answer = _ask(platform, wall_limit, (), list(pairs), route_limit, described=False)
    return LoadStatistics(
        seconds=answer["seconds"],
        memory=answer["memory"],
        hosts=len(answer["hosts"]),
        cores=sum(cores for cores, _ in answer["hosts"]),
        speed=math.fsum(cores * speed for cores, speed in answer["hosts"]),
        links=dict(sorted(Counter(answer["links"]).items())),
        joined=len(answer["routes"]),
        unreachable=tuple(answer["lost"]),
    )


def _ask(
    platform: Platform | str | os.PathLike[str],
    wall_limit: float,
    options: Sequence[str],
    pairs: list[tuple[str, str]] | int,
    limit: float,
    *,
    described: bool,
) -> dict[str, Any]:
    """Ask a simulation's process about a platform or its file; raise as `resolve` does."""
    # Without a simulation there is no trace, even if the platform file enables tracing.
    quiet = ["--log=root.thresh:critical", "--cfg=tracing:no"]
    with platform_file(platform) as file:
        settings = SimulationSettings(
            platform=os.path.abspath(file),
            arguments=[*quiet, *options],
            options=SimulationOptions(),
            question={"pairs": pairs, "limit": limit, "described": described},
        )
        try:
            body = Supervision(settings, b"", wall_limit, None).run()
        except PlatformError as error:
            message = f"SimGrid refuses it: {error.message}"
            raise PlatformError(message, file=error.file, line=error.line) from None
    answer: dict[str, Any] = pickle.loads(body)
    return answer
