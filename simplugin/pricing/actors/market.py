r"""Decisions of agents and managers in a round of the market method.

Before round 1 managers send capacities, and in two sweeps every agent learns the throughput of its
application alone. A round then is an exchange of bids and a price with the managers, a sweep up
the tree (:math:`M`; and :math:`u v` when the metric has changed) and one down (:math:`\nu` and
the throughput). When the metric changes, managers send their balance after the residuals.

Agents that resume from a state have their part of it from the start, and learn the present bounds
of their resources in these first sweeps.

The letters, and the operations one by one, are those of `simplugin.pricing.policies.market`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from simplugin.core.elementary import power
from simplugin.core.errors import InfeasibleError
from simplugin.pricing.actors.market_slots import MetricSchedule, Slot
from simplugin.pricing.method import SENSOR, Message, Posts, Role
from simplugin.pricing.neighbourhood import (
    ABOVE,
    BELOW,
    AgentNeighbourhood,
    Circle,
    ManagerNeighbourhood,
)
from simplugin.pricing.policies.market import (
    LEAST,
    MEMORY,
    REBALANCE,
    STRENGTH,
    MarketIteration,
    MarketState,
    best_throughput,
)
from simplugin.workloads.shared_deployment import AlphaFair

Received = dict[int, Message]
# Handles the messages that an agent waits for, by their senders.
Phase = Callable[[Any, Received], None]


@dataclass(slots=True)
class MarketAgent(Role):
    r"""An application's agent between two decisions.

    Attributes
    ----------
    method : MarketIteration
        The rule of its application.
    utility : AlphaFair
        Of its application.
    rounds : int
        Number of rounds.
    seat : AgentNeighbourhood
        Its initial knowledge.
    computing, receiving : Slot or None
        Its slots.
    slots : tuple of Slot
        Those that it has.
    phase : callable
        The method that handles the next messages.
    posts : list
        The messages of its present decision.
    schedule : MetricSchedule
        When the metric changes.
    changed : bool
        True if it has changed since the last sweep.
    alone, reached : float
        Throughput of the application alone, and its last one [tasks/s].
    below : float
        Maximum rate at it and below it [tasks/s].
    middle, slack, share, nu : float
        :math:`m`, :math:`u`, :math:`v` and :math:`\nu` of its subtree.
    yields : dict of int to float
        The :math:`u v` of each child.
    part : float
        Part of its offer that it computes, see `MarketIteration`.
    """

    method: MarketIteration
    utility: AlphaFair
    rounds: int
    seat: AgentNeighbourhood
    computing: Slot | None = field(init=False)
    receiving: Slot | None = field(init=False)
    slots: tuple[Slot, ...] = field(init=False)
    phase: Phase = field(init=False)
    posts: Posts = field(default_factory=list)
    schedule: MetricSchedule = field(default_factory=MetricSchedule)
    changed: bool = True
    alone: float = 0.0
    reached: float = 0.0
    below: float = 0.0
    middle: float = 0.0
    slack: float = 0.0
    share: float = 1.0
    nu: float = 0.0
    yields: dict[int, float] = field(default_factory=dict)
    part: float = 1.0

    def __post_init__(self) -> None:
        """Make the slots."""
        seat = self.seat
        self.computing = Slot(seat.host_manager, seat.flop) if seat.host_manager else None
        self.receiving = Slot(seat.link_manager, seat.byte) if seat.link_manager else None
        self.slots = tuple(slot for slot in (self.computing, self.receiving) if slot)
        self.phase = MarketAgent._start

    @property
    def value(self) -> float:
        """Its rate: the host market's offer, or the part that its links carry."""
        return self.computing.offer * self.part if self.computing else 0.0

    @property
    def worth(self) -> tuple[float, float]:
        """The marginal utility of the application's throughput, and the throughput, in bounds."""
        reached = min(max(self.reached, LEAST * self.alone), self.alone)
        return self.seat.weight * marginal(self.utility.alpha, reached), reached

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Handle the messages of one phase."""
        self.posts = []
        self.phase(self, {message[0]: message for message in messages})
        return self.posts

    def expect(self, side: str, senders: Circle, phase: Phase) -> None:
        """Wait for one message of each sender, and handle them by a phase."""
        self.wait(side, senders)
        self.phase = phase

    def _start(self, _: Received) -> None:
        """Wait for the capacities of the managers."""
        self.expect(ABOVE, self.seat.managers, MarketAgent._capacities)

    def _capacities(self, received: Received) -> None:
        """Note the bounds of its resources."""
        for slot in self.slots:
            capacity = received[slot.manager.number][2]
            slot.bound = capacity / slot.task if slot.task > 0 else math.inf
        self.expect(BELOW, self.seat.children, MarketAgent._bounds)

    def _bounds(self, received: Received) -> None:
        """Add up the maximum rates below, and send the sum up."""
        seat = self.seat
        self.below = self.computing.bound if self.computing else 0.0
        for child in seat.children:
            self.below += received[child.number][2]
        if seat.parent and self.receiving:
            below = min(self.below, self.receiving.bound)
            self.posts.append((seat.parent, (seat.number, 0, below)))
        self.expect(ABOVE, seat.parents, MarketAgent._enter)

    def _enter(self, received: Received) -> None:
        """Note the throughput of the application alone, and begin to bid."""
        seat, across = self.seat, math.inf
        if seat.parent and self.receiving:
            self.alone = received[seat.parent.number][2]
            across = self.receiving.bound
            self.alone = self.alone if across > 0 else 0.0
        else:
            self.alone = self.below
            if self.alone <= 0:
                raise InfeasibleError(
                    f"application number {seat.application} reaches no host that computes;"
                    " give it one"
                )
        self.posts += [(child, (seat.number, 0, self.alone)) for child in seat.children]
        self.reached = self.reached or self.alone
        open_ = self.alone > 0
        value = seat.weight * marginal(self.utility.alpha, self.alone) if open_ else 0.0
        if self.computing:
            self.computing.resume(self.computing.bound if open_ else 0.0, self.alone, value)
        if self.receiving:
            bounded = open_ and across < math.inf
            self.receiving.resume(min(self.below, across) if bounded else 0.0, self.alone, value)
        self.bid()

    def bid(self, *further: float) -> None:
        """Bid the managers; further numbers go with each bid."""
        tag = self.seat.number, self.round
        self.posts += [(slot.manager, (*tag, *slot.bid(), *further)) for slot in self.slots]
        self.expect(ABOVE, self.seat.managers, MarketAgent._offers)

    def _offers(self, received: Received) -> None:
        """Take the offers of the managers, steps 1 and 2."""
        for slot in self.slots:
            slot.take(received[slot.manager.number][2])
        self.expect(BELOW, self.seat.children, MarketAgent._rise)

    def _rise(self, received: Received) -> None:
        """Sum up the answers below, and send the sum up, step 3."""
        seat, feasible, children = self.seat, self.method.feasible, []
        flow = self.computing.offer if self.computing else 0.0
        for child in seat.children:
            sent, *more = received[child.number][2:]
            if feasible:
                flow += more.pop()
            if more:
                (self.yields[child.number],) = more
            children.append((sent, self.yields[child.number]))
        sent, yielded = self.add_up(children)
        if feasible:
            receiving = self.receiving
            passed = min(flow, receiving.offer if receiving and receiving.demand > 0 else math.inf)
            self.part, flow = passed / flow if flow > 0 else 1.0, passed
        if seat.parent:
            numbers = [sent, *[yielded] * self.changed, *[flow] * feasible]
            self.posts.append((seat.parent, (seat.number, self.round, *numbers)))
        self.changed = False
        self.expect(ABOVE, seat.parents, MarketAgent._descent)

    def _descent(self, received: Received) -> None:
        """Plan, and pass on the worth of a task, steps 4 and 5."""
        seat, above = self.seat, 0.0
        if seat.parent:
            above, self.reached, *parts = received[seat.parent.number][2:]
            self.part *= math.prod(parts)
        self.plan(above)
        part = [self.part] * self.method.feasible
        down = (seat.number, self.round, self.nu, self.reached, *part)
        self.posts += [(child, down) for child in seat.children]
        self.end_round()

    def add_up(self, children: Iterable[tuple[float, float]]) -> tuple[float, float]:
        """Add up the answers below, step 3; return the sums for the parent."""
        computing, receiving = self.computing, self.receiving
        middle = computing.answer if computing else 0.0
        slack = computing.inverse if computing else 0.0
        for sent, yielded in children:
            middle += sent
            slack += yielded
        self.middle, self.slack, self.share = middle, slack, 1.0
        if receiving is None:
            return middle, slack
        self.share = share = 1 / (1 + receiving.metric * slack)
        push = receiving.metric * receiving.answer
        return share * (middle + slack * push), slack * share

    def plan(self, above: float) -> None:
        """Plan by the worth of a task at the parent, or by the utility at the master."""
        if self.receiving:
            pull = self.receiving.metric
            bent = pull * self.receiving.answer - pull * self.middle
            self.nu = self.share * (above + bent)
        elif self.slack > 0:
            middle, slack = np.array([self.middle]), np.array([self.slack])
            reached, nu = best_throughput(middle, slack, np.array([self.seat.weight]), self.utility)
            self.reached, self.nu = float(reached[0]), float(nu[0])
        if self.alone <= 0:
            return
        value, reached_in_bounds = self.worth
        if self.computing:
            planned = self.computing.answer + self.nu * self.computing.inverse
            self.computing.settle(planned, self.nu, value, reached_in_bounds)
        if self.receiving:
            planned = self.middle + self.slack * self.nu
            self.receiving.settle(planned, above - self.nu, value, reached_in_bounds)

    def end_round(self) -> None:
        """End the round: bid again, or first request the balance."""
        self.round += 1
        self.over = self.round == self.rounds
        if self.over:
            return
        if not self.schedule.due(self.round):
            self.move()
            self.bid()
            return
        tag = self.seat.number, self.round
        self.posts += [(slot.manager, (*tag, slot.planned, slot.moved)) for slot in self.slots]
        self.expect(ABOVE, self.seat.managers, MarketAgent.change_metric)

    def change_metric(self, received: Received) -> None:
        """Change the metric by the balance of the managers, and bid."""
        if self.alone > 0:
            value, reached = self.worth
            for slot in self.slots:
                slot.adapt(received[slot.manager.number][2], value, reached)
        self.schedule.advance(self.round)
        self.changed = True
        self.move()
        self.bid()

    def move(self) -> None:
        """Move the requests, step 6."""
        for slot in self.slots:
            slot.move(self.method.relaxation)

    def inherit(self, old: MarketAgent) -> None:
        """Continue with the requests and prices of the role before a failure.

        Schedules and balances of the metric start again, as do remembered rounds.
        """
        for slot, before in ((self.computing, old.computing), (self.receiving, old.receiving)):
            if slot and before and before.metric > 0:
                for name in ("request", "metric", "price", "offer", "plan", "paid"):
                    setattr(slot, name, getattr(before, name))
        self.reached = old.reached

    def resume(self, state: MarketState) -> None:
        """Take slots, schedule and throughput from a state."""
        number = self.seat.number
        # Rounds are numbered from here on.
        self.schedule = MetricSchedule(state.next_metric - state.number, state.step)
        self.reached = float(state.reached[self.seat.application])
        self.part = float(state.part[number])
        for i, slot in enumerate((self.computing, self.receiving)):
            if slot:
                for name in ("request", "metric", "offer", "plan", "paid"):
                    setattr(slot, name, float(getattr(state, name)[i, number]))
                price = float(state.price[slot.manager.number - len(state.rate)])
                slot.price = price if slot.metric > 0 else 0.0


# All agents of an application need the same number in a round.
@lru_cache(maxsize=1024)
def marginal(alpha: float, throughput: float) -> float:
    """Return the marginal utility of a throughput."""
    return float(AlphaFair(alpha).marginal(throughput))


@dataclass(slots=True)
class MarketManager(Role):
    """The price manager of a host or link between two decisions.

    Attributes
    ----------
    rounds : int
        Number of rounds.
    seat : ManagerNeighbourhood
        Its initial knowledge.
    phase : str
        The kind of the next messages: ``"bids"`` or ``"residuals"``.
    remembered : bool
        True if the residuals that come with the next bids are known already.
    schedule : MetricSchedule
        When the metric changes.
    price : float
        Of its resource [utility/flop] or [utility/byte].
    balance, planned, moved : float
        Its factor of the metric, and the residuals that led to it.
    """

    rounds: int
    seat: ManagerNeighbourhood
    phase: str = "start"
    remembered: bool = True
    schedule: MetricSchedule = field(default_factory=MetricSchedule)
    price: float = 0.0
    balance: float = 1.0
    planned: float = 0.0
    moved: float = 0.0

    @property
    def value(self) -> float:
        """Its price."""
        return self.price

    def answers(self, messages: Sequence[Message]) -> tuple[float, list[Message]]:
        """Return the present capacity, and the messages of the members in their order."""
        received = {message[0]: message for message in messages}
        members = self.seat.members
        answers = [received[member.number] for member in members if member.number in received]
        return received[SENSOR][2], answers

    def posts(self, *numbers: float) -> Posts:
        """Return a message with some numbers for each member."""
        message = self.seat.number, self.round, *numbers
        return [(member, message) for member in self.seat.members]

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Answer the bids, or residuals, of all members."""
        capacity, answers = self.answers(messages)
        if self.phase == "start":
            self.wait(BELOW, self.seat.members)
            self.phase = "bids"
            return self.posts(capacity)
        if self.phase == "residuals":
            self.remember([message[2:4] for message in answers])
            self.rebalance()
            self.phase = "bids"
            return self.posts(self.balance)
        if not self.remembered:
            self.remember([message[5:7] for message in answers])
        self.price = clear(capacity, answers)
        self.round += 1
        self.over = self.round == self.rounds
        self.remembered = self.schedule.due(self.round)
        self.phase = "residuals" if self.remembered else "bids"
        return self.posts(self.price)

    def remember(self, residuals: Sequence[Sequence[float]]) -> None:
        """Add a round's residuals to those of earlier rounds."""
        planned = moved = 0.0
        for residual in residuals:
            planned += residual[0]
            moved += residual[1]
        self.planned = MEMORY * self.planned + planned
        self.moved = MEMORY * self.moved + moved

    def rebalance(self) -> None:
        """Update the factor of the metric."""
        self.balance *= imbalance(self.planned, self.moved)
        self.schedule.advance(self.round)

    def inherit(self, old: MarketManager) -> None:
        """Continue with the price of the role before a failure."""
        self.price = old.price

    def resume(self, state: MarketState) -> None:
        """Take price, schedule, balance and residuals from a state."""
        self.schedule = MetricSchedule(state.next_metric - state.number, state.step)
        resource = self.seat.number - len(state.rate)
        self.price, self.balance = float(state.price[resource]), float(state.balance[resource])
        self.planned, self.moved = state.residual[resource].tolist()


def clear(capacity: float, bids: Sequence[Message]) -> float:
    """Return the price at which the offers fit the capacity: step 1."""
    left = [bid[2:5] for bid in bids if bid[3] > 0]
    price = 0.0
    while True:
        wanted = yielded = 0.0
        for demand, request, give in left:
            wanted += demand * request
            yielded += demand * give
        price = max((wanted - capacity) / yielded, 0.0) if yielded > 0 else price
        stay = [bid for bid in left if bid[1] > price * bid[2]]
        if len(stay) == len(left):
            return price
        left = stay


def imbalance(planned: float, moved: float) -> float:
    """Return the factor of the metric, which follows the larger residual."""
    if planned <= 0 or moved <= 0:
        return 1.0
    low, high = REBALANCE
    return min(max(power(planned / moved, STRENGTH), low), high)
