"""Processes of this host that do jobs, several at a time."""

import os
import sys
import threading

import pytest

from simplugin.campaigns.jobs import Job
from simplugin.campaigns.running.local import LocalRunners, cores
from simplugin.errors import SetupError, SimpluginError
from simplugin.simulation.processes import descendants
from simplugin.simulation.servers import server_processes


@pytest.fixture
def runners():
    with LocalRunners(2) as runners:
        yield runners


def job(position, code, **arguments):
    arguments["code"] = code
    return Job(f"{position:064x}", position, "run_targets:evaluate", arguments)


def test_jobs_are_done_at_the_same_time_and_each_once(runners, tmp_path):
    assert (runners.wanted, runners.running) == (4, 0)
    assert runners.finished(600) == []
    # Each ends when the other one runs too; two more wait meanwhile.
    for position in range(2):
        places = {"mine": str(tmp_path / f"{position}"), "other": str(tmp_path / f"{1 - position}")}
        runners.submit(job(position, "meet(mine, other)", **places))
    assert (runners.wanted, runners.running) == (2, 2)
    records = []
    submitted = 2
    while len(records) < 200:
        while runners.wanted and submitted < 200:
            code = "{}['colour']" if submitted % 7 == 0 else f"measured({submitted} ** 2)"
            runners.submit(job(submitted, code))
            submitted += 1
        records += runners.finished(60)
        assert runners.running == submitted - len(records) <= 4
    assert (runners.wanted, runners.running) == (4, 0)
    assert sorted(record.job.position for record in records) == list(range(200))
    assert len({record.place for record in records}) == 2
    for record in records:
        position = record.job.position
        if position < 2:
            assert record.place.endswith(f":{record.measured.row['value']}")
        elif position % 7 == 0:
            assert record.failure.kind == "error"
        else:
            assert record.measured.row["value"] == position**2


def test_closed_in_the_middle(tmp_path):
    others = set(descendants(os.getpid()))
    with LocalRunners(2) as runners:
        files = [tmp_path / str(position) for position in range(4)]
        for position, file in enumerate(files):
            runners.submit(job(position, "hold_the_interpreter()", file=str(file)))
        assert (runners.wanted, runners.running) == (0, 4)
        # Two run, two wait.
        while not all(file.exists() for file in files[:2]):
            assert runners.finished(0.01) == []
        below = set(descendants(os.getpid())) - set(server_processes()) - others
        assert {int(file.read_text()) for file in files[:2]} < below
        runners.close()
        assert set(descendants(os.getpid())).isdisjoint(below)
        assert not [each for each in threading.enumerate() if each.name.startswith("runner-")]
        assert not files[2].exists()
        assert (runners.wanted, runners.running, runners.finished(600)) == (0, 0, [])
    with pytest.raises(SimpluginError, match="closed"):
        runners.submit(job(4, "measured(16)"))


def test_runners_that_cannot_be_started_say_so(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with LocalRunners(1) as runners:
        runners.submit(job(0, "measured(0)"))
        for _ in range(2):
            with pytest.raises(SetupError, match="run processes cannot be started"):
                runners.finished(60)


def test_how_many(monkeypatch):
    # A process may have fewer cores than there are.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {1, 4, 7})
    assert cores() == 3
    with LocalRunners() as runners:
        assert (runners.count, runners.wanted) == (3, 6)
        assert runners.describe() == "3 processes of this host"
    with pytest.raises(SimpluginError, match="count is 0"):
        LocalRunners(0)
