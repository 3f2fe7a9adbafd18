"""Fair sharing by an interior point method with errors relative to each way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.optimum.fairest import longest_step
from simplugin.optimum.paths import Paths

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Complementarity to start with, and the least; by how much a product may grow in a step.
FIRST, LAST, GROWTH = 0.1, 1e-17, 100.0
# What a rate or a price may change without all others waiting for it.
LITTLE = 1e-3
# Regularisation of ways and resources: as the complementarity, within these.
REGULAR = 1e-12, 1e-8
STEPS = 300
# Share of a throughput, or of the price of a way, under which something does not count.
UNUSED = 1e-15


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Logarithms of rates of ways and of prices of whole resources.

    Attributes
    ----------
    rate : float64, shape (n_ways,)
        [tasks/s].
    price : float64, shape (n_resources,)
        [utility].
    """

    rate: Floats
    price: Floats


def interior_point(
    ways: Paths,
    weight: Floats,
    alpha: float,
    *,
    start: InteriorPoint | None = None,
    stop: float = 0.0,
    regular: tuple[float, float] = REGULAR,
) -> InteriorPoint:
    r"""Follow the central path of alpha-fair sharing, in logarithms of all quantities.

    A primal-dual method. With :math:`x_a` the rate of way a of application k,
    :math:`\rho_k = \sum_a x_a` and :math:`p_a = \sum_r A_{ra} y_r` it solves
    :math:`\ln p_a - \ln(1 + \zeta_a) = \ln w_k - \alpha\ln\rho_k`, :math:`A x + s = 1`, with
    products :math:`\zeta_a x_a / \rho_k` and :math:`s_r \max_a A_{ra} y_r / p_a` that go to 0
    alike: all are relative, hence neither units nor orders of magnitude matter. Newton steps
    are regularised [1]_, so that the equations of ways can be eliminated; residuals are those of
    the problem itself. The result may be poor: it is for the caller to check.

    Parameters
    ----------
    ways : Paths
        The problem.
    weight : float64, shape (n_applications,)
        Of the utilities.
    alpha : float
        Positive and finite; from 0.05 to 10 it is likely to succeed.
    start : InteriorPoint, optional
        Where to begin, with rates that overload nothing.
    stop : float
        Complementarity at which to stop.
    regular : pair of float
        Least and largest regularisation.

    Returns
    -------
    InteriorPoint
        The best that was found.

    References
    ----------
    .. [1] M. P. Friedlander, D. Orban (2012). A primal-dual regularized interior-point method
       for convex quadratic programs. Mathematical Programming Computation 4.
    """
    iteration = _Iteration(ways, np.log(weight), alpha, start, regular)
    best, least, since = iteration.point(), np.inf, 0
    for _ in range(STEPS):
        error = iteration.measure()
        since += 1
        if error < least:
            best, least, since = iteration.point(), error, 0
        settled = error < 1e-14 or (least < 1e-9 and since > 15)
        if settled or iteration.target <= stop or not np.isfinite(error):
            break
        try:
            iteration.step()
        except np.linalg.LinAlgError:
            break
    return iteration.point() if stop else best


def correction(
    ways: Paths, weight: Floats, alpha: float, rate: Floats, price: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the Newton step from rates and prices that nearly meet the conditions of optimality.

    Small errors of the conditions can be large ones of throughputs. Unused paths and free
    resources stay unchanged.

    Parameters
    ----------
    ways, weight, alpha
        As of `interior_point`.
    rate : float64, shape (n_agents,)
        Tasks that each agent computes [tasks/s].
    price : float64, shape (n_resources,)
        Logarithm of the price of each whole resource.

    Returns
    -------
    throughput : float64, shape (n_applications,)
        Relative change of each throughput: to first order, its error.
    rate, price
        After the step; rates may overload something by a little.
    """
    from scipy.sparse import block_array, coo_array, diags_array
    from scipy.sparse.linalg import splu

    n, application = len(weight), ways.application
    of_way = rate[ways.agent]
    throughput = np.bincount(application, of_way, n)
    with np.errstate(all="ignore"):
        share = of_way / throughput[application]
        worth = np.log(weight) - alpha * np.log(throughput)
        way_price = ways.price(price)
        part = np.exp(ways.demand + price[ways.row] - way_price[ways.way])
    used = np.flatnonzero(share > UNUSED)
    felt = ways.largest(np.where(share[ways.way] > UNUSED, part, 0.0))
    priced = np.flatnonzero(felt > UNUSED)
    column, row = np.full(len(share), -1), np.full(len(price), -1)
    column[used], row[priced] = np.arange(len(used)), np.arange(len(priced))
    usage = np.exp(ways.demand) * of_way[ways.way]
    free = 1 - ways.load(usage)[priced]
    dear = np.clip(way_price - worth[application], -1.0, 500.0)[used]
    loose = -np.expm1(-np.maximum(dear, 0.0))
    kept = np.flatnonzero((column[ways.way] >= 0) & (row[ways.row] >= 0))
    at, shape = (column[ways.way[kept]], row[ways.row[kept]]), (len(used), len(priced))
    own, of_own = (np.arange(len(used)), application[used]), (len(used), n)
    matrix = block_array(
        [
            [
                diags_array(loose + REGULAR[0]),
                coo_array((part[kept], at), shape=shape),
                coo_array((np.full(len(used), alpha), own), shape=of_own),
            ],
            [
                coo_array((usage[kept], at[::-1]), shape=shape[::-1]),
                diags_array(-np.maximum(free, 0.0) - REGULAR[0]),
                None,
            ],
            [
                coo_array((share[used], own[::-1]), shape=of_own[::-1]),
                None,
                -diags_array(np.ones(n)),
            ],
        ],
        format="csc",
    )
    right = np.concatenate([-loose - np.minimum(dear, 0.0), free, np.zeros(n)])
    step = splu(matrix).solve(right)
    rate, price = rate.copy(), price.copy()
    rate[ways.agent[used]] *= np.exp(np.clip(step[: len(used)], -1.0, 1.0))
    price[priced] += np.clip(step[len(used) : -n], -1.0, 1.0)
    return np.abs(step[-n:]), rate, price


class _Iteration:
    """State of the method: logarithms of rates and prices, slacks and relative dearness."""

    def __init__(
        self,
        ways: Paths,
        log_weight: Floats,
        alpha: float,
        start: InteriorPoint | None,
        regular: tuple[float, float],
    ) -> None:
        self.ways, self.log_weight, self.alpha, self.regular = ways, log_weight, alpha, regular
        way, row, application = ways.way, ways.row, ways.application
        entries = np.bincount(way)
        if start is None:
            # Half of an equal share of the scarcest resource, and all its rows have the same part
            # of the price.
            crowded = ways.demand + np.log(np.bincount(row))[row]
            self.rate = np.log(0.5) - np.maximum.reduceat(crowded, ways.first[:-1])
            part = -np.log(entries)[way]
        else:
            self.rate = start.rate
            part = ways.demand + start.price[row] - ways.price(start.price)[way]
        worth = log_weight - alpha * ways.throughput(self.rate)
        self.price = ways.income((self.rate + worth[application])[way] + part)
        self.slack = np.maximum(1 - ways.load(np.exp(ways.demand + self.rate[way])), 1e-12)
        dear = ways.price(self.price) - worth[application]
        least = 0.1 if start is None else 0.01
        self.dear = np.maximum(np.expm1(np.clip(dear, -700.0, 500.0)), least)
        self.target, self.trust, self.before, self.last_step = FIRST, 1.0, np.inf, 0.0

    def point(self) -> InteriorPoint:
        """Return rates and prices."""
        return InteriorPoint(self.rate, self.price)

    def measure(self) -> float:
        """Compute the state that the next step needs, and return the largest error."""
        ways, application = self.ways, self.ways.application
        throughput = ways.throughput(self.rate)
        worth = self.log_weight - self.alpha * throughput
        with np.errstate(all="ignore"):
            self.share = np.exp(self.rate - throughput[application])
            part = ways.demand + self.price[ways.row]
            price = ways.price(self.price)
            self.part = np.exp(part - price[ways.way])
            self.usage = np.exp(ways.demand + self.rate[ways.way])
            self.felt = np.maximum(ways.largest(self.part), 1e-300)
            self.residual = price - np.log1p(self.dear) - worth[application]
            self.load = ways.load(self.usage)
            self.products = self.share * self.dear, self.felt * self.slack
            self.worst = float(np.abs(self.residual).max())
            self.product = float(max(each.max() for each in self.products))
            missing = float(np.abs(1 - self.load - self.slack).max())
        return max(self.worst, missing, self.product)

    def step(self) -> None:
        """Take a Newton step towards the target, or towards one that is nearer to 0."""
        pace = 0.5 * max(1.0, 0.1 * self.alpha)
        if self.last_step and self.worst < pace and self.product < 8 * self.target:
            self.target = max(LAST, self.target * (0.1 if self.last_step > 0.5 else 0.4))
        grows = self.worst > max(self.before, pace)
        self.trust = max(self.trust / 2, 1 / 16) if grows else min(1.0, self.trust * 1.5)
        self.before = self.worst
        rate, price, dear, slack = self._direction()
        ways, little = self.ways, np.log(LITTLE)
        large = np.maximum.reduceat(ways.demand + self.rate[ways.way], ways.first[:-1]) > little
        felt = self.felt > LITTLE
        with np.errstate(over="ignore"):  # infinite: a step of no length
            primal = min(longest_step(1.0, rate[large]), longest_step(1.0, slack / self.slack))
        dual = min(longest_step(1.0, price[felt]), longest_step(1.0, dear[large]))
        self.last_step = min(primal, dual)
        primal, dual = primal * self.trust, dual * self.trust
        # What uses next to nothing of all its resources may change by orders of magnitude.
        free = ~large & (self.share > 0.5)
        self.rate = self.rate + np.where(
            free, np.clip(rate, -50.0, 5.0), _logarithm(primal * rate, large)
        )
        self.price = self.price + _logarithm(dual * price, felt)
        changed = self.dear * np.exp(_logarithm(dual * dear, large))
        self.dear = np.clip(changed, 1e-200, 1e200)
        self.slack = self.slack + primal * slack

    def _direction(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return relative changes of rates, prices and dearness, and changes of slacks."""
        from scipy.sparse import csr_array

        ways, way, application = self.ways, self.ways.way, self.ways.application
        n_ways, n_rows, n = len(self.rate), len(self.price), len(self.log_weight)
        # Damped: no throughput changes by much more than itself.
        slope = np.full(n, self.alpha)
        np.maximum.at(slope, application, np.abs(self.residual) * self.share)
        of_way, of_row = (np.minimum(self.target, GROWTH * each) for each in self.products)
        ahead = (of_way / self.share - self.dear) / (1 + self.dear) - self.residual
        regular = float(np.clip(self.target, *self.regular))
        inverse = 1 / (self.dear / (1 + self.dear) + regular)
        shape = (n_ways, n_rows)
        part = csr_array((self.part, ways.row, ways.first), shape=shape)
        usage = csr_array((self.usage * inverse[way], ways.row, ways.first), shape=shape)
        member = csr_array((np.ones(n_ways), (np.arange(n_ways), application)), shape=(n_ways, n))
        share = csr_array(
            (self.share * inverse, (np.arange(n_ways), application)), shape=(n_ways, n)
        )
        matrix = np.block(
            [
                [(usage.T @ part).toarray(), (usage.T @ member).toarray() * slope],
                [(share.T @ part).toarray(), np.diag(slope * share.sum(axis=0))],
            ]
        )
        diagonal = np.append(self.slack + regular, np.ones(n))
        matrix[np.diag_indices_from(matrix)] += diagonal
        right = np.append(of_row / self.felt - 1 + self.load + usage.T @ ahead, share.T @ ahead)
        unit = 1 / np.abs(matrix).max(axis=1)
        solved = np.linalg.solve(matrix * unit[:, None], right * unit)
        price, growth = solved[:n_rows], slope * solved[n_rows:]
        dearer = part @ price + growth[application]
        rate = inverse * (ahead - dearer)
        slack = 1 - self.load - self.slack - ways.load(self.usage * rate[way])
        dear = (1 + 1 / self.dear) * (dearer + self.residual)
        return rate, price, dear, slack


def _logarithm(change: Floats, linear: Mask) -> Floats:
    """Return the change of a logarithm; of what may fall by orders of magnitude, to first order."""
    linear = linear | (change > -0.5)
    with np.errstate(invalid="ignore"):
        fallen = np.log(0.75) - np.log1p(np.where(linear, 0.0, -change))
        return np.where(linear, np.log1p(np.where(linear, change, 0.0)), fallen)
