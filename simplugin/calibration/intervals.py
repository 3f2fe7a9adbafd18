"""Intervals of parameters, from residuals around their best values.

Residuals are relative errors of measured values, multiplied by the roots of weights. Points are in
the unit cube of parameters.

References
----------
.. [1] D. M. Bates and D. G. Watts (1988). Nonlinear Regression Analysis and Its Applications.
   Wiley, chapter 6: profile t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from simplugin.calibration.evaluation import Point
from simplugin.calibration.search import local_minimum

Vector = NDArray[np.float64]
Residuals = Callable[[Sequence[Point]], NDArray[np.float64]]
# Half the distance of the points of a difference quotient.
_STEP = 0.02
_MOST_STEPS = 4
# Relative singular value below which a direction has no effect.
_NO_EFFECT = 1e-4
# Component from which on a parameter belongs to a direction.
_PART = 0.25
_LEVEL = 0.95
_DRAWS = 400
# Relative error below which a fit is exact.
_EXACT = 1e-4
# Of one parameter, and of several, that are not determined.
EFFECTS = tuple(f"{each} in these measured values" for each in ("has little effect", "act alike"))


@dataclass(frozen=True)
class LocalModel:
    """Residuals around a point, linear in the parameters.

    Attributes
    ----------
    point : float64, shape (n_parameters,)
        The point.
    residuals : float64, shape (n_values,)
        Those at the point.
    jacobian : float64, shape (n_values, n_parameters)
        Their derivatives; zero for parameters that are not varied.
    free : tuple of int
        The parameters that are varied.
    is_stopped : bool
        True if the budget ended before the least squares were reached.
    """

    point: Vector
    residuals: Vector
    jacobian: NDArray[np.float64]
    free: tuple[int, ...]
    is_stopped: bool = False

    @property
    def sum(self) -> float:
        """Sum of squares of the residuals."""
        return float(self.residuals @ self.residuals)

    @property
    def degrees(self) -> int:
        """Degrees of freedom."""
        return len(self.residuals) - len(self.free)

    @property
    def spread(self) -> float:
        """Estimated standard deviation of a residual."""
        return float(np.sqrt(self.sum / max(1, self.degrees)))

    @property
    def quantile(self) -> float:
        """Quantile of Student's t for an interval."""
        return float(stats.t.ppf((1 + _LEVEL) / 2, max(1, self.degrees)))

    def error(self, squares: float) -> float:
        """Return the root of the mean square of residuals with a sum of squares."""
        return float(np.sqrt(squares / len(self.residuals)))

    @property
    def most(self) -> float:
        """The sum of squares at the ends of an interval."""
        return self.sum + (self.quantile * self.spread) ** 2

    def extrapolated(self) -> LocalModel:
        """Return the model at its own least squares in the ranges, without evaluations."""
        if not self.free:
            return self
        point, at = self.point.copy(), list(self.free)
        box = (-point[at], 1 - point[at])
        step = optimize.lsq_linear(self.jacobian[:, at], -self.residuals, box).x
        point[at] += step
        return replace(self, point=point, residuals=self.residuals + self.jacobian[:, at] @ step)

    def split(self) -> tuple[NDArray[np.float64], Vector, NDArray[np.bool_]]:
        """Return directions as rows, their standard errors, and which of them are identified.

        A direction is identified if its interval is shorter than the range.
        """
        columns = self.jacobian[:, list(self.free)]
        _, values, rows = np.linalg.svd(columns, full_matrices=True)
        singular = np.zeros(len(self.free))
        singular[: len(values)] = values
        errors = np.full(len(singular), np.inf)
        seen = singular > max(_NO_EFFECT * np.max(singular, initial=0.0), 1e-12)
        errors[seen] = self.spread / singular[seen]
        directions = np.zeros((len(rows), len(self.point)))
        directions[:, list(self.free)] = rows
        return directions, errors, seen & (self.quantile * errors < 0.5)


@dataclass(frozen=True)
class ProfileInterval:
    """The interval of a parameter, and the points of its profile.

    Attributes
    ----------
    points : sequence of (float, float)
        Values of the parameter, ascending, with the least root of the mean square of residuals that
        was found at each.
    limit : float
        Its maximum at values that are not excluded.
    low, high : float
        The ends.
    is_linear : bool
        True if an end is that of the linear model, for want of evaluations.
    """

    points: Sequence[tuple[float, float]]
    limit: float
    low: float = 0.0
    high: float = 1.0
    is_linear: bool = False


def fitted(
    residuals: Residuals, start: Point, free: Sequence[int], spent: Callable[[], bool]
) -> LocalModel:
    """Return the model at the least squares near a point, by steps of Gauss and Newton.

    Once the budget is spent, it is the model at the point that was reached.
    """
    model = _linear(residuals, np.array(start), free)
    for _ in range(_MOST_STEPS if free else 0):
        if spent():
            break
        step = -np.linalg.pinv(model.jacobian, rcond=_NO_EFFECT) @ model.residuals
        trials = [np.clip(model.point + part * step, 0, 1) for part in (1, 0.5, 0.25, 0.1)]
        found = residuals([tuple(map(float, each)) for each in trials])
        sums = np.sum(found**2, axis=1)
        if np.all(np.isnan(sums)) or not np.nanmin(sums) < model.sum * (1 - 1e-4):
            return model
        model = _linear(residuals, trials[int(np.nanargmin(sums))], free)
    least = model.extrapolated()
    near = 0.1 * least.spread**2 + _EXACT**2 * len(model.residuals)
    return replace(model, is_stopped=spent() and model.sum > least.sum + near)


def _linear(residuals: Residuals, point: Vector, free: Sequence[int]) -> LocalModel:
    """Return the model at a point, from difference quotients."""
    points = [point]
    for at in free:
        for sign in (-1, 1):
            points.append(point.copy())
            points[-1][at] = min(1.0, max(0.0, point[at] + sign * _STEP))
    found = residuals([tuple(map(float, each)) for each in points])
    jacobian = np.zeros((found.shape[1], len(point)))
    for number, at in enumerate(free):
        below, above = 2 * number + 1, 2 * number + 2
        length = points[above][at] - points[below][at]
        jacobian[:, at] = (found[above] - found[below]) / length
    return LocalModel(point, found[0], np.nan_to_num(jacobian), tuple(free))


def unidentified(model: LocalModel, names: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Return the parameters, or combinations, that the residuals do not determine, and why."""
    found: dict[tuple[str, ...], str] = {}
    directions, errors, identified = model.split()
    for row, error in zip(directions[~identified], errors[~identified], strict=True):
        group = tuple(names[at] for at in model.free if abs(row[at]) >= _PART)
        reason = EFFECTS[len(group) > 1]
        if model.is_stopped:
            reason = "not determined: the search has not converged"
        elif model.degrees < 0 or stats.norm.ppf((1 + _LEVEL) / 2) * error < 0.5:
            # Only the few degrees of freedom make it wide.
            reason = "not determined: too few rows"
        found.setdefault(group, reason)
    return found


def profile_interval(
    residuals: Residuals, model: LocalModel, at: int, spent: Callable[[], bool], most: float
) -> ProfileInterval:
    """Return the interval of a parameter in which sums of squares are at most `most`.

    The other parameters are fitted again at each tried value [1]_; once the budget is spent, the
    interval is that of the linear model. Values that are not identified have the whole range.

    References
    ----------
    .. [1] Bates and Watts (1988), section 6.1.
    """
    directions, errors, identified = model.split()
    is_open = bool(np.any(np.abs(directions[~identified, at]) >= _PART))
    reach = float(np.sqrt(max(most - model.sum, 0.0)))
    parts = directions[identified, at] * errors[identified] / max(model.spread, 1e-300)
    width = 1.0 if is_open else reach * float(np.sqrt(parts @ parts))
    centre = float(model.point[at])
    points = {centre: model.sum}
    if width < 1e-9:
        return ProfileInterval(
            [(centre, model.error(model.sum))], model.error(most), centre, centre
        )
    low = _bound(residuals, model, at, -width, spent, points, reach)
    high = _bound(residuals, model, at, width, spent, points, reach)
    found = sorted((value, model.error(each)) for value, each in points.items())
    is_linear = bool(low < centre == found[0][0] or found[-1][0] == centre < high)
    low, high = (0.0, 1.0) if is_open else (low, high)
    return ProfileInterval(found, model.error(most), low, high, is_linear)


def _bound(
    residuals: Residuals,
    model: LocalModel,
    at: int,
    width: float,
    spent: Callable[[], bool],
    points: dict[float, float],
    reach: float,
) -> float:
    """Return the end of an interval where squares exceed the model's by `reach` squared.

    The tried values are added to `points`.
    """
    centre = float(model.point[at])
    others = model.jacobian.copy()
    others[:, at] = 0
    inverse = np.linalg.pinv(others, rcond=_NO_EFFECT)
    for _ in range(3):
        edge = min(1.0, max(0.0, centre + width))
        if spent() or edge == centre:
            return edge
        point = model.point.copy()
        move = edge - centre
        point -= inverse @ (model.residuals + model.jacobian[:, at] * move)
        point[at] = edge
        least = np.inf
        for _ in range(2):
            point = np.clip(point, 0, 1)
            found = residuals([tuple(map(float, point))])[0]
            least = min(least, float(np.nan_to_num(found @ found, nan=np.inf)))
            point = point - inverse @ np.nan_to_num(found)
            point[at] = edge
        if least < np.inf:
            points[edge] = least
        reached = np.sqrt(max(least - model.sum, 0.0))
        if edge in (0.0, 1.0) and reached <= reach:
            return edge
        # Where runs fail, half the way.
        ratio = reach / max(reached, 0.2 * reach) if least < np.inf else 0.5
        width = move * ratio
        if abs(ratio - 1) < 0.1:
            break
    return min(1.0, max(0.0, centre + width))


def bootstrap(
    model: LocalModel,
    n_rows: int,
    seed: int,
    loss: Callable[[Vector, NDArray[np.intp]], float] | None,
) -> NDArray[np.float64] | None:
    """Return the ends of intervals of all parameters from rows drawn with replacement.

    Percentiles are moved away from the median by the root of values by degrees of freedom, and by
    the ratio of Student's quantile to the normal one [1]_: without, they are too narrow. With a
    linear model they do not depend on where the search stopped.

    Parameters
    ----------
    model : LocalModel
        Residuals by rows, and in them by metrics.
    n_rows : int
        Number of rows.
    seed : int
        Seed of the draws.
    loss : callable, optional
        Loss of residuals and the rows that they are of; by default least squares.

    Returns
    -------
    float64, shape (2, n_parameters), or None
        None with fewer than three rows.

    References
    ----------
    .. [1] T. C. Hesterberg (2015). What Teachers Should Know About the Bootstrap. The American
       Statistician 69(4), 371-386: percentiles are too narrow with few values.
    """
    if n_rows < 3:
        return None
    random = np.random.default_rng(seed)
    residuals = model.residuals.reshape(n_rows, -1)
    jacobian = model.jacobian.reshape(n_rows, -1, len(model.point))
    points = []
    for _ in range(_DRAWS if loss is None else _DRAWS // 4):
        rows = random.integers(n_rows, size=n_rows)
        drawn, slope = residuals[rows].ravel(), jacobian[rows].reshape(-1, len(model.point))
        step = -np.linalg.pinv(slope, rcond=_NO_EFFECT) @ drawn
        if loss is not None:
            free, where = list(model.free), loss

            def around(change: Vector) -> float:
                """Return the loss of the linear model."""
                return where(drawn + slope[:, free] @ change, rows)  # noqa: B023 # called in this turn

            step[free] = local_minimum(around, step[free])
        points.append(model.point + step)
    tail = 50 * (1 - _LEVEL)
    low, centre, high = np.percentile(points, [tail, 50, 100 - tail], axis=0)
    factor = np.sqrt(len(model.residuals) / max(1, model.degrees))
    factor *= model.quantile / stats.norm.ppf((1 + _LEVEL) / 2)
    return np.asarray(np.clip(centre + factor * (np.array([low, high]) - centre), 0, 1))
