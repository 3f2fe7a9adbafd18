"""Messages between the actors of a batch system, and the records that they leave."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.jobs.nodes import NodeMask
from simplugin.jobs.policy import SAME_DATE

# Mailbox of a meta-scheduler, and sizes of messages to it and from it [byte].
REPORTS = "reports of clusters"
REPORT_BYTE = 256.0
SUBMISSION_BYTE = 1024.0
JobState = Literal["waiting", "running", "completed", "killed", "rejected", "failed"]


@dataclass(frozen=True, slots=True)
class SubmittedJobs:
    """Jobs that are submitted, by their numbers in the log."""

    date: float
    jobs: tuple[int, ...]
    ticket: int


@dataclass(frozen=True, slots=True)
class JobEnd:
    """End of a job: its state, the date of its end, and that at which its nodes are free."""

    date: float
    job: int
    start: int
    state: JobState
    end: float
    ticket: int = -1


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """Change of nodes, bit i for node i: they failed, or are ready for jobs."""

    date: float
    nodes: NodeMask
    ready: bool
    ticket: int = -1


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """State of a cluster, as its batch system last reported it.

    Attributes
    ----------
    name : str
        Its name.
    n_nodes, n_free : int
        Number of nodes, and of free ones.
    wanted : int
        Number of nodes that the waiting jobs ask for together.
    """

    name: str
    n_nodes: int
    n_free: int
    wanted: int


@dataclass(slots=True)
class JobRecord:
    """The outcome of a job.

    Attributes
    ----------
    submit, start, end : float
        Dates; NaN for those that did not come [s].
    state : JobState
        Its state.
    nodes : int
        Its nodes, bit i for node i.
    steps : list of (float, int)
        Dates and numbers of nodes of a malleable job.
    starts : int
        How often it started.
    saved : float
        Part of its work up to its last checkpoint: of the time of work of known duration, else
        the number of parts.
    work_end, work_state : float, JobState
        Date and state of the end of its work as far as known, before an epilogue.
    """

    submit: float = math.nan
    start: float = math.nan
    end: float = math.nan
    state: JobState = "waiting"
    nodes: NodeMask = 0
    steps: list[tuple[float, int]] = field(default_factory=list)
    starts: int = 0
    saved: float = 0.0
    work_end: float = math.inf
    work_state: JobState = "waiting"

    def ends(self, date: float, state: JobState) -> None:
        """Note the end of its work."""
        self.work_end, self.work_state = date, state


@dataclass(frozen=True, eq=False)
class JobRecords:
    """Records of all jobs.

    Attributes
    ----------
    dates : float64, shape (3, n_jobs)
        Submission, start and end of each job [s].
    state, nodes, steps, starts : tuple
        Those of `JobRecord`.
    """

    dates: NDArray[np.float64]
    state: tuple[JobState, ...]
    nodes: tuple[NodeMask, ...]
    steps: tuple[tuple[tuple[float, int], ...], ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, records: list[JobRecord]) -> JobRecords:
        """Return the records of jobs."""
        return cls(
            np.array([(each.submit, each.start, each.end) for each in records]).reshape(-1, 3).T,
            tuple(each.state for each in records),
            tuple(each.nodes for each in records),
            tuple(tuple(each.steps) for each in records),
            tuple(each.starts for each in records),
        )

    @classmethod
    def joined(cls, parts: list[tuple[JobRecords, int]]) -> JobRecords:
        """Return the records of clusters in one, each with the number of its first node."""
        dates = np.full_like(parts[0][0].dates, math.nan)
        rows: list[tuple[JobRecords, int, int]] = []
        for job in range(dates.shape[1]):
            which = next((each for each in parts if each[0].state[job] != "waiting"), parts[0])
            rows.append((which[0], which[1], job))
            dates[:, job] = which[0].dates[:, job]
        return cls(
            dates,
            tuple(each.state[job] for each, _, job in rows),
            tuple(each.nodes[job] << first for each, first, job in rows),
            tuple(each.steps[job] for each, _, job in rows),
            tuple(each.starts[job] for each, _, job in rows),
        )


class Calendar:
    """Dates that are known to come, so that all events of an instant are met together.

    Sums of times in different orders differ in their last digits; events within `SAME_DATE` are
    one instant.
    """

    def __init__(self) -> None:
        self._dates: list[tuple[float, int]] = []
        self._open: set[int] = set()
        self._last = 0

    def add(self, date: float) -> int:
        """Note a date, and return its ticket."""
        self._last += 1
        heappush(self._dates, (date, self._last))
        self._open.add(self._last)
        return self._last

    def remove(self, ticket: int) -> None:
        """Forget a date that has come or does not come any more."""
        self._open.discard(ticket)

    def is_due(self, now: float) -> bool:
        """Return True if a date of this instant has not come yet."""
        dates = self._dates
        while dates and dates[0][1] not in self._open:
            heappop(dates)
        return bool(dates) and dates[0][0] <= now + SAME_DATE
