"""Comparison of a scenario's results under several orders of actors that are ready at one date."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, TypeVar

from simplugin.core.errors import SimulationError
from simplugin.regression.activities import activities_of
from simplugin.regression.divergence import Divergence, diverge
from simplugin.scenarios.loading import run_scenario
from simplugin.scenarios.scenario import Scenario, ScenarioResult
from simplugin.simulation.simulate import DrawnOrder

T = TypeVar("T")

# More activities are not compared.
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class MetricRange:
    """A metric under several orders.

    Attributes
    ----------
    name, unit : str
        The metric.
    usual : float
        In the order in which actors become ready.
    least, largest : float
        Under all orders.
    n_other : int
        Number of orders under which it differs from the usual one, or is no finite number.
    """

    name: str
    unit: str
    usual: float
    least: float
    largest: float
    n_other: int


@dataclass(frozen=True)
class OrderSensitivity:
    """The results of a scenario under several orders of actors that are ready at one date.

    Attributes
    ----------
    n_orders : int
        Number of orders that were drawn, by the seeds 0, 1, ...
    ties : int or None
        Dates of the usual run at which actors competed.
    ranges : tuple of MetricRange
        The metrics that are finite numbers in the usual order.
    farthest : tuple of (int or None, int or None), optional
        The orders of the two runs that differ most, in the metric whose range is the largest part
        of its value; None stands for the usual order.
    metric : str, optional
        That metric.
    divergence : Divergence, optional
        The first differences between the activities of these two.
    """

    n_orders: int
    ties: int | None
    ranges: tuple[MetricRange, ...]
    farthest: tuple[int | None, int | None] | None = None
    metric: str | None = None
    divergence: Divergence | None = None

    @property
    def depends(self) -> bool:
        """True if a metric differs under an order."""
        return self.farthest is not None

    def document(self) -> dict[str, Any]:
        """Return it as plain data, without the divergence."""
        return {
            "orders": self.n_orders,
            "ties": self.ties,
            "depends": self.depends,
            "metrics": [asdict(each) for each in self.ranges],
            "farthest": self.farthest,
            "metric": self.metric,
        }


def order_sensitivity(
    scenario: Scenario, n_orders: int, report: Callable[[int], object] = lambda _: None
) -> OrderSensitivity:
    """Run a scenario in its usual order and in others, and compare the metrics.

    Parameters
    ----------
    scenario : Scenario
        The scenario, on the back end ``coroutines``.
    n_orders : int
        Number of orders to draw, at least 1.
    report : callable
        Called with the number of orders that have run.

    Raises
    ------
    SimpluginError
        As `run_scenario`; the message names the order that fails.
    """
    usual = _run(scenario, None)
    values: dict[int | None, dict[str, float]] = {None: _numbers(usual)}
    for order in range(n_orders):
        values[order] = _numbers(_run(scenario, order))
        report(order + 1)
    ranges, spread = [], {}
    for metric in usual.row.metrics:
        if (own := values[None].get(metric.name)) is None:
            continue
        found = [each.get(metric.name) for each in values.values()]
        n_other = sum(each != own for each in found)
        known = [each for each in found if each is not None]
        least, largest = min(known), max(known)
        ranges.append(MetricRange(metric.name, metric.unit, own, least, largest, n_other))
        if n_other:
            spread[metric.name] = (largest - least) / (max(abs(least), abs(largest)) or 1.0)
    ties = usual.result.ties
    if not spread:
        return OrderSensitivity(n_orders, ties, tuple(ranges))
    widest = max(spread, key=lambda name: spread[name])
    known_at = {order: each[widest] for order, each in values.items() if widest in each}
    ends = min(known_at, key=known_at.__getitem__), max(known_at, key=known_at.__getitem__)
    kept = replace(scenario, simulation=replace(scenario.simulation, trace=True))
    one, other = (activities_of(_run(kept, order).result, _MOST) for order in ends)
    divergence = diverge(one, other) if one and other else None
    return OrderSensitivity(n_orders, ties, tuple(ranges), ends, widest, divergence)


def _run(scenario: Scenario, order: int | None) -> ScenarioResult:
    """Run the scenario in an order."""
    try:
        return run_scenario(replace(scenario, simulation=replace(scenario.simulation, order=order)))
    except SimulationError as error:
        if order is None:
            raise
        raise SimulationError(f"in order {order}, not in the usual one: {error}") from error


def _numbers(outcome: ScenarioResult) -> dict[str, float]:
    """Return the metrics that are finite numbers."""
    numbers = ((each.name, each.value) for each in outcome.row.metrics)
    return {
        name: float(value)
        for name, value in numbers
        if isinstance(value, int | float) and math.isfinite(value)
    }


def under_orders(function: Callable[[], T], n_orders: int) -> list[T]:
    """Call a function in the usual order and in others, each time in a new process.

    Parameters
    ----------
    function : callable
        Can be pickled, as its results.
    n_orders : int
        Number of orders, drawn by the seeds 0, 1, ...

    Returns
    -------
    list
        The result in the usual order, then those in the others; only the first if it simulates
        nothing that an order can be drawn for.
    """
    # Processes that keep nothing of earlier calls.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        usual, simulations = pool.submit(_called, function, None).result()
        others = range(n_orders if simulations else 0)
        return [usual, *(found for found, _ in pool.map(partial(_called, function), others))]


def _called(function: Callable[[], T], order: int | None) -> tuple[T, int]:
    """Return the result of a function in an order, and how many simulations have it."""
    with DrawnOrder(order) as drawn:
        return function(), drawn.simulations
