from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.iteration import iterate, settled, throughput_error
from simplugin.pricing.policies.acceleration import (
    MEMORY,
    SLACK,
    AcceleratedMarket,
    coefficients,
    mix,
    steady,
    total,
)
from simplugin.pricing.policies.market import Market
from simplugin.pricing.seeded_instances import instance
from simplugin.workloads import AlphaFair

LOG = AlphaFair(1.0)


def test_every_throughput_is_right_in_few_rounds() -> None:
    percent, millionth = [], []
    # Instances of all families and spreads.
    for number in (0, 2, 4, 8, 15, 29):
        sharing = instance(number).sharing
        best = fair_sharing(sharing).throughput
        found = iterate(AcceleratedMarket(), sharing, LOG, 300, prices=False)
        error = throughput_error(found, best)
        percent.append(settled(error, 0.01) or np.inf)
        millionth.append(settled(error, 1e-6) or np.inf)
    assert np.median(percent) <= 25
    assert max(percent) <= 150
    assert np.median(millionth) <= 60
    assert max(millionth) < np.inf


@pytest.mark.parametrize("alpha", [0.5, 2.0, 4.0])
def test_other_utilities_and_weights(alpha: float) -> None:
    problem = instance(11).sharing
    sharing = replace(problem, weight=np.linspace(0.2, 5, problem.n_applications))
    found = iterate(AcceleratedMarket(), sharing, AlphaFair(alpha), 400, prices=False)
    best = fair_sharing(sharing, alpha).throughput
    assert found.throughput[-1] == pytest.approx(best, rel=1e-8)
    assert found.overload[-1] < 1e-8


def test_residuals_never_grow_far() -> None:
    # What makes divergence impossible while the metric stays.
    sharing = instance(15).sharing
    method = AcceleratedMarket()
    state = method.start(sharing, LOG)
    mixed = undone = 0
    for _ in range(200):
        before, state = state, method.round(sharing, LOG, state)
        mixed += state.plain is not None
        undone += before.plain is not None and len(state.requests) == 1
        if len(before.requests) and len(state.requests) > len(before.requests):
            # Down to rounding.
            assert state.products[-1, -1] <= max(SLACK * before.least, 1e-26)
        assert len(state.requests) == len(state.residuals) == len(state.products)
        assert len(state.requests) <= MEMORY + 1
    assert mixed > 100
    assert undone > 0


def test_a_mix_that_proves_worse_is_undone() -> None:
    sharing = instance(8).sharing
    method = AcceleratedMarket()
    state = method.start(sharing, LOG)
    while state.plain is None or state.market.next_metric <= state.market.number + 3:
        state = method.round(sharing, LOG, state)
    spoilt = replace(state, market=replace(state.market, request=state.market.request * 3))
    after = method.round(sharing, LOG, spoilt)
    # The allocation stays, the requests are those of the plain step, and one round is remembered.
    assert np.array_equal(after.rate, state.rate)
    assert np.array_equal(after.market.request, state.plain)
    assert len(after.requests) == 1
    assert after.plain is None
    assert after.market.number == state.market.number + 1


def test_sums_along_the_trees_are_inner_products() -> None:
    sharing = instance(4).sharing
    generator = np.random.default_rng(0)
    metric = generator.uniform(0, 2, (2, sharing.n_agents))
    residuals = tuple(generator.normal(size=(2, sharing.n_agents)) for _ in range(3))
    expected = [(metric * residuals[-1] * other).sum() for other in residuals]
    assert total(sharing, metric, residuals[-1], residuals) == pytest.approx(expected, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, MEMORY + 1))
@settings(max_examples=50)
def test_coefficients_solve_the_least_squares(seed: int, count: int) -> None:
    residuals = np.random.default_rng(seed).normal(size=(count, 40))
    gamma = coefficients(residuals @ residuals.T)
    differences = np.diff(residuals, axis=0).T
    expected = np.linalg.lstsq(differences, residuals[-1], rcond=None)[0]
    assert gamma == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_a_linear_map_is_solved_in_as_many_rounds_as_it_has_dimensions() -> None:
    # Anderson's method is then GMRES [Walker, Ni 2011].
    matrix = np.diag([0.9, 0.5, -0.3])
    requests: tuple[np.ndarray, ...] = ()
    residuals: tuple[np.ndarray, ...] = ()
    point = np.array([1.0, 1.0, 1.0])
    for _ in range(4):
        requests, residuals = (*requests, point), (*residuals, matrix @ point - point)
        stacked = np.array(residuals)
        if len(requests) > 1:
            point = mix(requests, residuals, coefficients(stacked @ stacked.T))
        else:
            point = point + residuals[-1]
    # But for the ridge; plain rounds would have left 0.9^4 = 0.66.
    assert np.abs(point).max() < 5e-3


def test_a_residual_that_stays_is_a_drift() -> None:
    once = np.array([[1.0, 0.0], [1.0, 0.02]])
    assert steady(once @ once.T)
    turned = np.array([[1.0, 0.0], [1.0, 0.2]])
    assert not steady(turned @ turned.T)


def test_repeated_residuals_do_no_harm() -> None:
    same = np.ones((3, 5))
    assert coefficients(same @ same.T).tolist() == [0.0, 0.0]


def test_plain_rounds_are_the_market_s() -> None:
    # The first two rounds are not mixed.
    sharing = instance(4).sharing
    plain = iterate(Market(), sharing, LOG, 2).throughput
    assert np.array_equal(iterate(AcceleratedMarket(), sharing, LOG, 2).throughput, plain)
