"""What throughput an execution had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.bags.execution import Execution

# The part of the time at either end that does not count, section 6.1.1.
EPSILON = 0.1


def experimental(execution: Execution, epsilon: float = EPSILON) -> NDArray[np.float64]:
    """Return the experimental throughput of each application, as section 6.1.1 of [1]_ has it.

    With T the earliest date by which all tasks of some application are done, it is the number of
    tasks done between epsilon T and (1 - epsilon) T, over that time. One task that ends late can
    make T, and with it every throughput, mean little; `slope` does not depend on it so much.

    Parameters
    ----------
    execution : Execution
        What was done when.
    epsilon : float
        In [0, 0.5).

    Returns
    -------
    float64, shape (n_applications,)
        Throughputs [tasks/s].

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    ends = [
        dates[-1]
        for dates, count in zip(execution.completion, execution.bags.count, strict=True)
        if len(dates) == count
    ]
    if not ends or min(ends) <= 0:
        return np.zeros(execution.bags.n_applications, dtype=np.float64)
    end = min(ends)
    low, high = epsilon * end, (1 - epsilon) * end
    counts = [
        np.searchsorted(dates, high, side="right") - np.searchsorted(dates, low, side="right")
        for dates in execution.completion
    ]
    rates: NDArray[np.float64] = np.array(counts, dtype=np.float64) / (high - low)
    return rates


def slope(execution: Execution, low: float = 0.1, high: float = 0.9) -> NDArray[np.float64]:
    """Return each application's tasks per time between two fractions of its completions.

    Parameters
    ----------
    execution : Execution
        What was done when.
    low, high : float
        The fractions.

    Returns
    -------
    float64, shape (n_applications,)
        Throughputs [tasks/s]; 0 where not so many tasks were done.
    """
    rates = []
    for dates, count in zip(execution.completion, execution.bags.count.tolist(), strict=True):
        first, last = max(int(low * count), 1) - 1, max(int(high * count), 1) - 1
        done = len(dates) > last > first and dates[last] > dates[first]
        rates.append((last - first) / (dates[last] - dates[first]) if done else 0.0)
    return np.array(rates)


def fair(throughput: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the fair throughput, the smallest per unit of weight [tasks/s]."""
    return float(np.min(throughput / weight))
