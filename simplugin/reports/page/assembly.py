"""The page: template, style, script and data, a report as JSON, joined into one file."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from simplugin.core.errors import SimpluginError
from simplugin.reports.colours import GROUP_COLOURS, components, mixed, reads_dark
from simplugin.reports.curves import filled, panels_of, points_of, styles_of, thinned
from simplugin.reports.page.contents import CampaignReport, Column, KeptRun, identity
from simplugin.reports.paper_sheet import are_whole
from simplugin.reports.schedules import adjacent, chart_of
from simplugin.results.charts import ScheduleChart
from simplugin.results.claims import headline
from simplugin.results.curves import CurvePlot

# In the order of their dependencies.
SCRIPTS = (
    "data.js", "numbers.js", "statistics.js", "comparisons.js", "filters.js", "table.js",
    "plots.js", "overview.js", "drawings.js", "sections.js", "printing.js", "page.js",
)  # fmt: skip
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
        """Read a part of the page from a file of this package."""
        return folder.joinpath(name).read_text(encoding="utf-8")

    parts = {
        "title": escape(report.title),
        "headline": escape(report.headline or _headline(report)),
        "kept": escape(report.heading),
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
    for number, original in enumerate(GROUP_COLOURS):
        # Mixed with black or white until the contrast to the paper suffices.
        colour, part = original, 0.0
        while contrast(colour, paper) < least and part < 1:
            part += _STEP
            colour = mixed(original, towards, part)
        on = "#000000" if reads_dark(colour) else "#ffffff"
        lines.append(f"  --c{number}: {colour}; --on{number}: {on};")
    return "\n".join(lines)


def _luminance(colour: str) -> float:
    """Return the relative luminance of sRGB, from 0 to 1."""
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (each / 255 for each in components(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# Maximum number of points of a curve in a page; more are not visible.
_MOST_POINTS = 1000
_NO_TEXT = -1
# Fields of claims that a page shows.
_OF_CLAIMS = ("claim", "paper", "measured", "agrees", "kind", "why", "source", "optimum")
# Largest whole number that JavaScript represents exactly.
_LARGEST_WHOLE = 2**53


def report_document(report: CampaignReport, files: Sequence[str] = ()) -> dict[str, Any]:
    """Return a report as plain containers; numbers that JSON lacks are listed separately.

    Parameters
    ----------
    report : CampaignReport
        Source of the document.
    files : sequence of str
        Paths of figures, as from the page.
    """
    metrics = report.metrics()
    first = next((each for each in metrics if each.sense is not None), None)
    first = first or (metrics[0] if metrics else None)
    baseline = None
    if report.group is not None and report.baseline is not None:
        # The number of the baseline among the groups.
        baseline = report.column(report.group).place_of(report.baseline)
    return {
        "facts": [[name, text] for name, text in report.facts.items()],
        "runs": list(report.position),
        "columns": [_column(each, listed) for each, listed in _all_columns(report)],
        "groupings": report.groupings(),
        "group": report.group,
        "baseline": baseline,
        "metric": first and first.name,
        "kept": [_kept(each) for each in report.kept],
        "headline": headline([each for found in report.claims.values() for each in found]),
        "claims": [
            {"capability": name} | {each: _finite(getattr(claim, each)) for each in _OF_CLAIMS}
            for name, claims in report.claims.items()
            for claim in claims
        ],
        "figures": [
            {"capability": name, "figure": figure_document(figure)}
            for name, figures in report.figures.items()
            for figure in figures
        ],
        "sensitivities": [each.document() for each in report.sensitivities],
        "files": list(files),
        "colours": len(GROUP_COLOURS),
    }


def json_text(document: dict[str, Any]) -> str:
    """Return JSON that is safe inside a page: no ``<`` ends its element."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _all_columns(report: CampaignReport) -> list[tuple[Column, bool]]:
    """Return the columns of the table in their order, and whether the table shows them."""
    named = [(Column("status", report.status, role="other"), True)]
    roles = [each for role in ("varied", "metric", "other") for each in report.columns_of(role)]
    named += [(each, False) for each in roles]
    if any(report.failure):
        kinds = [kind or None for kind in report.failure]
        errors = [error or None for error in report.error]
        named.append((Column("failure", kinds, role="other"), False))
        named.append((Column("error", errors, role="other"), True))
    return named


def _column(column: Column, listed: bool) -> dict[str, Any]:
    """Return a column: numbers as a list, texts as a list of distinct ones and their codes."""
    document: dict[str, Any] = {
        "name": column.name,
        "unit": column.unit,
        "label": column.shown,
        "role": column.role,
        "sense": column.sense,
        "numeric": column.numeric,
    } | ({"listed": True} if listed else {})
    if not column.numeric:
        names = column.names()
        numbers = {each: number for number, each in enumerate(names)}
        if found := column.amounts():
            amounts = {
                identity(text): each for text, each in zip(column.values, found[0], strict=True)
            }
            document |= {"amounts": [amounts[each] for each in names], "amountUnit": found[1]}
        return document | {
            "texts": list(names.values()),
            "codes": [
                _NO_TEXT if value is None else numbers[identity(value)] for value in column.values
            ],
        }
    values: list[Any] = list(column.values)
    apart, long = [], []
    for at, value in enumerate(column.values):
        if isinstance(value, float) and not math.isfinite(value):
            apart.append((at, str(float(value))))
        elif isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
            long.append((at, str(value)))
    for at, _ in (*apart, *long):
        values[at] = None
    document |= {"values": values}
    return document | ({"special": apart} if apart else {}) | ({"long": long} if long else {})


def _kept(kept: KeptRun) -> dict[str, Any]:
    """Return a kept run; its activities as a chart where it has no schedule."""
    chart = chart_of(kept)
    listings = [each.document() for each in kept.listings]
    for listing in listings:
        listing["lines"] = [[_finite(value) for value in line] for line in listing["lines"]]
    return {
        "title": kept.title,
        "open": kept.position is None,
        "schedule": chart and schedule_document(chart),
        "figures": [figure_document(each) for each in kept.figures],
        "listings": listings,
    }


def figure_document(figure: CurvePlot) -> dict[str, Any]:
    """Return the panels of a figure, below each other."""
    return {"title": figure.title, "panels": [_panel(each) for each in panels_of(figure)]}


def _panel(figure: CurvePlot) -> dict[str, Any]:
    """Return curves; long ones thinned, the least and the largest of each stretch kept."""
    series = []
    points = points_of(figure)
    for name, (across, up) in points.items():
        shown = filled(across, up) if figure.bars else thinned(across, up, _MOST_POINTS)
        each: dict[str, Any] = {"name": name, "x": _numbers(shown[0]), "y": _numbers(shown[1])}
        if name in figure.names:
            each["names"] = list(figure.names[name])
        if name in figure.dots:
            each["dots"] = True
        series.append(each)
    return {
        "across": figure.x_label,
        "up": figure.y_label,
        "series": series,
        "lines": [[name, float(level)] for name, level in figure.lines.items()],
        "log": figure.log_y,
        "logAcross": figure.log_x,
        # Edges of bars around whole numbers are between these.
        "wholeAcross": all(are_whole(x) or are_whole(x - 0.5) for x, _ in points.values()),
        "wholeUp": all(are_whole(y) for _, y in points.values()),
        "styles": styles_of(figure, len(GROUP_COLOURS)),
        "bars": figure.bars,
        "names": bool(figure.names),
        "square": figure.square,
        "whole": figure.whole,
    }


def schedule_document(chart: ScheduleChart) -> dict[str, Any]:
    """Return a Gantt chart, column by column; adjacent processors of a bar are one block."""
    first = np.concatenate([[0], np.cumsum([size for _, size in chart.clusters])])
    blocks = [(bar, *block) for bar in chart.bars for block in adjacent(bar, first)]
    labels = {label: code for code, label in enumerate(dict.fromkeys(b.label for b in chart.bars))}
    return {
        "title": chart.title,
        "facts": chart.facts,
        "clusters": [[name, size] for name, size in chart.clusters],
        "groups": list(chart.groups),
        "labels": list(labels),
        "transfers": list(chart.transfers),
        "dates": [[name, float(date)] for name, date in chart.dates.items()],
        "group": [bar.group for bar, _, _ in blocks],
        "start": [float(bar.start) for bar, _, _ in blocks],
        "finish": [float(bar.finish) for bar, _, _ in blocks],
        "label": [labels[bar.label] for bar, _, _ in blocks],
        "first": [start for _, start, _ in blocks],
        "count": [count for _, _, count in blocks],
    }


def _numbers(values: Iterable[Any]) -> list[float | None]:
    """Return numbers, None where JSON has none; no curve is drawn there."""
    return [float(value) if math.isfinite(value) else None for value in values]


def _finite(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "\u221e", -math.inf: "\u2212\u221e"}.get(value, "NaN")
    return value
