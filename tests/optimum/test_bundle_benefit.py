"""The exact maximum of bundles, against enumeration."""

import heapq
from fractions import Fraction

import numpy as np
import pytest
from dynamic_programming import dynamic_programming
from hypothesis import given, settings
from market_draws import bundle_markets
from naming import raises_naming

from simplugin.core.errors import InfeasibleError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket


def heap_greedy(log_value, m, caps, log_q) -> list[int]:
    """Hand out tasks one by one to whom the next is worth most; of equal ones the lowest."""
    heap = [(-value, peer) for peer, value in enumerate(log_value) if caps[peer] > 0]
    heapq.heapify(heap)
    amounts = [0] * len(log_value)
    for _ in range(m):
        _, peer = heapq.heappop(heap)
        amounts[peer] += 1
        if amounts[peer] < caps[peer]:
            heapq.heappush(heap, (-(log_value[peer] + amounts[peer] * log_q[peer]), peer))
    return amounts


@given(bundle_markets())
@settings(max_examples=150)
def test_it_is_the_best_of_all_assignments(market):
    values, m, caps, q = market.arguments
    best = largest_benefit(*market.arguments)
    assert best.benefit == pytest.approx(dynamic_programming(*market.arguments), rel=1e-12)
    assert best.amounts.sum() == m
    assert np.all((best.amounts >= 0) & (best.amounts <= caps))
    # The benefit is that of the amounts.
    own = sum(
        value * kept**k
        for value, kept, amount in zip(values, q, best.amounts.tolist(), strict=True)
        for k in range(amount)
    )
    assert best.benefit == pytest.approx(own, rel=1e-12)


@given(bundle_markets())
@settings(max_examples=150)
def test_prices_are_the_last_value_sold_and_the_first_that_is_not(market):
    values, m, caps, q = market.arguments
    worth = sorted(
        (
            value * kept**k
            for value, cap, kept in zip(values, caps, q, strict=True)
            # Nobody gets more than there are, Definition 3.
            for k in range(min(cap, m))
        ),
        reverse=True,
    )
    best = largest_benefit(*market.arguments)
    assert best.price == pytest.approx(worth[m - 1], rel=1e-12)
    assert best.next_price == pytest.approx(worth[m] if m < len(worth) else 0.0, rel=1e-12)
    assert best.clears(best.price)
    assert best.clears(best.next_price)
    assert best.price == 0 or not best.clears(best.price * 1.01)
    assert best.next_price == 0 or not best.clears(best.next_price * 0.99)


def test_of_equal_tasks_the_lowest_peer_gets_its_own():
    assert largest_benefit([1, 1, 1], 4, 4, 0.9).amounts.tolist() == [2, 1, 1]
    assert largest_benefit([1, 1, 1], 5, [1, 4, 4], 0.9).amounts.tolist() == [1, 2, 2]
    # The second task of the first is worth as much as the first of the second.
    tie = largest_benefit([2, 1], 2, 4, 0.5)
    assert tie.amounts.tolist() == [2, 0]
    assert tie.price == tie.next_price == 1.0
    assert tie.clears(1.0)


@pytest.mark.parametrize("alpha", [1e-12, 1e-9, 1e-5, 1e-3, 0.5, 0.9, 0.999])
def test_amounts_are_those_of_a_heap_whatever_the_discount(alpha):
    rng = np.random.default_rng(7)
    n, m = 9, 3000
    # Far apart, or as near as the discount is, so that all take part.
    for spread in (1.0, m * alpha / n):
        values = np.exp(rng.uniform(0, min(spread, 20.0), n))
        caps = rng.integers(m // n + 1, m, n)
        q = np.full(n, 1 - alpha)
        best = largest_benefit(values, m, caps, q)
        expected = heap_greedy(np.log(values).tolist(), m, caps.tolist(), np.log(q).tolist())
        assert best.amounts.tolist() == expected


@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 0.999])
def test_sums_are_exact_at_extreme_discounts(alpha):
    """Rational arithmetic of the number that stands for q."""
    m, q = 40, 1 - alpha
    kept = Fraction(q)
    exact = sum((3 * kept**k for k in range(m)), Fraction(0))
    best = largest_benefit([3.0], m, m, q)
    assert best.benefit == pytest.approx(float(exact), rel=1e-13)
    assert best.price == pytest.approx(float(3 * kept ** (m - 1)), rel=1e-12)


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 0.01, 0.5, 0.9])
def test_what_is_worth_a_price_is_told_to_the_last_bit(alpha):
    """At what a task is worth it is among those that are, just above it is not."""
    market = BundleMarket([1.0, 3.7, 83.3], 500, 500, 1 - alpha)
    for peer in range(3):
        for number in range(1, 500):
            worth = market.log_worth(number)[peer]
            assert market.above(worth)[peer] >= number
            assert market.above(np.nextafter(worth, np.inf))[peer] < number


def test_values_that_underflow_are_still_told_apart():
    """Beyond 1e-308 values are 0 as numbers; 10^5 tasks are far beyond."""
    rng = np.random.default_rng(3)
    n, m = 5, 100_000
    values, q = rng.lognormal(0, 1, n), np.full(n, 0.1)
    best = largest_benefit(values, m, m, q)
    assert best.amounts.sum() == m
    # All peers' last tasks are worth the same but for one step of the discount.
    last = np.log(values) + (best.amounts - 1) * np.log(q)
    following = last + np.log(q)
    assert following.max() <= last.min() + 1e-9
    assert best.benefit == pytest.approx(values.sum() / 0.9, rel=1e-12)
    # Prices are 0 as numbers; that is what they are.
    assert best.price == best.next_price == 0.0


def test_ten_million_tasks():
    """Benefit and price against the closed form of equal peers, and of whole shares."""
    n, m, alpha = 10_000, 10_000_000, 1e-3
    best = largest_benefit(np.full(n, 50.0), m, m, 1 - alpha)
    assert np.all(best.amounts == m // n)
    each = 50.0 * (1 - (1 - alpha) ** 1000) / alpha
    assert best.benefit == pytest.approx(n * each, rel=1e-10)
    assert best.price == pytest.approx(50.0 * (1 - alpha) ** 999, rel=1e-10)


def test_a_bundle_that_does_not_fit_is_refused():
    with raises_naming(InfeasibleError, "13", "12", "N_max to 5"):
        largest_benefit([1, 2, 3], 13, 4, 0.5)
