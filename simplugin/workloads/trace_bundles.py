"""Bundles of a job trace: what a user submitted to a site within a short time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.workloads.bundles import Bundle
from simplugin.workloads.job_traces import COMPLETED, UNKNOWN, Floats, Integers, JobTrace
from simplugin.workloads.parameter_ranges import one_of, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What jobs of a bundle have in common, where a log knows it.
GROUPS = ("user", "group", "executable", "queue", "partition")


@dataclass(frozen=True, eq=False)
class TraceBundle:
    """Jobs that a user submitted one soon after the other.

    Attributes
    ----------
    release : float
        When the last job was submitted, hence all had arrived, since the start of the log [s].
    user, partition, executable : int
        As in the trace; -1 if it does not know them, or if jobs of a bundle may differ in it.
    jobs : int64, shape (count,)
        Numbers of the jobs, in the order in which they were submitted.
    run_times : float64, shape (count,)
        How long each ran [s].
    processors : int64, shape (count,)
        How many processors each had; 1 where the trace does not know.
    """

    release: float
    user: int
    partition: int
    executable: int
    jobs: Integers
    run_times: Floats
    processors: Integers

    @property
    def count(self) -> int:
        """How many jobs there are."""
        return len(self.jobs)

    @property
    def mean(self) -> float:
        """Mean run time [s]."""
        return float(self.run_times.mean())

    @property
    def variation(self) -> float:
        """Coefficient of variation of run times: standard deviation of all of them over mean."""
        return float(self.run_times.std()) / self.mean

    def bundle(
        self, speed: float, byte: float, real_sizes: bool = False, name: str | None = None
    ) -> Bundle:
        """Return the bundle of tasks for a market.

        Parameters
        ----------
        speed : float
            Of one processor of the hosts that the log is of, so that a job computes its run time
            times its processors times this [flop/s]. A log does not say it.
        byte : float
            Communication size of a task [byte]. Logs say nothing about it: it is invented.
        real_sizes : bool
            Whether tasks really compute what each job did; otherwise all compute the mean, which
            in any case is what the market believes.
        name : str, optional
            Of the bundle; by default its user, partition and release.

        Returns
        -------
        Bundle
            Released when the last job was submitted.

        Raises
        ------
        WorkloadError
            A number is out of its range.
        """
        if not 0 < speed < np.inf:
            raise WorkloadError(f"speed is {speed!r}; give a positive number of flop/s")
        work = self.run_times * self.processors * speed
        title = name
        if title is None:
            title = f"user {self.user}, partition {self.partition}, {self.release:.15g} s"
        flop = float(work.mean())
        sizes = work if real_sizes else None
        return Bundle(title, self.count, flop, byte, self.release, sizes)


def trace_bundles(
    trace: JobTrace,
    gap: float = 120.0,
    least: int = 100,
    by: Sequence[str] = ("user", "partition", "executable"),
) -> list[TraceBundle]:
    """Return the bundles of a trace.

    No log knows bundles of identical tasks. Taken for one are the jobs of a user that have the
    same partition and executable and that were submitted, each at most `gap` after the one before
    it. Jobs count if they ran for more than no time and, where their status is known, completed;
    jobs of unknown users or with unknown dates do not. Other unknown fields are one value. How
    much jobs of a bundle differ, its `variation` tells.

    Parameters
    ----------
    trace : JobTrace
        Jobs in any order.
    gap : float
        Longest time between two jobs of a bundle that follow each other [s].
    least : int
        How many jobs make a bundle.
    by : sequence of str
        What jobs of a bundle have in common, of ``"user"``, ``"group"``, ``"executable"``,
        ``"queue"`` and ``"partition"``.

    Returns
    -------
    list of TraceBundle
        By release; bundles released at once by what they have in common, in the order of `by`.

    Raises
    ------
    WorkloadError
        A parameter is out of its range.
    """
    if not 0 <= gap < np.inf:
        raise WorkloadError(f"gap is {gap!r}; give seconds from 0 on")
    least = whole("least", least)
    for name in by:
        one_of("by", name, GROUPS)
    if len(set(by)) < len(by) or not by:
        raise WorkloadError(f"by is {by!r}; give at least one field, each once")
    fits = (trace.run_time > 0) & (trace.submit >= 0)
    fits &= (trace.status == UNKNOWN) | (trace.status == COMPLETED)
    if "user" in by:
        fits &= trace.user != UNKNOWN
    found = [
        _bundle(trace, rows, by) for rows in _groups(trace, np.flatnonzero(fits), gap, by, least)
    ]
    return sorted(found, key=lambda each: each.release)


def _groups(
    trace: JobTrace, rows: NDArray[np.intp], gap: float, by: Sequence[str], least: int
) -> Iterator[NDArray[np.intp]]:
    """Return the jobs of each bundle, by their dates."""
    keys = [trace.columns[name][rows] for name in by]
    # The last key counts most; equal dates stay in the order of the log.
    order = np.lexsort((trace.submit[rows], *reversed(keys)))
    rows = rows[order]
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = np.diff(trace.submit[rows]) > gap
    for key in keys:
        begins[1:] |= np.diff(key[order]) != 0
    for part in np.split(rows, np.flatnonzero(begins)):
        if len(part) >= least:
            yield part


def _bundle(trace: JobTrace, rows: NDArray[np.intp], by: Sequence[str]) -> TraceBundle:
    """Return the bundle of some jobs."""
    submit = trace.submit[rows]
    shared = {
        name: int(trace.columns[name][rows[0]]) if name in by else UNKNOWN
        for name in ("user", "partition", "executable")
    }
    processors = trace.processors[rows]
    return TraceBundle(
        release=float(submit[-1]),
        jobs=trace.job[rows],
        run_times=trace.run_time[rows],
        # A job of no processor would compute nothing in all its time.
        processors=np.where(processors > 0, processors, 1),
        **shared,
    )
