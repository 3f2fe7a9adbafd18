"""Proportional shares and commodity markets."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.core.errors import WorkloadError
from simplugin.market.policies.negotiation import negotiate
from simplugin.market.policies.shares import (
    commodity,
    commodity_cheapest,
    commodity_equal,
    in_proportion,
    proportional_share,
)
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.papers.zheng.random_markets import random_market
from simplugin.workloads.bundle_markets import BundleMarket


def largest_remainder(values, m, caps):
    """The same in fractions: water filling, then the largest remainders."""
    fixed = set()
    while True:
        rest = m - sum(caps[i] for i in fixed)
        free = sum(values[i] for i in range(len(values)) if i not in fixed)
        shares = [
            Fraction(caps[i]) if i in fixed else Fraction(values[i] * rest, free)
            for i in range(len(values))
        ]
        beyond = {i for i in range(len(values)) if i not in fixed and shares[i] >= caps[i]}
        if not beyond:
            break
        fixed |= beyond
    amounts = [floor(share) for share in shares]
    ranked = sorted(range(len(values)), key=lambda i: (amounts[i] - shares[i], i))
    for i in ranked[: m - sum(amounts)]:
        amounts[i] += 1
    return amounts


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 80)), min_size=1, max_size=8), st.data()
)
def test_against_fractions(peers, data):
    values, caps = zip(*peers, strict=True)
    m = data.draw(st.integers(1, max(sum(caps), 1)))
    if sum(caps) < m:
        caps = (m,) * len(caps)
    amounts, price = proportional_share(np.array(values, dtype=float), m, caps, 0.9)
    assert amounts.tolist() == largest_remainder(values, m, [min(cap, m) for cap in caps])
    market = BundleMarket(values, m, caps, 0.9)
    assert price * m == pytest.approx(market.benefit(amounts))


def test_shares_of_next_to_nothing():
    amounts, price = proportional_share((5e-324, 1e300), 4, (4, 3), 0.5)
    assert amounts.tolist() == [1, 3]
    assert price == pytest.approx(1.75e300 / 4)
    amounts, _ = proportional_share((5e-324, 1e300), 4, 4, 0.5)
    assert amounts.tolist() == [0, 4]


def test_those_of_no_weight_share_the_rest_equally():
    def dealt(weights, count, caps):
        return in_proportion(np.array(weights, dtype=float), count, np.array(caps)).tolist()

    assert dealt((1, 0, 0), 8, (2, 10, 10)) == [2, 3, 3]
    assert dealt((1, 0, 0), 8, (2, 1, 10)) == [2, 1, 5]
    assert dealt((0, 0, 0), 5, (2, 2, 2)) == [2, 2, 1]
    assert dealt((1, 0), 3, (3, 3)) == [3, 0]
    assert dealt((0, 0), 0, (0, 0)) == [0, 0]


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from((0.0, 1.0, 0.1, 3.7, 1e9)), st.integers(0, 9)), min_size=1),
    st.floats(0, 1),
)
def test_all_is_placed_under_caps(peers, part):
    weights, caps = (np.array(each) for each in zip(*peers, strict=True))
    count = round(part * int(caps.sum()))
    amounts = in_proportion(weights, count, caps)
    assert amounts.sum() == count
    assert np.all((amounts >= 0) & (amounts <= caps))


@settings(max_examples=50)
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.integers(10**12, 2**53 - 1))
def test_as_many_as_floats_can_count(weights, count):
    caps = np.full(len(weights), count)
    amounts = in_proportion(np.array(weights), count, caps)
    assert amounts.sum() == count
    exact = [Fraction(each) * count / sum(map(Fraction, weights)) for each in weights]
    off = max(abs(int(one) - two) for one, two in zip(amounts, exact, strict=True))
    assert off <= 1 + count * 2e-15


@pytest.mark.parametrize("weight", [-1.0, np.nan, 1.7e308])
def test_weights_that_nothing_is_in_proportion_to(weight):
    with pytest.raises(WorkloadError):
        in_proportion(np.array([1.0, weight]), 2, np.array([2, 2]))


def sold_in_turns(values, m, caps, q):
    """The market peer by peer and task by task."""
    open_ = [value for value, cap in zip(values, caps, strict=True) if cap]
    price = sum(open_) / len(open_)
    amounts = [0] * len(values)

    def turn(buys):
        bought = False
        for i in range(len(values)):
            if sum(amounts) < m and amounts[i] < caps[i] and buys(i):
                amounts[i] += 1
                bought = True
        return bought

    while turn(lambda i: values[i] * q ** amounts[i] >= price):
        pass
    while turn(lambda _: True):
        pass
    return amounts, price


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_flat_price(seed):
    drawn = random_market(seed, most_tasks=200)
    amounts, price = commodity(*drawn.arguments)
    expected, mean = sold_in_turns(
        drawn.values.tolist(), drawn.m, drawn.caps.tolist(), float(drawn.q[0])
    )
    assert amounts.tolist() == expected
    assert price == pytest.approx(mean)


def test_equal_prices():
    amounts, price = commodity_equal((1.0, 2.0, 6.0), 10, (9, 2, 9), 0.9)
    assert amounts.tolist() == [4, 2, 4]
    assert price == 3.0


def test_cheapest():
    amounts, price = commodity_cheapest((5.0, 2.0, 9.0, 2.0), 10, 4, 0.9)
    assert amounts.tolist() == [2, 4, 0, 4]
    assert price == 5.0


def test_peers_that_may_take_nothing_do_not_count():
    for market in (commodity, commodity_equal):
        amounts, price = market((1000.0, 5.0, 5.0), 6, (0, 4, 4), 0.9)
        assert price == 5.0
        assert amounts.tolist() == [0, 3, 3]
    agreed = negotiate(NEGOTIATIONS["commodity"], (1000.0, 5.0, 5.0), 6, (0, 4, 4), 0.9)
    assert (agreed.price, agreed.amounts.tolist()) == (5.0, [0, 3, 3])
