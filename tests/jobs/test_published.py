"""Schedules that other simulators published, and durations that their tests state."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from simplugin.formats import read_batsim, read_job_schedule, read_platform
from simplugin.jobs import POLICIES, JobConditions, execute, measures, nodes_of
from simplugin.workloads.batch_jobs import Delay, Job, JobLog


def test_easy_of_batsim(shared_data):
    folder = shared_data / "jobs" / "batsim_medium_late"
    log = read_batsim(folder / "medium_late.json.gz")
    done = execute(log, POLICIES["easy"](reservation="nodes"), n_nodes=32)
    known = read_job_schedule(folder / "easy" / "out_jobs.csv.gz")
    row = {name: number for number, name in enumerate(known.ids)}
    places = [row[job.id] for job in log.jobs]
    assert len({*places}) == len(log.jobs) == 801
    assert done.start == pytest.approx(known.start[places], abs=1e-5)
    assert list(map(nodes_of, done.nodes)) == [known.nodes[place] for place in places]


def test_first_come_first_served_of_elastisim(shared_data):
    text = gzip.decompress((shared_data / "jobs/cirrus/rigid_first5800.csv.gz").read_bytes())
    names, *rows = (line.split(",") for line in text.decode().splitlines())
    table = [dict(zip(names, row, strict=True)) for row in rows]
    jobs = [
        Job(
            id=row["id"],
            submit=float(row["submit"]),
            size=int(row["base_cores"]),
            work=Delay(float(row["runtime_at_base"])),
        )
        for row in table
    ]
    done = execute(JobLog(tuple(jobs)), POLICIES["fcfs"](), n_nodes=13249)
    for name, found in (("elastisim_start", done.start), ("elastisim_end", done.end)):
        assert found == pytest.approx([float(row[name]) for row in table], abs=1e-6)


def test_workloads_of_batsim_take_the_durations_that_they_state(shared_data):
    folder = shared_data / "jobs" / "batsim_tests"
    platform = read_platform(folder / "cluster512.xml")
    hosts = tuple(name for name in platform.host_names() if name != "m0")
    known = 0
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        log = read_batsim(path)
        # Jobs do not share the network if the machine has no more nodes than they expect.
        conditions = JobConditions(hosts=hosts[: document["nb_res"]])
        done = execute(log, POLICIES["fcfs"](), platform=platform, conditions=conditions)
        for number, (job, given) in enumerate(zip(log.jobs, document["jobs"], strict=True)):
            profile = document["profiles"][given["profile"]]
            time = profile.get("expected_execution_time", profile.get("delay"))
            if time is None:
                continue
            known += 1
            walltime = job.walltime or np.inf
            assert done.end[number] - done.start[number] == pytest.approx(
                min(time, walltime), rel=1e-3
            ), (path.name, job.id)
            assert (done.state[number] == "killed") == (time > walltime), (path.name, job.id)
    assert known > 50


@pytest.mark.parametrize(
    ("run", "workload", "n_nodes", "bars"),
    [
        # Largest differences of makespan (part), and of the mean wait [s] and as part.
        ("multirun1__seed1", "delay_2016-05-04_seed1", 32, (0.005, 3.0, 0.06)),
        ("sg1__seed2", "delay_2016-05-04_seed2", 32, (0.005, 3.0, 0.06)),
        ("sg1__seed3", "delay_2016-05-04_seed3", 32, (0.005, 3.0, 0.06)),
        ("noise__seed3", "delay_2016-04-26_seed3", 32, (0.005, 3.0, 0.06)),
        ("sg1__seed1", "delay_2016-05-04_seed1", 22, (0.02, 3.0, 0.1)),
    ],
)
def test_a_planner_replays_runs_of_a_real_machine(shared_data, run, workload, n_nodes, bars):
    folder = shared_data / "jobs" / "oar_graphene"
    log = read_batsim(folder / "workloads" / f"{workload}.json.gz")
    known = read_job_schedule(folder / "runs" / f"{run}.csv.gz")
    policy = POLICIES["conservative"](compress="rebuild", margin=60.0)
    conditions = JobConditions(latency=1.5, added=0.6)
    found = measures(execute(log, policy, n_nodes=n_nodes, conditions=conditions))
    makespan = known.end.max() - known.submit.min()
    wait = np.mean(known.start - known.submit)
    assert found["makespan"] == pytest.approx(makespan, rel=bars[0])
    assert found["mean_wait"] == pytest.approx(wait, rel=bars[2], abs=bars[1])


def test_a_planner_by_nodes_replays_runs_on_128_cores(shared_data):
    folder = shared_data / "jobs" / "oar_hpc128"
    policy = POLICIES["conservative"](compress="rebuild", margin=60.0, reservation="nodes")
    within = 0
    for path in sorted(folder.glob("*_iter*.csv.gz")):
        known = read_job_schedule(path)
        order = sorted(range(len(known.ids)), key=lambda number: int(known.ids[number]))
        first = known.submit.min()
        jobs = [
            Job(
                id=known.ids[number],
                submit=float(known.submit[number] - first),
                size=int(known.sizes[number]),
                walltime=float(known.walltimes[number]),
                work=Delay(float(known.end[number] - known.start[number])),
            )
            for number in order
        ]
        conditions = JobConditions(latency=1.5)
        found = measures(execute(JobLog(tuple(jobs)), policy, n_nodes=128, conditions=conditions))
        wait = np.mean(known.start - known.submit)
        assert abs(found["makespan"] - (known.end.max() - first)) <= 30
        within += abs(found["mean_wait"] - wait) <= max(2.0, 0.02 * wait)
    assert within >= 5
