"""``simplugin campaign run`` and ``simplugin campaign retry``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from simplugin.campaigns.campaign import Campaign, load_campaign
from simplugin.campaigns.running.campaign_runs import Means, log_path, run_source
from simplugin.campaigns.running.failed_jobs import failed_jobs
from simplugin.campaigns.running.failure_groups import FailureGroup, varied_text
from simplugin.campaigns.running.summary import Summary
from simplugin.campaigns.store import StoreReader
from simplugin.campaigns.store.exact_json import text_of
from simplugin.cli.campaign.running_display import RunsDisplay, duration_text
from simplugin.cli.paths import short
from simplugin.errors import ScenarioError

if TYPE_CHECKING:
    from simplugin.campaigns.jobs import JobSource
    from simplugin.campaigns.running.slurm import SlurmSection

_SOME_FAILED = 1
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A shell's status of a command that a signal ended is this and the signal's number.
_BY_SIGNAL = 128
# How many variations and failed runs are shown.
_SHOWN = 3
# How much of a message is shown; the store has all of it.
_MOST_LINES = 12
# To look up more keys than these takes longer than anyone waits for a dry run.
_MOST_LOOKED_UP = 20_000


def run_command(
    file: Path,
    store: Path | None,
    jobs: int | None,
    scheduler: str | None,
    *,
    slurm: bool,
    retry_failed: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run what is not recorded of a campaign; return the exit status."""
    campaign = load_campaign(file)
    place = campaign.settings.store if store is None else store
    if dry_run:
        _dry_run(campaign, place, as_json=as_json)
        return 0
    section = _slurm_section(campaign, file) if slurm else None
    asked = _Asked(campaign, place, jobs, scheduler, section, campaign.settings.retries)
    return _run(asked, retry_failed=retry_failed, expected=None, as_json=as_json)


def retry_command(
    place: Path,
    jobs: int | None,
    scheduler: str | None,
    *,
    slurm: bool,
    campaign: int | None,
    as_json: bool,
) -> int:
    """Run again what failed of a campaign; return the exit status."""
    failed = failed_jobs(place, campaign)
    known = failed.campaign
    section = _slurm_section(known, place) if slurm else None
    retries = 1 if known is None else known.settings.retries
    asked = _Asked(failed, failed.store, jobs, scheduler, section, retries)
    return _run(asked, retry_failed=True, expected=failed.count, as_json=as_json)


@dataclass(frozen=True)
class _Asked:
    """What is to be run, where it is recorded, and by whom it is run."""

    source: JobSource
    store: Path
    jobs: int | None
    scheduler: str | None
    slurm: SlurmSection | None
    retries: int


def _run(asked: _Asked, *, retry_failed: bool, expected: int | None, as_json: bool) -> int:
    """Run with a display, mindful of signals; tell how it ended."""
    display = RunsDisplay(Console(stderr=True))
    with _stop_signal() as stopped:
        with display:
            means = Means(
                jobs=asked.jobs,
                scheduler=asked.scheduler,
                slurm=asked.slurm,
                report=display.report,
                stop=lambda: bool(stopped),
                command=("simplugin", *sys.argv[1:]),
            )
            summary = run_source(
                asked.source,
                asked.store,
                means,
                retries=asked.retries,
                retry_failed=retry_failed,
                expected=expected,
            )
        if as_json:
            sys.stdout.write(text_of(summary.document()) + "\n")
        else:
            _print_summary(summary)
    if summary.interrupted:
        return _BY_SIGNAL + stopped[0]
    return _SOME_FAILED if summary.failed else 0


@contextmanager
def _stop_signal() -> Iterator[list[int]]:
    """Keep the numbers of the signals that ask to stop, instead of dying of them.

    A signal that is ignored stays so: shells have programs in the background ignore Ctrl-C, and
    nohup has them ignore the end of the terminal.
    """
    stopped: list[int] = []

    def keep(number: int, _: FrameType | None) -> None:
        stopped.append(number)

    previous = {
        each: signal.signal(each, keep)
        for each in _SIGNALS
        if signal.getsignal(each) != signal.SIG_IGN
    }
    try:
        yield stopped
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)


def _slurm_section(campaign: Campaign | None, file: Path) -> SlurmSection:
    """Return what the campaign says about Slurm."""
    if campaign is None:
        message, remedy = "this does not tell what to ask Slurm for", "name the campaign's file"
    elif campaign.slurm is None:
        message, remedy = "nothing tells what to ask Slurm for", "add a table [slurm]"
    else:
        return campaign.slurm
    raise ScenarioError(message, file=file, remedy=remedy)


def _dry_run(campaign: Campaign, store: Path, *, as_json: bool) -> None:
    """Tell what would be run; run nothing."""
    total = campaign.total
    first = [dict(job.varied) for job in islice(campaign.jobs(), _SHOWN)]
    looked_up = min(total, _MOST_LOOKED_UP)
    recorded = _recorded(campaign, store, looked_up)
    if as_json:
        document: dict[str, Any] = {
            "title": campaign.title,
            "store": str(store),
            "total": total,
            "looked_up": looked_up,
            "recorded": recorded,
            "first": first,
        }
        sys.stdout.write(text_of(document) + "\n")
        return
    of_how_many = "" if looked_up == total else f" of the first {looked_up}"
    where = short(store) if store.exists() else f"{short(store)}, which is not there yet"
    _tell(f"{campaign.title or campaign.file}: {_runs(total)}")
    _tell(f"{recorded}{of_how_many} recorded in {where}")
    for position, varied in enumerate(first):
        _tell(f"  run {position}: {varied_text(varied) or 'nothing varied'}")
    if total > _SHOWN:
        _tell(f"  ... and {total - _SHOWN} more")


def _recorded(campaign: Campaign, store: Path, looked_up: int) -> int:
    """Count which of the first runs need not be run."""
    if not store.exists():
        return 0
    with StoreReader(store) as reader:
        return sum(reader.record(job.key) is not None for job in islice(campaign.jobs(), looked_up))


def _print_summary(summary: Summary) -> None:
    """Tell how the campaign stands, what failed and why, and what to do next."""
    for group in summary.failures:
        _print_group(group)
    place = short(summary.store)
    if summary.interrupted:
        recorded = summary.done + summary.failed
        _tell(
            f"stopped: {recorded} of {_runs(summary.total)} recorded; "
            "the same command goes on from there"
        )
    else:
        failed = f", {summary.failed} failed" if summary.failed else ""
        _tell(
            f"{summary.done} of {_runs(summary.total)} done{failed}, {summary.before} of them "
            f"recorded before; {duration_text(summary.seconds)}"
        )
    _tell(f"store: {place}; log: {short(log_path(summary.store))}")
    if summary.done:
        _tell(f"next: simplugin report {place} -o DIR; simplugin campaign export {place} -o X.csv")
    if summary.failed:
        _tell(f"what failed is run again by: simplugin campaign retry {place}")


def _print_group(group: FailureGroup) -> None:
    """Tell about runs that failed alike."""
    others = ", in different ways, for instance" if group.mixed else ""
    _tell(f"{_runs(group.count)} failed ({group.kind.replace('_', ' ')}){others}:")
    for line in group.text.splitlines()[:_MOST_LINES]:
        _tell(f"    {line}")
    for job in group.first:
        _tell(f"  run {job.position}: {varied_text(job.varied)}")
    if group.count > len(group.first):
        _tell(f"  ... and {group.count - len(group.first)} more")


def _runs(count: int) -> str:
    """Count runs in words."""
    return f"{count} run" if count == 1 else f"{count} runs"


def _tell(line: str) -> None:
    """Write a line to standard output."""
    sys.stdout.write(line + "\n")
