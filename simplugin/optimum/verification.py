"""Comparison of optima with their models in cvxpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from simplugin.core.errors import UncertifiedError
from simplugin.optimum import models
from simplugin.optimum.bundle_benefit import BestBundle
from simplugin.optimum.fair_sharing import FairShare
from simplugin.optimum.steady_state import SteadyState
from simplugin.optimum.task_graph_bounds import Bound
from simplugin.platforms.sites import Site
from simplugin.results.tables import ResultTable
from simplugin.workloads.applications import Bags
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.shared_deployment import SharedDeployment
from simplugin.workloads.task_graphs import GraphSet

# Relative tolerance of optima that are exact to rounding, and of models.
EXACT, OF_MODELS = 1e-9, 1e-6


@dataclass(frozen=True, eq=False)
class VerifiableOptimum:
    """An optimum of a fast solver, and the model that states it.

    Attributes
    ----------
    name : str
        Quantity that is optimised.
    value : float
        Its optimum.
    size : float
        Absolute value that relative tolerances refer to.
    tolerance : float
        Of `value`, relative to `size`.
    model : callable
        Returns the `OptimumModel`.
    """

    name: str
    value: float
    size: float
    tolerance: float
    model: Callable[[], models.OptimumModel]


def verify_optima(optima: Iterable[VerifiableOptimum]) -> ResultTable:
    """Solve the models of optima, and return both values and their differences.

    Raises
    ------
    UncertifiedError
        An optimum differs from that of its model by more than the sum of their tolerances.
    InfeasibleError
        cvxpy did not solve a model.
    """
    lines = []
    for optimum in optima:
        value, tolerance = optimum.model().solve(), (optimum.tolerance + OF_MODELS) * optimum.size
        difference = optimum.value - value
        if not abs(difference) <= tolerance:
            raise UncertifiedError(
                f"optimum {optimum.name!r} is {optimum.value!r}, but {value!r} by its model in"
                f" cvxpy: they differ by {abs(difference):.1e}, more than the sum of their"
                f" tolerances, {tolerance:.1e}; report this with the scenario"
            )
        lines.append((optimum.name, optimum.value, value, difference, tolerance))
    columns = ("optimum", "by the solver", "by cvxpy", "difference", "tolerance")
    return ResultTable("Verified optima", tuple((name, "") for name in columns), tuple(lines))


def fair_sharing_optimum(
    sharing: SharedDeployment, alpha: float, share: FairShare, name: str = "objective"
) -> VerifiableOptimum:
    """Return the optimum of a fair sharing for verification."""
    # By so much the objective changes, relatively, with all throughputs.
    size = share.objective
    if math.isfinite(alpha):
        size = float(np.sum(sharing.weight * share.throughput ** (1 - alpha)))
    model = partial(models.fair_sharing, sharing, alpha)
    return VerifiableOptimum(name, share.objective, size, share.gap, model)


def steady_state_optimum(state: SteadyState, bags: Bags) -> VerifiableOptimum:
    """Return the fair throughput of a steady state for verification."""
    model, fair = partial(models.steady_state, state.tree, bags), state.fair
    return VerifiableOptimum("fair throughput", fair, fair, max(state.gap, EXACT), model)


def bundle_optimum(market: BundleMarket, best: BestBundle, name: str) -> VerifiableOptimum:
    """Return the largest benefit of a bundle for verification."""
    model = partial(models.bundle_benefit, *market.arguments)
    return VerifiableOptimum(name, best.benefit, best.benefit, EXACT, model)


def makespan_optimum(
    graphs: GraphSet, site: Site, bound: Bound, *, transfers: bool, program: bool, name: str
) -> VerifiableOptimum:
    """Return the lower bound of a makespan for verification."""
    model = partial(models.makespan_bound, graphs, site, transfers=transfers, program=program)
    return VerifiableOptimum(name, bound.value, bound.value, OF_MODELS, model)
