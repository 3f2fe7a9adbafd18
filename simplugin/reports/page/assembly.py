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
from simplugin.reports.colours import GROUP_COLOURS, components, reads_dark
from simplugin.reports.page.contents import CampaignReport
from simplugin.reports.page.documents import json_text, report_document

# In the order of their dependencies.
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
_LIGHT, _DARK = "#ffffff", "#15181b"
# Minimum contrast of a line to its paper; the palette's brighter colours would be
# other colours with the 3 of texts, and no line is distinguished by its colour alone.
_LEAST_ON_LIGHT, _LEAST_ON_DARK = 2.0, 3.2
_STEP = 0.05
_DARK_RULES = """\
  --paper: #15181b; --ink: #e4e7ea; --quiet: #99a2ab; --line: #2e3439; --band: #1d2125;
  --accent: #6cbcf0; --good: #4cc79c; --bad: #ff8a80;
  color-scheme: dark;"""


def write_page(
    report: CampaignReport, directory: str | os.PathLike[str], figures: Sequence[Path] = ()
) -> Path:
    """Write ``index.html``; an existing one is replaced.

    Parameters
    ----------
    report : CampaignReport
        Content of the page.
    directory : path
        Directory of the page; created if missing.
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
        Content of the page.
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
    # In one pass: inserted text is not searched again.
    return _PLACE.sub(lambda match: parts[match[1]], read("page.html"))


def _headline(report: CampaignReport) -> str:
    """Return the progress of the campaign."""
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


def colour_rules() -> str:
    """Return the rules of the colours ``--c0`` and so on, and of text on them, ``--on0``."""
    light = _variables(_LIGHT, "#000000", _LEAST_ON_LIGHT)
    dark = f"{_DARK_RULES}\n{_variables(_DARK, '#ffffff', _LEAST_ON_DARK)}"
    # Printed pages are always light.
    return (
        f":root {{\n  color-scheme: light;\n{light}\n}}\n"
        f'@media screen {{\n:root[data-theme="dark"] {{\n{dark}\n}}\n}}\n'
        f"@media screen and (prefers-color-scheme: dark) {{\n"
        f':root[data-theme="auto"] {{\n{dark}\n}}\n}}\n'
    )


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours ``#rrggbb``, from 1 to 21, after WCAG 2.1."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _variables(paper: str, towards: str, least: float) -> str:
    """Set the colours, each as near to the palette's as can be seen on this paper."""
    lines = []
    for number in range(len(GROUP_COLOURS)):
        colour = _visible(GROUP_COLOURS[number], paper, towards, least)
        on = "#000000" if reads_dark(colour) else "#ffffff"
        lines.append(f"  --c{number}: {colour}; --on{number}: {on};")
    return "\n".join(lines)


def _visible(colour: str, paper: str, towards: str, least: float) -> str:
    """Mix a colour with black or white until its contrast to the paper suffices."""
    part, mixed = 0.0, colour
    while contrast(mixed, paper) < least and part < 1:
        part += _STEP
        ends = zip(components(colour), components(towards), strict=True)
        mixed = "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in ends)
    return mixed


def _luminance(colour: str) -> float:
    """Return the relative luminance of sRGB, from 0 to 1."""
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (each / 255 for each in components(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
