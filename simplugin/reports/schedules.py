"""Gantt charts of the processors of clusters, and of the activities of a run, host by host."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.formatting import natural_order
from simplugin.reports import paper_sheet as paper
from simplugin.reports.colours import group_colour, in_colour_order, meaning_of_colours, reads_dark
from simplugin.reports.gantt import FACTS, KEY, WIDTH, add_bars, two_panels
from simplugin.reports.image_files import Chart, drawn
from simplugin.reports.page.contents import KeptRun
from simplugin.results.charts import Bar, ScheduleChart, lanes
from simplugin.results.curves import groups_of
from simplugin.results.tables import ResultTable

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIDES = 1.3
# Heights of a processor, and of all of them [inch].
_PROCESSOR, _LEAST_HEIGHT, _MOST_HEIGHT = 0.06, 1.6, 9.5
_HEIGHT_OF_USE, _HEIGHT_OF_REST = 1.0, 1.5
# Between two clusters, and between all of them, as a part of all processors.
_GAP, _MOST_GAPS = 0.02, 0.3
# Groups that the key names; beyond, only labels on bars tell them apart.
_MOST_NAMED = 24
# Height of a transfer, in processors.
_THIN = 0.35
# Width of the edges of bars, and the largest part of a bar that an edge takes [pt].
_EDGE, _EDGE_PART = 0.35, 0.12
_FONT, _SMALL_FONT = 6.5, 4.5
_NAME = 9.0
# Margin of a line, and the widest name of a cluster [inch].
_MARGIN, _CLUSTER = 0.3, 2.0
# Height and mean width of a letter, in its size.
_LETTER = (1.25, 0.62)
_DATE = "date"
_DASHES = paper.DASHES[1:4]


def draw_schedule(chart: ScheduleChart, path: str | PathLike[str] | None = None) -> Chart:
    """Draw a Gantt chart: processors by cluster, a colour for each group.

    Parameters
    ----------
    chart : ScheduleChart
        The schedule to draw.
    path : path, optional
        A PNG, SVG or PDF file, by its suffix; an existing file is replaced.

    Returns
    -------
    Chart
        The drawing, which a notebook shows.

    Raises
    ------
    SimpluginError
        The suffix is unknown, or the file cannot be written.
    """
    return drawn(_Drawing(chart).draw(), path)


def adjacent(bar: Bar, first: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the first and the number of each run of adjacent processors in one cluster.

    Parameters
    ----------
    bar : Bar
        Its processors.
    first : int64, shape (n_clusters + 1,)
        First processor of each cluster, and the number of all processors.
    """
    if len(bar.processors) == 1:
        return [(int(bar.processors[0]), 1)]
    numbers = np.unique(bar.processors)
    cluster = np.searchsorted(first, numbers, side="right")
    cuts = np.flatnonzero((np.diff(numbers) > 1) | (np.diff(cluster) > 0)) + 1
    return [(int(part[0]), len(part)) for part in np.split(numbers, cuts) if len(part)]


class _Drawing:
    """A chart in the making."""

    def __init__(self, chart: ScheduleChart) -> None:
        self.chart = chart
        sizes = np.array([size for _, size in chart.clusters])
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        self.is_counted = np.ones(int(self.first[-1]), dtype=bool)
        self.is_counted[list(chart.transfers)] = False
        heights = np.where(self.is_counted, 1.0, _THIN)
        most = _MOST_GAPS * float(heights.sum()) / max(len(sizes) - 1, 1)
        gap = min(max(1.0, _GAP * float(heights.sum())), most)
        # Where each processor is, with room between clusters.
        self.top = np.cumsum(heights) + np.repeat(np.arange(len(sizes)), sizes) * gap
        self.bottom = self.top - heights
        self.extent = float(heights.sum()) + gap * (len(sizes) - 1)
        self.centres = (self.bottom[self.first[:-1]] + self.top[self.first[1:] - 1]) / 2
        nearest = float(np.diff(self.centres).min(initial=self.extent))
        # Each name has a line if that fits on a sheet.
        unit = max(_PROCESSOR, paper.LINE * _NAME * paper.POINT / nearest)
        self.inches = min(max(self.extent * unit, _LEAST_HEIGHT), _MOST_HEIGHT)
        self.end = max((bar.finish for bar in chart.bars), default=0.0) or 1.0
        self.end = max([self.end, *chart.dates.values()])
        # Adjacent processors of a bar: the first, and how many.
        self.blocks = [(bar, *block) for bar in chart.bars for block in adjacent(bar, self.first)]
        self.busy = sorted({bar.group for bar in chart.bars})

    def draw(self) -> Figure:
        """Draw everything."""
        title = self.chart.title
        # Extra height for all lines but the first.
        further = (paper.lines_of(paper.title_text(title, WIDTH)) - 1) * paper.TITLE
        further += (paper.lines_of(self._facts()) - 1) * FACTS
        further += max(0, sum(paper.key_layout(self._key(), WIDTH, KEY)[0]) - 2) * KEY
        height = self.inches + _HEIGHT_OF_USE + _HEIGHT_OF_REST + further * paper.LINE * paper.POINT
        figure, axes, below = two_panels((self.inches, _HEIGHT_OF_USE), height, title)
        below.set_axisbelow(True)
        self._clusters(axes)
        self._bars(axes)
        self._labels(axes)
        self._use(below)
        for panel in (axes, below):
            for number, date in enumerate(self.chart.dates.values()):
                dash = _DASHES[number % len(_DASHES)]
                panel.axvline(date, color="black", linestyle=dash, linewidth=1, gid=_DATE, zorder=5)
        self._words(figure, axes)
        return figure

    def _facts(self) -> str:
        """Return the facts, broken into lines above the frame."""
        return paper.wrapped(self.chart.facts, WIDTH - 2 * _MARGIN - _CLUSTER, FACTS)

    def _key(self) -> list[str]:
        """Return the names of the key."""
        completed = ["completed"] if self.chart.completion else []
        groups = self.chart.groups if len(self.chart.groups) <= _MOST_NAMED else ()
        return [*groups, *completed, *self.chart.dates]

    def _clusters(self, axes: Axes) -> None:
        """Write the names of clusters next to their processors."""
        for start, stop in zip(self.first, self.first[1:], strict=False):
            low, high = float(self.bottom[start]), float(self.top[stop - 1])
            axes.axhspan(low, high, color="#f5f5f5", linewidth=0, zorder=0)
        names = [paper.wrapped(name, _CLUSTER, _NAME) for name, _ in self.chart.clusters]
        line = paper.LINE * _NAME * paper.POINT * self.extent / self.inches
        room = float(np.diff(self.centres).min(initial=self.extent))
        if room >= (max(map(paper.lines_of, names)) + 1) * line:
            counts = np.add.reduceat(self.is_counted, self.first[:-1], dtype=np.int64)
            names = [f"{name}\n{count}" for name, count in zip(names, counts, strict=True)]
        # Names that would cover the one above are left out.
        shown, free = [], -line
        for number, (centre, name) in enumerate(zip(self.centres, names, strict=True)):
            half = paper.lines_of(name) * line / 2
            if centre - half >= free:
                shown.append(number)
                free = centre + half
        axes.set_yticks(self.centres[shown], [names[each] for each in shown])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.tick_params(axis="y", labelsize=_NAME)
        axes.set_ylim(self.extent + 0.5, -0.5)
        axes.set_xlim(0.0, self.end * 1.005)

    def _bars(self, axes: Axes) -> None:
        """Draw all blocks as one collection."""
        bars = [bar for bar, _, _ in self.blocks]
        dates = np.array([(bar.start, bar.finish) for bar in bars]).reshape(-1, 2).T
        first, count = np.array([block[1:] for block in self.blocks], int).reshape(-1, 2).T
        places = self.bottom[first], self.top[first + count - 1]
        colours = [group_colour(bar.group) for bar in bars]
        across, up = self._scale()
        # Short bars have thin edges, which would hide them.
        sides = (dates[1] - dates[0]) * across, (places[1] - places[0]) * up
        edges = np.minimum(_EDGE, _EDGE_PART * np.minimum(*sides))
        style = {"facecolors": colours, "edgecolors": "white", "linewidths": edges, "zorder": 3}
        add_bars(axes, (dates[0], dates[1]), places, style)

    def _scale(self) -> tuple[float, float]:
        """Return the points of a second, and of a processor."""
        across = (WIDTH - _SIDES) * 72 / (self.end * 1.005)
        return across, self.inches * 72 / self.extent

    def _labels(self, axes: Axes) -> None:
        """Write labels on the largest block of each bar if they fit."""
        across, up = self._scale()
        largest: dict[int, tuple[Bar, int, int]] = {}
        for block in self.blocks:
            known = largest.setdefault(id(block[0]), block)
            if block[2] > known[2]:
                largest[id(block[0])] = block
        for bar, first, count in largest.values():
            length = len(bar.label) * _LETTER[1]
            room = (bar.finish - bar.start) * across * 0.94 / max(length, 0.1)
            low, high = self.bottom[first], self.top[first + count - 1]
            size = min(_FONT, room, (high - low) * up / _LETTER[0])
            if not bar.label or size < _SMALL_FONT:
                continue
            dark = reads_dark(group_colour(bar.group))
            axes.text(
                (bar.start + bar.finish) / 2, (low + high) / 2, bar.label, parse_math=False,
                ha="center", va="center", fontsize=size, zorder=4, clip_on=True,
                color="black" if dark else "white",
            )  # fmt: skip

    def _use(self, axes: Axes) -> None:
        """Draw the stacked numbers of processors of the groups."""
        bars = self.chart.bars
        # The dates at which a number changes.
        dates = np.unique([date for bar in bars for date in (bar.start, bar.finish)])
        counts = {group: np.zeros(len(dates), dtype=np.int64) for group in self.busy}
        for bar in bars:
            start, finish = np.searchsorted(dates, [bar.start, bar.finish])
            counts[bar.group][start:finish] += self.is_counted[list(bar.processors)].sum()
        floor = np.zeros(len(dates))
        for group, count in counts.items():
            roof = floor + count
            colour = group_colour(group)
            axes.fill_between(dates, floor, roof, step="post", color=colour, linewidth=0)
            floor = roof
        total = int(self.is_counted.sum())
        axes.set_ylim(0, max(total, 1))
        axes.set_yticks([0, total])
        axes.set_ylabel("in use", fontsize=KEY)
        axes.set_xlabel("time [s]", fontsize=FACTS)

    def _words(self, figure: Figure, axes: Axes) -> None:
        """Write facts and legend, and mark when groups end."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        axes.set_title(
            self._facts(), loc="left", fontsize=FACTS, color="#555555", pad=9, parse_math=False
        )
        for group, date in enumerate(self.chart.completion):
            # Above the frame, where it hides nothing.
            axes.plot(
                [date], [1.0], marker="v", markersize=6, color=group_colour(group), clip_on=False,
                transform=axes.get_xaxis_transform(), markeredgecolor="white", markeredgewidth=0.5,
                zorder=6,
            )  # fmt: skip
        number = len(self.chart.groups)
        handles: list[Any] = [
            Patch(facecolor=group_colour(each))
            for each in range(number if number <= _MOST_NAMED else 0)
        ]
        if self.chart.completion:
            handles.append(Line2D([], [], marker="v", linestyle="", color=paper.GREY))
        handles += [line for line in axes.lines if line.get_gid() == _DATE]
        paper.write_key(figure, self._key(), handles, WIDTH, size=KEY, place="outside lower left")


_WORK = ("exec", "ptask")
_TRANSFERS = "transfers"
_FAILED, _CANCELLED, _NAMELESS = "(failed)", "(cancelled)", "(none)"
# Groups after the named ones.
_SPECIAL = (_NAMELESS, _FAILED, _CANCELLED)
_ARROW = "->"
# A bar without a lane: host, True for a transfer, start, end, group, label.
_Placed = tuple[list[tuple[int, str]], str, bool, float, float, int, str]


def chart_of(kept: KeptRun) -> ScheduleChart | None:
    """Return the Gantt chart of a kept run; None if it has none."""
    chart = kept.schedule
    if chart is None and kept.activities is not None and kept.activities.lines:
        chart = activity_chart(kept.activities, groups=groups_of(kept.figures))
    return chart if chart is not None and chart.bars else None


def activity_chart(activities: ResultTable, *, groups: Sequence[str] = ()) -> ScheduleChart:
    """Lay out the activities of a run as bars: a band a host, a lane for each simultaneous one.

    Colours denote labels or actors, as in the chart that `gantt` draws. Transfers are thin bars at
    the receiving host, in the colour of the executions of the same label or actor if there are any.

    Parameters
    ----------
    activities : ResultTable
        Columns actor, resource, kind, label, start, end and state, in any order.
    groups : sequence of str
        Names of the first colours, such as all applications of a run.

    Returns
    -------
    ScheduleChart
        Each host is a cluster with one processor a lane. Sleeps are left out.
    """
    columns = ("actor", "resource", "kind", "label", "start", "end", "state")
    rows = list(zip(*(activities.column(name) for name in columns), strict=True))
    work = [row for row in rows if row[2] in _WORK]
    labels, actors = ({row[column] for row in work} - {None, ""} for column in (3, 0))
    coloured = columns.index(meaning_of_colours(len(labels), len(actors)))
    found = {_group(row, coloured) for row in work}
    named = in_colour_order(found - set(_SPECIAL), groups)
    groups = [*named, *(each for each in _SPECIAL if each in found)]
    bars: list[_Placed] = []
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
        name, dates = str(label or ""), (float(start or 0.0), float(end or 0.0))
        bars.append((natural_order(host), host, not works, *dates, groups.index(group), name))
    # Lanes: work above transfers.
    thin: list[int] = []
    clusters: dict[str, int] = {}
    drawn, first = [], 0
    for (_, host, transfers), members in groupby(sorted(bars), key=lambda bar: bar[:3]):
        placed = list(members)
        lane_of = lanes([bar[3:5] for bar in placed])
        drawn += [
            Bar(group, (first + lane,), start, end, label)
            for (*_, start, end, group, label), lane in zip(placed, lane_of, strict=True)
        ]
        size = max(lane_of) + 1
        thin += range(first, first + size) if transfers else ()
        clusters[host] = clusters.get(host, 0) + size
        first += size
    arriving = "thin bars: transfers that arrive" if thin else ""
    facts = ", ".join(filter(None, [activities.note, arriving]))
    return ScheduleChart(
        "activities", "", tuple(clusters.items()), tuple(groups), tuple(drawn), facts,
        transfers=tuple(thin),
    )  # fmt: skip


def _group(row: Sequence[object], coloured: int) -> str:
    """Return the group of an execution."""
    if row[6] not in ("done", None):
        return _FAILED if row[6] == "failed" else _CANCELLED
    return str(row[coloured] or _NAMELESS)
