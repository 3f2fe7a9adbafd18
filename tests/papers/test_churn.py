"""Markets that go on after a change, from a bad start, and with late plans."""

from dataclasses import replace

import numpy as np
import pytest

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin import churn
from simplugin.papers.bertin.churn import begun_from, calm_down, without_strangers
from simplugin.papers.bertin.five_hosts import PROPORTIONAL
from simplugin.platforms.graphs import Graph
from simplugin.pricing.changes import reachable
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import negotiate
from simplugin.pricing.iteration import iterate, settled, throughput_error
from simplugin.pricing.methods import AcceleratedMarket, Market
from simplugin.pricing.policies.acceleration import accelerated
from simplugin.workloads import Application

MARKETS = {"market": Market(), "accelerated": AcceleratedMarket()}
MORE = Application("new", "E", 3000, 700)
CHANGES = ("leaf leaves", "forwarder leaves", "arrival", "end", "slower link")


@pytest.fixture(scope="module")
def small():
    """Return the five hosts with other speeds, their three applications, and the deployment."""
    speed = np.array([5e8, 2e8, 9e8, 1e8, 4e8])
    ends = [(0, 1), (0, 2), (2, 3), (3, 4)]
    graph = Graph.duplex("ABCDE", speed, ends, [5e8, 1e8, 3e8, 2e8])
    rows = (("1", "D", 5000, 1000), ("2", "A", 800, 2000), ("3", "C", 1500, 1500))
    applications = tuple(Application(*row) for row in rows)
    return graph, applications, deploy(graph, applications)


@pytest.fixture(scope="module")
def changed(small):
    """Return the platform and what is to be shared after each kind of change."""
    graph, applications, sharing = small
    all_there = np.ones(3, dtype=bool)
    slower = replace(graph, bandwidth=graph.bandwidth * np.where(np.arange(8) == 2, 0.1, 1.0))
    return {
        "leaf leaves": (graph, reachable(sharing, all_there, {"B"})[0]),
        "forwarder leaves": (graph, reachable(sharing, all_there, {"E"})[0]),
        "arrival": (graph, deploy(graph, (*applications, MORE))),
        "end": (graph, reachable(sharing, np.arange(3) != 1, set())[0]),
        "slower link": (slower, deploy(slower, applications)),
    }


def reported_start(sharing):
    """Return the state that begins with the rates and prices of the report's Table 1."""
    prices = np.full(sharing.n_hosts, 0.02), np.full(sharing.n_links, 0.02)
    return begun_from(sharing, np.full(sharing.n_agents, 6e5), *prices)


def assert_same(platform, sharing, method, state, own):
    """Let actors start with their own part of a state, and compare them with the iteration."""
    pure = iterate(method, sharing, PROPORTIONAL, 15, start=state, rates=True)
    seen = negotiate(platform, sharing, method, 15, PROPORTIONAL, start=own).trajectory
    scale = np.abs(pure.rates).max(axis=1, keepdims=True) + 1e-300
    assert np.max(np.abs(seen.rates - pure.rates) / scale) <= 1e-9
    used = np.unique(sharing.host[sharing.computes]), np.unique(sharing.link[sharing.link >= 0])
    for name, some in zip(("host_price", "link_price"), used, strict=True):
        found, expected = (getattr(each, name)[:, some] for each in (seen, pure))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", MARKETS)
@pytest.mark.parametrize("change", CHANGES)
def test_actors_go_on_after_a_change_and_newcomers_know_nothing(small, changed, name, change):
    platform, sharing = changed[change]
    calm = calm_down(small[2], MARKETS[name], 9)
    state = churn.resumed(calm, sharing)
    own = without_strangers(small[2], sharing, state)
    assert_same(platform, sharing, MARKETS[name], state, own)
    if change == "arrival":
        market = own if name == "market" else own.market
        new = sharing.application == sharing.applications.index("new")
        for what in ("request", "metric", "offer", "plan", "paid"):
            assert not np.any(getattr(market, what)[:, new])
        assert market.reached[-1] == 0
        assert np.any(market.metric[:, ~new] > 0)


@pytest.mark.parametrize("name", MARKETS)
def test_actors_go_on_from_a_bad_start(small, name):
    platform, _, sharing = small
    state = reported_start(sharing)
    state = state if name == "market" else accelerated(state)
    assert_same(platform, sharing, MARKETS[name], state, state)


def negotiated(graph, before, after, method, rounds=(400, 400), *, changed=None, simulated=True):
    """Negotiate until all is calm, change what is shared, and go on."""
    calm = calm_down(before, method, rounds[0])
    return churn.recover(changed or graph, calm, after, method, rounds[1], simulated=simulated)


@pytest.mark.parametrize(
    ("name", "change"),
    [("market", CHANGES[0]), ("accelerated", CHANGES[2]), ("accelerated", CHANGES[4])],
)
def test_actors_come_back_to_the_new_optimum(small, changed, name, change):
    graph, _, sharing = small
    platform, after = changed[change]
    given = graph, sharing, after, MARKETS[name], (60, 150)
    found = negotiated(*given, changed=platform)
    assert found.apart <= 1e-9
    assert found.seconds > 0
    # From the same start it would not be near before: the change does matter.
    assert 0 < found.rounds < 60
    assert np.all(found.trajectory.overload[found.rounds :] <= 0.01)
    pure = negotiated(*given, changed=platform, simulated=False)
    assert pure.rounds == found.rounds
    assert np.isnan([pure.seconds, pure.apart]).all()


def test_a_master_alone_with_its_host_is_back_as_the_closed_form_says():
    # Two equal applications on one host get half of it each; alone, one gets all.
    graph = Graph.duplex("ab", np.array([1e9, 1e9]), [(0, 1)], 1e9, 0.5)
    first = Application("k", "a", 1000.0, 1000.0, hosts=("a",))
    second = replace(first, name="l")
    one, both = deploy(graph, [first]), deploy(graph, [first, second])
    cases = ((one, both, [1e6, 0.0], [5e5, 5e5]), (both, one, [5e5], [1e6]))
    for before, after, start, end in cases:
        found = negotiated(graph, before, after, Market(), simulated=False)
        np.testing.assert_allclose(found.trajectory.throughput[0], start, rtol=1e-6)
        np.testing.assert_allclose(found.trajectory.throughput[-1], end, rtol=1e-6)
        assert found.rounds


def test_time_counts_from_the_change_and_has_the_sweeps_that_tell_bounds():
    graph = Graph.duplex("ab", np.array([1e9, 1e9]), [(0, 1)], 1e12, 0.5)
    applications = [Application("k", "a", 1000.0, 1.0), Application("l", "a", 500.0, 1.0)]
    one, both = deploy(graph, applications[:1]), deploy(graph, applications)
    found = negotiated(graph, one, both, Market())
    # Bounds and then each round take one message up and one down. The link's manager is on b.
    assert found.rounds
    assert found.seconds == pytest.approx(1.0 + found.rounds * 1.0, rel=1e-6)
    late = negotiated(graph, one, both, Market(), (400, 1))
    assert late.rounds is None
    assert np.isnan(late.seconds)
    assert late.apart <= 1e-9


def test_those_who_stay_keep_what_they_know(small, changed):
    _, sharing = changed["arrival"]
    state = calm_down(small[2], Market(), 9).state
    kept = without_strangers(small[2], sharing, churn.carried_over(small[2], state, sharing))
    old, new = (
        np.sort(request[request != 0]).tolist() for request in (state.request, kept.request)
    )
    assert old == new


def test_nothing_is_lost_when_nothing_changes(small):
    sharing = small[2]
    state = calm_down(sharing, AcceleratedMarket(), 60).state.market
    kept = churn.carried_over(sharing, state, sharing)
    prices = ["paid", "price", "balance", "reached", "slack", "share"]
    for name in ["request", "metric", "offer", "plan", *prices]:
        assert getattr(kept, name) == pytest.approx(getattr(state, name), rel=1e-12, abs=1e-300)


def test_the_report_s_start_does_no_lasting_harm(small):
    sharing = small[2]
    state = reported_start(sharing)
    # Within reason: see the bounds in the docstring.
    alone = state.slots.alone
    assert np.all(sharing.throughput(state.rate) <= alone / 3 * (1 + 1e-12))
    assert np.all(state.paid <= (3 / alone)[sharing.application] * 1.0001)
    found = iterate(Market(), sharing, PROPORTIONAL, 100, start=state, prices=False)
    assert settled(throughput_error(found, fair_sharing(sharing).throughput), 0.01) is not None


def test_a_good_start_is_kept():
    # Rates and prices at the optimum of an application that is alone.
    graph = Graph.duplex("ab", np.array([3.0, 5.0]), np.array([[0, 1]]), np.array([1.0]))
    sharing = deploy(graph, [Application("k", "a", 2.0, 1.0)])
    alone = begun_from(sharing, np.zeros(2), np.zeros(2), np.zeros(2)).slots.alone
    best = fair_sharing(sharing)
    state = begun_from(sharing, best.rate, best.host_price, best.link_price)
    assert sharing.throughput(state.rate) == pytest.approx(alone, rel=1e-9)
    assert state.host_price == pytest.approx(best.host_price, rel=1e-9)


def test_late_plans_slow_down_but_do_not_diverge(small):
    sharing = small[2]
    found = iterate(churn.DelayedMarket(5, 0.25), sharing, PROPORTIONAL, 400, prices=False)
    error = throughput_error(found, fair_sharing(sharing).throughput)
    assert settled(error, 0.01) > 0
    assert error[-1] < 1e-3
    methods = (churn.DelayedMarket(0, 1.0), Market(1.0))
    late, market = (iterate(each, sharing, PROPORTIONAL, 30).throughput for each in methods)
    assert late == pytest.approx(market, rel=1e-6)
