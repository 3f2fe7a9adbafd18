"""Programs and the closed form against each other, and against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.bundle_programs import (
    assignment_program,
    continuous_optimum,
    relaxation,
)

SEEDS = range(12)


def drawn(seed: int):
    """Return values, m, caps and q of a market, every other one with a rate for each peer."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 12)), int(np.exp(rng.uniform(0, np.log(300))))
    q = 1 - np.exp(rng.uniform(np.log(1e-3), np.log(0.5), n if seed % 2 else 1))
    caps = m if seed % 3 else rng.integers(-(-m // n), m + 1, n)
    return rng.lognormal(0, rng.uniform(0.1, 1.5), n), m, caps, np.broadcast_to(q, (n,))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_program_over_tasks_is_whole_and_its_dual_clears(seed):
    market = drawn(seed)
    best = largest_benefit(*market)
    benefit, price = assignment_program(*market)
    assert benefit == pytest.approx(best.benefit, rel=1e-9)
    slack = 1e-9 * float(np.max(market[0]))
    assert best.next_price - slack <= price <= best.price + slack


@pytest.mark.parametrize("seed", SEEDS)
def test_the_closed_form_satisfies_the_conditions_of_optimality(seed):
    values, m, caps, q = drawn(seed)
    best = continuous_optimum(values, m, caps, q)
    limits = np.minimum(np.broadcast_to(caps, values.shape), m)
    assert best.amounts.sum() == pytest.approx(m, rel=1e-12)
    marginal = values * q**best.amounts * -np.log(q) / (1 - q)
    assert np.all(marginal[best.amounts > 0] >= best.price * (1 - 1e-12))
    assert np.all(marginal[best.amounts < limits] <= best.price * (1 + 1e-12))
    assert best.benefit == pytest.approx(np.sum(values * (1 - q**best.amounts) / (1 - q)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_interior_point_finds_the_closed_form(seed):
    market = drawn(seed)
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


def test_a_capped_peer_sells_its_cap_and_idle_ones_nothing():
    best = continuous_optimum([100.0, 1.0, 1e-6], 10, [4, 20, 20], 0.9)
    assert best.amounts == pytest.approx([4, 6, 0])


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
def test_a_bundle_that_does_not_fit_is_refused(function):
    with pytest.raises(InfeasibleError, match="9 tasks cannot be placed"):
        function([1.0, 2.0], 9, 4, 0.5)
