"""Decisions of agents and managers in a round of the report: Algorithms 3 and 4.

A round is a sweep up the application's tree and one down it. Up goes the flow, the sum of the
rates at an agent and below it (with the number of agents that compute there, once). Down come
the price of a byte from the master to the parent, and the application's throughput. Managers
receive loads, and the denominators of Eqs. (17) and (18), and answer with prices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from simplugin.pricing.actors.delivery import News
from simplugin.pricing.method import CLOCK, SENSOR, Message, Posts, Role
from simplugin.pricing.neighbourhood import ABOVE, BELOW, AgentNeighbourhood, ManagerNeighbourhood
from simplugin.pricing.policies.gradient import (
    AgentSteps,
    GradientAssumptions,
    GradientState,
    inverse_marginal,
    next_memory,
    next_price,
    next_rate,
)
from simplugin.workloads.shared_deployment import AlphaFair


@dataclass(slots=True)
class GradientAgent(Role):
    """An application's agent between two decisions.

    Attributes
    ----------
    seat : AgentNeighbourhood
        Its initial knowledge.
    scaled, reading : bool, GradientAssumptions
        The rule of its application.
    steps : AgentSteps
        The step sizes of its application.
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
    """

    # False without rounds, where an agent does not wait and always sends `count`.
    waits: ClassVar[bool] = True

    seat: AgentNeighbourhood
    scaled: bool
    reading: GradientAssumptions
    steps: AgentSteps
    utility: AlphaFair
    rounds: int = 0
    rate: float = 0.0
    memory: float = 0.0
    flow: float = 0.0
    count: float = 0.0
    latest: float = -1.0
    received: float = 0.0

    @property
    def value(self) -> float:
        """Its rate."""
        return self.rate

    def enter(self) -> None:
        """Take the starting rate."""
        self.rate = self.memory = float(self.steps.start_rate) if self.seat.computes else 0.0

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Do one sweep's part of a round (Algorithm 3)."""
        posts: Posts = []
        children = self.seat.children
        if self.round == 0 and self.side == BELOW and children and not messages:
            self.wait(BELOW, children)
            return posts
        received = {message[0]: message for message in messages}
        side = self.side
        if side == BELOW:
            self.rise(received, posts)
            self.wait(ABOVE, self.seat.above)
        else:
            self.descend(received, posts)
            self.wait(BELOW, children)
        # Prices of the last round may need the flows of the last rates.
        final = BELOW if self.reading.seidel else ABOVE
        self.over = self.round == self.rounds and side == final
        return posts

    def rise(self, received: Mapping[int, Message], posts: Posts) -> None:
        """Add up the flow, and send it up."""
        seat = self.seat
        self.flow = self.rate
        children = [received[child.number] for child in seat.children if child.number in received]
        for message in children:
            self.flow += message[2]
        numbers: Message = (seat.number, self.round, self.flow)
        if self.round == 0 or not self.waits:
            self.count = float(seat.computes)
            for message in children:
                self.count += message[3]
            numbers = (*numbers, self.count)
        if seat.parent is not None:
            posts.append((seat.parent, numbers))
        if self.reading.seidel and self.round:
            self._give_loads(self.received, posts)

    def descend(self, received: Mapping[int, Message], posts: Posts) -> None:
        """Pass on the path's price and the throughput, then update the rate."""
        seat, reading = self.seat, self.reading
        price, throughput = 0.0, self.flow
        if seat.parent is not None and seat.link_manager is not None:
            _, _, price, throughput = received[seat.parent.number]
            price += received[seat.link_manager.number][2]
        down = seat.number, self.round, price, throughput
        posts += [(child, down) for child in seat.children]
        self.received = self.latest if reading.late and self.latest >= 0 else throughput
        self.latest = throughput
        self.round += 1
        if not reading.seidel:
            self._give_loads(throughput if reading.fresh else self.received, posts)
        if seat.host_manager is not None:
            self._update(seat.byte * price + seat.flop * received[seat.host_manager.number][2])

    def _give_loads(self, throughput: float, posts: Posts) -> None:
        """Send the managers loads and terms of their denominators."""
        seat = self.seat
        inverse = inverse_marginal(throughput, seat.weight, self.utility.alpha)
        tag = seat.number, self.round
        if seat.host_manager is not None:
            demand = (seat.flop * seat.flop * inverse,) if self.scaled else ()
            posts.append((seat.host_manager, (*tag, seat.flop * self.rate, *demand)))
        if seat.link_manager is not None:
            count = self.count if self.reading.counted else 1.0
            demand = (count * (seat.byte * seat.byte * inverse),) if self.scaled else ()
            posts.append((seat.link_manager, (*tag, seat.byte * self.flow, *demand)))

    def _update(self, price: float) -> None:
        """Update the rate for a price of a task, Eqs. (11) and (16), or (12)."""
        weight, steps, before = self.seat.weight, self.steps, self.rate
        if self.reading.normalised:
            inverse = inverse_marginal(self.received, weight, self.utility.alpha)
            pull = 1 - inverse * price
        else:
            marginal = weight * self.utility.marginal(max(self.received, float(steps.least)))
            pull = marginal - price
        self.rate = float(next_rate(before, self.memory, pull, steps))
        self.memory = float(next_memory(before, self.memory, steps))

    def inherit(self, old: GradientAgent) -> None:
        """Continue with the rates of the role before a failure."""
        self.rate, self.memory, self.latest = old.rate, old.memory, old.latest

    def resume(self, state: GradientState) -> None:
        """Take its rates and the throughput that it received from a state."""
        number = self.seat.number
        self.rate, self.memory = float(state.rate[number]), float(state.memory[number])
        self.latest = float(state.received[self.seat.application])


@dataclass(slots=True)
class PeriodicGradientAgent(GradientAgent):
    """An application's agent without rounds.

    Attributes
    ----------
    away : bool
        True if it is cut off from its master.
    news : News
        The last messages.
    """

    waits: ClassVar[bool] = False

    away: bool = True
    news: News = field(default_factory=News)

    @property
    def shares(self) -> tuple[float, ...]:
        """Its rate, and the flows into its children's subtrees."""
        last, children = self.news.last, self.seat.children
        flows = [last[child.number][2] if child.number in last else 0.0 for child in children]
        return (self.rate, *(0.0 if self.away else flow for flow in flows))

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Do both sweeps' parts, with the last messages."""
        seat = self.seat
        posts: Posts = []
        received = self.news.take(messages)
        here = seat.parent is not None or seat.start <= received[CLOCK][2] < seat.end
        if here and all(each.number in received for each in seat.above):
            if self.away:
                self.enter()
            self.rise(received, posts)
            self.descend(received, posts)
            self.away = False
        elif not self.away:
            # It is cut off from its master, as are all below it.
            farewell = seat.number, self.round
            posts += [(each, farewell) for each in (*seat.children, *seat.managers)]
            self.rate = self.memory = 0.0
            self.away = True
        return posts


@dataclass(slots=True)
class GradientManager(Role):
    """The price manager of a host or link between two decisions.

    Attributes
    ----------
    seat : ManagerNeighbourhood
        Its initial knowledge.
    scaled : bool
        The rule of prices.
    step : float
        Its step size.
    price : float
        Of its resource [utility/flop] or [utility/byte].
    rounds : int
        Number of rounds.
    """

    seat: ManagerNeighbourhood
    scaled: bool
    step: float
    price: float
    rounds: int = 0

    @property
    def value(self) -> float:
        """Its price."""
        return self.price

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Answer the loads of a round with a price (Algorithm 4)."""
        if self.local or self.remote:
            self.update({message[0]: message for message in messages})
        self.wait(BELOW, self.seat.members)
        self.over = self.round == self.rounds
        return [] if self.over else self.posts()

    def update(self, received: Mapping[int, Message]) -> None:
        """Update the price for the loads received."""
        capacity = received[SENSOR][2]
        # In order, without the compensation of Python 3.12's own sum.
        load, demand = 0.0, 0.0 if self.scaled else 1.0
        for member in self.seat.members:
            if message := received.get(member.number):
                load += message[2]
                if self.scaled:
                    demand += message[3]
        self.price = float(next_price(self.price, load, capacity, demand, self.step))
        self.round += 1

    def posts(self) -> Posts:
        """Return the price for each member."""
        message = self.seat.number, self.round, self.price
        return [(member, message) for member in self.seat.members]

    def inherit(self, old: GradientManager) -> None:
        """Continue with the price of the role before a failure."""
        self.price = old.price

    def resume(self, state: GradientState) -> None:
        """Take its price from a state."""
        prices = state.host_price if self.seat.is_host else state.link_price
        self.price = float(prices[self.seat.resource])


@dataclass(slots=True)
class PeriodicGradientManager(GradientManager):
    """The price manager of a host or link without rounds.

    Attributes
    ----------
    news : News
        The last messages.
    """

    news: News = field(default_factory=News)

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Answer the last loads with a price."""
        self.update(self.news.take(messages))
        return self.posts()
