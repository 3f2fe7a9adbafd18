"""Sensitivity indices with their intervals, a row a parameter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.reports import paper_sheet as paper
from simplugin.results.tables import Cell, ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Numbers between which all digits before the point are written.
_WHOLE, _LARGE = 99.5, 1e7
# Height of a mark, of the gap between rows, and of the axis [inch]; part of the sheet for names.
_MARK, _GAP, _AXIS, _NAMES = 0.12, 0.14, 0.55, 0.36


def compact(table: ResultTable) -> ResultTable:
    """Return a table of indices for a terminal: an index is one cell, and keys are their ends."""
    first = [name for name, _ in table.columns].index("parameter") + 1
    ends = {name: str(name).rpartition(".")[2] for name in table.column("parameter")}
    is_clear = len({*ends.values()}) == len(ends)
    lines = []
    for line in table.lines:
        estimates = zip(line[first::3], line[first + 1 :: 3], line[first + 2 :: 3], strict=True)
        texts = ("{} ({} to {})".format(*map(_short, each)) for each in estimates)
        name = ends[line[first - 1]] if is_clear else line[first - 1]
        lines.append((*line[: first - 1], name, *texts))
    units = [(f"{name} [{unit}]" if unit else name, "") for name, unit in table.columns[first::3]]
    columns = (*table.columns[:first], *units)
    return replace(table, columns=columns, lines=tuple(lines))


def _short(cell: Cell) -> str:
    """Return a number with two digits, or all before the point."""
    value = float(cell or 0)
    return f"{value:,.0f}" if _WHOLE <= abs(value) < _LARGE else f"{value:.2g}"


def draw_sensitivity(table: ResultTable, *, width: paper.Width = "column") -> Figure:
    """Return a drawing of sensitivity indices, a row for each parameter of each group.

    Parameters
    ----------
    table : ResultTable
        Columns that distinguish groups, ``parameter``, and for each index its value and the ends of
        its interval.
    width : {"column", "page"}
        3.4 or 7 inches.
    """
    heads = [name for name, _ in table.columns]
    first = heads.index("parameter") + 1
    names = [
        paper.wrapped(
            ", ".join(map(str, line[:first])), _NAMES * paper.WIDTHS[width], paper.SMALL_FONT
        )
        for line in table.lines
    ]
    indices = heads[first::3]
    found = np.array([line[first:] for line in table.lines], dtype=float)
    letters = max(map(paper.lines_of, names)) * paper.LINE * paper.SMALL_FONT * paper.POINT
    row = max(letters, len(indices) * _MARK) + _GAP
    middles = row * (np.arange(len(names)) + 0.5)
    figure, axes = paper.sheet(width, row * len(names) + _AXIS, indices)
    axes.axvline(0.0, color=paper.GREY, linewidth=0.6)
    handles = []
    for number in range(len(indices)):
        style = paper.ink(number)
        value, low, high = found[:, 3 * number : 3 * number + 3].T
        places = middles + (number - (len(indices) - 1) / 2) * _MARK
        axes.hlines(places, low, high, color=style.colour, linewidth=0.9)
        handles += axes.plot(
            value, places, linestyle="", marker=style.marker, markersize=3.6, color=style.colour,
            gid=f"indices-{number}",
        )  # fmt: skip
    axes.set_ylim(row * len(names), 0)
    axes.set_yticks(middles.tolist(), names)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.tick_params(axis="y", length=0)
    paper.name_axis(axes, "x", found.ravel(), table.title, table.columns[-1][1], log=False)
    paper.write_key(figure, indices, handles, paper.WIDTHS[width], marks=True)
    return figure
