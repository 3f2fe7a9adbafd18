"""The exact maximum of bundles, and programs for it, against enumeration and each other."""

import heapq
import itertools
from fractions import Fraction

import numpy as np
import pytest
from dynamic_programming import dynamic_programming
from hypothesis import given, settings
from hypothesis import strategies as st
from market_draws import bundle_markets

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum import bundle_benefit
from simplugin.optimum.bundle_benefit import (
    identical_benefit,
    largest_benefit,
    mixed_benefit,
    scaled_benefit,
)
from simplugin.optimum.bundle_programs import (
    assignment_program,
    continuous_optimum,
    relaxation,
)
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
    with pytest.raises(InfeasibleError, match=r"12 together \(m > n N_max\); raise N_max to 5"):
        largest_benefit([1, 2, 3], 13, 4, 0.5)


def best_of_all(values, caps, q):
    """The largest benefit over all ways to give tasks to peers, each peer's best task first."""
    n, m = values.shape
    best = 0.0
    for who in itertools.product(range(n), repeat=m):
        given_ = [np.sort(values[i, np.array(who) == i])[::-1] for i in range(n)]
        if all(len(row) <= cap for row, cap in zip(given_, caps, strict=True)):
            best = max(
                best,
                sum(
                    float(np.sum(row * q[i] ** np.arange(len(row)))) for i, row in enumerate(given_)
                ),
            )
    return best


def drawn(seed, n, m):
    generator = np.random.default_rng(seed)
    caps = generator.integers(0, m + 1, n)
    caps[0] += max(0, m - caps.sum())
    return generator, caps, generator.uniform(0.3, 0.99, n)


def is_consistent(found, values, caps, q):
    """Return True if places are the first ones of each peer, and the benefit is theirs."""
    n, m = values.shape
    amounts = np.bincount(found.peers, minlength=n)
    worth = values[found.peers, np.arange(m)] * q[found.peers] ** (found.places - 1.0)
    return (
        np.all(amounts <= caps)
        and all(
            sorted(found.places[found.peers == i]) == list(range(1, amounts[i] + 1))
            for i in range(n)
        )
        and worth.sum() == pytest.approx(found.benefit)
    )


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6))
@settings(max_examples=60)
def test_tasks_that_only_compute_against_all_assignments(seed, n, m):
    generator, caps, q = drawn(seed, n, m)
    speeds, sizes = np.exp(generator.normal(0, 1, n)), np.exp(generator.normal(0, 1, m))
    found = scaled_benefit(speeds, sizes, caps, q)
    values = speeds[:, None] / sizes
    assert found.benefit == pytest.approx(best_of_all(values, caps, q), rel=1e-12)
    assert is_consistent(found, values, caps, q)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6))
@settings(max_examples=60)
def test_any_values_against_all_assignments(seed, n, m):
    generator, caps, q = drawn(seed, n, m)
    values = np.exp(generator.normal(0, 1, (n, m)))
    found = mixed_benefit(values, caps, q)
    assert found.benefit == pytest.approx(best_of_all(values, caps, q), rel=1e-12)
    assert is_consistent(found, values, caps, q)


@pytest.mark.parametrize("seed", range(2))
def test_both_methods_agree_on_large_bundles(seed):
    generator = np.random.default_rng(seed)
    speeds, sizes = np.exp(generator.normal(0, 0.5, 8)), np.exp(generator.normal(0, 0.8, 120))
    paired = mixed_benefit(speeds[:, None] / sizes, 40, 0.97)
    sorted_ = scaled_benefit(speeds, sizes, 40, 0.97)
    assert paired.benefit == pytest.approx(sorted_.benefit, rel=1e-12)
    amounts = largest_benefit(speeds, 120, 40, 0.97).amounts
    assert np.bincount(sorted_.peers, minlength=8).tolist() == amounts.tolist()


def test_identical_tasks_are_the_market_of_bundles():
    values = np.array([5.0, 3.0, 2.0])
    best = largest_benefit(values, 20, 10, 0.9)
    same = np.repeat(values[:, None], 20, axis=1)
    for found in (
        scaled_benefit(values, np.ones(20), 10, 0.9),
        mixed_benefit(same, 10, 0.9),
        identical_benefit(same, values, 10, 0.9),
    ):
        assert found.benefit == pytest.approx(best.benefit)
        assert np.bincount(found.peers, minlength=3).tolist() == best.amounts.tolist()


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_dealing_as_identical_is_no_better(seed):
    generator = np.random.default_rng(seed)
    speeds, sizes = np.exp(generator.normal(0, 1, 4)), np.exp(generator.normal(0, 1, 15))
    values = speeds[:, None] / sizes
    dealt = identical_benefit(values, speeds / sizes.mean(), 9, 0.8)
    assert dealt.benefit <= scaled_benefit(speeds, sizes, 9, 0.8).benefit * (1 + 1e-12)
    assert is_consistent(dealt, values, np.full(4, 9), np.full(4, 0.8))


def test_what_dealing_as_identical_loses_by_hand():
    # One peer, sizes 4 and 1 in this order: places are worth 8 and 4; dealt 8/4 + 4/1, best
    # 8/1 + 4/4.
    values = np.array([[2.0, 8.0]])
    assert identical_benefit(values, [3.2], 2, 0.5).benefit == pytest.approx(2 + 4)
    best = scaled_benefit([8.0], [4.0, 1.0], 2, 0.5)
    assert best.benefit == pytest.approx(8 + 1)
    assert best.places.tolist() == [2, 1]
    assert mixed_benefit(values, 2, 0.5).benefit == pytest.approx(9)


def test_errors(monkeypatch):
    with pytest.raises(WorkloadError, match="sizes are not positive numbers"):
        scaled_benefit([1.0], [1.0, 0.0], 2, 0.5)
    with pytest.raises(WorkloadError, match="values have shape"):
        mixed_benefit([1.0, 2.0], 2, 0.5)
    with pytest.raises(InfeasibleError, match="3 tasks cannot be placed"):
        mixed_benefit(np.ones((2, 3)), 1, 0.5)
    monkeypatch.setattr(bundle_benefit, "_LARGEST", 5)
    with pytest.raises(InfeasibleError, match="too many to pair"):
        mixed_benefit(np.ones((2, 3)), 3, 0.5)


SEEDS = range(12)


def drawn_market(seed: int):
    """Return values, m, caps and q of a market, every other one with a rate for each peer."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 12)), int(np.exp(rng.uniform(0, np.log(300))))
    q = 1 - np.exp(rng.uniform(np.log(1e-3), np.log(0.5), n if seed % 2 else 1))
    caps = m if seed % 3 else rng.integers(-(-m // n), m + 1, n)
    return rng.lognormal(0, rng.uniform(0.1, 1.5), n), m, caps, np.broadcast_to(q, (n,))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_program_over_tasks_is_whole_and_its_dual_clears(seed):
    market = drawn_market(seed)
    best = largest_benefit(*market)
    benefit, price = assignment_program(*market)
    assert benefit == pytest.approx(best.benefit, rel=1e-9)
    slack = 1e-9 * float(np.max(market[0]))
    assert best.next_price - slack <= price <= best.price + slack


@pytest.mark.parametrize("seed", SEEDS)
def test_the_closed_form_satisfies_the_conditions_of_optimality(seed):
    values, m, caps, q = drawn_market(seed)
    best = continuous_optimum(values, m, caps, q)
    limits = np.minimum(np.broadcast_to(caps, values.shape), m)
    assert best.amounts.sum() == pytest.approx(m, rel=1e-12)
    marginal = values * q**best.amounts * -np.log(q) / (1 - q)
    assert np.all(marginal[best.amounts > 0] >= best.price * (1 - 1e-12))
    assert np.all(marginal[best.amounts < limits] <= best.price * (1 + 1e-12))
    assert best.benefit == pytest.approx(np.sum(values * (1 - q**best.amounts) / (1 - q)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_interior_point_finds_the_closed_form(seed):
    market = drawn_market(seed)
    closed, interior = continuous_optimum(*market), relaxation(*market)
    assert interior.benefit == pytest.approx(closed.benefit, rel=1e-5)
    assert interior.amounts.sum() == pytest.approx(market[1], rel=1e-5)
    inside = (closed.amounts > 1e-3) & (closed.amounts < np.asarray(market[2]) - 1e-3)
    # If no peer is between its bounds there are several prices; those here are the highest.
    if np.any(inside):
        assert interior.price == pytest.approx(closed.price, rel=5e-3)
    assert interior.price <= closed.price * (1 + 5e-3)


@given(
    st.lists(st.floats(0.05, 20), min_size=1, max_size=6),
    st.integers(1, 60),
    st.lists(st.floats(1e-4, 0.99), min_size=6, max_size=6),
    st.integers(1, 60),
)
@settings(max_examples=100)
def test_whole_tasks_are_worth_less_by_the_margin_at_most(values, m, alpha, cap):
    cap = max(cap, -(-m // len(values)))
    market = (values, m, cap, 1 - np.array(alpha[: len(values)]))
    best, relaxed = largest_benefit(*market), continuous_optimum(*market)
    rounding = 1e-12 * best.benefit
    assert -rounding <= relaxed.benefit - best.benefit <= relaxed.margin + rounding


@pytest.mark.parametrize(("alpha", "least"), [(0.001, 0.999), (0.1, 0.99), (0.6, 0.95)])
def test_the_margin_is_all_but_reached(alpha, least):
    """Equal peers share one more task for every two: half a task each is worth most more."""
    n, k = 8, 3
    market = np.ones(n), n * k + n // 2, 100, 1 - alpha
    best, relaxed = largest_benefit(*market), continuous_optimum(*market)
    assert relaxed.amounts == pytest.approx(np.full(n, k + 0.5))
    assert least <= (relaxed.benefit - best.benefit) / relaxed.margin <= 1


def test_the_margin_s_two_forms_meet():
    """Below 1e-4 it is a series, above the closed form."""
    values, m = [1.0, 1.0], 7
    low, high = (continuous_optimum(values, m, m, 1 - a).margin for a in (0.99e-4, 1.01e-4))
    assert high / low == pytest.approx(1.01 / 0.99, rel=1e-3)
    # n p alpha / 8 is what is known of small rates.
    assert low == pytest.approx(2 * 0.99e-4 / 8, rel=1e-2)


def test_the_highest_price_where_caps_leave_several():
    best = continuous_optimum([100.0, 1e-3], 4, [4, 4], 0.9)
    assert best.amounts == pytest.approx([4, 0])
    assert best.price == pytest.approx(100 * 0.9**4 * -np.log(0.9) / 0.1)
    full = continuous_optimum([100.0, 1.0], 8, [4, 4], 0.9)
    assert full.amounts == pytest.approx([4, 4])
    assert full.margin == 0.0


@pytest.mark.parametrize("alpha", [1e-3, 1e-6, 2e-6, 1e-7, 1e-9, 1e-12, 3e-16])
@pytest.mark.parametrize(("value", "m"), [(160.0, 24), (3.0, 1), (0.1 + 0.2, 96), (1e-9, 7)])
def test_the_highest_price_does_not_get_lost_in_rounding(alpha, value, m):
    """With caps of m the dearest peer sells all; its last bit is worth the highest price."""
    q = 1 - alpha
    rate = -np.log(q)
    highest = value * np.exp(-m * rate) * rate / -np.expm1(-rate)
    for others in ([0.49 * value], [0.49 * value, 0.3 * value]):
        best = continuous_optimum([value, *others], m, m, q)
        assert best.price == pytest.approx(highest, rel=1e-13, abs=0)
        assert best.amounts.tolist() == [m, *(0 for _ in others)]


@pytest.mark.parametrize("alpha", [1e-3, 1e-9, 1.2e-16])
def test_equal_peers_divide_tasks_at_any_rate(alpha):
    best = continuous_optimum([160.0] * 3, 4, 4, 1 - alpha)
    assert best.amounts == pytest.approx([4 / 3] * 3, rel=1e-4)
    assert best.amounts.sum() == pytest.approx(4, rel=1e-15)
    assert best.price == pytest.approx(160 * (1 - alpha) ** (4 / 3), rel=alpha + 1e-14)


@pytest.mark.parametrize("function", [assignment_program, relaxation, continuous_optimum])
def test_programs_refuse_a_bundle_that_does_not_fit(function):
    with pytest.raises(InfeasibleError, match="9 tasks cannot be placed"):
        function([1.0, 2.0], 9, 4, 0.5)
