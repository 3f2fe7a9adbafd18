"""Hosts, links and routes as actors see them: the interfaces of both back ends."""

from __future__ import annotations

from typing import Protocol


class Host(Protocol):
    """A host of the platform."""

    pstate: int
    """Its performance state; may be set."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def speed(self) -> float:
        """Peak speed of a core in this performance state [flop/s]."""

    @property
    def available_speed(self) -> float:
        """Fraction of that speed that its profile leaves, from 0 to 1."""

    @property
    def cores(self) -> int:
        """Number of cores."""

    @property
    def load(self) -> float:
        """Speed in use [flop/s]."""

    @property
    def is_on(self) -> bool:
        """Whether it is on."""

    @property
    def properties(self) -> dict[str, str]:
        """Its properties in the platform."""

    @property
    def pstate_count(self) -> int:
        """Number of performance states."""

    @property
    def energy(self) -> float:
        """Energy so far [J]; needs ``simulate(..., energy=True)``."""

    def pstate_speed(self, pstate: int, /) -> float:
        """Return the speed of a core in a performance state [flop/s]."""

    def turn_on(self) -> None:
        """Turn it on; actors that restart start again."""

    def turn_off(self) -> None:
        """Turn it off; its actors are killed."""


class Link(Protocol):
    """A link of the platform."""

    bandwidth: float
    """Bandwidth [byte/s]; may be set."""

    latency: float
    """Latency [s]; may be set."""

    @property
    def name(self) -> str:
        """Its name; the two directions of a split-duplex link end in ``_UP`` and ``_DOWN``."""

    @property
    def load(self) -> float:
        """Bandwidth in use [byte/s]."""

    @property
    def is_on(self) -> bool:
        """Whether it is on."""

    @property
    def properties(self) -> dict[str, str]:
        """Its properties in the platform."""

    @property
    def sharing_policy(self) -> str:
        """One of SHARED, FATPIPE, SPLITDUPLEX, WIFI, NONLINEAR."""

    @property
    def energy(self) -> float:
        """Energy so far [J]; needs ``simulate(..., energy=True)``."""

    def turn_on(self) -> None:
        """Turn it on."""

    def turn_off(self) -> None:
        """Turn it off; transfers over it fail."""


class Route(Protocol):
    """How two hosts are connected."""

    @property
    def links(self) -> tuple[Link, ...]:
        """The links, in order."""

    @property
    def latency(self) -> float:
        """Sum of their latencies [s]."""
