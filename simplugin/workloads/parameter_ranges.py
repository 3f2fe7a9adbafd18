"""Ranges of the parameters of graph generators."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simplugin.errors import WorkloadError


def whole(parameter: str, value: object, least: int = 1) -> int:
    """Return a parameter that is a count.

    Raises
    ------
    WorkloadError
        It is none, or below the least; the message names it.
    """
    number = int(value) if isinstance(value, (int, np.integer)) else least - 1
    if isinstance(value, bool) or number < least:
        raise WorkloadError(f"{parameter} is {value!r}; give a whole number from {least} on")
    return number


def part(parameter: str, value: object) -> float:
    """Return a parameter that is a part of something, from 0 to 1.

    Raises
    ------
    WorkloadError
        It is not; the message names it.
    """
    number = float(value) if isinstance(value, (int, float, np.integer, np.floating)) else -1.0
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise WorkloadError(f"{parameter} is {value!r}; give a number from 0 to 1")
    return number


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
