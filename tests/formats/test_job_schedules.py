"""Tables of schedules: those of simulators and batch systems, and what is written."""

import csv
import gzip
import math

import numpy as np
import pytest
from marked import assert_refused

from simplugin.formats.job_schedules import read_job_schedule, write_batsim_jobs, write_evalys
from simplugin.workloads.job_schedules import JobSchedule

SCHEDULE = JobSchedule(
    ids=("a", "2", "3"),
    submit=np.array([10.0, 11.5, 12]),
    start=np.array([10.0, 20.25, math.nan]),
    end=np.array([10.0, 30.5, math.nan]),
    sizes=np.array([4, 2, 99]),
    nodes=((0, 1, 2, 7), (3, 5), ()),
    states=("completed", "killed", "rejected"),
    walltimes=np.array([20.0, 10.25, math.nan]),
)


def assert_equal(one: JobSchedule, other: JobSchedule, *but: str) -> None:
    for name in {"submit", "start", "end", "sizes", "walltimes"} - set(but):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in {"ids", "nodes", "states"} - set(but):
        assert getattr(one, name) == getattr(other, name)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "jobs.csv.gz"
    write_batsim_jobs(SCHEDULE, path)
    assert_equal(read_job_schedule(path), SCHEDULE)
    with gzip.open(path, "rt") as file:
        first, second, third = csv.DictReader(file)
    assert (first["allocated_resources"], first["stretch"]) == ("0-2 7", "")
    assert (second["final_state"], second["waiting_time"]) == ("COMPLETED_WALLTIME_REACHED", "8.75")
    assert float(second["stretch"]) == pytest.approx(19 / 10.25)
    assert (third["final_state"], third["starting_time"], third["success"]) == ("REJECTED", "", "0")
    write_evalys(SCHEDULE, path)
    ran = read_job_schedule(path)
    assert (ran.ids, ran.states) == (("a", "2"), ("completed", "failed"))


def test_columns_of_evalys_are_those_of_its_files(shared_data, tmp_path):
    real = shared_data / "jobs" / "oar_hpc128" / "hpc_alone_seed1_iter0.csv.gz"
    write_evalys(SCHEDULE, tmp_path / "jobs.csv")
    with gzip.open(real, "rt") as file:
        assert (tmp_path / "jobs.csv").read_text().splitlines()[0] == file.readline().strip()


@pytest.mark.parametrize(
    ("name", "jobs", "job", "row"),
    [
        ("batsim_medium_late/easy/out_jobs.csv.gz", 801, "1", (4.709164, 4.709164, 270.509164, 2)),
        ("oar_graphene/runs/sg1__seed1.csv.gz", 800, "1", (5, 7, 274, 2)),
        ("cirrus/measured_first5800.csv.gz", 5800, "1", (715, 3839, 4287, 576)),
        (
            "oar_hpc128/hpc_alone_seed1_iter0.csv.gz",
            250,
            "228",
            (1497296309, 1497296310, 1497296483, 8),
        ),
    ],
)
def test_published_schedules(name, jobs, job, row, shared_data):
    schedule = read_job_schedule(shared_data / "jobs" / name)
    assert len(schedule.ids) == jobs
    at = schedule.ids.index(job)
    columns = (schedule.submit, schedule.start, schedule.end, schedule.sizes)
    assert tuple(each[at] for each in columns) == row
    assert len(schedule.nodes[at]) in (0, schedule.sizes[at])
    assert schedule.from_first_submission().submit.min() == 0


@pytest.mark.parametrize(
    "text",
    [
        "¶id,submit,start,nodes\n1,0,0,0\n",
        "id,submit,start,end,nodes\n1,0,0,1,0\n¶1,0,0,1,0\n",
        "id,submit,start,end,nodes\n1,0,0,1,0\n¶2,0,5,1,0\n",
        "id,submit,start,end,nodes\n¶2,0,5,6,4-2\n",
        "id,submit,start,end,size\n¶2,0,5,6,-2\n",
        "id,submit,start,end,size\n¶2,0,5,,2\n",
        "id,submit,start,end,size,state\n¶2,0,5,6,2,done\n",
        "id,submit,start,end,size\n",
        "",
    ],
)
def test_mistakes_are_located(text, tmp_path):
    if text:
        assert_refused(read_job_schedule, tmp_path / "jobs.csv", text)
