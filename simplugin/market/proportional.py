"""Proportional share: as many tasks as a peer's price is of all prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

# A share that is a whole number but for rounding is one; relative.
_WHOLE = 1e-12


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
        From 0 on.
    count : int
        What the numbers add up to, no more than the caps do.
    caps : int64, shape (n_peers,)
        What each is at most.

    Returns
    -------
    int64, shape (n_peers,)
        The numbers.
    """
    shares = _shares(weights, count, caps)
    amounts = np.floor(shares + _WHOLE * np.maximum(shares, 1)).astype(np.int64)
    remainder = np.maximum(shares - amounts, 0)
    left = count - int(amounts.sum())
    # Remainders that differ by rounding only are ties.
    ranked = np.lexsort((np.arange(len(shares)), -np.round(remainder, 9), amounts == caps))
    amounts[ranked[:left]] += 1
    return amounts


def _shares(weights: Floats, count: int, caps: Amounts) -> Floats:
    """Return shares in proportion to weights, none beyond its cap, that add up to `count`."""
    limited = np.zeros(len(weights), dtype=bool)
    while True:
        rest = count - int(caps[limited].sum())
        open_ = np.where(limited, 0.0, weights)
        free = open_.sum()
        # Parts first: numbers that are next to nothing have no quotient with the rest.
        parts = open_ / free if free > 0 else open_
        shares = np.where(limited, caps, parts * rest)
        beyond = ~limited & (shares >= caps)
        if not np.any(beyond):
            return shares
        limited |= beyond
