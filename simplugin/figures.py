"""Curves as plain data, to be drawn by whoever can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Points = NDArray[np.float64]

# Number of changes of direction above which curves over each other are one block.
_MOST_TURNS = 120


@dataclass(frozen=True, eq=False)
class Figure:
    """Curves over one axis.

    Attributes
    ----------
    name : str
        Of the file that it becomes, without a suffix.
    title : str
        Above the drawing.
    x_label, y_label : str
        What the axes show, with units in brackets.
    series : mapping of str to (array_like, array_like)
        For each curve, its name and its points.
    lines : mapping of str to float
        Levels to compare with, by their names.
    log_x, log_y : bool
        Whether an axis is logarithmic.
    cycle : int, optional
        After how many curves colours start again, with other dashes, so that curves can be
        compared with others; by default when colours are used up.
    bars : bool
        Whether curves are histograms: of each its edges, one more than it has heights. The first
        is filled.
    groups : sequence of str
        Names in the order of their colours, such as all applications of a run: a series of one of
        these names has the same colour in every chart. Other series have the colours after these.
    names : mapping of str to sequence of str
        For series that are single points, not curves: what each point is called.
    whole : bool
        Whether a start that is far off stays in the frame, though it flattens the rest.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    series: Mapping[str, tuple[ArrayLike, ArrayLike]]
    lines: Mapping[str, float] = field(default_factory=dict)
    log_y: bool = False
    cycle: int | None = None
    bars: bool = False
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    whole: bool = False
    groups: Sequence[str] = ()
    log_x: bool = False

    def points(self) -> dict[str, tuple[Points, Points]]:
        """Return the points of each series as arrays."""
        return {
            name: (np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
            for name, (x, y) in self.series.items()
        }

    def panels(self) -> list[Figure]:
        """Return the figure, or one for each colour if several curves swing too often.

        Such curves over each other would be one block.
        """
        restless = sum(_turns(y) > _MOST_TURNS for _, y in self.points().values())
        if self.bars or self.names or restless < 2:
            return [self]
        numbers = dict(zip(self.series, self.numbers(), strict=True))
        ordered = tuple(sorted(numbers, key=lambda name: numbers[name]))
        rows: dict[int, dict[str, tuple[ArrayLike, ArrayLike]]] = {}
        for name, points in self.series.items():
            rows.setdefault(numbers[name] % (self.cycle or len(numbers)), {})[name] = points
        last = len(rows) - 1
        return [
            replace(
                self, series=row, title="" if place else self.title, groups=ordered,
                x_label=self.x_label if place == last else "",
            )
            for place, row in enumerate(rows.values())
        ]  # fmt: skip

    def styles(self, colours: int) -> list[tuple[int, int]]:
        """Return the numbers of the colour and the dash of each series.

        What is no group where there are groups, such as an optimum, is dashed: it would hide a
        curve that it equals, as would the outlines of histograms.
        """
        cycle = min(self.cycle or colours, colours)
        known = len(self.groups) or len(self.series)
        return [
            (number % cycle, number if self.bars else max(number // cycle, int(number >= known)))
            for number in self.numbers()
        ]

    def numbers(self) -> list[int]:
        """Return the number of the colour of each series."""
        known = {name: number for number, name in enumerate(self.groups)}
        others = count(len(known))
        return [known[name] if name in known else next(others) for name in self.series]


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


def groups_of(figures: Sequence[Figure]) -> Sequence[str]:
    """Return the names in the order of their colours that the figures of a run have in common."""
    return next((each.groups for each in figures if each.groups), ())
