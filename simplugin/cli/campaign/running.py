"""``simplugin campaign run`` and ``simplugin campaign retry``."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from simplugin.campaigns.campaign import Campaign, load_campaign
from simplugin.campaigns.running.campaign_runs import Means, run_source, slurm_section
from simplugin.campaigns.running.course import Terms
from simplugin.campaigns.running.recorded_campaigns import (
    command_that_goes_on,
    earlier_versions,
    failed_jobs,
    what_changed,
)
from simplugin.campaigns.running.reporting import printable
from simplugin.campaigns.store import StoreReader
from simplugin.campaigns.store.documents import text_of
from simplugin.cli.campaign.dry_run import tell_what_would_be_run
from simplugin.cli.campaign.run_summary import print_summary
from simplugin.cli.campaign.running_display import RunsDisplay
from simplugin.cli.campaign.shown import is_file, store_of
from simplugin.cli.campaign.wording import runs
from simplugin.cli.paths import short
from simplugin.cli.stop_signals import BY_SIGNAL, stop_signals
from simplugin.cli.store_place import warn_of_network

if TYPE_CHECKING:
    from simplugin.campaigns.jobs import JobSource
    from simplugin.campaigns.running.slurm import SlurmSection

_SOME_FAILED = 1


def run_command(
    file: Path,
    store: Path | None,
    jobs: int | None,
    scheduler: str | None,
    *,
    slurm: bool,
    retry_failed: bool,
    keep_going: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run what is not recorded of a campaign; return the exit status."""
    campaign = load_campaign(file)
    place = campaign.settings.store if store is None else store
    _tell_of_earlier_versions(campaign, place)
    if dry_run:
        tell_what_would_be_run(campaign, place, as_json=as_json)
        return 0
    section = slurm_section(campaign, file) if slurm else None
    terms = Terms(campaign.settings.retries, retry_failed, keep_going)
    again = command_that_goes_on(Path(short(campaign.place)), Path(short(place)), "--retry-failed")
    asked = _Asked(campaign, place, jobs, scheduler, section, terms, again)
    return _run(asked, expected=None, as_json=as_json)


def retry_command(
    place: Path,
    store: Path | None,
    jobs: int | None,
    scheduler: str | None,
    *,
    slurm: bool,
    campaign: int | None,
    as_json: bool,
) -> int:
    """Run again what failed of a campaign; return the exit status."""
    if not is_file(place):
        place, store = store_of(place, store), None
    failed = failed_jobs(place, campaign, store)
    known = failed.campaign
    section = slurm_section(known, place) if slurm else None
    # Each was asked for, whatever becomes of the others.
    retries = Terms().retries if known is None else known.settings.retries
    terms = Terms(retries, retry_failed=True, keep_going=True)
    number = failed.entry.number
    again = shlex.join(
        ["simplugin", "campaign", "retry", short(failed.store), "--campaign", str(number)]
    )
    asked = _Asked(failed, failed.store, jobs, scheduler, section, terms, again)
    return _run(asked, expected=failed.count, as_json=as_json)


@dataclass(frozen=True)
class _Asked:
    """What is to be run, where it is recorded, by whom, and what runs again what fails."""

    source: JobSource
    store: Path
    jobs: int | None
    scheduler: str | None
    slurm: SlurmSection | None
    terms: Terms
    again: str


def _run(asked: _Asked, *, expected: int | None, as_json: bool) -> int:
    """Run with a display, mindful of signals; tell how it ended."""
    warn_of_network(asked.store)
    display = RunsDisplay(Console(stderr=True))
    with stop_signals() as stopped:
        with display:
            means = Means(
                jobs=asked.jobs,
                scheduler=asked.scheduler,
                slurm=asked.slurm,
                report=display.report,
                stop=lambda: bool(stopped),
                command=("simplugin", *sys.argv[1:]),
            )
            summary = run_source(asked.source, asked.store, means, asked.terms, expected=expected)
        if as_json:
            sys.stdout.write(text_of(summary.document()) + "\n")
        else:
            print_summary(summary, asked.again)
    if summary.interrupted:
        return BY_SIGNAL + stopped[0]
    return _SOME_FAILED if summary.failed else 0


def _tell_of_earlier_versions(campaign: Campaign, store: Path) -> None:
    """Say so if the store has this campaign only as it was before something changed."""
    if not store.exists():
        return
    with StoreReader(store) as reader:
        entries = reader.campaigns()
        earlier = earlier_versions(entries, campaign)
        if not earlier or reader.described(campaign.identity) is not None:
            return
        last = earlier[-1]
        changed = what_changed(reader, last, campaign)
    count = sum(each.done + each.failed for each in earlier)
    verb = "is" if count == 1 else "are"
    sys.stderr.write(
        f"simplugin: {runs(count)} of an earlier version of this campaign {verb} in the store, the "
        f"last of campaign {last.number}; changed since: {printable(', '.join(changed))}; what is "
        "the same as before is not run again\n"
    )
