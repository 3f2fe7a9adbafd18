"""Peers that answer how many tasks they want at a price, and little more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.market.negotiations.own_tasks import OwnTasks

if TYPE_CHECKING:
    from simplugin.market.negotiations.protocol import Message


class AnsweringPeer:
    """A peer that answers questions about its demand; all prices are logarithms.

    Where a question names two prices it is about tasks that are worth at least the first and less
    than the second. The questions:

    ``("open", m)``
        There are m tasks: how many does it take at most?
    ``("price", x)``
        How many tasks are worth at least that, Eq. (12)?
    ``("prices", x, y)``
        How many at each of two prices?
    ``("quote", k, m)``
        How many of m tasks does it take at most, and what is its k-th worth, or its last one?
    ``("exit", x, k)``
        How many are worth at least that, of k at most, and what is the last of these worth: up to
        which price does it want as many?
    ``("middle", x, y)``
        What is the middle one worth?
    ``("split", x, pivot, y)``
        How many are worth at least the pivot, how many more than it, and what are the middle ones
        worth of those above it and of those below it?
    ``("worths", x, y)``
        What is each worth?
    ``("lowest", x)``
        What is the last task that is worth at least that worth?

    Parameters
    ----------
    own : OwnTasks
        What tasks are worth to it.
    """

    def __init__(self, own: OwnTasks) -> None:
        self._own = own

    def reply(self, message: Message, /) -> Message:
        """Return the answer to one of the questions."""
        kind, *numbers = message
        own = self._own
        match kind:
            case "open":
                return ("cap", own.limit(*numbers))
            case "price":
                return ("count", own.above(*numbers))
            case "prices":
                return ("counts", *map(own.above, numbers))
            case "quote":
                return self._quote(*numbers)
            case "exit":
                return self._exit(*numbers)
            case "middle":
                return ("middle", self._middle(*map(own.above, numbers)))
            case "split":
                return self._split(*numbers)
            case "worths":
                most, least = map(own.above, numbers)
                return ("worths", *map(own.log_worth, range(least + 1, most + 1)))
            case "lowest":
                return ("worths", own.log_worth(own.above(*numbers)))
        raise WorkloadError(f"a peer is asked {kind!r}, which it does not understand")

    def _quote(self, number: int, m: int) -> Message:
        """Return its cap, and what a task is worth."""
        cap = self._own.limit(m)
        last = min(int(number), cap)
        return ("quote", cap, self._own.log_worth(last) if last else -math.inf)

    def _exit(self, low: float, most: int) -> Message:
        """Return how many tasks it wants, and up to which price; if none, at any."""
        count = min(self._own.above(low), int(most))
        return ("quote", count, self._own.log_worth(count) if count else math.inf)

    def _middle(self, most: int, least: int) -> float:
        """Return what the middle one of the tasks after one number up to another is worth."""
        return self._own.log_worth(least + (most - least + 1) // 2) if most > least else -math.inf

    def _split(self, low: float, pivot: float, high: float) -> Message:
        """Return its tasks on both sides of a pivot."""
        most, from_, above, least = map(self._own.above, (low, pivot, following(pivot), high))
        return ("split", from_, above, self._middle(above, least), self._middle(most, from_))


def following(log_price: float) -> float:
    """Return the next number, from which on tasks are worth more than a price."""
    return math.nextafter(log_price, math.inf)


def answering_peer(
    value: float,
    cap: int,
    q: float,
    generator: np.random.Generator,  # noqa: ARG001
) -> AnsweringPeer:
    """Return a peer that answers questions about its demand; it draws nothing."""
    return AnsweringPeer(OwnTasks(value, cap, q))
