"""The fairest throughputs under a few linear bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import UncertifiedError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Logarithm of a share of a capacity that is lost in rounding.
TINY = np.log(1e-20)


def max_min(bound: Floats, weight: Floats) -> tuple[Floats, Integers]:
    """Return the throughputs that are max-min fair under ``bound @ throughput <= 1`` [1]_.

    All throughputs per weight grow together; those of a bound that is reached stop.

    Parameters
    ----------
    bound : float64, shape (n_bounds, n_applications)
        Nonnegative, with a positive entry for each application [s/task].
    weight : float64, shape (n_applications,)
        Of each application.

    Returns
    -------
    throughput : float64, shape (n_applications,)
        Exact and unique [tasks/s].
    stop : int64, shape (n_applications,)
        The bound that stopped each application.

    References
    ----------
    .. [1] D. Bertsekas, R. Gallager (1992). Data Networks. Section 6.5.2.
    """
    throughput = np.zeros(len(weight))
    stop = np.full(len(weight), -1, dtype=np.int64)
    while np.any(stop < 0):
        free = stop < 0
        slope = bound[:, free] @ weight[free]
        left = 1 - bound[:, ~free] @ throughput[~free]
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(slope > 0, left / slope, np.inf)
        first = int(np.argmin(level))
        stopped = free & (bound[first] > 0)
        throughput[stopped] = level[first] * weight[stopped]
        stop[stopped] = first
    return throughput, stop


def alpha_fair(bound: Floats, weight: Floats, alpha: float) -> tuple[Floats, Floats]:
    r"""Return the alpha-fair throughputs under ``bound @ throughput <= 1``, and multipliers.

    A primal-dual interior point method. It works on logarithms of
    throughputs and multipliers, and on :math:`\alpha\ln\rho_k + \ln\sum_j A_{jk}y_j = \ln w_k`
    rather than on :math:`w_k\rho_k^{-\alpha} = \sum_j A_{jk}y_j`, so that neither units nor
    orders of magnitude matter.

    Parameters
    ----------
    bound : float64, shape (n_bounds, n_applications)
        :math:`A`, nonnegative, with a positive entry in each row and column [s/task].
    weight : float64, shape (n_applications,)
        :math:`w`.
    alpha : float
        :math:`\alpha`, positive and finite.

    Returns
    -------
    throughput : float64, shape (n_applications,)
        :math:`\rho`, to about 1e-13 [tasks/s].
    multiplier : float64, shape (n_bounds,)
        Logarithms of :math:`y`; minus infinity for a bound that does not bind.

    Raises
    ------
    UncertifiedError
        The method did not converge.
    """
    scale = 1 / bound.max(axis=0)
    bound = bound * scale
    with np.errstate(divide="ignore"):
        log_bound = np.log(bound)
    log_weight = np.log(weight) + (1 - alpha) * np.log(scale)
    problem = _Problem(bound, log_bound, log_weight, alpha)
    rho, y = problem.polished(*problem.interior_point(*problem.start()))
    if not problem.error(rho, y) < 1e-11:
        raise UncertifiedError(
            f"the fair throughputs for alpha {alpha!r} were not found to 1e-11; take an alpha"
            " nearer to 1, or inf for max-min fairness"
        )
    return scale * np.exp(rho), y


@dataclass(frozen=True)
class _Problem:
    """Alpha-fair throughputs under scaled bounds; `rho` and `y` are logarithms everywhere."""

    bound: Floats
    log_bound: Floats
    log_weight: Floats
    alpha: float

    def price(self, y: Floats) -> Floats:
        """Return logarithms of the price of each throughput."""
        return np.asarray(np.logaddexp.reduce(self.log_bound + y[:, None], axis=0))

    def error(self, rho: Floats, y: Floats) -> float:
        """Return by how much the conditions of optimality are missed.

        The price of each throughput is missed relative to the rounding of its logarithm.
        """
        price = self.price(y)
        slack = 1 - self.bound @ np.exp(rho)
        share = np.exp(self.log_bound + y[:, None] - price).max(axis=1)
        digits = max(1.0, 0.1 * self.alpha * np.abs(rho).max(), 0.1 * np.abs(price).max())
        missed = np.abs(self.alpha * rho + price - self.log_weight).max() / digits
        return float(max(missed, -slack.min(), np.max(share * slack)))

    def start(self) -> tuple[Floats, Floats]:
        """Return logarithms of throughputs inside of all bounds and of multipliers to start with.

        Multipliers grow or shrink with the load of their bounds, as in iterative proportional
        fitting; where each application has a bound of its own this is exact.
        """
        y = np.zeros(len(self.log_bound))
        for _ in range(100):
            rho = (self.log_weight - self.price(y)) / self.alpha
            load = np.logaddexp.reduce(self.log_bound + rho, axis=1)
            y = y + self.alpha * load
        return rho - load.max() + np.log(1 - 0.5 / (1 + self.alpha)), y

    def interior_point(self, rho: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Follow the central path to its end, from logarithms of throughputs and multipliers."""
        n = len(rho)
        slack = 1 - self.bound @ np.exp(rho)
        # A bound starts with a multiplier that some application feels.
        price = self.log_weight - self.alpha * rho
        felt = np.min(np.where(self.bound > 0, price - self.log_bound, np.inf), axis=1)
        y = np.maximum(y, felt + np.log(1e-3))
        target, step = y + np.log(slack), 1.0
        # Throughputs go with prices to the power of 1 / alpha: large steps of prices are small
        # ones of throughputs.
        pace = max(1.0, 0.1 * self.alpha)
        best, least, since = (rho, y), np.inf, 0
        for _ in range(400):
            price = self.price(y)
            residual = self.alpha * rho + price - self.log_weight
            share = np.exp(self.log_bound + y[:, None] - price)
            gaps = share.max(axis=1) * slack
            gap = float(gaps.max())
            worst = float(np.abs(residual).max())
            since += 1
            if max(worst, gap) < least:
                best, least, since = (rho, y), max(worst, gap), 0
            if least < 1e-13 or (least < 1e-6 and since > 60):
                break
            if worst < 0.5 * pace:
                target = target - np.where(gaps > 1e-14, pace * (2.3 if step > 0.5 else 1.2), 0.0)
            usage = self.bound * np.exp(rho)
            slope = damped(rho, self.alpha, residual)
            newton = np.block([[np.diag(slope), share.T], [-usage, np.diag(slack)]])
            missing = np.exp(target - y) - slack
            try:
                change = np.linalg.solve(newton, np.concatenate([-residual, missing]))
            except np.linalg.LinAlgError:
                break
            d_rho, d_y = change[:n], change[n:]
            d_slack = -usage @ d_rho
            rho, slack, step_rho = stepped(rho, d_rho, slack, d_slack)
            step_y = longest_step(1.0, d_y)
            step = min(step_rho, step_y)
            y = y + np.log1p(step_y * d_y)
        return best

    def polished(self, rho: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Solve for the bounds that bind as equations, where that is the solution.

        Interior points are off by the square root of their gap where a bound is just reached
        without a price, and by more where an application uses next to nothing of its bounds.
        """
        price = self.price(y)
        slack = np.maximum(1 - self.bound @ np.exp(rho), 1e-300)
        strength = np.exp(self.log_bound + y[:, None] - price).max(axis=1) / slack
        for least in (1.0, 1e3, 1e6, 1e9):
            polished = self._binding(rho, y, strength > least)
            if polished and self.error(*polished) < 1e-12:
                return polished
        return rho, y

    def _binding(self, rho: Floats, y: Floats, binds: Mask) -> tuple[Floats, Floats] | None:
        """Solve for given bounds as equations by Newton's method, None if that leads far away."""
        n = len(rho)
        y = np.where(binds, y, -np.inf)
        for _ in range(3):
            price = self.price(y)
            if not np.all(np.isfinite(price)):
                return None
            residual = self.alpha * rho + price - self.log_weight
            share = np.exp(self.log_bound[binds] + y[binds, None] - price)
            usage = self.bound[binds] * np.exp(rho)
            zero = np.zeros((len(usage), len(usage)))
            newton = np.block([[self.alpha * np.eye(n), share.T], [usage, zero]])
            right = np.concatenate([-residual, 1 - usage.sum(axis=1)])
            change = np.linalg.lstsq(newton, right, rcond=1e-14)[0]
            if np.any(np.abs(change[:n]) > 1e-3):
                return None
            rho = rho + np.log1p(change[:n])
            with np.errstate(divide="ignore"):
                y[binds] += np.log1p(np.maximum(change[n:], -1.0))
        return rho, y


def longest_step(value: Floats | float, change: Floats, counts: Mask | bool = True) -> float:
    """Return how far to go for positive values to stay so, at most 1.

    Parameters
    ----------
    value, change : float64, shape (n,)
        Positive values, and the direction to go.
    counts : bool, shape (n,)
        True for the values that matter.
    """
    shrinks = np.where(counts, -change / value, 0.0)
    return float(1 / max(1.0, np.max(shrinks, initial=0.0) / 0.95))


def damped(rho: Floats, slope: float, residual: Floats) -> Floats:
    """Return slopes by which a Newton step changes no throughput by much more than itself.

    Parameters
    ----------
    rho : float64, shape (n_applications,)
        Logarithms of throughputs, relative to the largest that bounds allow.
    slope : float
        By which a residual changes with the logarithm of its throughput.
    residual : float64, shape (n_applications,)
        The value that is to become 0.

    Returns
    -------
    float64, shape (n_applications,)
        Not damped where bounds do not feel the throughput.
    """
    return np.where(rho > TINY, np.maximum(slope, np.abs(residual)), slope)


def stepped(
    rho: Floats, change: Floats, slack: Floats, d_slack: Floats
) -> tuple[Floats, Floats, float]:
    """Return throughputs and slacks after the longest step that keeps both positive.

    Parameters
    ----------
    rho, change : float64, shape (n_applications,)
        Logarithms of throughputs, relative to the largest that bounds allow, and their relative
        changes. Those that bounds do not feel go all the way, where a throughput of exp(-2000) or
        one of exp(-20) may be right, unless bounds would feel it.
    slack, d_slack : float64, shape (n_bounds,)
        What bounds leave free, and its change.

    Returns
    -------
    float64 array, float64 array, float
        Logarithms of throughputs, slacks, and the part of the changes that was gone.
    """
    step = min(longest_step(slack, d_slack), longest_step(1.0, change, rho > TINY))
    felt = np.log1p(np.where(rho > TINY, step * change, 0.0))
    rho = rho + np.where(rho > TINY, felt, np.minimum(change, TINY + 5 - rho))
    return rho, np.maximum(slack + step * d_slack, 1e-300), step
