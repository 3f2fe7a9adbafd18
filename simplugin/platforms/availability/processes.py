"""Random processes of failures, churn and load, as dated values."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Protocol

import numpy as np

from simplugin.core.elementary import exp, expm1, power
from simplugin.core.errors import PlatformError, UnitError
from simplugin.platforms.laws import Law, read_duration, split_call
from simplugin.platforms.profiles import MOST_VALUES
from simplugin.platforms.validation import require_choice

Points = list[tuple[float, float]]

# Dates are whole milliseconds, far above the date resolution of SimGrid (1e-9 s by default) also
# after years, and short in a file. So nothing lasts less, and laws must not be as fast as that.
_DIGITS = 3
RESOLUTION = 10.0**-_DIGITS
_SHORTEST_MEAN = 100 * RESOLUTION
# An assumption: less than a millionth of its capacity left is as good as failed, and
# activities there would end at dates beyond those that floats distinguish.
LEAST_LEVEL = 1e-6


class Process(Protocol):
    """A source of dated values for a profile."""

    def points(self, generator: np.random.Generator, until: float) -> Points:
        """Return dates [s] in ascending order, and the value that holds from each on."""


@dataclass(frozen=True, slots=True)
class Outages:
    """Alternation of being up and being down: an alternating renewal process.

    Durations are independent. In the long run the fraction `availability` of the time is up.
    An outage that begins before the end of the period is returned with its end.

    Attributes
    ----------
    up, down : Law
        Durations of being up and of being down [s].
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
        Time that it stays [s].
    arrival : Law, optional
        Date at which it first joins [s]; None for 0.
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
        """Return the dates at which it leaves (0) and joins (1); it is present before.

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
    """Capacity left by other load: a level for a while, then another.

    Levels and durations are independent of each other and among themselves.

    Attributes
    ----------
    level : Law
        Fraction of the capacity that is left; of latencies, the factor by which they grow.
        Draws below 1e-6 count as 1e-6, those above `most` as `most`.
    duration : Law
        Duration of each level [s].
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
    """Raise if whole milliseconds would distort durations."""
    if law.mean < _SHORTEST_MEAN:
        raise PlatformError(
            f"the mean of {what} is {law.mean:g} s, but dates are whole milliseconds",
            remedy=f"give a law with a mean of at least {_SHORTEST_MEAN:g} s",
        )


def _require_few(points: Points, until: float) -> None:
    """Raise if a profile is longer than can be listed."""
    if len(points) > MOST_VALUES:
        raise PlatformError(
            f"there are more than {MOST_VALUES:,} changes before {until:g} s",
            remedy="give longer durations, or an earlier end",
        )


HOUR = 3600.0

_TABLE = resources.files("simplugin.platforms.availability") / "failure_trace_archive.toml"
_CONTENT: dict[str, dict[str, Any]] = tomllib.loads(_TABLE.read_text("utf-8"))
SYSTEMS: dict[str, str] = {system: fits.pop("hosts") for system, fits in _CONTENT.items()}
ARCHIVE: dict[str, dict[str, list[list[float]]]] = _CONTENT
"""Of each system and law, the parameters of times up and of times down [h]."""

SCHROEDER_GIBSON = "schroeder-gibson06"


def schroeder_gibson(
    mean_up: float,
    shape: float = 0.7,
    mean_down: float = 355 * 60.0,
    median_down: float = 54 * 60.0,
    start: str = "stationary",
) -> Outages:
    """Return failures as Schroeder and Gibson found them at Los Alamos [1]_.

    Times between failures by a Weibull law with decreasing hazard, of shape 0.7 to 0.8; repair
    times by a lognormal one. Failure rates differ widely from system to system (20 to 1000 a
    year), so there is no default for how long a host is up.

    Parameters
    ----------
    mean_up : float
        Mean time that a host is up [s].
    shape : float
        Of the Weibull law; 0.7 is the lower end.
    mean_down, median_down : float
        Of repairs [s]; 355 and 54 minutes over all causes of failure. The lognormal law is the
        one with both.
    start : str
        See `Outages`.

    Returns
    -------
    Outages
        Times between failures are taken for times up.

    Raises
    ------
    PlatformError
        A number is out of its range, or the mean repair is not longer than the median one.

    Notes
    -----
    The families of laws and the rates are those of the paper's abstract, which was read; shape
    and repair times are given from knowledge of the paper. 355 min is also the mean of
    ``lanl05`` (5.92 h), which has the same data.

    References
    ----------
    .. [1] Schroeder, B., Gibson, G. A. (2006). A large-scale study of failures in
       high-performance computing systems. DSN 2006, pp. 249-258.
    """
    if not 0 < mean_up < math.inf:
        raise PlatformError(
            f"the mean time up of {SCHROEDER_GIBSON} is {mean_up:g} s", remedy="give a positive one"
        )
    if not 0 < shape < math.inf or not 0 < median_down < mean_down < math.inf:
        raise PlatformError(
            f"shape {shape!r}, mean repair {mean_down!r} s, median repair {median_down!r} s",
            remedy="give a shape above 0, and a mean repair longer than the median one",
        )
    up = Law("weibull", (shape, mean_up / Law("weibull", (shape, 1.0)).mean))
    # Of a lognormal law, mean / median = sqrt(1 + variation**2).
    variation = math.sqrt(power(mean_down / median_down, 2) - 1)
    return Outages(up, Law("lognormal", (mean_down, variation)), start)


def model_names() -> tuple[str, ...]:
    """Return the names that `model_named` knows."""
    fits = [f"{system}-{law}" for system, laws in ARCHIVE.items() for law in laws]
    return (*fits, SCHROEDER_GIBSON)


def model_named(text: str, start: str = "stationary") -> Outages:
    """Return a published model, such as a fit of the Failure Trace Archive [1]_.

    In a fit, hosts of a system are taken together: as if all followed one law. The exponential and
    gamma fits reproduce the measured means; Weibull and lognormal ones fit durations of all
    lengths better, at other means: with ``g5k06`` hosts are up 81 % of the time by the
    first two, 93 % by Weibull.

    Parameters
    ----------
    text : str
        ``<system>-<law>``, a system of `ARCHIVE` and one of its laws (``exponential``,
        ``weibull``, ``lognormal``, ``gamma``), for instance ``g5k06-weibull``; or
        ``schroeder-gibson06(30d)`` with the mean time up and its unit, see `schroeder_gibson`.
    start : str
        See `Outages`.

    Returns
    -------
    Outages
        In s; the source has h.

    Raises
    ------
    PlatformError
        There is no such model, or its parameter is wrong.

    Notes
    -----
    The numbers were taken from two copies of the paper's table in the simulator OpenDC that
    agree (``opendc-compute-failure``, one Kotlin file a system, and ``FailurePrefabSpec``,
    which says hours), not from the paper. Means of exponential and gamma fits are the same but
    for rounding, and 5.92 h is what [2]_ has for the mean repair at Los Alamos, 355 min.

    References
    ----------
    .. [1] Javadi, B., Kondo, D., Iosup, A., Epema, D. (2013). The Failure Trace Archive:
       Enabling the comparison of failure measurements and models of distributed systems.
       Journal of Parallel and Distributed Computing 73(8).
    .. [2] Schroeder, B., Gibson, G. A. (2006). A large-scale study of failures in
       high-performance computing systems. DSN 2006.
    """
    name, arguments = split_call(text)
    if name == SCHROEDER_GIBSON:
        if len(arguments) != 1:
            remedy = f"give the mean time up: {SCHROEDER_GIBSON}(30d)"
            raise PlatformError(f"model {text!r} has {len(arguments)} parameters", remedy=remedy)
        try:
            mean_up = read_duration(arguments[0])
        except UnitError as error:
            raise PlatformError(
                f"model {text!r}: {error}", remedy="give the mean time up"
            ) from None
        return schroeder_gibson(mean_up, start=start)
    system, _, law = name.rpartition("-")
    if arguments or law not in ARCHIVE.get(system, {}):
        raise PlatformError(
            f"there is no model {text!r}",
            remedy=f"choose among {', '.join(model_names())}; the last with the mean time up",
        )
    up, down = (_law(law, fit) for fit in ARCHIVE[system][law])
    return Outages(up, down, start)


def _law(name: str, fit: Sequence[float]) -> Law:
    """Return the law of a fit in hours, in s."""
    if name == "weibull":
        return Law(name, (fit[0], fit[1] * HOUR))
    if name == "gamma":
        return Law(name, (fit[0] * fit[1] * HOUR, power(fit[0], -0.5)))
    if name == "lognormal":
        location, spread = fit
        variation = math.sqrt(expm1(power(spread, 2)))
        return Law(name, (exp(location + power(spread, 2) / 2) * HOUR, variation))
    return Law(name, (fit[0] * HOUR,))
