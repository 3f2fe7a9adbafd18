"""Points, panels and dashes of curves, as their drawings and the page need them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simplugin.figures import Figure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Points = NDArray[np.float64]

# Number of changes of direction above which curves over each other are one block.
_MOST_TURNS = 120


def points_of(figure: Figure) -> dict[str, tuple[Points, Points]]:
    """Return the points of each series as arrays."""
    return {
        name: (np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        for name, (x, y) in figure.series.items()
    }


def panels_of(figure: Figure) -> list[Figure]:
    """Return the figure, or one for each colour if several curves swing too often.

    Such curves over each other would be one block.
    """
    restless = sum(_turns(y) > _MOST_TURNS for _, y in points_of(figure).values())
    if figure.bars or figure.names or restless < 2:
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


def styles_of(figure: Figure, colours: int) -> list[tuple[int, int]]:
    """Return the numbers of the colour and the dash of each series.

    What is no group where there are groups, such as an optimum, is dashed: it would hide a
    curve that it equals, as would the outlines of histograms.
    """
    cycle = min(figure.cycle or colours, colours)
    known = len(figure.groups) or len(figure.series)
    return [
        (number % cycle, number if figure.bars else max(number // cycle, int(number >= known)))
        for number in figure.numbers()
    ]


def are_whole(values: Points) -> bool:
    """Return True if all values that are finite are whole numbers, and there is one."""
    there = values[np.isfinite(values)]
    return bool(len(there)) and bool(np.all(there % 1 == 0))


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


def _turns(values: Points) -> int:
    """Count how often a curve changes from rising to falling or back."""
    steps = np.diff(values[np.isfinite(values)])
    return int(np.count_nonzero(np.diff(np.sign(steps[steps != 0]))))
