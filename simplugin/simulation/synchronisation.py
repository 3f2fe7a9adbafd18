"""Synchronisation in simulated time, first come, first served: interfaces of both back ends."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from simplugin.simulation.actor import Actor


class Mutex(AbstractAsyncContextManager[Any, None], Protocol):
    """Held by one actor at a time; ``async with mutex:`` holds it for a block."""

    @property
    def owner(self) -> Actor | None:
        """Who holds it."""

    def lock(self) -> Awaitable[None]:
        """Wait until it is the caller's."""

    def try_lock(self) -> bool:
        """Take it if it is free; return whether it is now the caller's."""

    def unlock(self) -> None:
        """Give it to the next that waits; RuntimeError if it is not the caller's."""


class Semaphore(AbstractAsyncContextManager[Any, None], Protocol):
    """A number of places; ``async with semaphore:`` takes one for a block."""

    @property
    def capacity(self) -> int:
        """Places that are free."""

    @property
    def would_block(self) -> bool:
        """Whether none is free."""

    def acquire(self, timeout: float | None = None) -> Awaitable[None]:
        """Wait for a place; TimeoutException after `timeout` [s]."""

    def release(self) -> None:
        """Free a place."""


class Condition(Protocol):
    """Where the holder of a mutex waits for a change."""

    def wait(self, timeout: float | None = None) -> Awaitable[bool]:
        """Release the mutex, wait, take it again.

        Parameters
        ----------
        timeout : float, optional
            Time limit [s] of the wait, not of taking the mutex again.

        Returns
        -------
        awaitable of bool
            False if the time limit was reached.
        """

    def notify_one(self) -> None:
        """Wake the first that waits."""

    def notify_all(self) -> None:
        """Wake all that wait, in order."""


class Barrier(Protocol):
    """Lets actors go on when a number of them have come."""

    @property
    def size(self) -> int:
        """How many it waits for."""

    def wait(self) -> Awaitable[bool]:
        """Wait for the others; gives True to the last that comes."""
