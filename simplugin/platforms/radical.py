"""The numbers of a cluster's hosts, as SimGrid writes them: ``"0-99,105"``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from simplugin.core.errors import PlatformError

# SimGrid reads the number at the start of each bound and ignores the rest; we do not.
_GROUP = re.compile(r"\s*(\d{1,10})\s*(?:-\s*(\d{1,10})\s*)?", re.ASCII)
_LARGEST = 2**31 - 1
_REMEDY = "write numbers and ascending ranges, e.g. '0-99,105'"


def ranges(radical: str) -> list[range]:
    """Return the ranges of numbers of a radical, in its order.

    Parameters
    ----------
    radical : str
        Comma-separated numbers and ranges, bounds included.

    Returns
    -------
    list of range
        One for each part.

    Raises
    ------
    PlatformError
        It is not a list of numbers and ranges, or a range is empty.
    """
    found = []
    for group in radical.split(","):
        match = _GROUP.fullmatch(group)
        if match is None:
            raise PlatformError(f"radical {_short(radical)} is malformed", remedy=_REMEDY)
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last > _LARGEST or first > last:
            raise PlatformError(
                f"range {group.strip()!r} of radical {_short(radical)} "
                + ("holds no number" if first > last else "is out of range"),
                remedy=_REMEDY,
            )
        found.append(range(first, last + 1))
    return found


def require_radical(what: str, radical: str) -> None:
    """Raise if a radical is malformed or names a host twice."""
    try:
        parts = ranges(radical)
    except PlatformError as error:
        raise PlatformError(f"{what} is invalid: {error.message}", remedy=error.remedy) from None
    ordered = sorted(parts, key=lambda part: part.start)
    for before, after in pairwise(ordered):
        if after.start < before.stop:
            raise PlatformError(
                f"{what}, {_short(radical)}, holds number {after.start} twice",
                remedy="list each number once",
            )


def numbers(radical: str) -> Iterator[int]:
    """Yield the numbers of a radical, in its order."""
    return chain.from_iterable(ranges(radical))


def count(radical: str) -> int:
    """Return how many numbers a radical holds, without listing them."""
    return sum(len(part) for part in ranges(radical))


def of_numbers(values: Iterable[int]) -> str:
    """Return the shortest radical that holds the numbers in their order.

    Parameters
    ----------
    values : iterable of int
        Numbers, at least one.

    Returns
    -------
    str
        For instance ``"0-3,7"``.
    """
    parts: list[list[int]] = []
    for value in values:
        if parts and value == parts[-1][1] + 1:
            parts[-1][1] = value
        else:
            parts.append([value, value])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _short(radical: str) -> str:
    """Quote a radical, cut where it is long."""
    return repr(radical if len(radical) <= 60 else radical[:57] + "...")
