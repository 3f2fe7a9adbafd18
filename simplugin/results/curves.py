"""Curves as plain data, to be drawn by whoever can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
else:
    ArrayLike = Any  # numpy is not loaded before the first plot


@dataclass(frozen=True, eq=False)
class CurvePlot:
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

    def __post_init__(self) -> None:
        """Turn the points into arrays, and names into tuples."""
        from numpy import asarray

        series = {name: (asarray(x), asarray(y)) for name, (x, y) in self.series.items()}
        object.__setattr__(self, "series", series)
        names = {name: tuple(points) for name, points in self.names.items()}
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "groups", tuple(self.groups))

    def numbers(self) -> list[int]:
        """Return the number of the colour of each series."""
        known = {name: number for number, name in enumerate(self.groups)}
        others = count(len(known))
        return [known[name] if name in known else next(others) for name in self.series]


def groups_of(figures: Sequence[CurvePlot]) -> Sequence[str]:
    """Return the names in the order of their colours that the figures of a run have in common."""
    return next((each.groups for each in figures if each.groups), ())
