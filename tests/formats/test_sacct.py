"""Accounting tables of Slurm: forms of times, what is left out, and mistakes at their lines."""

import gzip

import pytest
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.formats.sacct import read_sacct, read_sacct_schedule
from simplugin.workloads.batch_jobs import Delay, Job

TABLE = """\
JobID|JobName|Submit|Start|End|Elapsed|Timelimit|NCPUS|NNodes|State|User|Account|Partition|
7|"|2024-03-01T00:00:00|2024-03-01T00:00:10|Unknown|01:00:00|1-02:03:04|64|2|COMPLETED|ann|x|n|
7.batch|b|2024-03-01T00:00:00|2024-03-01T00:00:10|2024-03-01T01:00:10|01:00:00||64|2|COMPLETED||x||
7.0|s|2024-03-01T00:00:00|2024-03-01T00:00:10|2024-03-01T01:00:10|01:00:00||64|2|COMPLETED||x||

8_[3-9]|c|2024-03-01T00:00:20|Unknown|Unknown|00:00:00|30:00|32|1|PENDING|bob|y|d|
8_1|"|2024-03-01T00:00:20|2024-03-01T00:01:00|2024-03-01T00:31:00|30:00|30:00|32|1|TIMEOUT|bob|y|d|
8_1|"|2024-03-01T00:00:20|2024-03-01T01:01:00|Unknown|00:05|UNLIMITED|32|1|CANCELLED by 7|bob|y|d|
9|d|2024-02-29T23:59:50|None|2024-03-01T00:31:00|00:00:00|1-00|0|0|CANCELLED|bob|y|d|
10|d|2024-02-29T23:59:50|2024-03-01T00:31:00|2024-03-01T00:31:00|00:00:00|1-00|0|0|FAILED|bob|y|d|
"""


def test_a_table(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(TABLE)
    log = read_sacct(path)
    one, two = {"user": "ann", "group": "x"}, {"user": "bob", "group": "y", "queue": "d"}
    assert log.jobs == (
        Job(id="7", submit=0, size=2, work=Delay(3600), walltime=93784, queue="n", **one),
        Job(id="8_1", submit=20, size=1, work=Delay(1800), walltime=1800, **two),
        Job(id="8_1#2", submit=20, size=1, work=Delay(5), **two),
    )
    assert {point.what: point.number for point in log.left_open} == {
        "job steps": 2,
        "jobs that have not ended": 1,
        "jobs that were killed": 2,
        "runs of jobs that were started again": 1,
        "jobs without a time limit": 1,
        "jobs that never started": 1,
        "jobs of unknown size": 1,
    }
    assert [job.size for job in read_sacct(path, size="cores").jobs] == [64, 32, 32]
    ran = read_sacct_schedule(path)
    assert ran.ids == tuple(job.id for job in log.jobs)
    assert ran.start.tolist() == [10, 60, 3660]
    assert ran.end.tolist() == [3610, 1860, 3665]
    assert ran.states == ("completed", "killed", "killed")
    with raises_naming(WorkloadError, "size", "hosts"):
        read_sacct(path, size="hosts")


@pytest.mark.parametrize(
    ("text", "time"),
    [("120", 7200), ("2:30", 150), ("1:00:01", 3601), ("2-3", 183600), ("1-0:5", 86700)],
)
def test_forms_of_limits(text, time, tmp_path):
    path = tmp_path / "sacct.csv"
    path.write_text(f"JobID,Submit,Start,End,NNodes,Timelimit\n1,5,7,9.5,1,{text}\n")
    (job,) = read_sacct(path).jobs
    assert (job.submit, job.walltime, job.work) == (0, time, Delay(2.5))


def test_a_real_table(shared_data):
    path = shared_data / "jobs" / "cirrus" / "sacct_first2000.csv.gz"
    with gzip.open(path, "rt") as lines:
        rows = [line.strip().split(",") for line in lines][1:]
    log = read_sacct(path, size="cores")
    ran = [row for row in rows if row[4].isdigit()]
    assert [job.id for job in log.jobs] == [row[0] for row in ran]
    assert [job.size for job in log.jobs] == [int(row[1]) for row in ran]
    assert [job.work.time for job in log.jobs] == [int(row[6]) for row in ran]
    assert sum(point.number for point in log.left_open if "start" in point.what) == len(rows) - len(
        ran
    )


@pytest.mark.parametrize(
    "text",
    [
        "JobID,Submit,Start,End,NNodes\n1,2,3,4,1\n¶1,2,3,4\n",
        "JobID,Submit,Start,End,NNodes\n1,2,3,4,1\n¶1,2,3,4,1.5\n",
        "JobID,Submit,Start,End,NNodes\n1,2,3,4,1\n¶1,soon,3,4,1\n",
        "JobID,Submit,Start,End,NNodes\n1,2,3,4,1\n¶1,2,3,2024-13-01T00:00:00,1\n",
        "JobID,Submit,Start,End,NNodes\n\n¶1,2,4,3,1\n",
        "JobID,Submit,Start,End,NNodes\n¶,2,3,4,1\n",
        '¶JobID,Submit,Submit,End,NNodes\n1,2,3,"4\n',
        "¶JobID,Submit,Start,End\n1,2,3,4\n",
        "¶JobID,Submit,End,NNodes\n1,2,3,4\n",
        "¶JobID       JobName\n------- -----\n1    x\n",
        "JobID|Submit|Elapsed|NNodes\n¶1|2|1:2:3:4|5\n",
        "JobID|Submit|Elapsed|NNodes|Timelimit\n¶1|2|1:2:3|5|a day\n",
        "JobID|Submit|Elapsed|NNodes\n",
    ],
)
def test_mistakes_are_located(text, tmp_path):
    assert_refused(read_sacct, tmp_path / "sacct.csv", text)
