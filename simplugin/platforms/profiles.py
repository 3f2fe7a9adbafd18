"""Profiles: dated values of speed, bandwidth, latency and state."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from simplugin.core.errors import PlatformError
from simplugin.platforms.validation import (
    Name,
    Text,
    check_fields,
    choice,
    read_number,
    simgrid_number,
)

HOST_KINDS = frozenset({"HOST_AVAIL", "SPEED"})
LINK_KINDS = frozenset({"LINK_AVAIL", "BANDWIDTH", "LATENCY"})
KINDS = HOST_KINDS | LINK_KINDS
LINES_REMEDY = "write lines of a date in s and a value, in ascending order of date"


def _as_period(what: str, period: float | str) -> float:
    """Return a period [s]; raise unless it is finite."""
    number = read_number(what, period, "s")
    if not math.isfinite(number):
        raise PlatformError(f"{what} is {period!r} s", remedy="give seconds, or -1 for never")
    return number


@dataclass(frozen=True, slots=True)
class Profile:
    """Dated values that hosts and links of the platform can follow.

    Attributes
    ----------
    id : str
        Its name.
    text : str
        Lines of a date [s] and a value each, in SimGrid's notation.
    file : str
        A file that holds the lines instead, relative to the platform file or absolute.
    period : float
        After how long the values start over [s]; 0 or less for never. Not used with `file`,
        which says ``PERIODICITY`` itself.

    Raises
    ------
    PlatformError
        It has neither lines nor a file.
    """

    id: Name
    text: Text = ""
    file: Text = ""
    period: Annotated[float, _as_period] = -1.0

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        if not self.file and not self.text:
            raise PlatformError(
                f"{what} has neither values nor a file",
                remedy="give lines of a date and a value, or a file",
            )

    @classmethod
    def of_points(
        cls, name: str, points: Iterable[tuple[float, float]], period: float = -1.0
    ) -> Profile:
        """Return the profile that takes the given values at the given dates.

        Parameters
        ----------
        name : str
            Its id.
        points : iterable of (date, value)
            Dates [s] in ascending order.
        period : float
            After how long they start over [s]; 0 or less for never.

        Returns
        -------
        Profile
            With one line a point.
        """
        lines = [f"{float(date)!r} {float(value)!r}\n" for date, value in points]
        return cls(name, "\n" + "".join(lines), period=period)


@dataclass(frozen=True, slots=True)
class ProfileUse:
    """The use of a profile by a host or a link.

    Attributes
    ----------
    profile : str
        The profile. SimGrid keeps one follower of each kind for a profile, the first.
    element : str
        The host or link.
    kind : str
        ``HOST_AVAIL`` and ``LINK_AVAIL`` (state: 1 on, 0 off), ``SPEED`` (fraction of the peak),
        ``BANDWIDTH`` [byte/s] or ``LATENCY`` [s].
    """

    profile: Name
    element: Name
    kind: Annotated[str, choice(*KINDS)] = "HOST_AVAIL"

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, f"the use of profile {self.profile!r}")


def profile_problem(text: str, period: float = -1.0) -> str | None:
    """Return the fault for which SimGrid would refuse the lines of a profile.

    Parameters
    ----------
    text : str
        The lines.
    period : float
        The period from the attribute [s].

    Returns
    -------
    str or None
        The fault, with its line within the profile; None if there is none.
    """
    return _read(text, period)[0]


def integration_fault(text: str, period: float = -1.0) -> str:
    """Return why SimGrid cannot integrate a profile of speeds (cpu/optim:TI); empty if it can."""
    problem, _, points, turn = _read(text, period)
    if problem is None and not all(value for _, value in points):
        return "stops its host"
    return "" if problem is not None or math.isfinite(turn) else "ends"


def _read(text: str, period: float) -> tuple[str | None, bool, list[tuple[float, float]], float]:
    """Return a fault, whether it is random, dates and values of a turn, and how long it takes."""
    stochastic, random, pause = False, False, None
    points: list[tuple[float, float]] = []
    last = 0.0
    for number, line in enumerate(text.replace("\r", "\n").split("\n"), start=1):
        words = line.split()
        if not words or words[0][0] in "#%":
            continue
        if words[0] in {"PERIODICITY", "LOOPAFTER"} and len(words) > 1 and _is_number(words[1]):
            if words[0] == "PERIODICITY":
                period = float(words[1])
            else:
                pause = float(words[1])
            continue
        if words in (["STOCHASTIC"], ["STOCHASTIC", "LOOP"]):
            stochastic = random = True
            continue
        numbers = _law_numbers(words, stochastic=stochastic)
        if numbers is None:
            # Not quoted: a hostile platform may name any file as its profile.
            return f"line {number} is not a date and a value", random, [], 0.0
        random |= not _LAWS.keys().isdisjoint({*words} - {"DET"})
        if not stochastic:
            if numbers[0] < last:
                fault = f"line {number}: date {numbers[0]:g} comes before {last:g}"
                return fault, random, [], 0.0
            last = numbers[0]
        points.append((numbers[0], numbers[1]))
    fault = ""
    if stochastic and period > 0:
        fault = "a stochastic profile cannot have a period: use LOOPAFTER"
    elif period > 0 and pause:
        fault = "it has both a period and LOOPAFTER"
    elif 0 < period < last or (pause or 0.0) < 0:
        fault = f"it starts over after {period or pause:g} s, before its last date"
    turn = math.inf if pause is None else last + pause
    return fault or None, random, points, period if period > 0 else turn


_LAWS = {"DET": 1, "EXP": 1, "EXPONENTIAL": 1, "UNIF": 2, "UNIFORM": 2} | dict.fromkeys(
    ["NORM", "NORMAL", "GAUSS", "GAUSSIAN"], 2
)


def _law_numbers(words: list[str], *, stochastic: bool) -> list[float] | None:
    """Return the numbers of a line, or None where it is no date and value."""
    numbers: list[float] = []
    rest = words
    for _ in ("date", "value"):
        law = _LAWS.get(rest[0]) if rest else None
        if law is None and stochastic:
            return None
        taken = rest[1 : 1 + law] if law else rest[:1]
        if len(taken) < (law or 1) or not all(map(_is_number, taken)):
            return None
        numbers += map(float, taken)
        rest = rest[(1 + law if law else 1) :]
    return numbers


def _is_number(word: str) -> bool:
    """Return True if a word is a finite number to SimGrid."""
    return math.isfinite(simgrid_number(word))


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
        Period from the attribute [s]; 0 or less for none, or that of ``PERIODICITY``.

    Returns
    -------
    list of (date, value)
        Dates [s] from 0 on, in order, before `until`.

    Raises
    ------
    PlatformError
        SimGrid would refuse the lines, they are random, or there are too many values.
    """
    problem, random, points, length = _read(text, period)
    if problem is not None:
        raise PlatformError(problem, remedy="write lines of a date and a value")
    if random:
        remedy = "write dates and values"
        raise PlatformError("it is random, so that its dates cannot be foretold", remedy=remedy)
    if not points:
        return []
    if length <= 0:
        remedy = "give its values dates, or no loop"
        raise PlatformError("it starts over at once, without end", remedy=remedy)
    found: list[tuple[float, float]] = []
    for turn in itertools.count():
        start = turn * length if turn else 0.0
        if turn and not start < until:
            break
        found += [(start + date, value) for date, value in points if start + date < until]
        if len(found) > MOST_VALUES:
            raise PlatformError(
                f"it changes more than {MOST_VALUES} times before {until:g} s",
                remedy="let it start over later, or end earlier",
            )
    return found
