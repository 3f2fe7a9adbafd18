"""Synchronisation in simulated time."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from simplugin.simulation.api.actor import Actor


class Mutex(Protocol):
    """A lock, given in the order of asking; ``async with mutex:`` locks and unlocks.

    It stays locked if its owner ends without unlocking it.
    """

    @property
    def name(self) -> str | None:
        """Its name."""

    @property
    def owner(self) -> Actor | None:
        """Who holds it."""

    def lock(self) -> Awaitable[None]:
        """Wait until it is this actor's."""

    def try_lock(self) -> bool:
        """Lock it if it is free, and say so."""

    def unlock(self) -> None:
        """Give it to the next who waits.

        Raises
        ------
        RuntimeError
            The caller does not hold it.
        """

    def __aenter__(self) -> Awaitable[None]: ...
    def __aexit__(self, *exception: object) -> Awaitable[None]: ...


class Semaphore(Protocol):
    """A number of places, given in the order of asking; ``async with semaphore:`` takes one."""

    @property
    def name(self) -> str | None:
        """Its name."""

    @property
    def capacity(self) -> int:
        """Free places."""

    @property
    def would_block(self) -> bool:
        """Whether none is free."""

    def acquire(self, timeout: float | None = None) -> Awaitable[None]:
        """Take a place, or wait for one up to a time limit [s].

        Raises
        ------
        TimeoutException
            The limit was reached first.
        """

    def release(self) -> None:
        """Free a place."""

    def __aenter__(self) -> Awaitable[None]: ...
    def __aexit__(self, *exception: object) -> Awaitable[None]: ...


class Condition(Protocol):
    """A condition variable on a mutex."""

    @property
    def name(self) -> str | None:
        """Its name."""

    def wait(self, timeout: float | None = None) -> Awaitable[bool]:
        """Release the mutex, wait to be notified, lock it again.

        Parameters
        ----------
        timeout : float, optional
            Time limit [s] for the notification; the mutex is locked again either way.

        Returns
        -------
        awaitable of bool
            False if the limit was reached first.

        Raises
        ------
        RuntimeError
            The caller does not hold the mutex.
        """

    def notify_one(self) -> None:
        """Wake the first who waits, if any."""

    def notify_all(self) -> None:
        """Wake all who wait."""


class Barrier(Protocol):
    """A meeting of a number of actors; it can be used again."""

    @property
    def name(self) -> str | None:
        """Its name."""

    @property
    def size(self) -> int:
        """How many it waits for."""

    def wait(self) -> Awaitable[bool]:
        """Wait until all have come; True for the last one only."""
