"""Other ways to the largest global benefit of a bundle: to check it, and its continuous relaxation.

`simplugin.optimum.bundle_benefit.largest_benefit` is exact and faster than all of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.elementary import exp, expm1, log
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.solvers import certified, loaded, solve_by_clarabel, solved
from simplugin.workloads.bundle_markets import BundleMarket, Floats


@dataclass(frozen=True, eq=False)
class BundleRelaxation:
    """The largest benefit if tasks could be divided.

    Attributes
    ----------
    amounts : float64, shape (n_peers,)
        Tasks of each peer, not whole.
    benefit : float
        Global benefit, never less than that of whole tasks [price].
    price : float
        Value of a little more of a task, the price at which peers demand m tasks
        together [price].
    margin : float
        By how much the largest benefit of whole tasks may be less, at most [price].
    """

    amounts: Floats
    benefit: float
    price: float
    margin: float


def assignment_program(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike | None = None
) -> tuple[float, float]:
    r"""Return the largest global benefit and a clearing price by a linear program over tasks.

    Maximise :math:`\sum V_i q_i^{k-1} x_{ik}` with :math:`0 \le x_{ik} \le 1`, a column for each
    task that a peer may take, and :math:`\sum x_{ik} \le m`, by HiGHS. Its vertices are whole; the
    dual of the only row is a price at which the market clears, thus in [next_price, price] of
    `simplugin.optimum.bundle_benefit.BestBundle`. HiGHS knows no values under 1e-10 of the
    largest, and the dual not better than that.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    benefit, price : float
        Of the optimum [price].

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over, or HiGHS gave up.
    """
    from scipy.sparse import csc_array

    market = BundleMarket(values, m, caps, q)
    peers = np.repeat(np.arange(market.n_peers), market.caps)
    number = np.concatenate([np.arange(1, cap + 1) for cap in market.caps.tolist()])
    log_worth = market.log_worth(number, peers)
    unit = float(log_worth.max())
    if unit == -np.inf:
        return 0.0, 0.0
    worth = exp(log_worth - unit)
    count = len(worth)
    row = csc_array(np.ones((1, count)))
    solver = loaded(row, -worth, np.array([-np.inf]), np.array([float(market.m)]))
    columns = np.arange(count, dtype=np.int32)
    solver.changeColsBounds(count, columns, np.zeros(count), np.ones(count))
    solution = solved(solver)
    benefit = float(np.sum(worth * np.asarray(solution.col_value)))
    price = max(0.0, -float(solution.row_dual[0]))
    # At any price, what all can gain and what all tasks cost is at least the benefit.
    bound = price * market.m + float(np.sum(np.maximum(worth - price, 0.0)))
    certified((bound - benefit) / bound, "the bundle's program", "give values closer together")
    return benefit * exp(unit), price * exp(unit)


def relaxation(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike | None = None
) -> BundleRelaxation:
    r"""Return the largest benefit of tasks that can be divided, by cvxpy and Clarabel.

    Maximise :math:`\sum V_i (1 - q_i^{a_i}) / \alpha_i`, Eq. (7) of [1]_ for any
    :math:`0 \le a_i \le cap_i`, with :math:`\sum a_i \le m`, whose dual is the price. The solver
    reaches the benefit to about 1e-6 where alpha is 1e-3 or more, and to some 1e-4 where it is
    less, as the benefit is then all but linear, or where values differ much; prices under 1e-4 of
    the largest value are noise. See `continuous_optimum` for the same to the last digits.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    Relaxation
        The interior point.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over, or Clarabel gave up.

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    import cvxpy

    market = BundleMarket(values, m, caps, q)
    paying = (market.values > 0) & (market.q > 0)
    if int(market.caps[paying].sum()) < market.m:
        return continuous_optimum(*market.arguments)
    if not np.all(paying):
        return _embedded(relaxation(*market.among(paying).arguments), paying)
    # Amounts in parts of m, and benefits in parts of m tasks of the largest value.
    share: Any = cvxpy.Variable(market.n_peers, nonneg=True)
    unit = float(market.values.max())
    factor = market.values / unit / (-expm1(market.log_q)) / market.m
    atoms: Any = cvxpy
    kept = atoms.exp(atoms.multiply(market.log_q * market.m, share))
    placed: Any = atoms.sum(share) <= 1
    # A cap of m would only make the price ambiguous.
    capped = np.flatnonzero(market.caps < market.m)
    limits: list[Any] = [share[capped] <= market.caps[capped] / market.m] if len(capped) else []
    problem: Any = cvxpy.Problem(cvxpy.Maximize(factor @ (1 - kept)), [placed, *limits])
    solve_by_clarabel(problem, "the bundle", inaccurate=True)
    amounts = np.clip(share.value * market.m, 0.0, market.caps)
    price = abs(float(placed.dual_value)) * unit
    benefit = market.benefit(amounts)
    # The benefit and the price of the closed form certify each other.
    best = continuous_optimum(values, m, caps, q).benefit
    certified(abs(best - benefit) / best, "the divided bundle", "use continuous_optimum", 1e-3)
    return BundleRelaxation(amounts, benefit, price, _margin(market))


def continuous_optimum(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike | None = None
) -> BundleRelaxation:
    r"""Return the largest benefit of tasks that can be divided, in closed form.

    At a price mu each peer demands :math:`a_i = \log_q(\alpha \mu / (-\ln q\, V_i))`, Eq. (9) of
    [1]_, from 0 to its cap: linear in the logarithm of mu between the prices at which a peer
    begins and stops to buy more. So mu is found by interpolation between two of those.

    Whole tasks lose little. With :math:`L = -\ln q`, no price p makes a peer want
    more than :math:`p\,h,\ h = 1/\alpha - 1/L - \ln(L/\alpha)/L \approx \alpha/8` for the right to
    divide tasks; at a price that clears the market of whole tasks their benefit is the sum of
    what all gain and p m, and that of the relaxation is at most such a sum. Hence `margin`,
    :math:`p \sum h_i` at the lowest clearing price. Where values of all tasks are given, a part
    of a task is worth that part of it, and nothing is gained by dividing tasks.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`.

    Returns
    -------
    Relaxation
        The optimum; the highest price if caps leave several.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    market = BundleMarket(values, m, caps, q)
    paying = market.values > 0
    if market.table is not None or int(market.caps[paying].sum()) < market.m:
        best = largest_benefit(*market.arguments)
        return BundleRelaxation(best.amounts.astype(np.float64), best.benefit, best.price, 0.0)
    if not np.all(paying):
        return _embedded(continuous_optimum(*market.among(paying).arguments), paying)
    # What the first bit of a task is worth, per task: V_i (-ln q) / alpha.
    first = market.log_value + log(market.log_q / expm1(market.log_q))
    last = first + market.caps * market.log_q
    # A rate may be too small for floats to distinguish the two.
    first = np.maximum(first, np.nextafter(last, np.inf))
    bends = np.unique(np.concatenate([first, last]))

    def demand(log_price: float) -> Floats:
        between = np.clip((log_price - first) / market.log_q, 0.0, market.caps)
        # Exact where a peer stops to buy: only so are several prices known to sell m tasks.
        return np.where(log_price <= last, market.caps, between)

    # Demand falls with the price: that of low is m or more, that of high fewer.
    low, high = 0, len(bends) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if demand(bends[middle]).sum() >= market.m else (low, middle)
    most, least = demand(bends[low]), demand(bends[high])
    part = float((most.sum() - market.m) / (most.sum() - least.sum()))
    log_price = float(bends[low] + part * (bends[high] - bends[low]))
    amounts = most + part * (least - most)
    placed = float(amounts.sum())
    certified(abs(placed / market.m - 1), "the divided bundle", "give values closer together")
    return BundleRelaxation(amounts, market.benefit(amounts), exp(log_price), _margin(market))


def _embedded(found: BundleRelaxation, paying: NDArray[np.bool_]) -> BundleRelaxation:
    """Return a relaxation with peers to which tasks are worth nothing, and which get none."""
    amounts = np.zeros(len(paying))
    amounts[paying] = found.amounts
    return replace(found, amounts=amounts)


def _margin(market: BundleMarket) -> float:
    """Return by how much whole tasks may be worth less, at most; see `continuous_optimum`."""
    price = largest_benefit(*market.arguments).next_price
    alpha, rate = -expm1(market.log_q), -market.log_q
    gains = (rate - alpha) / (alpha * rate) - log(rate / alpha) / rate
    # For a small alpha the difference of both parts is lost in rounding.
    return price * float(np.sum(np.where(alpha > 1e-4, gains, alpha / 8 * (1 + alpha))))
