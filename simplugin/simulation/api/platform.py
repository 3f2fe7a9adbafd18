"""Hosts, disks, links and routes as actors see them."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from simplugin.simulation.api.activity import Activity


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
    def disks(self) -> list[Disk]:
        """Its disks, in the order of their names."""

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


class Disk(Protocol):
    """A disk of a host.

    Reads share its bandwidth of reading, writes that of writing, and both together the larger of
    the two, in proportion to their priorities.
    """

    @property
    def name(self) -> str:
        """Its name, unlike that of any other disk of the host."""

    @property
    def host(self) -> Host:
        """The host that it belongs to; actors of any host may use it."""

    @property
    def is_on(self) -> bool:
        """True if it is on."""

    @property
    def properties(self) -> dict[str, str]:
        """From the platform file."""

    @property
    def read_bandwidth(self) -> float:
        """In byte/s; may be set."""

    @read_bandwidth.setter
    def read_bandwidth(self, value: float) -> None: ...

    @property
    def write_bandwidth(self) -> float:
        """In byte/s; may be set."""

    @write_bandwidth.setter
    def write_bandwidth(self, value: float) -> None: ...

    def read(
        self, size: float, *, priority: float = 1.0, label: str | None = None
    ) -> Awaitable[None]:
        """Read.

        Parameters
        ----------
        size : float
            How much [byte], rounded down to whole bytes.
        priority : float
            Share of the disk relative to the others'.
        label : str, optional
            Label in the trace.

        Raises
        ------
        StorageFailureException
            The disk, or its host, failed.
        """

    def write(
        self, size: float, *, priority: float = 1.0, label: str | None = None
    ) -> Awaitable[None]:
        """Write; parameters and errors are those of `read`."""

    def read_async(
        self, size: float, *, priority: float = 1.0, label: str | None = None
    ) -> Activity:
        """Start to read; the parameters are those of `read`."""

    def write_async(
        self, size: float, *, priority: float = 1.0, label: str | None = None
    ) -> Activity:
        """Start to write; the parameters are those of `read`."""

    def read_init(
        self, size: float, *, priority: float = 1.0, label: str | None = None
    ) -> Activity:
        """Return a planned read; the parameters are those of `read`."""

    def write_init(
        self, size: float, *, priority: float = 1.0, label: str | None = None
    ) -> Activity:
        """Return a planned write; the parameters are those of `read`."""

    def turn_on(self) -> None:
        """Turn it on; a host that comes back turns on its disks."""

    def turn_off(self) -> None:
        """Turn it off: what it reads and writes fails. A host that fails turns off its disks."""


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
