"""Laws of chance as text: ``weibull(0.5, 3d)``, ``uniform(0.2, 1)``, or a number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError, UnitError
from simplugin.platforms.law_tables import WITHOUT_UNIT
from simplugin.platforms.laws import PARAMETERS, Law
from simplugin.units import has_unit, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

_CALL = re.compile(r"\s*(?P<name>[A-Za-z][\w-]*)\s*\((?P<arguments>[^()]*)\)\s*")


def read_law(text: str, read: Callable[[str], float] = float) -> Law:
    """Read a law.

    Parameters
    ----------
    text : str
        A key of `laws.PARAMETERS` with its parameters in their order, for instance
        ``"weibull(0.5, 3d)"``; a quantity alone stands for a constant.
    read : callable
        What reads a quantity, for instance `simplugin.units.parse_time`. Shapes and variations
        are plain numbers.

    Returns
    -------
    Law
        In the unit that `read` gives.

    Raises
    ------
    PlatformError
        It is no law, or its parameters are wrong; the message quotes the text.

    Examples
    --------
    >>> from simplugin.units import parse_time
    >>> read_law("weibull(0.5, 2h)", parse_time)
    Law(name='weibull', parameters=(0.5, 7200.0))
    """
    name, arguments = split_call(text)
    if not arguments:
        if name in PARAMETERS:
            raise PlatformError(f"law {text!r} has no parameters", remedy=_form(name))
        return Law("constant", (_number(text, text.strip(), read),))
    if name not in PARAMETERS:
        raise PlatformError(
            f"there is no law {name!r} in {text!r}", remedy=f"give one of {', '.join(PARAMETERS)}"
        )
    names = PARAMETERS[name]
    if len(arguments) != len(names):
        raise PlatformError(f"law {text!r} has {len(arguments)} parameters", remedy=_form(name))
    values = [
        _number(text, argument, float if parameter in WITHOUT_UNIT else read)
        for parameter, argument in zip(names, arguments, strict=True)
    ]
    return Law(name, tuple(values))


def read_duration(text: str) -> float:
    """Read a time that is given with its unit.

    Parameters
    ----------
    text : str
        For instance ``"7d"``. What lasts for days is easily given without a unit, and would
        be taken for seconds.

    Returns
    -------
    float
        In s.

    Raises
    ------
    UnitError
        It is no time, or has no unit.
    """
    time = parse_time(text)
    if not has_unit(text):
        raise UnitError(f"time {text!r} has no unit; write e.g. '7d', or '{text.strip()}s'")
    return time


def split_call(text: str) -> tuple[str, tuple[str, ...]]:
    """Split ``name(argument, ...)``; without parentheses the text is the name.

    Parameters
    ----------
    text : str
        What to split.

    Returns
    -------
    name : str
        Before the parenthesis.
    arguments : tuple of str
        Between the commas.
    """
    match = _CALL.fullmatch(text)
    if match is None:
        return text.strip(), ()
    return match["name"], tuple(part.strip() for part in match["arguments"].split(","))


def _number(text: str, word: str, read: Callable[[str], float]) -> float:
    """Read a parameter of a law."""
    try:
        return read(word)
    except (UnitError, ValueError) as error:
        raise PlatformError(
            f"{word!r} in law {text!r} cannot be read: {error}",
            remedy="write a law such as weibull(0.5, 3d), exponential(2h) or uniform(0.2, 1)",
        ) from None


def _form(name: str) -> str:
    """Say how a law is written."""
    return f"write {name}({', '.join(PARAMETERS[name])})"
