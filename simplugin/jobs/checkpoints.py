"""Intervals between checkpoints."""

from __future__ import annotations

import math


def young_interval(cost: float, mtbf: float) -> float:
    """Return the time of work between checkpoints by Young's formula [s].

    Parameters
    ----------
    cost : float
        Time of writing a checkpoint [s].
    mtbf : float
        Mean time between failures of the job's nodes together [s].

    References
    ----------
    .. [1] J. Young (1974). A first order approximation to the optimum checkpoint interval. CACM.
    """
    return math.sqrt(2 * cost * mtbf)


def daly_interval(cost: float, mtbf: float) -> float:
    """Return the time of work between checkpoints by Daly's higher order formula [s].

    References
    ----------
    .. [1] J. Daly (2006). A higher order estimate of the optimum checkpoint interval for restart
       dumps. Future Generation Computer Systems.
    """
    if cost >= 2 * mtbf:
        return mtbf
    ratio = cost / (2 * mtbf)
    return math.sqrt(2 * cost * mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - cost
