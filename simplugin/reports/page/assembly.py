"""The page: template, style, script and data joined into one file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from simplugin.claims import headline
from simplugin.errors import SimpluginError
from simplugin.reports.page.colour_rules import colour_rules
from simplugin.reports.page.contents import CampaignReport
from simplugin.reports.page.documents import json_text, report_document

# In the order in which they need each other.
SCRIPTS = (
    "data.js",
    "numbers.js",
    "statistics.js",
    "comparisons.js",
    "filters.js",
    "table.js",
    "plots.js",
    "overview.js",
    "drawings.js",
    "sections.js",
    "printing.js",
    "page.js",
)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def write_page(
    report: CampaignReport, directory: str | os.PathLike[str], figures: Sequence[Path] = ()
) -> Path:
    """Write ``index.html``; an existing one is replaced.

    Parameters
    ----------
    report : CampaignReport
        What it shows.
    directory : path
        Where; it is made where it does not exist.
    figures : sequence of path
        Files below `directory` that the page offers for download.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    SimpluginError
        The directory cannot be made or the file not be written.
    """
    place = Path(directory)
    links = [Path(os.path.relpath(each, place)).as_posix() for each in figures]
    page = place / "index.html"
    try:
        place.mkdir(parents=True, exist_ok=True)
        page.write_text(page_text(report, links), encoding="utf-8")
    except OSError as error:
        raise SimpluginError(f"{page}: cannot be written: {error.strerror or error}") from error
    return page


def page_text(report: CampaignReport, links: Sequence[str] = ()) -> str:
    """Return the page, complete in itself: it loads nothing.

    Parameters
    ----------
    report : CampaignReport
        What it shows.
    links : sequence of str
        Addresses of figures, relative to the page.
    """
    folder = files(__package__)

    def read(name: str) -> str:
        """Read a part of the page, which lies beside this module."""
        return folder.joinpath(name).read_text(encoding="utf-8")

    parts = {
        "title": escape(report.title),
        "headline": escape(_headline(report)),
        "style": f"{read('page.css')}\n{colour_rules()}",
        "script": '"use strict";\n' + "\n".join(read(name) for name in SCRIPTS),
        "data": json_text(report_document(report, links)),
    }
    # In one pass: what is put in is not searched again.
    return _PLACE.sub(lambda match: parts[match[1]], read("page.html"))


def _headline(report: CampaignReport) -> str:
    """Say how far the campaign is."""
    claims = [claim for claims in report.claims.values() for claim in claims]
    parts = [headline(claims)] if claims else []
    if not report.total and not len(report.position):
        return " · ".join(parts or ["no runs"])
    done = sum(status == "done" for status in report.status)
    failed = len(report.status) - done
    missing = max(report.total - len(report.status), 0)
    parts += [f"{done} of {max(report.total, len(report.status))} runs done"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{missing} not done yet"] if missing else []
    return " · ".join(parts)
