"""Gantt charts of the activities of a run, host by host."""

from __future__ import annotations

from collections.abc import Sequence

from simplugin.charts import Bar, ScheduleChart, lanes
from simplugin.figures import groups_of
from simplugin.formatting import natural_order
from simplugin.listings import Listing
from simplugin.reports.colours import PALETTE, in_colour_order
from simplugin.reports.page.contents import KeptRun

_WORK = ("exec", "ptask")
_TRANSFERS = "transfers"
_FAILED = "(not finished)"
_ALL, _NAMELESS = "executions", "(none)"
# Groups that come after those that have names.
_SPECIAL = (_ALL, _NAMELESS, _FAILED)
_ARROW = "->"


def chart_of(kept: KeptRun) -> ScheduleChart | None:
    """Return the Gantt chart of a kept run; None if it has none."""
    chart = kept.schedule
    if chart is None and kept.activities is not None and kept.activities.lines:
        chart = activity_chart(kept.activities, groups=groups_of(kept.figures))
    return chart if chart is not None and chart.bars else None


def activity_chart(activities: Listing, *, groups: Sequence[str] = ()) -> ScheduleChart:
    """Lay out the activities of a run as bars: a band a host, a lane for each simultaneous one.

    Colours denote labels if executions have from one to eight of them, else actors if
    these are as few, else nothing. Transfers are thin bars at the receiving host, in the colour of
    the executions of the same label or actor if there are any.

    Parameters
    ----------
    activities : Listing
        Columns actor, resource, kind, label, start, end and state, in any order.
    groups : sequence of str
        Names that have the first colours, such as all applications of a run.

    Returns
    -------
    ScheduleChart
        Each host is a cluster of as many processors as it has lanes. Sleeps are not in it.
    """
    names = ("actor", "resource", "kind", "label", "start", "end", "state")
    rows = list(zip(*(activities.column(name) for name in names), strict=True))
    work = [row for row in rows if row[2] in _WORK]
    coloured = _coloured_by(work)
    found = {_group(row, coloured) for row in work}
    named = in_colour_order(found - set(_SPECIAL), groups)
    groups = [*named, *(each for each in _SPECIAL if each in found)]
    bars: dict[tuple[str, bool], list[tuple[float, float, int, str]]] = {}
    for row in rows:
        _, resource, kind, label, start, end, _ = row
        if kind not in (*_WORK, "comm"):
            continue
        works = kind in _WORK
        group = _group(row, coloured)
        if not works and group not in named:
            group = _TRANSFERS
        if group not in groups:
            groups.append(group)
        host = str(resource).rpartition(_ARROW)[2]
        bar = (float(start or 0.0), float(end or 0.0), groups.index(group), str(label or ""))
        bars.setdefault((host, not works), []).append(bar)
    return _chart(bars, groups, activities.note)


def _coloured_by(work: Sequence[Sequence[object]]) -> int | None:
    """Choose the column that colours denote."""
    for column in (3, 0):
        if 1 <= len({row[column] for row in work if row[column]}) <= len(PALETTE):
            return column
    return None


def _group(row: Sequence[object], coloured: int | None) -> str:
    """Return the group of an execution."""
    if row[6] not in ("done", None):
        return _FAILED
    return _ALL if coloured is None else str(row[coloured] or _NAMELESS)


def _chart(
    bars: dict[tuple[str, bool], list[tuple[float, float, int, str]]],
    groups: Sequence[str],
    facts: str,
) -> ScheduleChart:
    """Put bars into lanes, work above transfers."""
    hosts = sorted(sorted({host for host, _ in bars}), key=natural_order)
    thin: list[int] = []
    clusters, drawn, first = [], [], 0
    for host in hosts:
        size = 0
        for transfers in (False, True):
            placed = sorted(bars.get((host, transfers), []))
            lane_of = lanes([bar[:2] for bar in placed])
            drawn += [
                Bar(group, (first + size + lane,), start, end, label)
                for (start, end, group, label), lane in zip(placed, lane_of, strict=True)
            ]
            lanes_here = max(lane_of, default=-1) + 1
            thin += range(first + size, first + size + lanes_here) if transfers else ()
            size += lanes_here
        clusters.append((host, size))
        first += size
    facts = ", ".join(filter(None, [facts, "thin bars: transfers that arrive" if thin else ""]))
    return ScheduleChart(
        "activities", "", tuple(clusters), tuple(groups), tuple(drawn), facts,
        transfers=tuple(thin),
    )  # fmt: skip
