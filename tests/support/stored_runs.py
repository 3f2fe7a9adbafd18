"""Jobs and records for the tests of the store; as a program: writes them until it is killed."""

import hashlib
import resource
import signal
import sys
from dataclasses import dataclass, replace
from itertools import count

from simplugin.campaigns.jobs import Failure, RunJob, RunRecord
from simplugin.core.errors import SimpluginError
from simplugin.results.row import Best, Metric, Row, RunResult

VERSIONS = {"simplugin": "0.1.0", "simgrid": "4.1.0", "python": "3.11.7"}


def key_of(number, salt=""):
    return hashlib.sha256(f"{salt}{number}".encode()).hexdigest()


@dataclass
class Source:
    total: int = 10
    identity: str = key_of("campaign")
    title: str = "Numbers"
    file: str = "numbers.toml"
    text: str = 'title = "Numbers"\n'
    target: str = "numbers:run"
    recipe: dict | None = None

    def jobs(self):
        return map(job, range(self.total))

    def again(self, job):
        return job


def job(number, **changes):
    document = {"platform": {"seed": number, "hosts": [1, 2]}, "scheduler": {"name": "bags.fcfs"}}
    fields = {
        "key": key_of(number),
        "position": number,
        "target": "numbers:run",
        "arguments": {"document": document, "directory": "/lab", "keep": False},
        "varied": {"platform.seed": number},
    }
    return RunJob(**(fields | changes))


def done(number, *, contents=None, metrics=None, best=None, **changes):
    if metrics is None:
        metrics = (Metric("makespan", number + 0.1, "s"), Metric("tasks", number))
        best = Best("makespan", 0.1)
    provenance = {"seed": number, "until": None, "options": {"network/model": "CM02"}}
    measured = RunResult(Row(metrics, provenance, best), key_of(number, "digest"), contents)
    return _record(job(number, **changes), measured, None, number)


def failed(number, text="it broke", kind="error", **changes):
    return _record(job(number, **changes), None, Failure(kind, text), number)


def _record(job, measured, failure, number):
    started = f"2026-11-22T05:00:{number % 60:02}+00:00"
    return RunRecord(job, measured, failure, started, 0.25, "here:1", VERSIONS)


def records_of(reader, campaign=None):
    """Return the records of a store by position, with what is kept of some of them."""
    records = [run.record for run in reader.runs(campaign)]
    kept = {each.job.position: each.measured for each, _ in reader.contents(campaign)}
    return [
        replace(record, measured=kept.get(record.job.position, record.measured))
        for record in records
    ]


def write_on(path, batch, limit):
    """Add batches to a store, and print how many runs it has after each that was committed."""
    from simplugin.campaigns.store import Store, StoreReader

    with Store.open(path) as store:
        campaign = store.begin(Source(10**6))
        with StoreReader(path) as reader:
            there = reader.campaigns()[0].done
        if limit:
            # As a shell's `ulimit -f`: writing fails, as on a full disk.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for first in count(there, batch):
            for number in range(first, first + batch):
                contents = {"bars": [number] * 50} if number % 3 == 0 else None
                store.append(campaign, done(number, contents=contents))
            store.commit()
            print(first + batch, flush=True)


if __name__ == "__main__":
    try:
        write_on(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except SimpluginError as error:
        sys.exit(str(error))
