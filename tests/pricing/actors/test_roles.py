"""Roles that go on with the state of a pure iteration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.platforms.graphs import Graph
from simplugin.pricing.actors.neighbourhood import neighbourhoods
from simplugin.pricing.actors.roles import cast, taken_over
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import negotiate
from simplugin.pricing.iteration import iterate
from simplugin.pricing.policies.acceleration import AcceleratedMarket
from simplugin.pricing.policies.gradient import Gradient, Reading
from simplugin.pricing.policies.market import Market
from simplugin.pricing.seeded_instances import instance
from simplugin.workloads import AlphaFair, Application

PROPORTIONAL = AlphaFair(1.0)
MARKETS = {"market": Market(), "accelerated": AcceleratedMarket()}
METHODS = {
    "scaled": Gradient(),
    "late": Gradient(reading=Reading(late=True)),
    "seidel": Gradient(reading=Reading(seidel=True, late=True)),
    **MARKETS,
}


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


def test_a_state_of_another_method_or_deployment_is_refused():
    graph = Graph.duplex("abc", np.ones(3), [(0, 1), (1, 2)], 1.0)
    sharing = deploy(graph, [Application("x", "a", 1.0, 1.0)])
    other = deploy(graph, [Application("x", "a", 1.0, 1.0), Application("y", "b", 1.0, 1.0)])
    state = state_after(Market(), sharing, 1)
    with pytest.raises(WorkloadError, match="Gradient cannot go on from a MarketState"):
        negotiate(graph, sharing, Gradient(), 1, PROPORTIONAL, start=state)
    with pytest.raises(WorkloadError, match="not of this deployment"):
        negotiate(graph, sharing, Market(), 1, PROPORTIONAL, start=state_after(Market(), other, 1))


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
