"""Roles that go on with the state of a pure iteration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simplugin.pricing.actors.neighbourhood import neighbourhoods
from simplugin.pricing.actors.roles import cast, taken_over
from simplugin.pricing.policies.acceleration import AcceleratedMarket
from simplugin.pricing.policies.market import Market
from simplugin.workloads import AlphaFair

PROPORTIONAL = AlphaFair(1.0)


def state_after(method, sharing, rounds):
    state = method.start(sharing, PROPORTIONAL)
    for _ in range(rounds):
        state = method.round(sharing, PROPORTIONAL, state)
    return state


def test_each_role_has_its_own_part_only(uneven):
    method = AcceleratedMarket()
    state = state_after(method, uneven, 12)
    twisted = replace(
        state,
        market=replace(
            state.market, request=state.market.request * 2, price=state.market.price * 2
        ),
    )
    roles, around = cast(method, PROPORTIONAL, 3), neighbourhoods(uneven)
    own, other = (taken_over(method, uneven, each) for each in (state, twisted))
    for seat in around.agents:
        one, two = own(roles.agent(seat)), other(roles.agent(seat))
        assert [slot.request * 2 for slot in one.slots] == [slot.request for slot in two.slots]
        assert bool(one.products) == (seat.father is None)
        # Numbers of its own, whatever the size of the deployment.
        assert all(len(pair) == 2 for pair in (*one.requests, *one.residuals))
    for desk in around.managers:
        one, two = own(roles.manager(desk)), other(roles.manager(desk))
        assert one.price * 2 == two.price


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
                for name in ("request", "metric", "offer", "plan", "paid")
            },
            price=np.where(np.isin(resources, list(uses)), state.price, -7.0),
            balance=np.full(len(resources), -7.0),
            reached=np.where(
                np.arange(uneven.n_applications) == uneven.application[agent], state.reached, -7.0
            ),
        )
        taken = [taken_over(method, uneven, each)(roles.agent(seat)) for each in (state, foreign)]
        assert taken[0] == taken[1]
