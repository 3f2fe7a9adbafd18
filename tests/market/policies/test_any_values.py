"""Worthless and absent peers, and values that are a table, against all tasks sorted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.market.balance import balanced_state
from simplugin.market.execution import execute
from simplugin.market.mechanisms import reported, uniform, vickrey_clarke_groves
from simplugin.market.misreports import best_report, profit
from simplugin.market.model import Terms
from simplugin.market.policies.clearing import bisection_rounds, median_rounds, secant_rounds
from simplugin.market.policies.isgbmat import run_isgbmat
from simplugin.market.policies.negotiation import negotiate
from simplugin.market.policies.shipped import NEGOTIATIONS, POLICIES
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.bundle_programs import assignment_program, continuous_optimum, relaxation
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle

EXACT = ("optimum", "isgbmat", "double_auction_marginal", "bisection", "median", "secant")
FEW = st.sampled_from([0.0, 0.0, 1e-300, 1.0, 2.0, 2.5, 60.0, 1e6])


@st.composite
def markets(draw, table=None):
    """Draw peers of which some are absent, and some or all worthless, for some tasks or all."""
    n_peers, m = draw(st.integers(1, 5)), draw(st.integers(1, 15))
    caps = draw(st.lists(st.integers(0, m), min_size=n_peers, max_size=n_peers))
    caps[0] = min(m, caps[0] + max(0, m - sum(caps)))
    if sum(caps) < m:
        caps = [m] * n_peers
    if not (draw(st.booleans()) if table is None else table):
        values = draw(st.lists(FEW, min_size=n_peers, max_size=n_peers))
        return BundleMarket(values, m, caps, draw(st.sampled_from([0.5, 0.9, 1 - 1e-9])))
    row = st.lists(FEW, min_size=m, max_size=m).map(lambda each: sorted(each, reverse=True))
    return BundleMarket(draw(st.lists(row, min_size=n_peers, max_size=n_peers)), m, caps)


def all_tasks(market):
    """Return values of all tasks, the best first, and of equal ones those of the lowest peer."""
    tasks = []
    for peer, cap in enumerate(market.caps.tolist()):
        for k in range(cap):
            first = market.values[peer]
            value = first * market.q[peer] ** k if market.table is None else market.table[peer, k]
            tasks.append((-value, peer))
    return sorted(tasks)


@settings(max_examples=60)
@given(market=markets())
def test_all_ways_to_the_maximum_agree_with_all_tasks_sorted(market):
    ranked = all_tasks(market)
    most, last = -sum(value for value, _ in ranked[: market.m]), -ranked[market.m - 1][0]
    best = largest_benefit(*market.arguments)
    assert best.benefit == pytest.approx(most, rel=1e-9)
    if market.table is not None:
        sold = [peer for _, peer in ranked[: market.m]]
        assert best.amounts.tolist() == np.bincount(sold, minlength=market.n_peers).tolist()
    for name in EXACT:
        amounts, price = POLICIES[name](*market.arguments)
        assert amounts.tolist() == best.amounts.tolist()
        assert price == pytest.approx(last, rel=1e-9, abs=1e-300)
    for name, policy in POLICIES.items():
        if name == "isgbmat_printed":
            continue
        amounts, price = policy(*market.arguments)
        assert market.benefit(market.check(amounts)) <= most * (1 + 1e-9)
        assert 0 <= price < np.inf
    room = int(market.caps.sum())
    bounds = {"median": median_rounds, "secant": secant_rounds}
    for name, negotiation in NEGOTIATIONS.items():
        agreed = negotiate(negotiation, *market.arguments)
        market.check(agreed.amounts)
        if name in EXACT:
            assert agreed.amounts.tolist() == best.amounts.tolist()
        if name in bounds:
            assert agreed.rounds <= bounds[name](room, market.n_peers)
        if name == "bisection" and best.price == 0:
            assert agreed.rounds <= bisection_rounds(market, 0.0)
        if name == "clinching":
            vcg = vickrey_clarke_groves(market, unsold="worthless")
            np.testing.assert_allclose(agreed.payments, vcg.payments, rtol=1e-7, atol=1e-9 * most)
    assert run_isgbmat(*market.arguments).amounts.tolist() == best.amounts.tolist()
    scale = max(most, 1e-300)
    assert assignment_program(*market.arguments)[0] == pytest.approx(most, abs=1e-6 * scale)
    divided = continuous_optimum(*market.arguments)
    assert divided.amounts.sum() == pytest.approx(market.m)
    assert most * (1 - 1e-9) <= divided.benefit <= (most + divided.margin) * (1 + 1e-9)
    if market.table is None and 1e-300 not in market.values:
        assert balanced_state(market).amounts.sum() == pytest.approx(market.m, rel=1e-4)


@settings(max_examples=30)
@given(market=markets(table=True), data=st.data())
def test_no_multiple_of_a_table_earns_more_than_the_best_report(market, data):
    peer = data.draw(st.integers(0, market.n_peers - 1))
    best = best_report(market, peer)
    factors = np.ones(market.n_peers)
    for factor in (1e-6, 0.3, 0.5, 0.79, 0.99, 1.01, 1.3, 3.0, 1e7):
        factors[peer] = factor
        earned = profit(market, uniform(reported(market, factors)), peer)
        assert earned <= best.profit + 2e-6 * market.values[peer] * market.m


def test_ten_million_tasks_that_are_worth_nothing():
    n_peers, m = 1000, 10**7
    values = np.where(np.arange(n_peers) == 7, 5.0, 0.0)
    for name in ("optimum", "isgbmat", "median", "proportional_share"):
        amounts, price = POLICIES[name](values, m, m // 100, 0.999)
        assert amounts.sum() == m
        assert amounts[7] == m // 100
        assert (price == 0) == (name != "proportional_share")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[2.0, 3.0]], 2, 2), "values of peer 0 rise from 2 for task 1 to 3 for the next"),
        (([[2.0, 1.0], [5.0, 1.0]], 3, 3), "of 2 tasks a peer, and peer 0 takes up to 3"),
        (([[2.0, 1.0]], 2, 2, 0.5), "q says nothing beside them"),
        (([2.0, 1.0], 2, 2), "q is missing"),
    ],
)
def test_tables_that_are_none_are_refused(arguments, message):
    with pytest.raises(WorkloadError, match=message):
        BundleMarket(*arguments)


@pytest.mark.parametrize(
    "ask", [balanced_state, lambda market: relaxation(*market.arguments), lambda market: market.q]
)
def test_what_needs_discount_rates_says_so(ask):
    with pytest.raises(WorkloadError, match="needs discount rates, and values are given for each"):
        ask(BundleMarket([[2.0, 1.0]], 2, 2))
    with pytest.raises(InfeasibleError, match=r"5 tasks cannot be placed: .*m > n N_max"):
        BundleMarket([[2.0] * 5] * 2, 5, [2, 0])


@pytest.mark.parametrize("name", NEGOTIATIONS)
@pytest.mark.parametrize("counters", ["reset", 20.0])
def test_discounts_of_any_shape_on_simgrid(name, counters):
    # The fourth task is worth nothing, and the last peer is absent.
    site = PeerSite.numbered([3e9, 2e9, 1e9, 9e9], [1e8] * 4)
    terms = Terms(discounts=[1.0, 0.9, 0.9, 0.0], n_max=[5, 5, 5, 0])
    bundles = [Bundle("b", m, 1e9, 1e6) for m in (7, 11)]
    for deal in execute(site, bundles, terms, name, counters=counters).deals:
        market = deal.market
        assert market.check(deal.amounts)[3] == 0
        if name in EXACT:
            assert deal.amounts.tolist() == largest_benefit(*market.arguments).amounts.tolist()
    sold = execute(site, bundles, terms, name, counters=counters).deals[0]
    values = 3600 / sold.times[:3, None] * [1.0, 0.9, 0.9, 0.0, 0.0]
    np.testing.assert_allclose(sold.market.table[:3], values, rtol=1e-14)
    # Sites of a grid answer by the same discounts.
    few = PeerSite.numbered([9e9], [1e8], "few", scheduler="other")
    grid = PeerGrid(("small", "large"), (few, replace(site, scheduler="one")))
    bounded = replace(terms, n_max=[5])
    assert execute(grid, bundles[0], (bounded, terms), name).deals[0].site == 1
    assert execute(grid, replace(bundles[0], count=5), (bounded, terms), name).deals[0].site == 0
    agreed = negotiate(NEGOTIATIONS[name], *sold.market.arguments)
    assert (agreed.amounts.tolist(), agreed.rounds) == (sold.amounts.tolist(), sold.rounds)
