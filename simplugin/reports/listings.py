"""Listings as tables that fit the width of a terminal."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simplugin.formatting import percent, readable
from simplugin.listings import Cell, Listing
from simplugin.reports.tables import house_table, summary_table
from simplugin.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import JustifyMethod

    from simplugin.listings import Listing

# Preferred and minimum gap between columns.
_WIDE, _TIGHT = 3, 1
# Minimum widths of wrapped texts and names.
_NARROWEST_TEXT = 12
_NARROWEST_NAME = 5


def print_listings(
    row: Row, listings: Sequence[Listing], *, console: Console | None = None, title: str = ""
) -> None:
    """Print the metrics of a run, then its listings.

    Parameters
    ----------
    row : Row
        Metrics.
    listings : sequence of Listing
        In their order.
    console : Console, optional
        Console to print to; standard output by default.
    title : str
        Above everything.
    """
    console = console or Console(highlight=False)
    if title:
        console.print(Text(title, style="bold"))
    console.print(summary_table(row))
    for listing in listings:
        console.print()
        # The table's own title and caption would be wrapped to its width.
        console.print(Text(listing.title, style="bold"))
        shown, ending = listing, ""
        if (listing_table(listing).width or 0) > console.width:
            shown, ending = without_common_ending(listing)
        # A table that cannot be narrowed is wider than the terminal rather than cut.
        console.print(listing_table(shown, console.width), crop=False)
        ended = f"names are shown without {ending!r}" if ending else ""
        for note in filter(None, (listing.note, ended)):
            console.print(Text(note, style="dim"))


def listing_table(listing: Listing, room: int | None = None) -> Table:
    """Return the lines of a listing: names to the left, numbers to the right.

    Parameters
    ----------
    listing : Listing
        The listing.
    room : int, optional
        Maximum width; exceeded if numbers or words would be cut.
    """
    names = [name for name, _ in listing.columns]
    values = [[line[place] for line in listing.lines] for place in range(len(names))]
    cells, texts = [], []
    for (_, unit), column in zip(listing.columns, values, strict=True):
        cells.append([_cell(value, unit) for value in column])
        texts.append(any(isinstance(value, str) for value in column) and not unit)
    widest = [max((cell.cell_len for cell in column), default=0) for column in cells]
    widths, gap = column_widths(names, widest, texts, room)
    table = house_table("")
    # Rich draws one more blank between columns.
    table.padding = (0, gap // 2, 0, (gap - 1) // 2)
    for name, width, text in zip(names, widths, texts, strict=True):
        justify: JustifyMethod = "left" if text else "right"
        table.add_column(Text(name), width=width, justify=justify, overflow="fold")
    for line in zip(*cells, strict=True):
        table.add_row(*line)
    table.width = sum(widths) + gap * (len(names) - 1)
    return table


def _cell(value: Cell, unit: str) -> Text:
    """Return a value of a listing as text without markup."""
    if unit == "%" and isinstance(value, float):
        return Text(percent(value))
    return Text(readable(value, unit))


def column_widths(
    names: Sequence[str], values: Sequence[int], texts: Sequence[bool], room: int | None
) -> tuple[list[int], int]:
    """Return the widths of columns, and the gap between them.

    Where there is too little room, columns move together, names of columns are broken between
    words, then texts over lines, then names of columns within words. Numbers are never broken:
    where nothing else helps, the table is wider than the room.

    Parameters
    ----------
    names : sequence of str, one a column
        Above each column.
    values : sequence of int, one a column
        Width of the widest value.
    texts : sequence of bool, one a column
        True for columns of texts, which can be broken anywhere.
    room : int, optional
        For the whole table; any without.
    """
    gaps = len(names) - 1
    whole = [max(cell_len(name), value) for name, value in zip(names, values, strict=True)]
    broken = [
        max(value, *map(cell_len, name.split()), 1)
        for name, value in zip(names, values, strict=True)
    ]
    for widths, gap in (
        (whole, _WIDE), (whole, _WIDE - 1), (broken, _WIDE), (broken, _WIDE - 1), (broken, _TIGHT)
    ):  # fmt: skip
        if room is None or sum(widths) + gap * gaps <= room:
            return widths, gap
    assert room is not None
    excess = sum(broken) + _TIGHT * gaps - room
    for kind in (True, False):
        able = [at for at, text in enumerate(texts) if text == kind]
        least = {at: _NARROWEST_TEXT if kind else max(values[at], _NARROWEST_NAME) for at in able}
        excess = _narrowed(broken, least, excess)
    return broken, _TIGHT


def _narrowed(widths: list[int], least: Mapping[int, int], excess: int) -> int:
    """Narrow the widest columns and return the remaining excess."""
    while excess > 0:
        able = [at for at, width in least.items() if width < widths[at]]
        if not able:
            break
        widths[max(able, key=widths.__getitem__)] -= 1
        excess -= 1
    return excess


def without_common_ending(listing: Listing) -> tuple[Listing, str]:
    """Leave out the domain that all names of a listing end with.

    Parameters
    ----------
    listing : Listing
        With qualified names in some columns, such as ``gros-1.nancy.grid5000.fr``.

    Returns
    -------
    listing : Listing
        The same with the names of these columns shortened.
    ending : str
        The omitted ending, from a dot on; empty if there is no such column, or nothing that all
        have in common.
    """
    columns: dict[int, list[str]] = {}
    for place in range(len(listing.columns)):
        values = [line[place] for line in listing.lines if line[place] not in (None, "")]
        names = [value for value in values if isinstance(value, str) and "." in value]
        if names and len(names) == len(values):
            columns[place] = names
    every = {name for names in columns.values() for name in names}
    ending = common_ending(every)
    if not ending or len(every) < 2:
        return listing, ""
    lines = [
        tuple(
            cell.removesuffix(ending) if place in columns and isinstance(cell, str) else cell
            for place, cell in enumerate(line)
        )
        for line in listing.lines
    ]
    return replace(listing, lines=tuple(lines)), ending


def common_ending(names: Iterable[str]) -> str:
    """Return the labels that all names end with, a dot before each; never a whole name."""
    # The first label always remains, so that no name becomes empty.
    reversed_labels = [name.split(".")[:0:-1] for name in names]
    if not reversed_labels:
        return ""
    alike = takewhile(
        lambda labels: len(set(labels)) == 1,
        zip(*reversed_labels, strict=False),
    )
    return "".join(f".{labels[0]}" for labels in reversed([*alike]))
