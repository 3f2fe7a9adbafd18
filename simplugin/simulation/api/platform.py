"""Hosts, links and routes as actors see them."""

from __future__ import annotations

from typing import Protocol


class Resource(Protocol):
    """A host or a link."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def load(self) -> float:
        """Speed [flop/s] or bandwidth [byte/s] in use; of a Wi-Fi link, the part of its time.

        Raises
        ------
        SimpluginError
            The hosts' model is cpu/optim:TI, which does not know it.
        """

    @property
    def figures(self) -> dict[str, float]:
        """Figures of SimGrid's plug-in host_load or link_load so far, as in `Result.plugins`.

        Raises
        ------
        SimpluginError
            The plug-in is not loaded, or does not know this link.
        """

    def reset_figures(self) -> None:
        """Let them count from now on."""

    @property
    def is_on(self) -> bool:
        """True if it is on."""

    @property
    def properties(self) -> dict[str, str]:
        """From the platform file."""

    @property
    def energy(self) -> float:
        """Consumed so far [J]; needs ``simulate(..., energy=True)``."""

    def turn_on(self) -> None:
        """Turn it on; the restartable actors of a host start again."""

    def turn_off(self) -> None:
        """Turn it off.

        Actors on a host are killed; what runs on it or crosses it, or crosses a link, fails.
        """


class Host(Resource, Protocol):
    """A host of the platform."""

    @property
    def pstate(self) -> int:
        """Performance state; may be set."""

    @pstate.setter
    def pstate(self, value: int) -> None: ...

    @property
    def speed(self) -> float:
        """Peak speed of a core in the current pstate [flop/s]."""

    @property
    def available_speed(self) -> float:
        """Fraction of the speed that other load leaves; may be set, as a profile does."""

    @available_speed.setter
    def available_speed(self, value: float) -> None: ...

    @property
    def cores(self) -> int:
        """Number of cores."""

    @property
    def pstate_count(self) -> int:
        """Number of performance states."""

    def pstate_speed(self, pstate: int, /) -> float:
        """Return the peak speed of a core in a performance state [flop/s]."""


class Link(Resource, Protocol):
    """A link of the platform."""

    @property
    def bandwidth(self) -> float:
        """In byte/s; may be set.

        Transfers under way never become faster than they could at their start.
        """

    @bandwidth.setter
    def bandwidth(self, value: float) -> None: ...

    @property
    def latency(self) -> float:
        """In s; may be set, for the transfers that start later."""

    @latency.setter
    def latency(self, value: float) -> None: ...

    @property
    def sharing_policy(self) -> str:
        """``"SHARED"``, ``"FATPIPE"``, ``"SPLITDUPLEX"``, ..."""

    def set_host_wifi_rate(self, host: Host | str, level: int, /) -> None:
        """Choose the rate of a host on this Wi-Fi link, for the transfers that start later.

        Parameters
        ----------
        host : Host or str
            A host of the link's zone.
        level : int
            0 is the link's first bandwidth. The host's property ``wifi_rate`` gives the one that
            it starts with.

        Raises
        ------
        ValueError
            The link is no Wi-Fi link or has no such level.
        """


class Route(Protocol):
    """The route between two hosts."""

    @property
    def links(self) -> tuple[Link, ...]:
        """In order."""

    @property
    def latency(self) -> float:
        """Sum of their latencies [s]."""
