"""Agents and managers know what a message brought, and nothing else.

Decisions run here without SimGrid, on their own: each is asked when the messages that it waits
for have come, and every message takes one step.
"""

import pickle
from collections import defaultdict
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from simplugin.pricing.actors.delivery import decide
from simplugin.pricing.method import CLOCK, SENSOR
from simplugin.pricing.methods import AcceleratedMarket, Gradient, Market
from simplugin.pricing.neighbourhood import inbox, neighbourhoods
from simplugin.pricing.policies.gradient import GradientAssumptions, StepSizes
from simplugin.workloads import AlphaFair

# Close to where they end, as rates that are all 0 would not differ.
STEPS = StepSizes(start_rate=5e5, start_host_price=1e-9, start_link_price=1e-9, host=0.2, link=0.2)
SMALL = replace(STEPS, host=1e-19, link=1e-19)
METHODS = {
    "unscaled": Gradient(scaled=False, steps=SMALL),
    "scaled": Gradient(steps=STEPS),
    "seidel": Gradient(steps=STEPS, reading=GradientAssumptions(seidel=True)),
    "market": Market(),
    "accelerated": AcceleratedMarket(),
}
ROUNDS = 7
PERIODS = 25


class Stage:
    """All roles of a deployment, and the messages on their way."""

    def __init__(self, sharing, method):
        self.capacity = np.concatenate([sharing.speed, sharing.bandwidth])
        self.n_agents = sharing.n_agents
        roles, around = self.roles(method), neighbourhoods(sharing)
        self.states = {seat.number: roles.agent(seat) for seat in around.agents}
        self.states |= {seat.number: roles.manager(seat) for seat in around.managers}
        self.partners = {desk.number: desk.members for desk in around.managers}
        for seat in around.agents:
            near = (*seat.above, seat.relay, *seat.children, *seat.served)
            self.partners[seat.number] = [each for each in near if each]

    def roles(self, method):
        return method.roles(AlphaFair(1.0), ROUNDS)

    def decide(self, number, messages):
        """Return the role before (pickled), its messages, and its posts."""
        if number >= self.n_agents:
            messages = [*messages, (SENSOR, 0, float(self.capacity[number - self.n_agents]))]
        before = pickle.dumps(self.states[number])
        return before, messages, self.decision(self.states[number], messages)

    def decision(self, role, messages):
        return decide(role, messages)

    def steps(self):
        """Yield step, number, role before (pickled), messages and posts of each decision."""
        boxes = defaultdict(list)
        ready = dict.fromkeys(self.states, ())
        step = 0
        while ready:
            posted = []
            for number, given in ready.items():
                before, messages, posts = self.decide(number, list(given))
                yield step, number, before, messages, posts
                posted += posts
            for address, message in posted:
                boxes[address.name].append(message)
            ready, step = {}, step + 1
            for number, state in self.states.items():
                box = boxes[inbox(number, state.side)]
                needed = state.local + state.remote
                if not state.over and needed and len(box) >= needed:
                    ready[number] = tuple(box[:needed])
                    del box[:needed]

    def distances(self, sources):
        """Return over how many messages each role is from the nearest of some."""
        found = dict.fromkeys(sources, 0)
        queue = list(sources)
        for number in queue:
            for other in self.partners[number]:
                if other.number not in found:
                    found[other.number] = found[number] + 1
                    queue.append(other.number)
        return found


class PeriodicStage(Stage):
    """The same where all decide in each step, on what has come by then."""

    def roles(self, method):
        return method.periodic_roles(AlphaFair(1.0), 5)

    def decision(self, role, messages):
        return role.decide(messages)

    def steps(self):
        boxes = defaultdict(list)
        for step in range(PERIODS):
            posted = []
            for number in self.states:
                given = [*boxes.pop(number, ()), (CLOCK, 0, float(step))]
                before, messages, posts = self.decide(number, given)
                yield step, number, before, messages, posts
                posted += posts
            for address, message in posted:
                boxes[address.number].append(message)


PERIODIC = {"periodic scaled": METHODS["scaled"], "periodic market": Market(0.5)}


@pytest.fixture(params=[*METHODS, *PERIODIC])
def stage_of(request):
    """Return what puts the roles of a deployment on a stage."""
    if request.param in PERIODIC:
        return partial(PeriodicStage, method=PERIODIC[request.param])
    return partial(Stage, method=METHODS[request.param])


def posted(stage):
    """Return what each role posted at each step."""
    return {
        (step, number): [(address.name, message) for address, message in posts]
        for step, number, _, _, posts in stage.steps()
    }


def assert_heard_in_time(stage, seen, other, sources):
    """Nobody speaks otherwise before a message can have told them of the difference."""
    assert seen.keys() == other.keys()
    distance = stage.distances(sources)
    reached = set()
    for (step, number), posts in seen.items():
        if posts != other[step, number]:
            assert step >= distance[number]
            reached.add(number)
    # The difference does reach others than neighbours, else this would show nothing.
    assert max(distance[number] for number in reached) >= 2


@pytest.mark.parametrize("change", ["capacity", "application"])
def test_a_change_is_news_no_earlier_than_messages_travel(deployment, stage_of, change):
    _, _, sharing = deployment
    if change == "capacity":
        last = int(sharing.host[np.flatnonzero(sharing.computes)[-1]])
        speed = np.where(np.arange(sharing.n_hosts) == last, 0.01, 1.0) * sharing.speed
        other, sources = replace(sharing, speed=speed), [sharing.n_agents + last]
    else:
        last = sharing.n_applications - 1
        factor = np.arange(last + 1) == last
        weight, flop = sharing.weight * (1 + 2 * factor), sharing.flop * (1 + 0.5 * factor)
        other = replace(sharing, weight=weight, flop=flop)
        sources = np.flatnonzero(sharing.application == last).tolist()
    stage = stage_of(sharing)
    assert_heard_in_time(stage, posted(stage), posted(stage_of(other)), sources)


def test_decisions_need_only_their_state_and_messages(uneven, stage_of):
    stage = stage_of(uneven)
    records = [
        (before, messages, pickle.dumps((stage.states[number], posts)))
        for _, number, before, messages, posts in stage.steps()
    ]
    assert len(records) > 100
    # In another order, and from copies: nothing is left over from other decisions.
    for index in np.random.default_rng(0).permutation(len(records)):
        before, messages, after = records[index]
        role = pickle.loads(before)
        posts = stage.decision(role, messages)
        assert (role, posts) == pickle.loads(after)


PROPORTIONAL = AlphaFair(1.0)


def state_after(method, sharing, rounds):
    state = method.start(sharing, PROPORTIONAL)
    for _ in range(rounds):
        state = method.round(sharing, PROPORTIONAL, state)
    return state


def resumed(role, state):
    role.resume(state)
    return role


def test_each_role_has_its_own_part_only(uneven):
    method = AcceleratedMarket()
    state = state_after(method, uneven, 12)
    twice = {name: 2 * getattr(state.market, name) for name in ("request", "price")}
    twisted = replace(state, market=replace(state.market, **twice))
    roles, around = method.roles(PROPORTIONAL, 3), neighbourhoods(uneven)
    for seat in around.agents:
        one, two = (resumed(roles.agent(seat), each) for each in (state, twisted))
        assert [slot.request * 2 for slot in one.slots] == [slot.request for slot in two.slots]
        assert bool(one.products) == (seat.parent is None)
        # Numbers of its own, whatever the size of the deployment.
        assert all(len(pair) == 2 for pair in (*one.requests, *one.residuals))
    for desk in around.managers:
        one, two = (resumed(roles.manager(desk), each) for each in (state, twisted))
        assert one.price * 2 == two.price


def test_who_takes_over_gets_nothing_of_others(uneven):
    method = Market()
    state = state_after(method, uneven, 5)
    roles, around = method.roles(PROPORTIONAL, 3), neighbourhoods(uneven)
    numbers = np.arange(uneven.n_agents)
    resources = np.arange(uneven.n_hosts + uneven.n_links)
    for seat in around.agents:
        agent = seat.number
        mine = numbers == agent
        uses = {uneven.host[agent], uneven.n_hosts + uneven.link[agent]}
        own = np.arange(uneven.n_applications) == uneven.application[agent]
        known = {name: mine for name in ("request", "metric", "offer", "plan", "paid")}
        known |= {"price": np.isin(resources, list(uses)), "balance": resources < 0, "reached": own}
        foreign = {name: np.where(its, getattr(state, name), -7.0) for name, its in known.items()}
        foreign = replace(state, **foreign)
        assert resumed(roles.agent(seat), state) == resumed(roles.agent(seat), foreign)
