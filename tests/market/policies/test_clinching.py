import numpy as np
import pytest
from heard import heard
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.market.execution import execute
from simplugin.market.mechanisms import ascending_clock, vickrey_clarke_groves
from simplugin.market.model import Terms
from simplugin.market.policies.clocks import CLINCHING
from simplugin.market.policies.negotiation import Agreement, Call, Negotiation, negotiate
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.platforms.peers import PeerSite
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle


@st.composite
def markets(draw):
    n = draw(st.integers(1, 6))
    m = draw(st.integers(1, 40))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = np.exp(generator.normal(0, draw(st.floats(0.01, 2)), n))
    q = generator.uniform(0.4, 0.999, n)
    if draw(st.booleans()):
        values, q = np.full(n, 3.0), np.full(n, 0.5)
    caps = generator.integers(0, m + 1, n)
    caps[-1] += max(0, m - caps.sum())
    return BundleMarket(values, m, caps, q)


@given(markets())
@settings(max_examples=80)
def test_the_clock_pays_what_vcg_does(market):
    wanted = vickrey_clarke_groves(market, unsold="worthless")
    found = ascending_clock(market)
    assert found.settlement.amounts.tolist() == wanted.amounts.tolist()
    assert found.settlement.payments == pytest.approx(wanted.payments, rel=1e-9, abs=1e-12)
    # All are asked at first, then whoever leaves.
    assert found.rounds <= found.messages / 2 <= found.rounds * market.n_peers


@given(markets(), st.floats(0.001, 1))
@settings(max_examples=50)
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


def test_prices_far_from_one_are_found():
    for scale in (1e-30, 1e30):
        market = BundleMarket(np.array([12.0, 7.0]) * scale, 3, 3, 0.5)
        found = ascending_clock(market)
        assert found.settlement.payments == pytest.approx(np.array([5.25, 3]) * scale)
        assert found.rounds < 30


def test_a_clock_must_rise():
    for tick in (0, -1.0, 1e-7, np.inf, np.nan):
        with pytest.raises(WorkloadError, match="each is a round"):
            ascending_clock(BundleMarket([12.0, 7.0], 3, 3, 0.5), tick=tick)


def test_a_clock_refuses_what_does_not_fit():
    scheduler = CLINCHING.scheduler(2, 7, None)
    next(scheduler)
    with pytest.raises(InfeasibleError, match="7 tasks cannot be placed"):
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
    (deal,) = execute(site, Bundle.of_class("neutral", 30), Terms(), "clinching", trace=True).deals
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
    ("payments", "message"),
    [([1.0], "give 2 numbers"), ([1.0, np.nan], "give 2 numbers"), ([1.0, 2.0], "peer 1 pays 2")],
)
def test_refuses_payments_that_are_none(payments, message):
    def scheduler(*_):
        yield Call((0,), ("price", 0.0))
        return Agreement(np.array([3, 0]), 1.0, np.array(payments))

    odd = Negotiation("odd", scheduler, CLINCHING.peer)
    with pytest.raises(WorkloadError, match=message):
        negotiate(odd, [1.0, 2.0], 3, 3, 0.5)
    with pytest.raises(WorkloadError, match=message):
        execute(PeerSite.numbered(np.ones(2), np.ones(2)), Bundle("b", 3, 1.0, 1.0), Terms(), odd)
