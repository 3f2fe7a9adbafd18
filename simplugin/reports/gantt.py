"""Gantt charts of hosts or actors: layout of the bars, and their drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import natural_order, readable, scale_of
from simplugin.reports import paper_sheet as paper
from simplugin.reports.colours import Colouring, colouring
from simplugin.reports.image_files import Chart, drawn
from simplugin.results.charts import lanes as lanes_of
from simplugin.simulation import Result, chrome_trace
from simplugin.simulation.trace import KINDS, STATES

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SENT, WORK, RECEIVED, SLEEP = range(4)
_SLEEP, _TRANSFER = KINDS.index("sleep"), KINDS.index("comm")
# By the track of an activity.
_BANDS = {
    chrome_trace.EXECUTIONS: WORK,
    chrome_trace.SENT: SENT,
    chrome_trace.RECEIVED: RECEIVED,
    chrome_trace.DISKS: RECEIVED,
}
# Bars side by side in one band; more of them share the last lane.
_MOST_LANES = 48
# Heights in units of one bar of work.
_WORK_HEIGHT, _TRANSFER_HEIGHT, _MOST_TRANSFERS = 1.0, 0.16, 3.0
# Gaps between rows: for few rows and for more, and the maximum number of few.
_GAPS, _FEW_ROWS = (0.35, 0.08), 60
WIDTH, _WIDTH_OF_FACTS = 11.0, 7.0
# Sizes of letters.
FACTS, KEY = 9.0, 8.5
# Heights of one bar of work and of all rows [inch].
_HEIGHT_OF_BAR, _LEAST_HEIGHT, _MOST_HEIGHT = 0.15, 1.2, 14.0
_HEIGHT_OF_LOAD, _HEIGHT_OF_REST = 0.7, 1.7
_MOST_ROW_LABELS = 60
# Vector files with more bars than this take long to open.
_RASTERISE_FROM = 20000
# White lines between bars would hide short ones.
_SEPARATE_UP_TO = 3000
# Transfers smaller than this fraction of the largest get no rate.
_LIGHT = 0.01
# Times at which a host is off.
_OFF: Any = {"facecolor": "#f0f0f0", "edgecolor": "#b0b0b0", "hatch": "////", "linewidth": 0.0}
# Text in the legend and hatching of activities that did not finish, by their state.
_UNFINISHED: dict[str, tuple[str, Any]] = {
    "failed": ("failed", {"facecolor": "none", "edgecolor": "#c00000", "hatch": "////"}),
    "canceled": ("cancelled", {"facecolor": "none", "edgecolor": "#606060", "hatch": "\\\\\\\\"}),
}


@dataclass(frozen=True)
class GanttLayout:
    """Bars, and the rows that they are in; row 0 is at the top, y grows downwards.

    Attributes
    ----------
    rows : tuple of str
        Hosts or actors, from the top.
    centre, height : float64, shape (n_rows,)
        Centre and height of each row.
    extent, gap : float
        Height of all rows together, and the gap between two rows.
    activity : int64, shape (n,)
        Position in the trace of the activity of each bar.
    row : int64, shape (n,)
        Row of each bar.
    band : int8, shape (n,)
        ``SENT``, ``WORK``, ``RECEIVED`` or ``SLEEP``.
    bottom, top : float64, shape (n,)
        Vertical extent of each bar.
    """

    rows: tuple[str, ...]
    centre: NDArray[np.float64]
    height: NDArray[np.float64]
    extent: float
    gap: float
    activity: NDArray[np.int64]
    row: NDArray[np.int64]
    band: NDArray[np.int8]
    bottom: NDArray[np.float64]
    top: NDArray[np.float64]


def by_host(result: Result, only: Sequence[str] | None = None) -> GanttLayout:
    """Lay out one row a host: sent transfers above, work, received transfers below.

    Parameters
    ----------
    result : Result
        With its trace.
    only : sequence of str, optional
        The hosts to show, in this order; by default those that did something or were off, in
        natural order: ``node-2`` before ``node-10``.
    """
    trace = result.trace
    names = tuple(sorted(result.hosts.name, key=natural_order) if only is None else only)
    _refuse_unknown(names, result.hosts.name, "host")
    row_of = {name: row for row, name in enumerate(names)}
    found: list[tuple[int, int, int]] = []
    codes = zip(trace.resource_code.tolist(), trace.kind_code.tolist(), strict=True)
    for activity, (code, kind) in enumerate(codes):
        there = dict(chrome_trace.places(KINDS[kind], trace.resource_names[code]))
        # A transfer by the loopback takes no part of the network.
        if kind != _SLEEP and not (len(there) == 1 and kind == _TRANSFER):
            found += [
                (activity, row_of[host], _BANDS[track])
                for host, track in there.items()
                if host in row_of
            ]
    empty = [row for row, name in enumerate(names) if only is not None or name in result.off_times]
    return _laid_out(result, names, found, empty)


def by_actor(result: Result, only: Sequence[str] | None = None) -> GanttLayout:
    """Lay out one row an actor: work and, below, transfers; sleeps as thin lines.

    Parameters
    ----------
    result : Result
        With its trace.
    only : sequence of str, optional
        Names of the actors to show; by default those that did something. Actors keep the order
        of their creation.
    """
    trace = result.trace
    _refuse_unknown(only or (), trace.actor_names, "actor")
    names = _distinct(result)
    bands = {"exec": WORK, "ptask": WORK, "sleep": SLEEP}
    band_of = [bands.get(kind, RECEIVED) for kind in KINDS]
    shown = set(trace.actor_names if only is None else only)
    codes = zip(trace.actor_code.tolist(), trace.kind_code.tolist(), strict=True)
    found = [
        (activity, code, band_of[kind])
        for activity, (code, kind) in enumerate(codes)
        if trace.actor_names[code] in shown
    ]
    return _laid_out(result, names, found)


def _refuse_unknown(names: Sequence[str], known: Sequence[str], what: str) -> None:
    """Raise if the result lacks a name."""
    there = set(known)
    for name in names:
        if name not in there:
            raise SimpluginError(f"the result has no {what} {name!r}")


def _distinct(result: Result) -> tuple[str, ...]:
    """Make names of actors unique by their host, then by their number."""
    names = result.trace.actor_names
    hosts = [each.host for each in result.returned]
    if len(set(names)) == len(names):
        return names
    if len(hosts) != len(names):
        return tuple(f"{name} {number}" for number, name in enumerate(names, start=1))
    full = [f"{name}@{host}" for name, host in zip(names, hosts, strict=True)]
    if len(set(full)) == len(full):
        return tuple(full)
    return tuple(f"{name} {number}" for number, name in enumerate(full, start=1))


def _laid_out(
    result: Result,
    names: Sequence[str],
    found: list[tuple[int, int, int]],
    empty: Sequence[int] = (),
) -> GanttLayout:
    """Assign a lane to each bar and a height to each row; some rows stay without bars."""
    columns = np.array(found, dtype=np.int64).reshape(-1, 3)
    activity, row, band = columns.T
    used = np.union1d(row, np.array(empty, dtype=np.int64))
    row = np.searchsorted(used, row)
    start, end = result.trace.start[activity], result.trace.end[activity]
    lane = np.zeros(len(activity), dtype=np.int64)
    lanes = np.zeros((len(used), 4), dtype=np.int64)
    # Consecutive activities share a lane despite rounding.
    tolerance = 1e-9 * float(end.max(initial=0.0))
    # Bars of length zero come before those that start at the same date.
    order = np.lexsort((end, start, row * 4 + band))
    key = (row * 4 + band)[order]
    for bars in np.split(order, np.flatnonzero(np.diff(key)) + 1) if len(order) else ():
        spans = zip(start[bars].tolist(), (end[bars] - tolerance).tolist(), strict=True)
        lane[bars] = np.minimum(lanes_of(spans), _MOST_LANES - 1)
        lanes[row[bars[0]], band[bars[0]]] = lane[bars].max() + 1
    used_bands = lanes > 0
    bands = np.clip(_TRANSFER_HEIGHT * lanes, 2 * _TRANSFER_HEIGHT * used_bands, _MOST_TRANSFERS)
    bands[:, WORK] = _WORK_HEIGHT * used_bands[:, WORK]
    bands[:, SLEEP] = _TRANSFER_HEIGHT * used_bands[:, SLEEP]
    height = np.maximum(bands.sum(axis=1), _WORK_HEIGHT)
    gap = _GAPS[len(used) > _FEW_ROWS]
    first = np.concatenate([[0.0], np.cumsum(height + gap)])[:-1]
    # A row without transfers still has its work in the middle.
    above = first + (height - bands.sum(axis=1)) / 2
    offset = above[:, None] + np.cumsum(bands, axis=1) - bands
    thickness = bands[row, band] / np.maximum(lanes[row, band], 1)
    bottom = offset[row, band] + lane * thickness
    return GanttLayout(
        rows=tuple(names[position] for position in used),
        centre=first + height / 2,
        height=height,
        extent=float((height + gap).sum()),
        gap=gap,
        activity=activity,
        row=row,
        band=band.astype(np.int8),
        bottom=bottom,
        top=bottom + thickness,
    )


def gantt(
    result: Result,
    path: str | PathLike[str] | None = None,
    *,
    by: Literal["host", "actor"] = "host",
    colour: Literal["auto", "label", "actor", "host"] = "auto",
    only: Sequence[str] | None = None,
    window: tuple[float, float] | None = None,
    title: str = "",
    groups: Sequence[str] = (),
) -> Chart:
    """Draw the Gantt chart of a simulation.

    Executions are bars coloured by label, actor or host; transfers are thin bars above (sent) and
    below them (received), the darker the slower: contention shows. Overlapping activities are
    side by side. Failed activities are hatched in red; cancelled ones, such as those of daemons at
    the end of the simulation, and times at which a host was off in grey.

    Parameters
    ----------
    result : Result
        Result of a simulation with ``trace=True``.
    path : path, optional
        A PNG, SVG or PDF file, by its suffix; an existing file is replaced.
    by : {"host", "actor"}
        Meaning of a row.
    colour : {"auto", "label", "actor", "host"}
        Meaning of the colours of executions; by default labels if there are a few, else
        names of actors.
    only : sequence of str, optional
        Hosts or actors to show; by default those that did something.
    window : tuple of float, optional
        First and last date to show [s].
    title : str
        Above the chart.
    groups : sequence of str
        Names in the order of their colours, such as all applications of a run, so that they are the
        same as in other charts; names that are not among them follow in natural order.

    Returns
    -------
    Chart
        The drawing, which a notebook shows.

    Raises
    ------
    SimpluginError
        The suffix is unknown, a name is, the window is empty, or the result has no trace.
    """
    if by not in ("host", "actor"):
        raise SimpluginError(f"by is {by!r}; choose 'host' or 'actor'")
    if not len(result.trace) and not result.provenance.get("trace", True):
        raise SimpluginError("the result has no trace to draw; simulate with trace=True")
    end = max(result.clock, float(result.trace.end.max(initial=0.0))) or 1.0
    first, last = (0.0, end) if window is None else window
    if not first < last:
        raise SimpluginError(f"window is {window!r}; give a first date and a later one")
    layout = by_host(result, only) if by == "host" else by_actor(result, only)
    off = result.off_times if by == "host" else {}
    colours, windowed = colouring(result, colour, groups), window is not None
    chart = _Chart(result, layout, colours, (first, last), title, off, windowed)
    return drawn(chart.draw(), path)


def two_panels(
    heights: tuple[float, float], height: float, title: str
) -> tuple[Figure, Axes, Axes]:
    """Return the figure of a Gantt chart: a panel of bars, and one of their numbers below it.

    Parameters
    ----------
    heights : (float, float)
        Of the two panels, in proportion.
    height : float
        Of the figure [inch].
    title : str
        Above everything.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=heights)
    axes = figure.add_subplot(grid[0])
    below = figure.add_subplot(grid[1], sharex=axes)
    for panel in (axes, below):
        panel.grid(axis="x", color=paper.GRID, linewidth=0.6)
        panel.spines[:].set_visible(False)
        panel.tick_params(labelsize=KEY, length=2)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelbottom=False, length=0)
    paper.write_title(figure, title)
    return figure, axes, below


def add_bars(
    axes: Axes, dates: tuple[Any, Any], places: tuple[Any, Any], style: Mapping[str, Any]
) -> Any:
    """Draw bars from and to dates, between lower and upper places, as one collection."""
    from matplotlib.collections import PolyCollection

    (start, end), (bottom, top) = dates, places
    # An array is much faster than the sequences of matplotlib's stubs.
    corners: Any = np.stack([start, bottom, start, top, end, top, end, bottom], axis=1)
    bars = PolyCollection(corners.reshape(-1, 4, 2), **style)
    axes.add_collection(bars, autolim=False)
    return bars


@dataclass
class _Chart:
    """A chart in the making."""

    result: Result
    layout: GanttLayout
    colours: Colouring
    span: tuple[float, float]
    title: str
    off: Mapping[str, Sequence[tuple[float, float]]]
    windowed: bool

    def __post_init__(self) -> None:
        """Find the activities that the window shows, in the order of the trace."""
        drawn = np.unique(self.layout.activity)
        start, end = self.result.trace.start[drawn], self.result.trace.end[drawn]
        first, last = self.span
        self.shown = drawn[(start <= last) & (end >= first)]

    def draw(self) -> Figure:
        """Draw everything."""
        inches = min(max(self.layout.extent * _HEIGHT_OF_BAR, _LEAST_HEIGHT), _MOST_HEIGHT)
        rows = sum(paper.key_layout([name for name, _ in self._key()], WIDTH, KEY)[0])
        height = inches + _HEIGHT_OF_REST + rows * KEY * paper.LINE * paper.POINT
        figure, axes, below = two_panels((inches, _HEIGHT_OF_LOAD), height, self.title)
        self._rows(axes, inches)
        rates = self._transfers(axes)
        self._others(axes)
        self._load(below)
        self._words(figure, axes)
        if rates is not None:
            self._explain(figure, axes, rates, inches)
        return figure

    def _explain(self, figure: Figure, axes: Axes, rates: Any, inches: float) -> None:
        """Put the scale of the transfers' colours above the chart, on the right."""
        place = axes.inset_axes((0.82, 1 + 0.1 / inches, 0.18, 0.09 / inches))
        bar = figure.colorbar(rates, cax=place, orientation="horizontal")
        bar.outline.set_visible(False)
        place.xaxis.set_ticks_position("top")
        place.tick_params(labelsize=7.5, length=2, pad=1)
        place.text(
            -0.03, 0.5, f"transfers [{self._rate_unit}]", transform=place.transAxes, ha="right",
            va="center", fontsize=KEY,
        )  # fmt: skip

    def _rows(self, axes: Axes, inches: float) -> None:
        """Name the rows, as many as can be read, and hatch the times at which hosts were off."""
        layout = self.layout
        every = max(1, -(-len(layout.rows) // max(1, min(_MOST_ROW_LABELS, int(inches / 0.13)))))
        axes.set_yticks(layout.centre[::every], layout.rows[::every])
        axes.tick_params(axis="y", labelsize=KEY if len(layout.rows) <= 40 else 6.5)
        if len(layout.rows) <= _MOST_ROW_LABELS:
            for edge in layout.centre + (layout.height + layout.gap) / 2:
                axes.axhline(edge, color=paper.GRID, linewidth=0.5, zorder=0)
        axes.set_ylim(layout.extent, -layout.gap / 2)
        axes.set_xlim(*self.span)
        for name, centre, height in zip(layout.rows, layout.centre, layout.height, strict=True):
            spans = [(off, back - off) for off, back in self.off.get(name, ())]
            if spans:
                low = float(centre - height / 2)
                axes.broken_barh(spans, (low, float(height)), zorder=1, **_OFF)

    def _bars(self, axes: Axes, chosen: NDArray[np.bool_], style: Mapping[str, Any]) -> Any:
        """Draw some of the bars as one collection, if there are any."""
        if not chosen.any():
            return None
        layout, trace = self.layout, self.result.trace
        activity = layout.activity[chosen]
        dates = trace.start[activity], trace.end[activity]
        places = layout.bottom[chosen], layout.top[chosen]
        rasterized = len(layout.activity) > _RASTERISE_FROM
        return add_bars(axes, dates, places, {"rasterized": rasterized, **style})

    def _others(self, axes: Axes) -> None:
        """Draw sleeps and work, and hatch what did not finish."""
        band, activity = self.layout.band, self.layout.activity
        work = band == WORK
        separate = np.count_nonzero(work) <= _SEPARATE_UP_TO
        state = self.result.trace.state_code[activity]
        sleep = {"facecolors": "#c8c8c8", "linewidths": 0.0, "zorder": 2}
        self._bars(axes, band == SLEEP, sleep)
        edges = {"edgecolors": "white" if separate else "none", "linewidths": 0.4 * separate}
        colours = self.colours.of_activity[activity[work]]
        self._bars(axes, work, {"facecolors": colours, "zorder": 3, **edges})
        for name, (_, style) in _UNFINISHED.items():
            there = (state == STATES.index(name)) & (band != SLEEP)
            self._bars(axes, there, {**style, "linewidths": 0.8, "zorder": 4})

    def _transfers(self, axes: Axes) -> Any:
        """Draw transfers, coloured by their rates; return the collection of the colour bar."""
        from matplotlib.colors import LinearSegmentedColormap, Normalize

        layout, trace = self.layout, self.result.trace
        chosen = (layout.band == SENT) | (layout.band == RECEIVED)
        activity = layout.activity[chosen]
        lasting = trace.end[activity] > trace.start[activity]
        if not lasting.any():
            return None
        chosen[chosen] = lasting
        activity = activity[lasting]
        rate = trace.amount[activity] / (trace.end[activity] - trace.start[activity])
        # Short messages are bound by latency, not by bandwidth: they are drawn as fast.
        light = trace.amount[activity] < _LIGHT * float(trace.amount[activity].max())
        most = float(rate[~light].max())
        rate[light] = most
        factor, prefix = scale_of(most)
        self._rate_unit = f"{prefix}B/s"
        scale = Normalize(0.0, most / factor or 1.0)
        shades = LinearSegmentedColormap.from_list("rates", RATE_COLOURS)
        style = {"array": rate / factor, "cmap": shades, "norm": scale}
        return self._bars(axes, chosen, {**style, "linewidths": 0.0, "zorder": 2})

    def _load(self, axes: Axes) -> None:
        """Draw the number of activities at each date."""
        from matplotlib.ticker import MaxNLocator

        band = self.layout.band
        for chosen, colour, name in (
            (band == WORK, "#4c566a", "executions"),
            (band == RECEIVED, "#d1495b", "transfers"),
        ):
            if chosen.any():
                dates, counts = self._counts(chosen)
                axes.step(dates, counts, where="post", color=colour, linewidth=1.1, label=name)
                axes.fill_between(dates, counts, step="post", color=colour, alpha=0.15, linewidth=0)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
        axes.set_ylabel("at a time", fontsize=KEY)
        axes.set_xlabel("simulated time [s]", fontsize=FACTS)
        axes.spines.bottom.set_visible(True)
        if axes.lines:
            axes.legend(
                loc="lower right", bbox_to_anchor=(1.0, 0.95), ncols=2, frameon=False,
                fontsize=KEY, handlelength=1.2, borderaxespad=0,
            )  # fmt: skip

    def _counts(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Count the bars at each date at which their number changes."""
        trace = self.result.trace
        activity = np.unique(self.layout.activity[chosen])
        dates = np.concatenate([trace.start[activity], trace.end[activity]])
        steps = np.repeat([1, -1], len(activity))
        order = np.argsort(dates, kind="stable")
        last = np.append(np.diff(dates[order]) > 0, True)
        at, counts = dates[order][last], np.cumsum(steps[order])[last]
        return np.append(self.span[0], at), np.append(0, counts)

    def _facts(self) -> str:
        """Return the date of the end, and the number of activities that the window shows."""
        states = self.result.trace.state_code[self.shown]
        count = len(states)
        facts = f"ends at {readable(self.result.clock, 's')} · {readable(count)}"
        facts += f" activit{'y' if count == 1 else 'ies'}"
        if self.windowed:
            facts += f" from {readable(self.span[0], 's')} to {readable(self.span[1], 's')}"
        for name, (words, _) in _UNFINISHED.items():
            number = int((states == STATES.index(name)).sum())
            facts += f", {readable(number)} {words}" if number else ""
        return facts

    def _words(self, figure: Figure, axes: Axes) -> None:
        """Write facts above the chart, and the legend below it."""
        axes.annotate(
            paper.wrapped(self._facts(), _WIDTH_OF_FACTS, FACTS), (0, 1), xytext=(0, 7),
            xycoords="axes fraction", textcoords="offset points", fontsize=FACTS, color="#555555",
        )  # fmt: skip
        if key := self._key():
            names, handles = zip(*key, strict=True)
            paper.write_key(figure, names, handles, WIDTH, size=KEY, place="outside lower left")

    def _key(self) -> list[tuple[str, Any]]:
        """Return the names and samples of the legend, for the activities of the window."""
        from matplotlib.patches import Patch

        activity = self.shown[np.isin(self.shown, self.layout.activity[self.layout.band == WORK])]
        drawn = set(self.colours.of_activity[activity].tolist())
        entries = self.colours.legend.items()
        key = [(name, Patch(facecolor=colour)) for name, colour in entries if colour in drawn]
        if any(self.off.get(name) for name in self.layout.rows):
            key.append(("off", Patch(**_OFF)))
        states = self.result.trace.state_code[self.shown]
        for name, (words, style) in _UNFINISHED.items():
            if (states == STATES.index(name)).any():
                key.append((words, Patch(**style)))
        return key


# From slow to fast.
RATE_COLOURS = ("#7f0f3f", "#d1495b", "#f2b8a0", "#b8b8b8")
