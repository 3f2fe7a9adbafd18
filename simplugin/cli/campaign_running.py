"""Runs of a campaign: what would be run, how it is run, and how it ended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.jobs import JobSource, Runners
from simplugin.campaigns.running.campaign_runs import RunnersOnDemand
from simplugin.campaigns.running.coordinator import MAX_IDENTICAL_FAILURES, RetryPolicy, run_jobs
from simplugin.campaigns.running.recorded_campaigns import earlier_versions, what_changed
from simplugin.campaigns.running.reporting import CampaignSummary, log_path
from simplugin.campaigns.store import StoreReader
from simplugin.campaigns.store.documents import text_of
from simplugin.cli.campaign_reading import print_failures, runs, varied_text
from simplugin.cli.displays import RunsDisplay, duration_text
from simplugin.cli.terminal import BY_SIGNAL, relative_path, stop_signals, warn_of_network
from simplugin.core.console import EscapingConsole

_SOME_FAILED = 1
# How many variations are shown.
_SHOWN = 3
# To look up more keys than these takes longer than anyone waits for a dry run.
_MOST_LOOKED_UP = 20_000


def run_recorded(
    source: JobSource,
    store: Path,
    start: Callable[[], AbstractContextManager[Runners]],
    terms: RetryPolicy,
    again: str,
    *,
    as_json: bool,
) -> int:
    """Run with a display until all is recorded or a signal stops it; return the exit status.

    Parameters
    ----------
    source : JobSource
        The runs.
    store : Path
        Where they are recorded.
    start : callable
        Starts the runners.
    terms : RetryPolicy
        When a run is tried again.
    again : str
        The command that runs again what failed.
    as_json : bool
        True to print one JSON object.
    """
    warn_of_network(store)
    display = RunsDisplay(EscapingConsole(stderr=True))
    with stop_signals() as stopped:
        with display, RunnersOnDemand(start) as runners:
            summary = run_jobs(
                source,
                store,
                runners,
                terms=terms,
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
        earlier = earlier_versions(reader.campaigns(), campaign)
        if not earlier or reader.described(campaign.identity) is not None:
            return
        last = earlier[-1]
        changed = what_changed(reader, last, campaign)
    count = sum(each.done + each.failed for each in earlier)
    verb = "is" if count == 1 else "are"
    sys.stderr.write(
        f"simplugin: {runs(count)} of an earlier version of this campaign {verb} in the store, the "
        f"last of campaign {last.number}; changed since: {', '.join(changed)}; unchanged "
        "runs are not repeated\n"
    )


def tell_what_would_be_run(campaign: Campaign, store: Path, *, as_json: bool) -> None:
    """Print the runs to do, without running them."""
    total = campaign.total
    first = [dict(job.varied) for job in islice(campaign.jobs(), _SHOWN)]
    looked_up = min(total, _MOST_LOOKED_UP)
    recorded = 0
    if store.exists():
        with StoreReader(store) as reader:
            jobs = islice(campaign.jobs(), looked_up)
            recorded = sum(reader.state_of(job.key) is not None for job in jobs)
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
    where = (
        relative_path(store)
        if store.exists()
        else f"{relative_path(store)}, which is not there yet"
    )
    typer.echo(f"{campaign.title or campaign.file}: {runs(total)}")
    typer.echo(f"{recorded}{of_how_many} recorded in {where}")
    for position, varied in enumerate(first):
        typer.echo(f"  run {position}: {varied_text(varied)}")
    if total > _SHOWN:
        typer.echo(f"  ... and {total - _SHOWN} more")


def print_summary(summary: CampaignSummary, again: str) -> None:
    """Print the state of the campaign, its failures with their causes, and the next step.

    Parameters
    ----------
    summary : CampaignSummary
        Its state.
    again : str
        The command that runs again what failed.
    """
    print_failures(summary.failures)
    place = quote(relative_path(summary.store))
    if summary.interrupted:
        typer.echo(
            f"stopped: {summary.done + summary.failed} of {runs(summary.total)} recorded; "
            "the same command continues"
        )
    elif summary.gave_up:
        typer.echo(
            f"stopped: the first {MAX_IDENTICAL_FAILURES} runs all failed alike, and nothing is "
            "done; fix the cause and give the same command again, or continue with --keep-going"
        )
    else:
        failed = f", {summary.failed} failed" if summary.failed else ""
        typer.echo(
            f"{summary.done} of {runs(summary.total)} done{failed}, {summary.before} of them "
            f"recorded before; {duration_text(summary.seconds)}"
        )
    if summary.changed:
        typer.echo(
            f"{runs(summary.changed)} repeated, because a file changed during the campaign; "
            "the same command repeats those that were recorded before the change"
        )
    typer.echo(f"store: {place}; log: {relative_path(log_path(summary.store))}")
    if summary.done:
        typer.echo(
            f"next: simplugin report {place} -o DIR; simplugin campaign export {place} -o X.csv"
        )
    if summary.failed:
        typer.echo(f"what failed is run again by: {again}")
