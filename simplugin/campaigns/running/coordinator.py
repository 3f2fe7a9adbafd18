"""Hands the jobs of a campaign to those who run them, and what comes back to the store."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from simplugin.campaigns.jobs import Failure, Job, JobSource, Record, Runners
from simplugin.campaigns.running.failure_groups import FailureGroup, failure_groups
from simplugin.campaigns.running.progress_of_runs import Pace, Progress
from simplugin.campaigns.running.run_log import RunLog
from simplugin.campaigns.running.summary import Summary
from simplugin.errors import StoreError

if TYPE_CHECKING:
    from simplugin.campaigns.store import Store

__all__ = ["Summary", "run_jobs"]

# Seconds. What is finished is on the disk at most two commit periods later.
_COMMIT_PERIOD = 0.1
_REPORT_PERIOD = 0.2
# How long to go on handing over or passing by what is recorded, before looking at what is finished.
_FEEDING = 0.05


def run_jobs(
    source: JobSource,
    store_path: Path,
    runners: Runners,
    *,
    retries: int = 1,
    retry_failed: bool = False,
    expected: int | None = None,
    report: Callable[[Progress], None] | None = None,
    log: RunLog | None = None,
    stop: Callable[[], bool] | None = None,
) -> Summary:
    """Run what is not recorded yet of a campaign; record it.

    It holds no more jobs than are handed over, and never has a run of the same key twice at the
    same time. What is finished is on the disk within 0.2 s.

    Parameters
    ----------
    source : JobSource
        The campaign.
    store_path : Path
        Its store; made if there is none.
    runners : Runners
        Who runs. Closed if the campaign does not come to its end.
    retries : int
        How often a run whose process died is tried again. Every attempt is recorded, together
        with the last one: a command that is killed in between leaves nothing of them.
    retry_failed : bool
        Whether runs that are recorded as failed are run again.
    expected : int, optional
        How many jobs the source makes, if fewer than the campaign has.
    report : callable, optional
        Called about five times a second, and at the end, with how far it is.
    log : RunLog, optional
        Where to note what was done when. The caller opens and closes it.
    stop : callable, optional
        Asked several times a second whether to stop: runs in progress are then ended at once,
        finished ones are recorded.

    Returns
    -------
    Summary
        How the campaign stands now.

    Raises
    ------
    StoreError
        Another program writes to the store, or it cannot be written; what was committed stays,
        and the same call goes on from there.
    SimpluginError
        Nobody can run anything any more; what was finished is recorded.
    """
    from simplugin.campaigns.store import Store, StoreReader

    begun = monotonic()
    with Store.open(store_path) as store:
        campaign = store.begin(source)
        store.commit()
        if log is not None:
            log.begun(source, store_path)
        course = _Course(
            store=store,
            campaign=campaign,
            jobs=source.jobs(),
            runners=runners,
            total=source.total if expected is None else expected,
            retries=retries,
            retry_failed=retry_failed,
            report=report,
            log=log,
            stop=stop or _never,
        )
        course.run()
    done, failed = course.done, course.failed
    failures: list[FailureGroup] = []
    with StoreReader(store_path) as reader:
        if course.interrupted and expected is None:
            # What comes later in the order may be recorded too.
            entry = next(each for each in reader.campaigns() if each.number == campaign)
            done, failed = entry.done, entry.failed
        if failed:
            failures = failure_groups(reader.failures(campaign))
    return Summary(
        title=source.title,
        store=store_path,
        campaign=campaign,
        total=course.total,
        before=course.before,
        done=done,
        failed=failed,
        failures=tuple(failures),
        interrupted=course.interrupted,
        seconds=monotonic() - begun,
    )


@dataclass(slots=True)
class _Flight:
    """A run that was handed over."""

    crashed: list[Record] = field(default_factory=list)  # attempts that are not recorded yet
    twins: int = 0  # other positions of the campaign with the same key


@dataclass(slots=True)
class _Course:
    """A campaign on its way, between its beginning and its end."""

    store: Store
    campaign: int
    jobs: Iterator[Job]
    runners: Runners
    total: int
    retries: int
    retry_failed: bool
    report: Callable[[Progress], None] | None
    log: RunLog | None
    stop: Callable[[], bool]
    # What came of it so far.
    before: int = 0
    done: int = 0
    failed: int = 0
    interrupted: bool = False
    # Under way: jobs by their keys, those to be tried again, and whether more may come.
    _flights: dict[str, _Flight] = field(default_factory=dict)
    _again: deque[Job] = field(default_factory=deque)
    _more: bool = True
    _failed_now: set[str] = field(default_factory=set)
    # What is in the store but not on the disk, and whether a call of the store has not returned.
    _dirty: bool = False
    _writing: bool = False
    # Dates, and how many runs came back.
    _began: float = field(init=False)
    _reported: float = field(init=False)
    _committed: float = field(init=False)
    _finished: int = 0
    _pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._began = self._reported = self._committed = monotonic()
        self._pace = Pace(self._began)

    def run(self) -> None:
        """Go on until all is done, or until asked to stop."""
        try:
            while self._more or self._flights or self._again:
                if self.stop():
                    self._wind_up()
                    break
                fed = self._feed()
                self._take(self.runners.finished(self._patience() if fed else 0.0))
                if self._dirty and self._patience() == 0.0:
                    self._commit()
                self._tell()
        except BaseException as error:
            self._abandon(error)
            raise
        self._commit()
        if self.log is not None:
            seconds = monotonic() - self._began
            self.log.ended(self.done, self.failed, self.total, seconds, self.runners.describe())
            self.log.flush()
        self._tell(at_once=True)

    def _feed(self) -> bool:
        """Hand over jobs and pass by what is recorded; False if somebody wants still more."""
        end = monotonic() + _FEEDING
        while self.runners.wanted > 0:
            if self._again:
                self.runners.submit(self._again.popleft())
                continue
            job = next(self.jobs, None) if self._more else None
            if job is None:
                self._more = False
                return True
            self._place(job)
            if monotonic() > end or self.stop():
                return False
        return True

    def _place(self, job: Job) -> None:
        """Hand over a job, unless it is recorded or under way."""
        flight = self._flights.get(job.key)
        if flight is not None:
            flight.twins += 1
            self._note(job)
            return
        state = self.store.state_of(job.key)
        if state == "done":
            self.done += 1
        elif state == "failed" and (not self.retry_failed or job.key in self._failed_now):
            self.failed += 1
        else:
            self._flights[job.key] = _Flight()
            self.runners.submit(job)
            return
        self.before += 1
        self._note(job)

    def _take(self, records: list[Record]) -> None:
        """Record what is finished; try again what crashed."""
        for each in records:
            record, key = each, each.job.key
            flight = self._flights[key]
            if _is_crash(record) and len(flight.crashed) < self.retries:
                flight.crashed.append(record)
                self._again.append(record.job)
                if self.log is not None:
                    self.log.ran(record, again=True)
                continue
            record = self._append([*flight.crashed, record])
            del self._flights[key]
            self._finished += 1
            self.before += flight.twins
            if record.failure is None:
                self.done += 1 + flight.twins
            else:
                self.failed += 1 + flight.twins
                self._failed_now.add(key)
            if self.log is not None:
                self.log.ran(record)

    def _note(self, job: Job) -> None:
        """Make a recorded run a member of the campaign."""
        self._writing = True
        self.store.note(self.campaign, job)
        self._writing = False
        self._dirty = True

    def _append(self, attempts: list[Record]) -> Record:
        """Record all attempts of a run, together; return the last one as it was recorded."""
        self._writing = True
        for record in attempts:
            recorded = self._appended(record)
        self._writing = False
        self._dirty = True
        return recorded

    def _appended(self, record: Record) -> Record:
        """Record an attempt; what cannot be recorded is a failure of the run, not of the store."""
        try:
            self.store.append(self.campaign, record)
        except StoreError as error:
            if record.measured is None or error.file is not None:
                raise
            failure = Failure("error", f"what came out cannot be recorded: {error}")
            record = replace(record, measured=None, failure=failure)
            self.store.append(self.campaign, record)
        return record

    def _commit(self) -> None:
        """Make durable what is recorded, then log it."""
        if self._dirty:
            self._writing = True
            self.store.commit()
            self._writing = False
            self._dirty = False
        self._committed = monotonic()
        if self.log is not None:
            self.log.flush()

    def _patience(self) -> float:
        """Return how long the next commit, if one is due, can wait [s]."""
        if not self._dirty:
            return _COMMIT_PERIOD
        return max(0.0, self._committed + _COMMIT_PERIOD - monotonic())

    def _tell(self, *, at_once: bool = False) -> None:
        """Report how far it is, if it is time to."""
        now = monotonic()
        if self.report is None or (now - self._reported < _REPORT_PERIOD and not at_once):
            return
        self._reported = now
        self._pace.note(now, self._finished)
        self.report(
            Progress(
                total=self.total,
                done=self.done,
                failed=self.failed,
                before=self.before,
                running=self.runners.running,
                seconds=now - self._began,
                rate=self._pace.rate,
                left=self._pace.left(self.total - self.done - self.failed),
                runners=self.runners.describe(),
            )
        )

    def _wind_up(self) -> None:
        """End what runs, and record what was finished before that."""
        self.interrupted = True
        finished = self.runners.finished(0.0)
        self.runners.close()
        # Whoever asked us to stop may have stopped our processes too: no crash counts now.
        self._take([each for each in finished if not _is_crash(each)])
        if self.log is not None:
            self.log.interrupted("asked to stop")

    def _abandon(self, error: BaseException) -> None:
        """End what runs; record what was finished, unless that is what went wrong."""
        try:
            if isinstance(error, KeyboardInterrupt) and not self._writing:
                self._take(self.runners.finished(0.0))
        finally:
            self.runners.close()
        if self._writing:  # in the middle: the store goes back to what it had
            return
        if self.log is not None:
            self.log.interrupted(f"{type(error).__name__}: {error}")
        self._commit()


def _never() -> bool:
    """Go on."""
    return False


def _is_crash(record: Record) -> bool:
    """Whether the run's process died."""
    return record.failure is not None and record.failure.kind == "crash"
