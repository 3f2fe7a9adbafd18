"""Ranges of numbers: those of a sweep, computed on access, and those of parameters."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.sections import Section

# Fraction of a step by which the last value may exceed the end.
_ROUNDING = Fraction(1, 10**9)
_LEAST_RATIO = 1e-300
# Of the values of parameters.
_DIGITS = 9
_OF_RANGES = {"low", "high", "scale", "whole", "unit"}


@dataclass(frozen=True, slots=True)
class LinearRange:
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
class LogRange:
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


def is_too_large(value: Any) -> bool:
    """Return True if a value is an integer that no float is near."""
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _held(value: float) -> float:
    """Raise ValueError if no float is near."""
    if is_too_large(value):
        raise ValueError("give a number up to 1.79e308")
    return value


_Number = Annotated[int | Annotated[float, Field(allow_inf_nan=False)], AfterValidator(_held)]


def is_range(table: Mapping[str, Any]) -> bool:
    """Return True if a table describes a range, rather than more keys to sweep."""
    return "from" in table or "to" in table


class Range(Section):
    """A range of numbers that a key of ``[sweep]`` goes through.

    Numbers are integers if those of the table are, and with `count` if all of them are whole.

    Attributes
    ----------
    from_, to : int or float
        The first number, and the last, which is included.
    step : int or float, optional
        From one to the next; 1 between integers without.
    count : int, optional
        Instead of a step, how many numbers there are.
    scale : {"linear", "log"}
        With a count: equal distances, or equal ratios.
    """

    from_: Annotated[_Number, Field(alias="from")]
    to: _Number
    step: _Number | None = None
    count: Annotated[int, Field(ge=2)] | None = None
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _counted(self) -> Range:
        """Raise unless there are such numbers, not too many to be counted."""
        if self.count is None and "scale" in self.model_fields_set:
            raise InvalidValueError("{key} goes with count", "give count, not step", ("scale",))
        if self.count is not None and self.step is not None:
            raise InvalidValueError("{key} excludes count", "remove one of the two", ("step",))
        try:
            len(self.numbers)
        except OverflowError:
            message = "{key} has more numbers than can be counted"
            raise InvalidValueError(message, "take a larger step") from None
        return self

    @cached_property
    def numbers(self) -> range | LinearRange | LogRange:
        """The numbers, computed on access."""
        first, last = self.from_, self.to
        if self.count is None:
            return self._stepped()
        if first == last:
            remedy = "give another to than from; or write a list"
            message = f"{{key}} is {self.count}, from {first!r} to {last!r}"
            raise InvalidValueError(message, remedy, ("count",))
        if self.scale == "log":
            if first <= 0 or last <= 0:
                message = f"{{key}}: a logarithmic range from {first!r} to {last!r}"
                raise InvalidValueError(message, 'give positive ones, or scale = "linear"')
            return LogRange(first, last, self.count, _whole_powers(first, last, self.count))
        step = (_fraction(last) - _fraction(first)) / (self.count - 1)
        if isinstance(first, int) and isinstance(last, int) and step.denominator == 1:
            return range(first, last + (1 if step > 0 else -1), int(step))
        return LinearRange(_fraction(first), step, _fraction(last), self.count)

    def _stepped(self) -> range | LinearRange:
        """Return the numbers of a range with a step."""
        first, last = self.from_, self.to
        step = 1 if self.step is None else self.step
        whole = isinstance(first, int) and isinstance(last, int) and isinstance(step, int)
        if self.step is None and not whole:
            message = "{key}: a range of decimal numbers needs a step"
            raise InvalidValueError(message, "give step, or count")
        if step == 0 or (last - first) * step < 0:
            message = f"{{key}}: no steps of {step!r} lead from {first!r} to {last!r}"
            raise InvalidValueError(message, "give another step, or exchange from and to")
        if isinstance(first, int) and isinstance(last, int) and isinstance(step, int):
            return range(first, last + (1 if step > 0 else -1), step)
        start, distance, end = map(_fraction, (first, step, last))
        count = math.floor((end - start) / distance + _ROUNDING) + 1
        return LinearRange(start, distance, end, count)


class ParameterTable(Section):
    """The range of a parameter.

    Attributes
    ----------
    low, high : float
        The ends.
    scale : {"linear", "log"}
        Scale of the search.
    whole : bool
        True for whole numbers.
    unit : str
        Unit of the ends; values are then texts such as ``"2.5Gf"``.
    choices : list
        Instead of a range: the values.
    """

    low: float | None = None
    high: float | None = None
    scale: Literal["linear", "log"] = "linear"
    whole: bool = False
    unit: str = ""
    choices: Annotated[list[Any], Field(min_length=2)] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> ParameterTable:
        """Raise unless there is a range or a list of choices."""
        if self.choices is not None:
            if self.model_fields_set & _OF_RANGES:
                raise InvalidValueError("{key} has choices and a range", "remove one of the two")
            for at, each in enumerate(self.choices):
                if each in self.choices[:at]:
                    message = f"{{key}} has {each!r} twice"
                    raise InvalidValueError(message, "remove one of the two", ("choices",))
            return self
        if self.low is None or self.high is None or not -math.inf < self.low < self.high < math.inf:
            message = f"{{key}} goes from {self.low!r} to {self.high!r}"
            raise InvalidValueError(message, "give low < high, or choices")
        if self.scale == "log" and self.low <= 0:
            message = f"{{key}}: a logarithmic range from {self.low!r}"
            raise InvalidValueError(message, 'give a positive low, or scale = "linear"')
        if self.whole and math.ceil(self.low) > math.floor(self.high):
            message = f"{{key}}: there is no whole number from {self.low!r} to {self.high!r}"
            raise InvalidValueError(message, "give a wider range")
        return self

    @property
    def margin(self) -> float:
        """Distance beyond the ends at which numbers are rounded to them."""
        return 0.0

    @property
    def is_continuous(self) -> bool:
        """True for a range of numbers that are not whole."""
        return self.choices is None and not self.whole

    def number(self, share: float) -> float:
        """Return the number, or the position of a choice, at a share of the range in [0, 1]."""
        share = min(max(share, 0.0), 1.0)
        if self.choices is not None:
            return float(min(int(share * len(self.choices)), len(self.choices) - 1))
        assert self.low is not None
        assert self.high is not None
        low, high = self.low - self.margin, self.high + self.margin
        is_log = self.scale == "log"
        found = low * (high / low) ** share if is_log else low + share * (high - low)
        if self.whole:
            return float(min(max(round(found), math.ceil(self.low)), math.floor(self.high)))
        return float(f"{found:.{_DIGITS}g}")

    def share(self, number: float) -> float:
        """Return the share of the range at which a number lies, the inverse of `number`."""
        assert self.low is not None
        assert self.high is not None
        if self.scale == "log":
            return math.log(number / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)

    def share_of(self, value: Any) -> float:
        """Return a share at which the key has a value; raise ValueError if it is out of range."""
        number = self.number_of(value)
        if self.choices is not None:
            return (number + 0.5) / len(self.choices)
        is_same_unit = (isinstance(value, str) and value.endswith(self.unit)) or not self.unit
        if not is_same_unit or not self.number(0.0) <= number <= self.number(1.0):
            raise ValueError(value)
        return self.share(number)

    def value(self, share: float) -> Any:
        """Return the value of the key at a share of the range."""
        number = self.number(share)
        if self.choices is not None:
            return self.choices[int(number)]
        plain: float | int = int(number) if self.whole else number
        return f"{plain:.{_DIGITS}g}{self.unit}" if self.unit else plain

    def number_of(self, value: Any) -> float:
        """Return the number in the table's unit, or the position of a choice, of a value."""
        if self.choices is not None:
            return float(self.choices.index(value))
        return float(str(value).removesuffix(self.unit))


def _whole_powers(first: float, last: float, count: int) -> bool:
    """Return True if all numbers of a logarithmic range are integers."""
    if not (isinstance(first, int) and isinstance(last, int)):
        return False
    gaps = count - 1
    # Maximum number of powers of a rational ratio between two integers.
    if gaps > max(first, last).bit_length():
        return False
    second = round(first * (last / first) ** (1 / gaps))
    # Of rational numbers at equal ratios between two integers, all are integers.
    return bool(second**gaps == first ** (gaps - 1) * last)


def _fraction(value: float) -> Fraction:
    """Return the number that was written, not the binary one next to it."""
    return Fraction(repr(value))
