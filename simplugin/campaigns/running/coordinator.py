"""Runs campaigns: opens the store, sees to the jobs, and tells how it stands afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic

from simplugin.campaigns.jobs import JobSource, Runners
from simplugin.campaigns.running.course import Course, Terms
from simplugin.campaigns.running.failure_groups import failure_groups
from simplugin.campaigns.running.progress_of_runs import Progress
from simplugin.campaigns.running.run_log import RunLog
from simplugin.campaigns.running.summary import Summary


def run_jobs(
    source: JobSource,
    store_path: Path,
    runners: Runners,
    *,
    terms: Terms | None = None,
    expected: int | None = None,
    report: Callable[[Progress], None] | None = None,
    log: RunLog | None = None,
    stop: Callable[[], bool] | None = None,
) -> Summary:
    """Run what is not recorded yet of a campaign; record it.

    It holds no more jobs than are handed over, and never has a run of the same key twice at the
    same time. What is finished is on the disk within 0.2 s. A run whose files changed since its
    key was made is not recorded, but done anew; three times at most.

    Parameters
    ----------
    source : JobSource
        The campaign.
    store_path : Path
        Its store; made if there is none.
    runners : Runners
        Who runs. Closed if the campaign does not come to its end.
    terms : Terms, optional
        What is tried again, and when to give up.
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
        Another program writes to the store, or it cannot be written although there is something
        to run; what was committed stays, and the same call goes on from there.
    SimpluginError
        Nobody can run anything any more; what was finished is recorded.
    """
    from simplugin.campaigns.store import Store, UnwritableError

    begun = monotonic()
    terms = terms or Terms()
    total = source.total if expected is None else expected
    try:
        opened = Store.open(store_path)
    except UnwritableError:
        standing = _finished(source, store_path, terms, total)
        if standing is None:
            raise
        return standing
    with opened as store:
        campaign = store.begin(source)
        if log is not None:
            log.begun(source, store_path)
        course = Course(store, campaign, source, runners, total, terms, report, log, stop or _never)
        course.run()
    return _summary(course, store_path, whole=expected is None, seconds=monotonic() - begun)


def _summary(course: Course, store: Path, *, whole: bool, seconds: float) -> Summary:
    """Tell how a campaign stands after a course, which was that of the `whole` or of a part."""
    from simplugin.campaigns.store import StoreReader

    done, failed = course.done, course.failed
    with StoreReader(store) as reader:
        if (course.interrupted or course.gave_up) and whole:
            # What comes later in the order may be recorded too.
            entry = reader.entry(course.campaign)
            done, failed = entry.done, entry.failed
        failures = failure_groups(reader.failures(course.campaign)) if failed else []
    return Summary(
        title=course.source.title,
        store=store,
        campaign=course.campaign,
        total=course.total,
        before=course.before,
        done=done,
        failed=failed,
        failures=tuple(failures),
        interrupted=course.interrupted,
        seconds=seconds,
        gave_up=course.gave_up,
        changed=course.changed,
    )


def _finished(source: JobSource, store: Path, terms: Terms, total: int) -> Summary | None:
    """Tell how a campaign stands in a store that cannot be written; None if there is more to do."""
    from simplugin.campaigns.store import StoreReader

    if not store.is_file():
        return None
    with StoreReader(store) as reader:
        entry = reader.described(source.identity)
        if entry is None or entry.missing or (entry.failed and terms.retry_failed):
            return None
        failures = failure_groups(reader.failures(entry.number)) if entry.failed else []
    return Summary(
        title=source.title,
        store=store,
        campaign=entry.number,
        total=total,
        before=total,
        done=min(entry.done, total),
        failed=min(entry.failed, total),
        failures=tuple(failures),
        interrupted=False,
        seconds=0.0,
    )


def _never() -> bool:
    """Go on."""
    return False
