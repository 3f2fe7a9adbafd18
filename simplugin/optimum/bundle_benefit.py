"""The largest benefit of a bundle of identical tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp
from simplugin.optimum.solvers import certify
from simplugin.workloads.bundle_markets import LOWEST, Amounts, BundleMarket, Floats, in_order


@dataclass(frozen=True, eq=False)
class BestBundle:
    """The best that a bundle can be worth.

    Attributes
    ----------
    amounts : int64, shape (n_peers,)
        Tasks of each peer; where logarithms of values are equal to the last bit, those of
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
    # No unsold task is worth more than a sold one: exchanges gain nothing.
    gain = max(float(following.max()), LOWEST) - max(float(last.min()), LOWEST)
    gain = gain if amounts.sum() == market.m else np.inf
    certify(gain, "the best bundle", "give values closer to one another")
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
    """Assign the tasks between two amounts, the most valuable first."""
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
