"""Reports of the coordinator: the log, progress, and failures in groups."""

from dataclasses import replace

import pytest
from told_runners import Source, Told, job_with, record_of, rows

from simplugin.campaigns.jobs import Failure
from simplugin.campaigns.running.course import run_jobs
from simplugin.campaigns.running.reporting import Pace, RunLog, failure_groups
from simplugin.errors import StoreError


@pytest.mark.parametrize("text", ["\n", "2026-11-22,3\n", "begun"])
def test_a_log_is_not_written_into_other_files(tmp_path, text):
    log = tmp_path / "x.sqlite.log"
    log.write_text(text)
    with RunLog(log) as opened, pytest.raises(StoreError, match="this is no log of runs"):
        run_jobs(Source([1]), tmp_path / "x.sqlite", Told(), log=opened)
    assert log.read_text() == text
    # What a full disk left of one is.
    for beginning in ("", "2026-11-", "2026-11-22T06:00:00.000Z beg"):
        log.write_text(beginning)
        with RunLog(log) as opened:
            opened.begun(Source([1]), tmp_path)
        assert log.read_text().startswith(beginning)


def test_the_log_tells_what_was_done(tmp_path):
    endings = {0: "done", 1: "crash", 2: "error"}
    store, path = tmp_path / "x.sqlite", tmp_path / "x.log"
    with RunLog(path, ("simplugin", "campaign", "run", "my file.toml")) as log:
        runners = Told(lambda job, _attempt: endings[job.position])
        run_jobs(Source(range(3)), store, runners, log=log)
    with RunLog(path) as log:
        run_jobs(Source([7]), store, Told(), log=log, stop=lambda: True)
    lines = [line.partition(" ")[2] for line in path.read_text().splitlines()]
    keys = [job_with(key, 0).key[:12] for key in range(3)]
    assert lines[0].startswith("begun 'by a test', 3 runs")
    assert lines[0].endswith("simplugin campaign run 'my file.toml'")
    assert sorted(lines[1:5]) == [
        f"run 0 {keys[0]} done in 0.500 s on here:1",
        f"run 1 {keys[1]} crash in 0.500 s on here:1: crash of run 1",
        f"run 1 {keys[1]} crash, again in 0.500 s on here:1: crash of run 1",
        f"run 2 {keys[2]} error in 0.500 s on here:1: error of run 2",
    ]
    assert lines[5].startswith("ended: 1 done, 2 failed, of 3 runs, in ")
    assert [line.split()[0] for line in lines[6:]] == ["begun", "interrupted:", "ended:"]


def test_progress_adds_up(tmp_path):
    told = []
    source, store = Source(range(20)), tmp_path / "x.sqlite"
    run_jobs(source, store, Told(), stop=lambda: source.made >= 8)
    before = len(rows(store))
    runners = Told(lambda job, _: "error" if job.position == 9 else "done")
    summary = run_jobs(Source(range(20)), store, runners, report=told.append)
    last = told[-1]
    assert (last.total, last.done, last.failed, last.before) == (20, 19, 1, before)
    assert (last.running, last.runners, last.left) == (0, "a test", (0.0, 0.0))
    assert (summary.done, summary.failed, summary.before) == (19, 1, before)
    assert 0 < before < 20


def test_the_pace_is_that_of_the_last_minute():
    pace = Pace(0.0)
    assert pace.left(10) is None
    for second in range(1, 201):  # 1 run a second, then 4
        pace.note(float(second), max(second, 4 * second - 300))
    assert pace.rate == pytest.approx(4.0)
    low, high = pace.left(480)
    assert (low, high) == pytest.approx((480 * 60 / (240 + 240**0.5), 480 * 60 / (240 - 240**0.5)))
    assert low < 120 < high
    assert pace.left(0) == (0.0, 0.0)


def test_failures_are_grouped_apart_from_numbers_and_fit_into_memory():
    texts = [f"{'abcdefghijklmnopqrstuvwxyz'[n % 26]} at {n * 0.5} s" for n in range(2600)]
    failures = [Failure("error", text) for text in texts]
    records = [
        replace(record_of(job_with(n, n), "error"), failure=each) for n, each in enumerate(failures)
    ]
    groups = failure_groups([*records, record_of(job_with(3, 9999))])
    assert [group.count for group in groups] == [100] * 20 + [600]
    assert [group.mixed for group in groups] == [False] * 20 + [True]
    assert {len(group.first) for group in groups} == {10}
    assert [job.position for job in groups[1].first] == [1 + 26 * n for n in range(10)]
