"""Optima as convex programs in cvxpy, in the notation of the papers.

These models are the readable reference of the fast solvers in this package, which are checked
against them. They are also the place to start from for a problem with further constraints: each
model has its variables by name, in SI units, see `OptimumModel.subject_to`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.elementary import exp
from simplugin.optimum.flows import Flows
from simplugin.optimum.solvers import solve_by_cvxpy
from simplugin.optimum.task_graph_arcs import Choices
from simplugin.optimum.task_graph_bounds import area_bound, network_bound
from simplugin.platforms.graphs import Tree
from simplugin.platforms.sites import Site
from simplugin.workloads.applications import Bags
from simplugin.workloads.bundle_markets import LOWEST, BundleMarket
from simplugin.workloads.shared_deployment import AlphaFair, SharedDeployment
from simplugin.workloads.task_graphs import GraphSet

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OptimumModel:
    """A convex program with the same optimum as a fast solver.

    Attributes
    ----------
    problem : cvxpy.Problem
        The program; its objective is scaled so that solvers see numbers near 1.
    objective : cvxpy.Expression
        The quantity to optimise, in its own unit.
    variables : mapping of str to cvxpy.Expression
        Variables and expressions of them, in SI units, with values after `solve`.
    """

    problem: Any
    objective: Any
    variables: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        """Return a variable by its name."""
        return self.variables[name]

    def subject_to(self, *constraints: Any) -> OptimumModel:
        """Return the model with further constraints.

        Parameters
        ----------
        *constraints : cvxpy.Constraint
            For example ``model["throughput"][0] >= 2``.
        """
        every = [*self.problem.constraints, *constraints]
        return replace(self, problem=_cvxpy().Problem(self.problem.objective, every))

    def solve(self) -> float:
        """Solve the program, by HiGHS if it is linear and else by Clarabel, and return the optimum.

        Raises
        ------
        InfeasibleError
            The constraints contradict each other.
        UncertifiedError
            The solver did not reach its tolerance.
        """
        solve_by_cvxpy(self.problem)
        return float(self.objective.value)


def _cvxpy() -> Any:
    """Return cvxpy, which only models load; its stubs export no functions."""
    import cvxpy

    return cvxpy


def fair_sharing(sharing: SharedDeployment, alpha: float = 1.0) -> OptimumModel:
    r"""Return the model of alpha-fair sharing, Eqs. (1) to (3) of [1]_.

    Maximise :math:`\sum_k \omega_k U(\varrho_k)`, or for alpha = inf the smallest
    :math:`\varrho_k/\omega_k`: the first level of `weighted_max_min`, and with equal weights of
    max-min fairness. With alpha = 0 the optimum is unique, throughputs are not.

    Parameters
    ----------
    sharing : SharedDeployment
        Applications, each deployed as a tree over hosts and links.
    alpha : float
        Fairness, from 0 to inf.

    Returns
    -------
    OptimumModel
        ``rate``, shape (n_agents,), and ``throughput``, shape (n_applications,) [tasks/s].

    References
    ----------
    .. [1] R. Bertin, A. Legrand, C. Touati (2008). Toward a fully decentralized algorithm for
       multiple bag-of-tasks application scheduling on grids. Grid 2008.
    """
    cp, utility, application = _cvxpy(), AlphaFair(alpha), sharing.application
    flop, byte = sharing.flop[application], sharing.byte[application]
    unit = Flows(sharing).most[sharing.masters] / sharing.n_applications
    if 2 < alpha < math.inf:  # nearly max-min fair throughputs have powers near 1
        unit = np.full(sharing.n_applications, fair_sharing(sharing, math.inf).solve())
    share, flow = (cp.Variable(sharing.n_agents, nonneg=True) for _ in range(2))
    rate, arriving = (cp.multiply(unit[application], each) for each in (share, flow))
    constraints = [
        flow == share + _sums(sharing.parent, sharing.n_agents) @ flow,
        share[~sharing.computes] == 0,
        *_within(_sums(sharing.host, sharing.n_hosts, flop) @ rate, sharing.speed),  # Eq. (2)
        *_within(_sums(sharing.link, sharing.n_links, byte) @ arriving, sharing.bandwidth),  # (3)
    ]
    relative = flow[sharing.masters]  # Eq. (1)
    variables = {"rate": rate, "throughput": cp.multiply(unit, relative)}
    if math.isinf(utility.alpha):
        level = cp.min(cp.multiply(unit / sharing.weight, relative))
        scale = float(np.min(unit / sharing.weight))
        return OptimumModel(cp.Problem(cp.Maximize(level / scale), constraints), level, variables)
    factor = sharing.weight * unit ** (1 - alpha)
    if alpha == 1:
        total, constant = factor @ cp.log(relative), float(sharing.weight @ np.log(unit))
    else:
        power = relative if alpha == 0 else cp.power(relative, 1 - alpha, approx=False)
        total, constant = factor @ power / (1 - alpha), 0.0
    problem = cp.Problem(cp.Maximize(total / factor.max()), constraints)
    return OptimumModel(problem, total + constant, variables)


def _sums(group: NDArray[np.int64], n_groups: int, factor: ArrayLike = 1.0) -> Any:
    """Return the matrix that adds up what belongs to each group; -1 is in none."""
    from scipy.sparse import coo_array

    (kept,) = np.nonzero(group >= 0)
    values = np.broadcast_to(factor, group.shape)[kept]
    return coo_array((values, (group[kept], kept)), shape=(n_groups, len(group))).tocsr()


def _within(load: Any, capacity: Floats) -> list[Any]:
    """Return the constraints that loads keep to capacities, relative to these."""
    some = np.flatnonzero(capacity > 0)
    relative = _cvxpy().multiply(1 / capacity[some], load[some])
    return [relative <= 1, load[capacity == 0] == 0]


def steady_state(
    tree: Tree, bags: Bags, *, port: Literal["single", "multi"] = "single"
) -> OptimumModel:
    """Return the model of the fairest steady state, linear program (1) of [1]_ with weights.

    Results that travel upwards, each over the port of the receiving parent, give the same program.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications, with the hosts that may compute them.
    port : {"single", "multi"}
        ``single``: the sends of a host share one port; ``multi``: each link is used apart.

    Returns
    -------
    OptimumModel
        ``compute`` and ``sent``, shape (n_hosts, n_types), ``throughput``, shape (n_types,), and
        ``fair``, the smallest throughput per weight, which is maximised [tasks/s].

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    cp, shape = _cvxpy(), (tree.n_hosts, bags.n_applications)
    from_parent = _sums(tree.parent, tree.n_hosts)
    # Largest throughput of each application that the root's links allow.
    widest = float(tree.bandwidth[1:].max(initial=0.0))
    sent_out = np.divide(widest, bags.byte, out=np.full(shape[1], np.inf), where=bags.byte > 0)
    unit = np.minimum(tree.speed.sum() / bags.flop, tree.speed[0] / bags.flop + sent_out)
    computed, received = (cp.Variable(shape, nonneg=True) for _ in range(2))
    compute, sent = computed @ np.diag(unit), received @ np.diag(unit)
    fair = cp.min(cp.multiply(1 / bags.weight, sent[0]))
    busy = cp.multiply(1 / tree.bandwidth, sent @ bags.byte)
    constraints = [
        received == computed + from_parent @ received,  # received tasks are computed or forwarded
        *_within(compute @ bags.flop, tree.speed),  # CPUs
        (from_parent @ busy if port == "single" else busy) <= 1,  # ports
        computed[~bags.allowed(tree.hosts, tree.speed)] == 0,
    ]
    variables = {"compute": compute, "sent": sent, "throughput": sent[0], "fair": fair}
    scale = float(np.min(unit / bags.weight))
    return OptimumModel(cp.Problem(cp.Maximize(fair / scale), constraints), fair, variables)


def bundle_benefit(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike | None = None
) -> OptimumModel:
    r"""Return the model of the largest global benefit of a bundle, the assignment of its tasks.

    Maximise :math:`\sum V_i q_i^{k-1} x_{ik}`, the k-th task on peer i as in Eqs. (6) and (10) of
    [1]_. Worth falls with k, so that the optimum fills places in their order, and vertices are
    whole. The dual of the second constraint is a clearing price.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    OptimumModel
        ``sold``, shape (n_peers, n_places): 1 for each task that is sold; ``amounts``,
        shape (n_peers,).

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    cp, market = _cvxpy(), BundleMarket(values, m, caps, q)
    number = np.arange(1, int(market.caps.max()) + 1)
    peers = np.arange(market.n_peers)
    allowed = number <= market.caps[:, None]
    log_worth = np.where(allowed, market.log_worth(*np.meshgrid(number, peers)), -np.inf)
    largest = max(float(log_worth.max()), LOWEST)
    sold = cp.Variable(log_worth.shape, bounds=[0, allowed.astype(float)])
    benefit = cp.sum(cp.multiply(exp(log_worth - largest), sold))
    problem = cp.Problem(cp.Maximize(benefit), [cp.sum(sold) <= market.m])
    variables = {"sold": sold, "amounts": cp.sum(sold, axis=1)}
    return OptimumModel(problem, exp(largest) * benefit, variables)


def divided_benefit(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike) -> OptimumModel:
    r"""Return the model of the largest benefit of tasks that can be divided.

    Maximise :math:`\sum V_i (1 - q_i^{a_i}) / (1 - q_i)`, Eq. (7) of [1]_ for amounts that need
    not be whole: never less than the benefit of whole tasks. The dual of ``placed``, divided by
    the largest value, is the price. It suits discount rates from 1e-3 on: under smaller ones the
    benefit is nearly linear.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`, with discount rates.

    Returns
    -------
    OptimumModel
        ``amounts``, shape (n_peers,).

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    cp, market = _cvxpy(), BundleMarket(values, m, caps, q)
    part = cp.Variable(market.n_peers, nonneg=True)  # of m
    factor = market.values / (1 - market.q)
    benefit = factor @ (1 - cp.exp(cp.multiply(market.log_q * market.m, part)))
    unit = float(np.minimum(factor, market.values * market.m).max()) or 1.0
    constraints = [cp.sum(part) <= 1, part <= market.caps / market.m]
    problem = cp.Problem(cp.Maximize(benefit / unit), constraints)
    return OptimumModel(problem, benefit, {"amounts": market.m * part})


def makespan_bound(
    graphs: GraphSet, site: Site, *, transfers: bool = False, program: bool = True
) -> OptimumModel:
    r"""Return the model of the lower bound on the makespan of task graphs.

    Minimise :math:`C_{max}` over dates and shares :math:`x_{vkp} \ge 0` of task v on p processors
    of cluster k, :math:`\sum_{kp} x_{vkp} = 1`: see `simplugin.optimum.task_graph_bounds`.

    Parameters
    ----------
    graphs, site, transfers, program
        As in `simplugin.optimum.task_graph_bounds.makespan_bound`.

    Returns
    -------
    OptimumModel
        ``start`` and ``end``, shape (n_tasks,), and ``makespan`` [s].
    """
    cp, choices = _cvxpy(), Choices(graphs, site, transfers)
    n, (source, target) = graphs.n_tasks, graphs.edges.T
    path = float(np.max(choices.earliest + choices.least_time + choices.rest))
    unit = max(path, float(np.sum(graphs.flop)) / site.power) or 1.0
    start, makespan = unit * cp.Variable(n), unit * cp.Variable()
    if program:
        share = [cp.Variable((n, each), nonneg=True) for each in site.processors.tolist()]
        time = _over_choices(share, choices.time)
        sending = _over_choices([x[source] for x in share], choices.sending)
        receiving = _over_choices([x[target] for x in share], choices.receiving)
        constraints = [sum(cp.sum(x, axis=1) for x in share) == 1]
    else:  # each task and transfer on the cluster that is best for it
        time, sending, receiving = choices.least_time, *[choices.least_transfer] * 2
        constraints = []
    end = start + time
    constraints += [start >= graphs.release[graphs.graph_of], end <= makespan]
    if len(graphs.edges):
        constraints += [start[target] >= end[source] + each for each in (sending, receiving)]
    for k, x in enumerate(share if program else ()):
        margin, member = _windows(choices.earliest, choices.rest)
        load = cp.Variable(n)
        constraints += [
            load == cp.sum(cp.multiply(x, choices.load[:, k, : x.shape[1]] / unit), axis=1),
            margin / unit + member @ load <= makespan / unit,
        ]
    bounds = [area_bound(graphs, site), *([network_bound(graphs, site)] if transfers else [])]
    constraints.append(makespan >= max(each.value for each in bounds))
    variables = {"start": start, "end": end, "makespan": makespan}
    return OptimumModel(cp.Problem(cp.Minimize(makespan / unit), constraints), makespan, variables)


def batch_schedule(
    submit: ArrayLike,
    size: ArrayLike,
    time: ArrayLike,
    n_nodes: int,
    objective: Literal["last end", "sum of ends"] = "last end",
) -> OptimumModel:
    """Return the schedule of rigid jobs on equal nodes as a mixed-integer program.

    Between two successive events a job is active or not [1]_. As there are as many events as jobs,
    it is for about ten jobs.

    Parameters
    ----------
    submit, size, time : array_like, shape (n_jobs,)
        Date of submission [s], number of nodes and duration [s] of each job.
    n_nodes : int
        Nodes.
    objective : {"last end", "sum of ends"}
        What is minimised [s].

    Returns
    -------
    OptimumModel
        Variables ``start`` and ``end`` [s], shape (n_jobs,).

    References
    ----------
    .. [1] O. Koné, C. Artigues, P. Lopez, M. Mongeau (2011). Event-based MILP models for
       resource-constrained project scheduling problems. Computers & Operations Research 38(1).
    """
    cvxpy = _cvxpy()
    submitted, duration = np.asarray(submit, np.float64), np.asarray(time, np.float64)
    n_jobs = len(submitted)
    scale = float(submitted.max(initial=0.0) + duration.sum()) or 1.0
    submitted, duration = submitted / scale, duration / scale
    active = cvxpy.Variable((n_jobs, n_jobs), boolean=True)
    event = cvxpy.Variable(n_jobs, nonneg=True)
    start, end = cvxpy.Variable(n_jobs), cvxpy.Variable(n_jobs)
    shifted = np.eye(n_jobs, k=1)
    begins = active - active @ shifted
    constraints = [
        np.asarray(size, np.float64) @ active <= n_nodes,
        cvxpy.sum(active, axis=1) >= 1,
        end == start + duration,
        start >= submitted,
    ]
    for first in range(n_jobs):
        # A date that is not its start does not bind a job; all dates are at most 2.
        free = 2 * (1 - begins[:, first])
        constraints += [start >= event[first] - free, start <= event[first] + free]
        before, after = active[:, :first], active[:, first:]
        if first:
            constraints.append(event[first] >= event[first - 1])
            constraints.append(cvxpy.sum(before, axis=1) <= first * (1 - begins[:, first]))
        constraints.append(cvxpy.sum(after, axis=1) <= (n_jobs - first) * (1 + begins[:, first]))
        # A job that is no longer active has ended.
        constraints += [
            event[later]
            >= event[first] + cvxpy.multiply(duration, begins[:, first] - begins[:, later] - 1)
            for later in range(first + 1, n_jobs)
        ]
    value = cvxpy.max(end) if objective == "last end" else cvxpy.sum(end)
    return OptimumModel(
        cvxpy.Problem(cvxpy.Minimize(value), constraints),
        scale * value,
        {"start": scale * start, "end": scale * end},
    )


def _over_choices(share: list[Any], values: Floats) -> Any:
    """Return the sum of values, weighted by the shares of all choices, of each task or edge."""
    cp = _cvxpy()
    parts = (cp.multiply(x, values[:, k, : x.shape[1]]) for k, x in enumerate(share))
    return sum(cp.sum(part, axis=1) for part in parts)


def _windows(earliest: Floats, rest: Floats) -> tuple[Floats, Any]:
    """Return the time outside of each window, and a matrix of the tasks that must run inside."""
    from scipy.sparse import csr_array, vstack

    margins, rows = [], []
    for first in np.unique(earliest):
        for last in np.unique(rest[earliest >= first]):
            member = (earliest >= first) & (rest >= last)
            if earliest[member].min() == first:  # else another window contains it
                margins.append(first + last)
                rows.append(csr_array(member[None, :].astype(np.float64)))
    return np.array(margins), vstack(rows)
