"""Curves over rounds or time, and named points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import SimpluginError
from simplugin.figures import Figure as Curves
from simplugin.reports.colours import GROUP_COLOURS, group_colour
from simplugin.reports.image_files import Chart, drawn
from simplugin.reports.paper_sheet import DASHES, GREY, MARKERS

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from simplugin.figures import Figure as Curves

    Box = tuple[float, float, float, float]

_WIDTH, _HEIGHT_OF_PANEL, _HEIGHT_OF_POINTS = 8.5, 3.1, 5.0
# Maximum number of numbered bars.
_MOST_NUMBERS = 20
# Maximum number of points of a curve in a file; more are not visible.
_MOST_POINTS = 4000

# Start as a part of the x axis; ratio of ranges from which it is cut; margin of the frame.
_START, _FLATTENED, _MARGIN = 0.02, 3.0, 0.06
# Number of points of a curve below which its start is not a transient.
_FEW_POINTS = 20
_FONT = 8.0
_POINT_MARKERS = (*MARKERS, "*")
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
    figures : sequence of Figure
        Charts to draw.
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
    return drawn(lambda: draw_curves(figures, title=title), path)


def draw_curves(figures: Sequence[Curves], *, title: str = "") -> Figure:
    """Return the drawing that `curves` writes, as a matplotlib figure to be adorned further."""
    from matplotlib.figure import Figure

    if not figures:
        raise SimpluginError("there are no curves to draw")
    # Points with names need more room than curves.
    heights = [_HEIGHT_OF_POINTS if each.names else _HEIGHT_OF_PANEL for each in figures]
    height = sum(heights) + (0.4 if title else 0.0)
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    rows = figure.add_gridspec(len(figures), 1, height_ratios=heights)
    panels = [figure.add_subplot(rows[number]) for number in range(len(figures))]
    for curve, axes in zip(figures, panels, strict=True):
        _panel(axes, curve)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    for curve, axes in zip(figures, panels, strict=True):
        name_points(axes, curve)
    return figure


def _panel(axes: Axes, curve: Curves) -> None:
    """Draw one figure."""
    cycle = min(curve.cycle or len(GROUP_COLOURS), len(GROUP_COLOURS))
    for number, (name, (x, y)) in zip(curve.numbers(), curve.series.items(), strict=True):
        style: dict[str, Any] = {
            "color": group_colour(number % cycle),
            "linestyle": DASHES[number // cycle % len(DASHES)],
            "linewidth": 1.3,
            "label": name,
        }
        if curve.bars:
            edges, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
            # Only the first of several is filled, so that they remain distinct.
            if number == 0:
                axes.stairs(heights, edges, fill=True, color=style["color"], alpha=0.25)
            axes.stairs(heights, edges, **style)
            continue
        if name in curve.names:
            continue
        across, up = _thinned(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        if np.count_nonzero(np.isfinite(up)) == 1:
            style["marker"] = "o"
        axes.plot(across, up, **style)
    for number, (name, level) in enumerate(curve.lines.items()):
        dash = DASHES[1:][number % (len(DASHES) - 1)]
        axes.axhline(level, color=GREY, linestyle=dash, linewidth=1.0, label=name, zorder=1)
    if curve.log_y:
        axes.set_yscale("log")
    elif not curve.bars and not curve.names and not curve.whole:
        _frame(axes, curve)
    axes.set_title(curve.title, loc="left", fontsize=10)
    axes.set_xlabel(curve.x_label, fontsize=9)
    axes.set_ylabel(curve.y_label, fontsize=9)
    axes.tick_params(labelsize=8.5, length=2)
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    _span(axes, curve)
    _number(axes, curve)
    draw_points(axes, curve)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(curve.series) + len(curve.lines) > 1:
        axes.legend(
            loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8.5,
            handlelength=1.8,
        )  # fmt: skip


def _span(axes: Axes, curve: Curves) -> None:
    """Show all of the x axis, also where curves have no value, so that panels can be compared."""
    columns = [np.asarray(x, dtype=float) for x, _ in curve.series.values()]
    across = np.concatenate([*columns, np.zeros(0)])
    if len(across) and np.ptp(across) > 0:
        margin = (0.08 if curve.names else 0.01) * float(np.ptp(across))
        axes.set_xlim(float(across.min()) - margin, float(across.max()) + margin)


def _number(axes: Axes, curve: Curves) -> None:
    """Label bars around whole numbers by whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    edges = [np.asarray(x, dtype=float) for x, _ in curve.series.values()]
    if curve.bars and edges and all(np.all(each % 1 == 0.5) for each in edges):
        axes.xaxis.set_major_locator(MaxNLocator(_MOST_NUMBERS, integer=True))


def _frame(axes: Axes, curve: Curves) -> None:
    """Limit the y axis to the settled part of curves whose start is far off."""
    columns = [(np.asarray(x, float), np.asarray(y, float)) for x, y in curve.series.values()]
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


def _thinned(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """Keep the least and the largest of each stretch of a long curve, so that swings stay."""
    if len(x) <= _MOST_POINTS:
        return x, y
    edges = np.linspace(0, len(x), _MOST_POINTS // 2 + 1).astype(int)
    kept = [0, len(x) - 1]
    known = np.where(np.isfinite(y), y, 0.0)
    for start, stop in pairwise(edges.tolist()):
        kept += [start + int(known[start:stop].argmin()), start + int(known[start:stop].argmax())]
    order = np.unique(kept)
    return x[order], y[order]


def draw_points(axes: Axes, curve: Curves) -> None:
    """Draw the series of a figure that are points."""
    for number, (name, (x, y)) in zip(curve.numbers(), curve.series.items(), strict=True):
        if name in curve.names:
            axes.plot(
                np.asarray(x, dtype=float), np.asarray(y, dtype=float), linestyle="",
                color=group_colour(number), marker=_POINT_MARKERS[number % len(_POINT_MARKERS)],
                markersize=6.5, label=name, zorder=4,
            )  # fmt: skip
    if curve.names:
        axes.margins(y=0.1)


def name_points(axes: Axes, curve: Curves) -> None:
    """Write names beside points, each where it covers least of points and of earlier names.

    To be called when nothing else changes the axes any more.
    """
    spots = _spots(curve)
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
    taken = [(x - _HALF_MARK, y - _HALF_MARK, x + _HALF_MARK, y + _HALF_MARK) for x, y in places]
    for (x, y), (across, up, name) in zip(places, spots, strict=True):
        boxes = _boxes(x, y, name)
        costs = [
            sum(_common(box, other) for other in taken) + _area(box) - _common(box, frame)
            for box in boxes
        ]
        box = boxes[int(np.argmin(costs))]
        taken.append(box)
        axes.annotate(
            name, (across, up), xytext=(box[0] - x, box[1] - y), textcoords="offset points",
            fontsize=_FONT, va="bottom", ha="left", color="#333333", zorder=5,
        )  # fmt: skip


def _spots(curve: Curves) -> list[tuple[float, float, str]]:
    """Return the points that have a name and can be drawn."""
    spots: list[tuple[float, float, str]] = []
    for name, (x, y) in curve.series.items():
        if name in curve.names:
            across, up = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
            spots += zip(across.tolist(), up.tolist(), curve.names[name], strict=True)
    return [spot for spot in spots if np.isfinite(spot[:2]).all()]


def _boxes(x: float, y: float, name: str) -> list[Box]:
    """Return the possible places of the name of a point."""
    width, height = len(name) * _FONT * _LETTER[1], _FONT * _LETTER[0]
    boxes = []
    for wide, high, right, above in _SIDES:
        left, low = x + wide * width + right, y + high * height + above
        boxes.append((left, low, left + width, low + height))
    return boxes


def _common(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    up = min(one[3], other[3]) - max(one[1], other[1])
    return max(across, 0.0) * max(up, 0.0)


def _area(box: Box) -> float:
    """Return the area of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])
