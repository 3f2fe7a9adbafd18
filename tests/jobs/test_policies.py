"""Shipped policies against schedules by brute force in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import batch_reference as reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.jobs import POLICIES, JobConditions, QueueScheduler, execute, nodes_of
from simplugin.workloads.batch_jobs import AmdahlWork, Delay, Job, JobLog

BY_NODES = {"reservation": "nodes"}
CONTIGUOUS = {**BY_NODES, "allocation": "contiguous"}
OPTIONS = [
    {},
    {"order": "sjf"},
    {"order": "largest"},
    {"allocation": "contiguous"},
    {"backfill": "greedy"},
    {"backfill": "greedy", "allocation": "contiguous"},
    {"backfill": "easy"},
    {"backfill": "easy", "order": "sjf"},
    {"backfill": "easy", "extra_at_shadow": "first"},
    {"backfill": "easy", **BY_NODES},
    {"backfill": "easy", **CONTIGUOUS},
    {"backfill": "conservative"},
    {"backfill": "conservative", "order": "sjf"},
    {"backfill": "conservative", "compress": "rebuild"},
    {"backfill": "conservative", **BY_NODES},
    {"backfill": "conservative", **BY_NODES, "compress": "rebuild"},
    {"backfill": "conservative", **CONTIGUOUS},
]
TENTHS = st.integers(0, 60).map(lambda number: Fraction(number, 10))


@st.composite
def rigid_jobs(draw):
    """Draw jobs of which many events coincide, in exact tenths of seconds."""
    jobs = []
    for number in range(draw(st.integers(1, 12))):
        walltime = draw(TENTHS) + Fraction(1, 10)
        runtime = draw(st.sampled_from((walltime, walltime / 2, walltime * 2, Fraction(0))))
        size = draw(st.integers(1, 9))
        submit = draw(TENTHS)
        jobs.append(dict(id=number, submit=submit, size=size, runtime=runtime, walltime=walltime))
    return jobs


def log_of(jobs):
    """Return a log with the jobs."""
    return JobLog(
        tuple(
            Job(
                id=str(job["id"]),
                submit=float(job["submit"]),
                size=job["size"],
                work=Delay(float(job["runtime"])),
                walltime=float(job["walltime"]),
            )
            for job in jobs
        )
    )


@settings(max_examples=200)
@given(options=st.sampled_from(OPTIONS), jobs=rigid_jobs(), n_nodes=st.integers(4, 8))
def test_queue_schedulers_decide_as_their_rules_say(options, jobs, n_nodes):
    known = reference.run(jobs, n_nodes, **options)
    done = execute(log_of(jobs), QueueScheduler(**options), n_nodes=n_nodes)
    rows = [
        (start, end, nodes_of(nodes)) if state != "rejected" else None
        for start, end, nodes, state in zip(
            done.start, done.end, done.nodes, done.state, strict=True
        )
    ]
    for job, row, right in zip(jobs, rows, known, strict=True):
        assert (row is None) == (right is None)
        if row is not None:
            assert row[:2] == pytest.approx([float(date) for date in right[:2]], abs=1e-6), job
            assert set(row[2]) == right[2], job
    assert not reference.flaws(jobs, n_nodes, rows)
    for job, state in zip(jobs, done.state, strict=True):
        late = job["runtime"] > job["walltime"]
        expected = "killed" if late else "completed"
        assert state == (expected if job["size"] <= n_nodes else "rejected")


@st.composite
def variable_jobs(draw):
    """Draw jobs of all kinds."""
    jobs = []
    for number in range(draw(st.integers(1, 8))):
        least = draw(st.integers(1, 4))
        kind = draw(st.sampled_from(("rigid", "moldable", "malleable")))
        jobs.append(
            dict(
                id=number,
                submit=draw(TENTHS),
                work=draw(TENTHS) * 4,
                serial=draw(st.sampled_from((Fraction(0), Fraction(1, 10), Fraction(1)))),
                min=least,
                max=least + (draw(st.integers(0, 4)) if kind != "rigid" else 0),
                kind=kind,
                data=draw(st.sampled_from((0, 1, 3))),
            )
        )
    return jobs


@settings(max_examples=50)
@given(
    name=st.sampled_from(("fcfs_max", "equipartition")),
    jobs=variable_jobs(),
    n_nodes=st.integers(4, 8),
)
def test_jobs_of_variable_size_take_the_steps_of_the_rules(name, jobs, n_nodes):
    steps, ends = reference.run_malleable(jobs, n_nodes, 2, getattr(reference, name))
    log = JobLog(
        tuple(
            Job(
                id=str(job["id"]),
                submit=float(job["submit"]),
                size=job["min"],
                least=job["min"],
                most=job["max"],
                kind=job["kind"],
                work=AmdahlWork(float(job["work"]), float(job["serial"]), float(job["data"])),
            )
            for job in jobs
        )
    )
    conditions = JobConditions(bandwidth=2.0)
    done = execute(log, POLICIES[name](), n_nodes=n_nodes, conditions=conditions)
    assert done.end == pytest.approx([float(date) for date in ends], abs=1e-6)
    for number, right in enumerate(steps):
        taken = done.steps[number] or ((done.start[number], done.nodes[number].bit_count()),)
        assert [size for _, size in taken] == [size for _, size in right]
        assert [date for date, _ in taken] == pytest.approx([float(date) for date, _ in right])
