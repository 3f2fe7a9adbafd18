"""Runners that are told what becomes of each job, jobs for them, and what a store has of these."""

import sqlite3
from collections import Counter, deque
from hashlib import sha256
from pathlib import Path

from simplugin.campaigns.jobs import Failure, RunJob, RunRecord
from simplugin.results.row import Metric, Row, RunResult

# Without a disk to wait for: what survives a power cut is another test's matter.
QUICK_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None


class Source:
    """Jobs whose keys are given, counted while they are made."""

    title, file, text = "by a test", "", ""
    target, recipe = "nowhere:nothing", None

    def __init__(self, keys):
        self.keys = list(keys)
        self.total = len(self.keys)
        self.identity = sha256(repr(self.keys).encode()).hexdigest()
        self.made = 0

    def jobs(self):
        for position, key in enumerate(self.keys):
            self.made += 1
            yield job_with(key, position)

    def again(self, job):
        return job


def job_with(key, position):
    full = sha256(str(key).encode()).hexdigest()
    return RunJob(full, position, "nowhere:nothing", {"key": key}, {"key": key})


def record_of(job, ending="done"):
    measured = failure = None
    if ending == "done":
        measured = RunResult(Row((Metric("square", job.arguments["key"] ** 2),)))
    else:
        failure = Failure(ending, f"{ending} of run {job.position}")
    return RunRecord(job, measured, failure, "2026-11-22T00:00:00.000+00:00", 0.5, "here:1", {})


class Told:
    """Runners that finish as many jobs at a time as they are told, as `endings` says."""

    def __init__(self, endings=lambda _job, _attempt: "done", room=4, batch=2):
        self.endings, self.room, self.batch = endings, room, batch
        self.waiting = deque()
        self.tried = Counter()
        self.most = 0
        self.closed = False

    @property
    def wanted(self):
        return self.room - len(self.waiting)

    @property
    def running(self):
        return len(self.waiting)

    def submit(self, job):
        assert not self.closed
        assert job.key not in [each.key for each in self.waiting], "in flight twice"
        assert self.wanted > 0, "more than was wanted"
        self.waiting.append(job)

    def finished(self, timeout):
        assert 0 <= timeout <= 0.1
        return [self.finish() for _ in range(min(self.batch, len(self.waiting)))]

    def finish(self):
        job = self.waiting.popleft()
        self.tried[job.key] += 1
        ending = self.endings(job, self.tried[job.key])
        if isinstance(ending, BaseException):
            raise ending
        return ending if isinstance(ending, RunRecord) else record_of(job, ending)

    def describe(self):
        return "a test"

    def close(self):
        self.closed = True


def rows(store):
    """Return what SQLite itself finds in a store: (key, attempt, status) of each row."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        found = connection.execute("SELECT lower(hex(key)), attempt, status FROM runs").fetchall()
    connection.close()
    return sorted(found)
