"""The exact trade-off of completion time and global benefit of a bundle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.errors import WorkloadError
from simplugin.market.discount_rates import positive_times, root
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

# Relative difference of benefits that count as equal.
_EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Front:
    """Assignments that are not dominated in completion time and benefit.

    Attributes
    ----------
    completion : float64, shape (n_points,)
        Longest time of a peer, ascending from the least possible completion time [s].
    benefit : float64, shape (n_points,)
        Global benefit, ascending to the largest possible one [price].
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
        """Return the number of points."""
        return len(self.completion)


def least_completion(times: ArrayLike, m: int, caps: ArrayLike) -> float:
    """Return the least completion time of a bundle [s].

    It is the m-th smallest of all k t_i, k <= cap_i, found by bisection over all floating-point
    numbers: completion times are rounded products, so that ties stay ties.

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
    """Return the largest benefit of a bundle within each completion time.

    Every point is exact: no assignment that ends as early has a larger benefit, and none of that
    benefit ends earlier. The first has the least completion time, the last the largest benefit.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    n_points : int, optional
        Number of evenly spaced time limits for which the best point is returned; equal points are
        merged. None for all points of the front, up to about m.

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
            # The next limit of the grid below this point, up to rounding.
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
    """Return the earliest end within a limit and its assignment of largest benefit."""
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
    """Return the number of tasks that each peer ends within a limit, to the last bit."""
    if limit == np.inf:
        return caps
    amounts = np.clip(np.floor(limit / each), 0, caps).astype(np.int64)
    # The quotient may be rounded to the wrong side of a whole number.
    amounts += (amounts < caps) & ((amounts + 1) * each <= limit)
    amounts -= (amounts > 0) & (amounts * each > limit)
    return amounts
