"""Sheets and axes of figures for papers: vector or 200 dpi, readable in grey."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import SCALED, SYMBOLS, scale_of
from simplugin.reports.colours import group_colour
from simplugin.reports.image_files import families, lacking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

Width = Literal["column", "page"]
# Widths of one column of a two-column paper, and of both [inch].
WIDTHS: dict[Width, float] = {"column": 3.4, "page": 7.0}
FONT, SMALL_FONT, TITLE = 8.0, 7.0, 13.0
# How much wider bold letters are.
_BOLD = 1.15
# Height of a line of text in font sizes, and size of a point [inch].
LINE, POINT = 1.25, 1 / 72
GRID, GREY, BLACK = "#e4e4e4", "#5d5d5d", "#222222"
DPI = 200
# 5 dashes and 7 markers: 35 curves that differ without colour, 16 colours.
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (9, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Replacements of colours that are too pale for lines on paper.
_PALE = {"#f0e442": "#a89c00", "#ffb3a7": "#e8705c"}
_WORDS, _BREAKS = re.compile(r"(?<=\s)"), re.compile(r"(?<=[\-_./,;:=|+])")
# Widths of a line and a mark of a key, and the gap between its entries [inch].
_LINE, _MARK, _GAP = 0.34, 0.12, 0.16
# Ratio of the largest to the smallest value beyond which an axis is logarithmic.
_WIDE = 100.0
# Sizes beyond which matplotlib finds no ticks, or takes all values for one.
_LEAST, _MOST = 1e-280, 1e280
# Values beyond which a linear axis is labelled in powers of 1000.
_LARGEST, _SMALLEST = 1e5, 1e-3
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Values of a parameter up to which each gets its tick, if there is room.
_MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class Ink:
    """Colour, dash and marker of a group."""

    colour: str
    dash: Any
    marker: str


def ink(number: int) -> Ink:
    """Return the colour, dash and marker of a group by its number, the same in every figure."""
    colour = group_colour(number)
    dash, marker = DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)]
    return Ink(_PALE.get(colour, colour), dash, marker)


def sheet(width: Width, height: float, names: Sequence[str] = ()) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes.

    Parameters
    ----------
    width : {"column", "page"}
        3.4 or 7 inches.
    height : float
        Without the key [inch].
    names : sequence of str
        Names of the key that `write_key` writes below.

    Raises
    ------
    SimpluginError
        The width is neither.
    """
    from matplotlib.figure import Figure

    if width not in WIDTHS:
        raise SimpluginError(f"width is {width!r}; choose {' or '.join(map(repr, WIDTHS))}")
    if len(names) > 1:
        rows, _, _ = key_layout(names, WIDTHS[width])
        height += sum(rows) * SMALL_FONT * LINE * POINT + 0.05 * len(rows) + 0.05
    figure = Figure(figsize=(WIDTHS[width], height), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.03, h_pad=0.03)
    axes = figure.add_subplot()
    axes.tick_params(labelsize=SMALL_FONT, length=2.5, width=0.6, pad=2)
    axes.set_axisbelow(True)
    for name, side in axes.spines.items():
        side.set_visible(name in ("left", "bottom"))
        side.set_linewidth(0.6)
    return figure, axes


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Return the width of a line of text [inch]."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    fonts = families(text)
    if fonts:
        # Letters that no font has are drawn as boxes.
        text = text.translate(dict.fromkeys(map(ord, lacking(text, fonts)), "\u25a1"))
    across, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(family=fonts, size=size), ismath=False
    )
    return float(across) * POINT


def wrapped(name: str, inches: float, size: float) -> str:
    """Break a name into lines that are not wider than that; nothing is left out.

    Lines end between words; words wider than a line are broken after punctuation, or anywhere.
    """
    if "\n" in name:
        return "\n".join(wrapped(line, inches, size) for line in name.split("\n"))
    lines = [""]

    def fits(text: str) -> bool:
        return text_width((lines[-1] + text).rstrip(), size) <= inches

    for word in _WORDS.split(name):
        if lines[-1] and not fits(word):
            lines.append("")
        for part in [word] if fits(word) else _BREAKS.split(word):
            if lines[-1] and not fits(part):
                lines.append("")
            for letters in [part] if fits(part) else part:
                if lines[-1] and not fits(letters):
                    lines.append("")
                lines[-1] += letters
    return "\n".join(line.rstrip() for line in lines)


def title_text(title: str, inches: float) -> str:
    """Break a title, as `write_title` writes it, into lines."""
    return wrapped(title, (inches - 0.3) / _BOLD, TITLE)


def write_title(figure: Figure, title: str) -> None:
    """Write a title above a figure, in bold letters; nothing if it is empty."""
    if title:
        figure.suptitle(
            title_text(title, figure.get_figwidth()), x=0.01, ha="left", fontsize=TITLE,
            fontweight="bold", parse_math=False,
        )  # fmt: skip


def lines_of(text: str) -> int:
    """Return the number of lines of a text."""
    return text.count("\n") + 1


def write_key(
    figure: Figure,
    names: Sequence[str],
    handles: Sequence[Any],
    inches: float,
    *,
    marks: bool = False,
    size: float = SMALL_FONT,
    place: Any = "outside lower center",
    apart: float = 0.35,
) -> None:
    """Write the legend below the figure, with lines, or marks without lines.

    Parameters
    ----------
    figure : Figure
        Figure or axes to which it belongs.
    names : sequence of str
        All in full: long ones are broken into lines.
    handles : sequence of matplotlib artists
        For each name the line or mark that is shown before it.
    inches : float
        Width of the figure [inch].
    marks : bool
        True if handles are marks, which need less room than lines.
    size : float
        Font size.
    place : str
        As matplotlib names it.
    apart : float
        Distance of two rows, in font sizes.
    """
    _, columns, texts = key_layout(names, inches, size)
    letter = size * POINT
    sample = _MARK if marks else _LINE
    # Names are written afterwards: matplotlib leaves out labels that start with an underscore.
    legend = figure.legend(
        handles, [str(number) for number in range(len(names))], loc=place,
        ncols=columns, frameon=False, fontsize=size, handlelength=sample / letter,
        columnspacing=_GAP / letter, handletextpad=0.6, borderpad=0.0, borderaxespad=apart,
        labelspacing=apart,
    )  # fmt: skip
    for written, text in zip(legend.get_texts(), texts, strict=True):
        written.set_parse_math(False)
        written.set_text(text)


def key_layout(
    names: Sequence[str], inches: float, size: float = SMALL_FONT
) -> tuple[list[int], int, list[str]]:
    """Return the lines of each row, the number of columns, and the names broken into lines."""
    room = inches - 0.1
    texts = [wrapped(name, room - _LINE - 0.1, size) for name in names]
    lines = [line for text in texts for line in text.split("\n")]
    widest = max((text_width(line, size) for line in lines), default=0.0)
    cell = _LINE + 0.06 + widest + _GAP
    columns = max(1, min(len(names), int((room + _GAP) / cell), 5))
    # Keys are filled column by column.
    rows = -(-len(names) // columns)
    heights = [max(map(lines_of, texts[row::rows]), default=1) for row in range(rows)]
    return heights, columns, texts


def logarithmic(values: NDArray[np.float64], log: bool | None) -> bool:
    """Return True if an axis is logarithmic: if requested, or positive over two decades.

    Raises
    ------
    SimpluginError
        It was requested, and a value is not above 0; or values are so large or so small that they
        have no axis of either kind.
    """
    positive = bool(len(values)) and float(values.min()) > 0
    if log and len(values) and not positive:
        raise SimpluginError(
            f"{float(values.min()):g} has no place on a logarithmic axis; leave out log=True"
        )
    if log is None:
        log = positive and float(values.min()) < float(values.max()) / _WIDE
    sizes = np.abs(values[values != 0])
    if not len(sizes):
        return log
    least, most = float(sizes.min()), float(sizes.max())
    # On a linear axis small values next to large ones are at 0.
    smallest = least if log else most
    # Ticks of logarithmic axes begin before the first value and end behind the last.
    room = (most / smallest) ** 0.5
    if smallest / room < _LEAST or most * room > _MOST:
        raise SimpluginError(
            f"values of size {least:g} to {most:g} have no axis: they are too small, too large"
            " or too far apart"
        )
    return log


def name_axis(
    axes: Axes, which: str, values: NDArray[np.float64], label: str, unit: str, log: bool
) -> float:
    """Set scale, label and ticks of an axis, and return the divisor of the values that it shows.

    Parameters
    ----------
    axes : Axes
        Figure or axes to which it belongs.
    which : {"x", "y"}
        Which axis.
    values : float64, shape (n,)
        Values along it, in SI units and finite; the largest decides which prefix or power
        of 1000 a linear axis has.
    label, unit : str
        Name of the metric, and its SI unit; no unit is shown if it is empty.
    log : bool
        True if the axis is logarithmic, as `logarithmic` decides.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    if log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        factor, shown = 1.0, SYMBOLS.get(unit, unit)
    else:
        factor, shown = _scale(values, unit)
        whole = are_whole(values) and factor == 1
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=whole))

        def written(value: float, _: Any) -> str:
            places = axis.get_majorticklocs()
            spacing = float(places[1] - places[0]) if len(places) > 1 else 1.0
            return _tick(value / factor, spacing / factor)

        axis.set_major_formatter(FuncFormatter(written))
    text = f"{label} [{shown}]" if shown else label
    (axes.set_xlabel if which == "x" else axes.set_ylabel)(
        text, fontsize=FONT, labelpad=2, parse_math=False
    )
    axis.grid(True, which="major", color=GRID, linewidth=0.6)
    return factor


def are_whole(values: NDArray[np.float64]) -> bool:
    """Return True if all values that are finite are whole numbers, and there is one."""
    there = values[np.isfinite(values)]
    return bool(len(there)) and bool(np.all(there % 1 == 0))


def tick_values(
    axes: Axes, values: NDArray[np.float64], inches: float, log: bool, factor: float
) -> None:
    """Put ticks of the x axis at the values of a parameter.

    With more than eight values, or where names would touch each other, ticks are unchanged.

    Parameters
    ----------
    axes : Axes
        Axes to which the axis belongs.
    values : float64, shape (n,)
        The values, ascending and each once.
    inches : float
        Distance of the last one from the first on paper [inch].
    log : bool
        True if the axis is logarithmic.
    factor : float
        What `name_axis` returned.
    """
    from matplotlib.ticker import NullFormatter, NullLocator

    names = [f"{value / factor:g}" for value in values.tolist()]
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
    """Return the divisor of the values, and their unit after division."""
    largest = float(np.abs(values).max()) if len(values) else 0.0
    if unit in SCALED:
        factor, prefix = scale_of(largest)
        return factor, prefix + SYMBOLS.get(unit, unit)
    if largest == 0 or _SMALLEST <= largest < _LARGEST:
        return 1.0, unit
    power = 3 * math.floor(math.log10(largest) / 3)
    return 10.0**power, f"10{str(power).translate(_SUPERSCRIPTS)} {unit}".rstrip()


def _tick(value: float, spacing: float) -> str:
    """Return the text of a tick, distinct from that of the next one."""
    digits = max(0, 1 - math.floor(math.log10(spacing))) if spacing > 0 else 6
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text.replace("-", "\u2212")
