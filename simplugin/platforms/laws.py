"""Laws of chance for what differs: speeds, bandwidths, times between failures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp, log, log1p, power
from simplugin.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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
        and ``scale`` in the unit of what is drawn; ``shape`` of a Weibull law and ``variation``,
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
        if self.name not in PARAMETERS:
            raise PlatformError(
                f"there is no law {self.name!r}", remedy=f"give one of {', '.join(PARAMETERS)}"
            )
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
        """The expectation, in the unit of what is drawn."""
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
            How many.

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
            How many.

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
        """Draw with probabilities in proportion to what is drawn: of density x f(x) / mean."""
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
