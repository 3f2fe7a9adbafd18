"""Optima as convex programs in cvxpy: a second solver for each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import InfeasibleError
from simplugin.optimum.flows import Flows
from simplugin.optimum.solvers import solve_by_clarabel
from simplugin.optimum.task_graph_arcs import Choices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.optimum.steady_state import Port
    from simplugin.platforms.graphs import Tree
    from simplugin.platforms.sites import Site
    from simplugin.workloads.applications import Bags
    from simplugin.workloads.graph_sets import GraphSet
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


def relaxation_program(graphs: GraphSet, site: Site, *, transfers: bool = False) -> float:
    r"""Minimise the makespan of divided tasks by cvxpy and Clarabel.

    The program of `simplugin.optimum.task_graph_bounds.relaxation` in the order of its
    description, with :math:`x_{vkp}` as `share`. It grows with the processors of a cluster and
    with the square of the number of tasks: it is there to check the other one.

    Parameters
    ----------
    graphs, site, transfers
        As for `simplugin.optimum.task_graph_bounds.relaxation`.

    Returns
    -------
    float
        The least makespan [s], to about 1e-8 of it.

    Raises
    ------
    InfeasibleError
        Clarabel gave up.
    UncertifiedError
        It stopped short of its accuracy.
    """
    import cvxpy

    # Its stubs export no functions.
    functions: Any = cvxpy
    choices = Choices(graphs, site, transfers)
    path = float(np.max(choices.earliest + choices.least_time + choices.rest))
    unit = max(path, float(np.sum(graphs.flop)) / site.power) or 1.0
    n, edges = graphs.n_tasks, graphs.edges
    start: Any = cvxpy.Variable(n)
    makespan: Any = cvxpy.Variable()
    # Of each cluster the shares of all its numbers of processors.
    share: list[Any] = [
        cvxpy.Variable((n, processors), nonneg=True) for processors in site.processors.tolist()
    ]

    def total(values: Any, of: Any = slice(None)) -> Any:
        """Return the sum of values over all choices of each task, or of the first of each edge."""
        return sum(
            functions.sum(functions.multiply(x[of], values[:, k, : x.shape[1]] / unit), axis=1)
            for k, x in enumerate(share)
        )

    end = start + total(choices.time)
    constraints = [
        sum(functions.sum(x, axis=1) for x in share) == 1,
        start >= graphs.release[graphs.graph_of] / unit,
        end <= makespan,
    ]
    if len(edges):
        source, target = edges.T
        constraints += [
            start[target] >= end[source] + total(choices.sending, source),
            start[target] >= end[source] + total(choices.receiving, target),
        ]
    margin, member = _windows(choices)
    for k, x in enumerate(share):
        load = functions.sum(functions.multiply(x, choices.load[:, k, : x.shape[1]] / unit), axis=1)
        constraints.append(margin / unit + member @ load <= makespan)
    problem: Any = cvxpy.Problem(cvxpy.Minimize(makespan), constraints)
    solve_by_clarabel(
        problem, "the relaxation", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    return float(makespan.value) * unit


def _windows(choices: Choices) -> tuple[Any, Any]:
    """Return the seconds outside of each window, and which tasks run in it, without empty ones."""
    windows = [
        (first + rest, (choices.earliest >= first) & (choices.rest >= rest))
        for first in np.unique(choices.earliest)
        for rest in np.unique(choices.rest)
    ]
    full = [(margin, member) for margin, member in windows if np.any(member)]
    margins, members = zip(*full, strict=True)
    return np.array(margins), np.array(members, dtype=np.float64)
