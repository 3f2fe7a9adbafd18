"""A campaign on its way: jobs go out, records come back and are recorded."""

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
    log_path,
    manner_of,
)
from simplugin.campaigns.store import Store, StoreReader, UnwritableError
from simplugin.core.errors import SimpluginError, StoreError

# So many runs, the first ones, that all fail alike: so would the others.
HOPELESS = 50
_TELLING = ("error", "crash")
# How often a run is done anew because its files changed meanwhile.
_MOST_CHANGES = 3
# Seconds. What is finished is on the disk at most two commit periods later.
_COMMIT_PERIOD = 0.1
_REPORT_PERIOD = 0.2
# How long to go on handing over or passing by what is recorded, before looking at what is finished.
_FEEDING = 0.05


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """On which terms a campaign is run.

    Attributes
    ----------
    retries : int
        How often a run whose process died is tried again. Every attempt is recorded, together
        with the last one: a command that is killed in between leaves nothing of them.
    retry_failed : bool
        True if runs that are recorded as failed are run again.
    keep_going : bool
        True if to go on when nothing is done and the first fifty runs all fail alike.
    """

    retries: int = 1
    retry_failed: bool = False
    keep_going: bool = False


@dataclass(slots=True)
class _Flight:
    """A run that was handed over."""

    crashed: list[RunRecord] = field(default_factory=list)  # attempts that are not recorded yet
    twins: int = 0  # other positions of the campaign with the same key
    changes: int = 0  # how often its files changed while it ran


@dataclass(slots=True)
class Coordinator:
    """A campaign on its way, between its beginning and its end."""

    store: Store
    source: JobSource
    runners: Runners
    terms: RetryPolicy
    report: Callable[[CampaignProgress], None] | None
    log: RunLog
    stop: Callable[[], bool]
    # What came of it so far.
    state: CampaignSummary
    # Under way: jobs by their keys, those to be handed over, and whether more may come.
    _jobs: Iterator[RunJob] = field(init=False)
    _flights: dict[str, _Flight] = field(default_factory=dict)
    _due: deque[RunJob] = field(default_factory=deque)
    _more: bool = True
    _failed_now: set[str] = field(default_factory=set)
    # The failure that all had so far that were finished, and how many these are.
    _alike: tuple[str, str] | None = None
    _alike_count: int = 0
    # What is in the store but not on the disk, and whether a call of the store has not returned.
    _dirty: bool = False
    _writing: bool = False
    # Dates, and how many runs came back.
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
        """Go on until all is done, or until asked to stop."""
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
        """Hand over jobs and pass by what is recorded; False if somebody wants still more."""
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

    def _place(self, job: RunJob, twins: int = 0, changes: int = 0) -> None:
        """Have a job run, if it is not recorded or under way; for so many more positions too."""
        if (flight := self._flights.get(job.key)) is not None:
            flight.twins += 1 + twins
            self._note(job)
            return
        state = self.store.state_of(job.key)
        retried = self.terms.retry_failed and job.key not in self._failed_now
        if state == "done":
            self.state.done += 1 + twins
        elif state == "failed" and not retried:
            self.state.failed += 1 + twins
        else:
            self._flights[job.key] = _Flight(twins=twins, changes=changes)
            self._due.append(job)
            return
        self.state.before += 1 + twins
        self._note(job)

    def _take(self, records: list[RunRecord]) -> None:
        """Record what is finished; try again what crashed, and what its files changed under."""
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
            self._count(record, 1 + flight.twins)
            self.state.before += flight.twins
            self.log.ran(record)

    def _still_valid(self, record: RunRecord) -> RunRecord | None:
        """Return a record under a key that is still right; None if its job is to be done anew.

        The key was made of files as they were when the job was made, the run read them later.
        """
        old = record.job.key
        try:
            now = self.source.again(record.job)
        except SimpluginError as error:
            text = f"nobody knows what it was a run of: {error}"
            return replace(record, measured=None, failure=Failure("error", text))
        if now.key == old:
            return record
        self.state.changed += 1
        flight = self._flights.pop(old)
        if flight.twins:
            with self._written():
                self.store.follow(self.state.campaign, old, now)
        self.log.outdated(record)
        known = now.key in self._flights or self.store.state_of(now.key) is not None
        if known or flight.changes < _MOST_CHANGES:
            self._place(now, flight.twins, flight.changes + 1)
            return None
        self._flights[now.key] = _Flight(twins=flight.twins)
        text = "a file that it depends on changed during each attempt; run it when files stay"
        return replace(record, job=now, measured=None, failure=Failure("error", text))

    def _count(self, record: RunRecord, positions: int) -> None:
        """Count a run that was finished, for all positions that it is the run of."""
        self._finished += 1
        if record.failure is None:
            self.state.done += positions
            return
        self.state.failed += positions
        self._failed_now.add(record.job.key)
        manner = manner_of(record.failure)
        if self._finished == 1:
            self._alike = manner
        # What took too long or too much says nothing about others, which may be smaller.
        self._alike_count += manner == self._alike and record.failure.kind in _TELLING

    def _is_to_end(self) -> bool:
        """End what runs if somebody asks to stop, or if all that was run failed alike."""
        if self.stop():
            self.state.interrupted = True
            self._wind_up("asked to stop")
        elif (
            self._alike_count == self._finished >= HOPELESS
            and not self.state.done
            and not self.terms.keep_going
            and self.state.failed < self.state.total
        ):
            self.state.gave_up = True
            self._wind_up(f"the first {self._finished} runs all failed alike")
        return self.state.interrupted or self.state.gave_up

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Mark a change of the store that is not complete, and then one that is not durable."""
        self._writing = True
        yield
        self._writing = False
        self._dirty = True

    def _note(self, job: RunJob) -> None:
        """Make a recorded run a member of the campaign."""
        with self._written():
            self.store.note(self.state.campaign, job)

    def _append(self, attempts: list[RunRecord]) -> RunRecord:
        """Record all attempts of a run, together; return the last one as it was recorded.

        What cannot be recorded is a failure of the run, not of the store.
        """
        with self._written():
            for record in attempts:
                try:
                    self.store.append(self.state.campaign, record)
                except StoreError as error:
                    if record.measured is None or error.file is not None:
                        raise
                    failure = Failure("error", f"what came out cannot be recorded: {error}")
                    record = replace(record, measured=None, failure=failure)
                    self.store.append(self.state.campaign, record)
        return record

    def _commit(self) -> None:
        """Make durable what is recorded, then log it."""
        if self._dirty:
            with self._written():
                self.store.commit()
            self._dirty = False
        self._committed = monotonic()
        self.log.flush()

    def _patience(self) -> float:
        """Return how long the next commit, if one is due, can wait [s]."""
        if not self._dirty:
            return _COMMIT_PERIOD
        return max(0.0, self._committed + _COMMIT_PERIOD - monotonic())

    def _report_progress(self, *, at_once: bool = False) -> None:
        """Report how far it is, if it is time to."""
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
        """End what runs, and record what was finished before that."""
        finished = self.runners.finished(0.0)
        self.runners.close()
        # Whoever asked us to stop may have stopped our processes too: no crash counts now.
        self._take([each for each in finished if not _is_crash(each)])
        self.log.interrupted(why)

    def _abandon(self, error: BaseException) -> None:
        """End what runs; record what was finished, unless that is what went wrong."""
        try:
            if isinstance(error, KeyboardInterrupt) and not self._writing:
                self._take(self.runners.finished(0.0))
        finally:
            self.runners.close()
        if self._writing:  # in the middle: the store goes back to what it had
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
    expected: int | None = None,
    report: Callable[[CampaignProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
    command: Sequence[str] = (),
) -> CampaignSummary:
    """Run what is not recorded yet of a campaign; record it, and note in a log what was done when.

    It holds no more jobs than are handed over, and never has a run of the same key twice at the
    same time. What is finished is on the disk within 0.2 s. A run whose files changed since its
    key was made is not recorded, but done anew; three times at most.

    Parameters
    ----------
    source : JobSource
        The campaign.
    store_path : Path
        Its store; made if there is none. The log is beside it.
    runners : Runners
        Who runs. Closed if the campaign does not come to its end.
    terms : Terms, optional
        What is tried again, and when to give up.
    expected : int, optional
        How many jobs the source makes, if fewer than the campaign has.
    report : callable, optional
        Called about five times a second, and at the end, with how far it is.
    stop : callable, optional
        Asked several times a second whether to stop: runs in progress are then ended at once,
        finished ones are recorded.
    command : sequence of str
        The words of the command, for the log.

    Returns
    -------
    Summary
        State of the campaign.

    Raises
    ------
    StoreError
        Another program writes to the store, or it cannot be written although there is something
        to run; what was committed stays, and the same call goes on from there.
    SimpluginError
        Nobody can run anything any more; what was finished is recorded.
    """
    begun = monotonic()
    terms = terms or RetryPolicy()
    total = source.total if expected is None else expected
    try:
        opened = Store.open(store_path)
    except UnwritableError:
        standing = _finished(source, store_path, terms, total)
        if standing is None:
            raise
        return standing
    with closing(RunLog(log_path(store_path), command)) as log, opened as store:
        state = CampaignSummary(source.title, store_path, store.begin(source), total)
        log.begun(source, store_path)
        Coordinator(
            store, source, runners, terms, report, log, stop or (lambda: False), state
        ).run()
    state.seconds = monotonic() - begun
    with StoreReader(store_path) as reader:
        if (state.interrupted or state.gave_up) and expected is None:
            # What comes later in the order may be recorded too.
            entry = reader.entry(state.campaign)
            state.done, state.failed = entry.done, entry.failed
        state.failures = _groups(reader, state.campaign, state.failed)
    return state


def _finished(
    source: JobSource, store: Path, terms: RetryPolicy, total: int
) -> CampaignSummary | None:
    """Return the state of a campaign in a read-only store; None if there is more to do."""
    if not store.is_file():
        return None
    with StoreReader(store) as reader:
        entry = reader.described(source.identity)
        if entry is None or entry.missing or (entry.failed and terms.retry_failed):
            return None
        done, failed = min(entry.done, total), min(entry.failed, total)
        failures = _groups(reader, entry.number, failed)
        return CampaignSummary(
            source.title, store, entry.number, total, total, done, failed, failures
        )


def _groups(reader: StoreReader, campaign: int, failed: int) -> tuple[FailureGroup, ...]:
    """Return what failed in a campaign, if anything did."""
    return tuple(failure_groups(reader.failures(campaign))) if failed else ()
