"""The largest benefit of tasks that can be divided, in closed form, and what division gains."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, expm1, log
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.solvers import certify
from simplugin.workloads.bundle_markets import BundleMarket, Floats


@dataclass(frozen=True, eq=False)
class BundleRelaxation:
    """The largest benefit if tasks could be divided.

    Attributes
    ----------
    amounts : float64, shape (n_peers,)
        Tasks of each peer, not whole.
    benefit : float
        Global benefit, never less than that of whole tasks [price].
    price : float
        Value of a little more of a task, the price at which peers demand m tasks
        together [price].
    margin : float
        By how much the largest benefit of whole tasks may be less, at most [price].
    """

    amounts: Floats
    benefit: float
    price: float
    margin: float


def continuous_optimum(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike | None = None
) -> BundleRelaxation:
    r"""Return the largest benefit of tasks that can be divided, in closed form.

    At a price mu each peer demands :math:`a_i = \log_q(\alpha \mu / (-\ln q\, V_i))`, Eq. (9) of
    [1]_, from 0 to its cap: linear in the logarithm of mu between the prices at which a peer
    begins and stops to buy more. So mu is found by interpolation between two of those.

    Whole tasks lose little. With :math:`L = -\ln q`, no price p makes a peer want
    more than :math:`p\,h,\ h = 1/\alpha - 1/L - \ln(L/\alpha)/L \approx \alpha/8` for the right to
    divide tasks; at a price that clears the market of whole tasks their benefit is the sum of
    what all gain and p m, and that of the relaxation is at most such a sum. Hence `margin`,
    :math:`p \sum h_i` at the lowest clearing price. Where values of all tasks are given, a part
    of a task is worth that part of it, and nothing is gained by dividing tasks.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    BundleRelaxation
        The optimum; the highest price if caps leave several.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    market = BundleMarket(values, m, caps, q)
    paying = market.values > 0
    if market.table is not None or int(market.caps[paying].sum()) < market.m:
        best = largest_benefit(*market.arguments)
        return BundleRelaxation(best.amounts.astype(np.float64), best.benefit, best.price, 0.0)
    if not np.all(paying):
        found = continuous_optimum(*market.among(paying).arguments)
        amounts = np.zeros(market.n_peers)
        amounts[paying] = found.amounts
        return replace(found, amounts=amounts)
    # What the first bit of a task is worth, per task: V_i (-ln q) / alpha.
    first = market.log_value + log(market.log_q / expm1(market.log_q))
    last = first + market.caps * market.log_q
    # A rate may be too small for floats to distinguish the two.
    first = np.maximum(first, np.nextafter(last, np.inf))
    bends = np.unique(np.concatenate([first, last]))

    def demand(log_price: float) -> Floats:
        between = np.clip((log_price - first) / market.log_q, 0.0, market.caps)
        # Exact where a peer stops to buy: only so are several prices known to sell m tasks.
        return np.where(log_price <= last, market.caps, between)

    # Demand falls with the price: that of low is m or more, that of high fewer.
    low, high = 0, len(bends) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if demand(bends[middle]).sum() >= market.m else (low, middle)
    most, least = demand(bends[low]), demand(bends[high])
    part = float((most.sum() - market.m) / (most.sum() - least.sum()))
    log_price = float(bends[low] + part * (bends[high] - bends[low]))
    amounts = most + part * (least - most)
    placed = float(amounts.sum())
    certify(abs(placed / market.m - 1), "the divided bundle", "give values closer together")
    return BundleRelaxation(amounts, market.benefit(amounts), exp(log_price), _margin(market))


def _margin(market: BundleMarket) -> float:
    """Return by how much whole tasks may be worth less, at most; see `continuous_optimum`."""
    price = largest_benefit(*market.arguments).next_price
    alpha, rate = -expm1(market.log_q), -market.log_q
    gains = (rate - alpha) / (alpha * rate) - log(rate / alpha) / rate
    # For a small alpha the difference of both parts is lost in rounding.
    return price * float(np.sum(np.where(alpha > 1e-4, gains, alpha / 8 * (1 + alpha))))
