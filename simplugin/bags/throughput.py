"""Throughput of an execution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.bags.execution import Execution

# The part of the time at either end that does not count, section 6.1.1.
EPSILON = 0.1


def experimental(execution: Execution, epsilon: float = EPSILON) -> NDArray[np.float64]:
    """Return the experimental throughput of each application, section 6.1.1 of [1]_.

    With T the earliest date by which all tasks of some application are done, it is the number of
    tasks done between epsilon T and (1 - epsilon) T, over that time. One task that ends late can
    make T, and with it every throughput, mean little; `slope` does not depend on it so much.

    Parameters
    ----------
    execution : Execution
        Dates of all completions.
    epsilon : float
        In [0, 0.5).

    Returns
    -------
    float64, shape (n_applications,)
        Throughputs [tasks/s]; nan where there are too few tasks to measure one: fewer than
        `least_count`, so that the part left out at either end is less than a task, or all of an
        application that determines T end after (1 - epsilon) T. All are nan if none ended.

    Raises
    ------
    WorkloadError
        `epsilon` is out of its range.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    count = execution.bags.count.tolist()
    least = least_count(epsilon)
    ends = [
        dates[-1] if len(dates) == tasks else math.inf
        for dates, tasks in zip(execution.completion, count, strict=True)
    ]
    end = min(ends)
    if not 0 < end < math.inf:
        return np.full(len(ends), math.nan)
    low, high = epsilon * end, (1 - epsilon) * end
    rates = []
    for dates, tasks, last in zip(execution.completion, count, ends, strict=True):
        before, until = np.searchsorted(dates, (low, high), side="right").tolist()
        is_few = tasks < least or (last == end and not until)
        rates.append(math.nan if is_few else (until - before) / (high - low))
    return np.array(rates)


def least_count(epsilon: float = EPSILON) -> int:
    """Return how many tasks an application needs for an experimental throughput.

    Parameters
    ----------
    epsilon : float
        In [0, 0.5).

    Raises
    ------
    WorkloadError
        `epsilon` is out of its range.
    """
    if not 0 <= epsilon < 0.5:
        raise WorkloadError(f"epsilon is {epsilon!r}; give a number from 0 on, under 0.5")
    return math.ceil(1 / epsilon) if epsilon else 2


def slope(execution: Execution, low: float = 0.1, high: float = 0.9) -> NDArray[np.float64]:
    """Return each application's tasks per time between two fractions of its completions.

    Parameters
    ----------
    execution : Execution
        Dates of all completions.
    low, high : float
        The fractions, 0 <= low < high <= 1.

    Returns
    -------
    float64, shape (n_applications,)
        Throughputs [tasks/s]; 0 where not so many tasks were done, nan where there are too few
        tasks to measure: no two of them, at different dates, stand at the fractions.

    Raises
    ------
    WorkloadError
        A fraction is out of its range.
    """
    if not 0 <= low < high <= 1:
        raise WorkloadError(f"low is {low!r}, high {high!r}; give numbers 0 <= low < high <= 1")
    rates = []
    for dates, count in zip(execution.completion, execution.bags.count.tolist(), strict=True):
        first, last = max(int(low * count), 1) - 1, max(int(high * count), 1) - 1
        if len(dates) <= last and last > first:
            rates.append(0.0)
        elif last > first and dates[last] > dates[first]:
            rates.append((last - first) / (dates[last] - dates[first]))
        else:
            rates.append(math.nan)
    return np.array(rates)


def fair(throughput: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the fair throughput, the smallest per unit of weight [tasks/s]; nan if one is."""
    return float(np.min(throughput / weight))
