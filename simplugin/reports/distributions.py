"""Plots of a metric by group: boxes with dots, ECDFs, performance profiles, means by parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError
from simplugin.reports import paper_sheet as paper
from simplugin.reports.comparisons import Values
from simplugin.reports.image_files import Chart, drawn
from simplugin.reports.statistics import (
    SampleSummary,
    cumulated,
    exact_mean,
    finite,
    geometric_mean,
    summary,
)

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Groups = Mapping[str, Sequence[float | int | None]]

# Maximum number of values that are all dots, and minimum number for a box.
_MOST_DOTS, _LEAST_BOXED = 200, 5
# Height of a box, height of a row, and maximum part of the sheet for names.
_BOX, _ROW, _NAMES = 0.56, 0.24, 0.36
_REACH = 1.5
# The mark of a mean.
_DIAMOND: Any = {
    "marker": "D", "markersize": 3.6, "markerfacecolor": "white", "markeredgecolor": paper.BLACK,
    "markeredgewidth": 0.8,
}  # fmt: skip
# Turns that spread points evenly, however many there are.
_GOLDEN = (math.sqrt(5) - 1) / 2
# Maximum number of vector dots, and maximum number of steps of a curve.
_MOST_VECTORS, _MOST_STEPS = 2000, 1500
_HEIGHT = 2.1
# Values along an axis of parts of a whole.
_PARTS = np.array([0.0, 0.5, 1.0])


def box_plot(
    groups: Groups,
    path: str | PathLike[str] | None = None,
    *,
    label: str,
    unit: str = "",
    log: bool | None = None,
    width: paper.Width = "column",
) -> Chart:
    """Draw a box for each group, with its values as dots.

    Boxes reach from quartile to quartile (type 7), with the median in them; whiskers to the last
    values within 1.5 box lengths. A diamond is the mean, the geometric one on a logarithmic axis.
    Groups of fewer than five values are dots only; of groups of more than 200 only values beyond
    whiskers are dots.

    Parameters
    ----------
    groups : mapping of str to sequence of float or None
        Values by group. Missing and infinite values are left out and counted next to the row.
    path : path, optional
        A PNG, PDF or SVG file, by its suffix; an existing file is replaced.
    label, unit : str
        Name of the metric, and its SI unit.
    log : bool, optional
        True if the axis is logarithmic; by default where values are positive and span more than
        two decades.
    width : {"column", "page"}
        3.4 or 7 inches.

    Returns
    -------
    Chart
        The drawing, which a notebook shows.

    Raises
    ------
    SimpluginError
        There is no group, a logarithmic axis was requested for values that are not positive, the
        suffix is unknown, or the file cannot be written.
    """
    from matplotlib.lines import Line2D

    samples, every, log = _samples(groups, log)
    names = [
        paper.wrapped(name, _NAMES * paper.WIDTHS[width], paper.SMALL_FONT) for name in samples
    ]
    rows = [
        max(_ROW, (paper.lines_of(name) * paper.LINE + 0.5) * paper.SMALL_FONT * paper.POINT)
        for name in names
    ]
    figure, axes = paper.sheet(width, sum(rows) + 0.75)
    places = np.cumsum(rows) - np.array(rows) / 2
    for number, (sample, left_out) in enumerate(samples.values()):
        _row(axes, sample, float(places[number]), number, log)
        count = f"{len(sample)} of {len(sample) + left_out}" if left_out else f"{len(sample)}"
        axes.text(
            1.02, float(places[number]), count, transform=axes.get_yaxis_transform(),
            fontsize=paper.SMALL_FONT, va="center", color=paper.GREY,
        )  # fmt: skip
    axes.set_ylim(sum(rows), 0)
    axes.set_yticks(places.tolist(), names)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.tick_params(axis="y", length=0)
    axes.text(
        1.02, -0.03, "n", transform=axes.get_yaxis_transform(), fontsize=paper.SMALL_FONT,
        color=paper.GREY, va="bottom",
    )  # fmt: skip
    paper.name_axis(axes, "x", every, label, unit, log)
    if any(len(sample) >= _LEAST_BOXED for sample, _ in samples.values()):
        bar = Line2D(
            [], [], linestyle="", marker="|", markersize=6, markeredgecolor=paper.BLACK,
            markeredgewidth=1.4,
        )  # fmt: skip
        marks = {"median": bar}
        marks["geometric mean" if log else "mean"] = Line2D([], [], linestyle="", **_DIAMOND)
        paper.write_key(figure, [*marks], [*marks.values()], paper.WIDTHS[width], marks=True)
    return drawn(figure, path, dpi=paper.DPI)


def _samples(
    groups: Groups, log: bool | None
) -> tuple[dict[str, tuple[NDArray[np.float64], int]], NDArray[np.float64], bool]:
    """Return the finite values of each group and how many were left out, all, and the scale."""
    if not groups:
        raise SimpluginError("there are no groups to draw")
    found = {}
    for name, values in groups.items():
        sample, missing, infinite = finite(values)
        found[name] = (sample, missing + infinite)
    every = np.concatenate([sample for sample, _ in found.values()])
    return found, every, paper.logarithmic(every, log)


def _row(axes: Axes, sample: NDArray[np.float64], place: float, number: int, log: bool) -> None:
    """Draw the box of one group and its dots."""
    if not len(sample):
        return
    style, half = paper.ink(number), _BOX * _ROW / 2
    ordered = np.sort(sample)
    first, middle, third = np.quantile(ordered, (0.25, 0.5, 0.75)).tolist()
    reach = _REACH * (third - first)
    low = float(ordered[ordered >= first - reach][0])
    high = float(ordered[ordered <= third + reach][-1])
    if len(sample) >= _LEAST_BOXED:
        axes.hlines([place] * 2, [low, third], [first, high], color=style.colour, linewidth=0.8)
        axes.fill_betweenx(
            [place - half, place + half], first, third, facecolor=style.colour + "38",
            edgecolor=style.colour, linewidth=0.8, zorder=2, gid=f"box-{number}",
        )  # fmt: skip
        axes.vlines(middle, place - half, place + half, color=paper.BLACK, linewidth=1.4, zorder=4)
    few = len(sample) <= _MOST_DOTS
    dots = ordered if few else ordered[(ordered < low) | (ordered > high)]
    # Neighbours are far apart, so that equal values can be counted.
    turns = (np.arange(len(dots)) * _GOLDEN + 0.5) % 1 - 0.5 if len(dots) > 1 else np.zeros(1)
    spread = 1.3 * half if few else 0.6 * half
    axes.plot(
        dots, place + spread * turns[: len(dots)], linestyle="", marker="o", markersize=2.2,
        markerfacecolor=style.colour, markeredgewidth=0, alpha=0.75, zorder=3,
        rasterized=len(dots) > _MOST_VECTORS, gid=f"dots-{number}",
    )  # fmt: skip
    if len(sample) >= _LEAST_BOXED:
        mean = geometric_mean(sample) if log else exact_mean(sample)
        axes.plot([mean], [place], zorder=5, gid=f"mean-{number}", **_DIAMOND)


def draw_ecdfs(
    groups: Groups, *, label: str, unit: str = "", width: paper.Width = "column"
) -> Figure:
    """Return a drawing of the empirical distribution function of each group.

    Parameters
    ----------
    groups : mapping of str to sequence of float or None
        Values by group, one for each run that was tried. A missing or infinite value is never
        reached, so that a curve may end below 1.
    label, unit, width
        As `box_plot` takes them.

    Raises
    ------
    SimpluginError
        There is no group, or no axis can show the values.
    """
    samples, every, log = _samples(groups, None)
    sizes = {len(values) for values in groups.values()}
    alike = len(sizes) == 1
    names = []
    for name, (sample, out) in samples.items():
        part = f"{len(sample)} of {len(sample) + out}" if out else f"{len(sample)}"
        names.append(name if alike and not out else f"{name} ({part})")
    figure, axes = paper.sheet(width, _HEIGHT, names)
    handles = [
        _draw_steps(axes, *cumulated(values), number, len(groups))
        for number, values in enumerate(groups.values())
    ]
    _name_parts(axes, f"part of {sizes.pop()} runs" if alike else "part of runs")
    paper.name_axis(axes, "x", every, label, unit, log)
    if len(names) > 1:
        paper.write_key(figure, names, handles, paper.WIDTHS[width])
    return figure


def _name_parts(axes: Axes, label: str) -> None:
    """Name the y axis of a part of a whole."""
    axes.set_ylim(0, 1.02)
    paper.name_axis(axes, "y", _PARTS, label, "", False)


def _draw_steps(
    axes: Axes, steps: NDArray[np.float64], heights: NDArray[np.float64], number: int, groups: int
) -> Any:
    """Draw a function that grows in steps from 0 on; return its line."""
    style = paper.ink(number)
    if len(steps) > _MOST_STEPS:
        kept = np.unique(np.linspace(0, len(steps) - 1, _MOST_STEPS).astype(int))
        steps, heights = steps[kept], heights[kept]
    across, up = np.append(steps[:1], steps), np.append(np.zeros(min(1, len(steps))), heights)
    [line] = axes.plot(
        across, up, drawstyle="steps-post", color=style.colour, linestyle=style.dash,
        linewidth=1.1, marker=style.marker, markersize=3.2, markeredgewidth=0,
        # Along the curve at even distances, those of the next curve between them.
        markevery=(0.2 * (number + 0.5) / groups, 0.2),
    )  # fmt: skip
    return line


# Factor beyond which the axis is logarithmic.
_FAR = 10.0
# Factor beyond which its ticks are powers of 10.
_FARTHEST = 1000.0
# Minimum distance of the second tick from the first, in tick distances.
_APART = 0.3


@dataclass(frozen=True, eq=False)
class Profiles:
    """Ratios of each group to the best group, instance by instance.

    Attributes
    ----------
    ratios : mapping of str to float64, shape (n,)
        For each group its ratio to the best on each instance, sorted, 1 at
        least; infinite where it has no value.
    n : int
        Instances that all groups were tried on and that at least one of them has a value of.
    apart : int
        Instances left out because not all groups were tried on them.
    unsolved : int
        Instances left out because no group has a value.
    """

    ratios: Mapping[str, NDArray[np.float64]]
    n: int
    apart: int
    unsolved: int


def profiles(groups: Mapping[str, Values], *, sense: Literal["min", "max"] = "min") -> Profiles:
    """Compute performance profiles.

    Parameters
    ----------
    groups : mapping of str to mapping of key to float or None
        What each group gave on each instance, above 0. None and values that are not finite denote a
        failure, which is within no factor of the best.
    sense : {"min", "max"}
        Direction of improvement.

    Returns
    -------
    Profiles
        Over the instances that are in all groups.

    Raises
    ------
    SimpluginError
        A value is not above 0, so that it has no ratio.

    References
    ----------
    .. [1] E. D. Dolan and J. J. More (2002). Benchmarking optimization software with performance
       profiles. Mathematical Programming 91, 201-213.
    """
    every = {key: None for values in groups.values() for key in values}
    shared = [key for key in every if all(key in values for values in groups.values())]
    table = np.array(
        [[_cost(name, values[key], sense) for key in shared] for name, values in groups.items()]
    ).reshape(len(groups), len(shared))
    best = table.min(axis=0) if len(groups) else np.zeros(0)
    solved = np.isfinite(best)
    with np.errstate(over="ignore"):
        ratios = table[:, solved] / best[solved]
    # A finite value is never a failure, even far from the best.
    ratios[np.isfinite(table[:, solved]) & np.isinf(ratios)] = np.finfo(float).max
    ratios.sort(axis=1)
    count = int(solved.sum())
    return Profiles(
        dict(zip(groups, ratios, strict=True)), count, len(every) - len(shared), len(shared) - count
    )


def _cost(group: str, value: float | int | None, sense: Literal["min", "max"]) -> float:
    """Return a value such that less is better, infinite for a failure."""
    if value is None or not math.isfinite(value):
        return math.inf
    if value <= 0:
        raise SimpluginError(
            f"group {group!r} has a value of {value:g}, which has no ratio to others; profiles"
            " need values above 0"
        )
    return float(value) if sense == "min" else 1.0 / float(value)


def draw_profiles(profiles: Profiles, *, label: str, width: paper.Width = "column") -> Figure:
    """Return a drawing of the part of instances over the factor to the best group.

    Parameters
    ----------
    profiles : Profiles
        As `profiles.profiles` computes them.
    label : str
        Name of the metric.
    width : {"column", "page"}
        3.4 or 7 inches.

    Raises
    ------
    SimpluginError
        There is no instance, or a group is so far from the best that no axis shows it.
    """
    if not profiles.n:
        raise SimpluginError(f"no instance has values of {label} in all groups; nothing to draw")
    names = list(profiles.ratios)
    figure, axes = paper.sheet(width, _HEIGHT, names)
    every = np.concatenate(list(profiles.ratios.values()))
    farthest = float(every[np.isfinite(every)].max())
    end = max(1.05 * farthest, 1.1) if farthest > _FAR else max(1 + 1.05 * (farthest - 1), 1.1)
    handles = []
    for number, ratios in enumerate(profiles.ratios.values()):
        steps, counts = np.unique(ratios[np.isfinite(ratios)], return_counts=True)
        heights = np.cumsum(counts) / profiles.n
        last = heights[-1] if len(heights) else 0.0
        # Extend the curve to the end of the axis at its final height.
        steps, heights = np.append(steps, end), np.append(heights, last)
        handles.append(_draw_steps(axes, steps, heights, number, len(names)))
    log = paper.logarithmic(np.array([1.0, farthest]), farthest > _FAR)
    paper.name_axis(axes, "x", np.array([1.0, end]), f"factor to the best {label}", "", log)
    axes.set_xlim(1.0, end)
    _tick_factors(axes, end, log)
    tried = profiles.n + profiles.apart + profiles.unsolved
    count = f"{profiles.n}" if tried == profiles.n else f"{profiles.n} of {tried}"
    _name_parts(axes, f"part of {count} instances")
    paper.write_key(figure, names, handles, paper.WIDTHS[width])
    return figure


def _tick_factors(axes: Axes, end: float, log: bool) -> None:
    """Begin ticks at 1, the best; on a logarithmic axis number 1, 2, 5, 10 and so on."""
    from matplotlib.ticker import MaxNLocator, NullFormatter

    if not log:
        spaced = list(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(1.0, end))
        step = spaced[1] - spaced[0]
        further = [tick for tick in spaced if 1 + _APART * step < tick <= end]
        axes.set_xticks([1.0, *further], [f"{tick:.6g}" for tick in (1.0, *further)])
    elif end <= _FARTHEST:
        ticks = [digit * 10**power for power in range(4) for digit in (1, 2, 5)]
        ticks = [tick for tick in ticks if tick <= end]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.xaxis.set_minor_formatter(NullFormatter())


Column = Sequence[float | int | None]
Series = Mapping[str, tuple[Column, Column]]

_PANEL = 2.2
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
    width: paper.Width = "column",
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
    log = paper.logarithmic(np.array(ends), None)
    limits = (min(ends) / _FURTHEST, max(ends) * _FURTHEST) if log else (-np.inf, np.inf)
    sideways = paper.logarithmic(across, None) or _grows(across)
    names = []
    for name, found in means.items():
        count, runs = sum(each.n for each in found.values()), len(series[name][1])
        names.append(name if count == runs else f"{name} ({count} of {runs})")
    figure, axes = paper.sheet(width, _PANEL, names)
    handles = []
    for number, found in enumerate(means.values()):
        style = paper.ink(number)
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
    factor = paper.name_axis(axes, "x", across, parameter, parameter_unit, sideways)
    # Means and the ends of their intervals, infinite ones too.
    drawn = np.array([_middle(each, log) for each in every]).ravel()
    drawn = drawn[~np.isnan(drawn)]
    shown = drawn[(drawn >= limits[0]) & (drawn <= limits[1])]
    paper.logarithmic(shown, log)
    paper.name_axis(
        axes, "y", shown, f"{'geometric mean of' if log else 'mean'} {label}", unit, log
    )
    if len(shown) < len(drawn):
        axes.set_ylim(float(shown.min()) / _BEYOND, float(shown.max()) * _BEYOND)
    if not parameter_unit:
        paper.tick_values(axes, across, paper.WIDTHS[width] - 0.7, sideways, factor)
    if len(names) > 1:
        paper.write_key(figure, names, handles, paper.WIDTHS[width])
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
