"""Points with names beside them, placed so that they can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.reports.colours import group_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simplugin.figures import Figure as Curves

    # Left, low, right, high [points].
    Box = tuple[float, float, float, float]

_FONT = 8.0
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# Height and mean width of a letter, in its size.
_LETTER = (1.25, 0.58)
# Where a name may stand from its point, in widths, in heights, and then in points.
_SIDES = (
    (0.0, -0.5, 6, 0), (-1.0, -0.5, -6, 0), (-0.5, 0.0, 0, 5), (-0.5, -1.0, 0, -5),
    (0.0, 0.0, 4, 3), (0.0, -1.0, 4, -3), (-1.0, 0.0, -4, 3), (-1.0, -1.0, -4, -3),
    (-0.5, 1.0, 0, 5), (-0.5, -2.0, 0, -5),
)  # fmt: skip
_HALF_MARK = 4.0


def draw_points(axes: Axes, curve: Curves) -> None:
    """Draw the series of a figure that are points."""
    for number, (name, (x, y)) in enumerate(curve.series.items()):
        if name in curve.names:
            axes.plot(
                np.asarray(x, dtype=float), np.asarray(y, dtype=float), linestyle="",
                color=group_colour(number), marker=_MARKERS[number % len(_MARKERS)],
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
    """Return where the name of a point may stand."""
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
