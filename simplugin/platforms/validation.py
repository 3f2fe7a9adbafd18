"""What every part of a platform must obey by itself: names, ranges, choices."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# SimGrid refuses denormalised numbers as out of range.
_SMALLEST = sys.float_info.min
_UNWRITABLE = {chr(code) for code in range(32)} - {"\t", "\n", "\r"} | {"\ufffe", "\uffff"}


def require_name(what: str, name: object) -> None:
    """Refuse a name that SimGrid could not find again."""
    if not isinstance(name, str) or not name:
        raise PlatformError(f"{what} has no name ({name!r})", remedy="give it a non-empty id")
    require_text(f"the name of {what}", name)


def require_text(what: str, text: object) -> None:
    """Refuse text that XML cannot hold."""
    if not isinstance(text, str):
        raise PlatformError(f"{what} is {text!r}", remedy="give a string")
    if not text.isprintable() and not _UNWRITABLE.isdisjoint(text):
        raise PlatformError(
            f"{what} is {text!r}, which XML cannot hold", remedy="remove the control characters"
        )


def require_positive(what: str, value: float, unit: str) -> None:
    """Refuse a capacity that is not a positive finite number."""
    if not _SMALLEST <= value < math.inf:
        raise PlatformError(
            f"{what} is {value!r} {unit}", remedy="give a positive, finite number with its unit"
        )


def require_not_negative(what: str, value: float, unit: str) -> None:
    """Refuse a duration that is not a finite number of at least 0."""
    if value != 0 and not _SMALLEST <= value < math.inf:
        raise PlatformError(
            f"{what} is {value!r} {unit}", remedy="give 0 or a positive, finite number"
        )


def require_count(what: str, value: object, least: int) -> None:
    """Refuse what is no whole number, or too small a one."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise PlatformError(f"{what} is {value!r}", remedy=f"give a whole number from {least} on")


def require_between(what: str, value: object, least: float, most: float) -> None:
    """Refuse what is no number, or one beyond the bounds."""
    number = isinstance(value, int | float | np.integer) and not isinstance(value, bool)
    if not number or not least <= value <= most:  # type: ignore[operator]
        raise PlatformError(
            f"{what} is {value!r}", remedy=f"give a number from {least:g} to {most:g}"
        )


def require_truth(what: str, value: object) -> None:
    """Refuse what is neither true nor false; the text "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise PlatformError(f"{what} is {value!r}", remedy="give true or false")


def require_choice(what: str, value: str, choices: Collection[str]) -> None:
    """Refuse a word that SimGrid does not know."""
    if value not in choices:
        raise PlatformError(
            f"{what} is {value!r}", remedy=f"choose among {', '.join(sorted(choices))}"
        )


def require_properties(what: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the properties, all of them text."""
    for key, value in properties.items():
        require_name(f"a property of {what}", key)
        require_text(f"property {key!r} of {what}", value)
    return dict(properties)


def require_coordinates(what: str, coordinates: tuple[float, ...] | None) -> None:
    """Refuse network coordinates that are not three finite numbers."""
    if coordinates is not None and (
        len(coordinates) != 3
        or not all(value == 0 or _SMALLEST <= abs(value) < math.inf for value in coordinates)
    ):
        raise PlatformError(
            f"the coordinates of {what} are {coordinates!r}",
            remedy="give three numbers (x and y in the plane, height), e.g. '25.5 9.4 1.4'",
        )


ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong between the parts of a platform.

    Attributes
    ----------
    message : str
        What is wrong, naming the culprit.
    remedy : str
        How to right it.
    part : object
        The part concerned: a host, a route, a link of a route, ...; None for the whole.
    severity : str
        ``error``: SimGrid refuses the platform, or it cannot mean what it says. ``warning``:
        SimGrid loads it, and a simulation may find out too late.
    """

    message: str
    remedy: str
    part: object = None
    severity: str = ERROR
