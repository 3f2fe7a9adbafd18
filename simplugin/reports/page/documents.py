"""A report as the JSON that its page reads."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from simplugin.charts import ScheduleChart
from simplugin.claims import headline
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.reports.colours import GROUP_COLOURS
from simplugin.reports.curve_points import (
    are_whole,
    filled,
    panels_of,
    points_of,
    styles_of,
    thinned,
)
from simplugin.reports.page.activity_charts import chart_of
from simplugin.reports.page.contents import CampaignReport, Column, KeptRun, identity
from simplugin.reports.schedules import adjacent

# Maximum number of points of a curve in a page; more are not visible.
_MOST_POINTS = 1000
_NO_TEXT = -1
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
    return {
        "facts": [[name, text] for name, text in report.facts.items()],
        "runs": list(report.position),
        "columns": [_column(each, **more) for each, more in _all_columns(report)],
        "groupings": report.groupings(),
        "group": report.group,
        "baseline": _baseline(report),
        "metric": first and first.name,
        "kept": [_kept(each) for each in report.kept],
        "headline": headline([each for found in report.claims.values() for each in found]),
        "claims": [
            {
                "capability": name,
                "claim": claim.claim,
                "paper": _finite(claim.paper),
                "measured": _finite(claim.measured),
                "agrees": claim.agrees,
                "kind": claim.kind,
                "why": claim.why,
                "source": claim.source,
                "optimum": _finite(claim.optimum),
            }
            for name, claims in report.claims.items()
            for claim in claims
        ],
        "figures": [
            {"capability": name, "figure": figure_document(figure)}
            for name, figures in report.figures.items()
            for figure in figures
        ],
        "files": list(files),
        "colours": len(GROUP_COLOURS),
    }


def json_text(document: dict[str, Any]) -> str:
    """Return JSON that is safe inside a page: no ``<`` ends its element."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _baseline(report: CampaignReport) -> int | None:
    """Return the number of the baseline among the groups."""
    if report.group is None or report.baseline is None:
        return None
    return report.column(report.group).place_of(report.baseline)


def _all_columns(report: CampaignReport) -> list[tuple[Column, dict[str, Any]]]:
    """Return the columns of the table in their order, and whether the table shows them."""
    failed = any(report.failure)
    named = [(Column("status", report.status, role="other"), {"listed": True})]
    roles = [each for role in ("varied", "metric", "other") for each in report.columns_of(role)]
    named += [(each, {}) for each in roles]
    if failed:
        kinds = [kind or None for kind in report.failure]
        errors = [error or None for error in report.error]
        named.append((Column("failure", kinds, role="other"), {}))
        named.append((Column("error", errors, role="other"), {"listed": True}))
    return named


def _column(column: Column, **more: Any) -> dict[str, Any]:
    """Return a column: numbers as they are, texts each once and then by number."""
    document = {
        "name": column.name,
        "unit": column.unit,
        "role": column.role,
        "sense": column.sense,
        "numeric": column.numeric,
    } | more
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
    apart: list[tuple[int, str]] = [
        (at, str(float(value)))
        for at, value in enumerate(values)
        if isinstance(value, float) and not math.isfinite(value)
    ]
    long = [
        (at, str(value))
        for at, value in enumerate(values)
        if isinstance(value, int) and abs(value) > _LARGEST_WHOLE
    ]
    for at, _ in (*apart, *long):
        values[at] = None
    document |= {"values": values}
    return document | ({"special": apart} if apart else {}) | ({"long": long} if long else {})


def _kept(kept: KeptRun) -> dict[str, Any]:
    """Return a kept run; its activities as a chart where it has no schedule."""
    chart = chart_of(kept)
    return {
        "title": kept.title,
        "schedule": chart and schedule_document(chart),
        "figures": [figure_document(each) for each in kept.figures],
        "listings": [_listing(each) for each in kept.listings],
    }


def _listing(listing: Listing) -> dict[str, Any]:
    """Return a table; numbers that JSON lacks become texts."""
    document = listing.document()
    document["lines"] = [[_finite(value) for value in line] for line in document["lines"]]
    return document


def figure_document(figure: Figure) -> dict[str, Any]:
    """Return the panels of a figure, below each other."""
    return {"title": figure.title, "panels": [_panel(each) for each in panels_of(figure)]}


def _panel(figure: Figure) -> dict[str, Any]:
    """Return curves; long ones thinned, the least and the largest of each stretch kept."""
    series = []
    points = points_of(figure)
    for name, (across, up) in points.items():
        if figure.bars:
            across, up = filled(across, up)
        else:
            across, up = thinned(across, up, _MOST_POINTS)
        each = {"name": name, "x": _numbers(across), "y": _numbers(up)}
        if name in figure.names:
            each["names"] = list(figure.names[name])
        series.append(each)
    return {
        "across": figure.x_label,
        "up": figure.y_label,
        "series": series,
        "lines": [[name, float(level)] for name, level in figure.lines.items()],
        "log": figure.log_y,
        "logAcross": figure.log_x,
        # Bars around whole numbers have their edges between these.
        "wholeAcross": all(are_whole(x) or are_whole(x - 0.5) for x, _ in points.values()),
        "wholeUp": all(are_whole(y) for _, y in points.values()),
        "styles": styles_of(figure, len(GROUP_COLOURS)),
        "bars": figure.bars,
        "names": bool(figure.names),
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
