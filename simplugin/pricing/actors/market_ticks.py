r"""Decisions of the market method without rounds, one a period; messages travel one hop a period.

Each period an agent takes the last price for its last bid, sums up what its children last sent and
sends it up, plans by the last :math:`\nu` of its parent, sends its own down, and bids again.
Managers clear the market of the bids they know. With :math:`M` go :math:`u v`, the rates below and
what could be computed there, with :math:`\nu` what the application would reach alone, so that all
of them follow changes of the platform. When these bounds change, the metric is adapted as from
round 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from simplugin.pricing.actors.delivery import CLOCK, SENSOR, Message, News, Posts
from simplugin.pricing.actors.market import (
    MarketAgent,
    MarketManager,
    add_up,
    clear,
    imbalance,
    marginal,
    plan,
    remember,
)
from simplugin.pricing.actors.market_slots import MetricSchedule

# Bounds that differ by less, relative to them, are the same.
SAME = 1e-6
# Periods from a change of bounds to the next of the metric, and then to the one after: news
# travel one hop a period.
FIRST, STEP = 4, 4.0


@dataclass(slots=True)
class TickingAgent(MarketAgent):
    """An application's agent without rounds.

    Attributes
    ----------
    news : News
        The last messages.
    away : bool
        True if it is cut off from its master.
    across : float
        Maximum rate of its link [tasks/s].
    rivals, rivals_below : float
        Largest number of applications at a resource: of the tree, of its subtree.
    settled : tuple of float
        The bounds that the metric was last adapted to afresh.
    """

    news: News = field(default_factory=News)
    away: bool = True
    across: float = math.inf
    rivals: float = 0.0
    rivals_below: float = 0.0
    settled: tuple[float, float] = (0.0, 0.0)

    @property
    def shares(self) -> tuple[float, ...]:
        """Its rate, and the flows into its children' subtrees."""
        last, children = self.news.last, self.seat.children
        known = [last[child.number][6] if child.number in last else 0.0 for child in children]
        return (self.value, *(0.0 if self.away else flow for flow in known))


@dataclass(slots=True)
class TickingManager(MarketManager):
    """The price manager of a host or link without rounds.

    Attributes
    ----------
    news : News
        The last messages.
    """

    news: News = field(default_factory=News)


def manager_ticks(
    state: TickingManager, messages: Sequence[Message]
) -> tuple[TickingManager, Posts]:
    """Return a manager's state and messages after a period."""
    received = state.news.take(messages)
    capacity = received[SENSOR][2]
    bids = [received[each.number] for each in state.seat.members if each.number in received]
    state.price = clear(capacity, bids)
    remember(state, [bid[5:7] for bid in bids])
    rivals = float(len({bid[7] for bid in bids}))
    state.round += 1
    numbers = capacity, rivals, state.price, state.planned, state.moved
    sent = (state.seat.number, state.round, *numbers)
    return state, [(member, sent) for member in state.seat.members]


def agent_ticks(state: TickingAgent, messages: Sequence[Message]) -> tuple[TickingAgent, Posts]:
    """Return an agent's state and messages after a period."""
    posts: Posts = []
    seat = state.seat
    received = state.news.take(messages)
    here = seat.parent is not None or seat.start <= received[CLOCK][2] < seat.end
    if not here or any(each.number not in received for each in seat.above):
        return _leave(state, posts), posts
    state.away = False
    state.round += 1
    _know_bounds(state, received)
    for slot in state.slots:
        slot.take(received[slot.manager.number][4])
    # Steps 3 to 5, by the last messages.
    children = [received[child.number][2:4] for child in seat.children if child.number in received]
    sums, above = add_up(state, children), 0.0
    if seat.parent:
        bounds = min(state.below, state.across), state.rivals_below
        flow = sum(state.shares)
        posts.append((seat.parent, (seat.number, state.round, *sums, *bounds, flow)))
        above, state.reached = received[seat.parent.number][2:4]
    plan(state, above)
    down = seat.number, state.round, state.nu, state.reached, state.alone, state.rivals
    posts += [(child, down) for child in seat.children]
    if state.alone > 0:
        if state.schedule.due(state.round):
            value, reached = state.worth
            for slot in state.slots:
                slot.balance *= imbalance(*received[slot.manager.number][5:7])
                slot.adapt(slot.balance, value, reached)
            state.schedule.advance(state.round)
        for slot in state.slots:
            slot.move(state.method.relaxation)
    for slot in state.slots:
        posts.append((slot.manager, (seat.number, state.round, *slot.bid(), seat.application)))
    return state, posts


def _leave(state: TickingAgent, posts: Posts) -> TickingAgent:
    """Sign off at children and managers, once: all below are cut off from the master, too."""
    if state.away:
        return state
    seat, gone = state.seat, (state.seat.number, state.round)
    posts += [(each, gone) for each in seat.children]
    posts += [(slot.manager, gone) for slot in state.slots]
    return TickingAgent(state.method, state.utility, 0, seat, news=state.news, round=state.round)


def _know_bounds(state: TickingAgent, received: dict[int, Message]) -> None:
    """Note the bounds of the resources, and adapt afresh if they have changed."""
    seat, computing, receiving = state.seat, state.computing, state.receiving
    rivals = [received[slot.manager.number][3] for slot in state.slots]
    children = [received[child.number] for child in seat.children if child.number in received]
    bound = received[computing.manager.number][2] / computing.task if computing else 0.0
    state.below = bound
    for message in children:
        state.below += message[4]
    state.rivals = state.rivals_below = max([0.0, *rivals, *(message[5] for message in children)])
    state.across = math.inf
    if receiving and seat.parent:
        alone, known = received[seat.parent.number][4:6]
        capacity = received[receiving.manager.number][2]
        state.across = capacity / receiving.task if receiving.task > 0 else math.inf
        state.alone = alone if state.across > 0 else 0.0
        state.rivals = max(state.rivals, known)
    else:
        state.alone = state.below
    value = seat.weight * marginal(state.utility.alpha, state.alone) if state.alone else 0.0
    if computing:
        computing.meet(bound if state.alone > 0 else 0.0, state.alone, value)
    if receiving:
        open_ = state.alone > 0 and state.across < math.inf
        receiving.meet(min(state.below, state.across) if open_ else 0.0, state.alone, value)
    now = state.alone, state.rivals
    if any(abs(a - b) > SAME * b for a, b in zip(state.settled, now, strict=True)):
        state.schedule = MetricSchedule(state.round + FIRST, STEP)
        state.settled = now
