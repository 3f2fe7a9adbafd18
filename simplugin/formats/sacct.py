"""Batch jobs and schedules from the accounting tables of Slurm."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from simplugin.core.errors import WorkloadFileError
from simplugin.inputs.files import FilePath, uncollected
from simplugin.inputs.text_tables import TableLine, TextTable, read_table
from simplugin.results.tables import OpenPoint, OpenPoints
from simplugin.workloads.batch_jobs import Delay, Job, JobLog
from simplugin.workloads.job_logs import run_time
from simplugin.workloads.job_schedules import JobSchedule
from simplugin.workloads.parameter_ranges import one_of

Size = Literal["nodes", "cores"]
_SIZES = {
    "nodes": ("NNodes", "AllocNodes", "ReqNodes"),
    "cores": ("NCPUS", "AllocCPUS", "ReqCPUS"),
}
_UNKNOWN = {"", "unknown", "none", "n/a", "invalid"}
_UNLIMITED = _UNKNOWN | {"unlimited", "partition_limit"}
# Jobs in these states have no end, or one of a part only.
_UNFINISHED = {"PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING", "CONFIGURING"}
_KILLED = {"TIMEOUT", "CANCELLED", "PREEMPTED", "DEADLINE", "REVOKED"}
_TIME = re.compile(
    r"(?:(?P<days>\d{1,9})-)?(?P<first>\d{1,9})(?::(?P<second>\d{1,9}))?"
    r"(?::(?P<third>\d{1,9}))?(?:\.\d{1,9})?",
    re.ASCII,
)
_EPOCH = re.compile(r"\d{1,12}(?:\.\d{1,9})?", re.ASCII)
_TIMES = "write for example 1-02:00:00, 02:00:00 or 120 (minutes)"
_DATES = "write for example 2023-12-27T14:53:28, or seconds since 1970"


# A job that ran, its start and its state.
_Run = tuple[Job, float, str]


@uncollected()
def read_sacct(path: FilePath, *, size: Size = "nodes") -> JobLog:
    """Read the jobs of a table that Slurm's ``sacct --parsable2`` prints [1]_.

    Columns have the names that sacct gives them: ``JobID``; ``Submit``; ``ElapsedRaw``,
    ``Elapsed``, or ``Start`` and ``End``; ``NNodes`` (``AllocNodes``, ``ReqNodes``) or ``NCPUS``
    (``AllocCPUS``, ``ReqCPUS``); optional are ``TimelimitRaw`` or ``Timelimit``, ``State``,
    ``User``, ``Account`` (or ``Group``) and ``Partition`` (or ``QOS``). Dates are seconds since
    1970 or ISO, in UTC if they name no time zone; they become seconds from the first submission in
    the table.

    A job is a delay of the time that it ran. Job steps, jobs that have not ended, and those that
    never started or have no size are left out; tasks of arrays are jobs; of a job that was started
    again, each run is one. `JobLog.left_open` counts all this.

    Parameters
    ----------
    path : path
        The table, fields apart by ``|``, commas, semicolons or tabs; perhaps compressed.
    size : {"nodes", "cores"}
        What a node of the log is: one of Slurm's, or a core.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the line.
    WorkloadError
        `size` is unknown.

    References
    ----------
    .. [1] Slurm. sacct. https://slurm.schedmd.com/sacct.html
    """
    runs, points = _runs(path, size)
    return JobLog(tuple(job for job, _, _ in runs), left_open=points)


def read_sacct_schedule(path: FilePath, *, size: Size = "nodes") -> JobSchedule:
    """Read when the jobs of a table of Slurm ran; the same jobs and dates as `read_sacct`.

    The column ``Start`` is needed. Cancelled and preempted jobs, and those that reached their
    limit, are killed; completed are those in state ``COMPLETED``, or without a state.

    Parameters
    ----------
    path, size
        As for `read_sacct`.
    """
    runs, _ = _runs(path, size)
    jobs, start, states = zip(*runs, strict=True)
    if missing := [job for job, date, _ in runs if math.isnan(date)]:
        raise WorkloadFileError(
            f"job {missing[0].id!r} has no start", file=path, remedy="add a column Start"
        )
    limits = [math.nan if job.walltime is None else job.walltime for job in jobs]
    return JobSchedule(
        ids=tuple(job.id for job in jobs),
        submit=np.array([job.submit for job in jobs]),
        start=np.array(start),
        end=np.array([date + run_time(job) for job, date, _ in runs]),
        sizes=np.array([job.size for job in jobs]),
        nodes=((),) * len(jobs),
        states=tuple(map(_outcome, states)),
        walltimes=np.array(limits),
    )


def _outcome(state: str) -> str:
    """Return the state of a schedule for one of Slurm."""
    if state in _KILLED:
        return "killed"
    return "completed" if state in ("COMPLETED", "") else "failed"


def _runs(path: FilePath, size: Size) -> tuple[list[_Run], tuple[OpenPoint, ...]]:
    """Return the jobs of a table that ran, with dates from the first submission."""
    one_of("size", size, _SIZES)
    points = OpenPoints()
    found = list(_ran(read_table(path), _SIZES[size], points))
    if not found:
        raise WorkloadFileError(
            "there is no job that ran", file=path, remedy="give a table of sacct --parsable2"
        )
    first = min(job.submit for job, _, _ in found)
    seen: Counter[str] = Counter()
    runs = []
    for job, start, state in found:
        seen[job.id] += 1
        points.note("runs of jobs that were started again", "jobs", seen[job.id] > 1)
        name = f"{job.id}#{seen[job.id]}" if seen[job.id] > 1 else job.id
        runs.append((replace(job, id=name, submit=job.submit - first), start - first, state))
    return runs, points.points()


def _ran(table: TextTable, sizes: tuple[str, ...], points: OpenPoints) -> Iterator[_Run]:
    """Yield the jobs that ran, with dates since 1970."""
    column = table.column
    ident, submit = table.required("JobID", "JobIDRaw"), table.required("Submit")
    nodes = [name for name in sizes if name in table.columns] or [table.required(*sizes)]
    state, start = column("State"), column("Start")
    if (elapsed := column("ElapsedRaw", "Elapsed")) is None:
        start = table.required("Start")
        table.required("End")
    limit = column("TimelimitRaw", "Timelimit")
    further = column("User"), column("Account", "Group"), column("Partition", "QOS")
    for line in table.lines:
        name = line.text(ident)
        words = line.values[state].upper().split() if state else []
        became = words[0].rstrip("+") if words else ""
        count = next((number for each in nodes if (number := _count(line, each))), 0)
        began = _date(line, start) if start else math.nan
        submitted = _date(line, submit)
        time = math.nan
        if became not in _UNFINISHED and "." not in name:
            time = _time(line, elapsed, math.nan) if elapsed else _date(line, "End") - began
            if time < 0:
                raise line.error("End", "give a date from the start on")
        for what, out in (
            ("job steps", "." in name),
            ("jobs that have not ended", became in _UNFINISHED),
            ("jobs of unknown submission", math.isnan(submitted)),
            ("jobs that never started", math.isnan(time) or (start and math.isnan(began))),
            ("jobs cancelled before they ran", became == "CANCELLED" and time == 0),
            ("jobs of unknown size", count == 0),
        ):
            if out:
                points.note(what, "left out")
                break
        else:
            allowed = _time(line, limit, math.inf) if limit else math.inf
            points.note("jobs without a time limit", "no walltime", allowed == math.inf)
            points.note("jobs that were killed", "done in the time they had", became in _KILLED)
            user, group, queue = (line.values[each] if each else "" for each in further)
            job = Job(
                id=name,
                submit=submitted,
                size=count,
                work=Delay(time),
                walltime=None if allowed == math.inf else allowed,
                user=user,
                group=group,
                queue=queue,
            )
            yield job, began, became


def _count(line: TableLine, column: str) -> int:
    """Return a number of nodes or cores; 0 if it is unknown."""
    return 0 if line.values[column].lower() in _UNKNOWN else line.count(column)


def _date(line: TableLine, column: str) -> float:
    """Return a date in seconds since 1970; NaN if it is unknown."""
    text = line.values[column]
    if text.lower() in _UNKNOWN:
        return math.nan
    if _EPOCH.fullmatch(text):
        return float(text)
    try:
        date = datetime.fromisoformat(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise line.error(column, _DATES) from None


def _time(line: TableLine, column: str, unknown: float) -> float:
    """Return a time [s], or what stands for one that is unknown."""
    text = line.values[column]
    if text.lower() in _UNLIMITED:
        return unknown
    if column == "ElapsedRaw":
        return line.number(column)
    found = _TIME.fullmatch(text)
    if found is None:
        raise line.error(column, _TIMES)
    first, second, third = (int(found[name] or 0) for name in ("first", "second", "third"))
    if found["days"] or found["third"]:
        return 86400.0 * int(found["days"] or 0) + 3600 * first + 60 * second + third
    return 60.0 * first + second
