"""Host names that all end alike, shown without what they have in common."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simplugin.listings import Listing


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
        What was left out, from a dot on; empty if there is no such column, or nothing that all
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
    # The first label always stays, lest nothing be left of a name.
    reversed_labels = [name.split(".")[:0:-1] for name in names]
    if not reversed_labels:
        return ""
    alike = takewhile(
        lambda labels: len(set(labels)) == 1,
        zip(*reversed_labels, strict=False),
    )
    return "".join(f".{labels[0]}" for labels in reversed([*alike]))
