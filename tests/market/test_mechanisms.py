"""Mechanisms that sell tasks, against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from market_draws import bundle_markets
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market.mechanisms import uniform, vickrey_clarke_groves
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket


def worths(market, but=None):
    """All task values of all peers but one, the best first."""
    return sorted(
        (
            market.values[i] * market.q[i] ** k
            for i in range(market.n_peers)
            if i != but
            for k in range(market.caps[i])
        ),
        reverse=True,
    )


@given(bundle_markets(4, 8))
@settings(max_examples=80)
def test_vcg_is_what_the_others_lose(market):
    found = vickrey_clarke_groves(market, unsold="worthless")
    total = sum(worths(market)[: market.m])
    own = market.sums(found.amounts)
    expected = [
        sum(worths(market, i)[: market.m]) - (total - own[i]) for i in range(market.n_peers)
    ]
    assert found.payments == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert np.all(found.payments <= own * (1 + 1e-12))
    assert np.all(found.payments >= 0)
    lowest = [*worths(market), 0.0][market.m]
    assert found.revenue <= market.m * lowest * (1 + 1e-9)


@given(bundle_markets(4, 8))
@settings(max_examples=50)
def test_uniform_prices_are_the_ends_of_the_clearing_interval(market):
    values = [*worths(market), 0.0]
    assert uniform(market).revenue == pytest.approx(market.m * values[market.m - 1])
    lowest = largest_benefit(*market.arguments).next_price
    assert lowest == pytest.approx(values[market.m])
    assert np.all(uniform(market).profits() >= -1e-12)


def test_vcg_needs_others_who_can_take_all_tasks():
    market = BundleMarket([5.0, 4.0, 3.0], 5, [3, 2, 2], 0.5)
    with raises_naming(InfeasibleError, "peer 0", "4", "5"):
        vickrey_clarke_groves(market)
    found = vickrey_clarke_groves(market, unsold="worthless")
    # Tasks 5, 4, 3, 2.5, 2 are served. One of the three of peer 0 nobody else would take, the
    # others would be worth 3 q and 4 q^2 ... of which 1.5 is left, as the second peer is full.
    assert found.amounts.tolist() == [2, 2, 1]
    assert found.payments[0] == pytest.approx(1.5)
    with raises_naming(WorkloadError, "unsold", "'burnt'"):
        vickrey_clarke_groves(market, unsold="burnt")
