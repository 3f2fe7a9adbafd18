"""What `await` sees: a request that the actor's thread performs by a blocking call."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from simplugin.errors import ForcefulKillException
from simplugin.simulation import _driver
from simplugin.simulation.threads.world import World
from simplugin.simulation.unawaited import place_of, user_frame

T = TypeVar("T")


class Blocking(Generic[T]):
    """An operation that starts when awaited.

    Parameters
    ----------
    world : World
        The simulation.
    waits_for : callable
        Gives the text that says what is waited for.
    perform : callable
        Blocks this thread until it is done; gives the result.
    """

    def __init__(
        self, world: World, waits_for: Callable[[], str], perform: Callable[[], T]
    ) -> None:
        self._world = world
        self._creator = world.actor
        self._exceptions = _driver.exceptions()
        self._place = place_of(user_frame())
        self._begun = False
        world.expected_awaits += 1
        self.waits_for = waits_for
        self.perform = perform

    def __await__(self) -> Generator[Blocking[T], Any, T]:
        self._begins()
        if self._world.running("await").dying:
            raise ForcefulKillException("exited")
        result: T = yield self
        return result

    def _begins(self) -> None:
        """Take note that it is awaited."""
        if not self._begun:
            self._begun = True
            self._world.expected_awaits -= 1

    def __del__(self) -> None:
        # Where __init__ failed there is nothing to complain about.
        if not self.__dict__.get("_begun", True):
            self._world.never_awaited(
                self.waits_for(), self._creator, self._exceptions, self._place
            )


def done(world: World, what: str) -> Blocking[None]:
    """Return an operation that is over at once, without letting others go first."""
    return _Done(world, lambda: what, lambda: None)


class _Done(Blocking[None]):
    """Something that nobody has to wait for."""

    def __await__(self) -> Generator[Blocking[None], Any, None]:
        self._begins()
        yield from ()


def a_number(value: float, what: str) -> float:
    """Check that a number is finite and not negative."""
    given: object = value
    # Python would read a number in a text.
    if isinstance(given, str | bytes | bytearray):
        raise TypeError(f"{what} must be a number, not {value!r}")
    result = float(value)
    if not 0 <= result < float("inf"):
        raise ValueError(f"{what} must be a finite number >= 0, not {value!r}")
    return result


def time_limit(timeout: float | None) -> float:
    """Return SimGrid's way to say a time limit: negative for none."""
    return -1.0 if timeout is None else a_number(timeout, "timeout")


def positive(value: float, what: str) -> float:
    """Check that a number is finite and above zero."""
    if a_number(value, what) <= 0:
        raise ValueError(f"{what} must be > 0, not {value!r}")
    return float(value)
