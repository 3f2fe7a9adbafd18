"""Scenarios of batch jobs: logs and drawn jobs, policies, conditions, comparisons."""

import json
from dataclasses import fields

import pytest
from changed_scenarios import change, listing, refused, run

from simplugin.jobs import JobConditions
from simplugin.scenarios.kinds.jobs import JobSchedulerSection

SCENARIO = """
title = "Three jobs"
[workload]
kind = "jobs"
file = "log.swf"
n_nodes = 2
[scheduler]
name = "jobs.fcfs"
[output]
gantt = "gantt.png"
"""
# The wide job waits for the first one, and the third one behind it.
LOG = """
1 0 -1 10 1 -1 -1 1 10 -1 1 7 1 -1 1 1 -1 -1
2 0 -1 1 2 -1 -1 2 1 -1 1 8 1 -1 1 1 -1 -1
3 0 -1 10 1 -1 -1 1 10 -1 1 7 1 -1 1 1 -1 -1
"""
POLICY = """
from dataclasses import dataclass
from simplugin.jobs import Decisions, QueueScheduler, QueueState, Start

def last_first(state: QueueState, *, most: int = 9) -> Decisions:
    job = state.queue[-1]
    return Decisions(starts=[Start(job)] if job.size <= state.n_free else [])

def too_many(state):
    return Decisions(starts=[Start(job) for job in state.queue])

class Own(QueueScheduler):
    pass
"""
SACCT = """JobID|Submit|Start|End|NNodes|NCPUS|State
1|1000|1000|1010|1|4|COMPLETED
2|1000|1010|1011|2|8|COMPLETED
3|1000|1011|1021|1|4|COMPLETED
"""
BATSIM = {
    "nb_res": 2,
    "jobs": [{"id": "1", "subtime": 0, "res": 1, "walltime": 9, "profile": "p"}],
    "profiles": {"p": {"type": "delay", "delay": 4}},
}
CLUSTER = """[platform]
generator = "flat_cluster"
parameters = { n_hosts = 4 }
[workload]"""


@pytest.fixture
def jobs(tmp_path):
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "mine.py").write_text(POLICY)
    (tmp_path / "slurm.csv").write_text(SACCT)
    (tmp_path / "batsim.json").write_text(json.dumps(BATSIM))
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return tmp_path / "scenario.toml"


def test_a_log_is_replayed_and_compared_with_the_optimum(jobs):
    row = run(jobs).row
    assert (row["makespan"], row["mean_wait"]) == (21.0, pytest.approx(7.0))
    assert row.gap == pytest.approx(21 / 11 - 1)
    row = run(change(jobs, '"jobs.fcfs"', '"jobs.easy"\nparameters = { optimum = true }')).row
    assert (row["makespan"], row.gap) == (11.0, pytest.approx(0.0, abs=1e-6))


@pytest.mark.parametrize(
    ("old", "new", "makespan"),
    [
        ('"log.swf"', '"batsim.json"', 4.0),
        ('"log.swf"', '"slurm.csv"', 21.0),
        ("n_nodes = 2", "n_nodes = 2\nn_jobs = 1", 10.0),
        (
            '"jobs.fcfs"',
            '"jobs.fcfs"\nparameters = { latency = "2s", added = "500ms", grace = 1 }',
            28.5,
        ),
        ('"jobs.fcfs"', '"mine:last_first"\nparameters = { most = 3 }', 21.0),
        ('"jobs.fcfs"', '"mine:Own"\nparameters = { backfill = "easy" }', 11.0),
    ],
)
def test_formats_cuts_conditions_and_policies(jobs, old, new, makespan):
    assert run(change(jobs, old, new)).row["makespan"] == pytest.approx(makespan)


def test_hosts_of_a_platform_are_nodes(jobs):
    text = jobs.read_text().replace("n_nodes = 2\n", "").replace("[workload]", CLUSTER)
    jobs.write_text(text)
    outcome = run(jobs)
    assert outcome.schedule.clusters == (("nodes", 4),)
    assert outcome.row["makespan"] == pytest.approx(10.0)
    two = change(jobs, '"jobs.fcfs"', '"jobs.fcfs"\nparameters = { hosts = ["*-0", "*-1"] }')
    assert run(two).row["makespan"] == pytest.approx(21.0)


def test_storage_is_a_host_with_a_disk(jobs):
    text = jobs.read_text().replace("n_nodes = 2\n", "").replace("[workload]", CLUSTER)
    jobs.write_text(
        text.replace('"jobs.fcfs"', '"jobs.fcfs"\nparameters = { storage = "cluster-0" }')
    )
    assert refused(jobs).line


def test_a_log_of_which_nothing_runs(jobs):
    (jobs.parent / "log.swf").write_text(LOG.splitlines()[2] + "\n")
    row = run(change(jobs, "n_nodes = 2", "n_nodes = 1")).row
    assert (row["jobs"], row["completed"], row["rejected"]) == (1, 0, 1)


def test_drawn_jobs_have_the_load_that_is_wanted(jobs):
    drawn = 'generator = "lublin"\nn_jobs = 40\noverestimate = 1.0\nload = 0.5'
    outcome = run(change(change(jobs, 'file = "log.swf"', drawn), "n_nodes = 2", "n_nodes = 16"))
    assert outcome.row["jobs"] == 40
    # The load is that until the last submission, utilisation is until the last end.
    work = outcome.row["utilisation"] * 16 * outcome.row["makespan"]
    _, cumulative = (plot for plot in outcome.figures if plot.name != "utilisation")
    dates, counts = cumulative.series["submitted"]
    last = dates[counts.argmax()] - dates[1]
    assert work / (16 * last) == pytest.approx(0.5)


def test_a_measured_schedule_is_shown_beside(jobs):
    outcome = run(change(jobs, "n_nodes = 2", 'n_nodes = 2\nmeasured = "slurm.csv"'))
    beside = listing(outcome, "Beside the measured schedule")
    assert beside.column("measured") == beside.column("simulated")
    assert [name for name, _ in outcome.schedule.clusters] == ["measured", "simulated"]


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ('"log.swf"', '"missing.swf"', 5, "workload.file"),
        ('file = "log.swf"\n', "", 3, "workload"),
        ("n_nodes = 2", "n_nodes = 2\noverestimate = 1.0", 7, "workload.overestimate"),
        ('file = "log.swf"', 'generator = "lublin"\nn_jobs = 9\nmodel.smal = 1.0', 7, "workload"),
        ("n_nodes = 2", "n_nodes = 2\nload = 0.5\ntime = 2.0", 8, "workload.time"),
        ("n_nodes = 2", "start = 50.0", 3, "workload"),
        ("n_nodes = 2", "", 3, "workload"),
        ("n_nodes = 2", "n_nodes = 2\nmeasured = 'empty.csv'", 7, "workload.measured"),
        ('"jobs.fcfs"', '"jobs.ffcs"', 8, "scheduler.name"),
        ('"jobs.fcfs"', '"jobs.easy"\nparameters = { order = "x" }', 9, "scheduler.parameters"),
        ('"jobs.fcfs"', '"jobs.easy"\nparameters = { latency = "-1s" }', 9, "scheduler"),
        ('"jobs.fcfs"', '"jobs.fcfs"\nparameters = { hosts = "*" }', 9, "scheduler"),
        ('"jobs.fcfs"', '"mine:too_many"', 7, "scheduler"),
        ('"jobs.fcfs"', '"mine:last_first"\nparameters = { mots = 3 }', 9, "scheduler"),
    ],
)
def test_mistakes_are_refused_with_their_place(jobs, old, new, line, key):
    error = refused(change(jobs, old, new))
    assert error.line == line
    assert ".".join(map(str, error.path)).startswith(key)


def test_rollouts_find_the_better_first_job(jobs):
    # Under FCFS the third job waits for the second; tried first, it runs beside the first one.
    outcome = run(change(jobs, '"jobs.fcfs"', '"jobs.fcfs"\nlookahead = { workers = 1 }'))
    assert outcome.row["makespan"] == pytest.approx(11.0)
    assert outcome.row["branches"] > 0


def test_logs_without_requested_times_take_the_run_times(jobs):
    slurm = change(jobs, '"log.swf"', '"slurm.csv"', '"jobs.fcfs"', '"jobs.easy"')
    assert "walltime" in str(refused(slurm, key="scheduler"))
    outcome = run(change(slurm, "n_nodes = 2", "n_nodes = 2\nperfect_estimates = true"))
    assert outcome.row["makespan"] == pytest.approx(11.0)


def test_all_conditions_are_keys():
    assert {each.name for each in fields(JobConditions)} <= set(JobSchedulerSection.model_fields)
