"""Curves as plain data, independent of how they are drawn."""

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
        Name of its image file, without a suffix.
    title : str
        Title of the drawing.
    x_label, y_label : str
        Labels of the axes, with units in brackets.
    series : mapping of str to (array_like, array_like)
        The points of each curve, by its name; arrays.
    lines : mapping of str to float
        Horizontal lines: levels by their names.
    log_x, log_y : bool
        True for logarithmic axes.
    cycle : int, optional
        Number of curves after which colours repeat with other dashes, for curves that correspond;
        by default the number of colours.
    bars : bool
        True for histograms: x are edges, one more than heights y. The first is filled.
    groups : sequence of str
        Names in the order of their colours, such as all applications of a run, so that a series of
        one of these names has the same colour in every chart. Other series get later colours.
    names : mapping of str to sequence of str
        Names of the points of series that are single points, not curves.
    dots : sequence of str
        Series of points that are not joined.
    colours : mapping of str to int
        Numbers of the colours of series, instead of those in their order.
    square : bool
        True if both axes matter alike: the drawing is as high as one of points with names.
    whole : bool
        True to show a start that is far off, although it flattens the rest.
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
    dots: Sequence[str] = ()
    colours: Mapping[str, int] = field(default_factory=dict)
    square: bool = False

    def __post_init__(self) -> None:
        """Turn the points into arrays, and names into tuples."""
        from numpy import asarray

        series = {name: (asarray(x), asarray(y)) for name, (x, y) in self.series.items()}
        object.__setattr__(self, "series", series)
        names = {name: tuple(points) for name, points in self.names.items()}
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "groups", tuple(self.groups))
        object.__setattr__(self, "dots", tuple(self.dots))

    def numbers(self) -> list[int]:
        """Return the number of the colour of each series."""
        known = {name: number for number, name in enumerate(self.groups)}
        others = count(len(known))
        known |= self.colours
        return [known[name] if name in known else next(others) for name in self.series]


def groups_of(figures: Sequence[CurvePlot]) -> Sequence[str]:
    """Return the groups that all plots of a run share."""
    return next((each.groups for each in figures if each.groups), ())
