"""Balanced states, clearing prices and rates, against enumeration, fractions and closed forms."""

import itertools

import numpy as np
import pytest
from dynamic_programming import dynamic_programming
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from market_draws import bundle_markets

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market.balance import (
    balanced_state,
    best_response,
    clearing_interval,
    is_balanced,
    is_supported,
    nearest_balance,
)
from simplugin.market.discount_rates import (
    balanced_split,
    balancing_rates,
    completion_bound,
    rates_for,
)
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.bundle_programs import continuous_optimum
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
    with pytest.raises(WorkloadError, match="3 tasks are placed; place all 4"):
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


seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 5), st.integers(1, 12))
@settings(max_examples=40)
def test_rates_make_any_split_the_optimum(seed, n, m):
    generator = np.random.default_rng(seed)
    values = np.exp(generator.normal(0, 1, n))
    # Idle are those of the lowest values, as no rate can keep others idle.
    busy = np.argsort(-values)[: generator.integers(1, min(n, m) + 1)]
    amounts = np.zeros(n, dtype=np.int64)
    amounts[busy] = 1 + generator.multinomial(m - len(busy), np.full(len(busy), 1 / len(busy)))
    top = values[busy].min()
    bottom = max((v for i, v in enumerate(values) if i not in busy), default=0.1 * top)
    alpha = rates_for(values, amounts, float(np.sqrt(top * max(bottom, 0.1 * top))))
    market = BundleMarket(values, m, m, 1 - alpha)
    best = dynamic_programming(*market.arguments)
    assert market.benefit(amounts) == pytest.approx(best, rel=1e-12)
    found = largest_benefit(*market.arguments)
    assert found.amounts.tolist() == amounts.tolist()
    # The one optimum: what is not sold is worth less than what is, by a margin.
    assert found.next_price < found.price


def test_the_formula():
    alpha = rates_for([8.0, 4.0, 1.0], [3, 1, 0], 2.0, idle=0.25)
    assert alpha == pytest.approx([1 - 4 ** (-1 / 2.5), 1 - 2**-2, 0.25])
    assert rates_for([8.0], [3], 2.0, part=0.25) == pytest.approx([1 - 4 ** (-1 / 2.75)])


IMPOSSIBLE_PRICES = [
    (4.5, "peer 1, whose first task is worth 4, 1 tasks at the price 4.5; give a price below"),
    (0.5, "peer 2, whose first task is worth 1, 0 tasks at the price 0.5; give a price above"),
]


@pytest.mark.parametrize(("price", "words"), IMPOSSIBLE_PRICES)
def test_no_rate_makes_up_for_a_price(price, words):
    with pytest.raises(InfeasibleError, match=words):
        rates_for([8.0, 4.0, 1.0], [3, 1, 0], price)


def test_rates_do_not_round_to_1():
    with pytest.raises(InfeasibleError, match="rate of peer 1 is 1 but for rounding"):
        rates_for([8.0, 4.0], [3, 1], 1e-9)


@given(seeds, st.integers(1, 4), st.integers(1, 8))
@settings(max_examples=50)
def test_the_balanced_split_completes_first(seed, n, m):
    generator = np.random.default_rng(seed)
    times = np.exp(generator.normal(0, 1, n))
    caps = generator.integers(0, m + 1, n)
    caps[0] += max(0, m - caps.sum())
    amounts = balanced_split(times, m, caps)
    assert amounts.sum() == m
    assert np.all(amounts <= caps)
    every = (
        np.max(np.array(split) * times)
        for split in itertools.product(*(range(min(cap, m) + 1) for cap in caps))
        if sum(split) == m
    )
    assert np.max(amounts * times) == pytest.approx(min(every))
    assert np.max(amounts * times) >= completion_bound(times, m) * (1 - 1e-12)


def test_large_splits_are_near_the_bound():
    times = np.random.default_rng(1).uniform(1, 40, 500)
    amounts = balanced_split(times, 10**7, [10**7] * 250 + [10] * 250)
    assert amounts.sum() == 10**7
    assert np.all(amounts[250:] == 10)
    open_ = amounts[:250] * times[:250]
    assert np.max(open_) - np.min(open_) <= 40
    free = balanced_split(times, 10**7)
    assert np.max(free * times) == pytest.approx(completion_bound(times, 10**7), rel=1e-4)


@given(seeds, st.integers(2, 12), st.integers(50, 1000), st.floats(0.001, 0.05))
@settings(max_examples=40)
def test_balancing_rates_keep_the_benefit(seed, n, m, alpha):
    times = np.exp(np.random.default_rng(seed).normal(0, 0.7, n))
    common = largest_benefit(1 / times, m, m, 1 - alpha)
    try:
        rates = balancing_rates(1 / times, times, m, common.benefit)
    except InfeasibleError:
        # Between what can be had. Were that often so, Hypothesis would object.
        reject()
    found = largest_benefit(1 / times, m, m, 1 - rates.alpha)
    assert found.amounts.tolist() == rates.amounts.tolist()
    assert found.clears(rates.price)
    assert found.benefit == pytest.approx(common.benefit, rel=1e-9)
    # Peers with tasks finish together, but for one task, and for the one that got fewer.
    busy = np.flatnonzero(rates.amounts)
    ends = np.sort((rates.amounts * times)[busy])
    slowest = times[busy].max()
    assert ends[-1] - ends[min(1, len(ends) - 1)] <= slowest * (1 + 1e-9)


def test_what_cannot_be_had_is_refused():
    with pytest.raises(InfeasibleError, match=r"a benefit of 0.5: values allow from 1.5 to less"):
        balancing_rates([1.0, 0.5], [1.0, 2.0], 30, 0.5)
    with pytest.raises(InfeasibleError, match="to less than 30"):
        balancing_rates([1.0, 0.5], [1.0, 2.0], 30, 31)
    with pytest.raises(WorkloadError, match="give a positive number of seconds"):
        balanced_split([1.0, 0.0], 3)
    with pytest.raises(WorkloadError, match="m is 0"):
        balanced_split([1.0, 2.0], 0)
    with pytest.raises(InfeasibleError, match="3 tasks cannot be placed"):
        balanced_split([1.0, 2.0], 3, 1)
