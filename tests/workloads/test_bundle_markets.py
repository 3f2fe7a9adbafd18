"""Markets of bundles: what they are worth, and which are senseless."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.workloads.bundle_markets import BundleMarket

SIMPLE = {"values": [7.0, 12.0], "m": 4, "caps": 4, "q": 0.5}


def test_sums_and_means_are_those_of_exact_fractions():
    market = BundleMarket([7.0, 12.0], 6, 6, 0.5)
    half = Fraction(1, 2)
    sums = [float(sum(v * half**j for j in range(k))) for v, k in ((7, 4), (12, 2))]
    assert market.sums([4, 2]) == pytest.approx(sums, rel=1e-14)
    assert market.mean_prices([4, 2]) == pytest.approx([sums[0] / 4, sums[1] / 2], rel=1e-14)
    assert market.benefit([4, 2]) == pytest.approx(sum(sums), rel=1e-14)


def test_the_mean_price_of_no_task_is_the_base_price():
    assert BundleMarket(**SIMPLE).mean_prices([0, 4])[0] == 7.0


def test_sums_do_not_cancel_at_small_discounts():
    market = BundleMarket([2.0], 10**6, 10**6, 1 - 1e-12)
    # 1 + q + ... + q^(k-1) is k (1 - (k - 1) alpha / 2) up to (k alpha)^2.
    alpha = 1 - market.q[0]
    expected = 2e6 * (1 - (10**6 - 1) * alpha / 2)
    assert market.sums([10**6])[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("price", "amounts"),
    [(13.0, [0, 0]), (12.0, [0, 1]), (7.0, [1, 1]), (3.0, [2, 3]), (0.0, [4, 4])],
)
def test_peers_buy_what_is_worth_its_price(price, amounts):
    assert BundleMarket(**SIMPLE).response(price).tolist() == amounts


@given(
    value=st.floats(1e-3, 1e6),
    q=st.floats(0.01, 0.999999),
    cap=st.integers(0, 2000),
    number=st.integers(1, 2000),
    nudge=st.sampled_from([1 - 1e-9, 1.0, 1 + 1e-9]),
)
def test_a_response_takes_exactly_the_tasks_worth_the_price(value, q, cap, number, nudge):
    market = BundleMarket([value, value], max(cap, 1), [cap, 1 + cap], q)
    log_price = float(market.log_worth(number)[0] + np.log(nudge))
    bought = int(market.response_to_log(log_price)[0])
    worth = market.log_value[0] + np.arange(cap) * market.log_q[0]
    assert bought == int(np.sum(worth >= log_price - 1e-12))


SENSELESS_MARKETS = [
    ({"values": []}, ""),
    ({"values": [1.0, -2.0]}, "-2.0"),
    ({"values": [1.0, float("nan")]}, "nan"),
    ({"values": [1.0, 10**400]}, "values[1]"),
    ({"values": [5e-324, 1e308]}, "1e+308"),
    ({"m": 0}, "m 0"),
    ({"m": 1.5}, "m 1.5"),
    ({"m": 2**53}, "m 9007199254740992"),
    ({"m": True}, "m True"),
    ({"caps": [4, float("nan")]}, "caps nan"),
    ({"caps": "ab"}, "caps 'ab'"),
    ({"caps": [1, 2, 3]}, "caps (3,)"),
    ({"caps": -1}, "caps -1"),
    ({"caps": 2.5}, "caps 2.5"),
    ({"q": 1.0}, "q 1.0"),
    ({"q": [0.5, 0.0]}, "q 0.0"),
]


@pytest.mark.parametrize(("fields", "named"), SENSELESS_MARKETS)
def test_senseless_markets_are_refused(fields, named):
    with raises_naming(WorkloadError, *named.split()):
        BundleMarket(**(SIMPLE | fields))  # type: ignore[arg-type]


def test_a_bundle_that_cannot_be_placed_is_refused_with_the_sentence():
    with raises_naming(InfeasibleError, 1000, 12, 83, 996, 84):
        BundleMarket(np.ones(12), 1000, 83, 0.99)


WRONG_AMOUNTS = [
    ([1, 2, 1], "[1, 2, 1]"),
    ([-1, 5], "0 -1"),
    ([1, 2], "3 4"),
    ([1.5, 2.5], "[1.5, 2.5]"),
    ([np.nan, 2], "[nan, 2]"),
    (["a", "b"], "'a'"),
]


@pytest.mark.parametrize(("amounts", "named"), WRONG_AMOUNTS)
def test_wrong_amounts_are_refused(amounts, named):
    with raises_naming(WorkloadError, *named.split()):
        BundleMarket(**SIMPLE).check(amounts)


@pytest.mark.parametrize("caps", [10**30, float("inf"), [10**30, 4]])
def test_caps_beyond_the_tasks_are_none(caps):
    assert BundleMarket(**(SIMPLE | {"caps": caps})).caps.tolist() == [4, 4]  # type: ignore[arg-type]


def test_more_tasks_together_than_integers_can_count_are_refused():
    many = np.ones(10**4)
    with raises_naming(WorkloadError, 10**4, 10**15, 2 * 10**11):
        BundleMarket(many, 10**15, 10**15, 0.99)
    # What the message proposes is accepted.
    market = BundleMarket(many, 10**15, 2 * 10**11, 0.99)
    assert market.caps.sum() == 2 * 10**15
    with raises_naming(InfeasibleError, 10**15, 10**14, 10**11):
        BundleMarket(many, 10**15, 10**10, 0.99)


@settings(max_examples=50)
@given(log_value=st.floats(-700, 690), number=st.integers(1, 10**5))
def test_the_least_discounts_are_counted_to_the_last_bit(log_value, number):
    cap = 10**5
    market = BundleMarket([np.exp(log_value)], cap, cap, 1 - 1.2e-16)
    worth = market.log_value[0] + np.arange(cap) * market.log_q[0]
    for log_price in (worth[number - 1], np.nextafter(worth[number - 1], 1e3)):
        assert market.above(log_price).tolist() == [int(np.sum(worth >= log_price))]


@pytest.mark.parametrize("name", ["values", "caps", "q"])
def test_a_market_keeps_what_it_was_given(name):
    told = {name: np.array(value) for name, value in SIMPLE.items() if name != "m"}
    told = {key: np.broadcast_to(value, 2).copy() for key, value in told.items()}
    market = BundleMarket(**(SIMPLE | told))  # type: ignore[arg-type]
    before = getattr(market, name).tolist()
    told[name][0] = 1
    assert getattr(market, name).tolist() == before
    with pytest.raises(ValueError, match="read-only"):
        getattr(market, name)[0] = 1
    # What it returns is the caller's.
    market.above(-np.inf)[0] = 1
