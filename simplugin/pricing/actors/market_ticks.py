r"""Decisions of the market method without rounds, one a period; messages travel one hop a period.

Each period an agent takes the last price for its last bid, sums up what its sons last sent and
sends it up, plans by the last :math:`\nu` of its father, sends its own down, and bids again.
Managers clear the market of the bids they know. With :math:`M` go :math:`u v`, the rates below and
what could be computed there, with :math:`\nu` what the application would reach alone, so that all
of them follow changes of the platform. When these bounds change, the metric is adapted as from
round 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simplugin.pricing.actors.delivery import CLOCK, SENSOR, News
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
from simplugin.pricing.actors.market_slots import Schedule
from simplugin.pricing.policies.market import Market

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.pricing.actors.delivery import Message, Posts
    from simplugin.pricing.actors.neighbourhood import AgentSeat, ManagerSeat
    from simplugin.workloads.sharing import AlphaFair

# Bounds that differ by less, relative to them, are the same.
SAME = 1e-6
# Periods from a change of bounds to the next of the metric, and then to the one after: news
# travel one hop a period.
FIRST, STEP = 4, 4.0


@dataclass(slots=True)
class TickingAgent:
    """An application's agent without rounds.

    Attributes
    ----------
    inner : MarketAgent
        Its slots, and what it knows of its application.
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

    inner: MarketAgent
    news: News
    away: bool = True
    across: float = math.inf
    rivals: float = 0.0
    rivals_below: float = 0.0
    settled: tuple[float, float] = (0.0, 0.0)

    @property
    def value(self) -> float:
        """Its rate."""
        return self.inner.value

    @property
    def shares(self) -> tuple[float, ...]:
        """Its rate, and the flows into its sons' subtrees."""
        last, sons = self.news.last, self.inner.seat.sons
        known = [last[son.number][6] if son.number in last else 0.0 for son in sons]
        return (self.value, *(0.0 if self.away else flow for flow in known))


@dataclass(slots=True)
class TickingManager:
    """The price manager of a host or link without rounds.

    Attributes
    ----------
    inner : MarketManager
        Its price and balance.
    news : News
        The last messages.
    """

    inner: MarketManager
    news: News = field(default_factory=News)

    @property
    def value(self) -> float:
        """Its price."""
        return self.inner.price


def new_ticking_agent(
    method: Market, utility: AlphaFair, patience: int, seat: AgentSeat
) -> TickingAgent:
    """Return the first state of an agent."""
    return TickingAgent(MarketAgent(method, utility, 0, seat), News(patience))


def new_ticking_manager(patience: int, seat: ManagerSeat) -> TickingManager:
    """Return the first state of a manager."""
    return TickingManager(MarketManager(0, seat), News(patience))


def manager_ticks(
    state: TickingManager, messages: Sequence[Message]
) -> tuple[TickingManager, Posts]:
    """Return a manager's state and messages after a period."""
    inner = state.inner
    received = state.news.take(messages)
    capacity = received[SENSOR][2]
    bids = [received[each.number] for each in inner.seat.members if each.number in received]
    inner.price = clear(capacity, bids)
    remember(inner, [bid[5:7] for bid in bids])
    rivals = float(len({bid[7] for bid in bids}))
    inner.round += 1
    numbers = capacity, rivals, inner.price, inner.planned, inner.moved
    sent = (inner.seat.number, inner.round, *numbers)
    return state, [(member, sent) for member in inner.seat.members]


def agent_ticks(state: TickingAgent, messages: Sequence[Message]) -> tuple[TickingAgent, Posts]:
    """Return an agent's state and messages after a period."""
    inner = state.inner
    posts: Posts = []
    seat = inner.seat
    received = state.news.take(messages)
    here = seat.father is not None or seat.start <= received[CLOCK][2] < seat.end
    if not here or any(each.number not in received for each in seat.above):
        _leave(state, posts)
        return state, posts
    state.away = False
    inner.round += 1
    _know_bounds(state, received)
    for slot in inner.slots:
        slot.take(received[slot.manager.number][4])
    _sum_up(state, received, posts)
    _plan(state, received, posts)
    if inner.alone > 0:
        if inner.schedule.due(inner.round):
            value, reached = inner.worth
            for slot in inner.slots:
                slot.balance *= imbalance(*received[slot.manager.number][5:7])
                slot.adapt(slot.balance, value, reached)
            inner.schedule.advance(inner.round)
        for slot in inner.slots:
            slot.move(inner.method.relaxation)
    for slot in inner.slots:
        posts.append((slot.manager, (seat.number, inner.round, *slot.bid(), seat.application)))
    return state, posts


def _leave(state: TickingAgent, posts: Posts) -> None:
    """Sign off at sons and managers, once: all below are cut off from the master, too."""
    if state.away:
        return
    inner, seat = state.inner, state.inner.seat
    gone = seat.number, inner.round
    posts += [(each, gone) for each in seat.sons]
    posts += [(slot.manager, gone) for slot in inner.slots]
    fresh = MarketAgent(inner.method, inner.utility, 0, seat)
    fresh.round = inner.round
    state.inner, state.away, state.settled = fresh, True, (0.0, 0.0)


def _know_bounds(state: TickingAgent, received: dict[int, Message]) -> None:
    """Note the bounds of the resources, and adapt afresh if they have changed."""
    inner = state.inner
    seat, computing, receiving = inner.seat, inner.computing, inner.receiving
    rivals = [received[slot.manager.number][3] for slot in inner.slots]
    sons = [received[son.number] for son in seat.sons if son.number in received]
    bound = received[computing.manager.number][2] / computing.task if computing else 0.0
    inner.below = bound
    for message in sons:
        inner.below += message[4]
    state.rivals = state.rivals_below = max([0.0, *rivals, *(message[5] for message in sons)])
    state.across = math.inf
    if receiving and seat.father:
        alone, known = received[seat.father.number][4:6]
        capacity = received[receiving.manager.number][2]
        state.across = capacity / receiving.task if receiving.task > 0 else math.inf
        inner.alone = alone if state.across > 0 else 0.0
        state.rivals = max(state.rivals, known)
    else:
        inner.alone = inner.below
    value = inner.seat.weight * marginal(inner.utility.alpha, inner.alone) if inner.alone else 0.0
    if computing:
        computing.meet(bound if inner.alone > 0 else 0.0, inner.alone, value)
    if receiving:
        open_ = inner.alone > 0 and state.across < math.inf
        receiving.meet(min(inner.below, state.across) if open_ else 0.0, inner.alone, value)
    now = inner.alone, state.rivals
    if any(abs(a - b) > SAME * b for a, b in zip(state.settled, now, strict=True)):
        inner.schedule = Schedule(inner.round + FIRST, STEP)
        state.settled = now


def _sum_up(state: TickingAgent, received: dict[int, Message], posts: Posts) -> None:
    """Add up the last answers below, and send the sum up, step 3."""
    inner, seat = state.inner, state.inner.seat
    sons = [received[son.number][2:4] for son in seat.sons if son.number in received]
    sums = add_up(inner, sons)
    if seat.father:
        bounds = min(inner.below, state.across), state.rivals_below
        flow = sum(state.shares)
        posts.append((seat.father, (seat.number, inner.round, *sums, *bounds, flow)))


def _plan(state: TickingAgent, received: dict[int, Message], posts: Posts) -> None:
    """Plan by the last message from above, and pass on what a task is worth, steps 4 and 5."""
    inner, seat, above = state.inner, state.inner.seat, 0.0
    if seat.father:
        above, inner.reached = received[seat.father.number][2:4]
    plan(inner, above)
    down = seat.number, inner.round, inner.nu, inner.reached, inner.alone, state.rivals
    posts += [(son, down) for son in seat.sons]
