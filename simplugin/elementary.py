"""Logarithms and exponentials that are equal to the last bit on every CPU.

The C library and NumPy run other code for `log` and `exp` on other CPUs, with other last bits, and
a last bit decides between tasks of equal value. The functions here use only operations that IEEE
754 rounds correctly. Results are within 1 ulp of the exact ones.
"""

from __future__ import annotations

from math import factorial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers = TypeVar("Numbers", float, NDArray[np.float64])

# The logarithm of 2 as a sum; the first has so few bits that any exponent times it is exact.
_LN2, _LN2_REST = 0.6931471803691238, 1.9082149292705877e-10
_ROOT = 0.5**0.5
# Beyond this, exponentials are 0 or inf.
_FAR = 1e4
# Of 2 artanh(s) / s - 2 in powers of s^2, and of (exp(r) - 1 - r - r^2 / 2) / r^3 in those of r.
_ARTANH = tuple(2 / (2 * k + 1) for k in range(1, 14))
_EXP = tuple(1 / factorial(k) for k in range(3, 15))


def log(x: Numbers) -> Numbers:
    """Return the natural logarithm of positive numbers."""
    part, exponent = np.frexp(x)
    low = part < _ROOT
    power = exponent - low
    f = part * (1 + low) - 1
    s = f / (2 + f)
    half = 0.5 * f * f
    tail = s * (half + _polynomial(_ARTANH, s * s) * (s * s))
    found: Numbers = power * _LN2 - ((half - (tail + power * _LN2_REST)) - f)
    return found


def exp(x: Numbers) -> Numbers:
    """Return the exponential of numbers; 0 of -inf."""
    near: Any = np.clip(x, -_FAR, _FAR)
    power = np.rint(near / (_LN2 + _LN2_REST))
    high, low = near - power * _LN2, power * _LN2_REST
    r = high - low
    tail = (high - r - low) + r * r * (0.5 + r * _polynomial(_EXP, r))
    found: Numbers = np.ldexp(1 + (r + tail), power.astype(np.int32))
    return found


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Return a polynomial; the first coefficient is the constant one."""
    value = coefficients[-1]
    for each in coefficients[-2::-1]:
        value = value * x + each
    return value
