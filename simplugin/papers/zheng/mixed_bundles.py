"""The largest benefit of a bundle whose tasks differ in size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, log
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.solvers import certify
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

# Tasks times places that are paired at most: a matrix of 0.8 GB, and SciPy's copy of it.
_LARGEST = 10**8


@dataclass(frozen=True, eq=False)
class MixedAssignment:
    """The place of each task on a peer.

    Attributes
    ----------
    peers : int64, shape (m,)
        Peer of each task.
    places : int64, shape (m,)
        Its place there, from 1 on: the k-th place is worth q^(k-1) times the first.
    benefit : float
        Of all tasks together [price].
    """

    peers: Amounts
    places: Amounts
    benefit: float


def scaled_benefit(
    values: ArrayLike, sizes: ArrayLike, caps: ArrayLike, q: ArrayLike | None = None
) -> MixedAssignment:
    """Return the largest benefit of tasks that only compute.

    A task of size S on the k-th place of peer i is worth V_i q_i^(k-1) / S there, a product of
    what belongs to the place and to the task. So the best places are taken, as many as there are
    tasks, and the smallest task takes the best of them [1]_.

    Parameters
    ----------
    values : float64, shape (n_peers,) or (n_peers, n_places)
        Value of a first task of size 1 to each peer, or on each place there [price].
    sizes : float64, shape (m,)
        Of the tasks, in any unit.
    caps : int64, shape (n_peers,)
        Most tasks that each peer takes; one number for all will do.
    q : float64, shape (n_peers,)
        1 - alpha of each peer; one number for all will do.

    Returns
    -------
    MixedAssignment
        The maximum; of equal places the lowest peer's goes to the smaller task.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.

    References
    ----------
    .. [1] G. H. Hardy, J. E. Littlewood, G. Polya (1934). Inequalities, section 10.2
       (rearrangement).
    """
    size = np.asarray(sizes, dtype=np.float64)
    if size.ndim != 1 or not size.size or not np.all(np.isfinite(size) & (size > 0)):
        raise WorkloadError("sizes are not positive numbers, one a task; give those of its tasks")
    market = BundleMarket(values, len(size), caps, q)
    peers, places = _listed(market, largest_benefit(*market.arguments).amounts)
    order = np.argsort(size, kind="stable")
    worth = exp(market.log_worth(places, peers))
    return _assignment(order, peers, places, worth / size[order])


def mixed_benefit(values: ArrayLike, caps: ArrayLike, q: ArrayLike) -> MixedAssignment:
    """Return the largest benefit of tasks whose value on a peer is any number.

    With transfers the quickest peer of one task is not that of another, so that places and tasks
    have to be paired: a linear assignment of m tasks to all places that can matter [1]_.

    Parameters
    ----------
    values : float64, shape (n_peers, m)
        Value of each task in the first place of each peer, c / t_ij [price].
    caps : int64, shape (n_peers,)
        Most tasks that each peer takes; one number for all will do.
    q : float64, shape (n_peers,)
        1 - alpha of each peer; one number for all will do.

    Returns
    -------
    MixedAssignment
        A maximum.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over, or there are too many places to pair.
    UncertifiedError
        Prices of places do not prove the assignment.

    References
    ----------
    .. [1] R. Burkard, M. Dell'Amico, S. Martello (2009). Assignment Problems. SIAM.
    """
    from scipy.optimize import linear_sum_assignment

    worth, market = _checked(values, caps, q)
    # Whatever tasks they get, the m places that are worth most with their worst task are each worth
    # the bound or more. A place that is worth less even with its best task is not used, as one of
    # those would be free for it.
    worst = BundleMarket(worth.min(axis=1), market.m, market.caps, market.q)
    bound = largest_benefit(*worst.arguments).price
    # A hair lower, as rounding must not exclude a place.
    peers, places = _listed(market, market.above(log(bound) - 1e-9 if bound > 0 else -np.inf))
    if len(peers) * market.m > _LARGEST:
        raise InfeasibleError(
            f"{market.m} tasks and {len(peers)} places are too many to pair; give fewer tasks, or"
            " lower caps"
        )
    matrix = worth[peers] * _discounts(market, peers, places)[:, None]
    rows, tasks = linear_sum_assignment(matrix, maximize=True)
    certify(_assignment_gap(matrix, rows, tasks), "the assignment", "give values closer together")
    # Places are empty only behind the last one of a peer, as they are worth ever less.
    peers, places = peers[rows], places[rows]
    return _assignment(
        tasks, peers, places, worth[peers, tasks] * _discounts(market, peers, places)
    )


def _assignment_gap(matrix: Floats, rows: Amounts, tasks: Amounts) -> float:
    """Return by how much prices of places fail to prove an assignment best, relative to it.

    Prices rise from 0 until no task gains by another place than its own: longest paths, which
    end at places left empty with a price of 0 if and only if the assignment is best.
    """
    own, place = np.empty(len(rows)), np.empty(len(rows), np.int64)
    own[tasks], place[tasks] = matrix[rows, tasks], rows
    price, moved = np.zeros(len(matrix)), np.arange(len(rows))
    rounding = 1e-12 * float(own.max())
    for _ in range(len(rows) + 1):
        before = price.copy()
        for task in moved.tolist():
            np.maximum(price, matrix[:, task] - own[task] + price[place[task]], out=price)
        moved = np.flatnonzero(price[place] > before[place] + rounding)
        if not len(moved):
            break
    left = len(moved) * float(np.max(price - before))
    empty = np.delete(price, rows)
    lacking = float(left + np.sum(empty[empty > rounding]))
    return lacking / float(np.sum(own)) if lacking else 0.0


def identical_benefit(
    values: ArrayLike, mean: ArrayLike, caps: ArrayLike, q: ArrayLike
) -> MixedAssignment:
    """Return what tasks are worth that are dealt as if they were all of the same size.

    Parameters
    ----------
    values : float64, shape (n_peers, m)
        True value of each task in the first place of each peer [price].
    mean : float64, shape (n_peers,)
        Value of a task of mean size there, by which tasks are dealt: in their order, to
        places of falling worth.
    caps, q
        As of `mixed_benefit`.

    Returns
    -------
    MixedAssignment
        The assignment.
    """
    worth, _ = _checked(values, caps, q)
    market = BundleMarket(mean, worth.shape[1], caps, q)
    peers, places = _listed(market, largest_benefit(*market.arguments).amounts)
    tasks = np.arange(market.m)
    return _assignment(
        tasks, peers, places, worth[peers, tasks] * _discounts(market, peers, places)
    )


def _checked(values: ArrayLike, caps: ArrayLike, q: ArrayLike) -> tuple[Floats, BundleMarket]:
    """Return values of tasks and a market with as many tasks and peers."""
    worth = np.asarray(values, dtype=np.float64)
    if worth.ndim != 2 or not worth.size or not np.all(np.isfinite(worth) & (worth >= 0)):
        raise WorkloadError(
            f"values have shape {worth.shape} or are not all from 0 on; give one a peer and task"
        )
    return worth, BundleMarket(worth.max(axis=1), worth.shape[1], caps, q)


def _listed(market: BundleMarket, amounts: Amounts) -> tuple[Amounts, Amounts]:
    """Return peers and numbers of the first places of each, by falling worth."""
    peers = np.repeat(np.arange(market.n_peers), amounts)
    places = np.arange(1, len(peers) + 1) - np.repeat(np.cumsum(amounts) - amounts, amounts)
    order = np.argsort(-market.log_worth(places, peers), kind="stable")
    return peers[order], places[order]


def _discounts(market: BundleMarket, peers: Amounts, places: Amounts) -> Floats:
    """Return the worth of each place relative to the first of its peer."""
    return exp((places - 1) * market.log_q[peers])


def _assignment(tasks: Amounts, peers: Amounts, places: Amounts, worth: Floats) -> MixedAssignment:
    """Return tasks at their places, by numbers of tasks."""
    order = np.argsort(tasks)
    return MixedAssignment(peers[order], places[order], float(np.sum(worth)))
