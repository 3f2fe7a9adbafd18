"""Measures of an execution of batch jobs."""

from __future__ import annotations

import numpy as np

from simplugin.jobs.execution import JobExecution
from simplugin.workloads.job_schedules import JobSchedule

# Least run time in slowdowns [s].
BOUND = 10.0


def measures(run: JobExecution | JobSchedule, n_nodes: int | None = None) -> dict[str, float]:
    """Return the measures of an execution, or of a schedule that was measured.

    Means and maxima are over the jobs that started, killed ones included.

    Parameters
    ----------
    run : JobExecution or JobSchedule
        Jobs with their dates.
    n_nodes : int, optional
        Nodes of the machine, without which a schedule has no utilisation.

    Returns
    -------
    dict of str to float
        ``jobs``, ``completed``, ``killed``, ``rejected`` and, where there are some, ``failed``:
        counts. ``makespan``: from the first submission of a job that started to the last end [s].
        ``mean_wait``, ``max_wait``: from submission to start [s]. ``mean_turnaround``: from
        submission to end [s]. ``mean_bounded_slowdown``, ``max_bounded_slowdown``: turnaround
        divided by the run time, this at least 10 s; at least 1. ``utilisation``: part of the
        nodes' time between the first submission and the last end in which they had jobs. If no job
        started, there are only counts.
    """
    states = run.state if isinstance(run, JobExecution) else run.states
    counts = {
        name: float(states.count(name)) for name in ("completed", "killed", "rejected", "failed")
    }
    if not counts["failed"]:
        del counts["failed"]
    found = {"jobs": float(len(states)), **counts}
    ran = np.isfinite(run.end) & np.isfinite(run.start)
    if not ran.any():
        return found
    submit, start, end = (column[ran] for column in (run.submit, run.start, run.end))
    turnaround = end - submit
    slowdown = np.maximum(turnaround / np.maximum(end - start, BOUND), 1.0)
    makespan = float(end.max() - submit.min())
    found |= {
        "makespan": makespan,
        "mean_wait": float(np.mean(start - submit)),
        "max_wait": float(np.max(start - submit)),
        "mean_turnaround": float(np.mean(turnaround)),
        "mean_bounded_slowdown": float(np.mean(slowdown)),
        "max_bounded_slowdown": float(np.max(slowdown)),
    }
    if isinstance(run, JobExecution):
        busy, n_nodes = node_seconds(run)[ran], run.n_nodes
    else:
        busy = run.sizes[ran] * (end - start)
    if n_nodes is not None:
        whole = n_nodes * makespan
        found["utilisation"] = float(np.sum(busy)) / whole if whole else 0.0
    return found


def node_seconds(execution: JobExecution) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the time of its nodes that each job had, shape (n_jobs,) [s]; NaN without a run."""
    size = np.array([mask.bit_count() for mask in execution.nodes])
    used = size * (execution.end - execution.start)
    for job, steps in enumerate(execution.steps):
        if steps:
            dates = [date for date, _ in steps[1:]] + [float(execution.end[job])]
            used[job] = sum(
                count * (end - begin) for (begin, count), end in zip(steps, dates, strict=True)
            )
    return used
