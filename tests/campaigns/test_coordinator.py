"""The coordinator and its reports, with runners of which the tests decide what becomes of jobs."""

from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from told_runners import QUICK_DISK, Source, Told, job_with, record_of, rows

from simplugin.campaigns.jobs import Failure
from simplugin.campaigns.running import coordinator
from simplugin.campaigns.running.campaign_runs import RunnersOnDemand
from simplugin.campaigns.running.coordinator import RetryPolicy, run_jobs
from simplugin.campaigns.running.reporting import RunLog, RunRate, failure_groups, log_path
from simplugin.campaigns.store import Store, StoreReader
from simplugin.core.errors import SetupError, StoreError
from simplugin.results.row import Metric, Row, RunResult


@pytest.fixture
def store(tmp_path):
    return tmp_path / "x.sqlite"


def states(store):
    """Return the last status of each key, and how many rows it has."""
    found = {}
    for key, _attempt, status in rows(store):
        found[key] = (status, found.get(key, ("", 0))[1] + 1)
    return found


def test_each_key_is_run_once_and_every_position_is_a_member(store):
    source, runners = Source([1, 2, 1, 3, 1, 2]), Told(room=6)
    summary = run_jobs(source, store, runners)
    assert (summary.total, summary.done, summary.failed, summary.before) == (6, 6, 0, 3)
    assert sorted(runners.tried.values()) == [1, 1, 1]
    with StoreReader(store) as reader:
        (entry,) = reader.campaigns()
        assert (entry.total, entry.done, entry.missing) == (6, 6, 0)
        records = [run.record for run in reader.runs(entry.number)]
    assert [record.measured.row["square"] for record in records] == [1, 4, 1, 9, 1, 4]
    assert [record.job.position for record in records] == list(range(6))


def test_jobs_are_made_when_they_are_wanted(store):
    source, ahead = Source(range(300)), []

    class Watched(Told):
        def finished(self, timeout):
            ahead.append(source.made - sum(self.tried.values()))
            return super().finished(timeout)

    run_jobs(source, store, Watched(room=5))
    assert max(ahead) == 5


def test_runners_that_nobody_needs_are_not_started(store):
    run_jobs(Source(range(3)), store, Told())
    with RunnersOnDemand(lambda: pytest.fail("started")) as runners:
        summary = run_jobs(Source(range(3)), store, runners)
    assert (summary.done, summary.before) == (3, 3)


ENDINGS = st.sampled_from(["done", "done", "error", "crash", "wall_limit", "memory_limit"])


KEY, BREAK = st.integers(0, 6), st.sampled_from(["stop", "ctrl-c", "lost"])


@given(
    keys=st.lists(KEY, max_size=14),
    fates=st.dictionaries(KEY, st.lists(ENDINGS, max_size=3)),
    retries=st.integers(0, 2),
    room=st.integers(1, 5),
    batch=st.integers(1, 5),
    breaks=st.lists(st.tuples(BREAK, st.integers(0, 9))),
)
@settings(max_examples=60)
def test_interruptions_lose_nothing_and_repeat_nothing(keys, fates, retries, room, batch, breaks):
    """Each key ends as a model says that knows no store, no batches and no interruptions."""
    source = Source(keys)

    def ending(job, attempt):
        fate = [*fates.get(job.arguments["key"], []), "done"]
        return fate[min(attempt, len(fate)) - 1]

    with TemporaryDirectory(dir=QUICK_DISK) as directory:
        store = Path(directory) / "x.sqlite"
        recorded = {}
        for how, after in [*breaks, ("", 0)]:
            runners = interrupted_run(source, store, ending, retries, room, batch, how, after)
            assert not set(runners.tried) & set(recorded), "run again though it was recorded"
            assert recorded.items() <= states(store).items(), "lost"
            recorded = states(store)
        model = {}
        for key in set(keys):
            tries = [ending(job_with(key, 0), n) for n in range(1, 2 + retries)]
            crashes = next((n for n, each in enumerate(tries) if each != "crash"), retries)
            status = "done" if tries[crashes] == "done" else "failed"
            model[job_with(key, 0).key] = (status, crashes + 1)
        assert recorded == model
        with StoreReader(store) as reader:
            (entry,) = reader.campaigns()
        done = sum(model[job_with(key, 0).key][0] == "done" for key in keys)
        assert (entry.done, entry.failed) == (done, len(keys) - done)


def interrupted_run(source, store, ending, retries, room, batch, how, after):
    """Run until so many were tried; then stop, be interrupted or lose the runners."""
    errors = {"ctrl-c": KeyboardInterrupt(), "lost": SetupError("the scheduler vanished")}

    def fate(job, attempt):
        if how in errors and sum(runners.tried.values()) > after:
            return errors[how]
        return ending(job, attempt)

    runners = Told(fate, room, batch)
    stop = (lambda: sum(runners.tried.values()) >= after) if how == "stop" else None
    try:
        run_jobs(source, store, runners, terms=RetryPolicy(retries), stop=stop)
    except (KeyboardInterrupt, SetupError):
        assert runners.closed
    return runners


def test_what_is_finished_is_on_the_disk_within_a_fifth_of_a_second(store, monkeypatch):
    """With a clock of its own, SQLite itself looks at the file whenever the runners are asked."""
    now, back, turns = [100.0], {}, count()
    monkeypatch.setattr(coordinator, "monotonic", lambda: now[0])

    class Looking(Told):
        def finished(self, timeout):
            durable = {key for key, *_ in rows(store)}
            late = [key for key, date in back.items() if date < now[0] - 0.2]
            assert set(late) <= durable
            quick = next(turns) % 3  # they are finished at once, soon, or not in time
            now[0] += timeout * quick / 2
            self.batch = quick if quick < 2 else 3
            records = super().finished(timeout)
            back.update((record.job.key, now[0]) for record in records)
            now[0] += 0.003
            return records

    assert run_jobs(Source(range(40)), store, Looking(room=7)).done == 40


def test_the_failed_are_listed_and_run_again_when_asked(store):
    source = Source(range(6))
    broken = Told(lambda job, _attempt: "error" if job.position % 2 else "done")
    first = run_jobs(source, store, broken)
    again = Told()
    second = run_jobs(source, store, again)
    for summary in (first, second):
        assert (summary.done, summary.failed) == (3, 3)
        (group,) = summary.failures
        assert (group.kind, group.text, group.count) == ("error", "error of run 1", 3)
        assert [job.position for job in group.first] == [1, 3, 5]
    assert not again.tried
    third = run_jobs(source, store, again, terms=RetryPolicy(retry_failed=True))
    assert (third.done, third.failed, third.failures) == (6, 0, ())
    assert len(again.tried) == 3
    assert len(rows(store)) == 9


def test_a_key_that_failed_is_not_tried_again_at_its_next_position(store):
    for terms in (RetryPolicy(), RetryPolicy(retry_failed=True)):
        runners = Told(lambda *_: "error", room=1)
        summary = run_jobs(Source([1, 2, 3, 1]), store, runners, terms=terms)
        assert list(runners.tried.values()) == [1, 1, 1]
        assert summary.failed == 4


def test_an_outcome_that_cannot_be_recorded_is_the_failure_of_its_run(store):
    strange = RunResult(Row((Metric("strange", object()),)))

    def ending(job, _attempt):
        return replace(record_of(job), measured=strange) if job.position == 1 else "done"

    summary = run_jobs(Source(range(3)), store, Told(ending))
    assert (summary.done, summary.failed) == (2, 1)
    assert "cannot be recorded" in summary.failures[0].text


def test_runs_that_all_fail_alike_are_given_up(store, tmp_path):
    source = Source(range(120))
    broken = Told(lambda *_: "error")
    summary = run_jobs(source, store, broken)
    assert (summary.gave_up, summary.interrupted, broken.closed) == (True, False, True)
    assert (summary.done, summary.failed) == (0, len(rows(store)))
    assert 50 <= summary.failed < 56
    assert "interrupted: the first 50 runs all failed alike" in log_path(store).read_text()
    # It goes on from there, and on when told so, or when they are not all alike.
    for ending, terms in (
        (lambda *_: "error", RetryPolicy(keep_going=True)),
        (lambda job, _: "done" if job.position == 49 else "error", RetryPolicy(retry_failed=True)),
    ):
        runners = Told(ending)
        summary = run_jobs(source, store, runners, terms=terms)
        assert (summary.gave_up, summary.done + summary.failed) == (False, 120)
    assert summary.done == 1
    slow = run_jobs(Source(range(60)), tmp_path / "y.sqlite", Told(lambda *_: "wall_limit"))
    assert (slow.gave_up, slow.failed) == (False, 60)
    first = Source(range(1000, 1050))
    assert not run_jobs(first, store, Told(lambda *_: "error")).gave_up  # nothing is left to run


def test_a_second_coordinator_is_refused(store):
    with Store.open(store), raises_naming(StoreError, store):
        run_jobs(Source([1]), store, Told(lambda *_: pytest.fail("it ran something")))
    assert run_jobs(Source([1]), store, Told()).done == 1


class Versions(Source):
    """Jobs whose keys have the state of a file, which runs read when they begin."""

    state = 0

    def jobs(self):
        for position, key in enumerate(self.keys):
            yield replace(job_with((key, self.state), position), arguments={"key": key})

    def again(self, job):
        return replace(job, key=job_with((job.arguments["key"], self.state), 0).key)


@given(
    keys=st.lists(st.integers(0, 3), min_size=1, max_size=9),
    changes=st.lists(st.booleans(), max_size=12),
    room=st.integers(1, 5),
    batch=st.integers(1, 3),
)
@settings(max_examples=40)
def test_no_outcome_is_recorded_under_the_key_of_another_state(keys, changes, room, batch):
    source, state_read, left = Versions(keys), {}, list(changes)

    class Reading(Told):
        def submit(self, job):
            super().submit(job)
            state_read[job.key] = source.state
            if left and left.pop():
                source.state += 1

        def finish(self):
            job = self.waiting.popleft()
            row = Row((Metric("state", state_read[job.key]),))
            return replace(record_of(job), measured=RunResult(row))

    with TemporaryDirectory(dir=QUICK_DISK) as directory:
        store = Path(directory) / "x.sqlite"
        summary = run_jobs(source, store, Reading(room=room, batch=batch))
        assert summary.done + summary.failed == len(keys)
        with StoreReader(store) as reader:
            (entry,) = reader.campaigns()
            records = [run.record for run in reader.runs()]
        assert (entry.done, entry.failed) == (summary.done, summary.failed)
    assert [record.job.position for record in records] == list(range(len(keys)))
    for record, key in zip(records, keys, strict=True):
        if record.measured is not None:
            state = record.measured.row["state"]
            assert record.job.key == job_with((key, state), 0).key
        else:
            assert "changed during each attempt" in record.failure.text
    if sum(changes) <= 3:
        assert summary.failed == 0


def test_a_file_that_never_stays_is_a_failure_of_the_run(store):
    source = Versions([1, 2, 1])  # the last is as the first then

    def ending(job, _attempt):
        source.state += job.arguments["key"] == 1
        return "crash"  # which is no attempt at what it is now

    runners = Told(ending, room=1)
    summary = run_jobs(source, store, runners, terms=RetryPolicy(retries=0))
    assert (summary.failed, summary.changed) == (3, 4)
    lines = log_path(store).read_text().splitlines()
    assert sum("not recorded: a file that it depends on changed" in line for line in lines) == 4
    assert [attempt for _key, attempt, _status in rows(store)] == [1, 1]


@pytest.mark.parametrize("text", ["\n", "2026-11-22,3\n", "begun"])
def test_a_log_is_not_written_into_other_files(tmp_path, text):
    log = tmp_path / "x.sqlite.log"
    log.write_text(text)
    with raises_naming(StoreError, log):
        run_jobs(Source([1]), tmp_path / "x.sqlite", Told())
    assert log.read_text() == text
    # What a full disk left of one is.
    for beginning in ("", "2026-11-", "2026-11-22T06:00:00.000Z beg"):
        log.write_text(beginning)
        with closing(RunLog(log)) as opened:
            opened.begun(Source([1]), tmp_path)
        assert log.read_text().startswith(beginning)


def test_the_log_tells_what_was_done(store):
    endings = {0: "done", 1: "crash", 2: "error"}
    runners = Told(lambda job, _attempt: endings[job.position])
    command = ("simplugin", "campaign", "run", "my file.toml")
    run_jobs(Source(range(3)), store, runners, command=command)
    run_jobs(Source([7]), store, Told(), stop=lambda: True)
    lines = [line.partition(" ")[2] for line in log_path(store).read_text().splitlines()]
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
    pace = RunRate(0.0)
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
