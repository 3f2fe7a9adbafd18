"""Completion time against global benefit: what a bundle can be worth within a time, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

# Benefits that differ by less, relatively, are equal.
_EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Front:
    """Assignments none of which is beaten in both completion time and benefit.

    Attributes
    ----------
    completion : float64, shape (n_points,)
        Longest time that a peer takes for its tasks, ascending from the least that is possible [s].
    benefit : float64, shape (n_points,)
        Global benefit, ascending to the largest that is possible [price].
    amounts : int64, shape (n_points, n_peers)
        Tasks of each peer.
    price : float64, shape (n_points,)
        Value of the last task that is sold [price].
    """

    completion: Floats
    benefit: Floats
    amounts: Amounts
    price: Floats

    def __len__(self) -> int:
        """Return how many points there are."""
        return len(self.completion)


def least_completion(times: ArrayLike, m: int, caps: ArrayLike) -> float:
    """Return the least completion time of a bundle [s].

    It is the m-th smallest of all k t_i, k <= cap_i, found by bisection over all numbers that a
    computer knows: a completion time is the product as it is rounded, so that ties stay ties.

    Parameters
    ----------
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    m, caps
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.
    """
    each = _times(times)
    limits = BundleMarket(1.0 / each, m, caps, 0.5).caps
    low, high = 0.0, float(np.max(limits * each))
    while low < (middle := low + 0.5 * (high - low)) < high:
        if _within(each, limits, middle).sum() >= m:
            high = middle
        else:
            low = middle
    return high


def benefit_within(
    values: ArrayLike, times: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, limit: float
) -> BestBundle:
    """Return the assignment of the largest global benefit that ends within a time.

    That no peer's tasks take longer than T, A_i t_i <= T, is a cap on each, floor(T / t_i), so that
    the maximum stays exact.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    limit : float
        T [s].

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over, or the limit is below the least completion time.
    """
    market, each = _market(values, times, m, caps, q)
    within = _within(each, market.caps, limit)
    if int(within.sum()) < market.m:
        least = least_completion(each, market.m, market.caps)
        raise InfeasibleError(
            f"{market.m} tasks cannot end within {limit!r} s; give {least!r} s or more"
        )
    return largest_benefit(*market.among(caps=within).arguments)


def front(
    values: ArrayLike,
    times: ArrayLike,
    m: int,
    caps: ArrayLike,
    q: ArrayLike,
    n_points: int | None = None,
) -> Front:
    """Return what a bundle can be worth at most within each completion time.

    Every point is exact: no assignment is worth more that ends as early, and none ends earlier
    that is worth as much. The first has the least completion time, the last the largest benefit.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    n_points : int, optional
        Of how many limits, evenly spread between both ends, to give the best; fewer points if
        some limits have the same. All points of the front without, which may be up to about m.

    Returns
    -------
    Front
        The points.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.
    """
    market, each = _market(values, times, m, caps, q)
    if n_points is not None and n_points < 2:
        raise WorkloadError(f"n_points is {n_points!r}; give 2 or more, or None for all points")
    least = least_completion(each, market.m, market.caps)
    points: list[_Point] = []
    limit = np.inf
    while limit >= least:
        point = _earliest(market, each, limit)
        points.append(point)
        limit = float(np.nextafter(point.completion, 0.0))
        if n_points is not None and limit >= least:
            step = (points[0].completion - least) / (n_points - 1)
            # The grid's next limit below this point, but for rounding.
            below = np.ceil((point.completion - least) / step * (1 - _EQUAL)) - 1
            limit = min(limit, least + max(0.0, float(below)) * step)
    points.reverse()
    return Front(
        np.array([each.completion for each in points]),
        np.array([each.best.benefit for each in points]),
        np.array([each.best.amounts for each in points]),
        np.array([each.best.price for each in points]),
    )


@dataclass(frozen=True, eq=False)
class _Point:
    """An assignment and its completion time."""

    best: BestBundle
    completion: float


def _best(market: BundleMarket, each: Floats, limit: float) -> _Point:
    """Return the best that ends within a limit."""
    best = largest_benefit(*market.among(caps=_within(each, market.caps, limit)).arguments)
    return _Point(best, float(np.max(best.amounts * each)))


def _earliest(market: BundleMarket, each: Floats, limit: float) -> _Point:
    """Return the best that ends within a limit, and of as good ones what ends first."""
    point = _best(market, each, limit)
    while True:
        earlier = float(np.nextafter(point.completion, 0.0))
        if int(_within(each, market.caps, earlier).sum()) < market.m:
            return point
        other = _best(market, each, earlier)
        if other.best.benefit < point.best.benefit * (1 - _EQUAL):
            return point
        point = other


def _within(each: Floats, caps: Amounts, limit: float) -> Amounts:
    """Return how many tasks each peer ends within a limit, to the last bit."""
    if limit == np.inf:
        return caps
    amounts = np.clip(np.floor(limit / each), 0, caps).astype(np.int64)
    # The quotient may be rounded to the wrong side of a whole number.
    amounts += (amounts < caps) & ((amounts + 1) * each <= limit)
    amounts -= (amounts > 0) & (amounts * each > limit)
    return amounts


def _market(
    values: ArrayLike, times: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike
) -> tuple[BundleMarket, Floats]:
    """Check the arguments."""
    market, each = BundleMarket(values, m, caps, q), _times(times)
    if each.shape != market.values.shape:
        raise WorkloadError(f"times have shape {each.shape}; give one a peer: {market.n_peers}")
    return market, each


def _times(times: ArrayLike) -> Floats:
    """Check times."""
    each = np.asarray(times, dtype=np.float64)
    if each.ndim != 1 or not each.size or not np.all(np.isfinite(each) & (each > 0)):
        raise WorkloadError(f"times are {times!r}; give a positive number of seconds a peer")
    return each
