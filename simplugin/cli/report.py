"""``simplugin report``."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from simplugin.campaigns.store import StoreReader
from simplugin.cli.campaign.shown import chosen_entry, store_of
from simplugin.cli.paths import short
from simplugin.cli.report_contents import campaign_report
from simplugin.errors import SimpluginError, StoreError
from simplugin.reports.page import write_page

if TYPE_CHECKING:
    from simplugin.reports.page import CampaignReport
    from simplugin.reports.page.contents import Value

_FIGURES = "figures"


def report_command(
    place: Path,
    directory: Path,
    *,
    campaign: int | None,
    group: str | None,
    baseline: str | None,
    figures: Literal["main", "all", "none"] = "main",
) -> None:
    """Write the page of a campaign, and its figures beside it."""
    console = Console(stderr=True)
    store = store_of(place)
    with _working(console, "reading"), StoreReader(store) as reader:
        entry = chosen_entry(reader, place, campaign)
        report = campaign_report(reader, entry)
    report = _grouped(report, group, baseline)
    if not len(report.position):
        raise StoreError(
            f"nothing of campaign {entry.number} is recorded yet", file=store,
            remedy="`simplugin campaign run` does the runs",
        )  # fmt: skip
    written: list[Path] = []
    if figures != "none":
        from simplugin.reports.campaign_figures import write_figures

        with _working(console, "drawing"):
            drawn = write_figures(report, directory / _FIGURES, which=figures)
        written += drawn
        for warning in drawn.warnings:
            sys.stderr.write(f"{warning}\n")
    page = write_page(report, directory, written)
    if written:
        sys.stdout.write(f"wrote {len(written)} figures to {short(directory / _FIGURES)}\n")
    sys.stdout.write(f"wrote {short(page)}\n")


def _grouped(report: CampaignReport, group: str | None, baseline: str | None) -> CampaignReport:
    """Group runs as the command line wants it; a baseline is given as it is written."""
    if group is not None:
        report = replace(report, group=group)
        column = report.column(group)
        if len(column.distinct()) + (None in column.values) < 2:
            names = ", ".join(each for each in report.groupings() if each != group)
            hint = f"; runs differ in {names}" if names else ""
            raise SimpluginError(f"{group} is the same in all runs{hint}")
    if baseline is None:
        return report
    if report.group is None:
        raise SimpluginError(
            f"there is nothing to compare with {baseline!r}: no key was varied that has a few"
            " values; name one with --group"
        )
    values = report.column(report.group).distinct()
    return replace(report, baseline=_meant(baseline, values))


def _meant(text: str, values: list[Value]) -> Value:
    """Return the value that is written like a text, or is the same number; else the text."""
    for value in values:
        if text == (str(value).lower() if isinstance(value, bool) else str(value)):
            return value
    with suppress(ValueError, OverflowError):
        number = float(text)
        for value in values:
            if isinstance(value, float | int) and not isinstance(value, bool) and value == number:
                return value
    return text


def _working(console: Console, word: str) -> AbstractContextManager[object]:
    """Show that something goes on; on terminals only, a spinner in a log file is noise."""
    return console.status(word) if console.is_terminal else nullcontext()
