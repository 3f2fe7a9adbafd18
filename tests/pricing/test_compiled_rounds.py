"""Compiled rounds are those of numpy, with one thread or two."""

from itertools import product

import numpy as np
import pytest
from numpy_rounds import gradient_round, market_round

from simplugin.papers.bertin.seeded_instances import instance
from simplugin.pricing.methods import Gradient, Market
from simplugin.pricing.policies.gradient import GradientAssumptions, StepSizes
from simplugin.pricing.policies.trees import trees_of
from simplugin.workloads import AlphaFair

RATES = ("rate", "memory", "host_price", "link_price", "received")
MARKETS = (
    *("request", "metric", "offer", "plan", "paid", "price", "slack", "share", "reached"),
    *("balance", "residual", "part", "number", "next_metric", "step"),
)
STEPS = StepSizes(memory=0.2, rate=0.2, utility=1e4, host=1e-6, link=1e-7)


def compare(method, reference, names, sharing, alpha, rounds, threads):
    """Go through rounds of both, each from its own state."""
    utility, trees = AlphaFair(alpha), trees_of(sharing)
    trees.threads = threads
    state = expected = method.start(sharing, utility)
    for _ in range(rounds):
        state = method.round(sharing, utility, state)
        expected = reference(method, sharing, utility, expected)
        for name in names:
            # Every operation is the same; a test of 1e-12 alone would not see that.
            assert np.array_equal(getattr(state, name), getattr(expected, name)), name
    trees.threads = 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("feasible", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0])
def test_rounds_of_markets(deployment, alpha, feasible, threads):
    method = Market(feasible=feasible)
    for sharing in (deployment[2], instance(8).sharing):
        compare(method, market_round, MARKETS, sharing, alpha, 60, threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("scaled", [False, True])
def test_rounds_of_gradients(deployment, scaled, threads):
    for flags in product((False, True), repeat=5):
        method = Gradient(scaled, STEPS, GradientAssumptions(*flags))
        alpha = 1.0 if flags[0] else 0.7
        compare(method, gradient_round, RATES, deployment[2], alpha, 12, threads)


def test_states_of_another_deployment_are_refused(deployment):
    other, utility = instance(8).sharing, AlphaFair(1.0)
    for method in (Market(), Gradient()):
        state = method.start(deployment[2], utility)
        with pytest.raises(ValueError, match=r"values|shape"):
            method.round(other, utility, state)
