"""Bundles whose tasks differ in size or can be divided, against enumeration and conditions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from market_draws import bundle_markets

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng import mixed_bundles
from simplugin.papers.zheng.divided_bundles import continuous_optimum
from simplugin.papers.zheng.mixed_bundles import identical_benefit, mixed_benefit, scaled_benefit


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
    monkeypatch.setattr(mixed_bundles, "_LARGEST", 5)
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
def test_the_closed_form_satisfies_the_conditions_of_optimality(seed):
    values, m, caps, q = drawn_market(seed)
    best = continuous_optimum(values, m, caps, q)
    limits = np.minimum(np.broadcast_to(caps, values.shape), m)
    assert best.amounts.sum() == pytest.approx(m, rel=1e-12)
    marginal = values * q**best.amounts * -np.log(q) / (1 - q)
    assert np.all(marginal[best.amounts > 0] >= best.price * (1 - 1e-12))
    assert np.all(marginal[best.amounts < limits] <= best.price * (1 + 1e-12))
    assert best.benefit == pytest.approx(np.sum(values * (1 - q**best.amounts) / (1 - q)))


@given(bundle_markets(6, 60, 1e-4))
@settings(max_examples=100)
def test_whole_tasks_are_worth_less_by_the_margin_at_most(market):
    best, relaxed = largest_benefit(*market.arguments), continuous_optimum(*market.arguments)
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
