"""Measures of batch jobs beside bounds, their tables and charts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.core.errors import WorkloadError
from simplugin.jobs import POLICIES, execute
from simplugin.jobs.assessment import JobAssessment
from simplugin.jobs.charts import executed_schedule, job_chart, job_curves
from simplugin.jobs.metrics import measures
from simplugin.workloads.batch_jobs import AmdahlWork, Delay, Job, JobLog
from simplugin.workloads.job_schedules import JobSchedule


def rigid(rows, n_nodes):
    """Return a log of (submission, size, time) and perhaps the user of each job."""
    jobs = [
        Job(
            id=str(k), submit=submit, size=size, work=Delay(time), walltime=time, user="".join(user)
        )
        for k, (submit, size, time, *user) in enumerate(rows)
    ]
    return JobLog(tuple(jobs), n_nodes)


def run(log, policy="fcfs", **given):
    return execute(log, POLICIES[policy](), **given)


# The wide job waits for the first one under FCFS, and the third one behind it.
IN_TURN = [(0.0, 1, 10.0), (0.0, 2, 1.0), (0.0, 1, 10.0)]
ROWS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=6
)


@given(ROWS, st.sampled_from(["fcfs", "easy", "conservative", "greedy", "sjf"]))
@settings(max_examples=40)
def test_no_schedule_is_below_a_bound(rows, policy):
    done = run(rigid(rows, 4), policy)
    assessment = JobAssessment(done)
    for name, bound in assessment.bounds.items():
        assert assessment.measures[name] >= bound.value * (1 - 1e-9)
    assert assessment.best.gap(assessment.measures["makespan"]) >= -1e-9


@given(ROWS.filter(lambda rows: len(rows) <= 4))
@settings(max_examples=10)
def test_the_optimum_lies_between_bounds_and_schedules(rows):
    done = run(rigid(rows, 4), "easy")
    bounds, best = JobAssessment(done).bounds, JobAssessment(done, optimum=True)
    for name, bound in best.bounds.items():
        assert bounds[name].value <= bound.value + 1e-5
        assert bound.value <= best.measures[name] + 1e-5


def test_the_optimum_of_three_jobs():
    fcfs = JobAssessment(run(rigid(IN_TURN, 2)), optimum=True)
    assert fcfs.best.proof == "optimum"
    assert fcfs.best.value == pytest.approx(11.0, rel=1e-6)
    assert fcfs.measures["makespan"] == pytest.approx(21.0)
    # The wide job first: ends at 1, 11 and 11.
    assert fcfs.bounds["mean_turnaround"].value == pytest.approx(23 / 3, rel=1e-6)


def test_the_optimum_is_refused_where_it_has_no_model():
    many = run(rigid([(0.0, 1, 1.0)] * 11, 2))
    with pytest.raises(WorkloadError, match="11 jobs"):
        JobAssessment(many, optimum=True)


@pytest.mark.parametrize(("serial", "least"), [(0.0, 25.0), (0.5, 62.5)])
def test_a_malleable_job_alone_is_at_its_bound(serial, least):
    work = AmdahlWork(100.0, serial)
    job = Job(id="one", submit=3.0, size=1, most=4, work=work, kind="malleable")
    found = JobAssessment(run(JobLog((job,), 4), "equipartition"))
    assert found.measures["makespan"] == pytest.approx(least)
    # Without serial part its work over all nodes; else its least work, on one node.
    assert found.best.value == pytest.approx(25.0)


def test_jobs_one_after_the_other_are_as_long_as_their_chain():
    chain = [
        Job(id="b", submit=0.0, size=1, work=Delay(5.0), after=("a",), think_time=2.0),
        Job(id="c", submit=0.0, size=1, work=Delay(7.0), after=("b",)),
        Job(id="a", submit=1.0, size=1, work=Delay(3.0)),
    ]
    found = JobAssessment(run(JobLog(tuple(chain), 2)))
    assert found.measures["makespan"] == pytest.approx(3 + 2 + 5 + 7)
    assert found.best.value == pytest.approx(3 + 2 + 5 + 7)
    assert "mean_turnaround" not in found.bounds


def test_tables_count_users_and_sizes():
    rows = [
        (0.0, 1, 10.0, "ann"),
        (0.0, 2, 1.0, "bob"),
        (0.0, 1, 10.0, "ann"),
        (0.0, 9, 1.0, "bob"),
    ]
    found = JobAssessment(run(rigid(rows, 2)))
    bounds, users, sizes = found.listings()
    assert bounds.column("measure") == ("makespan", "mean turnaround")
    assert users.column("user") == ("ann", "bob")
    assert users.column("rejected") == (0, 1)
    assert users.column("mean wait") == (5.5, 10.0)
    assert users.column("of the work") == pytest.approx((20 / 22, 2 / 22))
    assert sizes.column("size") == ("1 node", "2-4 nodes", "5-16 nodes")
    assert sum(sizes.column("jobs")) == 4
    assert [metric.value for metric in found.metrics()][:4] == [4, 3, 0, 1]


@given(ROWS)
@settings(max_examples=20)
def test_areas_below_curves_are_work_and_waits(rows):
    done = run(rigid(rows, 4), "easy")
    queue, used, cumulative = job_curves({"nodes": executed_schedule(done)}, 4)
    areas = [float(np.trapezoid(y, x)) for plot in (queue, used) for x, y in plot.series.values()]
    waits, work = float(np.sum(done.start - done.submit)), sum(n * time for _, n, time in rows)
    assert areas == pytest.approx([waits, work])
    assert {int(y[-1]) for _, y in cumulative.series.values()} == {len(rows)}


def test_a_schedule_without_nodes_is_drawn_on_free_ones():
    rows = [(0.0, 2, 4.0), (0.0, 1, 2.0), (0.0, 2, 3.0), (2.0, 1, 9.0)]
    known = executed_schedule(run(rigid(rows, 4), "easy"))
    unknown = JobSchedule(
        known.ids, known.submit, known.start, known.end, known.sizes, ((),) * 4, known.states,
        known.walltimes,
    )  # fmt: skip
    chart = job_chart({"real": unknown, "simulated": known}, 4)
    assert chart.clusters == (("real", 4), ("simulated", 4))
    assert [len(bar.processors) for bar in chart.bars] == [
        int(known.sizes[known.ids.index(bar.label)]) for bar in chart.bars
    ]
    for bar in chart.bars:
        for other in chart.bars:
            if bar is not other and set(bar.processors) & set(other.processors):
                assert bar.finish <= other.start or other.finish <= bar.start
    assert measures(known, 4) == pytest.approx(measures(run(rigid(rows, 4), "easy")))


def test_steps_of_malleable_jobs_cover_no_other():
    jobs = [
        Job(id=str(k), submit=3.0 * k, size=1, most=4, work=AmdahlWork(30.0 + k), kind="malleable")
        for k in range(4)
    ]
    done = run(JobLog(tuple(jobs), 4), "equipartition")
    assert max(map(len, done.steps)) > 1
    chart = JobAssessment(done).chart()
    held = sum(len(bar.processors) * (bar.finish - bar.start) for bar in chart.bars)
    assert held == pytest.approx(sum(job.work.time for job in jobs))
    for bar in chart.bars:
        for other in chart.bars:
            if bar is not other and set(bar.processors) & set(other.processors):
                assert bar.finish <= other.start + 1e-9 or other.finish <= bar.start + 1e-9
    assert chart.clusters == (("nodes", 4),)
