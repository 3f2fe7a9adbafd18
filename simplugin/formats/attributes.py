"""Attributes in platform files: texts from and to values, as SimGrid understands them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simplugin.units import (
    format_bandwidth,
    format_speed,
    format_time,
    parse_bandwidth,
    parse_bandwidths,
    parse_speed,
    parse_speeds,
    parse_time,
)

_INTEGER = re.compile(r"\s*[+-]?\d{1,9}(?:\.0+)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Codec:
    """A kind of attribute.

    Attributes
    ----------
    parse : callable
        From a text to a value; raises `ValueError` or `UnitError`.
    write : callable
        From a value to a text.
    remedy : str
        Of texts for which `parse` raises `ValueError`.
    unit : str
        The SI unit, if it has one.
    empty : bool
        True if an empty text is the same as no attribute.
    """

    parse: Callable[[str], Any]
    write: Callable[[Any], str]
    remedy: str = ""
    unit: str = ""
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an element.

    Attributes
    ----------
    key : str
        Its name in files.
    codec : Codec
        Its kind.
    field : str
        Its name in the data class.
    further : str
        The field for all values but the first, if it is a list.
    required : bool
        True if SimGrid refuses an element without it.
    always : bool
        True if it is written even if it has its default.
    beside : str
        The field without which it is not written, and with which it always is.
    """

    key: str
    codec: Codec
    field: str
    further: str = ""
    required: bool = True
    always: bool = True
    beside: str = ""


def need(key: str, codec: Codec | None = None, field: str = "", further: str = "") -> Attribute:
    """Return an attribute that SimGrid wants, by default a text with a field of the same name."""
    return Attribute(key, codec or TEXT, field or key, further)


def may(key: str, codec: Codec | None = None, field: str = "", **written: Any) -> Attribute:
    """Return an attribute that may be left out; see `need`, and `Attribute` for `written`."""
    given = {"always": "beside" in written, **written}
    return Attribute(key, codec or TEXT, field or key, required=False, **given)


def number_text(value: float) -> str:
    """Return a number without a unit, for instance ``10`` or ``0.5``."""
    return repr(float(value)).removesuffix(".0")


def word(*choices: str, **synonyms: str) -> Codec:
    """Return the kind of attributes that are one of a few words."""
    known = sorted({*choices, *synonyms})

    def parse(text: str) -> str:
        """Return today's word."""
        if text not in known:
            raise ValueError(text)
        return synonyms.get(text, text)

    return Codec(parse, str, f"choose among {', '.join(known)}")


def _integer(text: str) -> int:
    """Return a whole number, which may be written as ``4.0``."""
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(text)
    return int(text.partition(".")[0])


def _number(text: str) -> float:
    """Return a finite number."""
    value = float(text)
    if not math.isfinite(value) or "_" in text:
        raise ValueError(text)
    return value


def _kill_time(text: str) -> float | None:
    """Return a date; SimGrid never kills what is killed before 0."""
    value = _number(text)
    return value if value >= 0 else None


def _coordinates(text: str) -> tuple[float, ...]:
    """Return network coordinates."""
    values = tuple(float(part) for part in text.split())
    if len(values) != 3:
        raise ValueError(text)
    return values


def _listed(write: Callable[[float], str]) -> Callable[[Iterable[float]], str]:
    """Return what writes several quantities, separated by commas."""
    return lambda values: ",".join([write(value) for value in values])


_speed_text = lru_cache(maxsize=4096)(format_speed)
_bandwidth_text = lru_cache(maxsize=4096)(format_bandwidth)
_time_text = lru_cache(maxsize=4096)(format_time)
_SECONDS = "give a number of seconds without a unit"

TEXT = Codec(str, str, empty=True)
# The name of a file, which is written as seen from another directory.
FILE = Codec(str, str, empty=True)
SPEED = Codec(parse_speed, _speed_text, unit="f")
SPEEDS = Codec(parse_speeds, _listed(_speed_text), unit="f")
BANDWIDTH = Codec(parse_bandwidth, _bandwidth_text, unit="Bps")
BANDWIDTHS = Codec(parse_bandwidths, _listed(_bandwidth_text), unit="Bps")
# SimGrid takes 0 for no such link.
LIMIT = Codec(lambda text: parse_bandwidth(text) or None, _bandwidth_text, unit="Bps", empty=True)
TIME = Codec(parse_time, _time_text, unit="s", empty=True)
INTEGER = Codec(_integer, str, "give a whole number")
NUMBER = Codec(_number, number_text, _SECONDS)
# SimGrid starts at once what starts before 0.
START = Codec(lambda text: max(_number(text), 0.0), number_text, _SECONDS)
KILL = Codec(_kill_time, number_text, _SECONDS)
COORDINATES = Codec(
    _coordinates,
    lambda values: " ".join(repr(float(value)) for value in values),
    "give three numbers, e.g. '25.5 9.4 1.4'",
    empty=True,
)
YES = Codec(
    lambda text: word("YES", "NO", yes="YES", no="NO").parse(text) == "YES",
    lambda value: "YES" if value else "NO",
    "choose among NO, YES, no, yes",
)
