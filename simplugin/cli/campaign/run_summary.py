"""How a campaign stands after it was run, in words."""

from __future__ import annotations

import sys
from shlex import quote

from simplugin.campaigns.running.campaign_runs import log_path
from simplugin.campaigns.running.course import HOPELESS
from simplugin.campaigns.running.reporting import FailureGroup, Summary, printable
from simplugin.cli.campaign.running_display import duration_text
from simplugin.cli.campaign.wording import headline, runs, varied_text
from simplugin.cli.paths import short

# How much of a message is shown; the store has all of it.
_MOST_LINES = 12


def print_summary(summary: Summary, again: str) -> None:
    """Tell how the campaign stands, what failed and why, and what to do next.

    Parameters
    ----------
    summary : Summary
        How it stands.
    again : str
        The command that runs again what failed.
    """
    for group in summary.failures:
        _print_group(group)
    place = quote(short(summary.store))
    if summary.interrupted:
        recorded = summary.done + summary.failed
        tell(
            f"stopped: {recorded} of {runs(summary.total)} recorded; "
            "the same command goes on from there"
        )
    elif summary.gave_up:
        tell(
            f"stopped: the first {HOPELESS} runs all failed alike, and nothing is done; right what "
            "is wrong and give the same command again, or go on all the same with --keep-going"
        )
    else:
        failed = f", {summary.failed} failed" if summary.failed else ""
        tell(
            f"{summary.done} of {runs(summary.total)} done{failed}, {summary.before} of them "
            f"recorded before; {duration_text(summary.seconds)}"
        )
    if summary.changed:
        tell(
            f"{runs(summary.changed)} not recorded, but done anew, since a file changed meanwhile; "
            "the same command sees to those that were done before the change"
        )
    tell(f"store: {place}; log: {short(log_path(summary.store))}")
    if summary.done:
        tell(f"next: simplugin report {place} -o DIR; simplugin campaign export {place} -o X.csv")
    if summary.failed:
        tell(f"what failed is run again by: {again}")


def _print_group(group: FailureGroup) -> None:
    """Tell about runs that failed alike."""
    tell(headline(group))
    for line in group.text.splitlines()[:_MOST_LINES]:
        tell(f"    {printable(line)}")
    for job in group.first:
        tell(f"  run {job.position}: {varied_text(job.varied)}")
    if group.count > len(group.first):
        tell(f"  ... and {group.count - len(group.first)} more")


def tell(line: str) -> None:
    """Write a line to standard output."""
    sys.stdout.write(line + "\n")
