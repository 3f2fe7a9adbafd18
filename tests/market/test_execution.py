"""Markets on SimGrid: dates against closed forms, deals against what was negotiated; refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import ActorError, InfeasibleError, WorkloadError
from simplugin.market.actors.stations import ServiceRules
from simplugin.market.execution import execute
from simplugin.market.model import MarketTerms
from simplugin.market.policies.negotiation import Agreement, BundleNegotiation, Call, negotiate
from simplugin.market.policies.shipped import NEGOTIATIONS, POLICIES, as_negotiation
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.simulation import SimGridOptions
from simplugin.workloads.bundles import CLASSES, Bundle

SPEED = np.array([31e6, 12e6, 22e6, 1.5e6, 17e6])
BANDWIDTH = np.array([9e6, 40e6, 14e6, 11e6, 25e6])
SITE = PeerSite.numbered(SPEED, BANDWIDTH)
SETUP = 0.005
TERMS = MarketTerms(alpha=0.02, setup=SETUP)
# Of an award: an envelope and two numbers [byte].
AWARD = 56


def _parts(kind):
    """Return how long the transfer and the execution of a task take on each peer [s]."""
    flop, byte = CLASSES[kind]
    return byte * 1e6 / BANDWIDTH, flop * 1e6 / SPEED


def _run(kind="neutral", count=120, site=SITE, terms=TERMS, negotiation="optimum", **further):
    return execute(site, Bundle.of_class(kind, count), terms, negotiation, **further).deals[0]


@settings(max_examples=25)
@given(data=st.data())
def test_any_site_takes_the_times_of_its_tasks(data):
    n_peers, m = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 30))
    some = st.lists(st.floats(1e6, 1e8), min_size=n_peers, max_size=n_peers)
    speed, bandwidth = np.array(data.draw(some)), np.array(data.draw(some))
    latency, overlap = data.draw(st.sampled_from([0.0, 1e-3, 0.25])), data.draw(st.booleans())
    rates = st.lists(st.floats(0.001, 0.3), min_size=n_peers, max_size=n_peers)
    n_max = -(-m // n_peers) + data.draw(st.integers(0, 5))
    terms = MarketTerms(data.draw(rates), n_max=n_max, setup=SETUP)
    bundle = Bundle("b", m, data.draw(st.floats(1e6, 1e9)), data.draw(st.integers(1, 10**9)))
    site = PeerSite.numbered(speed, bandwidth, latency=latency)
    deal = execute(site, bundle, terms, "optimum", rules=ServiceRules(overlap=overlap)).deals[0]
    fetch, compute = SETUP + bundle.byte / bandwidth, bundle.flop / speed
    np.testing.assert_allclose(deal.times, fetch + compute, rtol=1e-14)
    best = largest_benefit(3600 / deal.times, m, n_max, 1 - np.array(terms.alpha))
    np.testing.assert_array_equal(deal.amounts, best.amounts)
    assert deal.outcome().benefit == pytest.approx(best.benefit, rel=1e-12)
    assert deal.price == pytest.approx(best.price, rel=1e-12)
    # The first fetch and the last execution have nothing beside them.
    pace = np.maximum(fetch + latency, compute) if overlap else fetch + compute + 2 * latency
    tasks = fetch + compute + 2 * latency + (deal.amounts - 1) * pace
    expected = np.where(deal.amounts, latency + AWARD / bandwidth + tasks, 0.0)
    np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-9)
    assert deal.estimated().completion == pytest.approx((deal.amounts * deal.times).max())
    assert deal.finished == deal.peer_finish.max()


def test_a_shared_uplink_is_the_bottleneck():
    # Ten peers alike, 20 tasks each: at any time all fetch, a tenth of the uplink each.
    count, uplink = 10, 1e6
    site = PeerSite.numbered(np.full(count, 1e9), np.full(count, 1e9), uplink=uplink)
    bundle = Bundle("b", 20 * count, 0.0, 1e6)
    terms = MarketTerms(alpha=0.02, n_max=20, setup=0.0)
    deal = execute(site, bundle, terms, "optimum").deals[0]
    assert deal.outcome().completion == pytest.approx(bundle.count * 1e6 / uplink, rel=1e-3)
    assert deal.estimated().completion == pytest.approx(20 * 1e-3, rel=1e-9)


def test_tasks_take_what_they_really_compute():
    work = np.random.default_rng(3).lognormal(17, 1.0, 100)
    bundle = Bundle("mixed", 100, float(work.mean()), 2e6, work=work)
    deal = execute(SITE, bundle, TERMS, "optimum").deals[0]
    transfer = 2e6 / BANDWIDTH
    np.testing.assert_allclose(deal.times, SETUP + transfer + work.mean() / SPEED)
    ends = np.cumsum(deal.amounts)
    own = [work[end - n : end].sum() for end, n in zip(ends, deal.amounts, strict=True)]
    expected = deal.amounts * (SETUP + transfer) + np.array(own) / SPEED
    np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-5)


def test_traces_show_who_does_what():
    run = execute(SITE, Bundle.of_class("neutral", 60), TERMS)
    names = {each.name for each in run.result.returned}
    hosts = [each.host for each in run.result.returned if each.name.startswith("peer on")]
    assert {"market", "users", *(f"tasks for {host}" for host in hosts)} <= names
    assert not [name for name in names if name.startswith("_")]


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_agrees_as_in_process(name):
    deal = _run(negotiation=name, seed=7)
    market = deal.market
    alone = negotiate(NEGOTIATIONS[name], market.values, 120, market.caps, market.q, seed=7)
    np.testing.assert_array_equal(deal.amounts, alone.amounts)
    assert deal.price == alone.price
    assert (deal.rounds, deal.messages, deal.bytes) == (alone.rounds, alone.messages, alone.bytes)


@pytest.mark.parametrize("name", ["double_auction", "double_auction_rounds"])
def test_later_negotiations_draw_anew(name):
    bundles = [Bundle.of_class("neutral", 60, name=str(n)) for n in range(2)]
    one, other = execute(SITE, bundles, TERMS, name, seed=7).deals
    again = execute(SITE, bundles, TERMS, name, seed=7).deals
    changed = execute(SITE, bundles, TERMS, name, seed=8).deals
    assert len({one.price, other.price, changed[0].price, changed[1].price}) == 4
    assert (one.price, other.price) == (again[0].price, again[1].price)
    np.testing.assert_array_equal(other.amounts, again[1].amounts)
    how, market = NEGOTIATIONS.get(name) or as_negotiation(POLICIES[name]), one.market
    alone = negotiate(how, market.values, 60, market.caps, market.q, seed=7)
    assert alone.price == one.price
    np.testing.assert_array_equal(alone.amounts, one.amounts)


def test_the_negotiation_takes_time():
    latency = 0.5
    deal = _run(site=PeerSite.numbered(SPEED, BANDWIDTH, latency=latency))
    # An announcement, a call of 40 byte and a reply of 64 byte; the slowest link counts.
    expected = 3 * latency + (72 + 40 + 64) / BANDWIDTH.min()
    assert deal.negotiation == pytest.approx(expected, rel=1e-9)
    assert (deal.rounds, deal.messages, deal.bytes) == (1, 10, 5 * (40 + 64))


def test_bundles_wait_for_their_turn():
    releases = (30.0, 10.0, 10.0)
    bundles = [Bundle.of_class("neutral", 40, str(n), date) for n, date in enumerate(releases)]
    deals = execute(SITE, bundles, TERMS, "optimum").deals
    assert [deal.bundle for deal in deals] == [0, 1, 2]
    assert [deal.submitted for deal in deals] == list(releases)
    assert deals[1].called == 10.0
    assert deals[2].called == deals[1].finished > 30.0
    assert deals[0].called == deals[2].finished
    assert deals[0].response == deals[0].finished - 30.0
    np.testing.assert_array_equal(deals[0].amounts, deals[1].amounts)


def test_kept_counters_make_many_bundles_one():
    whole = _run(count=120)
    parts = [Bundle.of_class("neutral", 30, str(n)) for n in range(4)]
    deals = execute(SITE, parts, TERMS, "optimum", rules=ServiceRules(counters="kept")).deals
    np.testing.assert_array_equal(sum(deal.amounts for deal in deals), whole.amounts)
    total = sum(deal.outcome().benefit for deal in deals)
    assert total == pytest.approx(whole.outcome().benefit, rel=1e-12)
    anew = execute(SITE, parts, TERMS, "optimum", rules=ServiceRules(counters="reset")).deals
    assert sum(deal.outcome().benefit for deal in anew) > 1.01 * total


def test_peers_deal_by_what_they_believe():
    speed = SPEED.copy()
    speed[1] *= 3
    believed = PeerSite.numbered(speed, BANDWIDTH)
    honest, deal = _run(), _run(believed=believed)
    assert deal.market.values[1] > honest.market.values[1]
    np.testing.assert_array_equal(np.delete(deal.times, 1), np.delete(honest.times, 1))
    best = largest_benefit(deal.market.values, 120, 120, 0.98)
    np.testing.assert_array_equal(deal.amounts, best.amounts)
    assert deal.amounts[1] > honest.amounts[1]
    # It computes at its true speed all the same.
    transfer, execution = _parts("neutral")
    expected = deal.amounts * (SETUP + transfer + execution)
    np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-6)


def test_another_platform_than_the_site():
    slow = PeerSite.numbered(SPEED / 2, BANDWIDTH / 2)
    deal = _run(platform=slow.platform())
    np.testing.assert_array_equal(deal.amounts, _run().amounts)
    transfer, execution = _parts("neutral")
    expected = deal.amounts * (SETUP + 2 * transfer + 2 * execution)
    np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-6)


def test_dates_may_be_long():
    # Past 2^23 s dates are further apart than SimGrid's usual precision.
    site = PeerSite.numbered(SPEED, BANDWIDTH, latency=1e-3)
    bundle = Bundle("long", 300, 1.3e13, 3e8)
    deal = execute(site, bundle, TERMS, "optimum").deals[0]
    expected = deal.amounts * (SETUP + 2e-3 + 3e8 / BANDWIDTH + 1.3e13 / SPEED)
    assert deal.finished > 2.0**24
    np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-9)


@pytest.mark.parametrize("overlap", [False, True])
def test_back_ends_agree(overlap):
    site = PeerSite.numbered(SPEED[:3], BANDWIDTH[:3], latency=0.01, uplink=2e7)
    bundles = [Bundle.of_class("neutral", 12, "a"), Bundle.of_class("communication", 9, "b", 50.0)]

    def run(back_end):
        return execute(
            site, bundles, TERMS, "isgbmat", rules=ServiceRules(overlap=overlap, counters="kept"),
            options=SimGridOptions(), back_end=back_end,
        )  # fmt: skip

    for one, other in zip(run("coroutines").deals, run("threads").deals, strict=True):
        np.testing.assert_array_equal(one.amounts, other.amounts)
        np.testing.assert_allclose(one.peer_finish, other.peer_finish, rtol=1e-9)
        assert (one.called, one.agreed) == pytest.approx((other.called, other.agreed), rel=1e-9)
        assert one.messages == other.messages


@pytest.mark.parametrize("name", ["optimum", "isgbmat"])
def test_the_network_carries_what_is_counted(name):
    execution = execute(SITE, Bundle.of_class("neutral", 20), TERMS, name, trace=True)
    deal, trace = execution.deals[0], execution.result.trace.to_pandas()
    sent = trace[trace.label.isin(["call", "reply"])]
    assert (len(sent), sent.amount.sum()) == (deal.messages, deal.bytes)
    assert sent.end.max() == deal.agreed
    counts = trace[trace.label == "task"].groupby(["kind", "resource"]).size()
    for host, amount in zip(SITE.names, deal.amounts, strict=True):
        assert counts.get(("exec", host), 0) == amount
        assert counts.get(("comm", f"scheduler->{host}"), 0) == amount


KEPT = ServiceRules(counters="kept")
ONE_SITE = PeerSite.numbered(np.array([3e7, 1e7]), np.array([1e7, 2e7]))
BUNDLE = Bundle.of_class("neutral", 20)


def none_at_all(values, *_):
    """Place no task."""
    return np.zeros(len(values), dtype=int), 1.0


def agreed(amounts):
    """Return a negotiation that ends with amounts."""

    def scheduler(*_):
        yield Call((0,), ("open", 20))
        return Agreement(np.array(amounts), 1.0)

    return BundleNegotiation("odd", scheduler, NEGOTIATIONS["bisection"].peer)


def gives_up(*_):
    """End without an agreement."""
    raise InfeasibleError("it goes round in circles")


def divides(*_):
    """Fail."""
    return 1 // 0


REFUSES = [
    ({"bundles": []}, WorkloadError, "bundle"),
    ({"terms": MarketTerms(n_max=9)}, InfeasibleError, "bundle"),
    ({"terms": [MarketTerms()] * 2}, WorkloadError, "terms"),
    ({"negotiation": "haggling"}, WorkloadError, "'haggling'"),
    ({"negotiation": None}, WorkloadError, "None"),
    ({"negotiation": none_at_all}, WorkloadError, "none_at_all"),
    *(({"negotiation": agreed(each)}, WorkloadError, "'odd'") for each in ([9, 9], [20], [21, -1])),
    ({"negotiation": gives_up}, InfeasibleError, "it goes round in circles"),
    ({"believed": PeerSite.numbered(np.ones(2), np.ones(2), "cp")}, WorkloadError, "believed"),
]


@pytest.mark.parametrize(("arguments", "error", "culprit"), REFUSES)
def test_refuses(arguments, error, culprit):
    given = {"bundles": BUNDLE, "terms": MarketTerms(), "negotiation": "optimum"} | arguments
    with pytest.raises(error) as caught:
        execute(ONE_SITE, **given)
    assert culprit in str(caught.value)


@pytest.mark.parametrize(
    "rule", [{"counters": "forgotten"}, {"counters": 0.0}, {"dispatch": "anywhere"}]
)
def test_service_rules_are_checked(rule):
    with raises_naming(WorkloadError, *rule, *rule.values()):
        ServiceRules(**rule)


def test_refuses_values_that_discounts_used_up():
    bundles = [Bundle.of_class("neutral", 400, str(n)) for n in range(3)]
    with raises_naming(WorkloadError, "'peer-", "0.9"):
        execute(ONE_SITE, bundles, MarketTerms(alpha=0.9), "optimum", rules=KEPT)


def test_values_are_lost_no_sooner_than_numbers_end():
    # 0.1^400 is none, but 1e300 of it is: powers of q alone would be lost before.
    bundles = [Bundle.of_class("neutral", 800, str(n)) for n in range(2)]
    terms = MarketTerms(alpha=0.9, price_unit=1e300)
    first, second = execute(ONE_SITE, bundles, terms, "optimum", rules=KEPT).deals
    assert 0.1**400 == 0
    left = np.log10(first.market.values) - first.amounts
    np.testing.assert_allclose(np.log10(second.market.values), left, rtol=1e-9)


def test_refuses_a_bundle_that_no_site_of_the_grid_can_place():
    small = PeerSite.numbered(np.ones(1), np.ones(1), "cp", scheduler="ls")
    grid = PeerGrid(("a", "b"), (ONE_SITE, small))
    with raises_naming(InfeasibleError, "'a'", "'b'"):
        execute(grid, BUNDLE, MarketTerms(n_max=9), "optimum")
    assert execute(grid, BUNDLE, MarketTerms(n_max=10), "optimum").deals[0].site == 0


def test_other_errors_stay_those_of_actors():
    with pytest.raises(ActorError) as caught:
        execute(ONE_SITE, BUNDLE, negotiation=divides)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


class Smuggler:
    """A peer that hands itself over."""

    def reply(self, _):
        """Return itself."""
        return ("here I am", self)


def test_only_numbers_are_sent():
    scheduler = NEGOTIATIONS["optimum"].scheduler
    smuggling = BundleNegotiation("smuggling", scheduler, lambda *_: Smuggler())
    with raises_naming(WorkloadError, "Smuggler"):
        execute(ONE_SITE, BUNDLE, negotiation=smuggling)
