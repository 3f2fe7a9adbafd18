import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.market.clinching import ascending_clock
from simplugin.market.mechanisms import vickrey_clarke_groves
from simplugin.workloads.bundle_markets import BundleMarket


@st.composite
def markets(draw, alike=False):
    n = draw(st.integers(1, 6))
    m = draw(st.integers(1, 40))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = np.exp(generator.normal(0, draw(st.floats(0.01, 2)), n))
    q = generator.uniform(0.4, 0.999, n)
    if alike:
        values, q = np.full(n, 3.0), np.full(n, 0.5)
    caps = generator.integers(0, m + 1, n)
    caps[-1] += max(0, m - caps.sum())
    return BundleMarket(values, m, caps, q)


@given(markets())
@settings(max_examples=150, deadline=None)
def test_the_clock_pays_what_vcg_does(market):
    wanted = vickrey_clarke_groves(market, unsold="worthless")
    found = ascending_clock(market)
    assert found.settlement.amounts.tolist() == wanted.amounts.tolist()
    assert found.settlement.payments == pytest.approx(wanted.payments, rel=1e-9, abs=1e-300)
    assert found.messages == 2 * found.rounds * market.n_peers


@given(markets(alike=True))
@settings(max_examples=50, deadline=None)
def test_ties_change_neither_benefit_nor_prices_of_tasks(market):
    wanted = vickrey_clarke_groves(market, unsold="worthless")
    found = ascending_clock(market).settlement
    assert market.benefit(market.check(found.amounts)) == pytest.approx(
        market.benefit(wanted.amounts)
    )
    assert found.amounts.tolist() == wanted.amounts.tolist()
    assert found.payments == pytest.approx(wanted.payments, abs=1e-12)


@given(markets(), st.floats(0.001, 1))
@settings(max_examples=150, deadline=None)
def test_ticks_cost_no_more_than_a_tick(market, tick):
    wanted = vickrey_clarke_groves(market, unsold="worthless")
    found = ascending_clock(market, tick=tick).settlement
    benefit = market.benefit(wanted.amounts)
    assert market.benefit(market.check(found.amounts)) >= benefit * np.exp(-tick) * (1 - 1e-9)
    # Compared where the tick did not change who has what.
    same = np.array_equal(found.amounts, wanted.amounts)
    if same:
        assert np.all(found.payments <= wanted.payments * np.exp(tick) + 1e-9)
        assert np.all(found.payments >= wanted.payments * (1 - 1e-9))


def test_worked_example():
    # Ausubel's rule by hand: worth 12, 6, 3 and 7, 3.5, 1.75; three are sold. At 1.75 and 3 others
    # want two of three each and fewer: peer 0 clinches one at 1.75, peer 1 one at 3, and peer 0
    # its second one at 3.5.
    found = ascending_clock(BundleMarket([12.0, 7.0], 3, 3, 0.5))
    assert found.settlement.amounts.tolist() == [2, 1]
    assert found.settlement.payments == pytest.approx([1.75 + 3.5, 3])
    assert found.rising == 3


def test_finer_ticks_take_more_rounds():
    market = BundleMarket(np.linspace(1, 2, 12), 300, 300, 0.99)
    coarse, fine, finest = (ascending_clock(market, tick=tick) for tick in (1e-2, 1e-3, 1e-4))
    assert coarse.starting == fine.starting == finest.starting
    assert coarse.rising < fine.rising < finest.rising
    assert finest.rising == pytest.approx(10 * fine.rising, rel=0.1)


def test_prices_far_from_one_are_found():
    for scale in (1e-30, 1e30):
        market = BundleMarket(np.array([12.0, 7.0]) * scale, 3, 3, 0.5)
        found = ascending_clock(market)
        assert found.settlement.payments == pytest.approx(np.array([5.25, 3]) * scale)
        assert found.starting < 30


def test_a_clock_must_rise():
    with pytest.raises(WorkloadError, match="tick is 0"):
        ascending_clock(BundleMarket([12.0, 7.0], 3, 3, 0.5), tick=0)
