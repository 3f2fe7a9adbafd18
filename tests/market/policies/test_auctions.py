"""Auctions of tasks, clinching ones among them, by hand and against their rules."""

import numpy as np
import pytest
from heard import heard
from hypothesis import given, settings
from hypothesis import strategies as st
from market_draws import bundle_markets
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market.execution import execute
from simplugin.market.mechanisms import Settlement, vickrey_clarke_groves
from simplugin.market.model import MarketTerms
from simplugin.market.policies.auctions import (
    double_auction,
    double_auction_dearest,
    double_auction_mean,
    double_auction_rounds,
)
from simplugin.market.policies.clocks import CLINCHING, clinching
from simplugin.market.policies.negotiation import Agreement, BundleNegotiation, Call, negotiate
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.random_markets import random_market
from simplugin.platforms.peers import PeerSite
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle


def traded(values, m, caps, q, seed):
    """The continuous auction order by order, in plain prices, with a book that is a list."""

    def draws(stream):
        generator = np.random.default_rng([int.from_bytes(b"nego"), seed, stream])
        while True:
            yield 1 - generator.random()

    scheduler, *peers = [draws(stream) for stream in range(1, len(values) + 2)]
    amounts, book, prices = [0] * len(values), [], []
    while sum(amounts) < m:
        waiting = [i for i in range(len(values)) if amounts[i] < caps[i]]
        worth = {i: values[i] * q ** amounts[i] for i in waiting}
        who = next(scheduler)
        if who > 0.5:
            book.append(("ask", next(scheduler) * max(worth.values()), None))
        else:
            peer = waiting[min(int(2 * who * len(waiting)), len(waiting) - 1)]
            book.append(("bid", next(peers[peer]) * worth[peer], peer))
        bids = [order for order in book if order[0] == "bid"]
        asks = [order for order in book if order[0] == "ask"]
        if bids and asks:
            bid, ask = max(bids, key=lambda each: each[1]), min(asks, key=lambda each: each[1])
            if bid[1] >= ask[1]:
                amounts[bid[2]] += 1
                prices.append((ask if book[-1] is bid else bid)[1])
                book = []
    return amounts, float(np.mean(prices))


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_continuous_order_by_order(seed):
    drawn = random_market(seed, most_tasks=120)
    amounts, price = double_auction(*drawn.arguments, seed=seed)
    expected, mean = traded(
        drawn.values.tolist(), drawn.m, drawn.caps.tolist(), float(drawn.q[0]), seed
    )
    assert amounts.tolist() == expected
    assert price == pytest.approx(mean, rel=1e-9)


def test_rounds_in_closed_form():
    # Bids u_1 and v u_2 and an ask, all uniform: a round sells with the chance max(u_1, v u_2), and
    # the integrals of the winner's bid over its wins are 1/2 - v^2/6 and v^2/3. For v = 1/2, peer 1
    # gets 2/13 of the tasks.
    amounts, price = double_auction_rounds((1.0, 0.5), 10_000, 10_000, 1 - 1e-12, seed=0)
    assert amounts[1] / 10_000 == pytest.approx(2 / 13, abs=0.015)
    # A single peer: E[bid | bid >= ask] = 2/3 and E[ask | bid >= ask] = 1/3.
    assert double_auction_rounds((6.0,), 10_000, 10_000, 1 - 1e-12)[1] == pytest.approx(3, abs=0.08)
    assert 1 / 3 < price < 2 / 3


def test_values_that_underflow_are_traded():
    for auction in (double_auction, double_auction_rounds):
        amounts, price = auction((1.0, 2.0), 900, 500, 0.05)
        assert amounts.sum() == 900
        assert price > 0


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_mean_bids_take_the_largest_mean_prices(seed):
    drawn = random_market(seed, most_tasks=60)
    means = []
    for peer, (value, cap) in enumerate(zip(drawn.values, drawn.caps, strict=True)):
        sums = np.cumsum(value * drawn.q[0] ** np.arange(cap))
        means += [(-total / (k + 1), peer) for k, total in enumerate(sums)]
    chosen = sorted(means)[: drawn.m]
    amounts, price = double_auction_mean(*drawn.arguments)
    counts = np.bincount([peer for _, peer in chosen], minlength=len(drawn.values))
    assert price == pytest.approx(-chosen[-1][0], rel=1e-9)
    np.testing.assert_array_equal(amounts, counts)


def test_dearest_first():
    amounts, price = double_auction_dearest((5.0, 9.0, 2.0, 9.0), 10, 4, 0.5)
    assert amounts.tolist() == [2, 4, 0, 4]
    assert price == 5.0


@given(bundle_markets(least_alpha=1e-3))
@settings(max_examples=80)
def test_the_clock_pays_what_vcg_does(market):
    wanted = vickrey_clarke_groves(market, unsold="worthless")
    found = negotiate(clinching(), *market.arguments)
    assert found.amounts.tolist() == wanted.amounts.tolist()
    assert found.payments == pytest.approx(wanted.payments, rel=1e-9, abs=1e-12)
    # All are asked at first, then whoever leaves.
    assert found.rounds <= found.messages / 2 <= found.rounds * market.n_peers


@given(bundle_markets(least_alpha=1e-3), st.floats(0.001, 1))
@settings(max_examples=50)
def test_ticks_cost_no_more_than_a_tick(market, tick):
    wanted = vickrey_clarke_groves(market, unsold="worthless")
    agreed = negotiate(clinching(tick), *market.arguments)
    found = Settlement(market, agreed.amounts, agreed.payments)
    benefit = market.benefit(wanted.amounts)
    assert market.benefit(market.check(found.amounts)) >= benefit * np.exp(-tick) * (1 - 1e-9)
    # Compared where the tick did not change who has what.
    same = np.array_equal(found.amounts, wanted.amounts)
    if same:
        assert np.all(found.payments <= wanted.payments * np.exp(tick) + 1e-9)
        assert np.all(found.payments >= wanted.payments * (1 - 1e-9))


def test_prices_far_from_one_are_found():
    for scale in (1e-30, 1e30):
        market = BundleMarket(np.array([12.0, 7.0]) * scale, 3, 3, 0.5)
        found = negotiate(clinching(), *market.arguments)
        assert found.payments == pytest.approx(np.array([5.25, 3]) * scale)
        assert found.rounds < 30


def test_a_clock_must_rise():
    for tick in (0, -1.0, 1e-7, np.inf, np.nan):
        with raises_naming(WorkloadError, "tick", tick):
            clinching(tick)


def test_a_clock_refuses_what_does_not_fit():
    scheduler = CLINCHING.scheduler(2, 7, None)
    next(scheduler)
    with raises_naming(InfeasibleError, "7"):
        scheduler.send([("cap", 3), ("cap", 3)])


def test_peers_tell_prices_only_where_they_leave():
    # Of its tasks a peer tells what those are worth that it does not get, and the last it gets.
    log = []
    market = BundleMarket(np.linspace(1, 2, 5), 60, 60, 0.97)
    agreed = negotiate(heard(CLINCHING, log), market.values, 60, 60, 0.97)
    for peer, (kind, *_), answer in log:
        assert kind in {"open", "price", "exit"}
        if kind == "exit":
            assert answer[1] >= agreed.amounts[peer]


def test_payments_are_paid_on_simgrid():
    site = PeerSite.numbered(np.array([31e6, 12e6, 22e6]), np.array([9e6, 40e6, 14e6]))
    (deal,) = execute(
        site, Bundle.of_class("neutral", 30), MarketTerms(), "clinching", trace=True
    ).deals
    wanted = vickrey_clarke_groves(deal.market)
    uniform = largest_benefit(deal.market.values, 30, 30, 0.99).price
    assert deal.amounts.tolist() == wanted.amounts.tolist()
    assert deal.payments == pytest.approx(wanted.payments, rel=1e-12)
    for outcome in (deal.outcome(), deal.estimated()):
        assert outcome.revenue == pytest.approx(wanted.revenue, rel=1e-12)
        assert outcome.profits == pytest.approx(wanted.profits(), rel=1e-9)
        assert outcome.revenue < 0.999 * uniform * 30
    assert deal.price == pytest.approx(wanted.revenue / 30, rel=1e-12)
    alone = negotiate(CLINCHING, deal.market.values, 30, 30, 0.99)
    assert (deal.rounds, deal.messages, deal.bytes) == (alone.rounds, alone.messages, alone.bytes)
    assert deal.payments.tolist() == alone.payments.tolist()


@pytest.mark.parametrize(
    ("payments", "names"),
    [([1.0], ["[1.0]", "2"]), ([1.0, np.nan], ["[1.0, nan]", "2"]), ([1.0, 2.0], ["peer 1", "2"])],
)
def test_refuses_invalid_payments(payments, names):
    def scheduler(*_):
        yield Call((0,), ("price", 0.0))
        return Agreement(np.array([3, 0]), 1.0, np.array(payments))

    odd = BundleNegotiation("odd", scheduler, CLINCHING.peer)
    with raises_naming(WorkloadError, *names):
        negotiate(odd, [1.0, 2.0], 3, 3, 0.5)
    with raises_naming(WorkloadError, *names):
        execute(
            PeerSite.numbered(np.ones(2), np.ones(2)), Bundle("b", 3, 1.0, 1.0), MarketTerms(), odd
        )
