"""Strategic reports against enumeration and examples by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.market.mechanisms import uniform, vickrey_clarke_groves
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.strategic_reports import (
    MECHANISMS,
    best_report,
    deviations,
    play,
    profit,
    reported,
    rival_prices,
)
from simplugin.workloads.bundle_markets import BundleMarket


def test_reports_are_multiples_of_values():
    market = BundleMarket([5.0, 4.0], 3, 3, 0.5)
    assert reported(market, np.array([0.5, 2.0])).values.tolist() == [2.5, 8]
    with raises_naming(WorkloadError, "0.0"):
        reported(market, 0.0)


@st.composite
def markets(draw, most_peers=4, most_tasks=12):
    n = draw(st.integers(2, most_peers))
    m = draw(st.integers(1, most_tasks))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = np.exp(generator.normal(0, 0.7, n))
    q = draw(st.floats(0.5, 0.99))
    return BundleMarket(values, m, m, q)


def with_factor(market, peer, factor):
    factors = np.ones(market.n_peers)
    factors[peer] = factor
    return reported(market, factors)


def breakpoints(market, peer):
    """Factors at which one more task of a peer ties with one of another, by all pairs."""
    ranks = np.arange(market.m)
    mine = market.values[peer] * market.q[peer] ** ranks
    found = [
        market.values[other] * market.q[other] ** j / own
        for own in mine
        for other in range(market.n_peers)
        if other != peer
        for j in ranks
    ]
    return np.unique(found)


@given(markets(3, 6))
@settings(max_examples=8)
def test_no_other_factor_does_better_than_the_best_report(market):
    for rule in MECHANISMS:
        for peer in range(market.n_peers):
            best = best_report(market, peer, rule)
            ties = breakpoints(market, peer)
            tried = [*ties * (1 - 1e-7), *ties * (1 + 1e-7), *np.geomspace(0.05, 20, 20)]
            most = max(
                profit(market, MECHANISMS[rule](with_factor(market, peer, x)), peer) for x in tried
            )
            scale = market.benefit(best.settlement.amounts)
            assert most <= best.profit + 3e-6 * scale
            again = MECHANISMS[rule](with_factor(market, peer, best.factor))
            assert best.profit == pytest.approx(profit(market, again, peer), rel=1e-9, abs=1e-12)
            assert best.gain >= 0


HONEST = [
    # Over-reporting never gains if tasks pay by measured time.
    (uniform, "measured", 1.0),
    # No lie gains if peers are held to it.
    (uniform, "verified", 0.02),
    (vickrey_clarke_groves, "measured", 0.02),
]


@pytest.mark.parametrize(("mechanism", "income", "least"), HONEST)
@given(market=markets(), data=st.data())
@settings(max_examples=40)
def test_what_no_lie_gains(mechanism, income, least, market, data):
    factor = data.draw(st.floats(least, 50))
    honest = mechanism(market)
    for peer in range(market.n_peers):
        lied = mechanism(with_factor(market, peer, factor))
        assert profit(market, lied, peer, income) <= profit(market, honest, peer) + 1e-9


def test_a_lie_that_pays_by_hand():
    # Worth 10, 9, 8.1 to the first, 8, 7.2, 6.48 to the second; three are sold, at 8.1 or less.
    market = BundleMarket([10.0, 8.0], 3, 3, 0.9)
    honest = uniform(market)
    assert honest.amounts.tolist() == [3, 0]
    assert profit(market, honest, 0) == pytest.approx(27.1 - 3 * 8.1)
    best = best_report(market, 0)
    # Three at the second's first price would earn 27.1 - 24, two at its next 19 - 14.4, one at
    # 6.48 3.52.
    assert best.profit == pytest.approx(19 - 2 * 7.2)
    assert best.settlement.amounts.tolist() == [2, 1]
    assert best.gain == pytest.approx(4.6 - 2.8)
    assert best.factor == pytest.approx(7.2 / 9)
    assert best.benefit == pytest.approx(19 + 8)
    # The second one gets nothing by the truth, and cannot do better than that.
    assert best_report(market, 1).gain == 0


def test_what_tasks_pay():
    market = BundleMarket([10.0, 8.0], 3, 3, 0.9)
    lied = uniform(with_factor(market, 1, 2.0))
    assert lied.amounts.tolist() == [0, 3]
    paid = 3 * 16 * 0.81
    assert profit(market, lied, 1) == pytest.approx(8 * 2.71 - paid)
    assert profit(market, lied, 1, "reported") == pytest.approx(16 * 2.71 - paid)
    assert profit(market, lied, 1, "verified") == pytest.approx(-paid)
    slow = uniform(with_factor(market, 0, 0.85))
    assert slow.amounts.tolist() == [2, 1]
    assert profit(market, slow, 0, "verified") == pytest.approx(8.5 * 1.9 - 2 * 8.5 * 0.9)
    with raises_naming(WorkloadError, "income", "'none'"):
        profit(market, lied, 1, "none")


def test_a_peer_without_rivals_reports_next_to_nothing():
    market = BundleMarket([5.0, 4.0], 5, [4, 2], 0.9)
    best = best_report(market, 0)
    assert best.settlement.amounts.tolist() == [3, 2]
    assert best.profit == pytest.approx(5 * 2.71, rel=1e-6)
    alone = best_report(BundleMarket([5.0], 4, 4, 0.9), 0)
    assert alone.settlement.revenue < 1e-6
    # Nothing to gain for one that may not have any task.
    assert best_report(BundleMarket([5.0, 4.0], 5, [0, 5], 0.9), 0).gain == 0


@pytest.mark.parametrize("tick", [0.001, 0.3, 0.7])
def test_next_to_nothing_is_a_whole_number_of_ticks(tick):
    # The others take two tasks of five, whatever they are worth: three are the first peer's.
    for market in (BundleMarket([5.0, 4.0], 5, [4, 2], 0.9), BundleMarket([5.0], 4, 4, 0.9)):
        best = best_report(market, 0, tick=tick)
        ticks = np.log(best.factor) / tick
        assert best.factor < 1
        assert ticks == pytest.approx(round(ticks), abs=1e-6)
        assert best.profit == pytest.approx(best_report(market, 0).profit, rel=1e-6)


def test_rivals_prices_are_their_least_valuable_tasks():
    market = BundleMarket([5.0, 4.0, 3.0], 4, [4, 4, 1], 0.5)
    assert np.exp(rival_prices(market, 0)) == pytest.approx([1, 2, 3, 4])
    assert np.exp(rival_prices(market, 2)) == pytest.approx([2])
    scarce = BundleMarket([5.0, 4.0], 4, [4, 2], 0.5)
    assert np.exp(rival_prices(scarce, 0)) == pytest.approx([0, 0, 2, 4])


def test_unknown_rules_are_refused():
    with raises_naming(WorkloadError, "rule", "'first_mean_price'"):
        deviations(BundleMarket([5.0, 4.0], 5, 5, 0.5), "first_mean_price")


@given(markets(3, 10))
@settings(max_examples=10)
def test_games_end_as_they_say(market):
    game = play(market, tick=0.02, passes=60)
    best = largest_benefit(market.values, market.m, market.caps, market.q).benefit
    benefits = [market.benefit(each.amounts) for each in game.settlements]
    assert game.anarchy == pytest.approx(best / min(benefits))
    assert game.revenue == pytest.approx(np.mean([each.revenue for each in game.settlements]))
    profits = [each.profits(market).sum() for each in game.settlements]
    assert np.mean(profits) + game.revenue == pytest.approx(np.mean(benefits))
    if game.ended == "settled":
        now = game.settlements[-1].market
        for peer in range(market.n_peers):
            answer = best_report(market, peer, reports=now, tick=0.02)
            assert answer.factor == pytest.approx(now.values[peer] / market.values[peer], rel=0.011)


def test_nobody_moves_under_vcg():
    game = play(BundleMarket([10.0, 8.0, 3.0], 7, 7, 0.9), "vcg")
    assert (game.ended, game.passes, game.anarchy) == ("settled", 1, pytest.approx(1))
    assert game.settlements[-1].market.values.tolist() == [10, 8, 3]


def test_games_have_limits():
    market = BundleMarket([10.0, 8.0], 3, 3, 0.9)
    assert play(market, tick=0.001, passes=1).ended == "open"
    for name in ("tick", "passes"):
        with raises_naming(WorkloadError, name, 0):
            play(market, **{name: 0})
