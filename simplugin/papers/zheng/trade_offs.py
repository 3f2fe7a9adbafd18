"""Completion time against global benefit: what a bundle can be worth within a time, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.errors import WorkloadError
from simplugin.market.discount_rates import positive_times, root
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
    each = positive_times(times)
    limits = BundleMarket(1.0 / each, m, caps, 0.5).caps
    return root(
        lambda limit: int(_within(each, limits, limit).sum()) - m, 0.0, float(np.max(limits * each))
    )


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
    market, each = BundleMarket(values, m, caps, q), positive_times(times)
    if each.shape != market.values.shape:
        raise WorkloadError(f"times have shape {each.shape}; give one a peer: {market.n_peers}")
    if n_points is not None and n_points < 2:
        raise WorkloadError(f"n_points is {n_points!r}; give 2 or more, or None for all points")
    least = least_completion(each, market.m, market.caps)
    points: list[tuple[float, BestBundle]] = []
    limit = np.inf
    while limit >= least:
        completion, best = _earliest(market, each, limit)
        points.append((completion, best))
        limit = float(np.nextafter(completion, 0.0))
        if n_points is not None and limit >= least:
            step = (points[0][0] - least) / (n_points - 1)
            # The grid's next limit below this point, but for rounding.
            below = np.ceil((completion - least) / step * (1 - _EQUAL)) - 1
            limit = min(limit, least + max(0.0, float(below)) * step)
    dates, found = zip(*reversed(points), strict=True)
    return Front(
        np.array(dates),
        np.array([each.benefit for each in found]),
        np.array([each.amounts for each in found]),
        np.array([each.price for each in found]),
    )


def _earliest(market: BundleMarket, each: Floats, limit: float) -> tuple[float, BestBundle]:
    """Return the best that ends within a limit, of as good ones the first to end, and its end."""
    found, within = None, _within(each, market.caps, limit)
    while int(within.sum()) >= market.m:
        best = largest_benefit(*market.among(caps=within).arguments)
        if found is not None and best.benefit < found[1].benefit * (1 - _EQUAL):
            break
        found = float(np.max(best.amounts * each)), best
        within = _within(each, market.caps, float(np.nextafter(found[0], 0.0)))
    assert found is not None
    return found


def _within(each: Floats, caps: Amounts, limit: float) -> Amounts:
    """Return how many tasks each peer ends within a limit, to the last bit."""
    if limit == np.inf:
        return caps
    amounts = np.clip(np.floor(limit / each), 0, caps).astype(np.int64)
    # The quotient may be rounded to the wrong side of a whole number.
    amounts += (amounts < caps) & ((amounts + 1) * each <= limit)
    amounts -= (amounts > 0) & (amounts * each > limit)
    return amounts
