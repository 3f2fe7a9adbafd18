"""Quantities and laws as tables hold them: ``{ law = "uniform", low = "1Gf", high = "2Gf" }``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simplugin.errors import PlatformError, UnitError
from simplugin.near_names import near_names
from simplugin.platforms.laws import PARAMETERS, Law
from simplugin.units import has_unit, parse_bandwidth, parse_speed, parse_time

# Parameters of laws that have no unit, whatever is drawn.
WITHOUT_UNIT = frozenset({"shape", "variation"})


class MisreadError(PlatformError):
    """A value in a table that cannot be read.

    Attributes
    ----------
    path : tuple of str
        The keys that lead from the value that was to be read to the culprit.
    """

    def __init__(self, message: str, remedy: str, path: tuple[str, ...] = (), **place: Any) -> None:
        super().__init__(message, remedy=remedy, **place)
        self.path = path


@dataclass(frozen=True)
class Dimension:
    """What kind of number stands in a table.

    Attributes
    ----------
    si : str
        The unit of a bare number; empty for what has none.
    example : str
        How one writes such a number in TOML.
    parse : callable, optional
        Reads a text with a unit; without, texts are refused.
    may_be_zero : bool
        Whether 0 is one.
    """

    si: str
    example: str
    parse: Callable[[str], float] | None = None
    may_be_zero: bool = False


# By the keys that they stand under; and numbers of things, and parameters without a unit.
QUANTITIES: dict[str, Dimension] = {
    "speed": Dimension("flop/s", '"2.5Gf"', parse_speed),
    "bandwidth": Dimension("byte/s", '"10Gbps"', parse_bandwidth),
    "latency": Dimension("s", '"50us"', parse_time, may_be_zero=True),
}
COUNT = Dimension("", "5")
PLAIN = Dimension("", "0.3")


def read_number(name: str, value: Any, dimension: Dimension) -> float:
    """Return a number, or what a text with a unit comes to.

    Parameters
    ----------
    name : str
        Of the value, for messages.
    value : float or str
        A number in the SI unit, or a text with a unit. A text without one is refused: ``"4.3"``
        was meant in some other unit.
    dimension : Dimension
        What it is.

    Raises
    ------
    MisreadError
        It is neither, or out of its range.
    """
    number = value
    if isinstance(value, str) and dimension.parse is not None:
        try:
            number = dimension.parse(value)
        except UnitError as error:
            message, _, remedy = str(error).partition("; ")
            advice = remedy or f"write e.g. {dimension.example}"
            raise MisreadError(f"{name}: {message}", advice) from None
        if not has_unit(value):
            remedy = f"write e.g. {dimension.example}, or a number [{dimension.si}] without quotes"
            raise MisreadError(f"{name} is {value!r}, which has no unit", remedy)
    least = "0 or more" if dimension.may_be_zero else "more than 0"
    known = isinstance(number, int | float) and not isinstance(number, bool)
    # TOML's whole numbers may be larger than any float.
    finite = known and 0 <= number <= sys.float_info.max
    if not finite or (number == 0 and not dimension.may_be_zero):
        raise MisreadError(
            f"{name} is {value!r}", f"give a number, {least}, e.g. {dimension.example}"
        )
    return float(number)


def read_law(name: str, table: Mapping[str, Any], dimension: Dimension) -> Law:
    """Return the law that a table describes.

    Parameters
    ----------
    name : str
        Of the value that it stands for, for messages.
    table : mapping
        ``law``, a key of `simplugin.platforms.laws.PARAMETERS`, and its parameters by their
        names there.
    dimension : Dimension
        What is drawn.

    Raises
    ------
    MisreadError
        There is no such law, or its parameters are wrong.
    """
    law = _law_of(name, table)
    values = []
    for key in PARAMETERS[law]:
        # Laws are of positive numbers, whatever they stand for.
        kind = PLAIN if key in WITHOUT_UNIT else replace(dimension, may_be_zero=False)
        if key not in table:
            message = f"key '{name}.{key}' is missing"
            raise MisreadError(message, f"add it: e.g. {key} = {kind.example}", (key,))
        try:
            values.append(read_number(f"{name}.{key}", table[key], kind))
        except MisreadError as error:
            raise MisreadError(error.message, error.remedy or "", (key,)) from None
    try:
        return Law(law, tuple(values))
    except PlatformError as error:
        raise MisreadError(f"{name}: {error.message}", error.remedy or "") from None


def _law_of(name: str, table: Mapping[str, Any]) -> str:
    """Return the name of the law; refuse a table with other keys than its parameters."""
    laws = f"one of {', '.join(PARAMETERS)}"
    if "law" not in table:
        raise MisreadError(f"key '{name}.law' is missing", f"add it: {laws}", ("law",))
    law = table["law"]
    if not isinstance(law, str) or law not in PARAMETERS:
        raise MisreadError(f"{name}.law is {law!r}", f"give {laws}", ("law",))
    known = ("law", *PARAMETERS[law])
    for key in table:
        if key not in known:
            near = near_names(key, known, 1)
            listed = ", ".join(known)
            remedy = f"did you mean {near[0]!r}?" if near else f"the keys here are {listed}"
            raise MisreadError(f"unknown key '{name}.{key}'", remedy, (key,))
    return law
