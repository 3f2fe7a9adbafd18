"""Fair sharing as one convex program in cvxpy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import InfeasibleError
from simplugin.optimum.flows import Flows
from simplugin.optimum.solvers import solve_by_clarabel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.workloads.sharing import Sharing

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConvexShare:
    """What an interior point method makes of the convex program.

    Attributes
    ----------
    rate : float64, shape (n_agents,)
        Tasks that each agent computes [tasks/s]; overloads are about 1e-8 of a capacity.
    throughput : float64, shape (n_applications,)
        Of each application [tasks/s], to about the square root of 1e-8.
    price : float64, shape (n_hosts + n_links,)
        Of a flop on each host, then of a byte on each link [utility/flop], [utility/byte].
    """

    rate: Floats
    throughput: Floats
    price: Floats


def convex_program(sharing: Sharing, alpha: float = 1.0) -> ConvexShare:
    r"""Maximise the weighted sum of alpha-fair utilities by cvxpy and Clarabel.

    The program has a variable for each rate and each flow, Eqs. (1) to (3) of [1]_ as linear
    constraints, each capacity as 1, and each application's throughput in units of its share
    of what it would reach alone, so that its numbers are near 1 whatever the platform's are.

    Parameters
    ----------
    sharing : Sharing
        The problem.
    alpha : float
        From 0 on, finite.

    Returns
    -------
    ConvexShare
        The interior point.

    Raises
    ------
    InfeasibleError
        An application reaches no host, or the solver gave up.
    UncertifiedError
        The solver stopped short of its accuracy.

    References
    ----------
    .. [1] R. Bertin, A. Legrand, C. Touati (2008). Toward a fully decentralized algorithm for
       multiple bag-of-tasks application scheduling on grids. Grid 2008.
    """
    import cvxpy

    if not 0 <= alpha < math.inf:
        raise InfeasibleError(f"alpha {alpha!r} makes no convex program; give a finite number >= 0")
    flows = Flows(sharing)
    scale = flows.most[sharing.masters] / sharing.n_applications
    program = flows.program(scale)
    columns: Any = cvxpy.Variable(len(program.unit), nonneg=True)
    reached = columns[program.master]
    unit = program.unit[program.master]
    # w U(unit z) is w unit^(1 - alpha) U(z), and log(unit) more for the logarithm.
    size = np.log(sharing.weight) + (1 - alpha) * np.log(unit)
    factor = np.exp(size - size.max())
    fits: Any = program.usage @ columns <= 1
    balanced: Any = program.balance @ columns == 0
    utility = factor @ _utility(cvxpy, reached, alpha)
    problem: Any = cvxpy.Problem(cvxpy.Maximize(utility), [fits, balanced])
    solve_by_clarabel(problem, "the fair sharing")
    rate = program.rates(columns.value, sharing)
    price = program.prices(-np.asarray(fits.dual_value), sharing) * np.exp(size.max())
    return ConvexShare(rate, sharing.throughput(rate), price)


def _utility(cvxpy: Any, reached: Any, alpha: float) -> Any:
    """Return the alpha-fair utility of each throughput as an expression."""
    if alpha == 1:
        return cvxpy.log(reached)
    if alpha == 0:
        return reached
    return cvxpy.power(reached, 1 - alpha, approx=False) / (1 - alpha)
