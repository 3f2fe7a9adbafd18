"""Certificates: what proves an optimum, checked before it is returned."""

from __future__ import annotations

import warnings
from typing import Any

from simplugin.errors import InfeasibleError, UncertifiedError

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


def solve_by_clarabel(
    problem: Any, what: str, *, inaccurate: bool = False, **settings: float
) -> None:
    """Solve a cvxpy problem by Clarabel, whose gap and residuals are its certificate.

    Parameters
    ----------
    problem : cvxpy.Problem
        Its variables have values afterwards.
    what : str
        Names the problem in messages.
    inaccurate : bool
        Accept a solution that misses the solver's tolerances; the caller checks it.
    **settings
        Of Clarabel.

    Raises
    ------
    InfeasibleError
        There is no solution, or Clarabel gave up.
    UncertifiedError
        Clarabel stopped short of its tolerances.
    """
    import cvxpy

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        try:
            problem.solve(solver=cvxpy.CLARABEL, **settings)
        except cvxpy.SolverError as error:
            raise InfeasibleError(f"Clarabel gave up on {what}: {error}") from error
    if problem.status == "optimal_inaccurate" and not inaccurate:
        raise UncertifiedError(
            f"Clarabel stopped short of its accuracy on {what};"
            " the quantities may be too far apart, check their units"
        )
    if problem.value is None or problem.status not in ("optimal", "optimal_inaccurate"):
        raise InfeasibleError(f"Clarabel calls {what} {problem.status}")
