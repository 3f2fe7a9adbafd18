"""A policy for batch jobs: the waiting job with the largest bounded slowdown starts first."""

from pathlib import Path

from simplugin.jobs import Decisions, QueueState, Start
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.workloads import Job


def slowest_first(state: QueueState, *, least: float = 10.0) -> Decisions:
    """Start jobs in the order of their slowdown so far, without passing one that does not fit."""

    def slowdown(job: Job) -> float:
        """Return the slowdown if the job started now and took as long as it asks for."""
        time = max(job.walltime or least, least)
        return (state.now - job.submit + time) / time

    starts, free = [], state.n_free
    for job in sorted(state.queue, key=slowdown, reverse=True):
        if job.size > free:
            break
        free -= job.size
        starts.append(Start(job))
    return Decisions(starts)


def test_all_jobs_run_and_none_of_the_bounds_is_beaten():
    scenario = load_scenario(Path(__file__).with_suffix(".toml"))
    row = run_scenario(scenario).row
    assert row["completed"] == row["jobs"]
    assert row.gap >= 0
    assert row["turnaround_gap"] >= 0
