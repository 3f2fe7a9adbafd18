"""Logs of batch jobs: made of a trace, cut, and scaled to a load."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.files import uncollected
from simplugin.inputs.locations import shown
from simplugin.results.tables import OpenPoint, OpenPoints
from simplugin.workloads.batch_jobs import AmdahlWork, Delay, Job, JobLog, JobWork, Phases
from simplugin.workloads.job_traces import CANCELLED, JobTrace

# Status of the parts of a job with checkpoints.
_PARTS = (2, 3, 4)


@uncollected()
def trace_jobs(trace: JobTrace, *, dependencies: bool = True) -> JobLog:
    """Return the batch jobs of a trace, each a delay of its run time.

    A node of the log is a processor of the trace. What the trace does not know is taken as follows,
    and counted in `JobLog.left_open`:

    - Allocated processors unknown or 0: those requested; a job without either is left out.
    - Submission or run time unknown: the job is left out, as is one that was cancelled before it
      ran.
    - Requested time unknown or 0: no walltime.
    - Parts of a job with checkpoints (status 2, 3 and 4): left out if the whole job has a line.
    - Repeated job numbers: ids ``7``, ``7.2``, ``7.3``.
    - User, group and queue unknown: empty. The queue is the name that the header gives it; the
      partition where the trace knows no queue.
    - Think time unknown: 0. A preceding job has to be in the log, submitted before; else the job
      has none.
    - Size of the machine: ``MaxProcs`` of the header, or ``MaxNodes``.

    Parameters
    ----------
    trace : JobTrace
        The trace.
    dependencies : bool
        False if preceding jobs and think times are ignored.

    Returns
    -------
    JobLog
        Jobs in the order of the trace.

    Raises
    ------
    WorkloadError
        No job is left.
    """
    points = OpenPoints()
    points.note(
        "jobs whose allocated processors are unknown",
        "their requested ones",
        int(np.sum((trace.processors <= 0) & (trace.requested_processors > 0))),
    )
    sizes = np.where(trace.processors > 0, trace.processors, trace.requested_processors)
    kept = np.ones(len(trace), bool)
    whole = trace.job[~np.isin(trace.status, _PARTS)]
    for what, out in (
        ("parts of jobs", np.isin(trace.status, _PARTS) & np.isin(trace.job, whole)),
        ("jobs cancelled before they ran", (trace.status == CANCELLED) & (trace.run_time <= 0)),
        ("jobs of unknown submission", trace.submit < 0),
        ("jobs of unknown run time", trace.run_time < 0),
        ("jobs of unknown size", sizes <= 0),
    ):
        points.note(what, "left out", int(np.sum(kept & out)))
        kept &= ~out
    if not kept.any():
        raise WorkloadError("no job of the trace has a submission, a run time and a size")
    limits = np.where(trace.requested_time > 0, trace.requested_time, math.nan)
    points.note("jobs of unknown requested time", "no walltime", int(np.isnan(limits[kept]).sum()))
    longer = int(np.sum(trace.run_time[kept] > limits[kept]))
    points.note("jobs that ran longer than requested", "killed at their walltime", longer)
    places = np.flatnonzero(kept)
    ids = _ids(trace.job[places].tolist(), points)
    queues = _queues(trace, places)
    after = _after(trace, places, ids, points) if dependencies else {}
    columns = (trace.submit, sizes, trace.run_time, limits, trace.user, trace.group)
    rows = zip(*(each[places].tolist() for each in columns), strict=True)
    jobs = []
    for at, (submit, size, run_time, limit, user, group) in enumerate(rows):
        preceding, think_time = after.get(at, ((), 0.0))
        jobs.append(
            Job(
                id=ids[at],
                submit=submit,
                size=size,
                work=Delay(run_time),
                walltime=limit if limit > 0 else None,
                user=_name(user),
                group=_name(group),
                queue=queues[at],
                after=preceding,
                think_time=think_time,
            )
        )
    return JobLog(tuple(jobs), _machine(trace), (*trace.left_open, *points.points()))


def _name(number: int) -> str:
    """Return the name of a user or group."""
    return str(number) if number >= 0 else ""


def _ids(numbers: Iterable[int], points: OpenPoints) -> list[str]:
    """Return an id for each job number."""
    seen: dict[int, int] = {}
    ids = []
    for number in numbers:
        seen[number] = count = seen.get(number, 0) + 1
        ids.append(f"{number}.{count}" if count > 1 else str(number))
    repeated = len(ids) - len(seen)
    points.note("repeated job numbers", "jobs of their own", repeated)
    return ids


def _queues(trace: JobTrace, places: NDArray[np.intp]) -> list[str]:
    """Return the queue of each job."""
    known = bool(np.any(trace.queue >= 0))
    numbers = trace.queue if known else trace.partition
    names = trace.names("Queue" if known else "Partition")
    return [names.get(number) or _name(number) for number in numbers[places].tolist()]


def _after(
    trace: JobTrace, places: NDArray[np.intp], ids: list[str], points: OpenPoints
) -> dict[int, tuple[tuple[str], float]]:
    """Return the preceding job and the think time of those that have one, by their positions."""
    numbers, submit = trace.job[places].tolist(), trace.submit[places].tolist()
    preceding, think_time = trace.preceding_job[places].tolist(), trace.think_time[places].tolist()
    if not any(number >= 0 for number in preceding):
        return {}
    first: dict[int, int] = {}
    for at, number in enumerate(numbers):
        first.setdefault(number, at)
    found = {}
    for at, number in enumerate(preceding):
        if number < 0:
            continue
        before = first.get(number)
        if before is None or (submit[before], before) >= (submit[at], at):
            points.note("preceding jobs that were not submitted before", "ignored")
        else:
            found[at] = (ids[before],), max(think_time[at], 0.0)
    return found


def _machine(trace: JobTrace) -> int | None:
    """Return the number of processors that the header gives."""
    for label in ("MaxProcs", "MaxNodes"):
        word = (trace.label(label) or "").split()
        if word and word[0].isascii() and word[0].isdigit() and int(word[0][:18]) > 0:
            return int(word[0][:18])
    return None


def cut_log(
    log: JobLog, start: float = 0.0, end: float = math.inf, n_jobs: int | None = None
) -> JobLog:
    """Return the log of the jobs submitted in a span of time.

    Parameters
    ----------
    log : JobLog
        The log.
    start, end : float
        The span [s]; its start becomes date 0, its end is not in it.
    n_jobs : int, optional
        Maximum number of jobs; the first ones submitted.

    Raises
    ------
    WorkloadError
        No job is left.
    """
    inside = [job for job in log.jobs if start <= job.submit < end]
    chosen = sorted(inside, key=lambda job: job.submit)[:n_jobs]
    if not chosen:
        raise WorkloadError(f"no job is submitted from {start:g} to {end:g} s; give another span")
    ids = {job.id for job in chosen}
    points = OpenPoints()
    jobs = []
    for job in inside:
        if job.id in ids:
            after = tuple(each for each in job.after if each in ids)
            missing = len(job.after) - len(after)
            points.note("preceding jobs outside the span", "ignored", missing)
            reserved = None if job.reserved is None else max(job.reserved - start, 0.0)
            jobs.append(replace(job, submit=job.submit - start, after=after, reserved=reserved))
    return JobLog(tuple(jobs), log.n_nodes, (*log.left_open, *points.points()))


def offered_load(log: JobLog, n_nodes: int) -> float:
    """Return the work that is submitted in a time by what a machine can do in it.

    The sum of size times run time, divided by the nodes times the time from the first submission
    to the last one.

    Raises
    ------
    WorkloadError
        A run time is not known beforehand, or all jobs are submitted at one date.
    """
    dates = [job.submit for job in log.jobs]
    span = max(dates, default=0.0) - min(dates, default=0.0)
    if span <= 0:
        raise WorkloadError("all jobs are submitted at one date; their load is not defined")
    areas = (job.size * run_time(job) for job in log.jobs)
    return math.fsum(areas) / (n_nodes * span)


def scaled_log(
    log: JobLog, *, load: float | None = None, n_nodes: int | None = None, time: float = 1.0
) -> JobLog:
    """Return a log whose submissions come faster or slower, and that is otherwise the same.

    Parameters
    ----------
    log : JobLog
        The log.
    load : float, optional
        The `offered_load` that it shall have, for instance 0.8.
    n_nodes : int, optional
        Nodes of the machine; those of the log by default.
    time : float
        Factor of all dates of submission, think times and reservations, if there is no load.

    Raises
    ------
    WorkloadError
        A parameter is out of range, or the load is not defined.
    """
    nodes = log.n_nodes if n_nodes is None else n_nodes
    if load is not None:
        if not 0 < load < math.inf or nodes is None or nodes < 1:
            raise WorkloadError(
                f"load is {shown(load)} of {shown(nodes)} nodes; give a number > 0, and n_nodes"
            )
        time = offered_load(log, nodes) / load
    if not 0 < time < math.inf:
        raise WorkloadError(f"the factor of times is {shown(time)}; give a number > 0")
    jobs = (
        replace(
            job,
            submit=job.submit * time,
            think_time=job.think_time * time,
            reserved=None if job.reserved is None else job.reserved * time,
        )
        for job in log.jobs
    )
    point = OpenPoint("times of submission", len(log.jobs), f"multiplied by {time:.6g}")
    return JobLog(tuple(jobs), log.n_nodes, (*log.left_open, point))


def perfectly_estimated(log: JobLog) -> JobLog:
    """Return a log whose jobs request exactly the time that they run.

    Raises
    ------
    WorkloadError
        A run time is not known beforehand.
    """
    jobs = (replace(job, walltime=run_time(job)) for job in log.jobs)
    point = OpenPoint("requested times", len(log.jobs), "run times")
    return JobLog(tuple(jobs), log.n_nodes, (*log.left_open, point))


def run_time(job: Job) -> float:
    """Return the time that a job runs on the nodes that it asks for [s].

    Raises
    ------
    WorkloadError
        It is not known before the job is simulated.
    """

    def lasts(work: JobWork) -> float:
        """Return the time of a work."""
        match work:
            case Delay():
                return work.time
            case AmdahlWork():
                return work.duration(job.size)
            case Phases():
                return work.times * math.fsum(map(lasts, work.parts))
        raise WorkloadError(f"the run time of job {job.id!r} is not known before it is simulated")

    return lasts(job.work_on(job.size))
