"""Dealing tasks out in turns, and to peers one after the other."""

from __future__ import annotations

import numpy as np

from simplugin.errors import InfeasibleError
from simplugin.workloads.bundle_markets import Amounts


def round_robin(count: int, caps: Amounts) -> Amounts:
    """Return how many tasks peers get in turns, one each in a turn as long as it takes any.

    In the last turn, those of the lowest numbers come first.

    Parameters
    ----------
    count : int
        How many tasks there are.
    caps : int64, shape (n_peers,)
        How many each peer takes at most.

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
    # After `low` whole turns tasks are left, or none; after `high` there are too few.
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
    """Return how many tasks peers get if each in an order takes as many as it may.

    Parameters
    ----------
    count : int
        How many tasks there are.
    caps : int64, shape (n_peers,)
        How many each peer takes at most.
    order : int64, shape (n_peers,)
        Numbers of the peers, the first to be served first.

    Returns
    -------
    int64, shape (n_peers,)
        Tasks of each.
    """
    before = np.cumsum(caps[order]) - caps[order]
    dealt = np.empty_like(caps)
    dealt[order] = np.clip(count - before, 0, caps[order])
    return dealt
