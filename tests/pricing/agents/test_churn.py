"""Actors go on with what all knew, between any two rounds and through changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simplugin.errors import SimpluginError, WorkloadError
from simplugin.papers.bertin.churn import (
    begun_from,
    calm_down,
    carried_over,
    churn,
    recover,
    resumed,
    without_strangers,
)
from simplugin.platforms.graphs import Graph
from simplugin.pricing.actors.neighbourhood import neighbourhoods
from simplugin.pricing.actors.roles import cast, taken_over
from simplugin.pricing.changes import reachable
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import negotiate
from simplugin.pricing.instances import instance
from simplugin.pricing.iteration import iterate
from simplugin.pricing.policies.acceleration import AcceleratedMarket, accelerated
from simplugin.pricing.policies.gradient import Gradient, Reading
from simplugin.pricing.policies.market import Market
from simplugin.workloads import AlphaFair, Application

PROPORTIONAL = AlphaFair(1.0)
MARKETS = {"market": Market(), "accelerated": AcceleratedMarket()}
METHODS = {
    "scaled": Gradient(),
    "late": Gradient(reading=Reading(late=True)),
    "seidel": Gradient(reading=Reading(seidel=True, late=True)),
    **MARKETS,
}
MORE = Application("new", "E", 3000, 700)


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


@pytest.mark.parametrize("name", METHODS)
def test_actors_go_on_in_the_middle(deployment, name):
    platform, _, sharing = deployment
    state = state_after(METHODS[name], sharing, 7)
    assert_goes_on(platform, sharing, METHODS[name], state)


def test_actors_go_on_between_mixed_rounds_and_after_one_that_is_undone():
    case = instance(36)
    graph, sharing = case.graph, case.sharing
    method = AcceleratedMarket()
    mixed, stays = [], []
    state = method.start(sharing, PROPORTIONAL)
    for number in range(45):
        after = method.round(sharing, PROPORTIONAL, state)
        if state.plain is not None:
            mixed.append(number)
            if after.market.offer is state.market.offer:
                stays.append(number + 1)
        state = after
    assert mixed
    assert stays
    for number in (mixed[0], mixed[-1], stays[0] - 1, stays[0]):
        assert_goes_on(graph, sharing, method, state_after(method, sharing, number))


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


CHANGES = (
    "a leaf host leaves",
    "a host that forwards leaves",
    "an application arrives",
    "an application ends",
    "a link gets slower",
)


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
def test_actors_go_on_from_a_bad_start(deployment, name):
    platform, _, sharing = deployment
    bad = begun_from(
        sharing,
        PROPORTIONAL,
        np.full(sharing.n_agents, 6e5),
        np.full(sharing.n_hosts, 0.02),
        np.full(sharing.n_links, 0.02),
    )
    state = bad if name == "market" else accelerated(bad)
    assert_goes_on(platform, sharing, MARKETS[name], state)


@pytest.mark.parametrize("name", MARKETS)
@pytest.mark.parametrize("change", CHANGES[::2])
def test_actors_come_back_to_the_new_optimum(small, name, change):
    graph, _, sharing = small
    platform, after = changed(small)[change]
    found = churn(graph, sharing, after, MARKETS[name], PROPORTIONAL, (60, 150), changed=platform)
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
    arrival = churn(graph, one, both, Market(), PROPORTIONAL)
    np.testing.assert_allclose(arrival.trajectory.throughput[0], [1e6, 0.0], rtol=1e-6)
    np.testing.assert_allclose(arrival.trajectory.throughput[-1], [5e5, 5e5], rtol=1e-6)
    departure = churn(graph, both, one, Market(), PROPORTIONAL)
    np.testing.assert_allclose(departure.trajectory.throughput[0], [5e5], rtol=1e-6)
    np.testing.assert_allclose(departure.trajectory.throughput[-1], [1e6], rtol=1e-6)
    assert arrival.rounds
    assert departure.rounds


def test_time_counts_from_the_change_and_has_the_sweeps_that_tell_bounds():
    graph = Graph.duplex("ab", np.array([1e9, 1e9]), [(0, 1)], 1e12, 0.5)
    applications = [Application("k", "a", 1000.0, 1.0), Application("l", "a", 500.0, 1.0)]
    one, both = deploy(graph, applications[:1]), deploy(graph, applications)
    found = churn(graph, one, both, Market(), PROPORTIONAL)
    # Bounds and then each round take one message up and one down. The link's manager is on b.
    assert found.rounds
    assert found.seconds == pytest.approx(1.0 + found.rounds * 1.0, rel=1e-6)


def test_without_actors_rounds_are_the_same(small):
    graph, _, sharing = small
    _, after = changed(small)["a leaf host leaves"]
    args = graph, sharing, after, Market(), PROPORTIONAL, (60, 150)
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


def test_each_role_has_its_own_part_only(uneven):
    method = AcceleratedMarket()
    state = state_after(method, uneven, 12)
    twisted = replace(
        state,
        market=replace(state.market, wish=state.market.wish * 2, price=state.market.price * 2),
    )
    roles, around = cast(method, PROPORTIONAL, 3), neighbourhoods(uneven)
    own, other = (taken_over(method, uneven, each) for each in (state, twisted))
    for seat in around.agents:
        one, two = own(roles.agent(seat)), other(roles.agent(seat))
        assert [slot.wish * 2 for slot in one.slots] == [slot.wish for slot in two.slots]
        assert bool(one.products) == (seat.father is None)
        # Numbers of its own, whatever the size of the deployment.
        assert all(len(pair) == 2 for pair in (*one.wishes, *one.residuals))
    for desk in around.managers:
        one, two = own(roles.manager(desk)), other(roles.manager(desk))
        assert one.price * 2 == two.price


def test_a_state_of_another_method_or_deployment_is_refused(small, uneven):
    graph, _, sharing = small
    state = state_after(Market(), sharing, 1)
    with pytest.raises(WorkloadError, match="Gradient cannot go on from a MarketState"):
        negotiate(graph, sharing, Gradient(), 1, PROPORTIONAL, start=state)
    with pytest.raises(WorkloadError, match="not of this deployment"):
        negotiate(graph, sharing, Market(), 1, PROPORTIONAL, start=state_after(Market(), uneven, 1))


def test_only_markets_say_what_is_kept(small):
    graph, _, sharing = small
    with pytest.raises(SimpluginError, match="Gradient does not say what is kept"):
        churn(graph, sharing, sharing, Gradient(), PROPORTIONAL)


def test_those_who_stay_keep_their_wishes(small):
    _, sharing = changed(small)["an application arrives"]
    calm = calm_down(small[0], small[2], Market(), PROPORTIONAL, 9, simulated=False)
    kept = without_strangers(
        small[2], sharing, carried_over(small[2], calm.state, sharing, PROPORTIONAL)
    )
    old = np.sort(calm.state.wish[calm.state.wish != 0])
    np.testing.assert_array_equal(np.sort(kept.wish[kept.wish != 0]), old)


def test_who_takes_over_gets_nothing_of_others(uneven):
    method = Market()
    state = state_after(method, uneven, 5)
    roles, around = cast(method, PROPORTIONAL, 3), neighbourhoods(uneven)
    numbers = np.arange(uneven.n_agents)
    resources = np.arange(uneven.n_hosts + uneven.n_links)
    for seat in around.agents:
        agent = seat.number
        mine = numbers == agent
        uses = {uneven.host[agent], uneven.n_hosts + uneven.link[agent]}
        foreign = replace(
            state,
            **{
                name: np.where(mine, getattr(state, name), -7.0)
                for name in ("wish", "metric", "offer", "plan", "paid")
            },
            price=np.where(np.isin(resources, list(uses)), state.price, -7.0),
            balance=np.full(len(resources), -7.0),
            reached=np.where(
                np.arange(uneven.n_applications) == uneven.application[agent], state.reached, -7.0
            ),
        )
        taken = [taken_over(method, uneven, each)(roles.agent(seat)) for each in (state, foreign)]
        assert taken[0] == taken[1]
