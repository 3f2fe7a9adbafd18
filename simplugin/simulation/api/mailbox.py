"""Mailboxes and message queues, where actors meet."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from simplugin.simulation.api.resources import Activity


class Meeting(Protocol):
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
