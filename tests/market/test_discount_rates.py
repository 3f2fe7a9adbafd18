"""Discount rates against enumeration and closed forms."""

import itertools

import numpy as np
import pytest
from dynamic_programming import dynamic_programming
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market.discount_rates import (
    balanced_split,
    balancing_rates,
    completion_bound,
    rates_for,
)
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket

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
    ([8.0, 4.0, 1.0], [3, 1, 0], 4.5, 1),
    ([8.0, 4.0, 1.0], [3, 1, 0], 0.5, 2),
    ([8.0, 4.0], [3, 1], 1e-9, 1),
]


@pytest.mark.parametrize(("values", "amounts", "price", "peer"), IMPOSSIBLE_PRICES)
def test_no_rate_makes_up_for_a_price(values, amounts, price, peer):
    with pytest.raises(InfeasibleError) as caught:
        rates_for(values, amounts, price)
    assert f"peer {peer}" in str(caught.value)


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


def test_impossible_benefits_and_splits_are_refused():
    for benefit in (0.5, 31):
        with raises_naming(InfeasibleError, benefit):
            balancing_rates([1.0, 0.5], [1.0, 2.0], 30, benefit)
    for times, m, names in (([1.0, 0.0], 3, ["[1.0, 0.0]"]), ([1.0, 2.0], 0, ["m", "0"])):
        with raises_naming(WorkloadError, *names):
            balanced_split(times, m)
    with raises_naming(InfeasibleError, "3"):
        balanced_split([1.0, 2.0], 3, 1)
