"""Proportional share: as many tasks as a peer's price is of all prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.workloads.bundle_markets import (
    MOST_OFF,
    WHOLE_SHARE,
    Amounts,
    BundleMarket,
    Floats,
)


def proportional_share(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /
) -> tuple[Amounts, float]:
    """Return tasks in proportion to the peers' base prices, by the largest remainder.

    A peer whose share is beyond its cap gets its cap; the others share the rest. Shares are
    rounded down; tasks then left over go to the largest remainders, of equal ones to the lowest
    number. As a base price is the inverse of the time that a task takes, peers without caps
    finish at about the same time.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

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
    market = BundleMarket(values, m, caps, q)
    amounts = in_proportion(market.values, market.m, market.caps)
    return amounts, market.benefit(amounts) / market.m


def in_proportion(weights: Floats, count: int, caps: Amounts) -> Amounts:
    """Return whole numbers in proportion to weights, by the largest remainder under caps.

    Parameters
    ----------
    weights : float64, shape (n_peers,)
        From 0 on. Once all others have their caps, those of weight 0 share the rest equally.
    count : int
        What the numbers add up to, no more than the caps do; fewer than 2^53. From about 1e9 on
        numbers may be off by what a float cannot tell apart, but never their sum.
    caps : int64, shape (n_peers,)
        What each is at most.

    Returns
    -------
    int64, shape (n_peers,)
        The numbers.

    Raises
    ------
    WorkloadError
        A weight is no number from 0 on, or so large that a float cannot add them up.
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
    # Remainders that differ by rounding only are ties.
    ranked = np.lexsort((np.arange(len(shares)), -np.round(remainder, 9)))
    while left := count - int(amounts.sum()):
        # Shares of many tasks may be rounded to too many together; then some go back.
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
        # Parts first: numbers that are next to nothing have no quotient with the rest.
        shares = np.where(limited, caps, open_ / free * rest)
        beyond = ~limited & (shares >= caps)
        if not np.any(beyond):
            return shares
        limited |= beyond
