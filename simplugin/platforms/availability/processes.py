"""How hosts and links fail and come back, join and leave, and bear other load: dated values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simplugin.errors import PlatformError
from simplugin.platforms.laws import Law
from simplugin.platforms.profiles import MOST_VALUES
from simplugin.platforms.validation import require_choice

Points = list[tuple[float, float]]

# Dates are whole milliseconds, far above the date resolution of SimGrid (1e-9 s by default) also
# after years, and short in a file. So nothing lasts less, and laws must not be as fast as that.
_DIGITS = 3
RESOLUTION = 10.0**-_DIGITS
_SHORTEST_MEAN = 100 * RESOLUTION
# An assumption: what has less than a millionth of its capacity left is as good as failed, and
# activities there would end at dates beyond those that floats tell apart.
LEAST_LEVEL = 1e-6


class Process(Protocol):
    """What gives dated values for a profile."""

    def points(self, generator: np.random.Generator, until: float) -> Points:
        """Return dates [s] in ascending order, and the value that holds from each on."""


@dataclass(frozen=True, slots=True)
class Outages:
    """Alternation of being up and being down: an alternating renewal process.

    Durations are independent. In the long run the fraction `availability` of the time is up.
    An outage that begins before the end of what is asked for is told with its end.

    Attributes
    ----------
    up, down : Law
        How long it is up at a time, and how long down [s].
    start : str
        ``up``: it comes up at date 0. ``stationary``: date 0 is a moment like any other, so
        that the probability of being up is the same at all dates.

    Raises
    ------
    PlatformError
        There is no such start, or a law has a mean below 0.1 s.
    """

    up: Law
    down: Law
    start: str = "stationary"

    def __post_init__(self) -> None:
        """Check the fields."""
        require_choice("the start of outages", self.start, ("up", "stationary"))
        _require_slow("being up", self.up)
        _require_slow("being down", self.down)

    @property
    def availability(self) -> float:
        """Fraction of the time that is up, in the long run."""
        return self.up.mean / (self.up.mean + self.down.mean)

    def points(self, generator: np.random.Generator, until: float) -> Points:
        """Return when it goes off (0) and on (1); it is on before.

        Parameters
        ----------
        generator : numpy.random.Generator
            Source of the draws. A later `until` adds dates and changes none.
        until : float
            No outage begins from then on [s].

        Returns
        -------
        list of (date, 0.0 or 1.0)
            Dates [s] in ascending order.
        """
        stationary = self.start == "stationary"
        on = not stationary or bool(generator.random() < self.availability)
        points = [] if on else [(0.0, 0.0)]
        law = self.up if on else self.down
        draw = law.draw_residual if stationary else law.draw
        date = _later(0.0, float(draw(generator, 1)[0]))
        while math.isfinite(date) and (date < until or not on):
            on = not on
            points.append((date, float(on)))
            _require_few(points, until)
            date = _after(date, self.up if on else self.down, generator)
        return points


@dataclass(frozen=True, slots=True)
class Churn:
    """Joining and leaving: for once and for good, or again and again.

    Attributes
    ----------
    stay : Law
        How long it stays [s].
    arrival : Law, optional
        When it first joins [s]; None: it is there at date 0.
    away : Law, optional
        After how long it joins again [s]; None: it has left for good.

    Raises
    ------
    PlatformError
        A law has a mean below 0.1 s.
    """

    stay: Law
    arrival: Law | None = None
    away: Law | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        for what, law in (("stay", self.stay), ("arrival", self.arrival), ("away", self.away)):
            if law is not None:
                _require_slow(f"{what} of churn", law)

    def points(self, generator: np.random.Generator, until: float) -> Points:
        """Return when it leaves (0) and joins (1); it is there before.

        Parameters
        ----------
        generator : numpy.random.Generator
            Source of the draws. A later `until` adds dates and changes none.
        until : float
            Nothing joins or leaves from then on [s].

        Returns
        -------
        list of (date, 0.0 or 1.0)
            Dates [s] in ascending order.
        """
        on = self.arrival is None
        points = [] if on else [(0.0, 0.0)]
        law: Law | None = self.arrival or self.stay
        date = 0.0
        while law is not None:
            date = _after(date, law, generator)
            if date >= until:
                break
            on = not on
            points.append((date, float(on)))
            _require_few(points, until)
            law = self.stay if on else self.away
        return points


@dataclass(frozen=True, slots=True)
class Levels:
    """What load of others leaves: a level for a while, then another.

    Levels and durations are independent of each other and among themselves.

    Attributes
    ----------
    level : Law
        Fraction of the capacity that is left; of latencies, the factor by which they grow.
        Draws below 1e-6 count as 1e-6, those above `most` as `most`.
    duration : Law
        How long each level holds [s].
    most : float
        1 for speeds and bandwidths; infinite for latencies.

    Raises
    ------
    PlatformError
        All levels are above `most`, a level may be so although its law has bounds, or the
        durations have a mean below 0.1 s.
    """

    level: Law
    duration: Law
    most: float = 1.0

    def __post_init__(self) -> None:
        """Check the fields."""
        _require_slow("a level", self.duration)
        law = self.level
        bounded = law.name in {"constant", "uniform", "log-uniform"}
        if max(law.parameters) > self.most if bounded else law.mean > self.most:
            raise PlatformError(
                f"levels by {law} are above {self.most:g}",
                remedy=f"give fractions of the capacity, up to {self.most:g}",
            )

    def points(self, generator: np.random.Generator, until: float) -> Points:
        """Return which level begins when; the first at date 0, the last for ever.

        Parameters
        ----------
        generator : numpy.random.Generator
            Source of the draws. A later `until` adds dates and changes none.
        until : float
            No level begins from then on [s].

        Returns
        -------
        list of (date, level)
            Dates [s] in ascending order.
        """
        points: Points = []
        date = 0.0
        while date < until:
            drawn = float(self.level.draw(generator, 1)[0])
            points.append((date, min(max(drawn, LEAST_LEVEL), self.most)))
            _require_few(points, until)
            date = _after(date, self.duration, generator)
        return points


def _after(date: float, law: Law, generator: np.random.Generator) -> float:
    """Return the date at which what begins at a date ends [s]."""
    return _later(date, float(law.draw(generator, 1)[0]))


def _later(date: float, duration: float) -> float:
    """Return the date after a duration, in whole milliseconds and at least one later [s]."""
    return round(date + max(duration, RESOLUTION), _DIGITS)


def _require_slow(what: str, law: Law) -> None:
    """Refuse durations that whole milliseconds would distort."""
    if law.mean < _SHORTEST_MEAN:
        raise PlatformError(
            f"the mean of {what} is {law.mean:g} s, but dates are whole milliseconds",
            remedy=f"give a law with a mean of at least {_SHORTEST_MEAN:g} s",
        )


def _require_few(points: Points, until: float) -> None:
    """Refuse profiles longer than can be listed."""
    if len(points) > MOST_VALUES:
        raise PlatformError(
            f"there are more than {MOST_VALUES:,} changes before {until:g} s",
            remedy="give longer durations, or an earlier end",
        )
