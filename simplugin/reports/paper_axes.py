"""Axes of figures for papers: scales, labels and ticks of what was measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import SimpluginError
from simplugin.reports.paper_sheet import FONT, GRID, SMALL_FONT, text_width
from simplugin.reports.quantities import scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# Ratio of the largest to the smallest value beyond which an axis is logarithmic.
_WIDE = 100.0
# Sizes beyond which matplotlib finds no ticks, or takes all values for one.
_LEAST, _MOST = 1e-280, 1e280
# Values beyond which a linear axis is labelled in powers of 1000.
_LARGEST, _SMALLEST = 1e5, 1e-3
_SYMBOLS = {"byte": "B", "byte/s": "B/s"}
_SCALED = ("flop", "flop/s", "byte", "byte/s", "J")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Values of a parameter up to which each gets its tick, if there is room.
_MOST_TICKS = 8


def logarithmic(values: NDArray[np.float64], log: bool | None) -> bool:
    """Decide whether an axis is logarithmic: if asked for, or positive over two decades.

    Raises
    ------
    SimpluginError
        It was asked for, and a value is not above 0; or values are so large or so small that they
        have no axis of either kind.
    """
    positive = bool(len(values)) and float(values.min()) > 0
    if log and len(values) and not positive:
        raise SimpluginError(
            f"{float(values.min()):g} has no place on a logarithmic axis; leave out log=True"
        )
    if log is None:
        log = positive and float(values.min()) < float(values.max()) / _WIDE
    _check_sizes(values, log)
    return log


def _check_sizes(values: NDArray[np.float64], log: bool) -> None:
    """Refuse what cannot be drawn."""
    sizes = np.abs(values[values != 0])
    if not len(sizes):
        return
    least, most = float(sizes.min()), float(sizes.max())
    # On a linear axis small values beside large ones are at 0.
    smallest = least if log else most
    # Ticks of logarithmic axes begin before the first value and end behind the last.
    room = (most / smallest) ** 0.5
    if smallest / room < _LEAST or most * room > _MOST:
        raise SimpluginError(
            f"values of size {least:g} to {most:g} have no axis: they are too small, too large"
            " or too far apart"
        )


def name_axis(
    axes: Axes, which: str, values: NDArray[np.float64], label: str, unit: str, log: bool
) -> None:
    """Set scale, label and ticks of an axis.

    Parameters
    ----------
    axes : Axes
        What it belongs to.
    which : {"x", "y"}
        Which axis.
    values : float64, shape (n,)
        What is drawn along it, in SI units and finite; the largest decides which prefix or power
        of 1000 a linear axis has.
    label, unit : str
        What was measured, and its SI unit; no unit is shown if it is empty.
    log : bool
        Whether the axis is logarithmic, as `logarithmic` decides.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    if log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        factor, shown = 1.0, _SYMBOLS.get(unit, unit)
    else:
        factor, shown = _scale(values, unit)
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))

        def written(value: float, _: Any) -> str:
            return _tick(value / factor, _spacing(axis.get_majorticklocs()) / factor)

        axis.set_major_formatter(FuncFormatter(written))
    text = f"{label} [{shown}]" if shown else label
    (axes.set_xlabel if which == "x" else axes.set_ylabel)(
        text, fontsize=FONT, labelpad=2, parse_math=False
    )
    axis.grid(True, which="major", color=GRID, linewidth=0.6)


def tick_values(axes: Axes, values: NDArray[np.float64], inches: float, log: bool) -> None:
    """Put ticks of the x axis at the values of a parameter.

    With more than eight values, or where names would touch each other, ticks stay as they are.

    Parameters
    ----------
    axes : Axes
        What the axis belongs to.
    values : float64, shape (n,)
        The values, ascending and each once.
    inches : float
        How far the last one is from the first on paper [inch].
    log : bool
        Whether the axis is logarithmic.
    """
    from matplotlib.ticker import NullFormatter, NullLocator

    names = [f"{value:g}" for value in values.tolist()]
    places = np.log(values) if log else values
    if not 0 < len(names) <= _MOST_TICKS:
        return
    if len(names) > 1:
        nearest = float(np.diff(places).min()) / float(np.ptp(places)) * inches
        if nearest < max(text_width(name, SMALL_FONT) for name in names) + 0.06:
            return
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(values.tolist(), names)


def _scale(values: NDArray[np.float64], unit: str) -> tuple[float, str]:
    """Return what the values are divided by, and the unit that they have then."""
    largest = float(np.abs(values).max()) if len(values) else 0.0
    if unit in _SCALED:
        factor, prefix = scale_of(largest)
        return factor, prefix + _SYMBOLS.get(unit, unit)
    if largest == 0 or _SMALLEST <= largest < _LARGEST:
        return 1.0, unit
    power = 3 * math.floor(math.log10(largest) / 3)
    return 10.0**power, f"10{str(power).translate(_SUPERSCRIPTS)} {unit}".rstrip()


def _spacing(places: Any) -> float:
    """Return the distance of ticks."""
    return float(places[1] - places[0]) if len(places) > 1 else 1.0


def _tick(value: float, spacing: float) -> str:
    """Write a tick with as many digits as tell it from the next one."""
    digits = max(0, 1 - math.floor(math.log10(spacing))) if spacing > 0 else 6
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text.replace("-", "\u2212")
