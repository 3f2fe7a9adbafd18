"""Lower bounds on schedules of rigid jobs on equal nodes.

Jobs are given by arrays of shape (n_jobs,): the date of submission [s], the number of nodes, and
the duration [s].

References
----------
S. P. Fekete, J. Schepers: New classes of fast lower bounds for bin packing problems. Mathematical
Programming 91, 2001 (nodes of wide jobs). M. X. Goemans, M. Queyranne, A. S. Schulz,
M. Skutella, Y. Wang: Single machine scheduling with release dates. SIAM Journal on Discrete
Mathematics 15, 2002 (mean busy dates).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import InfeasibleError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class LastEndBound:
    """A date before which no schedule ends.

    Attributes
    ----------
    value : float
        The date [s].
    kind : {"longest", "area", "wide"}
        The proof: one job, the area of all, or the area where wide jobs occupy all nodes.
    """

    value: float
    kind: Literal["longest", "area", "wide"]


def last_end_bound(submit: Floats, size: Integers, time: Floats, n_nodes: int) -> LastEndBound:
    """Return the date before which the last job cannot end.

    What is submitted from a date on needs at least its area over all nodes from then on. For every
    k up to half of the nodes, jobs on more than ``n_nodes - k`` nodes can be counted as if they
    had all nodes, if jobs on fewer than k do not count.

    Raises
    ------
    InfeasibleError
        A job is larger than the machine.
    """
    _check(size, n_nodes)
    if not len(size):
        return LastEndBound(0.0, "longest")
    best = LastEndBound(float((submit + time).max()), "longest")
    order = np.argsort(submit, kind="stable")
    submit, size, time = submit[order], size[order], time[order]
    halves = np.unique(np.concatenate([size, n_nodes + 1 - size]))
    for k in [1, *halves[(halves > 1) & (2 * halves <= n_nodes)].tolist()]:
        counted = np.where(size > n_nodes - k, n_nodes, np.where(size < k, 0, size))
        later = np.cumsum((counted * time)[::-1])[::-1]
        value = float((submit + later / n_nodes)[counted > 0].max(initial=0.0))
        if value > best.value:
            best = LastEndBound(value, "area" if k == 1 else "wide")
    return best


def sum_of_ends_bound(submit: Floats, size: Integers, time: Floats, n_nodes: int) -> float:
    """Return a lower bound on the sum of the dates at which jobs end [s].

    A job that computes from its start to its end has its mean busy date half its duration before
    its end. The sum of the mean busy dates is least if the machine as a whole does one job after
    the other, always the one of the smallest area that is submitted, even if it interrupts another.

    Raises
    ------
    InfeasibleError
        A job is larger than the machine.
    """
    _check(size, n_nodes)
    area = size * time / n_nodes
    alone = float((submit + time).sum())
    waiting: list[tuple[float, int]] = []
    left = area.tolist()
    mean, now = 0.0, 0.0
    order = np.argsort(submit, kind="stable").tolist()
    dates = [*submit[order].tolist(), np.inf]
    for place, job in enumerate(order):
        now = max(now, dates[place])
        if left[job]:
            heappush(waiting, (left[job], job))
        else:
            mean += dates[place]
        while waiting and now < dates[place + 1]:
            # The area of the whole job decides, not what is left of it.
            whole, first = waiting[0]
            done = min(left[first], dates[place + 1] - now)
            mean += done / whole * (now + done / 2)
            now += done
            left[first] -= done
            if not left[first]:
                heappop(waiting)
    return max(alone, mean + float(time.sum()) / 2)


def _check(size: Integers, n_nodes: int) -> None:
    """Raise InfeasibleError if a job is larger than the machine."""
    if len(size) and size.max() > n_nodes:
        raise InfeasibleError(f"a job needs {size.max()} nodes of {n_nodes}; leave it out")
