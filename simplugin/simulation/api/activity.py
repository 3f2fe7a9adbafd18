"""Activities, which take simulated time, and the mailboxes and queues where actors meet."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from simplugin.simulation.api.platform import Disk, Host


class Activity(Protocol):
    """Something that takes simulated time; ``await`` gives its result.

    It belongs to the actor that started it and is cancelled when that actor ends (direct
    transfers excepted).

    One that comes from an operation whose name ends in ``_init`` is planned: it starts when it is
    told to, has all that it needs, and its dependencies are over. Whoever waits for it or tests it
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
    def host(self) -> Host | None:
        """Where an execution runs; a running one moves if it is set. None for others.

        Before the start it may be None, too: the execution then waits to be assigned.
        """

    @host.setter
    def host(self, value: Host | str | None) -> None: ...

    @property
    def source(self) -> Host | None:
        """Where a direct transfer comes from; may be set, also to None, until it starts."""

    @source.setter
    def source(self, value: Host | str | None) -> None: ...

    @property
    def destination(self) -> Host | None:
        """Where a direct transfer goes to; may be set, also to None, until it starts."""

    @destination.setter
    def destination(self, value: Host | str | None) -> None: ...

    @property
    def disk(self) -> Disk | None:
        """Disk of a read or write; may be set, also to None, until it starts."""

    @disk.setter
    def disk(self, value: Disk | None) -> None: ...

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
        """Date of its start [s]; a put or get starts when its partner is there too."""

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
        """Start what is planned, as soon as it is assigned and its dependencies are over.

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
        """Start what is planned, and let it outlive its actor; see `start`."""

    def add_successor(self, activity: Activity, /) -> Activity:
        """Let a planned activity start after this one has finished.

        If this one fails or is cancelled, the other never starts by itself.

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


class Meeting(Protocol):
    """The common part of mailboxes and message queues."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def empty(self) -> bool:
        """True if neither a put nor a get waits for a partner."""


class Mailbox(Meeting, Protocol):
    """A place where puts and gets meet, first come first served.

    The transfer starts when both sides are there, and goes from the sender's host to the
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
            What the receiver gets: this very object, not a copy.
        size : float
            What crosses the network [byte], rounded down to whole bytes.
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

    def put_init(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> Activity:
        """Return a planned put; the parameters are those of `put`."""

    def put_detached(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> None:
        """Send and forget: it survives the end of its sender."""

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
            A link failed, or the sender ended or failed during the transfer.
        """

    def get_async(self) -> Activity:
        """Start to receive; its result is the payload."""

    def get_init(self) -> Activity:
        """Return a planned get; its result is the payload."""

    def listen(self) -> bool:
        """Return True if a put waits to be received."""


class MessageQueue(Meeting, Protocol):
    """Like a mailbox, for what costs no simulated time."""

    @property
    def size(self) -> int:
        """Number of puts that wait."""

    def put(self, payload: Any, *, timeout: float | None = None) -> Awaitable[None]:
        """Give an object; over when it is taken. See `Mailbox.put` for the time limit."""

    def put_async(self, payload: Any) -> Activity:
        """Start to give."""

    def put_detached(self, payload: Any) -> None:
        """Give and forget."""

    def get(self, *, timeout: float | None = None) -> Awaitable[Any]:
        """Take an object. See `Mailbox.get` for the time limit."""

    def get_async(self) -> Activity:
        """Start to take; its result is the payload."""
