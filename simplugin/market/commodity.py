"""Commodity markets with a flat price, in three readings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from simplugin.market.dealing import one_by_one, round_robin
from simplugin.workloads.bundle_markets import Amounts, BundleMarket


def commodity(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /) -> tuple[Amounts, float]:
    """Return a flat commodity market: tasks are sold at a price that stays as it was first set.

    The price is the mean of the base prices, Eq. (8) of [1]_, of the peers that may take tasks,
    as in the repaired ISGBMAT. Each peer wants as many tasks as it
    buys there by Eq. (12). Tasks are sold in turns, one each in a turn. What nobody wants at that
    price is dealt in turns too, to all who are under their caps. In the last turn peers of the
    lowest numbers come first. [1]_ only cites flat commodity markets [2]_; this is one reading.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The flat price; at it peers lose by tasks that are dealt to them [price].

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
    .. [2] R. Buyya (2002). Economic-based Distributed Resource Management and Scheduling for Grid
       Computing. PhD thesis, Monash University.
    """
    market = BundleMarket(values, m, caps, q)
    price = float(market.values[market.caps > 0].mean())
    wanted = market.response(price)
    sold = round_robin(min(market.m, int(wanted.sum())), wanted)
    rest = round_robin(market.m - int(sold.sum()), market.caps - sold)
    return sold + rest, price


def commodity_equal(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /
) -> tuple[Amounts, float]:
    """Return a flat commodity market in which all peers cost the same, so that turns decide.

    Parameters and errors as those of `commodity`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The mean of the base prices of the peers that may take tasks [price].
    """
    market = BundleMarket(values, m, caps, q)
    return round_robin(market.m, market.caps), float(market.values[market.caps > 0].mean())


def commodity_cheapest(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /
) -> tuple[Amounts, float]:
    """Return a flat commodity market in which users go to the cheapest peer that takes tasks.

    Peers post their base prices without discount. Ties go to the lowest number. Parameters and
    errors as those of `commodity`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        What the dearest peer that gets tasks has posted [price].
    """
    market = BundleMarket(values, m, caps, q)
    amounts = one_by_one(market.m, market.caps, np.argsort(market.values, kind="stable"))
    return amounts, float(market.values[amounts > 0].max())
