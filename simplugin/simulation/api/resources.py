"""Hosts, disks, links, routes, mailboxes and message queues, and the activities that run there."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def with_parameters_of(
    operation: Callable[P, object],
) -> Callable[[Callable[..., T]], Callable[P, T]]:
    """Return a decorator for an operation with the same parameters as another one."""

    def decorate(method: Callable[..., T]) -> Callable[P, T]:
        given = inspect.signature(method).return_annotation
        same = inspect.signature(operation).replace(return_annotation=given)
        setattr(method, "__signature__", same)  # noqa: B010
        return method

    return decorate


class Activity(Protocol):
    """Something that takes simulated time; ``await`` gives its result.

    It belongs to the actor that started it and is cancelled when that actor ends (direct
    transfers excepted).

    An operation with a name that ends in ``_init`` gives a planned activity: it starts when it is
    told to, has all that it needs, and its dependencies are over. To wait for it or to test it
    starts it, too.
    """

    @property
    def state(self) -> str:
        """INITED, STARTING, STARTED, FINISHED, FAILED or CANCELED.

        STARTING means that it was told to start, but that something is missing.
        """

    @property
    def result(self) -> Any:
        """Once finished: the payload of a get, None otherwise."""

    @property
    def remaining(self) -> float:
        """Work left [flop or byte]; of a parallel task, the fraction left."""

    @property
    def host(self) -> SimulatedHost | None:
        """Host of an execution, None for other activities. Setting it moves a running execution.

        Set to None before the start, the execution waits until it has a host.
        """

    @host.setter
    def host(self, value: SimulatedHost | str | None) -> None: ...

    @property
    def source(self) -> SimulatedHost | None:
        """Source of a direct transfer; can be set until the transfer starts, also to None."""

    @source.setter
    def source(self, value: SimulatedHost | str | None) -> None: ...

    @property
    def destination(self) -> SimulatedHost | None:
        """Destination of a direct transfer; can be set until the transfer starts, also to None."""

    @destination.setter
    def destination(self, value: SimulatedHost | str | None) -> None: ...

    @property
    def disk(self) -> SimulatedDisk | None:
        """Disk of a read or write; can be set until it starts, also to None."""

    @disk.setter
    def disk(self, value: SimulatedDisk | None) -> None: ...

    @property
    def dependencies(self) -> list[Activity]:
        """The activities after which it starts and that have not finished."""

    @property
    def priority(self) -> float:
        """Share of an execution, read or write relative to others'; may be set while it runs."""

    @priority.setter
    def priority(self, value: float) -> None: ...

    @property
    def start_time(self) -> float | None:
        """Date of its start [s]; a put or get starts with its partner."""

    @property
    def finish_time(self) -> float | None:
        """Date of its end [s]."""

    @property
    def label(self) -> str | None:
        """Its label in the trace."""

    def __await__(self) -> Generator[Any, Any, Any]: ...

    def wait(self, timeout: float | None = None) -> Awaitable[Any]:
        """Wait for its end, or up to a time limit, which leaves it running.

        Parameters
        ----------
        timeout : float, optional
            Time limit [s].

        Returns
        -------
        awaitable of object
            Its result.

        Raises
        ------
        TimeoutException
            The limit was reached first.
        NetworkFailureException, HostFailureException, StorageFailureException, CancelException
            It failed or was cancelled.
        """

    def start(self) -> Activity:
        """Start a planned activity as soon as it is assigned and its dependencies are over.

        Returns
        -------
        Activity
            Itself.

        Raises
        ------
        ValueError
            It is not planned, or has started.
        """

    def detach(self) -> None:
        """Start a planned activity that outlives its actor; see `start`."""

    def add_successor(self, activity: Activity, /) -> Activity:
        """Let a planned activity start after this one has finished.

        If this one fails or is cancelled, the other never starts.

        Parameters
        ----------
        activity : Activity
            The other.

        Returns
        -------
        Activity
            This one.

        Raises
        ------
        ValueError
            The other has started or is a successor already, or this one has failed.
        """

    def remove_successor(self, activity: Activity, /) -> Activity:
        """Let another activity no longer wait for this one; ValueError if it does not."""

    def test(self) -> bool:
        """Return True if it is over, successfully or not, without waiting."""

    def cancel(self) -> None:
        """End it now.

        The actors that wait for it get a `CancelException`; the partner of a running transfer gets
        a `NetworkFailureException`.
        """

    def suspend(self) -> None:
        """Stop its progress until `resume`."""

    def resume(self) -> None:
        """Let it progress again."""


class Resource(Protocol):
    """A host, a link or a disk."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def is_on(self) -> bool:
        """True if it is on."""

    @property
    def properties(self) -> dict[str, str]:
        """From the platform file."""

    @property
    def concurrency_limit(self) -> int | None:
        """Maximum number of simultaneous activities, None if unlimited; the others wait in turn.

        May be set while nothing uses the resource.
        """

    @concurrency_limit.setter
    def concurrency_limit(self, value: int | None) -> None: ...

    def turn_on(self) -> None:
        """Turn it on; the restartable actors of a host start again, and its disks are on."""

    def turn_off(self) -> None:
        """Turn it off.

        Actors on a host are killed, and its disks turned off; what runs on it or crosses it, or
        crosses a link, or is read from or written to a disk, fails.
        """


class MeasuredResource(Resource, Protocol):
    """A host or a link with the load and energy that SimGrid measures."""

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
    def energy(self) -> float:
        """Consumed so far [J]; needs ``simulate(..., energy=True)``."""


class SimulatedHost(MeasuredResource, Protocol):
    """A host of the platform."""

    @property
    def disks(self) -> list[SimulatedDisk]:
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


class SimulatedDisk(Resource, Protocol):
    """A disk of a host, where its name is unlike that of any other disk.

    Reads share its bandwidth of reading, writes that of writing, and both together the larger of
    the two, in proportion to their priorities.
    """

    @property
    def host(self) -> SimulatedHost:
        """The host that it belongs to; actors of any host may use it."""

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

    @with_parameters_of(read)
    def write(self) -> Awaitable[None]:
        """Write; parameters and errors are those of `read`."""

    @with_parameters_of(read)
    def read_async(self) -> Activity:
        """Start to read; the parameters are those of `read`."""

    @with_parameters_of(read)
    def write_async(self) -> Activity:
        """Start to write; the parameters are those of `read`."""

    @with_parameters_of(read)
    def read_init(self) -> Activity:
        """Return a planned read; the parameters are those of `read`."""

    @with_parameters_of(read)
    def write_init(self) -> Activity:
        """Return a planned write; the parameters are those of `read`."""


class SimulatedLink(MeasuredResource, Protocol):
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

    def set_host_wifi_rate(self, host: SimulatedHost | str, level: int, /) -> None:
        """Choose the rate of a host on this Wi-Fi link, for the transfers that start later.

        Parameters
        ----------
        host : SimulatedHost or str
            A host of the link's zone.
        level : int
            0 is the link's first bandwidth. The host's property ``wifi_rate`` gives the one that
            it starts with.

        Raises
        ------
        ValueError
            The link is no Wi-Fi link or has no such level.
        """


class SimulatedRoute(Protocol):
    """The route between two hosts."""

    @property
    def links(self) -> tuple[SimulatedLink, ...]:
        """In order."""

    @property
    def latency(self) -> float:
        """Sum of their latencies [s]."""


class Rendezvous(Protocol):
    """The common part of mailboxes and message queues."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def empty(self) -> bool:
        """True if neither a put nor a get waits for a partner."""

    @property
    def size(self) -> int:
        """Number of puts that wait for a partner."""

    def get(self, *, timeout: float | None = None) -> Awaitable[Any]:
        """Receive an object.

        Parameters
        ----------
        timeout : float, optional
            Time limit [s], after which the get is withdrawn, or the transfer stopped.

        Returns
        -------
        awaitable of object
            The payload.

        Raises
        ------
        TimeoutException
            The limit was reached first.
        NetworkFailureException
            At a mailbox: a link failed, or the sender ended or failed during the transfer.
        """

    def get_async(self) -> Activity:
        """Start to receive; its result is the payload."""


class Mailbox(Rendezvous, Protocol):
    """A place where puts and gets meet, first come first served.

    The transfer starts when both sides are ready, and goes from the sender's host to the
    receiver's.
    """

    def put(
        self,
        payload: Any,
        size: float,
        *,
        rate: float | None = None,
        timeout: float | None = None,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Send an object; over when it is received.

        Parameters
        ----------
        payload : object
            Object that the receiver gets, not a copy.
        size : float
            What crosses the network [byte].
        rate : float, optional
            Largest speed of the transfer [byte/s].
        timeout : float, optional
            Time limit [s], after which the put is withdrawn, or the transfer stopped.
        label : str, optional
            Label in the trace.

        Raises
        ------
        TimeoutException
            The limit was reached first.
        NetworkFailureException
            A link failed, or the receiver ended or failed during the transfer.
        """

    def put_async(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> Activity:
        """Start to send; the parameters are those of `put`."""

    @with_parameters_of(put_async)
    def put_init(self) -> Activity:
        """Return a planned put; the parameters are those of `put`."""

    @with_parameters_of(put_async)
    def put_detached(self) -> None:
        """Send and forget: it survives the end of its sender."""

    def get_init(self) -> Activity:
        """Return a planned get; its result is the payload."""

    def listen(self) -> bool:
        """Return True if a put waits to be received."""


class MessageQueue(Rendezvous, Protocol):
    """Like a mailbox, for what costs no simulated time."""

    def put(self, payload: Any, *, timeout: float | None = None) -> Awaitable[None]:
        """Give an object; over when it is taken. See `Mailbox.put` for the time limit."""

    def put_async(self, payload: Any) -> Activity:
        """Start to give."""

    def put_detached(self, payload: Any) -> None:
        """Give and forget."""
