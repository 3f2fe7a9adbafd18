"""Balanced states and clearing prices, against enumeration, fractions and closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from market_draws import bundle_markets
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.balance import (
    balanced_state,
    best_response,
    clearing_interval,
    is_balanced,
    is_supported,
    nearest_balance,
)
from simplugin.papers.zheng.divided_bundles import continuous_optimum
from simplugin.workloads.bundle_markets import BundleMarket

LEAST = BundleMarket([7, 12], 4, 4, 0.5)


# ---- The theorem's least counter-example ---------------------------------------------------------


def test_a_balanced_state_that_is_not_a_maximum():
    assert is_balanced(LEAST, [1, 3], 7.0)
    assert LEAST.benefit([1, 3]) == 28.0
    assert not is_balanced(LEAST, [2, 2], 5.25)
    assert LEAST.mean_prices([2, 2]).tolist() == [5.25, 9.0]
    assert LEAST.benefit([2, 2]) == 28.5
    assert largest_benefit(LEAST.values, 4, 4, 0.5).benefit == 28.5
    assert nearest_balance(LEAST).amounts.tolist() == [1, 3]
    # (1, 3) is a best response to no price: the third task of the second is worth 3, the second of
    # the first 3.5.
    assert clearing_interval(LEAST, [1, 3]) == pytest.approx((3.5, 3.0))
    assert not is_supported(LEAST, [1, 3])
    assert clearing_interval(LEAST, [2, 2]) == pytest.approx((3.0, 3.5))
    assert is_supported(LEAST, [2, 2])


# ---- What holds ---------------------------------------------------------------------------------


@given(st.integers(1, 3), st.integers(1, 6), st.data())
@settings(max_examples=80)
def test_maximal_if_and_only_if_some_price_makes_all_amounts_best_responses(n, m, data):
    value = st.one_of(st.sampled_from([1.0, 2.0, 4.0]), st.floats(0.1, 10))
    values = data.draw(st.lists(value, min_size=n, max_size=n))
    q = data.draw(st.one_of(st.just(0.5), st.floats(0.05, 0.99)))
    market = BundleMarket(values, m, m, q)
    every = [each for each in itertools.product(range(m + 1), repeat=n) if sum(each) == m]
    benefits = np.array([market.benefit(amounts) for amounts in every])
    for amounts, benefit in zip(every, benefits, strict=True):
        short = 1 - benefit / benefits.max()
        low, high = clearing_interval(market, amounts)
        # Neither verdict is asked for where rounding decides.
        assume(not 0 < short < 1e-6 or short < 1e-14)
        assert is_supported(market, amounts) == (short < 1e-12)
        assert (low <= high * (1 + 1e-9)) == (short < 1e-12)


@given(bundle_markets(5, 30))
@settings(max_examples=80)
def test_the_prices_of_the_maximum(market):
    best = largest_benefit(*market.arguments)
    low, high = clearing_interval(market, best.amounts)
    assert (low, high) == pytest.approx((best.next_price, best.price), rel=1e-12)
    assert is_supported(market, best.amounts)
    for price in (low, high, 0.5 * (low + high)):
        assert best_response(market, best.amounts, price)
    assert not best_response(market, best.amounts, high * 1.001)
    if low > 0:
        assert not best_response(market, best.amounts, low * 0.999)
        assert not best_response(market, best.amounts, 0.0)
    else:
        assert best_response(market, best.amounts, 0.0)


def test_amounts_that_do_not_place_all_tasks_are_no_maximum():
    with raises_naming(WorkloadError, "3", "4"):
        is_supported(LEAST, [1, 2])


# ---- Balanced states -----------------------------------------------------------------------------


@given(bundle_markets(8, 200, 1e-5))
@settings(max_examples=60)
def test_the_balanced_state_is_balanced(market):
    state = balanced_state(market)
    amounts, price = state.amounts, state.price
    assert amounts.sum() == pytest.approx(market.m, rel=1e-9)
    assert np.all((amounts >= 0) & (amounts <= market.caps))
    active = amounts > 1e-9
    means = market.sums(amounts)[active] / amounts[active]
    full = amounts[active] >= market.caps[active]
    assert means[~full] == pytest.approx(np.full(np.sum(~full), price), rel=1e-6)
    assert np.all(means[full] >= price * (1 - 1e-9))
    assert np.all(market.values[(amounts == 0) & (market.caps > 0)] <= price * (1 + 1e-9))
    if not np.any(full):
        assert is_balanced(market, np.where(active, amounts, 0.0), price, 1e-6)
        assert state.benefit == pytest.approx(price * market.m, rel=1e-6)


@given(bundle_markets(8, 200, 1e-5))
@settings(max_examples=40)
def test_half_of_the_largest_benefit_at_least(market):
    state, near = balanced_state(market), nearest_balance(market)
    relaxed = continuous_optimum(*market.arguments)
    assert state.benefit <= relaxed.benefit * (1 + 1e-9)
    assert relaxed.benefit <= 2 * state.benefit
    best = largest_benefit(*market.arguments)
    assert near.benefit <= best.benefit * (1 + 1e-9)
    assert best.benefit <= 2 * near.benefit


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=6),
    st.floats(0.3, 0.999),
    st.floats(0.01, 100),
)
@settings(max_examples=50)
def test_values_made_for_whole_amounts_are_balanced_there(amounts, q, price):
    """Also the continuous state finds them, as it is unique."""
    given_ = np.array(amounts)
    values = price * given_ * (1 - q) / (1 - q**given_)
    market = BundleMarket(values, int(given_.sum()), int(given_.sum()), q)
    assert is_balanced(market, given_, price)
    assert not is_balanced(market, given_, price * 1.01)
    state = balanced_state(market)
    assert state.price == pytest.approx(price, rel=1e-9)
    assert state.amounts == pytest.approx(given_, rel=1e-5)
    near = nearest_balance(market)
    assert near.benefit == pytest.approx(price * market.m, rel=1e-9)
    assert is_balanced(market, near.amounts, near.price, 1e-6)


@given(bundle_markets(5, 200, 1e-5))
@settings(max_examples=50)
def test_nearest_balance_is_that_of_tasks_one_by_one(market):
    amounts = np.zeros(market.n_peers, dtype=int)
    for _ in range(market.m):
        means = [
            value * (1 - kept ** (number + 1)) / (1 - kept) / (number + 1) if number < cap else -1
            for value, kept, number, cap in zip(
                market.values, market.q, amounts, market.caps, strict=True
            )
        ]
        amounts[int(np.argmax(means))] += 1
    near = nearest_balance(market)
    assert near.amounts.sum() == market.m
    # Which of equal means comes first is up to rounding.
    assert near.benefit == pytest.approx(market.benefit(amounts), rel=1e-9)
    means = market.mean_prices(amounts)[amounts > 0]
    assert near.price == pytest.approx(means.min(), rel=1e-9)


@pytest.mark.parametrize("alpha", [1e-12, 1e-7, 0.999999])
def test_extreme_discounts(alpha):
    """Without discount the dearest has all; with all of it each has a task before any a second."""
    market = BundleMarket([1.0, 1.0, 1.0], 9, 9, 1 - alpha)
    assert balanced_state(market).amounts == pytest.approx([3, 3, 3], rel=1e-6)
    market = BundleMarket([1.0, 2.0, 1.5], 300, 300, 1 - alpha)
    near = nearest_balance(market)
    if alpha < 0.1:
        assert near.amounts.tolist() == [0, 300, 0]
    else:
        # Means are V / k.
        assert near.amounts == pytest.approx(300 * market.values / 4.5, abs=1)


@pytest.mark.parametrize("alpha", [1e-5, 1e-6, 1e-7])
def test_a_discount_next_to_none_is_not_lost_in_rounding(alpha):
    amounts = np.array([30, 70, 20])
    values = amounts * alpha / -np.expm1(amounts * np.log1p(-alpha))
    state = balanced_state(BundleMarket(values, 120, 120, 1 - alpha))
    # The sixteenth digit of 1 - alpha is all that is not known.
    assert state.amounts == pytest.approx(amounts, rel=max(1e-8, 1e-14 / alpha))
