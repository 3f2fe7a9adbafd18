"""FreeProfile of the nodes that are planned to be free over time."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from copy import copy
from itertools import accumulate
from typing import Self

from simplugin.jobs.nodes import NodeMask
from simplugin.jobs.policies.allocations import Allocation
from simplugin.jobs.policy import SAME_DATE, RunningJob, Start
from simplugin.workloads.batch_jobs import Job


class FreeProfile:
    """Free nodes over time, as their number or their set.

    Attributes
    ----------
    dates : list of float
        Dates of changes; the first is the present [s].
    free : list of int
        Free nodes from each date to the next.
    """

    # Largest number of free nodes until each date; empty if unknown.
    _most: Sequence[int] = ()

    def __init__(self, now: float, free: int) -> None:
        self.dates, self.free = [now], [free]

    def copy(self) -> Self:
        """Return a copy."""
        other = copy(self)
        other.dates, other.free = self.dates.copy(), self.free.copy()
        return other

    def advance(self, now: float) -> None:
        """Let the profile begin at a later date [s]."""
        self._most = ()
        past = bisect_right(self.dates, now + SAME_DATE) - 1
        del self.dates[:past], self.free[:past]
        self.dates[0] = now

    def span(self, start: float, end: float) -> range:
        """Return the positions between two dates, at which the profile may change from now on."""
        self._most = ()
        first = self._cut(max(start, self.dates[0]))
        return range(first, self._cut(end) if end < math.inf else len(self.dates))

    def join(self, span: range) -> None:
        """Forget the ends of a span where nothing changes any more."""
        for position in (span.stop, span.start):
            if 0 < position < len(self.dates) and self.free[position] == self.free[position - 1]:
                del self.dates[position], self.free[position]

    def _cut(self, date: float) -> int:
        """Return the position of a date."""
        self._most = ()
        dates = self.dates
        position = bisect_left(dates, date - SAME_DATE)
        if position == len(dates) or dates[position] > date + SAME_DATE:
            dates.insert(position, date)
            self.free.insert(position, self.free[position - 1])
        return position

    @abstractmethod
    def held(self, job: RunningJob) -> int:
        """Return the nodes of a running job."""

    @abstractmethod
    def start(self, job: Job, nodes: int) -> Start:
        """Return the start of a job on nodes that are reserved."""

    @abstractmethod
    def reserve(self, start: float, end: float, nodes: int) -> None:
        """Take nodes from a date to another [s]."""

    @abstractmethod
    def release(self, start: float, end: float, nodes: int) -> None:
        """Give nodes back."""

    def is_first(self, start: float, size: int) -> bool:  # noqa: ARG002
        """Return True if it is certain that no earlier nodes are free than those reserved."""
        return False

    @abstractmethod
    def find(self, size: int, duration: float, after: float = 0.0) -> tuple[float, int]:
        """Return the first date from which nodes are free for a duration [s], and the nodes.

        It is not before the date `after`.

        The date is infinite if there is none.
        """


class CountProfile(FreeProfile):
    """Number of free nodes over time."""

    def is_first(self, start: float, size: int) -> bool:
        """Return True if fewer nodes are free at all dates before."""
        if not self._most:
            self._most = list(accumulate(self.free, max))
        before = bisect_left(self.dates, start - SAME_DATE) - 1
        return before < 0 or self._most[before] < size

    def held(self, job: RunningJob) -> int:
        """Return the number of nodes of a running job."""
        return job.size

    def start(self, job: Job, nodes: int) -> Start:
        """Return the start of a job on any nodes."""
        return Start(job, size=nodes)

    def reserve(self, start: float, end: float, nodes: int) -> None:
        """Take nodes from a date to another [s]."""
        span = self.span(start, end)
        for position in span:
            self.free[position] -= nodes
        self.join(span)

    def release(self, start: float, end: float, nodes: int) -> None:
        """Give nodes back."""
        self.reserve(start, end, -nodes)

    def find(self, size: int, duration: float, after: float = 0.0) -> tuple[float, int]:
        """Return the first date from which nodes are free for a duration [s], and their number."""
        start = self._cut(after) if after > self.dates[0] else 0
        dates, free = self.dates, self.free
        count = len(dates)
        end = dates[start] + duration - SAME_DATE
        for position in range(start, count):
            if free[position] < size:
                start = position + 1
                if start == count:
                    return math.inf, size
                end = dates[start] + duration - SAME_DATE
            elif position + 1 == count or dates[position + 1] >= end:
                break
        return dates[start], size


class NodeProfile(FreeProfile):
    """Set of free nodes over time."""

    def __init__(
        self, now: float, free: NodeMask, allocation: Allocation, usable: NodeMask
    ) -> None:
        super().__init__(now, free)
        self.allocation, self.usable = allocation, usable

    def chosen(self, free: NodeMask, size: int) -> NodeMask | None:
        """Return nodes of a set, if possible those that can be used at present."""
        usable = free & self.usable
        nodes = self.allocation(usable, size) if usable.bit_count() >= size else None
        return self.allocation(free, size) if nodes is None and usable != free else nodes

    def held(self, job: RunningJob) -> NodeMask:
        """Return the nodes of a running job."""
        return job.nodes

    def start(self, job: Job, nodes: NodeMask) -> Start:
        """Return the start of a job on its nodes."""
        return Start(job, nodes)

    def reserve(self, start: float, end: float, nodes: NodeMask) -> None:
        """Take nodes from a date to another [s]."""
        span = self.span(start, end)
        for position in span:
            self.free[position] &= ~nodes
        self.join(span)

    def release(self, start: float, end: float, nodes: NodeMask) -> None:
        """Give nodes back."""
        span = self.span(start, end)
        for position in span:
            self.free[position] |= nodes
        self.join(span)

    def find(self, size: int, duration: float, after: float = 0.0) -> tuple[float, NodeMask]:
        """Return the first date from which nodes are free for a duration [s], and the nodes."""
        first = self._cut(after) if after > self.dates[0] else 0
        dates, count = self.dates, len(self.dates)
        for start in range(first, count):
            free = self.free[start]
            end = dates[start] + duration - SAME_DATE
            position = start + 1
            while free.bit_count() >= size:
                if position == count or dates[position] >= end:
                    if nodes := self.chosen(free, size):
                        return dates[start], nodes
                    break
                free &= self.free[position]
                position += 1
        return math.inf, 0
