"""Measures of an execution of batch jobs beside lower bounds, by user and by size of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.jobs.charts import (
    by_class,
    executed_schedule,
    job_chart,
    job_curves,
    stepwise_schedule,
)
from simplugin.jobs.execution import JobExecution
from simplugin.jobs.metrics import BOUND, measures, node_seconds
from simplugin.optimum import models
from simplugin.optimum.batch_bounds import last_end_bound, sum_of_ends_bound
from simplugin.results.charts import ScheduleChart
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Best, Metric
from simplugin.results.tables import Cell, ResultTable, left_open
from simplugin.workloads.batch_jobs import AmdahlWork, Job
from simplugin.workloads.job_schedules import JobSchedule

Floats = NDArray[np.float64]

# Jobs for which the optimum is computed at most; twelve take minutes.
MOST_OPTIMAL = 10
_MOST_USERS = 20
_UNITS = {"utilisation": "%"} | dict.fromkeys(
    ("makespan", "mean_wait", "max_wait", "mean_turnaround"), "s"
)
_COUNTS = ("jobs", "completed", "killed", "rejected", "failed")


@dataclass(frozen=True)
class JobBound:
    """The best possible value of a measure.

    Attributes
    ----------
    value : float
        The value [s].
    proof : str
        Its proof, in a few words.
    is_optimum : bool
        True if a schedule reaches it.
    """

    value: float
    proof: str
    is_optimum: bool = False


@dataclass(frozen=True, eq=False)
class JobAssessment:
    """Comparison of an execution of batch jobs with lower bounds.

    Bounds are for the jobs that started, each with the run time that it had; of jobs that choose or
    change their number of nodes, with the least work and the least run time that they can have.

    Attributes
    ----------
    execution : JobExecution
        The execution.
    optimum : bool
        True to compute the least makespan, and the least mean turnaround, of up to ten rigid jobs.
    measured : JobSchedule, optional
        A schedule of the same jobs to show beside, such as that of the real machine.

    Raises
    ------
    WorkloadError
        The optimum is wanted of more jobs, or of others.
    """

    execution: JobExecution
    optimum: bool = False
    measured: JobSchedule | None = None

    def __post_init__(self) -> None:
        """Raise WorkloadError if the optimum cannot be computed."""
        started = [job for job, ran in zip(self.execution.log.jobs, self.ran, strict=True) if ran]
        others = any(job.kind != "rigid" or job.after for job in started)
        if self.optimum and (len(started) > MOST_OPTIMAL or others):
            raise WorkloadError(
                f"the optimum is wanted of {len(started)} jobs; it is computed for up to"
                f" {MOST_OPTIMAL} rigid jobs that come after no other"
            )

    @cached_property
    def ran(self) -> NDArray[np.bool_]:
        """Which jobs started, shape (n_jobs,)."""
        found: NDArray[np.bool_] = np.isfinite(self.execution.start)
        return found

    @cached_property
    def measures(self) -> dict[str, float]:
        """The measures, see `simplugin.jobs.metrics.measures`."""
        return measures(self.execution)

    @cached_property
    def bounds(self) -> Mapping[str, JobBound]:
        """Lower bounds of the makespan and, where jobs come after no others, mean turnaround."""
        if not self.ran.any():
            return {}
        execution, places = self.execution, np.flatnonzero(self.ran).tolist()
        jobs = [execution.log.jobs[place] for place in places]
        submit = execution.submit[self.ran]
        time = (execution.end - execution.start)[self.ran]
        first = float(submit.min())
        chained = any(job.after for job in jobs)
        if self.optimum:
            given = submit, [job.size for job in jobs], time, execution.n_nodes
            ends = models.batch_schedule(*given, "sum of ends").solve() - float(submit.sum())
            values = {
                "makespan": models.batch_schedule(*given).solve() - first,
                "mean_turnaround": ends / len(jobs),
            }
            return {
                name: JobBound(value, "exact, HiGHS", is_optimum=True)
                for name, value in values.items()
            }
        pairs = zip(jobs, time.tolist(), strict=True)
        least = [_least_work(job, each, execution.n_nodes) for job, each in pairs]
        size = np.array([each for each, _ in least])
        work_time = np.array([each for _, each in least])
        # A job whose number of nodes varies counts as jobs of one node with as much work together.
        is_rigid = np.array([job.kind == "rigid" for job in jobs])
        split = np.where(is_rigid, 1, size)
        earliest = _earliest(jobs, work_time) if chained else submit
        last = last_end_bound(
            np.repeat(earliest, split),
            np.repeat(size // split, split),
            np.repeat(work_time, split),
            execution.n_nodes,
        )
        words = {
            "longest": "submission and run time of one job",
            "area": "work of all jobs over all nodes",
            "wide": "work, wide jobs occupy all nodes",
        }
        found = {"makespan": JobBound(last.value - first, words[last.kind])}
        if not chained:
            total = sum_of_ends_bound(submit, size, work_time, execution.n_nodes)
            mean = (total - float(submit.sum())) / len(jobs)
            found["mean_turnaround"] = JobBound(mean, "mean busy dates")
        return found

    @property
    def best(self) -> Best | None:
        """The best possible makespan; None if no job started."""
        bound = self.bounds.get("makespan")
        if bound is None:
            return None
        return Best("makespan", bound.value, "optimum" if bound.is_optimum else "bound", "min")

    def metrics(self) -> tuple[Metric, ...]:
        """Return the measures, and the gap of the mean turnaround above its bound."""
        found = [
            Metric(name, int(value) if name in _COUNTS else value, _UNITS.get(name, ""))
            for name, value in self.measures.items()
        ]
        gap = next((gap for name, _, _, gap, _ in self._gaps() if name == "mean turnaround"), None)
        return (*found, *([] if gap is None else [Metric("turnaround_gap", gap, "%")]))

    def listings(self) -> tuple[ResultTable, ...]:
        """Return tables of bounds, of users and sizes, and of what the log leaves open."""
        jobs = self.execution.log.jobs
        columns = (
            ("measure", ""),
            ("value", "s"),
            ("best possible", "s"),
            ("gap", "%"),
            ("proof", ""),
        )
        tables = [ResultTable("Bounds", columns, self._gaps())] if self.bounds else []
        if self.measured is not None:
            tables.append(self._beside(self.measured))
        users: dict[str, list[int]] = {}
        for place, job in enumerate(jobs):
            users.setdefault(job.user, []).append(place)
        if len(users) > 1:
            ordered = dict(sorted(users.items(), key=lambda each: -len(each[1])))
            tables.append(self._groups("Users", "user", ordered).cut(_MOST_USERS))
        classes = by_class([job.size for job in jobs])
        tables.append(self._groups("Sizes", "size", classes))
        return (*tables, *left_open([("log", self.execution.log.left_open)]))

    def _beside(self, measured: JobSchedule) -> ResultTable:
        """Return the measures of the measured schedule and of the simulated one."""
        known = measures(measured, self.execution.n_nodes)
        lines = []
        for name, value in self.measures.items():
            if (real := known.get(name)) is not None and name not in _COUNTS:
                share = value / real - 1 if real else None
                lines.append((name.replace("_", " "), real, value, share))
        columns = ("measure", ""), ("measured", ""), ("simulated", ""), ("difference", "%")
        starts = dict(zip(measured.ids, measured.start - measured.submit, strict=True))
        execution = self.execution
        waits = zip(execution.log.jobs, execution.start - execution.submit, strict=True)
        apart = np.abs([wait - starts[job.id] for job, wait in waits if job.id in starts])
        note = f"{len(apart)} jobs are in both"
        if np.isfinite(apart).any():
            note += f"; half of their waits differ by at most {np.nanmedian(apart):.4g} s"
        return ResultTable("Beside the measured schedule", columns, tuple(lines), note)

    def _gaps(self) -> tuple[tuple[str, float, float, float | None, str], ...]:
        """Return measure, value, bound, gap and proof of what has a bound."""
        lines = []
        for name, bound in self.bounds.items():
            value = self.measures[name]
            gap = value / bound.value - 1 if bound.value > 0 else None
            lines.append((name.replace("_", " "), value, bound.value, gap, bound.proof))
        return tuple(lines)

    def _groups(self, title: str, what: str, groups: Mapping[str, Sequence[int]]) -> ResultTable:
        """Return counts and measures of groups of jobs."""
        execution = self.execution
        wait = execution.start - execution.submit
        turnaround = execution.end - execution.submit
        slowdown = turnaround / np.maximum(execution.end - execution.start, BOUND)
        used = node_seconds(execution)
        everything = float(np.nansum(used)) or 1.0
        lines: list[tuple[Cell, ...]] = []
        for name, members in groups.items():
            places = np.array(members)
            ran = places[self.ran[places]]
            states = [execution.state[place] for place in members]
            means = [_mean(wait[ran]), _mean(turnaround[ran]), _mean(np.maximum(slowdown[ran], 1))]
            counts = (states.count("killed"), states.count("rejected"))
            share = float(np.sum(used[ran])) / everything
            lines.append((name or "(unknown)", len(members), *counts, *means, share))
        columns = (
            (what, ""), ("jobs", ""), ("killed", ""), ("rejected", ""), ("mean wait", "s"),
            ("mean turnaround", "s"), ("mean bounded slowdown", ""), ("of the work", "%"),
        )  # fmt: skip
        return ResultTable(title, columns, tuple(lines))

    def _beside_measured(self, own: JobSchedule) -> dict[str, JobSchedule]:
        """Return the schedules to draw by their names."""
        if self.measured is None:
            return {"nodes": own}
        return {"measured": self.measured, "simulated": own}

    def chart(self, title: str = "") -> ScheduleChart:
        """Return the Gantt chart, with the bound of the last end."""
        execution = self.execution
        users = {job.id: job.user for job in execution.log.jobs}
        own, bars_are = executed_schedule(execution), "jobs"
        if any(execution.steps):
            own, bars_are = stepwise_schedule(execution), "steps of jobs"
            users |= {id_: users[id_.rpartition(".")[0]] for id_ in own.ids if id_ not in users}
        dates = {}
        if (best := self.best) is not None:
            first = float(execution.submit[self.ran].min())
            dates[f"{best.proof} of the last end"] = first + best.value
        drawn = self._beside_measured(own)
        return job_chart(
            drawn, execution.n_nodes, title, users=users, dates=dates, bars_are=bars_are
        )

    def figures(self) -> tuple[CurvePlot, ...]:
        """Return queue, utilisation and cumulative counts over time."""
        steps = self.execution.steps if self.measured is None else ()
        drawn = self._beside_measured(executed_schedule(self.execution))
        return job_curves(drawn, self.execution.n_nodes, steps)


def _mean(values: Floats) -> float | None:
    """Return a mean; None of no values."""
    return float(np.mean(values)) if len(values) else None


def _least_work(job: Job, time: float, n_nodes: int) -> tuple[int, float]:
    """Return a size and a time that need no more than a job on any number of nodes.

    Their product is at most its work, and the time at most its run time.
    """
    if job.kind == "rigid":
        return job.size, time
    most = min(job.largest, n_nodes)
    work = job.work_on(job.smallest)
    if not isinstance(work, AmdahlWork):
        return most, 0.0
    slowest, fastest = work.duration(job.smallest), work.duration(most)
    if job.walltime is not None and slowest > job.walltime:
        slowest = min(job.walltime, fastest)
    return most, job.smallest * slowest / most


def _earliest(jobs: Sequence[Job], time: Floats) -> Floats:
    """Return a date before which no schedule can have each job submitted."""
    place = {job.id: number for number, job in enumerate(jobs)}
    found: dict[int, float] = {}
    waiting = list(range(len(jobs)))[::-1]
    while waiting:
        number = waiting[-1]
        job = jobs[number]
        before = [place[each] for each in job.after if each in place]
        missing = [each for each in before if each not in found]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        ends = [found[each] + float(time[each]) + job.think_time for each in before]
        found[number] = max([job.submit, *ends])
    return np.array([found[number] for number in range(len(jobs))])
