"""Ranges of numbers that a sweep goes through, each number made when it is asked for."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from simplugin.inputs.messages import suggestion

KEYS = ("from", "to", "step", "count", "scale")
_LARGEST = "1.79e308"
_SCALES = ("linear", "log")
# Of a step: what a last value may lie beyond the end and still be it.
_ROUNDING = Fraction(1, 10**9)
_LEAST_RATIO = 1e-300


@dataclass(frozen=True, slots=True)
class Steps:
    """Numbers at equal distances, without drift: each is computed exactly, then rounded once.

    Attributes
    ----------
    first, step : Fraction
        The first number, and the distance to the next.
    last : Fraction
        The last one, if rounding does not hide the difference.
    count : int
        How many.
    """

    first: Fraction
    step: Fraction
    last: Fraction
    count: int

    def __len__(self) -> int:
        """Return how many."""
        return self.count

    def __getitem__(self, position: int) -> float:
        """Return one of the numbers."""
        if not 0 <= position < self.count:
            raise IndexError(position)
        value = self.first + position * self.step
        if position and abs(value - self.last) <= _ROUNDING * abs(self.step):
            value = self.last
        return float(value)


@dataclass(frozen=True, slots=True)
class Powers:
    """Numbers at equal ratios.

    Attributes
    ----------
    first, last : float
        Both exact.
    count : int
        How many.
    whole : bool
        True if all of them are whole, and thus integers.
    """

    first: float
    last: float
    count: int
    whole: bool

    def __len__(self) -> int:
        """Return how many."""
        return self.count

    def __getitem__(self, position: int) -> float | int:
        """Return one of the numbers."""
        if not 0 <= position < self.count:
            raise IndexError(position)
        value = self.last if position == self.count - 1 else self._between(position)
        return round(value) if self.whole else float(value)

    def _between(self, position: int) -> float:
        """Return a number before the last."""
        if position == 0:
            return self.first
        share = position / (self.count - 1)
        ratio = self.last / self.first
        if _LEAST_RATIO < ratio < 1 / _LEAST_RATIO:
            return float(self.first * ratio**share)
        # The ratio itself is beyond floats, or has lost digits.
        return float(self.first ** (1 - share) * self.last**share)


class RangeError(ValueError):
    """A range that makes no sense.

    Parameters
    ----------
    message, remedy : str
        What is wrong, and the way out.
    key : str, optional
        The key of the range concerned.
    """

    def __init__(self, message: str, remedy: str, key: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.key = key


def is_range(table: Mapping[str, Any]) -> bool:
    """Return True if a table describes a range, rather than more keys to sweep."""
    return "from" in table or "to" in table


def range_of(table: Mapping[str, Any]) -> range | Steps | Powers:
    """Return the numbers that a table describes.

    Parameters
    ----------
    table : mapping
        ``from`` and ``to``, which is included; ``step``, by default 1 between integers; or
        ``count`` of numbers with ``scale`` "linear" or "log". Numbers are integers if those of
        the table are, and with `count` if they all come out whole.

    Raises
    ------
    RangeError
        A key is unknown or missing, or there are no such numbers.
    """
    for key in table:
        if key not in KEYS:
            raise RangeError(f"unknown key {key!r}", suggestion(key, KEYS, "a range has"), key)
    for key in ("from", "to"):
        if key not in table:
            raise RangeError(f"the range lacks its {key!r}", f"write {{ {key} = ... }}")
    for key in ("from", "to", "step"):
        _require_number(table, key)
    numbers = _counted(table) if "count" in table else _stepped(table)
    try:
        len(numbers)
    except OverflowError:
        raise RangeError(
            "a range of more numbers than can be counted", "take a larger step"
        ) from None
    return numbers


def _require_number(table: Mapping[str, Any], key: str) -> None:
    """Refuse what is no finite number."""
    value = table.get(key, 0)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and is_too_large(value):
        raise RangeError(f"{key} is beyond all floats", f"give a number up to {_LARGEST}", key)
    if not number or not math.isfinite(value):
        raise RangeError(f"{key} is {value!r}", "give a number", key)


def is_too_large(value: Any) -> bool:
    """Return True if a value is an integer that no float is near."""
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _stepped(table: Mapping[str, Any]) -> range | Steps:
    """Return the numbers of a range with a step."""
    if "scale" in table:
        raise RangeError("scale goes with count", "give count instead of step", "scale")
    first, last = table["from"], table["to"]
    whole = all(isinstance(each, int) for each in (first, last, table.get("step", 1)))
    if "step" not in table and not whole:
        raise RangeError("a range of decimal numbers needs a step", "give step, or count")
    step = table.get("step", 1)
    if step == 0 or (last - first) * step < 0:
        remedy = "give another step" if "step" in table else "exchange from and to, or step = -1"
        raise RangeError(f"no steps of {step!r} lead from {first!r} to {last!r}", remedy)
    if whole:
        return range(first, last + (1 if step > 0 else -1), step)
    start, distance, end = map(_fraction, (first, step, last))
    count = math.floor((end - start) / distance + _ROUNDING) + 1
    return Steps(start, distance, end, count)


def _counted(table: Mapping[str, Any]) -> range | Steps | Powers:
    """Return as many numbers as a range says."""
    first, last, count = table["from"], table["to"], table["count"]
    scale = table.get("scale", "linear")
    if "step" in table:
        raise RangeError("step and count exclude each other", "remove one of the two", "step")
    if scale not in _SCALES:
        raise RangeError(f"scale is {scale!r}", suggestion(str(scale), _SCALES, "give"), "scale")
    if not isinstance(count, int) or isinstance(count, bool) or count < 2 or first == last:
        remedy = "give an integer from 2 on, and another to than from; or write a list"
        raise RangeError(f"count is {count!r}, from {first!r} to {last!r}", remedy, "count")
    if scale == "log":
        if first <= 0 or last <= 0:
            remedy = 'give positive ones, or scale = "linear"'
            raise RangeError(f"a logarithmic range from {first!r} to {last!r}", remedy)
        return Powers(first, last, count, _whole_powers(first, last, count))
    step = (_fraction(last) - _fraction(first)) / (count - 1)
    integers = isinstance(first, int) and isinstance(last, int)
    if integers and step.denominator == 1:
        return range(first, last + (1 if step > 0 else -1), int(step))
    return Steps(_fraction(first), step, _fraction(last), count)


def _whole_powers(first: float, last: float, count: int) -> bool:
    """Return True if all numbers of a logarithmic range are integers."""
    if not (isinstance(first, int) and isinstance(last, int)):
        return False
    gaps = count - 1
    # A ratio that is rational has at most so many powers between two integers.
    if gaps > max(first, last).bit_length():
        return False
    second = round(first * (last / first) ** (1 / gaps))
    # Of rational numbers at equal ratios between two integers, all are integers.
    return bool(second**gaps == first ** (gaps - 1) * last)


def _fraction(value: float) -> Fraction:
    """Return the number that was written, not the binary one next to it."""
    return Fraction(repr(value))
