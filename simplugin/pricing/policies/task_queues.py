"""Decisions of an agent that dispatches tasks: queue, size and date of requests.

Pure functions of the agent's own knowledge: its rates, its queues, the date.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

# Rounding that a date may bring into a number of tasks.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Proportions:
    """Shares of the queues of an agent, which change at given dates.

    Queue 0 is for its own computations, the others are for its children, in order.

    Attributes
    ----------
    date : tuple of float, shape (n_changes,)
        When each line comes into force [s], ascending.
    weight : tuple of tuples of float, shape (n_changes, 1 + n_children)
        Its own rate and the flow into the subtree of each child [tasks/s].
    """

    date: tuple[float, ...]
    weight: tuple[tuple[float, ...], ...]

    def at(self, now: float) -> tuple[float, ...]:
        """Return the weights in force at a date, zeros before the first."""
        line = bisect_right(self.date, now) - 1
        return self.weight[line] if line >= 0 else (0.0,) * len(self.weight[0])

    def next_change(self, now: float) -> float:
        """Return the first date after `now` at which weights change; infinite if there is none."""
        line = bisect_right(self.date, now)
        return self.date[line] if line < len(self.date) else math.inf

    def for_dispatch(self, now: float) -> tuple[float, ...]:
        """Return the weights in force, or the last ones that were not all zero.

        They apply to tasks in transit when all weights became zero.
        """
        for line in range(bisect_right(self.date, now) - 1, -1, -1):
            if any(self.weight[line]):
                return self.weight[line]
        return self.at(now)


@dataclass(slots=True)
class LiveProportions:
    """The last known rates during a negotiation, which change at most once a period.

    Attributes
    ----------
    period : float
        Between two changes [s].
    weight, last : tuple of float, shape (1 + n_children,)
        The present weights, and the last that were not all zero [tasks/s].
    """

    period: float
    weight: tuple[float, ...]
    last: tuple[float, ...] = ()

    @property
    def date(self) -> Iterator[float]:
        """The dates at which they may change [s]."""
        return (number * self.period for number in count(1))

    def hear(self, weight: tuple[float, ...]) -> None:
        """Set the weights in force from now on."""
        self.weight = weight
        if any(weight):
            self.last = weight

    def at(self, now: float) -> tuple[float, ...]:
        """Return the weights in force."""
        del now
        return self.weight

    def next_change(self, now: float) -> float:
        """Return the next date at which weights may change."""
        return now + self.period

    def for_dispatch(self, now: float) -> tuple[float, ...]:
        """Return the weights in force, or the last ones that were not all zero."""
        return self.last or self.at(now)


def next_queue(deficit: Sequence[float], weight: Sequence[float]) -> tuple[int, list[float]]:
    """Choose the queue for a task: the one with the largest deficit.

    Each task adds to the deficit of a queue the queue's share of it, and takes 1 from that of
    the queue chosen: after any number of tasks each queue has had its share of them, up to its
    deficit. Ties go to the first queue; a queue of weight 0 gets nothing.

    Parameters
    ----------
    deficit : sequence of float, shape (n_queues,)
        Missing tasks of each queue so far, relative to its share.
    weight : sequence of float, shape (n_queues,)
        Proportions, at least one positive.

    Returns
    -------
    queue : int
        The choice.
    deficit : list of float
        After it.
    """
    total = math.fsum(weight)
    after = [lag + part / total for lag, part in zip(deficit, weight, strict=True)]
    queue = max((n for n, part in enumerate(weight) if part > 0), key=after.__getitem__)
    after[queue] -= 1.0
    return queue, after


def to_request(stock: int, requested: int, threshold: int, weight: Sequence[float]) -> int:
    """Return how many tasks an agent should request from its parent.

    Parameters
    ----------
    stock : int
        Tasks in its queues.
    requested : int
        Tasks requested and not yet there.
    threshold : int
        Tasks that it keeps for each queue in use.
    weight : sequence of float, shape (n_queues,)
        Proportions; a queue of weight 0 is not in use.
    """
    in_use = sum(part > 0 for part in weight)
    return max(0, threshold * in_use - stock - requested)


@dataclass(frozen=True, slots=True)
class ReleaseAllowance:
    """Number of tasks that a master may release; it grows at the application's throughput.

    Attributes
    ----------
    allowance : float
        Tasks that may be released at `date`.
    date : float
        When that was [s].
    """

    allowance: float
    date: float

    def until(
        self, now: float, proportions: Proportions | LiveProportions, most: float
    ) -> ReleaseAllowance:
        """Return the allowance at a later date, at most `most` tasks."""
        allowance, date = self.allowance, self.date
        while date < now:
            change = min(proportions.next_change(date), now)
            gained = allowance + sum(proportions.at(date)) * (change - date)
            allowance, date = min(gained, most), change
        return ReleaseAllowance(allowance, now)

    def may_release(self) -> bool:
        """Return True if a whole task may be released."""
        return self.allowance >= 1.0 - _ROUNDING

    def after_release(self) -> ReleaseAllowance:
        """Take off one task."""
        return ReleaseAllowance(self.allowance - 1.0, self.date)

    def look_again(self, proportions: Proportions | LiveProportions) -> float:
        """Return the date of the next release or change of rates [s]."""
        throughput = sum(proportions.at(self.date))
        missing = max(0.0, 1.0 - self.allowance)
        date = self.date + missing / throughput if throughput > 0 else math.inf
        return min(date, proportions.next_change(self.date))
