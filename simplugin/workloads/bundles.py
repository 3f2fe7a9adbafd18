"""Bundles: many identical independent tasks that arrive together, also those of job traces.

The bundles of `lcg_bundles` were taken on 21 November 2026, by
``python tools/lcg_bundles.py LCG-2005.swf.gz``, from the trace that Hui Li provided to the Parallel
Workloads Archive [1]_: 188,041 jobs of one processor each, from 20 November 2005 on. A bundle is at
least 100 jobs that a user submitted to a site, each at most 120 s after the one before it; see
`trace_bundles`. The trace knows neither executables nor whether jobs completed.

References
----------
.. [1] D. Feitelson, D. Tsafrir, D. Krakov (2014). Experience with using the Parallel Workloads
   Archive. Journal of Parallel and Distributed Computing 74(10). The trace:
   https://www.cs.huji.ac.il/labs/parallel/workload/l_lcg/
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp, log1p
from simplugin.core.errors import WorkloadError
from simplugin.core.units import parse_size, parse_time, parse_work
from simplugin.results.tables import OpenPoint, OpenPoints
from simplugin.workloads.job_traces import COMPLETED, UNKNOWN, Floats, Integers, JobTrace
from simplugin.workloads.parameter_ranges import number, numbers, one_of, whole

# Computation and communication size of a task of each class, in units of `MEGA`, as in section 5.1
# of Zheng et al. (2011).
CLASSES = {
    "computation": (1000.0, 1.0),
    "neutral": (500.0, 500.0),
    "communication": (1.0, 1000.0),
}
MEGA = 1e6


@dataclass(frozen=True, eq=False)
class Bundle:
    """Identical independent tasks that arrive together.

    Attributes
    ----------
    name : str
        Of the bundle.
    count : int
        Number of tasks, m.
    flop : float
        Computation size of a task, S_cp [flop].
    byte : float
        Communication size of a task, S_cm [byte].
    release : float
        When the bundle is submitted [s].
    work : float64, shape (count,), optional
        Computation of the tasks, where they are identical only to the market [flop].

    Raises
    ------
    WorkloadError
        A field is out of its range; the message names the bundle.
    """

    name: str
    count: int
    flop: float
    byte: float
    release: float = 0.0
    work: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        what = f"of bundle {self.name!r}"
        object.__setattr__(self, "count", whole(f"count {what}", self.count))
        for field, read in (("flop", parse_work), ("byte", parse_size), ("release", parse_time)):
            value = float(number(f"{field} {what}", getattr(self, field), read))
            if not (np.isfinite(value) and value >= 0):
                raise WorkloadError(f"{field} {what} is {value!r}; give a finite number from 0 on")
            object.__setattr__(self, field, value)
        if self.flop == 0 and self.byte == 0:
            raise WorkloadError(f"tasks {what} neither compute nor move data; give flop or byte")
        if self.work is not None:
            work = numbers(f"work {what}", self.work, parse_work)
            if work.shape != (self.count,) or not np.all(np.isfinite(work) & (work >= 0)):
                raise WorkloadError(
                    f"work {what} is not {self.count} finite numbers from 0 on; give one a task"
                )
            work.flags.writeable = False
            object.__setattr__(self, "work", work)

    @classmethod
    def of_class(cls, kind: str, count: int = 1000, name: str = "", release: float = 0.0) -> Bundle:
        """Return a bundle of one of the three classes of tasks of Zheng et al. (2011).

        Parameters
        ----------
        kind : {"computation", "neutral", "communication"}
            The kind of tasks: 1000 : 1, 500 : 500 and 1 : 1000 Mflop : MB.
        count : int
            Number of tasks.
        name : str
            That of the class without.
        release : float
            When the bundle is submitted [s].
        """
        one_of("kind", kind, CLASSES)
        flop, byte = CLASSES[kind]
        return cls(name or kind, count, flop * MEGA, byte * MEGA, release)


# Properties that all jobs of a bundle share, as far as a log has them.
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
        Run time of each [s].
    processors : int64, shape (count,)
        Number of processors of each: those allocated; if unknown, those requested; otherwise 1.
    requested, assumed : int
        Number of jobs with the processors that they requested, and with 1 processor assumed.
    """

    release: float
    user: int
    partition: int
    executable: int
    jobs: Integers
    run_times: Floats
    processors: Integers
    requested: int = 0
    assumed: int = 0

    @property
    def count(self) -> int:
        """Number of jobs."""
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
            Communication size of a task [byte]; an assumption, as logs do not have it.
        real_sizes : bool
            True if tasks have the sizes of their jobs; otherwise all have the mean size, which the
            market assumes in any case.
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
        if name is None:
            name = f"user {self.user}, partition {self.partition}, {self.release:.15g} s"
        sizes = work if real_sizes else None
        return Bundle(name, self.count, float(work.mean()), byte, self.release, sizes)


_BY = ("user", "partition", "executable")


def trace_bundles(
    trace: JobTrace,
    gap: float = 120.0,
    least: int = 100,
    by: Sequence[str] = _BY,
) -> list[TraceBundle]:
    """Return the bundles of a trace.

    Logs do not record bundles of identical tasks. A bundle is a set of jobs of a user with the same
    partition and executable, each submitted at most `gap` after the previous one. Jobs count if
    their run time is above 0 and, where their status is known, completed; jobs of unknown users or
    with unknown dates do not. Other unknown fields are one value. `variation` says how much the
    jobs of a bundle differ.

    Parameters
    ----------
    trace : JobTrace
        Jobs in any order.
    gap : float
        Longest time between two jobs of a bundle that follow each other [s].
    least : int
        Least number of jobs of a bundle.
    by : sequence of str
        Columns that are equal for the jobs of a bundle, of ``"user"``, ``"group"``,
        ``"executable"``, ``"queue"`` and ``"partition"``.

    Returns
    -------
    list of TraceBundle
        By release; bundles with the same release by their shared columns, in the order of `by`.

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
    rows = np.flatnonzero(~np.any(list(_unfit(trace, by).values()), axis=0))
    keys = [trace.columns[name][rows] for name in by]
    # The last key counts most; equal dates stay in the order of the log.
    order = np.lexsort((trace.submit[rows], *reversed(keys)))
    rows = rows[order]
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = np.diff(trace.submit[rows]) > gap
    for key in keys:
        begins[1:] |= np.diff(key[order]) != 0
    groups = np.split(rows, np.flatnonzero(begins))
    found = [_bundle(trace, group, by) for group in groups if len(group) >= least]
    return sorted(found, key=lambda each: each.release)


def _unfit(trace: JobTrace, by: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return which jobs count for no bundle, by the reason."""
    unknown = trace.status == UNKNOWN
    reasons = {
        "jobs that ran for no time": ~(trace.run_time > 0),
        "jobs without a date": trace.submit < 0,
        "jobs that did not complete": ~unknown & (trace.status != COMPLETED),
    }
    return reasons | ({"jobs of no known user": trace.user == UNKNOWN} if "user" in by else {})


def open_points(
    trace: JobTrace, found: Sequence[TraceBundle], by: Sequence[str] = _BY
) -> tuple[OpenPoint, ...]:
    """Return the unknown values of a trace, and the jobs outside its bundles.

    Parameters
    ----------
    trace : JobTrace
        The trace.
    found : sequence of TraceBundle
        Its bundles.
    by : sequence of str
        As for `trace_bundles`.
    """
    points = OpenPoints()
    rest = np.ones(len(trace), dtype=bool)
    for reason, unfit in _unfit(trace, by).items():
        points.note(reason, "left out", int(np.sum(rest & unfit)))
        rest &= ~unfit
    alone = int(rest.sum()) - sum(each.count for each in found)
    points.note("jobs of bundles that are too small or not taken", "left out", alone)
    requested, assumed = (
        sum(getattr(each, name) for each in found) for name in ("requested", "assumed")
    )
    points.note("jobs of unknown processors", "as many as they requested", requested)
    points.note("jobs of unknown and unrequested processors", "1 processor", assumed)
    return (*trace.left_open, *points.points())


def _bundle(trace: JobTrace, rows: NDArray[np.intp], by: Sequence[str]) -> TraceBundle:
    """Return the bundle of some jobs."""
    submit = trace.submit[rows]
    shared = {
        name: int(trace.columns[name][rows[0]]) if name in by else UNKNOWN
        for name in ("user", "partition", "executable")
    }
    had, wanted = trace.processors[rows], trace.requested_processors[rows]
    # A job of no processor would compute nothing in all its time.
    processors = np.where(had > 0, had, np.maximum(wanted, 1))
    return TraceBundle(
        release=float(submit[-1]),
        jobs=trace.job[rows],
        run_times=trace.run_time[rows],
        processors=processors,
        requested=int(np.sum((had <= 0) & (wanted > 0))),
        assumed=int(np.sum((had <= 0) & (wanted <= 0))),
        **shared,
    )


@dataclass(frozen=True, slots=True)
class LcgBundle:
    """The facts of a bundle.

    Attributes
    ----------
    release : float
        When its last job was submitted, since 20 November 2005 00:00:05 GMT [s].
    count : int
        Number of jobs.
    user, partition : int
        Numbers of the user and of the site.
    mean : float
        Mean run time, to the millisecond [s].
    variation : float
        Coefficient of variation of run times, to the sixth digit.
    """

    release: float
    count: int
    user: int
    partition: int
    mean: float
    variation: float

    def bundle(
        self, speed: float, byte: float, generator: np.random.Generator | None = None
    ) -> Bundle:
        """Return the bundle of tasks for a market.

        Parameters
        ----------
        speed : float
            Of the processors that the trace is of: a task computes its run time times this
            [flop/s]. The trace does not say it.
        byte : float
            Communication size of a task [byte]; an assumption, as the trace does not have it.
        generator : numpy.random.Generator, optional
            Draws the sizes of tasks, which then differ as those of the jobs, see `drawn_sizes`. By
            default all have the mean size, which the market assumes in any case.

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
        flop = self.mean * speed
        work = None
        if generator is not None:
            work = flop * drawn_sizes(self.count, self.variation, generator)
        name = f"user {self.user}, partition {self.partition}, {self.release:.0f} s"
        return Bundle(name, self.count, flop, byte, self.release, work)


def drawn_sizes(count: int, variation: float, generator: np.random.Generator) -> Floats:
    """Return sizes of tasks with a mean of exactly 1, from a lognormal distribution.

    That the mean is that of the draw, not of the distribution, keeps the amount of work the same
    whatever is drawn; the coefficient of variation of a draw differs from that of the
    distribution.

    Parameters
    ----------
    count : int
        Number of draws.
    variation : float
        Coefficient of variation of the distribution.
    generator : numpy.random.Generator
        The bundles to draw from.

    Returns
    -------
    float64, shape (count,)
        Sizes over their mean.
    """
    if not 0 <= variation < np.inf:
        raise WorkloadError(f"variation is {variation!r}; give a number from 0 on")
    sizes: Floats = exp(np.sqrt(log1p(variation**2)) * generator.standard_normal(count))
    sizes /= sizes.mean()
    return sizes


@cache
def lcg_bundles() -> tuple[LcgBundle, ...]:
    """Return the bundles of the LCG grid, by release."""
    table = resources.files("simplugin.workloads") / "lcg_bundles.csv"
    _, *rows = csv.reader(table.read_text(encoding="utf-8").splitlines())
    return tuple(
        LcgBundle(float(row[0]), *map(int, row[1:4]), *map(float, row[4:])) for row in rows
    )
