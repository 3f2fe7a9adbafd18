"""The coordinator of a campaign: it submits jobs and records results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from simplugin.campaigns.jobs import Failure, JobSource, RunJob, Runners, RunRecord
from simplugin.campaigns.running.reporting import (
    CampaignProgress,
    CampaignSummary,
    FailureGroup,
    RunLog,
    RunRate,
    failure_groups,
    failure_signature,
    log_path,
)
from simplugin.campaigns.store import Store, StoreReader, UnwritableError
from simplugin.core.errors import SimpluginError, StoreError

# A campaign stops after this number of initial runs that all fail with the same error.
MAX_IDENTICAL_FAILURES = 50
_TELLING = ("error", "crash")
# Maximum number of repetitions of a run whose files changed while it ran.
_MOST_CHANGES = 3
# A result is on the disk at most two commit periods after it arrived [s].
_COMMIT_PERIOD = 0.1
_REPORT_PERIOD = 0.2
# Maximum time spent on submitting jobs before results are taken [s].
_FEEDING = 0.05


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retry and abort policy of a campaign.

    Attributes
    ----------
    retries : int
        Maximum number of retries after the death of a run's process. All attempts are recorded
        together with the last one: a command that is killed before that records none of them.
    retry_failed : bool
        True to run again what is recorded as failed.
    keep_going : bool
        True to continue even if the first fifty runs all fail with the same error.
    """

    retries: int = 1
    retry_failed: bool = False
    keep_going: bool = False


@dataclass(slots=True)
class _InFlight:
    """A job that was submitted."""

    crashed: list[RunRecord] = field(default_factory=list)  # attempts to record
    duplicates: int = 0  # further positions of the campaign with the same key
    changes: int = 0  # number of attempts during which its files changed


@dataclass(slots=True)
class Coordinator:
    """The state of a campaign while it runs."""

    store: Store
    source: JobSource
    runners: Runners
    terms: RetryPolicy
    report: Callable[[CampaignProgress], None] | None
    log: RunLog
    stop: Callable[[], bool]
    # Runs that are done and failed so far.
    state: CampaignSummary
    # Jobs in progress by their keys, those to submit, and whether the source may have more.
    _jobs: Iterator[RunJob] = field(init=False)
    _flights: dict[str, _InFlight] = field(default_factory=dict)
    _due: deque[RunJob] = field(default_factory=deque)
    _more: bool = True
    _failed_now: set[str] = field(default_factory=set)
    # The signature of the first failure, and the number of runs that failed with it.
    _alike: tuple[str, str] | None = None
    _alike_count: int = 0
    # True if the store has uncommitted rows; True while a call of the store is in progress.
    _dirty: bool = False
    _writing: bool = False
    # Dates [s], and the number of runs that have ended.
    _began: float = field(init=False)
    _reported: float = field(init=False)
    _committed: float = field(init=False)
    _finished: int = 0
    _pace: RunRate = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._jobs = self.source.jobs()
        self._began = self._reported = self._committed = monotonic()
        self._pace = RunRate(self._began)

    def run(self) -> None:
        """Run until everything is done, or until `stop` returns True."""
        try:
            while self._more or self._flights:
                if self._is_to_end():
                    break
                fed = self._feed()
                self._take(self.runners.finished(self._patience() if fed else 0.0))
                if self._dirty and self._patience() == 0.0:
                    self._commit()
                self._report_progress()
        except BaseException as error:
            self._abandon(error)
            raise
        self._commit()
        seconds = monotonic() - self._began
        self.log.ended(
            self.state.done, self.state.failed, self.state.total, seconds, self.runners.describe()
        )
        self.log.flush()
        self._report_progress(at_once=True)

    def _feed(self) -> bool:
        """Submit jobs that are not recorded; return False if the runners want still more."""
        end = monotonic() + _FEEDING
        while self.runners.wanted > 0:
            if self._due:
                self.runners.submit(self._due.popleft())
                continue
            job = next(self._jobs, None) if self._more else None
            if job is None:
                self._more = False
                return True
            self._place(job)
            if monotonic() > end or self.stop():
                return False
        return True

    def _place(self, job: RunJob, duplicates: int = 0, changes: int = 0) -> None:
        """Queue a job unless it is recorded or running; `duplicates` counts further positions."""
        if (flight := self._flights.get(job.key)) is not None:
            flight.duplicates += 1 + duplicates
            self._note(job)
            return
        state = self.store.state_of(job.key)
        retried = self.terms.retry_failed and job.key not in self._failed_now
        if state == "done":
            self.state.done += 1 + duplicates
        elif state == "failed" and not retried:
            self.state.failed += 1 + duplicates
        else:
            self._flights[job.key] = _InFlight(duplicates=duplicates, changes=changes)
            self._due.append(job)
            return
        self.state.before += 1 + duplicates
        self._note(job)

    def _take(self, records: list[RunRecord]) -> None:
        """Record results; queue again crashed runs, and runs whose files changed."""
        for each in records:
            if (record := self._still_valid(each)) is None:
                continue
            key = record.job.key
            flight = self._flights[key]
            if _is_crash(record) and len(flight.crashed) < self.terms.retries:
                flight.crashed.append(record)
                self._due.append(record.job)
                self.log.ran(record, again=True)
                continue
            record = self._append([*flight.crashed, record])
            del self._flights[key]
            self._count(record, 1 + flight.duplicates)
            self.state.before += flight.duplicates
            self.log.ran(record)

    def _still_valid(self, record: RunRecord) -> RunRecord | None:
        """Return a record with a key that is still valid; None if its job was queued again.

        The key was computed when the job was made, but the run has read the files later.
        """
        old = record.job.key
        try:
            now = self.source.again(record.job)
        except SimpluginError as error:
            text = f"its key cannot be computed again: {error}"
            return replace(record, measured=None, failure=Failure("error", text))
        if now.key == old:
            return record
        self.state.changed += 1
        flight = self._flights.pop(old)
        if flight.duplicates:
            with self._written():
                self.store.follow(self.state.campaign, old, now)
        self.log.outdated(record)
        known = now.key in self._flights or self.store.state_of(now.key) is not None
        if known or flight.changes < _MOST_CHANGES:
            self._place(now, flight.duplicates, flight.changes + 1)
            return None
        self._flights[now.key] = _InFlight(duplicates=flight.duplicates)
        text = "a file that it depends on changed during each attempt; run it when files stay"
        return replace(record, job=now, measured=None, failure=Failure("error", text))

    def _count(self, record: RunRecord, positions: int) -> None:
        """Count a run that has ended, for all positions with its key."""
        self._finished += 1
        if record.failure is None:
            self.state.done += positions
            return
        self.state.failed += positions
        self._failed_now.add(record.job.key)
        manner = failure_signature(record.failure)
        if self._finished == 1:
            self._alike = manner
        # A run that exceeds a limit does not count: the next ones may be smaller.
        self._alike_count += manner == self._alike and record.failure.kind in _TELLING

    def _is_to_end(self) -> bool:
        """End the runners and return True if `stop` says so, or if all first runs failed alike."""
        if self.stop():
            self.state.interrupted = True
            self._wind_up("asked to stop")
        elif (
            self._alike_count == self._finished >= MAX_IDENTICAL_FAILURES
            and not self.state.done
            and not self.terms.keep_going
            and self.state.failed < self.state.total
        ):
            self.state.gave_up = True
            self._wind_up(f"the first {self._finished} runs all failed alike")
        return self.state.interrupted or self.state.gave_up

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Mark the store as in use during a change, and as uncommitted afterwards."""
        self._writing = True
        yield
        self._writing = False
        self._dirty = True

    def _note(self, job: RunJob) -> None:
        """Make a recorded run a member of the campaign."""
        with self._written():
            self.store.note(self.state.campaign, job)

    def _append(self, attempts: list[RunRecord]) -> RunRecord:
        """Record all attempts of a run together; return the last one in its recorded form.

        A result that cannot be recorded is a failure of the run, not of the store.
        """
        with self._written():
            for record in attempts:
                try:
                    self.store.append(self.state.campaign, record)
                except StoreError as error:
                    if record.measured is None or error.file is not None:
                        raise
                    failure = Failure("error", f"the result cannot be recorded: {error}")
                    record = replace(record, measured=None, failure=failure)
                    self.store.append(self.state.campaign, record)
        return record

    def _commit(self) -> None:
        """Commit the store, then write the log."""
        if self._dirty:
            with self._written():
                self.store.commit()
            self._dirty = False
        self._committed = monotonic()
        self.log.flush()

    def _patience(self) -> float:
        """Return the time until the next commit [s]."""
        if not self._dirty:
            return _COMMIT_PERIOD
        return max(0.0, self._committed + _COMMIT_PERIOD - monotonic())

    def _report_progress(self, *, at_once: bool = False) -> None:
        """Report the progress unless the last report is recent."""
        now = monotonic()
        if self.report is None or (now - self._reported < _REPORT_PERIOD and not at_once):
            return
        self._reported = now
        self._pace.note(now, self._finished)
        self.report(
            CampaignProgress(
                total=self.state.total,
                done=self.state.done,
                failed=self.state.failed,
                before=self.state.before,
                running=self.runners.running,
                seconds=now - self._began,
                rate=self._pace.rate,
                left=self._pace.left(self.state.total - self.state.done - self.state.failed),
                runners=self.runners.describe(),
            )
        )

    def _wind_up(self, why: str) -> None:
        """End the runners, and record the results that arrived before."""
        finished = self.runners.finished(0.0)
        self.runners.close()
        # A signal to the process group may have killed runs too: crashes do not count now.
        self._take([each for each in finished if not _is_crash(each)])
        self.log.interrupted(why)

    def _abandon(self, error: BaseException) -> None:
        """End the runners; record results unless recording has failed."""
        try:
            if isinstance(error, KeyboardInterrupt) and not self._writing:
                self._take(self.runners.finished(0.0))
        finally:
            self.runners.close()
        if self._writing:  # the store rolls back
            return
        self.log.interrupted(f"{type(error).__name__}: {error}")
        self._commit()


def _is_crash(record: RunRecord) -> bool:
    """Return True if the run's process died."""
    return record.failure is not None and record.failure.kind == "crash"


def run_jobs(
    source: JobSource,
    store_path: Path,
    runners: Runners,
    *,
    terms: RetryPolicy | None = None,
    report: Callable[[CampaignProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
    command: Sequence[str] = (),
) -> CampaignSummary:
    """Do all runs of a campaign that are not recorded; record them, and write a log.

    Only submitted jobs are held in memory, and no key is run twice at the same time. Results are
    on the disk within 0.2 s. A run whose files have changed since its key was computed is not
    recorded but repeated, at most three times.

    Parameters
    ----------
    source : JobSource
        The campaign.
    store_path : Path
        The store; created if it is missing. The log is in the same directory.
    runners : Runners
        Runners of the jobs; closed if the campaign ends early.
    terms : RetryPolicy, optional
        Retry and abort policy.
    report : callable, optional
        Called with the progress about five times a second, and at the end.
    stop : callable, optional
        Called several times a second; once it returns True, runs in progress are ended, and
        results that have arrived are recorded.
    command : sequence of str
        Command line, for the log.

    Returns
    -------
    CampaignSummary
        State of the campaign.

    Raises
    ------
    StoreError
        Another program writes to the store, or it cannot be written and a run is missing;
        committed runs stay, and the same call continues after them.
    SimpluginError
        The runners have failed; results that had arrived are recorded.
    """
    begun = monotonic()
    terms = terms or RetryPolicy()
    try:
        opened = Store.open(store_path)
    except UnwritableError:
        standing = _finished(source, store_path, terms)
        if standing is None:
            raise
        return standing
    with closing(RunLog(log_path(store_path), command)) as log, opened as store:
        state = CampaignSummary(source.title, store_path, store.begin(source), source.total)
        log.begun(source, store_path)
        Coordinator(
            store, source, runners, terms, report, log, stop or (lambda: False), state
        ).run()
    state.seconds = monotonic() - begun
    with StoreReader(store_path) as reader:
        entry = reader.entry(state.campaign)
        if (state.interrupted or state.gave_up) and entry.total == state.total:
            # Later positions may be recorded, too.
            state.done, state.failed = entry.done, entry.failed
        state.failures = _groups(reader, state.campaign, state.failed)
    return state


def _finished(source: JobSource, store: Path, terms: RetryPolicy) -> CampaignSummary | None:
    """Return the state of a campaign in a read-only store; None if a run is missing."""
    if not store.is_file():
        return None
    with StoreReader(store) as reader:
        entry = reader.described(source.identity)
        if entry is None or entry.missing or (entry.failed and terms.retry_failed):
            return None
        total = source.total
        done, failed = min(entry.done, total), min(entry.failed, total)
        failures = _groups(reader, entry.number, failed)
        return CampaignSummary(
            source.title, store, entry.number, total, total, done, failed, failures
        )


def _groups(reader: StoreReader, campaign: int, failed: int) -> tuple[FailureGroup, ...]:
    """Return the groups of failures of a campaign."""
    return tuple(failure_groups(reader.failures(campaign))) if failed else ()
