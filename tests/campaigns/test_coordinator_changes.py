"""The coordinator, when the files that runs depend on change while it has them run."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from told_runners import QUICK_DISK, Source, Told, job_with, record_of, rows

from simplugin.campaigns.jobs import Measured
from simplugin.campaigns.running.course import Terms, run_jobs
from simplugin.campaigns.running.reporting import RunLog
from simplugin.campaigns.store import StoreReader
from simplugin.rows import Metric, Row


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
            return replace(record_of(job), measured=Measured(row))

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


def test_a_file_that_never_stays_is_a_failure_of_the_run(tmp_path):
    source, store = Versions([1, 2, 1]), tmp_path / "x.sqlite"  # the last is as the first then

    def ending(job, _attempt):
        source.state += job.arguments["key"] == 1
        return "crash"  # which is no attempt at what it is now

    runners = Told(ending, room=1)
    with RunLog(tmp_path / "x.log") as log:
        summary = run_jobs(source, store, runners, terms=Terms(retries=0), log=log)
    assert (summary.failed, summary.changed) == (3, 4)
    lines = (tmp_path / "x.log").read_text().splitlines()
    assert sum("not recorded: a file that it depends on changed" in line for line in lines) == 4
    assert [attempt for _key, attempt, _status in rows(store)] == [1, 1]
