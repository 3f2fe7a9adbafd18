"""The assignment of a bundle's tasks that maximises the global benefit, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.elementary import exp
from simplugin.optimum.certificates import certified
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats


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
        What the last task that is sold is worth, the highest clearing price [price].
    next_price : float
        What the best task that is not sold would be worth, below or at which nothing clears; 0 if
        caps leave none [price].
    """

    amounts: Amounts
    benefit: float
    price: float
    next_price: float

    def clears(self, price: float) -> bool:
        """Whether peers buy exactly all tasks at a price, if ties are rationed."""
        return self.next_price <= price <= self.price


def largest_benefit(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike) -> BestBundle:
    r"""Return the assignment with the largest global benefit, and the prices that clear it.

    The benefit is separable and concave in integers, so that the m largest of all values
    :math:`V_i q_i^{k-1}, k \le cap_i` are a maximum [1]_. A price is found by bisection such that
    few tasks are worth about as much; these are sorted. That takes O(n log) time whatever m is.

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
    sure, most = _bracket(market)
    amounts = _settled(market, sure, most)
    sold, open_ = amounts > 0, amounts < market.caps
    last = np.where(sold, market.log_worth(amounts), np.inf)
    following = np.where(open_, market.log_worth(amounts + 1), -np.inf)
    # Nothing unsold is worth more than what is sold: exchanges gain nothing.
    gain = float(np.max(following) - np.min(last)) if amounts.sum() == market.m else np.inf
    certified(gain, "the best bundle", "give values closer to one another")
    return BestBundle(
        amounts,
        market.benefit(amounts),
        exp(last.min()),
        exp(following.max()),
    )


def _bracket(market: BundleMarket) -> tuple[Amounts, Amounts]:
    """Return amounts that are surely sold and that are at most sold, few tasks apart."""
    caps = market.caps
    high = float(market.log_value[caps > 0].max())
    low = float(market.log_worth(caps)[caps > 0].min())
    sure, most = np.zeros_like(caps), caps
    while int((most - sure).sum()) > 4 * market.n_peers:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        counts = market.above(middle)
        if counts.sum() <= market.m:
            sure, high = counts, middle
        else:
            most, low = counts, middle
    return sure, most


def _settled(market: BundleMarket, sure: Amounts, most: Amounts) -> Amounts:
    """Hand out the tasks between two amounts, the most valuable first."""
    left = market.m - int(sure.sum())
    doubtful = most - sure
    peers = np.repeat(np.arange(market.n_peers), doubtful)
    first = np.cumsum(doubtful) - doubtful
    number = sure[peers] + 1 + np.arange(len(peers)) - first[peers]
    worth: Floats = market.log_value[peers] + (number - 1) * market.log_q[peers]
    # Stable: of equal tasks those of the lowest peer come first, and of one peer in their order.
    chosen = np.argsort(-worth, kind="stable")[:left]
    return sure + np.bincount(peers[chosen], minlength=market.n_peers)
