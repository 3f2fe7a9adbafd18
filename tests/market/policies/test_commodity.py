import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.market.policies.negotiation import negotiate
from simplugin.market.policies.shares import commodity, commodity_cheapest, commodity_equal
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.workloads.random_markets import random_market


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
