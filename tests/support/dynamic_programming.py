"""The largest global benefit of a bundle by comparing all assignments."""

import numpy as np
from numpy.typing import ArrayLike

from simplugin.workloads.bundle_markets import BundleMarket


def dynamic_programming(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike) -> float:
    """Return the largest global benefit by dynamic programming over peers [price].

    It compares all assignments and uses nothing of the values but their sums, so that it would be
    right whatever the shape of the discount. Takes O(m sum(caps)) time and O(m) memory.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.
    """
    market = BundleMarket(values, m, caps, q)
    best = np.full(market.m + 1, -np.inf)
    best[0] = 0.0
    for value, cap, kept in zip(market.values, market.caps.tolist(), market.q, strict=True):
        with_peer, total, worth = best.copy(), 0.0, float(value)
        for number in range(1, cap + 1):
            total, worth = total + worth, worth * float(kept)
            np.maximum(with_peer[number:], best[:-number] + total, out=with_peer[number:])
        best = with_peer
    return float(best[-1])
