"""Certificates: what proves an optimum, checked before it is returned."""

from __future__ import annotations

from simplugin.errors import UncertifiedError

# Largest relative error of an optimum, as a rule and where quantities are far apart.
PROMISED = 1e-8
ACCEPTED = 1e-6


def certified(error: float, what: str, remedy: str, tolerance: float = ACCEPTED) -> float:
    """Return the error of an optimum if it is small.

    Parameters
    ----------
    error : float
        By how much the conditions of optimality are missed, relative to the optimum.
    what : str
        Names the optimum in the message.
    remedy : str
        What to do if there is none.
    tolerance : float
        The largest error.

    Raises
    ------
    UncertifiedError
        The error is larger, or not a number.
    """
    if not error <= tolerance:
        raise UncertifiedError(
            f"{what} is certified only to {error:.1e}, not to {tolerance:.0e}; {remedy}"
        )
    return error
