r"""The balanced state of a market, and which assignments a price supports.

In a balanced state no peer has any profit, Definition 5 of [1]_: its tasks' *mean* price is the
market price. At the maximum of the global benefit it is the *marginal* prices that are equal, as
far as whole tasks and caps allow: some price makes every peer's amount a best response to it. The
two states differ as soon as values do, so that Theorem 3 of [1]_, by which the benefit is maximal
if and only if the system is balanced, does not hold. The least example has V = (7, 12), q = 1/2,
m = 4: (1, 3) is balanced at price 7 and worth 28, (2, 2) has means 5.25 and 9 and is worth 28.5.
If prices did not fall, as the proofs take them, peers with tasks would be balanced only if their
values were equal; then moves between them change nothing, balanced or not.

A balanced state has at least half of the largest benefit. Take the price p and amounts A of one
(if caps bind, capped peers have means of p or more), and the maximum's amounts A*. The
benefit U_i of a peer is concave. Where A*_i > A_i it has room, and its marginal price is at most
its mean price p, or its first task is worth at most p if it is idle; thus
:math:`U_i(A^*_i) \le U_i(A_i) + p (A^*_i - A_i)^+`. The sum over peers is
:math:`U^* \le U + p m`, and U is at least p m, as no active peer's mean is below p. The factor 2 is
approached by one peer of a large value among enough of a small one.

References
----------
.. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
   Task-Bundle Allocation. NPC 2011.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, expm1, log
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats, in_order

# Prices that differ by less, relatively, are equal.
TOLERANCE = 1e-9
# Newton's steps and halvings of a bracket after which no digit changes any more.
_STEPS, _HALVINGS = 60, 200
# Below this 1 - exp(-x) - x is taken from its series.
_SMALL = 1e-4


@dataclass(frozen=True, eq=False)
class Balance:
    """A state in which prices of tasks are equal on average.

    Attributes
    ----------
    amounts : float64 or int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Mean price of each peer's tasks, except for idle peers and for peers at their caps, which
        may have a higher mean [price].
    benefit : float
        Global benefit, `price` m if no cap binds [price].
    """

    amounts: Floats | Amounts
    price: float
    benefit: float


def balanced_state(market: BundleMarket) -> Balance:
    """Return the balanced state of tasks that can be divided.

    It exists and is unique. Peers are idle if the value of an infinitesimal first part of a task is
    at most the price, V_i (-ln q_i) / alpha_i <= p; then V_i <= p too. If caps bind, peers at their
    caps keep a profit in every state in which all others are balanced.
    """
    first = market.log_value + log(market.log_q / expm1(market.log_q))
    paying = market.values > 0
    if not np.all(paying):
        room = np.where(paying, market.caps, 0)
        amounts = room.astype(np.float64)
        over = market.m - int(room.sum())
        if over >= 0:
            amounts += in_order(over, market.caps - room)
            return Balance(amounts, 0.0, market.benefit(amounts))
        found = balanced_state(market.among(paying))
        amounts[paying] = found.amounts
        return Balance(amounts, found.price, found.benefit)
    # Prices relative to the highest at which a peer buys, to which all are close at tiny discounts.
    highest = float(first.max())
    high = 0.0
    # Where all peers are at their caps.
    low = float(log(market.mean_prices(market.caps)).min()) - highest
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _balanced_amounts(market, first - highest, middle).sum() >= market.m:
            low = middle
        else:
            high = middle
    amounts = _balanced_amounts(market, first - highest, low)
    return Balance(amounts, exp(low + highest), market.benefit(amounts))


def _balanced_amounts(market: BundleMarket, first: Floats, log_price: float) -> Floats:
    """Return the amounts at which mean prices equal a price; `first` is the price of none [log]."""
    below = np.minimum(log_price - first, 0.0)
    share, lack = exp(below), -expm1(below)
    # With x = -a ln q the mean is (1 - exp(-x)) / x of the first; x is the second zero of
    # 1 - exp(-x) - share x, concave, which Newton's steps approach from a bound on its right.
    x = np.minimum(1 / share, 2 * lack / share)
    for _ in range(_STEPS):
        slope = expm1(-x) + lack
        series = -x * x * (0.5 - x / 6 + x * x / 24)
        bend = np.where(x < _SMALL, series, -expm1(-x) - x)
        step = np.where(slope < 0, (bend + lack * x) / np.minimum(slope, -1e-300), 0.0)
        x, before = np.maximum(x - step, 0.0), x
        if np.all(np.abs(x - before) <= 1e-13 * before):
            break
    return np.clip(-x / market.log_q, 0.0, market.caps)


def nearest_balance(market: BundleMarket) -> Balance:
    """Return a state of whole tasks that is balanced to less than one task of each peer.

    Each task goes to the peer with the highest mean price including it, ties to the lowest number.
    Thus all mean prices are at least `price`, the lowest of them, and those with one more task at
    most `price`. If a state of whole tasks is balanced with V_i <= p for idle peers, this is one.
    """
    amounts = np.floor(balanced_state(market).amounts * (1 - TOLERANCE)).astype(np.int64)
    means = market.mean_prices(np.minimum(amounts + 1, market.caps))
    heap = [(-means[peer], peer) for peer in np.flatnonzero(amounts < market.caps).tolist()]
    heapq.heapify(heap)
    for _ in range(market.m - int(amounts.sum())):
        _, peer = heapq.heappop(heap)
        amounts[peer] += 1
        if amounts[peer] < market.caps[peer]:
            total = market.values[peer] * expm1((amounts[peer] + 1) * market.log_q[peer])
            mean = total / expm1(market.log_q[peer]) / (amounts[peer] + 1)
            heapq.heappush(heap, (-mean, peer))
    price = float(np.min(market.mean_prices(amounts)[amounts > 0]))
    return Balance(amounts, price, market.benefit(amounts))


def is_balanced(
    market: BundleMarket, amounts: ArrayLike, price: float, tolerance: float = TOLERANCE
) -> bool:
    """Return True if no peer has a profit or loss, Definitions 4 and 5.

    Parameters
    ----------
    market : BundleMarket
        The market.
    amounts : array_like, shape (n_peers,)
        Tasks of each peer.
    price : float
        Market price p* [price].
    tolerance : float
        Largest relative difference of mean prices from it.
    """
    given = np.asarray(amounts)
    active = given > 0
    # Valid for fractions of tasks, too.
    means = market.sums(given)[active] / given[active]
    return bool(np.all(np.abs(means - price) <= tolerance * price))


def clearing_interval(market: BundleMarket, amounts: ArrayLike) -> tuple[float, float]:
    """Return the lowest and the highest price at which amounts are best responses.

    The lowest is the value of the best further task, 0 if caps leave none; the highest is that of
    the worst task of all peers. If the lowest is above the highest, there is no such price.

    Parameters
    ----------
    market : BundleMarket
        The market.
    amounts : array_like, shape (n_peers,)
        Tasks of each peer.

    Returns
    -------
    low, high : float
        The interval [price].
    """
    low, high = _log_interval(market, amounts)
    return exp(low), exp(high)


def _log_interval(market: BundleMarket, amounts: ArrayLike) -> tuple[float, float]:
    """Return the logarithms of `clearing_interval`."""
    given = np.asarray(amounts)
    following = np.where(given < market.caps, market.log_worth(given + 1), -np.inf)
    last = np.where(given > 0, market.log_worth(given), np.inf)
    return float(following.max()), float(last.min())


def best_response(
    market: BundleMarket, amounts: ArrayLike, price: float, tolerance: float = TOLERANCE
) -> bool:
    """Return True if amounts are the demand of all peers at a price.

    Amounts of m tasks have the largest global benefit if and only if there is such a price, which
    replaces Theorem 3. At it, each peer's profit U_i(A_i) - p A_i is maximal, and so is the sum of
    profits and p m, the benefit, among all amounts of m tasks. Conversely, without such a price a
    task of one peer has a lower value than a further one of another, and moving it is a gain.

    Parameters
    ----------
    market : BundleMarket
        The market.
    amounts : array_like, shape (n_peers,)
        Tasks of each peer.
    price : float
        Market price [price].
    tolerance : float
        Largest relative distance of values on the wrong side of it.
    """
    low, high = _log_interval(market, amounts)
    if price <= 0:
        return low == -np.inf
    return bool(low - tolerance <= log(price) <= high + tolerance)


def is_supported(market: BundleMarket, amounts: ArrayLike, tolerance: float = TOLERANCE) -> bool:
    """Return True if some price makes amounts best responses, that is if they are a maximum.

    Parameters
    ----------
    market : BundleMarket
        The market.
    amounts : array_like, shape (n_peers,)
        Tasks of each peer, m together.
    tolerance : float
        Largest relative distance of values on the wrong side of each other.
    """
    low, high = _log_interval(market, market.check(amounts))
    return low <= high + tolerance
