"""Certificates of optima, and calls of HiGHS and Clarabel."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import InfeasibleError, UncertifiedError

if TYPE_CHECKING:
    from scipy.sparse import csc_array


Floats = NDArray[np.float64]

# Largest relative error of an optimum, where quantities are far apart.
ACCEPTED = 1e-6


UNITS = "the quantities may be too far apart, check their units"


def certify(error: float, what: str, remedy: str, tolerance: float = ACCEPTED) -> float:
    """Return the error of an optimum if it is small.

    Parameters
    ----------
    error : float
        By how much the conditions of optimality are missed, relative to the optimum.
    what : str
        Names the optimum in the message.
    remedy : str
        The remedy if there is none.
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


def solve_by_cvxpy(problem: Any) -> None:
    """Solve a cvxpy problem, by HiGHS if it is linear and else by Clarabel.

    Parameters
    ----------
    problem : cvxpy.Problem
        Solved in place.

    Raises
    ------
    InfeasibleError
        There is no solution.
    UncertifiedError
        The solver stopped before its tolerance.
    """
    import cvxpy

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        try:
            if problem.is_lp():
                tolerances = {
                    f"{which}_feasibility_tolerance": 1e-9 for which in ("primal", "dual")
                }
                if problem.is_mixed_integer():
                    tolerances |= {"mip_rel_gap": 0.0, "mip_feasibility_tolerance": 1e-9}
                problem.solve(solver=cvxpy.HIGHS, **tolerances)
            else:
                problem.solve(solver=cvxpy.CLARABEL)
        except cvxpy.SolverError as error:
            raise UncertifiedError(f"cvxpy found no solution: {error}; {UNITS}") from error
    if problem.status == "optimal_inaccurate":
        raise UncertifiedError(f"Clarabel stopped before its tolerance; {UNITS}")
    if problem.status != "optimal":
        raise InfeasibleError(f"cvxpy calls the model {problem.status}; check its constraints")


# Relative to a resource's capacity: the least that HiGHS takes, and where it finds nothing. What
# prices prove stays proven whatever the tolerance; only the search may take longer.
TOLERANCES = 1e-10, 1e-8, 1e-7


def build_highs(matrix: csc_array, cost: Floats, lower: Floats, upper: Floats) -> Any:
    """Return HiGHS with a program to minimise the cost of columns that are not negative.

    Parameters
    ----------
    matrix : scipy.sparse.csc_array, shape (n_rows, n_columns)
        Of the rows.
    cost : float64, shape (n_columns,)
        Of each column.
    lower, upper : float64, shape (n_rows,)
        Bounds of each row; inf for none.
    """
    import highspy

    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_ = cost
    lp.col_lower_ = np.zeros(len(cost))
    lp.col_upper_ = np.full(len(cost), highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr
    lp.a_matrix_.index_ = matrix.indices
    lp.a_matrix_.value_ = matrix.data
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("small_matrix_value", 1e-12),
    ):
        solver.setOptionValue(name, value)
    _set_tolerance(solver, TOLERANCES[0])
    solver.passModel(lp)
    return solver


def solve_highs(solver: Any) -> Any:
    """Run HiGHS and return its solution.

    Raises
    ------
    UncertifiedError
        It found none.
    """
    import highspy

    solver.run()
    for tolerance in TOLERANCES:
        if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            break
        solver.clearSolver()
        _set_tolerance(solver, tolerance)
        solver.run()
    status = solver.getModelStatus()
    _set_tolerance(solver, TOLERANCES[0])
    if status != highspy.HighsModelStatus.kOptimal:
        raise UncertifiedError(f"HiGHS ended with {solver.modelStatusToString(status)!r}; {UNITS}")
    return solver.getSolution()


def _set_tolerance(solver: Any, tolerance: float) -> None:
    """Set the tolerance of HiGHS, relative to capacities."""
    solver.setOptionValue("primal_feasibility_tolerance", tolerance)
    solver.setOptionValue("dual_feasibility_tolerance", tolerance)
