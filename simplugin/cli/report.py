"""``simplugin report``."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from simplugin.campaigns.store import StoreReader
from simplugin.cli.paths import short
from simplugin.cli.report_contents import campaign_report
from simplugin.errors import SimpluginError, StoreError
from simplugin.reports.page import write_page

if TYPE_CHECKING:
    from simplugin.campaigns.store import CampaignEntry
    from simplugin.reports.page import CampaignReport

_FIGURES = "figures"


def report_command(
    place: Path,
    directory: Path,
    *,
    campaign: int | None,
    group: str | None,
    baseline: str | None,
    figures: bool = True,
) -> None:
    """Write the page of a campaign, and its figures beside it."""
    console = Console(stderr=True)
    store, identity = _store_of(place)
    with _working(console, "reading"), StoreReader(store) as reader:
        entry = _entry(reader, campaign, identity)
        report = campaign_report(reader, entry)
    report = _grouped(report, group, baseline)
    if not len(report.position):
        raise StoreError(
            f"nothing of campaign {entry.number} is recorded yet", file=store,
            remedy="`simplugin campaign run` does the runs",
        )  # fmt: skip
    written: list[Path] = []
    if figures:
        from simplugin.reports.campaign_figures import write_figures

        with _working(console, "drawing"):
            written = write_figures(report, directory / _FIGURES)
    page = write_page(report, directory, written)
    if written:
        sys.stdout.write(f"wrote {len(written)} figures to {short(directory / _FIGURES)}\n")
    sys.stdout.write(f"wrote {short(page)}\n")


def _store_of(place: Path) -> tuple[Path, str | None]:
    """Return the store that is meant, and the identity of the campaign if its file is given."""
    if place.suffix.lower() != ".toml":
        return place, None
    from simplugin.campaigns.campaign import load_campaign

    campaign = load_campaign(place)
    return campaign.settings.store, campaign.identity


def _entry(reader: StoreReader, number: int | None, identity: str | None) -> CampaignEntry:
    """Choose the campaign: by its number, as its file has it now, or the latest."""
    if number is not None:
        return reader.entry(number)
    same = [each for each in reader.campaigns() if each.identity == identity]
    return same[-1] if same else reader.latest()


def _grouped(report: CampaignReport, group: str | None, baseline: str | None) -> CampaignReport:
    """Group runs as the command line wants it; a baseline is given as it is written."""
    if group is not None:
        report = replace(report, group=group)
    if baseline is None:
        return report
    if report.group is None:
        raise SimpluginError(
            f"there is nothing to compare with {baseline!r}: no key was varied that has a few"
            " values; name one with --group"
        )
    values = report.column(report.group).distinct()
    named = [value for value in values if str(value) == baseline]
    return replace(report, baseline=named[0] if named else baseline)


def _working(console: Console, word: str) -> AbstractContextManager[object]:
    """Show that something goes on; on terminals only, a spinner in a log file is noise."""
    return console.status(word) if console.is_terminal else nullcontext()
