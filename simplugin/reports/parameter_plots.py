"""Means and confidence intervals of a metric over a varied parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError
from simplugin.reports.paper_sheet import (
    WIDTHS,
    Width,
    ink,
    key_height,
    logarithmic,
    name_axis,
    sheet,
    tick_values,
    write_key,
)
from simplugin.reports.statistics import SampleSummary, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Column = Sequence[float | int | None]
Series = Mapping[str, tuple[Column, Column]]

_HEIGHT = 2.2
# Growth of successive values that is the same to this is geometric; of fewer values only where
# they span two decades.
_SAME_RATIO = 0.05
_LEAST_GEOMETRIC, _LEAST_DECADES, _DECADES = 4, 3, 100.0
# How far a logarithmic axis follows intervals beyond all values: those of few values that are far
# apart have hundreds of decades, or no end.
_FURTHEST = 1e20
# Factor by which an axis extends beyond shown values if intervals exceed it.
_BEYOND = 1.5


def draw_parameter(
    series: Series,
    *,
    parameter: str,
    label: str,
    parameter_unit: str = "",
    unit: str = "",
    width: Width = "column",
) -> Figure:
    """Return a drawing of the mean at each value of a parameter, a line a group.

    Means have 95 % intervals. They are arithmetic, or geometric on a logarithmic axis, where
    intervals are those of the logarithms. A mean of one value is hollow and has no interval.
    An axis is logarithmic
    where values are positive and span more than two decades, or, for the parameter, grow by the
    same ratio.

    Parameters
    ----------
    series : mapping of str to (sequence, sequence)
        For each group the parameter and the metric of each run.
    parameter, parameter_unit : str
        Name and SI unit of the parameter.
    label, unit : str
        Name of the metric, and its SI unit.
    width : {"column", "page"}
        3.4 or 7 inches.

    Raises
    ------
    SimpluginError
        There is nothing to draw, or no axis can show the values.
    """
    means = {name: over_parameter(*columns) for name, columns in series.items()}
    means = {name: found for name, found in means.items() if found}
    if not means:
        raise SimpluginError(f"no run has both {parameter} and {label}; there is nothing to draw")
    across = np.unique([place for found in means.values() for place in found])
    every = [each for found in means.values() for each in found.values()]
    # The least and the largest values decide about the scale.
    ends = [end for each in every for end in (each.least, each.most) if end is not None]
    log = logarithmic(np.array(ends), None)
    limits = (min(ends) / _FURTHEST, max(ends) * _FURTHEST) if log else (-np.inf, np.inf)
    sideways = logarithmic(across, None) or _grows(across)
    names = []
    for name, found in means.items():
        count, runs = sum(each.n for each in found.values()), len(series[name][1])
        names.append(name if count == runs else f"{name} ({count} of {runs})")
    several = len(names) > 1
    figure, axes = sheet(width, _HEIGHT + (key_height(names, width) if several else 0.0))
    handles = []
    for number, found in enumerate(means.values()):
        style = ink(number)
        x = np.array(list(found))
        middles, low, high = np.array([_middle(each, log) for each in found.values()]).T
        single = np.isnan(low)
        # Ends beyond the limits are outside the frame.
        low, high = np.clip([low, high], limits[0] / _BEYOND**2, limits[1] * _BEYOND**2)
        axes.vlines(x, low, high, color=style.colour, linewidth=0.8)
        axes.plot(
            np.repeat(x, 2), np.ravel([low, high], order="F"), linestyle="", marker="_",
            markersize=3, markeredgecolor=style.colour, markeredgewidth=0.8,
        )  # fmt: skip
        handles += axes.plot(
            x, middles, color=style.colour, linewidth=1.1,
            # Two means are no trend.
            linestyle=style.dash if len(across) > 2 else "", marker=style.marker,
            markersize=3.6, markeredgewidth=0.7, markeredgecolor=style.colour,
            gid=f"means-{number}",
        )  # fmt: skip
        axes.plot(
            x[single], middles[single], linestyle="", marker=style.marker, markersize=3.6,
            markerfacecolor="white", markeredgewidth=0.7, markeredgecolor=style.colour,
        )  # fmt: skip
    factor = name_axis(axes, "x", across, parameter, parameter_unit, sideways)
    # Means and the ends of their intervals, infinite ones too.
    drawn = np.array([_middle(each, log) for each in every]).ravel()
    drawn = drawn[~np.isnan(drawn)]
    shown = drawn[(drawn >= limits[0]) & (drawn <= limits[1])]
    logarithmic(shown, log)
    name_axis(axes, "y", shown, f"{'geometric mean of' if log else 'mean'} {label}", unit, log)
    if len(shown) < len(drawn):
        axes.set_ylim(float(shown.min()) / _BEYOND, float(shown.max()) * _BEYOND)
    if not parameter_unit:
        tick_values(axes, across, WIDTHS[width] - 0.7, sideways, factor)
    if several:
        write_key(figure, names, handles, WIDTHS[width])
    return figure


def over_parameter(parameter: Column, values: Column) -> dict[float, SampleSummary]:
    """Summarise the metric at each value of a parameter, in ascending order.

    Runs without a finite parameter are left out; values of the parameter at which nothing was
    measured are, too.
    """
    runs: dict[float, list[float | int | None]] = {}
    for place, value in zip(parameter, values, strict=True):
        if place is not None and np.isfinite(place):
            runs.setdefault(float(place), []).append(value)
    found = {place: summary(runs[place]) for place in sorted(runs)}
    return {place: each for place, each in found.items() if each.n}


def _middle(each: SampleSummary, log: bool) -> tuple[float, float, float]:
    """Return a mean and the ends of its interval, nan if it has none."""
    mean = each.geometric_mean if log else each.mean
    around = each.geometric_interval if log else each.mean_interval
    assert mean is not None
    return (mean, around.low, around.high) if around else (mean, np.nan, np.nan)


def _grows(values: NDArray[np.float64]) -> bool:
    """Return True if values grow by a constant ratio."""
    if len(values) < _LEAST_DECADES or values[0] <= 0:
        return False
    if len(values) < _LEAST_GEOMETRIC and values[-1] < _DECADES * values[0]:
        return False
    ratios = values[1:] / values[:-1]
    return float(np.ptp(ratios)) < _SAME_RATIO * float(ratios.min()) and ratios.min() > 1.2
