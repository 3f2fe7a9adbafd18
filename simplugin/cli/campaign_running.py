"""Runs of a campaign: what would be run, how it is run, and how it ended."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.console import Console

from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.running.campaign_runs import run_source
from simplugin.campaigns.running.course import HOPELESS, Terms
from simplugin.campaigns.running.recorded_campaigns import (
    earlier_versions,
    what_changed,
)
from simplugin.campaigns.running.reporting import FailureGroup, Summary, log_path, printable
from simplugin.campaigns.store import StoreReader
from simplugin.campaigns.store.documents import text_of
from simplugin.cli.campaign_reading import headline, runs, varied_text
from simplugin.cli.displays import RunsDisplay, duration_text
from simplugin.cli.terminal import BY_SIGNAL, short, stop_signals, warn_of_network

if TYPE_CHECKING:
    from simplugin.campaigns.jobs import JobSource

_SOME_FAILED = 1
# How many variations are shown.
_SHOWN = 3
# To look up more keys than these takes longer than anyone waits for a dry run.
_MOST_LOOKED_UP = 20_000
# How much of a message is shown; the store has all of it.
_MOST_LINES = 12


def run_recorded(
    source: JobSource,
    store: Path,
    where: Mapping[str, Any],
    terms: Terms,
    again: str,
    *,
    as_json: bool,
    expected: int | None = None,
) -> int:
    """Run with a display until all is recorded or a signal stops it; return the exit status.

    Parameters
    ----------
    source : JobSource
        The runs.
    store : Path
        Where they are recorded.
    where : mapping
        The arguments of `chosen_runners`.
    terms : Terms
        When a run is tried again.
    again : str
        The command that runs again what failed.
    as_json : bool
        True to print one JSON object.
    expected : int, optional
        The number of runs of `source`, if it does not know it itself.
    """
    warn_of_network(store)
    display = RunsDisplay(Console(stderr=True))
    with stop_signals() as stopped:
        with display:
            summary = run_source(
                source,
                store,
                where,
                terms,
                expected=expected,
                report=display.report,
                stop=lambda: bool(stopped),
                command=("simplugin", *sys.argv[1:]),
            )
        if as_json:
            sys.stdout.write(text_of(summary.document()) + "\n")
        else:
            print_summary(summary, again)
    if summary.interrupted:
        return BY_SIGNAL + stopped[0]
    return _SOME_FAILED if summary.failed else 0


def tell_of_earlier_versions(campaign: Campaign, store: Path) -> None:
    """Report that the store has this campaign only as it was before something changed."""
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


def tell_what_would_be_run(campaign: Campaign, store: Path, *, as_json: bool) -> None:
    """Print the runs to do, without running them."""
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
    print_line(f"{campaign.title or campaign.file}: {runs(total)}")
    print_line(f"{recorded}{of_how_many} recorded in {where}")
    for position, varied in enumerate(first):
        print_line(f"  run {position}: {varied_text(varied)}")
    if total > _SHOWN:
        print_line(f"  ... and {total - _SHOWN} more")


def _recorded(campaign: Campaign, store: Path, looked_up: int) -> int:
    """Count which of the first runs need not be run."""
    if not store.exists():
        return 0
    with StoreReader(store) as reader:
        return sum(
            reader.state_of(job.key) is not None for job in islice(campaign.jobs(), looked_up)
        )


def print_summary(summary: Summary, again: str) -> None:
    """Print the state of the campaign, its failures with their causes, and the next step.

    Parameters
    ----------
    summary : Summary
        Its state.
    again : str
        The command that runs again what failed.
    """
    for group in summary.failures:
        _print_group(group)
    place = quote(short(summary.store))
    if summary.interrupted:
        recorded = summary.done + summary.failed
        print_line(
            f"stopped: {recorded} of {runs(summary.total)} recorded; "
            "the same command goes on from there"
        )
    elif summary.gave_up:
        print_line(
            f"stopped: the first {HOPELESS} runs all failed alike, and nothing is done; right what "
            "is wrong and give the same command again, or go on all the same with --keep-going"
        )
    else:
        failed = f", {summary.failed} failed" if summary.failed else ""
        print_line(
            f"{summary.done} of {runs(summary.total)} done{failed}, {summary.before} of them "
            f"recorded before; {duration_text(summary.seconds)}"
        )
    if summary.changed:
        print_line(
            f"{runs(summary.changed)} not recorded, but done anew, since a file changed meanwhile; "
            "the same command sees to those that were done before the change"
        )
    print_line(f"store: {place}; log: {short(log_path(summary.store))}")
    if summary.done:
        print_line(
            f"next: simplugin report {place} -o DIR; simplugin campaign export {place} -o X.csv"
        )
    if summary.failed:
        print_line(f"what failed is run again by: {again}")


def _print_group(group: FailureGroup) -> None:
    """Print runs that failed alike."""
    print_line(headline(group))
    for line in group.text.splitlines()[:_MOST_LINES]:
        print_line(f"    {printable(line)}")
    for job in group.first:
        print_line(f"  run {job.position}: {varied_text(job.varied)}")
    if group.count > len(group.first):
        print_line(f"  ... and {group.count - len(group.first)} more")


def print_line(line: str) -> None:
    """Write a line to standard output."""
    sys.stdout.write(line + "\n")
