"""Checks of single parts of a platform: names, ranges, choices.

Data classes derived from `Checked` declare the check of a field in its annotation, for instance
``bandwidth: Bandwidth``.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
from numpy.typing import DTypeLike

from simplugin.errors import PlatformError

# SimGrid refuses denormalised numbers as out of range.
_SMALLEST = sys.float_info.min
_UNWRITABLE = {chr(code) for code in range(32)} - {"\t", "\n", "\r"} | {"\ufffe", "\uffff"}


def require_name(what: str, name: object) -> None:
    """Raise unless a name is a non-empty text."""
    if not isinstance(name, str) or not name:
        raise PlatformError(f"{what} has no name ({name!r})", remedy="give it a non-empty id")
    require_text(f"the name of {what}", name)


def require_text(what: str, text: object) -> None:
    """Raise unless XML can hold a text."""
    if not isinstance(text, str):
        raise PlatformError(f"{what} is {text!r}", remedy="give a string")
    if not text.isprintable() and not _UNWRITABLE.isdisjoint(text):
        raise PlatformError(
            f"{what} is {text!r}, which XML cannot hold", remedy="remove the control characters"
        )


def require_positive(what: str, value: float, unit: str) -> None:
    """Raise unless a capacity is a positive, finite number."""
    if not _SMALLEST <= value < math.inf:
        raise PlatformError(
            f"{what} is {value!r} {unit}", remedy="give a positive, finite number with its unit"
        )


def require_not_negative(what: str, value: float, unit: str) -> None:
    """Raise unless a duration is a finite number of at least 0."""
    if value != 0 and not _SMALLEST <= value < math.inf:
        raise PlatformError(
            f"{what} is {value!r} {unit}", remedy="give 0 or a positive, finite number"
        )


def require_count(what: str, value: object, least: int) -> None:
    """Raise unless a value is a whole number of at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise PlatformError(f"{what} is {value!r}", remedy=f"give a whole number from {least} on")


def require_between(what: str, value: object, least: float, most: float) -> None:
    """Raise unless least <= value <= most."""
    number = isinstance(value, int | float | np.integer) and not isinstance(value, bool)
    if not number or not least <= value <= most:  # type: ignore[operator]
        raise PlatformError(
            f"{what} is {value!r}", remedy=f"give a number from {least:g} to {most:g}"
        )


def require_truth(what: str, value: object) -> None:
    """Raise unless a value is true or false; the text "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise PlatformError(f"{what} is {value!r}", remedy="give true or false")


def require_choice(what: str, value: str, choices: Collection[str]) -> None:
    """Raise unless a value is one of the choices."""
    if value not in choices:
        raise PlatformError(
            f"{what} is {value!r}", remedy=f"choose among {', '.join(sorted(choices))}"
        )


def require_properties(what: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the properties; raise unless all of them are text."""
    for key, value in properties.items():
        require_name(f"a key of {what}", key)
        require_text(f"{key!r} of {what}", value)
    return dict(properties)


def require_coordinates(what: str, coordinates: tuple[float, ...]) -> None:
    """Raise unless network coordinates are three finite numbers."""
    if len(coordinates) != 3 or not all(
        value == 0 or _SMALLEST <= abs(value) < math.inf for value in coordinates
    ):
        raise PlatformError(
            f"{what} are {coordinates!r}",
            remedy="give three numbers (x and y in the plane, height), e.g. '25.5 9.4 1.4'",
        )


def require_distinct(what: str, names: Iterable[str]) -> None:
    """Raise if a name occurs twice."""
    names = tuple(names)
    if len(set(names)) < len(names):
        [(name, _)] = Counter(names).most_common(1)
        raise PlatformError(f"two {what} are called {name!r}", remedy="name them apart")


_RANGES: dict[str, Callable[[Any], Any]] = {
    "finite numbers >= 0": lambda values: np.isfinite(values) & (values >= 0),
    "finite numbers > 0": lambda values: np.isfinite(values) & (values > 0),
    "numbers > 0": lambda values: values > 0,
}


def set_array(
    part: object,
    field: str,
    shape: tuple[int, ...],
    numbers: str = "",
    dtype: DTypeLike = np.float64,
) -> None:
    """Turn a field of a data class into an array, and check its shape and range.

    Parameters
    ----------
    part : object
        A frozen data class.
    field : str
        Name of the field.
    shape : tuple of int
        Of the array.
    numbers : str, optional
        The range of its values: a key of `_RANGES`.
    dtype : dtype
        Of the array.

    Raises
    ------
    PlatformError
        The shape or a value is wrong; the message names the field.
    """
    values = np.ascontiguousarray(getattr(part, field), dtype=dtype)
    if values.shape != shape:
        raise PlatformError(f"{field} has shape {values.shape}", remedy=f"give {shape}")
    if numbers and not np.all(_RANGES[numbers](values)):
        raise PlatformError(f"{field} has a value out of its range", remedy=f"give {numbers}")
    object.__setattr__(part, field, values)


Name = Annotated[str, require_name]
Text = Annotated[str, require_text]
Speed = Annotated[float, partial(require_positive, unit="flop/s")]
Bandwidth = Annotated[float, partial(require_positive, unit="byte/s")]
Latency = Annotated[float, partial(require_not_negative, unit="s")]
Coordinates = Annotated[tuple[float, float, float], require_coordinates]
Properties = Annotated[Mapping[str, str], require_properties]


def choice(*names: str) -> Callable[..., None]:
    """Return a check that a value is one of some names."""
    return partial(require_choice, choices=names)


class Checked:
    """Base of data classes whose first field is a name and whose annotations hold checks."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self)


def check_fields(part: Any, what: str = "") -> str:
    """Check the fields of a data class by their annotations; return what messages call it.

    Parameters
    ----------
    part : object
        A frozen data class. A check in the metadata of an annotation is called with a text for
        messages and the value; if it returns another value, that takes the place of the first.
    what : str, optional
        Words for the part in messages; its kind and first field, a name, without.

    Raises
    ------
    PlatformError
        A field is invalid; the message names the part and the field.
    """
    kind, checks = _checks(part.__class__)
    if not what:
        (name, check, *_), *checks = checks
        check(f"a {kind}", getattr(part, name))
        what = f"{kind} {getattr(part, name)!r}"
    for name, check, words, default in checks:
        value = getattr(part, name)
        # Defaults are valid; platforms have many parts, most of whose fields are defaults.
        if value is not default and value is not None:
            better = check(f"the {words} of {what}", value)
            if better is not None:
                object.__setattr__(part, name, better)
    return what


@cache
def _checks(kind: type[Any]) -> tuple[str, list[tuple[str, Callable[[str, Any], Any], str, Any]]]:
    """Return what messages call a data class; name, check, words and default of its fields."""
    hints = get_type_hints(kind, include_extras=True)
    checks = [
        (field.name, check, field.name.replace("_", " "), field.default)
        for field in fields(kind)
        for each in (hints[field.name], *get_args(hints[field.name]))
        for check in getattr(each, "__metadata__", ())
    ]
    return getattr(kind, "kind", kind.__name__.lower()), checks


ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault between the parts of a platform.

    Attributes
    ----------
    message : str
        The fault, naming the culprit.
    remedy : str
        The remedy.
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
