"""Schedules of batch jobs from and to tables of Batsim, ElastiSim, OAR and evalys."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator

import numpy as np

from simplugin.core.errors import WorkloadError, WorkloadFileError
from simplugin.formats.sacct import read_sacct_schedule
from simplugin.inputs.files import FilePath, write
from simplugin.inputs.text_tables import TableLine, TextTable, read_table
from simplugin.workloads.job_schedules import JobSchedule, node_ranges, nodes_in

# Names of columns by what they hold.
_ID = ("job_id", "jobID", "batsim_id", "id", "ID")
_SUBMIT = ("submission_time", "submit", "Submit Time")
_START = ("starting_time", "start", "Start Time")
_END = ("finish_time", "stop", "end", "End Time")
_NODES = ("allocated_resources", "allocated_processors", "nodes")
_SIZE = ("requested_number_of_resources", "requested_number_of_processors", "size", "Nodes")
_LIMIT = ("requested_time", "walltime")
_STATE = ("final_state", "Status", "state", "success")
_STATES = {
    **dict.fromkeys(("completed", "completed_successfully", "1"), "completed"),
    **dict.fromkeys(("killed", "completed_walltime_reached", "completed_killed"), "killed"),
    **dict.fromkeys(("failed", "completed_failed", "0"), "failed"),
    "rejected": "rejected",
}
# How Batsim calls them.
_FINAL = {
    "completed": "COMPLETED_SUCCESSFULLY",
    "killed": "COMPLETED_WALLTIME_REACHED",
    "failed": "COMPLETED_FAILED",
    "rejected": "REJECTED",
}


def read_job_schedule(path: FilePath) -> JobSchedule:
    """Read a schedule that a simulator or a batch system wrote.

    These tables are read, with fields apart by commas, ``|``, semicolons or tabs, in any order of
    columns: Batsim's ``jobs.csv`` of any version, evalys' jobs, ElastiSim's job statistics (its
    ``Nodes`` are a number), Slurm's as `read_sacct_schedule` reads them, and others with the
    columns ``id``, ``submit``, ``start``, ``end`` or ``stop``, ``nodes`` (a text such as ``0-3 7``)
    or ``size``, and optionally ``walltime`` and ``state``. Dates are as in the file. A job without
    a start is rejected; one whose state is unknown is completed.

    Parameters
    ----------
    path : path
        The table, perhaps compressed.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the line.
    """
    table = read_table(path)
    if table.column("Submit") and table.column("JobID"):
        return read_sacct_schedule(path)
    rows = list(_rows(table))
    if not rows:
        raise WorkloadFileError("there is no job", file=path, remedy="give a line a job")
    ids, submit, start, end, sizes, nodes, states, limits = zip(*rows, strict=True)
    return JobSchedule(
        ids=ids,
        submit=np.array(submit, float),
        start=np.array(start, float),
        end=np.array(end, float),
        sizes=np.array(sizes, np.int64),
        nodes=nodes,
        states=states,
        walltimes=np.array(limits, float),
    )


_Row = tuple[str, float, float, float, int, tuple[int, ...], str, float]


def _rows(table: TextTable) -> Iterator[_Row]:
    """Yield the values of each job, in the order of `JobSchedule`."""
    name, submit = table.required(*_ID), table.required(*_SUBMIT)
    start, end = table.required(*_START), table.required(*_END)
    placed, size = table.column(*_NODES), table.column(*_SIZE)
    if placed is None:
        size = table.required(*_SIZE, *_NODES)
    limit, state = table.column(*_LIMIT), table.column(*_STATE)
    seen: set[str] = set()
    for line in table.lines:
        if (job := line.text(name)) in seen:
            raise line.error(name, "give each job a line and an id of its own")
        seen.add(job)
        try:
            nodes = nodes_in(line.values[placed]) if placed else ()
        except WorkloadError as error:
            raise line.place.error(f"{placed}: {error}", "write for example 0-3 7") from None
        began = _known(line, start)
        ended = math.nan if math.isnan(began) else line.number(end)
        if ended < began:
            raise line.error(end, f"give a date from {began:g} on, when the job starts")
        became = _state(line, state)
        if math.isnan(began):
            nodes, became = (), "rejected"
        count = line.count(size) if size else len(nodes)
        asked = _known(line, limit) if limit else math.nan
        yield job, line.number(submit), began, ended, count, nodes, became, asked


def _known(line: TableLine, column: str) -> float:
    """Return a number; NaN if it is missing or -1."""
    try:
        missing = line.values[column].lower() in ("", "nan") or float(line.values[column]) == -1
    except ValueError:
        missing = False
    return math.nan if missing else line.number(column)


def _state(line: TableLine, column: str | None) -> str:
    """Return the state of a job."""
    if column is None or not (text := line.values[column]):
        return "completed"
    if (found := _STATES.get(text.lower())) is None:
        raise line.error(column, f"give one of {', '.join(_FINAL)}, or one of Batsim's")
    return found


def write_batsim_jobs(schedule: JobSchedule, path: FilePath, *, workload: str = "w0") -> None:
    """Write a schedule as Batsim's ``jobs.csv``; `read_job_schedule` gives an equal one back.

    Parameters
    ----------
    schedule : JobSchedule
        The schedule.
    path : path
        Where; an existing file is replaced. It is compressed if its name ends so, e.g. in ``.gz``.
    workload : str
        Name of the workload in the table.

    Raises
    ------
    WorkloadFileError
        The file cannot be written.
    """
    names = ("job_id", "workload_name", "profile", *_COMMON, "final_state")
    rows = []
    for at, (job, common) in enumerate(zip(schedule.ids, _common(schedule), strict=True)):
        rows.append([job, workload, "", *common, _FINAL[schedule.states[at]]])
    _write(names, rows, path)


def write_evalys(schedule: JobSchedule, path: FilePath) -> None:
    """Write a schedule as the table of jobs that evalys reads.

    Jobs that did not start are left out.

    Parameters
    ----------
    schedule, path
        As for `write_batsim_jobs`.
    """
    started = schedule.started().tolist()
    rows = [
        [job, *common]
        for job, common, ran in zip(schedule.ids, _common(schedule), started, strict=True)
        if ran
    ]
    _write(("jobID", *_COMMON), rows, path)


_COMMON = (
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "consumed_energy",
    "allocated_resources",
)


def _common(schedule: JobSchedule) -> Iterator[list[str]]:
    """Yield the fields of each job that both tables have; those of a job that did not start empty.

    The stretch of a job without run time is empty as well.
    """
    submit, start, end = schedule.submit, schedule.start, schedule.end
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.where(end > start, (end - submit) / (end - start), math.nan)
    dates = zip(start, end - start, end, start - submit, end - submit, stretch, strict=True)
    for at, times in enumerate(dates):
        yield [
            _text(submit[at]),
            str(schedule.sizes[at]),
            _text(schedule.walltimes[at]) or "-1",
            str(int(schedule.states[at] == "completed")),
            *map(_text, times),
            "-1",
            node_ranges(schedule.nodes[at]),
        ]


def _text(value: float) -> str:
    """Return the shortest text of a number that reads back as the same; empty for NaN."""
    return "" if math.isnan(value) else repr(float(value)).removesuffix(".0")


def _write(names: tuple[str, ...], rows: list[list[str]], path: FilePath) -> None:
    """Write a table."""
    content = io.StringIO()
    csv.writer(content, lineterminator="\n").writerows([names, *rows])
    write(content.getvalue(), path, WorkloadFileError)
