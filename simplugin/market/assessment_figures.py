"""Allocation, prices and queues as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp
from simplugin.figures import Figure

if TYPE_CHECKING:
    from simplugin.market.assessment import Assessment
    from simplugin.workloads.bundle_markets import BundleMarket, Floats

# By how much more tasks than there are demand is drawn.
_BEYOND = 1.5
# More points of the demand curve are no clearer.
_MOST_POINTS = 1000


def figures_of(assessment: Assessment) -> tuple[Figure, ...]:
    """Return allocation and prices; of several bundles, the queue and response times."""
    if len(assessment.deals) == 1:
        return _allocation(assessment), _prices(assessment), _demand(assessment)
    return _allocation(assessment), _queue(assessment), _responses(assessment), _paid(assessment)


def _bars(values: Floats) -> tuple[Floats, Floats]:
    """Return edges around 1, 2, ..., and the heights between them."""
    return np.arange(0.5, len(values) + 1), values


def _allocation(assessment: Assessment) -> Figure:
    """Return tasks of each peer beside the optimum."""
    measured, optima = assessment.measured, assessment.optima
    return Figure(
        "allocation",
        "Tasks of each peer",
        "peer, in the order of the table",
        "tasks",
        {
            "sold": _bars(assessment.by_peer(lambda k: measured[k].amounts)),
            "optimum": _bars(assessment.by_peer(lambda k: optima[k].amounts)),
        },
        bars=True,
    )


def _prices(assessment: Assessment) -> Figure:
    """Return what the first, the last and the mean task is worth to each peer."""
    [outcome] = assessment.measured
    market, amounts = outcome.market, outcome.amounts
    last = np.where(amounts > 0, market.worth(np.maximum(amounts, 1)), market.values)
    return Figure(
        "prices",
        "What a task is worth to each peer",
        "peer, in the order of the table",
        "price [G$]",
        {
            "first task": _bars(market.values),
            "mean of all its tasks": _bars(market.mean_prices(amounts)),
            "its last task": _bars(last),
        },
        lines={"market price": outcome.price},
        bars=True,
    )


def _demand(assessment: Assessment) -> Figure:
    """Return how many tasks peers buy at a price."""
    [outcome] = assessment.measured
    market = outcome.market
    price, tasks = demand_curve(market)
    return Figure(
        "demand",
        "Demand at a price, and the tasks that there are",
        "tasks",
        "price [G$]",
        {
            "demand": (tasks, price),
            "tasks": (np.full(2, float(market.m)), np.array([0.0, float(market.values.max())])),
        },
        lines={"market price": outcome.price},
    )


def demand_curve(market: BundleMarket) -> tuple[Floats, Floats]:
    """Return prices, falling, and how many tasks all peers together buy at each.

    Prices go from that of the most valuable task to where half as many again would be bought, or
    all that the caps allow.
    """
    high = start = float(market.log_value.max())
    low = float(market.log_worth(market.caps)[market.caps > 0].min())
    # Demand only grows as the price falls.
    wanted = min(_BEYOND * market.m, float(market.caps.sum()))
    for _ in range(60):
        middle = 0.5 * (low + high)
        if market.above(middle).sum() >= wanted:
            low = middle
        else:
            high = middle
    logs = np.linspace(start, low, _MOST_POINTS)
    bought = [float(market.response_to_log(log).sum()) for log in logs.tolist()]
    return exp(logs), np.array(bought)


def _queue(assessment: Assessment) -> Figure:
    """Return how many bundles wait, and are there at all, over time."""
    deals = assessment.deals
    submitted = np.array([deal.submitted for deal in deals])
    called = np.array([deal.called for deal in deals])
    finished = np.array([deal.finished for deal in deals])
    return Figure(
        "queue",
        "Bundles in the system",
        "simulated time [s]",
        "bundles",
        {"all": _present(submitted, finished), "waiting": _present(submitted, called)},
    )


def _present(come: Floats, go: Floats) -> tuple[Floats, Floats]:
    """Return how many have come and not gone, as a curve with steps."""
    dates, place = np.unique(np.concatenate([[0.0], come, go]), return_inverse=True)
    # Who comes and goes at one date was never there.
    change = np.concatenate([[0.0], np.ones(len(come)), -np.ones(len(go))])
    counts: Floats = np.cumsum(np.bincount(place, change), dtype=np.float64)
    return np.repeat(dates, 2)[1:], np.repeat(counts, 2)[:-1]


def _responses(assessment: Assessment) -> Figure:
    """Return how long each bundle took from its submission on, and how much of it it waited."""
    waits = np.array([deal.called - deal.submitted for deal in assessment.deals])
    return Figure(
        "responses",
        "From submission to end",
        "bundle, in the order of the table",
        "time [s]",
        {"response": _bars(assessment.responses), "waiting": _bars(waits)},
        bars=True,
    )


def _paid(assessment: Assessment) -> Figure:
    """Return what each task of a bundle was sold for, and was worth."""
    measured = assessment.measured
    return Figure(
        "paid",
        "Price of a task",
        "bundle, in the order of the table",
        "price [G$]",
        {
            "worth, mean": _bars(np.array([each.benefit / each.market.m for each in measured])),
            "market price": _bars(np.array([each.price for each in measured])),
        },
        bars=True,
    )
