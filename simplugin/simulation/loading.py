"""How SimGrid loads a platform: time, memory, what it then has, and whether hosts are joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.simulation.resolve import ask

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from simplugin.platforms import Platform


@dataclass(frozen=True, slots=True)
class Loading:
    """What SimGrid has after loading a platform, and what that took.

    Attributes
    ----------
    seconds : float
        Of real time, from reading the file to complete routing tables [s].
    memory : float
        By which the process grew at most meanwhile [byte].
    hosts, cores : int
        How many there are.
    speed : float
        Of all cores together, in the power states that hosts start in [flop/s].
    links : mapping of str to int
        SimGrid's sharing policy to number of links; a split-duplex link is two, and its own
        loopback link is not counted.
    joined : int
        How many of the pairs that there was time for have a route.
    unreachable : tuple of (source, destination, reason)
        Those that have none, and what SimGrid says about it.
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
        """For how many pairs SimGrid was asked for the route."""
        return self.joined + len(self.unreachable)


def load(
    platform: Platform | str | os.PathLike[str],
    pairs: Iterable[tuple[str, str]] = (),
    *,
    route_limit: float = 30.0,
    wall_limit: float = 600.0,
) -> Loading:
    """Let SimGrid load a platform in a child process.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    pairs : iterable of (source, destination)
        Hosts to look for routes between; `simplugin.platforms.census` chooses them.
    route_limit : float
        How long to look for routes [s of real time]; the pairs that are left then are not asked
        for. In a zone of 100,000 hosts of routing ``Dijkstra`` a route takes some 0.2 s.
    wall_limit : float
        How long all that may take [s of real time].

    Returns
    -------
    Loading
        Times and counts.

    Raises
    ------
    PlatformError, CrashError, SetupError, WallClockLimitError
        As `simplugin.simulation.resolve.resolve`.
    """
    listed = [list(pair) for pair in pairs]
    question = {"options": [], "counted": True, "pairs": listed, "limit": route_limit}
    said = ask(platform, question, wall_limit)
    lost = tuple((source, destination, reason) for source, destination, reason in said["lost"])
    return Loading(
        **{key: said[key] for key in ("seconds", "memory", "hosts", "cores", "speed")},
        links=said["links"],
        joined=said["joined"],
        unreachable=lost,
    )
