"""Columns of a table in the width of a terminal, so that all that is in them can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Between columns, at best and at least.
_WIDE, _TIGHT = 3, 1
# What is broken over lines keeps that much on each.
_NARROWEST_TEXT = 12
_NARROWEST_NAME = 5


def column_widths(
    names: Sequence[str], values: Sequence[int], texts: Sequence[bool], room: int | None
) -> tuple[list[int], int]:
    """Return how wide columns are, and what is between them.

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
        Whether the values are texts, which can be broken anywhere.
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
    """Make the widest columns narrower where they may be, and return what is left over."""
    while excess > 0:
        able = [at for at, width in least.items() if width < widths[at]]
        if not able:
            break
        widths[max(able, key=widths.__getitem__)] -= 1
        excess -= 1
    return excess
