"""Markets on grids of two tiers and other platforms; peers that fail, join late or never answer."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import DeploymentError, InfeasibleError, WorkloadError
from simplugin.formats.platform_xml import write_platform
from simplugin.market.actors.stations import ServiceRules
from simplugin.market.execution import execute
from simplugin.market.model import MarketTerms, completion_times
from simplugin.market.policies.dispatch import DISPATCHERS, completion_of_best
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.times import one_by_one
from simplugin.platforms.hosts import Host
from simplugin.platforms.links import Link, Route
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.profiles import Profile, ProfileUse
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle

TERMS = MarketTerms(alpha=0.02)
LATENCY = 0.125


def _site(name, factor):
    """Return a site that is so many times as fast as the first."""
    speed, bandwidth = np.array([3e7, 1e7, 2e7]) * factor, np.array([1e7, 4e7, 2e7]) * factor
    return PeerSite.numbered(speed, bandwidth, name, scheduler=f"{name}-ls")


SITES = (_site("a", 1.0), _site("b", 2.0), _site("c", 0.5))
GRID = PeerGrid(("a", "b", "c"), SITES, latency=LATENCY)


def _bundles(count, gap=0.0):
    return [Bundle.of_class("neutral", 40, str(n), n * gap) for n in range(count)]


def _estimated(site, bundle):
    """Return how long the assignment of the largest benefit takes by the estimated times [s]."""
    times = completion_times(site, bundle, TERMS.setup)
    return completion_of_best(TERMS.market(times, bundle.count), times)


def _run(bundles, **further):
    return execute(GRID, bundles, TERMS, "optimum", **further).deals


def _overlaps(deals):
    """Return whether a site served two bundles at a time."""
    by_site = {deal.site: sorted((d for d in deals if d.site == deal.site), key=lambda d: d.called)
               for deal in deals}  # fmt: skip
    return any(
        later.called < earlier.finished
        for own in by_site.values()
        for earlier, later in pairwise(own)
    )


@pytest.mark.parametrize("dispatch", DISPATCHERS)
def test_every_bundle_is_served_once(dispatch):
    bundles = _bundles(7, gap=100.0)
    deals = _run(bundles, rules=ServiceRules(dispatch=dispatch))
    assert [deal.bundle for deal in deals] == list(range(7))
    assert not _overlaps(deals)
    for deal, bundle in zip(deals, bundles, strict=True):
        assert bundle.release + LATENCY <= deal.called < deal.agreed < deal.finished
        assert deal.amounts.sum() == 40
        estimate = _estimated(SITES[deal.site], bundle)
        assert deal.outcome().completion == pytest.approx(estimate, rel=1e-6)


def test_first_idle_waits_for_reports():
    deals = _run(_bundles(5))
    times = [_estimated(site, _bundles(1)[0]) for site in SITES]
    assert times[1] < times[0] < times[2]
    # The fastest first; then whoever is done first.
    assert [deal.site for deal in deals[:4]] == [1, 0, 2, 1]
    # A question, its answer and the bundle cross the backbone; then the question about the next
    # bundle goes out, while this one is under way.
    dates = np.array([deal.called for deal in deals[:3]])
    assert dates == pytest.approx(np.array([3, 5, 7]) * LATENCY, abs=2e-6)
    # Sites were asked about the fourth long ago: a report and a bundle cross the backbone.
    assert deals[3].called == pytest.approx(deals[0].finished + 2 * LATENCY, abs=1e-6)


def test_the_desk_hears_of_sites_by_messages():
    execution = execute(GRID, _bundles(5), TERMS, "optimum", trace=True)
    trace = execution.result.trace.to_pandas()
    crossed = trace[trace.kind == "comm"].groupby("label")
    # Every peer says once what it can do; every site is asked about every bundle.
    assert crossed.size()[["capacity", "question", "estimate"]].tolist() == [9, 15, 15]
    assert crossed.amount.max()[["capacity", "question", "estimate"]].tolist() == [88, 72, 64]
    assert crossed.end.max()["capacity"] < LATENCY
    for site in SITES:
        for label, route in (
            ("question", f"{GRID.scheduler}->{site.scheduler}"),
            ("estimate", f"{site.scheduler}->{GRID.scheduler}"),
        ):
            assert (trace[trace.label == label].resource == route).sum() == 5
    alone = execute(SITES[0], _bundles(2), TERMS, "optimum", trace=True).result.trace.to_pandas()
    assert not set(alone.label) & {"capacity", "question", "estimate"}


def test_sites_answer_when_their_peers_have_spoken():
    # Peers are further away from their local schedulers than these from the global one.
    far = tuple(replace(site, latency=4 * LATENCY) for site in SITES)
    deals = execute(PeerGrid(GRID.names, far, latency=LATENCY), _bundles(2), TERMS, "optimum").deals
    # A capacity, while the question is under way; then an answer and the bundle.
    assert deals[0].called == pytest.approx((4 + 2) * LATENCY, abs=1e-4)
    assert deals[1].called == pytest.approx((4 + 4) * LATENCY, abs=1e-4)


@pytest.mark.parametrize("dispatch", ["first_idle", "earliest"])
def test_the_desk_goes_by_what_peers_believe(dispatch):
    # The slowest site takes itself for the fastest, and the fastest for the slowest.
    thought = tuple(
        replace(site, speed=other.speed, bandwidth=other.bandwidth)
        for site, other in zip(SITES, (SITES[0], SITES[2], SITES[1]), strict=True)
    )
    believed = replace(GRID, sites=thought)
    honest = _run(_bundles(1), rules=ServiceRules(dispatch=dispatch))
    (deal,) = _run(_bundles(1), rules=ServiceRules(dispatch=dispatch), believed=believed)
    assert (honest[0].site, deal.site) == (1, 2)
    assert deal.finished > 3 * honest[0].finished
    assert deal.estimated().completion == pytest.approx(honest[0].estimated().completion)


def test_earliest_is_a_list_schedule():
    bundles = _bundles(9)
    deals = _run(bundles, rules=ServiceRules(dispatch="earliest"))
    times = np.array([_estimated(site, bundles[0]) for site in SITES])
    ready = np.zeros(3)
    for number, deal in enumerate(deals):
        # It decides when all sites have answered about one bundle after another.
        decided = (number + 1) * 2 * LATENCY
        done = np.maximum(ready, decided) + times
        site = int(np.argmin(done))
        assert deal.site == site
        ready[site] = done[site]
        assert deal.finished == pytest.approx(ready[site], rel=1e-3)


def test_sites_keep_counters_of_their_own():
    deals = _run(_bundles(6), rules=ServiceRules(dispatch="round_robin", counters="kept"))
    for first, second in zip(deals[:3], deals[3:], strict=True):
        expected = first.market.values * 0.98**first.amounts
        np.testing.assert_allclose(second.market.values, expected, rtol=1e-12)


def test_each_site_has_terms_of_its_own():
    terms = (TERMS, MarketTerms(alpha=[0.01, 0.02, 0.03]), MarketTerms(n_max=15))
    deals = execute(
        GRID, _bundles(3), terms, "optimum", rules=ServiceRules(dispatch="round_robin")
    ).deals
    np.testing.assert_allclose(deals[1].market.q, [0.99, 0.98, 0.97])
    assert deals[2].market.caps.tolist() == [15] * 3
    assert deals[2].amounts.max() <= 15


def test_a_grid_of_one_site_is_that_site():
    one = execute(PeerGrid(("a",), SITES[:1]), _bundles(2), TERMS, "optimum")
    alone = execute(SITES[0], _bundles(2), TERMS, "optimum")
    for deal, other in zip(one.deals, alone.deals, strict=True):
        np.testing.assert_array_equal(deal.amounts, other.amounts)
        took, alike = deal.finished - deal.called, other.finished - other.called
        assert took == pytest.approx(alike, rel=1e-9)
        assert deal.called == pytest.approx(other.called, abs=2e-5)


def test_back_ends_agree(capfd):
    coroutines = _run(_bundles(4, 50.0))
    threads = _run(_bundles(4, 50.0), back_end="threads")
    for one, other in zip(coroutines, threads, strict=True):
        assert one.site == other.site
        np.testing.assert_allclose(one.peer_finish, other.peer_finish, rtol=1e-9)
    # SimGrid complains of activities that are dropped.
    assert capfd.readouterr().err == ""


SPEED, BANDWIDTH = np.array([3e7, 1e7, 2e7]), np.array([1e7, 4e7, 2e7])


def _two_hops():
    """Return hosts of other names, two links away from the scheduler, the far one the slower."""
    names = ("north", "east", "south")
    hosts = [Host("post", speed=1e9)]
    links = [Link("trunk", 1e9, sharing_policy="FATPIPE")]
    routes = []
    for name, speed, bandwidth in zip(names, SPEED, BANDWIDTH, strict=True):
        hosts.append(Host(name, speed=float(speed)))
        links.append(Link(f"to-{name}", float(bandwidth)))
        routes.append(Route("post", name, ("trunk", f"to-{name}")))
    site = PeerSite(names, SPEED, BANDWIDTH, scheduler="post")
    return site, Platform((Zone("z", "Full", (*hosts, *links), tuple(routes)),))


def test_a_platform_file(tmp_path):
    site, platform = _two_hops()
    path = tmp_path / "hops.xml"
    write_platform(platform, path)
    bundle = Bundle.of_class("neutral", 40)
    deals = [
        execute(site, bundle, negotiation="isgbmat", platform=where).deals[0]
        for where in (None, platform, path)
    ]
    for deal in deals:
        np.testing.assert_array_equal(deal.amounts, deals[0].amounts)
        expected = one_by_one(site, bundle, deal.amounts)
        np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-12)


def test_a_platform_without_the_hosts():
    _, platform = _two_hops()
    other = PeerSite.numbered(SPEED, BANDWIDTH)
    with raises_naming(DeploymentError, "scheduler"):
        execute(other, Bundle.of_class("neutral", 4), platform=platform)


SITE = PeerSite.numbered([3e9, 2e9, 1e9], [1e8] * 3, latency=0.001)
TWICE = [Bundle("first", 12, 1e9, 1e6), Bundle("second", 12, 1e9, 1e6, release=1.0)]
ABSENT_TERMS, PATIENCE = MarketTerms(alpha=0.1), 2.0


def run(states, negotiation="optimum", terms=ABSENT_TERMS, kind="HOST_AVAIL", **further):
    """Return the deals; `states` has dates at which hosts or links go off (0) or on (1)."""
    changes = []
    for name, lines in states.items():
        changes += [Profile(f"of {name}", lines), ProfileUse(f"of {name}", name, kind)]
    platform = Platform((*SITE.platform().elements, *changes))
    given = {"platform": platform, "rules": ServiceRules(patience=PATIENCE)} | further
    return execute(SITE, TWICE, terms, negotiation, **given).deals


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_where_nothing_fails_patience_changes_nothing(name):
    for deal, other in zip(run({}, name), run({}, name, rules=ServiceRules()), strict=True):
        assert deal.amounts.tolist() == other.amounts.tolist()
        assert deal.outcome().paid == pytest.approx(other.outcome().paid)
        assert deal.peer_finish == pytest.approx(other.peer_finish, rel=1e-9)
        assert (deal.rounds, deal.messages) == (other.rounds, other.messages)
        assert deal.bytes == other.bytes


def test_what_a_failed_peer_leaves_is_sold_again():
    first, second = run({"peer-1": "0.9 0"})
    values = 3600 / first.times
    sold = largest_benefit(values, 12, 12, 0.9)
    # At 0.35 s a task the first peer has done two.
    done = [2, int(sold.amounts[1]), int(sold.amounts[2])]
    rest = BundleMarket(values[1:] * 0.9 ** np.array(done[1:]), 12 - sum(done), 12, 0.9)
    again = largest_benefit(*rest.arguments)
    assert first.amounts.tolist() == [2, *(again.amounts + done[1:])]
    paid = sold.price * np.array(done) + again.price * np.append(0, again.amounts)
    assert first.outcome().paid == pytest.approx(paid)
    # Noticed when the end of its task is awaited in vain; its last news counts.
    assert first.peer_finish[0] < 0.9 < PATIENCE < first.peer_finish[1]
    assert second.amounts[0] == 0
    assert second.amounts.tolist()[1:] == largest_benefit(values[1:], 12, 12, 0.9).amounts.tolist()
    # The announcement is waited for that long.
    assert second.agreed - second.called == pytest.approx(PATIENCE, abs=0.01)


def test_peers_that_come_back_or_join_take_part_in_the_next_sale():
    back, after = run({"peer-1": "0.9 0\n2.5 1"})
    whole = largest_benefit(*back.market.arguments).amounts.tolist()
    assert back.amounts.tolist() == whole == after.amounts.tolist()
    late, after = run({"peer-1": "0 0\n4 1"})
    assert (late.amounts[0], late.market.caps[0], late.times[0]) == (0, 0, 0.0)
    assert after.amounts.tolist() == whole


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_peers_that_fail_while_they_negotiate(name):
    for deal in run({"peer-1": "0.9 0", "peer-2": "0.0035 0\n7 1", "peer-3": "30 0"}, name):
        assert deal.market.check(deal.amounts).sum() == 12
        assert np.all(deal.outcome().paid[deal.amounts == 0] == 0)
        assert deal.finished < 30


@pytest.mark.parametrize("name", ["bisection", "optimum"])
def test_a_link_that_fails(name):
    # Peer 1 keeps its host and is heard of again.
    first, second = run({"peer-1-link": "0.5 0\n3.5 1"}, name, kind="LINK_AVAIL")
    assert first.amounts.sum() == 12
    assert second.amounts.tolist() == largest_benefit(*second.market.arguments).amounts.tolist()


def test_tasks_that_nobody_takes_are_refused_with_the_reason():
    off = {"peer-1": "0 0", "peer-2": "1 0", "peer-3": "1.5 0"}
    with raises_naming(InfeasibleError, "'first'", "0 of 3"):
        run(off)
    with raises_naming(InfeasibleError, "2 of 3", "2 s", "N_max"):
        run({"peer-1": "0.9 0"}, terms=MarketTerms(alpha=0.1, n_max=5))
    # A task takes 0.35 s and more, and its transfer 0.011 s.
    for patience in (0.3, 0.012, 0.005):
        with raises_naming(InfeasibleError, "12 tasks", "patience"):
            run({}, rules=ServiceRules(patience=patience))
    for rule in ({"patience": 0}, {"patience": 1.0, "overlap": True}):
        with raises_naming(WorkloadError, *rule):
            ServiceRules(**rule)
    with raises_naming(WorkloadError, "patience"):
        execute(PeerGrid(("a",), (SITE,)), TWICE, ABSENT_TERMS, rules=ServiceRules(patience=1.0))
