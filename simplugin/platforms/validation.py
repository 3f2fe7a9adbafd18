"""Checks of single parts of a platform: names, ranges, choices.

Data classes derived from `ValidatedElement` declare the check of a field in its annotation, for
instance ``bandwidth: Bandwidth``. Tuples of parts need no more than their annotation.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from itertools import repeat
from numbers import Integral
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from simplugin.core.errors import PlatformError, UnitError
from simplugin.core.units import parse_bandwidth, parse_speed, parse_time
from simplugin.inputs.locations import shown

# SimGrid refuses denormalised numbers as out of range.
_SMALLEST = sys.float_info.min
_UNWRITABLE = {*map(chr, range(32)), *map(chr, range(0xD800, 0xE000)), "\ufffe", "\uffff"}
_UNWRITABLE -= {"\t", "\n", "\r"}
MOST_HOSTS = 2_000_000
"""Hosts of a platform. SimGrid needs minutes and tens of GB for as many."""


def require_name(what: str, name: object) -> None:
    """Raise unless a name is a non-empty text."""
    if not isinstance(name, str) or not name:
        raise PlatformError(
            f"{what} has no name ({_quoted(name)})", remedy="give it a non-empty id"
        )
    require_text(f"the name of {what}", name)


def require_text(what: str, text: object) -> None:
    """Raise unless XML can hold a text."""
    if not isinstance(text, str):
        raise PlatformError(f"{what} is {_quoted(text)}", remedy="give a string")
    if not text.isprintable() and not _UNWRITABLE.isdisjoint(text):
        raise PlatformError(
            f"{what} is {text!r}, which XML cannot hold", remedy="remove the control characters"
        )


_READERS: dict[str, Callable[[Any], float]] = {
    "flop/s": parse_speed,
    "byte/s": parse_bandwidth,
    "s": parse_time,
}


def read_number(what: str, value: Any, unit: str) -> float:
    """Return a number, or the value of a text with a unit; raise for anything else."""
    try:
        return _READERS.get(unit, float)(value)
    except (TypeError, ValueError, UnitError) as error:
        raise PlatformError(f"{what}: {error}") from None


def simgrid_number(text: str) -> float:
    """Return the number that SimGrid reads; NaN for another text, or one that is denormalised."""
    try:
        number = float(text) if "_" not in text and text[-1:].strip() else math.nan
    except ValueError:
        return math.nan
    return number if number == 0 or abs(number) >= _SMALLEST else math.nan


def require_positive(what: str, value: Any, unit: str) -> float:
    """Return a capacity; raise unless it is a positive, finite number."""
    number = value if isinstance(value, float) else read_number(what, value, unit)
    if not _SMALLEST <= number < math.inf:
        raise PlatformError(
            f"{what} is {value!r} {unit}", remedy="give a positive, finite number with its unit"
        )
    return number


def require_not_negative(what: str, value: Any, unit: str) -> float:
    """Return a duration; raise unless it is a finite number of at least 0."""
    number = value if isinstance(value, float) else read_number(what, value, unit)
    if number != 0 and not _SMALLEST <= number < math.inf:
        raise PlatformError(
            f"{what} is {value!r} {unit}", remedy="give 0 or a positive, finite number"
        )
    return number


def require_count(what: str, value: object, least: int, most: float = MOST_HOSTS) -> None:
    """Raise unless a value is a whole number from `least` to `most`."""
    whole = isinstance(value, int | Integral) and not isinstance(value, bool)
    if not whole or not least <= value <= most:  # type: ignore[operator]
        remedy = f"give a whole number from {least} to {most:,}"
        raise PlatformError(f"{what} is {shown(value)}", remedy=remedy)


def require_between(what: str, value: object, least: float, most: float) -> None:
    """Raise unless least <= value <= most."""
    number = isinstance(value, int | float | Integral) and not isinstance(value, bool)
    if not number or not least <= value <= most:  # type: ignore[operator]
        raise PlatformError(
            f"{what} is {value!r}", remedy=f"give a number from {least:g} to {most:g}"
        )


def require_truth(what: str, value: object) -> None:
    """Raise unless a value is true or false; the text "no" would count as true."""
    if isinstance(value, bool):
        return
    import numpy as np  # checking a file takes no longer than this import

    if not isinstance(value, np.bool_):
        raise PlatformError(f"{what} is {value!r}", remedy="give true or false")


def require_choice(what: str, value: object, choices: Collection[str]) -> None:
    """Raise unless a value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise PlatformError(
            f"{what} is {value!r}", remedy=f"choose among {', '.join(sorted(choices))}"
        )


def require_properties(what: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the properties; raise unless all of them are text."""
    given: Any = properties
    if not isinstance(given, Mapping):
        raise PlatformError(
            f"{what} are {_quoted(given)}", remedy='give a dict, such as {"key": "text"}'
        )
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


def require_parts(
    what: str,
    values: Any,
    kinds: tuple[type[Any], ...] = (),
    check: Callable[[str, Any], Any] | None = None,
) -> tuple[Any, ...]:
    """Return parts as a tuple, also a single one; raise unless all of them are of some kinds."""
    names = " | ".join(kind.__name__ for kind in kinds)
    if isinstance(values, kinds):
        values = (values,)
    elif isinstance(values, str) or not isinstance(values, Iterable):
        raise PlatformError(
            f"{what} are {_quoted(values)}", remedy=f"give a tuple of {names or 'them'}"
        )
    parts = tuple(values)
    # There may be many parts, and there are few kinds.
    for wrong in set(map(type, parts)) if kinds else ():
        if not issubclass(wrong, kinds):
            part = next(part for part in parts if type(part) is wrong)
            raise PlatformError(
                f"one of {what} is {_quoted(part)}, a {wrong.__name__}", remedy=f"give {names}"
            )
    if check is None:
        return parts
    return tuple(part if (better := check(what, part)) is None else better for part in parts)


def _quoted(value: object) -> str:
    """Return a value for a message: a part by its kind and name."""
    name = getattr(value, "id", None)
    return f"{value.__class__.__name__} {name!r}" if name else shown(value)


def require_distinct(what: str, names: Iterable[str]) -> None:
    """Raise if a name occurs twice."""
    names = tuple(names)
    if len(set(names)) < len(names):
        [(name, _)] = Counter(names).most_common(1)
        raise PlatformError(f"two {what} are called {name!r}", remedy="name them apart")


Name = Annotated[str, require_name]
Text = Annotated[str, require_text]
Bandwidth = Annotated[float, partial(require_positive, unit="byte/s")]
Latency = Annotated[float, partial(require_not_negative, unit="s")]
Date = Latency
# Of a host that boots, sleeps or only stores data it is 0.
Speed = Annotated[float, partial(require_not_negative, unit="flop/s")]
Coordinates = Annotated[tuple[float, float, float], require_coordinates]
Properties = Annotated[Mapping[str, str], require_properties]


def choice(*names: str) -> Callable[..., None]:
    """Return a check that a value is one of some names."""
    return partial(require_choice, choices=names)


class ValidatedElement:
    """Base of data classes with a name as first field and checks in annotations."""

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
        Text for the part in messages; by default its kind and first field, a name.

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
        # Defaults are valid, and most fields of the many parts are defaults.
        if value is not default:
            try:
                better = check(f"the {words} of {what}", value)
            except (AttributeError, TypeError, ValueError):
                hint = get_type_hints(part.__class__)[name]
                raise PlatformError(
                    f"the {words} of {what} is {_quoted(value)}",
                    remedy=f"give {hint.__name__ if isinstance(hint, type) else hint}",
                ) from None
            if better is not None and better is not value:
                object.__setattr__(part, name, better)
    return what


def copies(part: Any, columns: Mapping[str, Sequence[Any]], count: int) -> list[Any]:
    """Return copies of a data class with slots, which differ in some fields.

    Parameters
    ----------
    part : object
        A part without other parts in it.
    columns : mapping of str to sequence
        By field, its value in each copy. Nothing is checked.
    count : int
        Number of copies.
    """
    kind = part.__class__
    made = list(map(object.__new__, repeat(kind, count)))
    for each in fields(kind):
        values = columns.get(each.name) or repeat(getattr(part, each.name))
        deque(map(getattr(kind, each.name).__set__, made, values), maxlen=0)
    return made


@cache
def _checks(kind: type[Any]) -> tuple[str, list[tuple[str, Callable[[str, Any], Any], str, Any]]]:
    """Return the kind of a data class for messages; name, check, text and default of fields."""
    hints = get_type_hints(kind, include_extras=True)
    checks = [
        (field.name, check, field.name.replace("_", " "), field.default)
        for field in fields(kind)
        if (check := _check_of(hints[field.name])) is not None
    ]
    return getattr(kind, "kind", kind.__name__.lower()), checks


def _check_of(hint: Any) -> Callable[[str, Any], Any] | None:
    """Return the check that an annotation holds, or that follows from it."""
    of = get_args(hint)
    if get_origin(hint) is tuple and of[-1] is Ellipsis:
        part = of[0]
        check = _check_of(part)
        kinds = () if check or get_origin(part) is tuple else get_args(part) or (part,)
        return partial(require_parts, kinds=kinds, check=check)
    found = (check for each in (hint, *of) for check in getattr(each, "__metadata__", ()))
    return next(found, require_truth if hint is bool else None)


ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class PlatformProblem:
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
