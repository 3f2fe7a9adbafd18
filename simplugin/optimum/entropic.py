"""The most even throughputs of the largest sum: fairness as alpha goes to 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import UncertifiedError
from simplugin.optimum.fairest import damped, longest_step, stepped
from simplugin.optimum.solvers import TOLERANCES, UNITS

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Share of a bound that it must leave free somewhere not to hold as an equation everywhere.
IMPLIED = 1e-9


def entropic(bound: Floats, equal: Floats, weight: Floats) -> Floats:
    r"""Maximise :math:`-\sum_k w_k\rho_k\ln\rho_k` where ``equal @ rho = 1``, ``bound @ rho <= 1``.

    As :math:`\rho^{1-\alpha}/(1-\alpha) = \rho + \alpha(\rho - \rho\ln\rho) + O(\alpha^2)`, the
    alpha-fair throughputs go to those that maximise this among the ones with the largest
    :math:`\sum_k w_k\rho_k`. The unit of time does not matter, as that sum is the same for all.

    Parameters
    ----------
    bound : float64, shape (n_bounds, n_applications)
        Nonnegative [s/task].
    equal : float64, shape (n_equations, n_applications)
        Nonnegative, with a positive entry for each application [s/task]; combinations of its
        rows give `weight`.
    weight : float64, shape (n_applications,)
        :math:`w`.

    Returns
    -------
    float64, shape (n_applications,)
        :math:`\rho` [tasks/s].

    Raises
    ------
    UncertifiedError
        The method did not converge.
    """
    scale = 1 / np.vstack([bound, equal]).max(axis=0)
    bound, equal = bound * scale, equal * scale
    bound, equal, share, positive = _inside(bound, equal)
    throughput = np.zeros(len(weight))
    if np.any(positive):
        bound, equal = bound[:, positive], equal[:, positive]
        bound = bound[bound.max(axis=1, initial=0.0) > 0]
        part = scale[positive]
        problem = _Problem(bound, equal, weight[positive] * part, np.log(part))
        rho = problem.polished(*problem.interior_point(np.log(share[positive])))
        throughput[positive] = part * np.exp(rho)
    return throughput


def _inside(bound: Floats, equal: Floats) -> tuple[Floats, Floats, Floats, Mask]:
    """Return remaining bounds, all equations, an interior point, and where it can be positive.

    A bound that holds as an equation wherever all equations do becomes one: an interior point
    method needs an inside.
    """
    from scipy.linalg import qr
    from scipy.optimize import linprog

    n_bounds, n = bound.shape
    # Slack of each bound, and of each value above 0; each counted up to a tenth.
    rows = np.vstack([bound, -np.eye(n)])
    free = np.zeros(n_bounds + n, dtype=bool)
    points: list[Floats] = []
    while not np.all(free):
        slack = np.eye(n_bounds + n)[:, ~free]
        for tolerance in TOLERANCES:
            answer: Any = linprog(
                np.append(np.zeros(n), -np.ones(slack.shape[1])),
                A_ub=np.hstack([rows, slack]),
                b_ub=np.append(np.ones(n_bounds), np.zeros(n)),
                A_eq=np.hstack([equal, np.zeros((len(equal), slack.shape[1]))]),
                b_eq=np.ones(len(equal)),
                bounds=[(0, None)] * n + [(0, 0.1)] * slack.shape[1],
                options={
                    "primal_feasibility_tolerance": tolerance,
                    "dual_feasibility_tolerance": tolerance,
                },
            )
            if answer.status == 0:
                break
        else:
            message = f"no throughputs reach the largest sum: {answer.message}"
            raise UncertifiedError(f"{message}; {UNITS}")
        points.append(answer.x[:n])
        found = np.zeros(n_bounds + n, dtype=bool)
        found[~free] = answer.x[n:] > IMPLIED
        if not np.any(found):
            break
        free |= found
    positive = free[n_bounds:]
    point = np.mean(points, axis=0)
    every = np.vstack([equal, bound[~free[:n_bounds]]])
    _, triangle, order = qr((every * point).T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    independent = order[: len(diagonal)][diagonal > IMPLIED * diagonal.max()]
    return bound[free[:n_bounds]], every[independent], point, positive


@dataclass(frozen=True)
class _Problem:
    """The most even throughputs, scaled; they are given and returned as logarithms."""

    bound: Floats
    equal: Floats
    weight: Floats
    log_scale: Floats

    def interior_point(self, rho: Floats) -> tuple[Floats, Floats, Floats, Mask]:
        """Follow the central path from a point inside to its end.

        Returns throughputs, multipliers of bounds and equations, and which bounds bind.
        """
        # The multiplier of a bound that changes the logarithm of some throughput by 1.
        felt = np.min(
            self.weight / np.where(self.bound > 0, self.bound, np.inf),
            axis=1,
            where=self.bound > 0,
            initial=np.inf,
        )
        slack = 1 - self.bound @ np.exp(rho)
        y, z = 0.1 * felt, np.zeros(len(self.equal))
        part, step = 0.1, 1.0
        every = np.ones(len(self.bound), dtype=bool)
        best, least, since = (rho, y, z, slack), np.inf, 0
        for _ in range(200):
            residual = rho + self.log_scale + (y @ self.bound + z @ self.equal) / self.weight
            strength = y / felt
            gap = float(np.max(strength * slack, initial=0.0) / (1 + strength.max(initial=0.0)))
            # Prices are rounded relative to the largest of their terms.
            error = max(float(np.abs(residual).max() / (1 + strength.max(initial=0.0))), gap)
            since += 1
            if error < least:
                best, least, since = (rho, y, z, slack), error, 0
            if least < 1e-14 or (least < 1e-9 and since > 20):
                break
            if gap > 1e-14 and np.abs(residual).max() < 1:
                part *= 0.1 if step > 0.5 else 0.5
            target = part * felt / y - slack
            d_rho, d_y, d_z = self._newton((rho, y, slack), residual, target, every)
            d_slack = -(self.bound * np.exp(rho)) @ d_rho
            rho, slack, step_rho = stepped(rho, d_rho, slack, d_slack)
            step_y = longest_step(1.0, d_y)
            step = min(step_rho, step_y)
            y = y * (1 + step_y * d_y)
            z = z + step_y * d_z
        rho, y, z, slack = best
        if not least < 1e-9:
            raise UncertifiedError(
                "the most even among the largest throughputs were not found; take an alpha above 0"
            )
        return rho, y, z, slack < y / felt

    def polished(self, rho: Floats, y: Floats, z: Floats, binds: Mask) -> Floats:
        """Solve for the bounds that bind as equations, where that is the solution."""
        before = rho
        y = np.where(binds, y, 0.0)
        for _ in range(3):
            residual = rho + self.log_scale + (y @ self.bound + z @ self.equal) / self.weight
            slack = np.zeros(len(self.bound))
            target = self.bound @ np.exp(rho) - 1
            d_rho, d_y, d_z = self._newton((rho, y, slack), residual, target, binds)
            if np.abs(d_rho).max() > 1e-3:
                return before
            rho = rho + np.log1p(d_rho)
            y = y * (1 + d_y)
            z = z + d_z
        if np.any(self.bound @ np.exp(rho) > 1 + 1e-12) or np.any(
            y < -1e-9 * np.abs(y).max(initial=0.0)
        ):
            return before
        return rho

    def _newton(
        self, state: tuple[Floats, Floats, Floats], residual: Floats, target: Floats, binds: Mask
    ) -> tuple[Floats, Floats, Floats]:
        """Return relative steps of throughputs and bounds' multipliers, steps of equations'."""
        rho, y, slack = state
        n, n_binds = len(rho), int(np.count_nonzero(binds))
        unit = 1 / (self.equal / self.weight).max(axis=1)
        share = self.bound[binds] * y[binds, None] / self.weight
        of_equal = self.equal * unit[:, None] / self.weight
        n_equal = len(self.equal)
        newton = np.block(
            [
                [np.diag(damped(rho, 1.0, residual)), share.T, of_equal.T],
                [
                    -self.bound[binds] * np.exp(rho),
                    np.diag(slack[binds]),
                    np.zeros((n_binds, n_equal)),
                ],
                [self.equal * np.exp(rho), np.zeros((n_equal, n_binds + n_equal))],
            ]
        )
        right = np.concatenate([-residual, target[binds], 1 - self.equal @ np.exp(rho)])
        try:
            change = np.linalg.solve(newton, right) if np.all(slack[binds] > 0) else None
        except np.linalg.LinAlgError:
            # Bounds and equations may be alike but for rounding.
            change = None
        if change is None:
            change = np.linalg.lstsq(newton, right, rcond=1e-14)[0]
        d_y = np.zeros(len(self.bound))
        d_y[binds] = change[n : n + n_binds]
        return change[:n], d_y, unit * change[n + n_binds :]
