"""What takes simulated time, and where actors meet: the interfaces of both back ends."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Activity(Protocol[T_co]):
    """An execution, a transfer or a message in progress; ``await`` waits for it."""

    def __await__(self) -> Generator[Any, Any, T_co]:
        """Wait for its end; give its result."""

    def wait(self, timeout: float | None = None) -> Awaitable[T_co]:
        """Wait for its end.

        Parameters
        ----------
        timeout : float, optional
            Time limit [s].

        Raises
        ------
        TimeoutException
            It was not over after `timeout`; it goes on.
        CancelException, HostFailureException, NetworkFailureException
            How it ended, if not well.
        """

    def test(self) -> bool:
        """Return whether it is over, without waiting."""

    def cancel(self) -> None:
        """End it now: who waits for it gets CancelException, its partner a network failure."""

    def suspend(self) -> None:
        """Stop its progress."""

    def resume(self) -> None:
        """Let it progress again."""

    @property
    def remaining(self) -> float:
        """Work left [flop or byte], or the fraction left of a parallel task."""

    @property
    def state(self) -> str:
        """One of INITED, STARTED, FINISHED, FAILED, CANCELED."""

    @property
    def start_time(self) -> float | None:
        """Date of its start [s]."""

    @property
    def finish_time(self) -> float | None:
        """Date of its end [s], None before."""

    @property
    def result(self) -> Any:
        """What a `get` received, once finished; None otherwise."""

    @property
    def label(self) -> str | None:
        """Its label in the trace."""


class Mailbox(Protocol):
    """Where a `put` and a `get` meet; the payload then crosses the network between their hosts."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def empty(self) -> bool:
        """Whether no `put` and no `get` waits here."""

    def listen(self) -> bool:
        """Return whether a `put` waits here."""

    def put(
        self,
        payload: object,
        size: float,
        *,
        rate: float | None = None,
        timeout: float | None = None,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Send; ends when it is received.

        Parameters
        ----------
        payload : object
            Any object; it is not copied.
        size : float
            What crosses the network [byte]; rounded down.
        rate : float, optional
            Rate that it never exceeds [byte/s].
        timeout : float, optional
            Time limit for all of it [s].
        label : str, optional
            Label in the trace.

        Raises
        ------
        TimeoutException
            The time limit was reached; the message is withdrawn.
        NetworkFailureException
            A link failed, or the receiver was killed.
        """

    def put_async(
        self,
        payload: object,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> Activity[None]:
        """Start to send; withdrawn if the sender ends before."""

    def put_detached(
        self,
        payload: object,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> None:
        """Send and forget: it goes on even when the sender has ended."""

    def get(self, *, timeout: float | None = None) -> Awaitable[Any]:
        """Receive; gives the payload. Raises as `put`."""

    def get_async(self) -> Activity[Any]:
        """Start to receive."""


class MessageQueue(Protocol):
    """Where control messages meet; they cost no simulated time."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def empty(self) -> bool:
        """Whether no `put` and no `get` waits here."""

    @property
    def size(self) -> int:
        """Number of `put` that wait."""

    def put(self, payload: object, *, timeout: float | None = None) -> Awaitable[None]:
        """Give; ends when it is taken. TimeoutException after `timeout` [s]."""

    def put_async(self, payload: object) -> Activity[None]:
        """Start to give."""

    def put_detached(self, payload: object) -> None:
        """Give and forget."""

    def get(self, *, timeout: float | None = None) -> Awaitable[Any]:
        """Take; gives the payload. TimeoutException after `timeout` [s]."""

    def get_async(self) -> Activity[Any]:
        """Start to take."""
