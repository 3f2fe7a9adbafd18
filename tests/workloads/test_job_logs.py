"""Logs of batch jobs: from traces, cut and scaled; schedules as text and as traces."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.formats.swf import read_swf, write_swf
from simplugin.workloads.batch_jobs import AmdahlWork, Delay, Job, JobLog, ParallelWork, Phases
from simplugin.workloads.job_logs import cut_log, offered_load, scaled_log, trace_jobs
from simplugin.workloads.job_schedules import JobSchedule, node_ranges, nodes_in, schedule_trace
from simplugin.workloads.job_traces import FIELDS, JobTrace

HEADER = [("MaxNodes", "8"), ("MaxProcs", "64"), ("Queue", "1 night"), ("Partition", "2 east")]


def trace(*jobs: dict[str, float], header=HEADER) -> JobTrace:
    known = {"submit": 0, "run_time": 10, "processors": 1, "requested_time": 20, "status": 1}
    rows = [{"job": at} | known | job for at, job in enumerate(jobs, 1)]
    return JobTrace({name: [row.get(name, -1) for row in rows] for name in FIELDS}, header)


def counts(log: JobLog) -> dict[str, int]:
    return {point.what: point.number for point in log.left_open}


def test_fields_of_a_trace_become_those_of_jobs():
    log = trace_jobs(
        trace(
            {"submit": 5, "processors": 4, "requested_processors": 9, "user": 3, "group": 0},
            {"submit": 6, "processors": 0, "requested_processors": 7, "queue": 1, "partition": 2},
            {"submit": 7, "requested_time": 0, "preceding_job": 1, "think_time": 30, "queue": 5},
        )
    )
    assert log.n_nodes == 64
    assert log.jobs == (
        Job(id="1", submit=5, size=4, work=Delay(10), walltime=20, user="3", group="0"),
        Job(id="2", submit=6, size=7, work=Delay(10), walltime=20, queue="night"),
        Job(id="3", submit=7, size=1, work=Delay(10), queue="5", after=("1",), think_time=30),
    )
    assert counts(log) == {
        "jobs whose allocated processors are unknown": 1,
        "jobs of unknown requested time": 1,
    }


def test_what_is_left_out_is_counted():
    log = trace_jobs(
        trace(
            {"job": 4, "status": 1, "run_time": 25},
            {"job": 4, "status": 2},
            {"job": 4, "status": 3},
            {"job": 5, "status": 3, "partition": 2},
            {"job": 6, "status": 5, "run_time": 0},
            {"run_time": -1},
            {"submit": -1},
            {"processors": -1},
            {"job": 4},
            {"job": 9, "preceding_job": 77},
            {"job": 10, "preceding_job": 10},
            {"job": 11, "preceding_job": 12},
            {"job": 12, "preceding_job": 11},
            header=[],
        )
    )
    assert [job.id for job in log.jobs] == ["4", "5", "4.2", "9", "10", "11", "12"]
    assert log.jobs[-1].after == ("11",)
    assert [job.queue for job in log.jobs] == ["", "2", "", "", "", "", ""]
    assert log.n_nodes is None
    assert counts(log) == {
        "parts of jobs": 2,
        "jobs cancelled before they ran": 1,
        "jobs of unknown submission": 1,
        "jobs of unknown run time": 1,
        "jobs of unknown size": 1,
        "jobs that ran longer than requested": 1,
        "repeated job numbers": 1,
        "preceding jobs that were not submitted before": 3,
    }
    alone = trace({"preceding_job": 2}, {"preceding_job": 1})
    assert all(not job.after for job in trace_jobs(alone, dependencies=False).jobs)
    with raises_naming(WorkloadError, "run time"):
        trace_jobs(trace({"run_time": -1}))


def test_a_log_of_a_grid_is_complete(shared_data):
    path = shared_data / "workloads" / "LCG-2005.swf.gz"
    with gzip.open(path, "rt", encoding="latin-1") as lines:
        rows = [list(map(float, line.split())) for line in lines if not line.startswith(";")]
    log = trace_jobs(read_swf(path))
    assert len(log.jobs) == len(rows) == 188_041
    assert log.n_nodes == 24_515
    assert [job.submit for job in log.jobs] == [row[1] for row in rows]
    assert math.fsum(job.size * job.work.time for job in log.jobs) == math.fsum(
        row[3] * row[4] for row in rows
    )


@pytest.mark.parametrize("name", ["CTC_excerpt_opendc.swf", "gofree_sample_1.swf.gz"])
def test_logs_with_odd_headers(shared_data, name):
    log = trace_jobs(read_swf(shared_data / "jobs" / "swf" / name))
    assert (len(log.jobs), log.n_nodes) in [(5, None), (448, 352)]


def log_of(*jobs: Job) -> JobLog:
    return JobLog(jobs, 10)


ONE = Job(id="a", submit=100, size=4, work=Delay(50))
TWO = Job(id="b", submit=200, size=2, work=AmdahlWork(100, 0.5), after=("a",), think_time=10)
SIX = Job(id="c", submit=300, size=1, work=Phases((Delay(5), Delay(10)), 2), reserved=320)


def test_load_is_area_by_capacity():
    # (4 x 50 + 2 x 75 + 1 x 30) / (10 x 200)
    log = log_of(ONE, TWO, SIX)
    assert offered_load(log, 10) == pytest.approx(0.19)
    twice = scaled_log(log, load=0.38)
    assert offered_load(twice, 10) == pytest.approx(0.38)
    assert [job.submit for job in twice.jobs] == pytest.approx([50, 100, 150])
    assert (twice.jobs[1].think_time, twice.jobs[2].reserved) == pytest.approx((5, 160))
    assert [job.size for job in twice.jobs] == [4, 2, 1]
    assert scaled_log(log, time=3).jobs[0].submit == 300
    for wrong in ({"load": 0}, {"load": 0.5, "n_nodes": 0}, {"time": -1.0}, {"time": math.inf}):
        with pytest.raises(WorkloadError):
            scaled_log(log, **wrong)
    with raises_naming(WorkloadError, "'p'"):
        scaled_log(log_of(ONE, Job(id="p", submit=0, size=2, work=ParallelWork(1, 2))), load=0.5)
    with raises_naming(WorkloadError, "one date"):
        offered_load(log_of(ONE), 10)


def test_a_part_of_a_log_starts_at_0():
    part = cut_log(log_of(SIX, ONE, TWO), 150, 1000)
    assert [(job.id, job.submit, job.after, job.reserved) for job in part.jobs] == [
        ("c", 150, (), 170),
        ("b", 50, (), None),
    ]
    assert counts(part) == {"preceding jobs outside the span": 1}
    assert [job.id for job in cut_log(log_of(SIX, ONE, TWO), n_jobs=2).jobs] == ["a", "b"]
    with raises_naming(WorkloadError, "400"):
        cut_log(log_of(ONE), 400)


@given(st.sets(st.integers(0, 40)))
def test_nodes_as_text(nodes):
    assert set(nodes_in(node_ranges(nodes))) == nodes
    assert nodes_in(node_ranges(nodes).replace(" ", ",")) == tuple(sorted(nodes))


def test_text_of_nodes():
    assert node_ranges([7, 1, 0, 2, 3]) == "0-3 7"
    for wrong in ("3-1", "a", "1-", "-1", "0-99999999", "1--2", "0-9000000 0-9000000", "\u0663"):
        with raises_naming(WorkloadError, "nodes"):
            nodes_in(wrong)


def schedule(ids=("1", "2", "3"), **columns) -> JobSchedule:
    nan = math.nan
    given = {
        "submit": np.array([0.0, 1.5, 2]),
        "start": np.array([0.0, 10, nan]),
        "end": np.array([10.0, 30.25, nan]),
        "sizes": np.array([2, 1, 99]),
        "nodes": ((0, 3), (1,), ()),
        "states": ("completed", "killed", "rejected"),
        "walltimes": np.array([20.0, 20.25, nan]),
    }
    return JobSchedule(ids=ids, **given | columns)


def test_a_schedule_becomes_a_trace(tmp_path):
    made = schedule_trace(schedule())
    write_swf(made, tmp_path / "a.swf")
    assert read_swf(tmp_path / "a.swf") == made
    assert (tmp_path / "a.swf").read_text().split("\n")[1:4] == [
        "1 0 0 10 2 -1 -1 2 20 -1 1 -1 -1 -1 -1 -1 -1 -1",
        "2 1.5 8.5 20.25 1 -1 -1 1 20.25 -1 5 -1 -1 -1 -1 -1 -1 -1",
        "3 2 -1 -1 -1 -1 -1 99 -1 -1 5 -1 -1 -1 -1 -1 -1 -1",
    ]
    named = schedule_trace(schedule(ids=("x", "y", "01")))
    assert named.job.tolist() == [1, 2, 3]
    assert named.label("Note")
    for wrong in ({"ids": ("1", "1", "2")}, {"nodes": ()}):
        with pytest.raises(WorkloadError):
            schedule(**wrong)
