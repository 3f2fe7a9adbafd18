"""Schedules of batch jobs as plain data: when each job ran, and where."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.locations import shown
from simplugin.workloads.job_traces import CANCELLED, COMPLETED, JobTrace

Floats = NDArray[np.float64]
# The largest number of a node that is read.
_LARGEST_NODE = 10_000_000
_RANGE = re.compile(r"(\d{1,8})(?:-(\d{1,8}))?", re.ASCII)


@dataclass(frozen=True, eq=False)
class JobSchedule:
    """Jobs of a run, measured or simulated, in any order.

    Attributes
    ----------
    ids : tuple of str
        Ids of the jobs, unique.
    submit, start, end : float64, shape (n_jobs,)
        Dates [s]; NaN for the start and the end of a job that did not start.
    sizes : int64, shape (n_jobs,)
        Number of nodes.
    nodes : tuple of tuple of int
        The nodes of each job; empty where they are unknown or it did not start.
    states : tuple of str
        ``"completed"``, ``"killed"``, ``"failed"`` or ``"rejected"``.
    walltimes : float64, shape (n_jobs,)
        Requested times [s]; NaN where there is none.

    Raises
    ------
    WorkloadError
        Lengths differ, or an id is there twice.
    """

    ids: tuple[str, ...]
    submit: Floats
    start: Floats
    end: Floats
    sizes: NDArray[np.int64]
    nodes: tuple[tuple[int, ...], ...]
    states: tuple[str, ...]
    walltimes: Floats

    def __post_init__(self) -> None:
        """Check lengths and ids."""
        columns = (self.submit, self.start, self.end, self.sizes, self.nodes, self.states)
        if {len(each) for each in (*columns, self.walltimes)} != {len(self.ids)}:
            raise WorkloadError("columns of a schedule differ in length; give a value a job")
        if len(set(self.ids)) < len(self.ids):
            raise WorkloadError("a schedule has an id twice; give each job its own")

    def started(self) -> NDArray[np.bool_]:
        """Return which jobs started, shape (n_jobs,)."""
        found: NDArray[np.bool_] = ~np.isnan(self.start)
        return found

    def from_first_submission(self) -> JobSchedule:
        """Return the schedule with dates counted from the first submission."""
        return self.moved(-float(np.min(self.submit, initial=math.inf)))

    def moved(self, time: float) -> JobSchedule:
        """Return the schedule with a time added to all dates [s]."""
        submit, start, end = (each + time for each in (self.submit, self.start, self.end))
        return replace(self, submit=submit, start=start, end=end)

    def of(self, places: Sequence[int]) -> JobSchedule:
        """Return the schedule of the jobs at some positions."""
        at = np.asarray(places, np.int64)
        return JobSchedule(
            ids=tuple(self.ids[each] for each in places),
            submit=self.submit[at],
            start=self.start[at],
            end=self.end[at],
            sizes=self.sizes[at],
            nodes=tuple(self.nodes[each] for each in places),
            states=tuple(self.states[each] for each in places),
            walltimes=self.walltimes[at],
        )


def node_ranges(nodes: Iterable[int]) -> str:
    """Return numbers of nodes as text, in order, for instance ``0-3 7``."""
    parts: list[list[int]] = []
    for node in sorted(nodes):
        if parts and node <= parts[-1][1] + 1:
            parts[-1][1] = node
        else:
            parts.append([node, node])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def nodes_in(text: str) -> tuple[int, ...]:
    """Return the numbers of nodes that a text such as ``0-3 7`` or ``0-3,7`` stands for.

    Raises
    ------
    WorkloadError
        The text is of another form.
    """
    nodes: list[int] = []
    for word in text.replace(",", " ").split():
        found = _RANGE.fullmatch(word)
        first = int(found[1]) if found else 1
        last = int(found[2] or first) if found else 0
        if not first <= last <= _LARGEST_NODE:
            raise WorkloadError(f"{shown(word)} is no range of nodes; write for example 0-3 7")
        nodes.extend(range(first, last + 1))
        if len(nodes) > _LARGEST_NODE:
            raise WorkloadError(f"there are more than {_LARGEST_NODE:,} nodes; give fewer")
    return tuple(nodes)


# Killed jobs are cancelled in the format, which has no other word for them.
_STATUS = {"completed": COMPLETED, "killed": CANCELLED, "failed": 0, "rejected": CANCELLED}


def schedule_trace(schedule: JobSchedule) -> JobTrace:
    """Return a schedule as a trace, for `simplugin.formats.write_swf`.

    Ids that are no whole numbers, or not all different as such, are replaced by 1, 2, ...; the
    header says so. Killed and rejected jobs have status 5 (cancelled), rejected ones neither wait
    nor run time.
    """
    numbers = [int(each) if each.isascii() and each[:15].isdigit() else -1 for each in schedule.ids]
    plain = [str(number) for number in numbers] == list(schedule.ids)
    ran = schedule.started()
    columns = {
        "job": numbers if plain else range(1, len(numbers) + 1),
        "submit": schedule.submit,
        "wait": np.where(ran, schedule.start - schedule.submit, -1),
        "run_time": np.where(ran, schedule.end - schedule.start, -1),
        "processors": np.where(ran, schedule.sizes, -1),
        "requested_processors": schedule.sizes,
        "requested_time": np.nan_to_num(schedule.walltimes, nan=-1),
        "status": [_STATUS[state] for state in schedule.states],
    }
    note = () if plain else (("Note", "jobs are numbered in the order of the schedule"),)
    return JobTrace(columns, (("Version", "2.2"), *note))
