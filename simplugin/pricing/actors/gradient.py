"""Decisions of agents and managers in a round of the report: Algorithms 3 and 4.

A round is a sweep up the application's tree and one down it. Up goes the flow, the sum of the
rates at an agent and below it (with the number of agents that compute there, once). Down come
the price of a byte from the master to the parent, and the application's throughput. Managers
receive loads, and the denominators of Eqs. (17) and (18), and answer with prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from simplugin.core.errors import SimpluginError
from simplugin.pricing.actors.delivery import CLOCK, SENSOR, Message, News, Posts, Role
from simplugin.pricing.actors.neighbourhood import (
    ABOVE,
    BELOW,
    AgentNeighbourhood,
    ManagerNeighbourhood,
)
from simplugin.pricing.policies.gradient import (
    AgentSteps,
    Gradient,
    GradientAssumptions,
    inverse_marginal,
    next_memory,
    next_plain_price,
    next_plain_rate,
    next_price,
    next_rate,
)
from simplugin.workloads.shared_deployment import AlphaFair


@dataclass(slots=True)
class GradientAgent(Role):
    """An application's agent between two decisions.

    Attributes
    ----------
    seat : AgentSeat
        Its initial knowledge.
    scaled, reading : bool, Reading
        The rule of its application.
    steps : AgentSteps
        Its own step sizes, those of its application.
    utility : AlphaFair
        Of its application.
    rounds : int
        Number of rounds.
    rate, memory : float
        Its rate, and its augmented rate [tasks/s].
    flow, count : float
        Rate [tasks/s], and number of agents that compute, at it and below it.
    latest, received : float
        Throughput that it received last, and the one that it uses: the one before if the
        method is late [tasks/s].
    waits : bool
        True if rounds are synchronous.
    away : bool
        True if it is cut off from its master; without rounds only.
    news : News
        The last messages; without rounds only.
    """

    seat: AgentNeighbourhood
    scaled: bool
    reading: GradientAssumptions
    steps: AgentSteps
    utility: AlphaFair
    rounds: int
    rate: float = 0.0
    memory: float = 0.0
    flow: float = 0.0
    count: float = 0.0
    latest: float = -1.0
    received: float = 0.0
    waits: bool = True
    away: bool = True
    news: News = field(default_factory=News)

    @property
    def value(self) -> float:
        """Its rate."""
        return self.rate

    @property
    def shares(self) -> tuple[float, ...]:
        """Its rate, and the flows into its children' subtrees; without rounds only."""
        last = self.news.last
        known = [
            last[child.number][2] if child.number in last else 0.0 for child in self.seat.children
        ]
        return (self.rate, *(0.0 if self.away else flow for flow in known))


@dataclass(slots=True)
class GradientManager(Role):
    """The price manager of a host or link between two decisions.

    Attributes
    ----------
    seat : ManagerSeat
        Its initial knowledge.
    scaled : bool
        The rule of prices.
    step : float
        Its own step size.
    rounds : int
        Number of rounds.
    price : float
        Of its resource [utility/flop] or [utility/byte].
    news : News
        The last messages; without rounds only.
    """

    seat: ManagerNeighbourhood
    scaled: bool
    step: float
    rounds: int
    price: float = 0.0
    news: News = field(default_factory=News)

    @property
    def value(self) -> float:
        """Its price."""
        return self.price


def check(method: Gradient) -> None:
    """Raise if a reading of the equations needs a third sweep in each round."""
    if method.reading.seidel and method.reading.fresh and method.scaled:
        raise SimpluginError(
            "prices cannot see the throughput of the new rates in the round that makes them"
            " without a third sweep; take a Reading that is not both seidel and fresh"
        )


def new_agent(
    method: Gradient, utility: AlphaFair, rounds: int, seat: AgentNeighbourhood
) -> GradientAgent:
    """Return the first state of an agent."""
    steps = method.steps.of_agents(seat.application)
    rate = float(steps.start_rate) if seat.computes else 0.0
    rule = method.scaled, method.reading, steps
    return GradientAgent(seat, *rule, utility, rounds, rate=rate, memory=rate)


def new_manager(method: Gradient, rounds: int, seat: ManagerNeighbourhood) -> GradientManager:
    """Return the first state of a manager."""
    step, price = method.steps.of_resource(seat.resource, is_host=seat.is_host)
    return GradientManager(seat, method.scaled, step, rounds, price=price)


def agent_decides(state: GradientAgent, messages: Sequence[Message]) -> tuple[GradientAgent, Posts]:
    """Return an agent's state and messages after those that it waited for (Algorithm 3)."""
    posts: Posts = []
    seat = state.seat
    if state.round == 0 and state.side == BELOW and seat.children and not messages:
        state.wait(BELOW, seat.children)
        return state, posts
    # Prices of the last round may need the flows of the last rates.
    final = BELOW if state.reading.seidel else ABOVE
    while True:
        received = {message[0]: message for message in messages}
        side = state.side
        if side == BELOW:
            _rise(state, received, posts)
            state.wait(ABOVE, seat.above)
        else:
            _descend(state, received, posts)
            state.wait(BELOW, seat.children)
        state.over = state.round == state.rounds and side == final
        if state.over or state.local or state.remote:
            return state, posts
        messages = ()


def _rise(state: GradientAgent, received: dict[int, Message], posts: Posts) -> None:
    """Add up the flow, and send it up."""
    seat = state.seat
    state.flow = state.rate
    children = [received[child.number] for child in seat.children if child.number in received]
    for message in children:
        state.flow += message[2]
    numbers: Message = (seat.number, state.round, state.flow)
    if state.round == 0 or not state.waits:
        state.count = float(seat.computes)
        for message in children:
            state.count += message[3]
        numbers = (*numbers, state.count)
    if seat.parent is not None:
        posts.append((seat.parent, numbers))
    if state.reading.seidel and state.round:
        _give_loads(state, state.received, posts)


def _descend(state: GradientAgent, received: dict[int, Message], posts: Posts) -> None:
    """Pass on the path's price and the throughput, then update the rate."""
    seat, reading = state.seat, state.reading
    price, throughput = 0.0, state.flow
    if seat.parent is not None and seat.link_manager is not None:
        _, _, price, throughput = received[seat.parent.number]
        price += received[seat.link_manager.number][2]
    down = seat.number, state.round, price, throughput
    posts += [(child, down) for child in seat.children]
    state.received = state.latest if reading.late and state.latest >= 0 else throughput
    state.latest = throughput
    state.round += 1
    if not reading.seidel:
        _give_loads(state, throughput if reading.fresh else state.received, posts)
    if seat.host_manager is not None:
        _update(state, seat.byte * price + seat.flop * received[seat.host_manager.number][2])


def _give_loads(state: GradientAgent, throughput: float, posts: Posts) -> None:
    """Send the managers loads and terms of their denominators."""
    seat = state.seat
    inverse = inverse_marginal(throughput, seat.weight, state.utility.alpha)
    tag = seat.number, state.round
    if seat.host_manager is not None:
        demand = (seat.flop * seat.flop * inverse,) if state.scaled else ()
        posts.append((seat.host_manager, (*tag, seat.flop * state.rate, *demand)))
    if seat.link_manager is not None:
        count = state.count if state.reading.counted else 1.0
        demand = (count * (seat.byte * seat.byte * inverse),) if state.scaled else ()
        posts.append((seat.link_manager, (*tag, seat.byte * state.flow, *demand)))


def _update(state: GradientAgent, price: float) -> None:
    """Update the rate for a price of a task, Eqs. (11) and (16), or (12)."""
    seat, steps = state.seat, state.steps
    before = state.rate
    if state.reading.normalised:
        inverse = inverse_marginal(state.received, seat.weight, state.utility.alpha)
        state.rate = float(next_rate(before, state.memory, price, inverse, steps))
    else:
        marginal = seat.weight * state.utility.marginal(max(state.received, float(steps.least)))
        state.rate = float(next_plain_rate(before, state.memory, price, marginal, steps))
    state.memory = float(next_memory(before, state.memory, steps))


def agent_ticks(state: GradientAgent, messages: Sequence[Message]) -> tuple[GradientAgent, Posts]:
    """Return the same without rounds: once a period, on the last messages."""
    seat, posts = state.seat, list[Any]()
    received = state.news.take(messages)
    here = seat.parent is not None or seat.start <= received[CLOCK][2] < seat.end
    if here and all(each.number in received for each in seat.above):
        if state.away:
            state.rate = state.memory = float(state.steps.start_rate) if seat.computes else 0.0
        _rise(state, received, posts)
        _descend(state, received, posts)
        state.away = False
    elif not state.away:
        # It is cut off from its master, as are all below it.
        posts += [(each, (seat.number, state.round)) for each in (*seat.children, *seat.managers)]
        state.rate = state.memory = 0.0
        state.away = True
    return state, posts


def manager_ticks(
    state: GradientManager, messages: Sequence[Message]
) -> tuple[GradientManager, Posts]:
    """Return the same for a manager."""
    _price(state, state.news.take(messages))
    state.round += 1
    price = (state.seat.number, state.round, state.price)
    return state, [(member, price) for member in state.seat.members]


def manager_decides(
    state: GradientManager, messages: Sequence[Message]
) -> tuple[GradientManager, Posts]:
    """Return a manager's state and messages after the loads of a round (Algorithm 4)."""
    if state.local or state.remote:
        _price(state, {message[0]: message for message in messages})
        state.round += 1
    members = state.seat.members
    state.wait(BELOW, members)
    state.over = state.round == state.rounds
    if state.over:
        return state, []
    price = state.seat.number, state.round, state.price
    return state, [(member, price) for member in members]


def _price(state: GradientManager, received: dict[int, Message]) -> None:
    """Update the price for the loads that are known."""
    capacity = received[SENSOR][2]
    # In order, without the compensation of Python 3.12's own sum.
    load = demand = 0.0
    for member in state.seat.members:
        if message := received.get(member.number):
            load += message[2]
            demand += message[3] if state.scaled else 0.0
    if state.scaled:
        state.price = float(next_price(state.price, load, capacity, demand, state.step))
    else:
        state.price = float(next_plain_price(state.price, load, capacity, state.step))
