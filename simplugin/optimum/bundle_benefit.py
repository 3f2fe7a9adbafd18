"""The largest benefit of a bundle, of identical tasks and of tasks that differ in size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, log
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.solvers import certified
from simplugin.workloads.bundle_markets import LOWEST, Amounts, BundleMarket, Floats, in_order


@dataclass(frozen=True, eq=False)
class BestBundle:
    """The best that a bundle can be worth.

    Attributes
    ----------
    amounts : int64, shape (n_peers,)
        Tasks of each peer; of tasks whose values have equal logarithms, to the last bit, those of
        the lowest peers are sold.
    benefit : float
        Global benefit U^G [price].
    price : float
        Value of the last task that is sold, the highest clearing price [price].
    next_price : float
        Value of the best task that is not sold, below or at which nothing clears; 0 if
        caps leave none [price].
    """

    amounts: Amounts
    benefit: float
    price: float
    next_price: float

    def clears(self, price: float) -> bool:
        """Return True if peers buy exactly all tasks at a price, if ties are rationed."""
        return self.next_price <= price <= self.price


def largest_benefit(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike | None = None
) -> BestBundle:
    r"""Return the assignment with the largest global benefit, and the prices that clear it.

    The benefit is separable and concave in integers, so that the m largest of all values
    :math:`V_i q_i^{k-1}, k \le cap_i`, or whatever is given for them, are a maximum [1]_. A price
    is found by Newton's method, safeguarded by bisection, such that few tasks are worth about as
    much; the best of these are selected. That takes O(n) time for each step, whatever m is.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    BestBundle
        The maximum.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.
    UncertifiedError
        A task that is not sold is worth more than one that is.

    References
    ----------
    .. [1] B. Fox (1966). Discrete optimization via marginal analysis. Management Science 13.
    """
    market = BundleMarket(values, m, caps, q)
    over = market.m - int(market.valuable.sum())
    if over >= 0:
        amounts = market.valuable + in_order(over, market.caps - market.valuable)
    else:
        amounts = _settled(market, *_bracket(market))
    sold, open_ = amounts > 0, amounts < market.caps
    last = np.where(sold, market.log_worth(amounts), np.inf)
    following = np.where(open_, market.log_worth(amounts + 1), -np.inf)
    # Nothing unsold is worth more than what is sold: exchanges gain nothing.
    gain = max(float(following.max()), LOWEST) - max(float(last.min()), LOWEST)
    gain = gain if amounts.sum() == market.m else np.inf
    certified(gain, "the best bundle", "give values closer to one another")
    return BestBundle(
        amounts,
        market.benefit(amounts),
        exp(last.min()),
        exp(following.max()),
    )


def _bracket(market: BundleMarket) -> tuple[Amounts, Amounts]:
    """Return amounts that are surely sold and that are at most sold, few tasks apart."""
    caps, n = market.valuable, market.n_peers
    high = float(market.log_value[caps > 0].max())
    low = float(market.log_worth(caps)[caps > 0].min())
    sure, most = np.zeros_like(caps), caps
    price, doubt = _guess(market, caps), int(caps.sum())
    while doubt > 4 * n:
        if not low < price < high:
            price = 0.5 * (low + high)
        if not low < price < high:
            break
        counts = market.above(price)
        total = int(counts.sum())
        if total <= market.m:
            sure, high, aim = counts, price, market.m + n // 2
        else:
            most, low, aim = counts, price, market.m - n // 2
        before, doubt = doubt, int((most - sure).sum())
        # The next price is to sell n / 2 tasks more or less than m; else the range is halved.
        steep = _steepness(market, counts, caps) if 2 * doubt <= before else 0.0
        price = price + (total - aim) / steep if steep else np.nan
    return sure, most


def _guess(market: BundleMarket, caps: Amounts) -> float:
    """Return the logarithm of about the clearing price by Newton's method; NaN if unknown."""
    if market.table is not None:
        return np.nan
    some = caps > 0
    split = market.log_value + market.m / np.count_nonzero(some) * market.log_q
    price = float(split[some].mean())
    for _ in range(12):
        amounts = np.clip((price - market.log_value) / market.log_q + 0.5, 0, caps)
        over = float(amounts.sum()) - market.m
        steep = _steepness(market, amounts, caps)
        if abs(over) <= market.n_peers or not steep:
            break
        price += over / steep
    return price


def _steepness(market: BundleMarket, amounts: Amounts | Floats, caps: Amounts) -> float:
    """Return by how much demand falls where the logarithm of the price rises; 0 if unknown."""
    if market.table is not None:
        return 0.0
    return float(np.sum(-1 / market.log_q, where=(amounts > 0) & (amounts < caps)))


def _settled(market: BundleMarket, sure: Amounts, most: Amounts) -> Amounts:
    """Hand out the tasks between two amounts, the most valuable first."""
    left = market.m - int(sure.sum())
    doubtful = most - sure
    peers = np.repeat(np.arange(market.n_peers), doubtful)
    first = np.cumsum(doubtful) - doubtful
    number = sure[peers] + 1 + np.arange(len(peers)) - first[peers]
    worth = market.log_worth(number, peers)
    if not left:
        return sure
    least = np.partition(worth, len(worth) - left)[len(worth) - left]
    better = np.flatnonzero(worth > least)
    # Of equal tasks those of the lowest peer come first, and of one peer in their order.
    equal = np.flatnonzero(worth == least)[: left - len(better)]
    chosen = np.concatenate([better, equal])
    return sure + np.bincount(peers[chosen], minlength=market.n_peers)


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
    certified(_assignment_gap(matrix, rows, tasks), "the assignment", "give values closer together")
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
