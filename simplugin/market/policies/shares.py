"""Tasks assigned in turns, in proportion to prices, or at a flat price."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market.policies.clearing import ask_all, counts_of, opening
from simplugin.market.policies.negotiation import (
    Agreement,
    AnsweringPeer,
    BundleNegotiation,
    Scheduler,
    negotiate,
)
from simplugin.workloads.bundle_markets import MOST_OFF, WHOLE_SHARE, Amounts, BundleMarket, Floats


def round_robin(count: int, caps: Amounts) -> Amounts:
    """Return the tasks of peers that get one task in each turn, up to their caps.

    In the last turn, peers of the lowest numbers come first.

    Parameters
    ----------
    count : int
        The number of tasks.
    caps : int64, shape (n_peers,)
        Maximum number of tasks of each peer.

    Returns
    -------
    int64, shape (n_peers,)
        Tasks of each.

    Raises
    ------
    InfeasibleError
        The caps leave tasks over.
    """
    low, high = 0, int(caps.max(initial=0)) + 1
    if count > int(caps.sum()):
        raise InfeasibleError(
            f"{count} tasks cannot be dealt: peers take {int(caps.sum())}; raise their caps"
        )
    # There are enough tasks for `low` whole turns, and too few for `high`.
    while high - low > 1:
        turns = (low + high) // 2
        if int(np.minimum(caps, turns).sum()) <= count:
            low = turns
        else:
            high = turns
    dealt = np.minimum(caps, low)
    further = np.flatnonzero(caps > low)[: count - int(dealt.sum())]
    dealt[further] += 1
    return dealt


def one_by_one(count: int, caps: Amounts, order: Amounts) -> Amounts:
    """Return the tasks of peers that fill their caps in a given order.

    Parameters
    ----------
    count : int
        The number of tasks.
    caps : int64, shape (n_peers,)
        Maximum number of tasks of each peer.
    order : int64, shape (n_peers,)
        Numbers of the peers in the order of service.

    Returns
    -------
    int64, shape (n_peers,)
        Tasks of each.
    """
    before = np.cumsum(caps[order]) - caps[order]
    dealt = np.empty_like(caps)
    dealt[order] = np.clip(count - before, 0, caps[order])
    return dealt


def proportional_share(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return tasks in proportion to the peers' base prices, by the largest remainder.

    A peer whose share exceeds its cap gets its cap; the others share the rest. Shares are rounded
    down; the remaining tasks go to the largest remainders, ties to the lowest number. As a base
    price is the inverse of the time of a task, peers without caps finish at about the same time.

    Parameters
    ----------
    values, n_tasks, capacities, discounts
        As `values`, `m`, `caps` and `q` of `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The mean deal price, at which peers together neither gain nor lose: sharing sets none
        [price].

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    amounts = in_proportion(market.values, market.m, market.caps)
    return amounts, market.benefit(amounts) / market.m


def in_proportion(weights: Floats, count: int, caps: Amounts) -> Amounts:
    """Return whole numbers in proportion to weights, by the largest remainder under caps.

    Parameters
    ----------
    weights : float64, shape (n_peers,)
        Weights from 0 on. After all others have reached their caps, peers of weight 0 share the
        rest equally.
    count : int
        Sum of the numbers, at most that of the caps; fewer than 2^53. From about 1e9 on
        numbers may be off by rounding, but never their sum.
    caps : int64, shape (n_peers,)
        Maximum of each.

    Returns
    -------
    int64, shape (n_peers,)
        The numbers.

    Raises
    ------
    WorkloadError
        A weight is negative or not a number, or the sum of all overflows.
    InfeasibleError
        The caps add up to less than the count.
    """
    if not np.all((weights >= 0) & (weights <= np.finfo(np.float64).max / max(len(weights), 1))):
        raise WorkloadError(f"weights are {weights!r}; give numbers from 0 on that can be added up")
    if (room := int(caps.sum())) < count:
        raise InfeasibleError(
            f"{count} tasks cannot be shared out under caps of {room} together; raise the caps"
        )
    shares = _shares(weights, count, caps)
    hair = np.minimum(WHOLE_SHARE * np.maximum(shares, 1), MOST_OFF)
    amounts = np.floor(shares + hair).astype(np.int64)
    remainder = np.maximum(shares - amounts, 0)
    # Remainders that differ by rounding only are equal.
    ranked = np.lexsort((np.arange(len(shares)), -np.round(remainder, 9)))
    while left := count - int(amounts.sum()):
        # The sum of many rounded shares may be too large; then some are reduced.
        able = ranked[amounts[ranked] < caps[ranked]] if left > 0 else ranked[amounts[ranked] > 0]
        chosen = able[:left] if left > 0 else able[left:]
        amounts[chosen] += 1 if left > 0 else -1
    return amounts


def _shares(weights: Floats, count: int, caps: Amounts) -> Floats:
    """Return shares in proportion to weights, none beyond its cap, that add up to `count`."""
    limited = np.zeros(len(weights), dtype=bool)
    while True:
        rest = count - int(caps[limited].sum())
        open_ = np.where(limited, 0.0, weights)
        free = open_.sum()
        if not free > 0:
            open_ = np.where(limited, 0.0, 1.0)
            free = max(open_.sum(), 1.0)
        # Divided first: the product of tiny weights would underflow.
        shares = np.where(limited, caps, open_ / free * rest)
        beyond = ~limited & (shares >= caps)
        if not np.any(beyond):
            return shares
        limited |= beyond


def commodity(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the result of a flat commodity market, which sells all tasks at a constant price.

    The price is the mean of the base prices, Eq. (8) of [1]_, of the peers that may take tasks, as
    in the repaired ISGBMAT. The demand of each peer at that price is that of Eq. (12). Tasks are
    sold in turns, one for each peer. Tasks without demand are assigned in turns, too, to all peers
    under their caps. In the last turn peers of the lowest numbers come first. [1]_ only cites flat
    commodity markets [2]_; this is one reading.

    Parameters
    ----------
    values, n_tasks, capacities, discounts
        As `values`, `m`, `caps` and `q` of `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The flat price, which may be above the values of assigned tasks [price].

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
    agreed = negotiate(COMMODITY, values, n_tasks, capacities, discounts)
    return agreed.amounts, agreed.price


def commodity_equal(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the result of a flat commodity market of equal prices, in which turns decide.

    Parameters and errors as those of `commodity`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The mean of the base prices of the peers that may take tasks [price].
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    return round_robin(market.m, market.caps), float(market.values[market.caps > 0].mean())


def commodity_cheapest(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the result of a flat commodity market in which users choose the cheapest peer.

    Peers post their base prices without discount. Ties go to the lowest number. Parameters and
    errors as those of `commodity`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Price posted by the dearest peer that gets tasks [price].
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    amounts = one_by_one(market.m, market.caps, np.argsort(market.values, kind="stable"))
    return amounts, float(market.values[amounts > 0].max())


def _scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    """Sell at the flat price in two rounds."""
    caps, (values,) = yield from opening(n_peers, m, ("base", m))
    price = float(values[caps > 0].mean())
    (counts,) = yield from ask_all(n_peers, ("flat", price))
    wanted = counts_of(counts)
    sold = round_robin(min(m, int(wanted.sum())), wanted)
    return Agreement(sold + round_robin(m - int(sold.sum()), caps - sold), price)


COMMODITY = BundleNegotiation("commodity", _scheduler, AnsweringPeer)
