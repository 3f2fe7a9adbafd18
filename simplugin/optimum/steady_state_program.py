"""Linear program (1) of Beaumont et al. in cvxpy, as it is written in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import InfeasibleError
from simplugin.optimum.solvers import solve_by_clarabel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.optimum.steady_state import Port
    from simplugin.platforms.graphs import Tree
    from simplugin.workloads.applications import Bags

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ProgramState:
    """What an interior point method makes of the program, to about 1e-7.

    Attributes
    ----------
    throughput : float64, shape (n_types,)
        Of each application [tasks/s].
    fair : float
        The smallest throughput per weight [tasks/s].
    cpu_price, port_price : float64, shape (n_hosts,)
        As in `simplugin.optimum.steady_state.SteadyState`.
    """

    throughput: Floats
    fair: float
    cpu_price: Floats
    port_price: Floats


def steady_state_program(tree: Tree, bags: Bags, *, port: Port = "single") -> ProgramState:
    r"""Maximise the smallest throughput per weight by cvxpy and Clarabel.

    Program (1) of [1]_ line by line, with :math:`\alpha_u^{(k)}` as `alpha` and
    :math:`sent_{p(u) \to u}^{(k)}` as `sent`, whose first row is zero. Only the units differ:
    both count tasks per weight, in units of what the CPUs could do if data cost nothing.

    Parameters
    ----------
    tree : Tree
        The platform; latencies do not count.
    bags : Bags
        The applications.
    port : {"single", "multi"}
        Whether the sends of a host share one port, or each link is used apart.

    Returns
    -------
    ProgramState
        The interior point.

    Raises
    ------
    InfeasibleError
        No host computes, or the solver gave up.
    UncertifiedError
        The solver stopped short of its accuracy.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    import cvxpy

    if not np.any(tree.speed > 0):
        raise InfeasibleError(
            f"no host of the tree of {tree.hosts[0]!r} computes; give one a speed above 0"
        )
    unit = tree.speed.sum() / np.sum(bags.weight * bags.flop)
    shape = (tree.n_hosts, bags.n_applications)
    alpha: Any = cvxpy.Variable(shape, nonneg=True)
    sent: Any = cvxpy.Variable(shape, nonneg=True)
    fair: Any = cvxpy.Variable()
    # Of each host, which ones it sends to.
    sends = np.zeros((tree.n_hosts, tree.n_hosts))
    sends[tree.parent[1:], np.arange(1, tree.n_hosts)] = 1.0
    busy = sent @ (bags.weight * bags.byte * unit) / tree.bandwidth
    computes = tree.speed > 0
    used = alpha[computes] @ (bags.weight * bags.flop * unit) / tree.speed[computes]
    cpu: Any = used <= 1
    ports: Any = (sends @ busy if port == "single" else busy) <= 1
    constraints = [
        np.ones(tree.n_hosts) @ alpha >= fair,
        sent[1:] == (alpha + sends @ sent)[1:],
        sent[0] == 0,
        alpha[~computes] == 0,
        cpu,
        ports,
    ]
    problem: Any = cvxpy.Problem(cvxpy.Maximize(fair), constraints)
    solve_by_clarabel(
        problem, "the steady state", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    cpu_price = np.zeros(tree.n_hosts)
    cpu_price[computes] = cpu.dual_value * unit / tree.speed[computes]
    port_price = np.asarray(ports.dual_value) * unit
    throughput = alpha.value.sum(axis=0) * bags.weight * unit
    return ProgramState(throughput, float(fair.value * unit), cpu_price, port_price)
