"""Ranges of the parameters of graph generators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import UnitError, WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.inputs.locations import shown


def number(parameter: str, value: Any, read: Callable[[Any], float] = float) -> float:
    """Return a parameter as a number; a reader of `simplugin.core.units` reads texts with units.

    Raises
    ------
    WorkloadError
        It is none; the message names it.
    """
    if read is float and isinstance(value, str):
        raise WorkloadError(f"{parameter} is {value!r}; give a number")
    try:
        return read(value)
    except UnitError as error:
        raise WorkloadError(f"{parameter}: {error}") from None
    except (OverflowError, TypeError, ValueError):
        raise WorkloadError(f"{parameter} is {value!r}; give a number") from None


def numbers(
    parameter: str, values: Any, read: Callable[[Any], float] = float
) -> NDArray[np.float64]:
    """Return an array of numbers; texts with units are read as by `number`."""
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (OverflowError, TypeError, ValueError):
        pass
    if not isinstance(values, list | tuple | np.ndarray):
        return np.array(number(parameter, values, read))
    return np.array([number(f"{parameter}[{at}]", each, read) for at, each in enumerate(values)])


def texts(parameter: str, values: Any) -> tuple[str, ...]:
    """Return names as a tuple.

    Raises
    ------
    WorkloadError
        They are none; the message names the parameter.
    """
    names = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise WorkloadError(f"{parameter} is {values!r}; give a tuple of names")
    return tuple(map(str, names))  # not numpy's


MOST = 1_000_000
"""Tasks of a generated graph, or graphs of a set."""


def whole(parameter: str, value: object, least: int = 1, most: float = math.inf) -> int:
    """Return a parameter that is a count.

    Raises
    ------
    WorkloadError
        It is none, or out of the range; the message names it.
    """
    number = int(value) if isinstance(value, (int, np.integer)) else least - 1
    if isinstance(value, bool) or not least <= number <= most:
        end = "on" if most == math.inf else f"to {most:,}"
        raise WorkloadError(
            f"{parameter} is {shown(value)}; give a whole number from {least} {end}"
        )
    return number


def at_least(parameter: str, value: float, least: float, *, above: bool = False) -> None:
    """Check a parameter that is a finite number from a least one on, or above it.

    Raises
    ------
    WorkloadError
        It is not; the message names it.
    """
    given: object = value
    fits = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not (fits and least <= value < math.inf) or (above and value == least):
        limit = f"above {least:g}" if above else f"from {least:g} on"
        raise WorkloadError(f"{parameter} is {shown(value)}; give a finite number {limit}")


def part(parameter: str, value: object) -> float:
    """Return a parameter that is a part of something, from 0 to 1.

    Raises
    ------
    WorkloadError
        It is not; the message names it.
    """
    return float(decided(f"{parameter} is", value, "a number from 0 to 1", least=0, most=1))


def one_of(parameter: str, value: object, choices: Iterable[object]) -> None:
    """Check a parameter that is one of a few.

    Raises
    ------
    WorkloadError
        It is not; the message names it and them.
    """
    choices = tuple(choices)
    if isinstance(value, bool) or value not in choices:
        names = ", ".join(repr(each) for each in choices)
        raise WorkloadError(f"{parameter} is {value!r}; give one of {names}")
