"""Simple ways to take back tasks that are too many, to compare ISGBMAT's trimming with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from simplugin.market.proportional import in_proportion
from simplugin.workloads.bundle_markets import Amounts


def from_last(amounts: Amounts, m: int) -> Amounts:
    """Return what is left if the peer of the highest number gives back first, then the next.

    Parameters
    ----------
    amounts : int64, shape (n_peers,)
        Tasks of each peer, m or more together.
    m : int
        How many there should be.

    Returns
    -------
    int64, shape (n_peers,)
        Tasks of each.
    """
    before = np.cumsum(amounts) - amounts
    left: Amounts = np.clip(m - before, 0, amounts)
    return left


def proportionally(amounts: Amounts, m: int) -> Amounts:
    """Return what is left if peers give back in proportion to their tasks.

    Parameters and what is returned as those of `from_last`.
    """
    return in_proportion(amounts.astype(np.float64), m, amounts)


TRIMS: Mapping[str, Callable[[Amounts, int], Amounts]] = {
    "from the last peer": from_last,
    "in proportion": proportionally,
}
