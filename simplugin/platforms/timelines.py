"""What the lines of a profile come to: dates and values, loops unrolled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError
from simplugin.platforms.profiles import profile_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

# A profile that changes its value more often is not one to list.
MOST_VALUES = 100_000


def timeline(text: str, until: float, period: float = -1.0) -> list[tuple[float, float]]:
    """Return when a profile takes which value.

    As SimGrid does it: with a period the lines start over that long after they started, with
    ``LOOPAFTER`` that long after the last of them, each time with the first date's delay.

    Parameters
    ----------
    text : str
        The lines of a profile, see `Profile`.
    until : float
        Before when [s].
    period : float
        Given beside them [s]; 0 or less for none, or that of ``PERIODICITY``.

    Returns
    -------
    list of (date, value)
        Dates [s] from 0 on, in order, before `until`.

    Raises
    ------
    PlatformError
        SimGrid would refuse the lines, they are random, or there are too many values.
    """
    problem = profile_problem(text, period)
    if problem is not None:
        raise PlatformError(problem, remedy="write lines of a date and a value")
    points, length = _pattern(text, period)
    if not points:
        return []
    found: list[tuple[float, float]] = []
    for start in _starts(length, until):
        found += [(start + date, value) for date, value in points if start + date < until]
        if len(found) > MOST_VALUES:
            raise PlatformError(
                f"it changes more than {MOST_VALUES} times before {until:g} s",
                remedy="let it start over later, or end earlier",
            )
    return found


def _pattern(text: str, period: float) -> tuple[list[tuple[float, float]], float]:
    """Return the dates and values of one turn, and how long it takes; infinite if there is one."""
    points: list[tuple[float, float]] = []
    pause = -1.0
    for line in text.replace("\r", "\n").split("\n"):
        words = line.split()
        if not words or words[0][0] in "#%":
            continue
        if words[0] == "PERIODICITY":
            period = float(words[1])
        elif words[0] == "LOOPAFTER":
            pause = float(words[1])
        else:
            numbers = [word for word in words if word != "DET"]
            if not all(number[0] in "+-.0123456789" for number in numbers):
                raise PlatformError(
                    "it is random, so that its dates cannot be foretold",
                    remedy="write dates and values",
                )
            points.append((float(numbers[0]), float(numbers[1])))
    last = points[-1][0] if points else 0.0
    if period > 0:
        return points, period
    return points, last + pause if pause >= 0 else math.inf


def _starts(length: float, until: float) -> Iterator[float]:
    """Yield when turns start."""
    if length <= 0:
        raise PlatformError(
            "it starts over at once, without end", remedy="give its values dates, or no loop"
        )
    turn = 0
    yield 0.0
    while math.isfinite(length) and (turn + 1) * length < until:
        turn += 1
        yield turn * length
