"""Curves over rounds or time, and named points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import SimpluginError
from simplugin.reports import paper_sheet as paper
from simplugin.reports.colours import GROUP_COLOURS
from simplugin.reports.image_files import Chart, drawn
from simplugin.results.curves import CurvePlot as Curves

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


Box = tuple[float, float, float, float]
Points = NDArray[np.float64]

# Widths of a sheet and of a name in a key, and heights of panels [inch].
_WIDTH, _WIDEST_KEY, _HEIGHT_OF_PANEL, _HEIGHT_OF_POINTS, _HEIGHT_OF_PART = 8.5, 2.6, 3.1, 5.0, 1.3
# Maximum number of numbered bars.
_MOST_NUMBERS = 20
# Maximum number of points of a curve in a file; more are not visible.
_MOST_POINTS = 4000

# Start as a part of the x axis; ratio of ranges from which it is cut; margin of the frame.
_START, _FLATTENED, _MARGIN = 0.02, 3.0, 0.06
# Number of points of a curve below which its start is not a transient, and each has a mark.
_FEW_POINTS = 20
# More points show no trend: they are not joined.
_PAIR = 2
_FONT = 8.0
_POINT_MARKERS = (*paper.MARKERS, "*")
# Height and mean width of a letter, in its size.
_LETTER = (1.25, 0.58)
# Possible offsets of a name from its point, in widths, in heights, and in points.
_SIDES = (
    (0.0, -0.5, 6, 0), (-1.0, -0.5, -6, 0), (-0.5, 0.0, 0, 5), (-0.5, -1.0, 0, -5),
    (0.0, 0.0, 4, 3), (0.0, -1.0, 4, -3), (-1.0, 0.0, -4, 3), (-1.0, -1.0, -4, -3),
    (-0.5, 1.0, 0, 5), (-0.5, -2.0, 0, -5),
)  # fmt: skip
_HALF_MARK = 4.0


def curves(
    figures: Sequence[Curves], path: str | PathLike[str] | None = None, *, title: str = ""
) -> Chart:
    """Draw curves, one panel a figure, below each other.

    Parameters
    ----------
    figures : sequence of CurvePlot
        The plots to draw.
    path : path, optional
        A PNG, SVG or PDF file, by its suffix; an existing file is replaced.
    title : str
        Above everything.

    Returns
    -------
    Chart
        The drawing, which a notebook shows.

    Raises
    ------
    SimpluginError
        There is nothing to draw, the suffix is unknown, or the file cannot be written.
    """
    from matplotlib.figure import Figure

    if not figures:
        raise SimpluginError("there are no curves to draw")
    shown = [panel for each in figures for panel in panels_of(each)]
    figure = Figure(
        figsize=(_WIDTH, sum(map(_height, shown)) + (0.4 if title else 0.0)), layout="constrained"
    )
    rows = figure.add_gridspec(len(shown), 1, height_ratios=[_height(each) for each in shown])
    panels = [figure.add_subplot(rows[number]) for number in range(len(shown))]
    for curve, axes in zip(shown, panels, strict=True):
        _panel(axes, curve)
    paper.write_title(figure, title)
    for curve, axes in zip(shown, panels, strict=True):
        name_points(axes, curve)
    return drawn(figure, path)


def _height(curve: Curves) -> float:
    """Return the height of a panel [inch]; points with names need more than curves."""
    if curve.names or curve.square:
        return _HEIGHT_OF_POINTS
    # One of several panels of a figure has no title or no name of its x axis.
    if curve.title and curve.x_label:
        return _HEIGHT_OF_PANEL
    return _HEIGHT_OF_PART + (
        paper.lines_of(_title(curve)) * paper.LINE * 10 * paper.POINT if curve.title else 0.0
    )


def _title(curve: Curves) -> str:
    """Return the title of a panel, broken into lines."""
    return paper.wrapped(curve.title, _WIDTH - 1.8, 10)


def _panel(axes: Axes, curve: Curves) -> None:
    """Draw one figure."""
    styles = styles_of(curve, len(GROUP_COLOURS))
    joined = any(len(x) > _PAIR for x, _ in points_of(curve).values())
    for (number, dash), (name, (x, y)) in zip(styles, points_of(curve).items(), strict=True):
        colour, line = paper.ink(number).colour, paper.DASHES[dash % len(paper.DASHES)]
        if curve.bars:
            if dash == 0:
                axes.stairs(y, x, fill=True, color=colour, alpha=0.25)
            axes.stairs(y, x, linewidth=1.3, color=colour, linestyle=line, label=name)
        elif name in curve.names or name in curve.dots:
            axes.plot(
                x, y, linestyle="", color=colour, label=name, zorder=4,
                markersize=6.5 if name in curve.names else 4.5,
                marker=_POINT_MARKERS[number % len(_POINT_MARKERS)],
            )  # fmt: skip
        else:
            few = np.count_nonzero(np.isfinite(y)) < _FEW_POINTS and (len(x) > _PAIR or not joined)
            axes.plot(
                *thinned(x, y, _MOST_POINTS), color=colour, linewidth=1.3, label=name,
                linestyle=line if joined else "", markersize=3.5,
                marker=paper.MARKERS[number % len(paper.MARKERS)] if few else "",
            )  # fmt: skip
    for number, (name, level) in enumerate(curve.lines.items()):
        dash = paper.DASHES[1:][number % (len(paper.DASHES) - 1)]
        axes.axhline(level, color=paper.GREY, linestyle=dash, linewidth=1.0, label=name, zorder=1)
    if curve.log_y:
        axes.set_yscale("log")
    elif not curve.bars and not curve.names and not curve.whole:
        _frame(axes, curve)
    axes.set_title(_title(curve), loc="left", fontsize=10, parse_math=False)
    axes.set_xlabel(curve.x_label, fontsize=9, parse_math=False)
    room = (_height(curve) if curve.title and curve.x_label else _HEIGHT_OF_PART) - 0.6
    axes.set_ylabel(paper.wrapped(curve.y_label, room, 9), fontsize=9, parse_math=False)
    axes.tick_params(labelsize=8.5, length=2)
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    _across(axes, curve)
    if not curve.log_y and all(paper.are_whole(y) for _, y in points_of(curve).values()):
        _number(axes.yaxis)
    if curve.names:
        axes.margins(y=0.1)
    axes.spines[["top", "right"]].set_visible(False)
    # One of several panels of a figure has a key as well.
    if len({*curve.series, *curve.groups}) + len(curve.lines) > 1:
        key = axes.legend(
            loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8.5,
            handlelength=1.8,
        )  # fmt: skip
        for text in key.get_texts():
            text.set_parse_math(False)
            text.set_text(paper.wrapped(text.get_text(), _WIDEST_KEY, 8.5))


def _across(axes: Axes, curve: Curves) -> None:
    """Set scale, limits and ticks of the x axis.

    It shows everything, also where curves are undefined, so that panels can be compared; of
    histograms it leaves out empty ends.
    """
    columns = [filled(x, y)[0] if curve.bars else x for x, y in points_of(curve).values()]
    places = np.unique(np.concatenate([*columns, np.zeros(0)]))
    if curve.log_x:
        axes.set_xscale("log")
    if len(places) > 1:
        ends = np.log(places[[0, -1]]) if curve.log_x else places[[0, -1]]
        share = 0.08 if curve.names or curve.dots or len(places) <= _PAIR else 0.01
        margin = share * float(np.ptp(ends)) * np.array([-1, 1])
        axes.set_xlim(*(np.exp(ends + margin) if curve.log_x else ends + margin))
    if curve.bars and len(places) and np.all(places % 1 == 0.5):
        # Bars around whole numbers.
        _number(axes.xaxis, _MOST_NUMBERS)
    elif paper.are_whole(places) and not curve.names:
        if not curve.log_x:
            _number(axes.xaxis)
        paper.tick_values(axes, places, _WIDTH - 3.0, curve.log_x, 1.0)


def _number(axis: Axis, most: int | Literal["auto"] = "auto") -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=True))


def _frame(axes: Axes, curve: Curves) -> None:
    """Limit the y axis to the settled part of curves if a start is far off."""
    columns = list(points_of(curve).values())
    first = min((float(x.min()) for x, _ in columns if len(x)), default=0.0)
    last = max((float(x.max()) for x, _ in columns if len(x)), default=0.0)
    settled = first + _START * (last - first)
    whole = np.concatenate([y[np.isfinite(y)] for _, y in columns])
    rest = np.concatenate(
        [y[np.isfinite(y) & ((x >= settled) | (len(x) < _FEW_POINTS))] for x, y in columns]
    )
    rest = np.append(rest, list(curve.lines.values()))
    if len(whole) and np.ptp(rest) > 0 and np.ptp(whole) > _FLATTENED * np.ptp(rest):
        margin = _MARGIN * float(np.ptp(rest))
        axes.set_ylim(float(rest.min()) - margin, float(rest.max()) + margin)


def name_points(axes: Axes, curve: Curves) -> None:
    """Write names next to points, each where it covers least of points and of earlier names.

    To be called when nothing else changes the axes any more.
    """
    spots: list[tuple[float, float, str]] = []
    for series, (xs, ys) in points_of(curve).items():
        if series in curve.names:
            spots += zip(xs.tolist(), ys.tolist(), curve.names[series], strict=True)
    spots = [spot for spot in spots if np.isfinite(spot[:2]).all()]
    if not spots:
        return
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    scale = 72.0 / figure.dpi
    ends: Any = axes.transData.transform([spot[:2] for spot in spots])
    places: list[tuple[float, float]] = (ends * scale).tolist()
    extents: Any = axes.get_window_extent().extents
    frame: Box = tuple((extents * scale).tolist())
    taken = [
        (x - half, y - half, x + half, y + half)
        for middles, half in ((places, _HALF_MARK), (_along(axes, scale), 1.0))
        for x, y in middles
    ]
    for (x, y), (across, up, name) in zip(places, spots, strict=True):
        width, height = len(name) * _FONT * _LETTER[1], _FONT * _LETTER[0]
        corners = [
            (x + wide * width + right, y + high * height + above)
            for wide, high, right, above in _SIDES
        ]
        boxes = [(left, low, left + width, low + height) for left, low in corners]
        costs = [
            sum(_common(box, other) for other in taken) + width * height - _common(box, frame)
            for box in boxes
        ]
        box = boxes[int(np.argmin(costs))]
        taken.append(box)
        axes.annotate(
            name, (across, up), xytext=(box[0] - x, box[1] - y), textcoords="offset points",
            fontsize=_FONT, va="bottom", ha="left", color="#333333", zorder=5,
        )  # fmt: skip


def _along(axes: Axes, scale: float) -> list[tuple[float, float]]:
    """Return points along the curves, close to each other [pt]."""
    found: list[tuple[float, float]] = []
    for line in axes.lines:
        if line.get_linestyle() == "None" or line.get_transform() != axes.transData:
            continue
        ends = np.asarray(axes.transData.transform(line.get_xydata())) * scale
        for one, other in pairwise(ends[np.isfinite(ends).all(axis=1)]):
            steps = np.linspace(0.0, 1.0, 2 + int(np.hypot(*(other - one)) / 6.0))[:, None]
            found += [(x, y) for x, y in (one + steps * (other - one)).tolist()]
    return found


def _common(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    up = min(one[3], other[3]) - max(one[1], other[1])
    return max(across, 0.0) * max(up, 0.0)


# Number of changes of direction above which curves over each other are one block.
_MOST_TURNS = 120


def points_of(figure: Curves) -> dict[str, tuple[Points, Points]]:
    """Return the points of each series as arrays."""
    return {
        name: (np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        for name, (x, y) in figure.series.items()
    }


def panels_of(figure: Curves) -> list[Curves]:
    """Return the figure, or one for each colour if several curves swing too often.

    Such curves over each other would be one block.
    """
    restless = 0
    for _, values in points_of(figure).values():
        steps = np.diff(values[np.isfinite(values)])
        # Changes from rising to falling or back.
        turns = int(np.count_nonzero(np.diff(np.sign(steps[steps != 0]))))
        restless += turns > _MOST_TURNS
    if figure.bars or figure.names or figure.dots or restless < 2:
        return [figure]
    numbers = dict(zip(figure.series, figure.numbers(), strict=True))
    ordered = tuple(sorted(numbers, key=lambda name: numbers[name]))
    rows: dict[int, dict[str, tuple[ArrayLike, ArrayLike]]] = {}
    for name, points in figure.series.items():
        rows.setdefault(numbers[name] % (figure.cycle or len(numbers)), {})[name] = points
    last = len(rows) - 1
    return [
        replace(
            figure, series=row, title="" if place else figure.title, groups=ordered,
            x_label=figure.x_label if place == last else "",
        )
        for place, row in enumerate(rows.values())
    ]  # fmt: skip


def styles_of(figure: Curves, colours: int) -> list[tuple[int, int]]:
    """Return the numbers of the colour and the dash of each series.

    A series that is no group, such as an optimum, is dashed if there are groups: it would hide a
    curve that it equals, as would the outlines of histograms.
    """
    cycle = min(figure.cycle or colours, colours)
    known = len(figure.groups) or len(figure.series)
    return [
        (number % cycle, number if figure.bars else max(number // cycle, int(number >= known)))
        for number in figure.numbers()
    ]


def thinned(x: Points, y: Points, most: int) -> tuple[Points, Points]:
    """Keep the least, the largest and a gap of each stretch of a curve, so that swings stay.

    Parameters
    ----------
    x, y : float64, shape (n,)
        Points of the curve.
    most : int
        Number of points above which some are left out.
    """
    if len(x) <= most:
        return x, y
    edges = np.linspace(0, len(x), most // 2 + 1).astype(int)
    kept = [0, len(x) - 1]
    known = np.isfinite(y)
    low, high = np.where(known, y, np.inf), np.where(known, y, -np.inf)
    for start, stop in pairwise(edges.tolist()):
        kept += [start + int(low[start:stop].argmin()), start + int(high[start:stop].argmax())]
        # A curve that breaks off stays broken.
        if not known[start:stop].all():
            kept += [start + int(known[start:stop].argmin())]
    order = np.unique(kept)
    return x[order], y[order]


def filled(edges: Points, heights: Points) -> tuple[Points, Points]:
    """Leave out empty bars at the ends of a histogram; keep all if all are empty."""
    [bars] = np.nonzero(heights)
    if not len(bars):
        return edges, heights
    return edges[bars[0] : bars[-1] + 2], heights[bars[0] : bars[-1] + 1]
