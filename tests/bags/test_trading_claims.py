from dataclasses import replace

import pytest

from simplugin.bags import (
    trading_claims,
)

SEED = 2008


@pytest.fixture
def traded(monkeypatch, row):
    """Let DATA-CENTRIC come to, and expect, what a function of order and number says."""

    def given(fair):
        def invented(reading, seed, number, setting):
            order = dict(setting.parameters).get("order", "fast")
            ran, hoped = (1.0, 1.0) if setting.policy == "lp" else fair(order, number)
            return replace(
                row, reading=reading, seed=seed, number=number, setting=setting.key, fair=ran,
                theory=hoped,
            )  # fmt: skip

        monkeypatch.setattr(trading_claims, "measured", invented)

    return given


def test_failures_of_data_centric_in_every_order(traded):
    traded(lambda _order, number: (0.1, 0.1) if number == 7 else (1.0, 1.0))
    in_a, rates_a, in_c, _ = trading_claims.failures(quick=False)
    assert in_a.agrees
    assert in_c.agrees
    assert in_a.measured == "fast first 10, breadth first 10, slow first 10"
    assert rates_a.agrees
    assert rates_a.measured == "on 3 of 3"
    assert trading_claims.failures(quick=True) == []


def test_failures_of_data_centric_in_one_order_are_not_in_all(traded):
    traded(lambda order, number: (0.1, 1.0) if (order, number) == ("slow", 7) else (1.0, 1.0))
    in_a, rates_a, *_ = trading_claims.failures(quick=False)
    assert not in_a.agrees
    assert "slow does" in in_a.why
    assert not rates_a.agrees
    assert rates_a.measured == "on 0 of 1"


def test_no_throughput_is_no_large_ratio_and_no_failure_is_no_likeness(traded):
    traded(lambda _order, number: (0.0, 1.0) if number == 7 else (1.0, 1.0))
    in_a, *_ = trading_claims.failures(quick=False)
    assert not in_a.agrees
    assert in_a.measured == "fast first 1, breadth first 1, slow first 1"
    traded(lambda _order, _number: (1.0, 1.0))
    _, rates_a, *_ = trading_claims.failures(quick=False)
    assert rates_a.measured == "on 0 of 0"
    assert not rates_a.agrees
