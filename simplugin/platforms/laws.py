"""Laws of chance for speeds, bandwidths and durations, also as text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp, log, log1p, power
from simplugin.core.errors import PlatformError, UnitError
from simplugin.core.units import has_unit, parse_time
from simplugin.platforms.validation import require_choice

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

# Parameters of each law, in the order in which they are given.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "constant": ("value",),
    "uniform": ("low", "high"),
    "log-uniform": ("low", "high"),
    "exponential": ("mean",),
    "weibull": ("shape", "scale"),
    "lognormal": ("mean", "variation"),
    "gamma": ("mean", "variation"),
}


@dataclass(frozen=True, slots=True)
class Law:
    """A law of positive numbers.

    Attributes
    ----------
    name : str
        A key of `PARAMETERS`.
    parameters : tuple of float
        Its parameters in the order that `PARAMETERS` has: ``value``, ``low``, ``high``, ``mean``
        and ``scale`` in the unit of the draws; ``shape`` of a Weibull law and ``variation``,
        the standard deviation over the mean, without one.

    Raises
    ------
    PlatformError
        There is no such law, or a parameter is out of its range.
    """

    name: str
    parameters: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "parameters", tuple(map(float, self.parameters)))
        require_choice("the law", self.name, PARAMETERS)
        names = PARAMETERS[self.name]
        if len(self.parameters) != len(names):
            raise PlatformError(
                f"a {self.name} law has {len(self.parameters)} parameters",
                remedy=f"give {', '.join(names)}",
            )
        for name, value in zip(names, self.parameters, strict=True):
            if not 0 < value < math.inf:
                raise PlatformError(
                    f"{name} of a {self.name} law is {value!r}", remedy="give a positive number"
                )
        if names == ("low", "high") and self.parameters[0] > self.parameters[1]:
            raise PlatformError(
                f"a {self.name} law goes from {self.parameters[0]!r} to {self.parameters[1]!r}",
                remedy="give low first, then high",
            )

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{value:g}' for value in self.parameters)})"

    @property
    def mean(self) -> float:
        """The expectation, in the unit of the draws."""
        first, *further = self.parameters
        if self.name == "uniform":
            return (first + further[0]) / 2
        if self.name == "log-uniform":
            return (further[0] - first) / log(further[0] / first) if further[0] > first else first
        if self.name == "weibull":
            return further[0] * _gamma(1 + 1 / first)
        return first

    def draw(self, generator: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Draw numbers.

        Parameters
        ----------
        generator : numpy.random.Generator
            Source of the draws; none is made for a constant.
        size : int
            Number of draws.

        Returns
        -------
        float64, shape (size,)
            In the unit of the parameters.
        """
        first, last = self.parameters[0], self.parameters[-1]
        if self.name == "constant":
            return np.full(size, first)
        if self.name == "uniform":
            return generator.uniform(first, last, size)
        if self.name == "log-uniform":
            return exp(generator.uniform(log(first), log(last), size))
        if self.name == "exponential":
            return generator.exponential(first, size)
        if self.name == "weibull":
            return last * power(generator.standard_exponential(size), 1 / first)
        if self.name == "gamma":
            return _draw_gamma(generator, power(last, -2), size) * (first * power(last, 2))
        spread = log1p(power(last, 2))
        normal = generator.standard_normal(size)
        return exp(log(first) - spread / 2 + math.sqrt(spread) * normal)

    def draw_residual(self, generator: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Draw how long what lasts by this law still lasts at a moment of no distinction.

        The equilibrium distribution of renewal theory, of density (1 - F(x)) / mean [1]_: a
        moment falls into a duration with a probability in proportion to its length, and
        anywhere in it. So a draw of density x f(x) / mean is multiplied by a uniform one.

        Parameters
        ----------
        generator : numpy.random.Generator
            Source of the draws.
        size : int
            Number of draws.

        Returns
        -------
        float64, shape (size,)
            In the unit of the parameters.

        References
        ----------
        .. [1] Cox, D. R. (1962). Renewal Theory. Methuen.
        """
        return self._draw_by_length(generator, size) * generator.random(size)

    def _draw_by_length(self, generator: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Draw with probabilities in proportion to the values: of density x f(x) / mean."""
        first, last = self.parameters[0], self.parameters[-1]
        if self.name == "uniform":
            return np.sqrt(generator.uniform(power(first, 2), power(last, 2), size))
        if self.name == "log-uniform":
            return generator.uniform(first, last, size)
        if self.name == "exponential":
            return generator.gamma(2.0, first, size)
        if self.name == "weibull":
            return last * power(generator.standard_gamma(1 + 1 / first, size), 1 / first)
        if self.name == "gamma":
            return generator.gamma(power(last, -2) + 1, first * power(last, 2), size)
        if self.name == "lognormal":
            return Law("lognormal", (first * (1 + power(last, 2)), last)).draw(generator, size)
        return self.draw(generator, size)


def _draw_gamma(generator: np.random.Generator, shape: float, size: int) -> NDArray[np.float64]:
    """Draw of a gamma law of scale 1; below shape 1 NumPy's values are powers, by the CPU."""
    if shape >= 1:
        return generator.standard_gamma(shape, size)
    larger = generator.standard_gamma(shape + 1, size)
    return larger * power(generator.random(size), 1 / shape)


def _gamma(x: float) -> float:
    """Return the gamma function from 1 on, by Stirling's series and the recurrence."""
    divisor = 1.0
    while x < 16:
        divisor *= x
        x += 1
    inverse = 1 / (x * x)
    rest = 1 / 12 - inverse * (
        1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188))
    )
    return math.sqrt(2 * math.pi) * power(x, x - 0.5) * exp(rest / x - x) / divisor


# Dimensionless parameters of laws.
WITHOUT_UNIT = frozenset({"shape", "variation"})


_CALL = re.compile(r"\s*(?P<name>[A-Za-z][\w-]*)\s*\((?P<arguments>[^()]*)\)\s*")


def parse_law(text: str, read: Callable[[str], float] = float) -> Law:
    """Read a law.

    Parameters
    ----------
    text : str
        A key of `laws.PARAMETERS` with its parameters in their order, for instance
        ``"weibull(0.5, 3d)"``; a quantity alone is a constant.
    read : callable
        Reader of a quantity, for instance `simplugin.core.units.parse_time`. Shapes and variations
        are plain numbers.

    Returns
    -------
    Law
        In the unit that `read` gives.

    Raises
    ------
    PlatformError
        It is no law, or its parameters are wrong; the message quotes the text.

    Examples
    --------
    >>> from simplugin.core.units import parse_time
    >>> parse_law("weibull(0.5, 2h)", parse_time)
    Law(name='weibull', parameters=(0.5, 7200.0))
    """
    name, arguments = split_call(text)
    if not arguments:
        if name in PARAMETERS:
            raise PlatformError(f"law {text!r} has no parameters", remedy=_form(name))
        return Law("constant", (_number(text, text.strip(), read),))
    if name not in PARAMETERS:
        raise PlatformError(
            f"there is no law {name!r} in {text!r}", remedy=f"give one of {', '.join(PARAMETERS)}"
        )
    names = PARAMETERS[name]
    if len(arguments) != len(names):
        raise PlatformError(f"law {text!r} has {len(arguments)} parameters", remedy=_form(name))
    values = [
        _number(text, argument, float if parameter in WITHOUT_UNIT else read)
        for parameter, argument in zip(names, arguments, strict=True)
    ]
    return Law(name, tuple(values))


def read_duration(text: str) -> float:
    """Read a time that is given with its unit.

    Parameters
    ----------
    text : str
        For instance ``"7d"``. What lasts for days is easily given without a unit, and would
        be taken for seconds.

    Returns
    -------
    float
        In s.

    Raises
    ------
    UnitError
        It is no time, or has no unit.
    """
    time = parse_time(text)
    if not has_unit(text):
        raise UnitError(f"time {text!r} has no unit", f"write e.g. '7d', or '{text.strip()}s'")
    return time


def split_call(text: str) -> tuple[str, tuple[str, ...]]:
    """Split ``name(argument, ...)``; without parentheses the text is the name.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    name : str
        Before the parenthesis.
    arguments : tuple of str
        Between the commas.
    """
    match = _CALL.fullmatch(text)
    if match is None:
        return text.strip(), ()
    return match["name"], tuple(part.strip() for part in match["arguments"].split(","))


def _number(text: str, word: str, read: Callable[[str], float]) -> float:
    """Read a parameter of a law."""
    try:
        return read(word)
    except (UnitError, ValueError) as error:
        raise PlatformError(
            f"{word!r} in law {text!r} cannot be read: {error}",
            remedy="write a law such as weibull(0.5, 3d), exponential(2h) or uniform(0.2, 1)",
        ) from None


def _form(name: str) -> str:
    """Return how a law is written."""
    return f"write {name}({', '.join(PARAMETERS[name])})"
