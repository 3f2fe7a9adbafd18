"""Performance profiles and their drawings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.errors import SimpluginError
from simplugin.reports.distributions import draw_steps
from simplugin.reports.paper_sheet import (
    FONT,
    PARTS,
    WIDTHS,
    Width,
    key_height,
    logarithmic,
    name_axis,
    sheet,
    write_key,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from simplugin.reports.comparisons import Values

_HEIGHT = 2.1
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


def draw_profiles(profiles: Profiles, *, label: str, width: Width = "column") -> Figure:
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
    figure, axes = sheet(width, _HEIGHT + key_height(names, width))
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
        handles.append(draw_steps(axes, steps, heights, number, len(names)))
    log = logarithmic(np.array([1.0, farthest]), farthest > _FAR)
    name_axis(axes, "x", np.array([1.0, end]), f"factor to the best {label}", "", log)
    axes.set_xlim(1.0, end)
    _tick_factors(axes, end, log)
    axes.set_ylim(0, 1.02)
    name_axis(axes, "y", PARTS, "", "", False)
    tried = profiles.n + profiles.apart + profiles.unsolved
    count = f"{profiles.n}" if tried == profiles.n else f"{profiles.n} of {tried}"
    axes.set_ylabel(f"part of {count} instances", fontsize=FONT, labelpad=2)
    write_key(figure, names, handles, WIDTHS[width])
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
