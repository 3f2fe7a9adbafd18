"""The shipped markets on any values: properties of all, and the same as messages."""

import importlib.util
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market.actors.stations import ServiceRules
from simplugin.market.execution import execute
from simplugin.market.mechanisms import uniform, vickrey_clarke_groves
from simplugin.market.model import MarketTerms
from simplugin.market.policies.isgbmat import run_isgbmat
from simplugin.market.policies.negotiation import negotiate
from simplugin.market.policies.shipped import NEGOTIATIONS, POLICIES, as_negotiation, policy_called
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.models import bundle_benefit, divided_benefit
from simplugin.papers.zheng.arrivals import kept_parts, serve
from simplugin.papers.zheng.balance import balanced_state
from simplugin.papers.zheng.divided_bundles import continuous_optimum
from simplugin.papers.zheng.negotiations import (
    bisection_rounds,
    clock,
    median_rounds,
    secant_rounds,
)
from simplugin.papers.zheng.random_markets import random_market
from simplugin.papers.zheng.strategic_reports import best_report, profit, reported
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle

EXACT = ("optimum", "isgbmat", "double_auction_marginal", "bisection", "median", "secant")
ENDING = [name for name in POLICIES if name != "isgbmat_printed"]


@pytest.mark.parametrize("name", ENDING)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), own_rates=st.booleans())
def test_every_policy_places_all_tasks_under_the_caps(name, seed, own_rates):
    drawn = random_market(seed, most_tasks=300, own_rates=own_rates)
    amounts, price = POLICIES[name](*drawn.arguments)
    assert amounts.dtype == np.int64
    drawn.check(amounts)
    assert np.isfinite(price)
    assert price > 0
    best = largest_benefit(*drawn.arguments)
    benefit = drawn.benefit(amounts)
    assert benefit <= best.benefit * (1 + 1e-9)
    if name in EXACT:
        assert benefit == pytest.approx(best.benefit, rel=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_refuses_too_small_caps(name):
    with raises_naming(InfeasibleError, "1000", "83", "N_max"):
        POLICIES[name](np.arange(1.0, 13.0), 1000, 83, 0.99)


def decisions():
    """Decisions of policies and negotiations in markets where many tasks are equal."""
    draws = np.random.default_rng(0)
    for _ in range(15):
        n_peers, m = draws.integers(2, 6), int(draws.integers(1, 30))
        q = float(draws.choice([0.5, 0.75, 0.9, 0.99]))
        first = np.full(n_peers, draws.choice([0.1, 0.75, 1.0, 3.0, 7.0]))
        values = first * q ** draws.integers(0, 4, n_peers)
        for name in ENDING:
            yield POLICIES[name](values, m, m, q)[0].tolist()
        for negotiation in NEGOTIATIONS.values():
            agreed = negotiate(negotiation, values, m, m, q)
            yield agreed.amounts.tolist(), agreed.rounds
        for counters in ("kept", 10.0):
            parts = kept_parts(counters, [0.0, 3.0])
            yield [best.amounts.tolist() for _, best in serve([first] * 2, [m, m], q, parts)]


def test_decisions_do_not_depend_on_last_bits_of_the_c_library(monkeypatch):
    # Other CPUs and libraries round transcendental functions otherwise.
    def other(function):
        def changed(x):
            exact = np.asarray(function(x), dtype=np.float64)
            bits = np.asarray(x, dtype=np.float64).view(np.int64)
            towards = np.where((bits ^ (bits >> 7)) % 3 == 0, np.inf, -np.inf)
            found = np.where(exact == np.round(exact), exact, np.nextafter(exact, towards))
            return found if np.ndim(x) else found.item()

        return changed

    expected = list(decisions())
    for module in (math, np):
        for name in ("exp", "expm1", "log"):
            monkeypatch.setattr(module, name, other(getattr(module, name)))
    assert math.log(3.0) != np.log.__closure__[0].cell_contents(3.0)
    assert list(decisions()) == expected


def test_a_policy_by_its_name(tmp_path, monkeypatch):
    assert policy_called("isgbmat") is POLICIES["isgbmat"]
    assert policy_called("simplugin.market.policies.shipped:optimum") is POLICIES["optimum"]
    with raises_naming(WorkloadError, "'isgb'", "'isgbmat'"):
        policy_called("isgb")
    with raises_naming(WorkloadError, "'nothing'"):
        policy_called("simplugin.market.policies.shipped:nothing")
    (tmp_path / "all_to_one.py").write_text(
        "import numpy as np\n"
        "def first(values, m, caps, q):\n"
        "    return np.array([m] + [0] * (len(values) - 1)), 1.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.util.find_spec("all_to_one")
    assert policy_called("all_to_one:first")((1.0, 2.0), 5, 5, 0.9)[0].tolist() == [5, 0]


@pytest.mark.parametrize("name", ["commodity", "double_auction", "proportional_share", "optimum"])
@pytest.mark.parametrize("seed", range(6))
def test_outcomes_are_those_of_the_policy(name, seed):
    drawn = random_market(seed, most_tasks=300)
    parameters = {"seed": seed} if name == "double_auction" else {}
    amounts, price = POLICIES[name](*drawn.arguments, **parameters)
    agreed = negotiate(NEGOTIATIONS[name], *drawn.arguments, seed=seed)
    assert agreed.amounts.tolist() == amounts.tolist()
    assert agreed.price == pytest.approx(price, rel=1e-9)


def test_a_commodity_market_takes_two_rounds():
    # Values 8 and 2, flat price 5: the first buys its task worth 8 and none worth 4.
    agreed = negotiate(NEGOTIATIONS["commodity"], [8.0, 2.0], 4, 4, 0.5)
    assert agreed.amounts.tolist() == [3, 1]
    assert (agreed.price, agreed.rounds, agreed.messages) == (5.0, 2, 8)


@pytest.mark.parametrize("name", ["isgbmat", "commodity", "double_auction", "bisection"])
def test_questions_that_nobody_asks_are_refused(name):
    peer = NEGOTIATIONS[name].peer(1.0, 2, 0.5, np.random.default_rng(0))
    with raises_naming(WorkloadError, "'value'"):
        peer.reply(("value", 1))


def test_a_clock_that_rests_is_right():
    agreed = negotiate(clock(step=0.5), [7.0, 12.0], 4, 4, 0.5)
    assert agreed.amounts.tolist() == [2, 2]
    assert 3 <= agreed.price <= 3.5
    for value in (np.inf, np.nan):
        for name in ("step", "start"):
            with raises_naming(WorkloadError, name, value):
                clock(**{name: value})


def test_a_clock_may_never_rest():
    # Two tasks of each peer are worth 8 and 4: at 4 both want two, above it one; three are sold.
    # From ln 4 up by 1/3 of the step, and down again.
    start = float(np.log(8.0) - np.log(2.0))
    with raises_naming(InfeasibleError, "0.1", "round 1", "2 rounds"):
        negotiate(clock(step=0.1, start=start - 1e-9), [8.0, 8.0], 3, 2, 0.5)
    with raises_naming(InfeasibleError, "0.1", "3 rounds"):
        negotiate(clock(step=0.1, rounds=3), [800.0, 8.0], 3, 3, 0.5)


def test_clocks_cycle_on_some_markets_without_equal_tasks():
    ends = 0
    for seed in range(40):
        try:
            negotiate(clock(), *random_market(seed).arguments)
            ends += 1
        except InfeasibleError:
            pass
    assert 20 <= ends < 40


MARKET = [7.0, 12.0, 5.0], 12, 12, 0.5


@pytest.mark.parametrize(
    ("answer", "culprit"),
    [(([4, 3, 4], 1.0), 11), (([4, 3, 5], np.nan), np.nan), (([4, 3, 5], None), None)],
)
def test_invalid_decisions_name_the_policy(answer, culprit):
    def own(*_):
        return answer

    with raises_naming(WorkloadError, culprit) as caught:
        negotiate(as_negotiation(own), *MARKET)
    assert str(caught.value).startswith("policy own: ")


def test_a_policy_is_given_seeds_unless_one_is_bound():
    def own(*_, seed=-1):
        return [4, 3, 5], seed

    def other(*_, **parameters):
        assert not parameters
        return [4, 3, 5], -1

    def prices(how):
        return [negotiate(how, *MARKET, seed=seed).price for seed in range(20)]

    assert len(set(prices(as_negotiation(own)))) == 20
    assert prices(as_negotiation(own)) == prices(as_negotiation(own))
    assert (
        set(prices(as_negotiation(own, parameters={"seed": 3})))
        == set(prices(as_negotiation(partial(own, seed=3))))
        == {3}
    )
    assert set(prices(as_negotiation(other))) == {-1}


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
    assert bundle_benefit(*market.arguments).solve() == pytest.approx(most, abs=1e-6 * scale)
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


NO_TABLES = [
    (([[2.0, 3.0]], 2, 2), ["peer 0", "2", "task 1", "3"]),
    (([[2.0, 1.0], [5.0, 1.0]], 3, 3), ["2 tasks", "peer 0", "3"]),
    (([[2.0, 1.0]], 2, 2, 0.5), ["q"]),
    (([2.0, 1.0], 2, 2), ["q", "alpha"]),
]


@pytest.mark.parametrize(("arguments", "names"), NO_TABLES)
def test_invalid_tables_are_refused(arguments, names):
    with raises_naming(WorkloadError, *names):
        BundleMarket(*arguments)


@pytest.mark.parametrize(
    "ask",
    [balanced_state, lambda market: divided_benefit(*market.arguments), lambda market: market.q],
)
def test_what_needs_discount_rates_says_so(ask):
    with raises_naming(WorkloadError, "alpha"):
        ask(BundleMarket([[2.0, 1.0]], 2, 2))
    with raises_naming(InfeasibleError, "5 tasks", "N_max"):
        BundleMarket([[2.0] * 5] * 2, 5, [2, 0])


@pytest.mark.parametrize("name", NEGOTIATIONS)
@pytest.mark.parametrize("counters", ["reset", 20.0])
def test_discounts_of_any_shape_on_simgrid(name, counters):
    # The fourth task is worth nothing, and the last peer is absent.
    site = PeerSite.numbered([3e9, 2e9, 1e9, 9e9], [1e8] * 4)
    terms = MarketTerms(discounts=[1.0, 0.9, 0.9, 0.0], n_max=[5, 5, 5, 0])
    bundles = [Bundle("b", m, 1e9, 1e6) for m in (7, 11)]
    for deal in execute(site, bundles, terms, name, rules=ServiceRules(counters=counters)).deals:
        market = deal.market
        assert market.check(deal.amounts)[3] == 0
        if name in EXACT:
            assert deal.amounts.tolist() == largest_benefit(*market.arguments).amounts.tolist()
    sold = execute(site, bundles, terms, name, rules=ServiceRules(counters=counters)).deals[0]
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
