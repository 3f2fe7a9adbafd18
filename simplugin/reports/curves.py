"""Curves over rounds or over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import SimpluginError
from simplugin.figures import Figure as Curves
from simplugin.reports.colours import PALETTE
from simplugin.reports.image_files import image_file, save
from simplugin.reports.point_names import draw_points, name_points

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT_OF_PANEL, _HEIGHT_OF_POINTS = 8.5, 3.1, 5.0
_DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (9, 2)))
_GREY = "#5d5d5d"
# Bars beyond which not each is numbered.
_MOST_NUMBERS = 20
# Points of a curve beyond which a file gets large and no clearer.
_MOST_POINTS = 4000

# Part of the x axis that is the start, and how much larger a start is than a frame without it.
_START, _FLATTENED, _MARGIN = 0.02, 3.0, 0.06
# Points of a curve below which each is a measurement of its own, its start no transient.
_FEW_POINTS = 20


def curves(figures: Sequence[Curves], path: str | PathLike[str], *, title: str = "") -> None:
    """Draw curves, one panel a figure, below each other.

    Parameters
    ----------
    figures : sequence of Figure
        What to draw.
    path : path
        A PNG, SVG or PDF file, by its suffix; an existing file is replaced.
    title : str
        Above everything.

    Raises
    ------
    SimpluginError
        There is nothing to draw, the suffix is unknown, or the file cannot be written.
    """
    target = image_file(path)
    save(draw_curves(figures, title=title), target)


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
    cycle = min(curve.cycle or len(PALETTE), len(PALETTE))
    for number, (name, (x, y)) in enumerate(curve.series.items()):
        style: dict[str, Any] = {
            "color": PALETTE[number % cycle],
            "linestyle": _DASHES[number // cycle % len(_DASHES)],
            "linewidth": 1.3,
            "label": name,
        }
        if curve.bars:
            edges, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
            # Of several only the first is filled, or none could be told from the others.
            if not number:
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
        dash = _DASHES[1:][number % (len(_DASHES) - 1)]
        axes.axhline(level, color=_GREY, linestyle=dash, linewidth=1.0, label=name, zorder=1)
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
    """Label bars that each stand around a whole number by whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    edges = [np.asarray(x, dtype=float) for x, _ in curve.series.values()]
    if curve.bars and edges and all(np.all(each % 1 == 0.5) for each in edges):
        axes.xaxis.set_major_locator(MaxNLocator(_MOST_NUMBERS, integer=True))


def _frame(axes: Axes, curve: Curves) -> None:
    """Let a long curve's start that is far off run out of the frame, or it flattens the rest."""
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
