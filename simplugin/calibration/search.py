"""Searches of the unit cube for a small loss.

Optimisers of scipy call a function of one point, and wait. Here they are deterministic and run
again from their beginnings whenever further losses are known, until each stops at a point of which
the loss is unknown. So several searches go on side by side, and a killed search goes on from the
store, without an optimiser whose state would have to be saved. CMA-ES and Optuna's TPE are asked
and told: with the same seed and losses, they ask for the same points again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.stats import qmc

from simplugin.calibration.evaluation import Point

# Share of the evaluations that the initial points of a search take.
_INITIAL = 0.25
# Edge of the first simplex.
_EDGE = 0.1
DESIGNS = ("sobol", "latin-hypercube")
# Loss of a failed run for CMA-ES, which uses ranks and differences.
_FAILED = 1e300
# Standard deviation of the first generation of CMA-ES.
_SPREAD = 1 / 6
_Evaluate = Callable[[Sequence[Point]], bool]
_Search = Callable[[Callable[[NDArray[np.float64]], float]], object]


class _UnknownLossError(Exception):
    """The loss at some points is unknown."""

    def __init__(self, points: Sequence[Point]) -> None:
        super().__init__()
        self.points = points


def search(
    method: str,
    dimensions: int,
    losses: Callable[[Sequence[Point]], Sequence[float]],
    *,
    starts: int,
    seed: int,
    evaluations: int,
    spent: Callable[[], bool],
    first: Sequence[Point] = (),
    stopped: Callable[[], None] = lambda: None,
) -> dict[Point, float]:
    """Return the losses at the points of a search.

    Parameters
    ----------
    method : str
        As `CalibrateSection.method`.
    dimensions : int
        Number of parameters.
    losses : callable
        Return the losses at points; infinite where there is none.
    starts, seed, evaluations
        As in `CalibrateSection`.
    spent : callable
        True to end the search.
    first : sequence of points
        Points before those of the search.
    stopped : callable
        Called if the budget ends before the method's own criterion, which TPE has not.
    """
    known: dict[Point, float] = {}

    def evaluate(points: Sequence[Point]) -> bool:
        """Add losses of new points; return False if the search is at its end."""
        new = [each for each in dict.fromkeys(points) if each not in known]
        new = new[: evaluations - len(known)]
        if not new or spent():
            stopped()
            return False
        known.update(zip(new, losses(new), strict=True))
        return True

    is_design = method in DESIGNS
    least = max(5, 2 * dimensions + 2)
    count = evaluations if is_design else max(least, int(_INITIAL * evaluations))
    # In parts, since a budget of seconds can end between them.
    points = [*first, *design(method, dimensions, count, seed)][:count]
    for at in range(0, len(points), least):
        evaluate(points[at : at + least])
    if is_design or not known:
        return known
    best = sorted(known, key=lambda each: known[each])
    if method == "cma-es":
        _cma_es(known, evaluate, seed)
        return known
    if method == "tpe":
        _tpe(known, evaluate, starts, seed)
        return known
    searches = _searches(method, best, starts, seed)
    while True:
        wanted = [point for each in searches for point in _unknown(each, known)]
        if not wanted or not evaluate(wanted):
            return known


def design(method: str, dimensions: int, count: int, seed: int) -> list[Point]:
    """Return points of a Latin hypercube, or of a scrambled Sobol sequence."""
    if method == "latin-hypercube":
        drawn = qmc.LatinHypercube(dimensions, seed=seed).random(count)
    else:
        # A power of two keeps the balance; the first ones are taken.
        drawn = qmc.Sobol(dimensions, seed=seed).random_base2(max(1, (count - 1).bit_length()))
    return [tuple(map(float, each)) for each in drawn[:count]]


def _cma_es(known: Mapping[Point, float], evaluate: _Evaluate, seed: int) -> None:
    """Evaluate generations of CMA-ES [1]_, from the best point that is known.

    References
    ----------
    .. [1] N. Hansen (2016). The CMA Evolution Strategy: A Tutorial. arXiv:1604.00772.
    """
    import cmaes

    best = np.array(min(known, key=lambda each: known[each]))
    box = np.tile([0.0, 1.0], (len(best), 1))
    evolution = cmaes.CMA(mean=best, sigma=_SPREAD, bounds=box, seed=seed)
    while not evolution.should_stop():
        asked = [evolution.ask() for _ in range(evolution.population_size)]
        points = [tuple(map(float, each)) for each in asked]
        if not evaluate(points) or not all(each in known for each in points):
            return
        evolution.tell(
            [(each, min(known[point], _FAILED)) for each, point in zip(asked, points, strict=True)]
        )


def _tpe(known: Mapping[Point, float], evaluate: _Evaluate, starts: int, seed: int) -> None:
    """Evaluate points of tree-structured Parzen estimators [1]_, `starts` at a time.

    References
    ----------
    .. [1] J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl (2011). Algorithms for Hyper-Parameter
       Optimization. NIPS.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    names = [str(at) for at in range(len(next(iter(known))))]
    ranges: dict[str, Any] = {
        name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names
    }
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    for point, loss in known.items():
        shares = dict(zip(names, point, strict=True))
        study.add_trial(optuna.create_trial(params=shares, distributions=ranges, value=loss))
    while True:
        trials = [study.ask(ranges) for _ in range(starts)]
        points = [tuple(each.params[name] for name in names) for each in trials]
        if not evaluate(points) or not all(each in known for each in points):
            return
        for trial, point in zip(trials, points, strict=True):
            study.tell(trial, known[point])


def _searches(method: str, best: Sequence[Point], starts: int, seed: int) -> list[_Search]:
    """Return the searches from the best points that are known."""
    bounds = optimize.Bounds(np.zeros(len(best[0])), np.ones(len(best[0])))
    if method == "differential-evolution":
        # Of less than five the optimiser makes none; the best are repeated.
        members = best[: max(5, 4 * len(best[0]))]
        population = np.resize(members, (max(5, len(members)), len(best[0])))

        def evolve(function: Callable[[NDArray[np.float64]], Any]) -> object:
            """Search with a population."""
            return optimize.differential_evolution(
                function,
                bounds,
                init=population,
                maxiter=10_000,
                seed=seed,
                polish=False,
                updating="deferred",
                vectorized=True,
            )

        return [evolve]

    def local(start: Point) -> _Search:
        """Return a search from a point."""
        corner = np.array(start)
        edges = np.where(corner < 0.5, _EDGE, -_EDGE)
        simplex = np.vstack([corner, corner + np.diag(edges)])

        def descend(function: Callable[[NDArray[np.float64]], float]) -> object:
            """Search from the point."""
            if method == "powell":
                return local_minimum(
                    function, corner, "Powell", bounds=bounds, xtol=1e-5, ftol=1e-9
                )
            return local_minimum(
                function,
                corner,
                bounds=bounds,
                initial_simplex=simplex,
                xatol=1e-5,
                fatol=1e-9,
                maxfev=10_000,
            )

        return descend

    return [local(each) for each in best[:starts]]


def local_minimum(
    function: Callable[[NDArray[np.float64]], float],
    start: NDArray[np.float64],
    method: Literal["Nelder-Mead", "Powell"] = "Nelder-Mead",
    bounds: optimize.Bounds | None = None,
    **options: float | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return a local minimum of a function; `options` as `scipy.optimize.minimize` has them."""
    found = optimize.minimize(function, start, method=method, bounds=bounds, options=options)  # type: ignore[call-overload] # the stubs know vectors of literal shapes only
    return np.asarray(found.x)


def _unknown(run: _Search, known: Mapping[Point, float]) -> Sequence[Point]:
    """Return the points at which a search waits for losses; none if it has ended."""

    def look_up(where: NDArray[np.float64]) -> Any:
        """Return the loss at a point, or those at the columns of a matrix."""
        points = [tuple(map(float, each)) for each in np.atleast_2d(where.T)]
        missing = [each for each in points if each not in known]
        if missing:
            raise _UnknownLossError(missing)
        found = np.array([known[each] for each in points])
        return found if where.ndim == 2 else float(found[0])

    try:
        run(look_up)
    except _UnknownLossError as error:
        return error.points
    return ()
