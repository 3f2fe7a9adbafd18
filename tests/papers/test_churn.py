"""Markets that go on after a change, from a bad start, and with late plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simplugin.errors import SimpluginError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin.churn import (
    begun_from,
    calm_down,
    carried_over,
    recover,
    resumed,
    without_strangers,
)
from simplugin.papers.bertin.delays import DelayedMarket
from simplugin.platforms.graphs import Graph
from simplugin.pricing.changes import reachable
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import negotiate
from simplugin.pricing.iteration import iterate, settled, throughput_error
from simplugin.pricing.policies.acceleration import AcceleratedMarket, accelerated
from simplugin.pricing.policies.gradient import Gradient
from simplugin.pricing.policies.market import Market, MarketState
from simplugin.pricing.seeded_instances import SPREADS, Instance, instance, random_applications
from simplugin.workloads import AlphaFair, Application, Sharing

PROPORTIONAL = AlphaFair(1.0)
MARKETS = {"market": Market(), "accelerated": AcceleratedMarket()}
MORE = Application("new", "E", 3000, 700)
CHANGES = (
    "a leaf host leaves",
    "a host that forwards leaves",
    "an application arrives",
    "an application ends",
    "a link gets slower",
)
NUMBERS = (1, 4, 8, 11, 15, 29)


def state_after(method, sharing, rounds):
    state = method.start(sharing, PROPORTIONAL)
    for _ in range(rounds):
        state = method.round(sharing, PROPORTIONAL, state)
    return state


def assert_goes_on(platform, sharing, method, state, rounds=15):
    pure = iterate(method, sharing, PROPORTIONAL, rounds, start=state, rates=True)
    seen = negotiate(platform, sharing, method, rounds, PROPORTIONAL, start=state).trajectory
    assert_same(sharing, seen, pure)


def assert_same(sharing, seen, pure):
    scale = np.abs(pure.rates).max(axis=1, keepdims=True) + 1e-300
    assert np.max(np.abs(seen.rates - pure.rates) / scale) <= 1e-9
    used = np.unique(sharing.host[sharing.computes])
    np.testing.assert_allclose(seen.host_price[:, used], pure.host_price[:, used], rtol=1e-9)
    used = np.unique(sharing.link[sharing.link >= 0])
    np.testing.assert_allclose(seen.link_price[:, used], pure.link_price[:, used], rtol=1e-9)


@pytest.fixture(scope="module")
def small():
    """The five hosts with other speeds, and their three applications."""
    speed = np.array([5e8, 2e8, 9e8, 1e8, 4e8])
    ends = [(0, 1), (0, 2), (2, 3), (3, 4)]
    graph = Graph.duplex("ABCDE", speed, ends, [5e8, 1e8, 3e8, 2e8])
    applications = (
        Application("1", "D", 5000, 1000),
        Application("2", "A", 800, 2000),
        Application("3", "C", 1500, 1500),
    )
    return graph, applications, deploy(graph, applications)


def changed(small):
    """Return what is to be shared after each kind of change, and where."""
    graph, applications, sharing = small
    all_there = np.ones(3, dtype=bool)
    slower = replace(graph, bandwidth=graph.bandwidth * np.where(np.arange(8) == 2, 0.1, 1.0))
    return {
        "a leaf host leaves": (graph, reachable(sharing, all_there, {"B"})[0]),
        "a host that forwards leaves": (graph, reachable(sharing, all_there, {"E"})[0]),
        "an application arrives": (graph, deploy(graph, (*applications, MORE))),
        "an application ends": (graph, reachable(sharing, np.arange(3) != 1, set())[0]),
        "a link gets slower": (slower, deploy(slower, applications)),
    }


@pytest.mark.parametrize("name", MARKETS)
@pytest.mark.parametrize("change", CHANGES)
def test_actors_go_on_after_a_change(small, name, change):
    platform, sharing = changed(small)[change]
    calm = calm_down(small[0], small[2], MARKETS[name], PROPORTIONAL, 9, simulated=False)
    assert_goes_on(platform, sharing, MARKETS[name], resumed(calm, sharing, PROPORTIONAL))


@pytest.mark.parametrize("name", MARKETS)
def test_who_is_new_needs_to_know_nothing(small, name):
    method = MARKETS[name]
    graph, sharing = changed(small)["an application arrives"]
    calm = calm_down(graph, small[2], method, PROPORTIONAL, 9, simulated=False)
    state = resumed(calm, sharing, PROPORTIONAL)
    own = without_strangers(small[2], sharing, state)
    market = own if name == "market" else own.market
    new = sharing.application == sharing.applications.index("new")
    for what in ("wish", "metric", "offer", "plan", "paid"):
        assert not np.any(getattr(market, what)[:, new])
    assert market.reached[-1] == 0
    assert np.any(market.metric[:, ~new] > 0)
    pure = iterate(method, sharing, PROPORTIONAL, 15, start=state, rates=True)
    seen = negotiate(graph, sharing, method, 15, PROPORTIONAL, start=own).trajectory
    assert_same(sharing, seen, pure)


@pytest.mark.parametrize("name", MARKETS)
def test_actors_go_on_from_a_bad_start(small, name):
    platform, _, sharing = small
    bad = begun_from(
        sharing,
        PROPORTIONAL,
        np.full(sharing.n_agents, 6e5),
        np.full(sharing.n_hosts, 0.02),
        np.full(sharing.n_links, 0.02),
    )
    state = bad if name == "market" else accelerated(bad)
    assert_goes_on(platform, sharing, MARKETS[name], state)


def churn(graph, before, after, method, rounds=(400, 400), *, changed=None, simulated=True):
    """Negotiate until all is calm, change what is shared, and go on."""
    calm = calm_down(graph, before, method, PROPORTIONAL, rounds[0], simulated=simulated)
    return recover(changed or graph, calm, after, method, PROPORTIONAL, rounds[1])


@pytest.mark.parametrize("name", MARKETS)
@pytest.mark.parametrize("change", CHANGES[::2])
def test_actors_come_back_to_the_new_optimum(small, name, change):
    graph, _, sharing = small
    platform, after = changed(small)[change]
    found = churn(graph, sharing, after, MARKETS[name], (60, 150), changed=platform)
    assert found.apart <= 1e-9
    assert found.rounds is not None
    assert found.seconds > 0
    # From the same start it would not be near before: the change does matter.
    assert 0 < found.rounds < 60
    assert np.all(found.trajectory.overload[found.rounds :] <= 0.01)


def test_a_master_alone_with_its_host_is_back_as_the_closed_form_says():
    # Two equal applications on one host get half of it each; alone, one gets all.
    graph = Graph.duplex("ab", np.array([1e9, 1e9]), [(0, 1)], 1e9, 0.5)
    first = Application("k", "a", 1000.0, 1000.0, hosts=("a",))
    second = replace(first, name="l")
    one, both = deploy(graph, [first]), deploy(graph, [first, second])
    arrival = churn(graph, one, both, Market())
    np.testing.assert_allclose(arrival.trajectory.throughput[0], [1e6, 0.0], rtol=1e-6)
    np.testing.assert_allclose(arrival.trajectory.throughput[-1], [5e5, 5e5], rtol=1e-6)
    departure = churn(graph, both, one, Market())
    np.testing.assert_allclose(departure.trajectory.throughput[0], [5e5], rtol=1e-6)
    np.testing.assert_allclose(departure.trajectory.throughput[-1], [1e6], rtol=1e-6)
    assert arrival.rounds
    assert departure.rounds


def test_time_counts_from_the_change_and_has_the_sweeps_that_tell_bounds():
    graph = Graph.duplex("ab", np.array([1e9, 1e9]), [(0, 1)], 1e12, 0.5)
    applications = [Application("k", "a", 1000.0, 1.0), Application("l", "a", 500.0, 1.0)]
    one, both = deploy(graph, applications[:1]), deploy(graph, applications)
    found = churn(graph, one, both, Market())
    # Bounds and then each round take one message up and one down. The link's manager is on b.
    assert found.rounds
    assert found.seconds == pytest.approx(1.0 + found.rounds * 1.0, rel=1e-6)


def test_without_actors_rounds_are_the_same(small):
    graph, _, sharing = small
    _, after = changed(small)["a leaf host leaves"]
    args = graph, sharing, after, Market(), (60, 150)
    pure, acted = churn(*args, simulated=False), churn(*args)
    assert pure.rounds == acted.rounds
    assert np.isnan(pure.seconds)
    assert np.isnan(pure.apart)


def test_too_few_rounds_are_said_so(small):
    graph, _, sharing = small
    _, after = changed(small)["an application arrives"]
    calm = calm_down(graph, sharing, Market(), PROPORTIONAL, 60)
    found = recover(graph, calm, after, Market(), PROPORTIONAL, 1)
    assert found.rounds is None
    assert np.isnan(found.seconds)
    assert found.apart <= 1e-9


def test_only_markets_say_what_is_kept(small):
    graph, _, sharing = small
    with pytest.raises(SimpluginError, match="Gradient has no state to keep"):
        churn(graph, sharing, sharing, Gradient())


def test_those_who_stay_keep_their_wishes(small):
    _, sharing = changed(small)["an application arrives"]
    calm = calm_down(small[0], small[2], Market(), PROPORTIONAL, 9, simulated=False)
    kept = without_strangers(
        small[2], sharing, carried_over(small[2], calm.state, sharing, PROPORTIONAL)
    )
    old = np.sort(calm.state.wish[calm.state.wish != 0])
    np.testing.assert_array_equal(np.sort(kept.wish[kept.wish != 0]), old)


def converged(sharing: Sharing) -> MarketState:
    """Return the state after many rounds."""
    method = AcceleratedMarket()
    state = method.start(sharing, PROPORTIONAL)
    for _ in range(250):
        state = method.round(sharing, PROPORTIONAL, state)
    return state.market


def back(sharing: Sharing, state: MarketState) -> float:
    """Return the rounds until every throughput is within 1 % again."""
    found = iterate(
        AcceleratedMarket(), sharing, PROPORTIONAL, 300, start=accelerated(state), prices=False
    )
    rounds = settled(throughput_error(found, fair_sharing(sharing).throughput), 0.01)
    return np.inf if rounds is None else rounds


def without_host(problem: Instance, state: MarketState) -> Sharing:
    """Return the problem without the busiest host at the edge that is no master."""
    sharing, graph = problem.sharing, problem.graph
    forwards = set(sharing.host[sharing.father[sharing.father >= 0]].tolist())
    masters = {application.master for application in problem.applications}
    load = sharing.host_load(state.rate)
    edge = [
        host
        for host in range(graph.n_hosts)
        if host not in forwards and graph.hosts[host] not in masters
    ]
    gone = max(edge, key=lambda host: float(load[host]))
    kept = (graph.source != gone) & (graph.destination != gone)
    place = np.cumsum(np.arange(graph.n_hosts) != gone) - 1
    smaller = Graph(
        tuple(name for host, name in enumerate(graph.hosts) if host != gone),
        np.delete(graph.speed, gone),
        place[graph.source[kept]],
        place[graph.destination[kept]],
        graph.bandwidth[kept],
        graph.latency[kept],
    )
    return deploy(smaller, problem.applications)


def test_nothing_is_lost_when_nothing_changes() -> None:
    sharing = instance(4).sharing
    state = converged(sharing)
    resumed = carried_over(sharing, state, sharing, PROPORTIONAL)
    for name in ("wish", "metric", "offer", "plan", "paid", "price", "reached", "slack", "share"):
        assert getattr(resumed, name) == pytest.approx(getattr(state, name), rel=1e-12, abs=1e-300)
    assert back(sharing, resumed) <= 1


def test_a_host_leaves() -> None:
    found = []
    for number in NUMBERS:
        problem = instance(number)
        state = converged(problem.sharing)
        after = without_host(problem, state)
        found.append(back(after, carried_over(problem.sharing, state, after, PROPORTIONAL)))
    assert np.median(found) <= 15
    assert max(found) < np.inf


def test_an_application_arrives() -> None:
    found = []
    for number in NUMBERS:
        problem = instance(number)
        before = problem.sharing
        state = converged(before)
        new = random_applications(
            problem.graph,
            1,
            SPREADS[problem.spread],
            np.random.default_rng(number),
            first=before.n_applications,
        )
        after = deploy(problem.graph, (*problem.applications, *new))
        resumed = carried_over(before, state, after, PROPORTIONAL)
        # Who was there keeps its wishes, who is new has none.
        old = np.isin(after.application, np.arange(before.n_applications))
        assert np.all(resumed.wish[:, ~old] == 0)
        assert np.sort(resumed.wish[:, old], axis=1) == pytest.approx(np.sort(state.wish, axis=1))
        found.append(back(after, resumed))
    assert np.median(found) <= 20
    assert max(found) < np.inf


def test_a_link_changes() -> None:
    sharing = instance(8).sharing
    state = converged(sharing)
    busiest = int(np.argmax(state.link_price * sharing.bandwidth))
    bandwidth = sharing.bandwidth.copy()
    bandwidth[busiest] /= 2
    after = replace(sharing, bandwidth=bandwidth)
    assert 0 < back(after, carried_over(sharing, state, after, PROPORTIONAL)) < 100


def test_the_report_s_start_does_no_lasting_harm() -> None:
    # Table 1: 6e5 tasks/s at every agent, and all prices 0.02.
    for number in (0, 4, 8, 11):
        sharing = instance(number).sharing
        state = begun_from(
            sharing,
            PROPORTIONAL,
            np.full(sharing.n_agents, 6e5),
            np.full(sharing.n_hosts, 0.02),
            np.full(sharing.n_links, 0.02),
        )
        # Within reason: see the bounds in the docstring.
        alone = state.slots.alone
        assert np.all(
            sharing.throughput(state.rate) <= alone / sharing.n_applications * (1 + 1e-12)
        )
        assert np.all(state.paid <= (sharing.n_applications / alone)[sharing.application] * 1.0001)
        assert back(sharing, state) < np.inf


def test_a_good_start_is_kept() -> None:
    # Rates and prices at the optimum of applications that each have a host of their own.
    graph = Graph.duplex("ab", np.array([3.0, 5.0]), np.array([[0, 1]]), np.array([1.0]))
    sharing = deploy(
        graph, random_applications(graph, 1, SPREADS["mild"], np.random.default_rng(0))
    )
    alone = float(
        begun_from(sharing, PROPORTIONAL, np.zeros(2), np.zeros(2), np.zeros(2)).slots.alone[0]
    )
    best = fair_sharing(sharing)
    state = begun_from(sharing, PROPORTIONAL, best.rate, best.host_price, best.link_price)
    assert sharing.throughput(state.rate) == pytest.approx([alone], rel=1e-9)
    assert state.host_price == pytest.approx(best.host_price, rel=1e-9)


@pytest.mark.parametrize("relaxation", [0.2, 0.3])
def test_late_plans_slow_down_but_do_not_diverge(relaxation: float) -> None:
    for number in (4, 8, 11):
        sharing = instance(number).sharing
        best = fair_sharing(sharing).throughput
        found = iterate(DelayedMarket(5, relaxation), sharing, PROPORTIONAL, 700, prices=False)
        error = throughput_error(found, best)
        assert settled(error, 0.01) is not None
        assert error[-1] < 1e-3


def test_no_delay_is_the_market() -> None:
    sharing = instance(8).sharing
    late = iterate(DelayedMarket(0, 1.0), sharing, PROPORTIONAL, 30).throughput
    assert late == pytest.approx(
        iterate(Market(1.0), sharing, PROPORTIONAL, 30).throughput, rel=1e-6
    )
