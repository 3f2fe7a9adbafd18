r"""Decisions of the market method without rounds, one a period; messages travel one hop a period.

Each period an agent takes the last price for its last bid, sums up the last messages of its
children and sends the sums up, plans by the last :math:`\nu` of its parent, sends its own down, and
bids again. Managers clear the market of the last bids. Messages with :math:`M` also have
:math:`u v`, the rates below and their maximum; those with :math:`\nu` the throughput of the
application alone: so all follow changes of the platform. When these bounds change, the metric is
adapted as from round 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from simplugin.pricing.actors.delivery import News
from simplugin.pricing.actors.market import MarketAgent, MarketManager, clear, imbalance, marginal
from simplugin.pricing.actors.market_slots import MetricSchedule
from simplugin.pricing.method import CLOCK, SENSOR, Message, Posts

# Bounds that differ by less, relative to them, are the same.
SAME = 1e-6
# Periods from a change of bounds to the next of the metric, and then to the one after: news
# travel one hop a period.
FIRST, STEP = 4, 4.0


@dataclass(slots=True)
class PeriodicMarketAgent(MarketAgent):
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
        """Its rate, and the flows into its children's subtrees."""
        last, children = self.news.last, self.seat.children
        flows = [last[child.number][6] if child.number in last else 0.0 for child in children]
        return (self.value, *(0.0 if self.away else flow for flow in flows))

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Do a period's part of the round, with the last messages."""
        posts: Posts = []
        seat = self.seat
        received = self.news.take(messages)
        here = seat.parent is not None or seat.start <= received[CLOCK][2] < seat.end
        if not here or any(each.number not in received for each in seat.above):
            return [] if self.away else self._leave()
        self.away = False
        self.round += 1
        self._know_bounds(received)
        for slot in self.slots:
            slot.take(received[slot.manager.number][4])
        # Steps 3 to 5, by the last messages.
        sent = [received[child.number][2:4] for child in seat.children if child.number in received]
        sums, above = self.add_up(sent), 0.0
        if seat.parent:
            bounds = min(self.below, self.across), self.rivals_below
            flow = sum(self.shares)
            posts.append((seat.parent, (seat.number, self.round, *sums, *bounds, flow)))
            above, self.reached = received[seat.parent.number][2:4]
        self.plan(above)
        down = seat.number, self.round, self.nu, self.reached, self.alone, self.rivals
        posts += [(child, down) for child in seat.children]
        if self.alone > 0:
            if self.schedule.due(self.round):
                value, reached = self.worth
                for slot in self.slots:
                    slot.balance *= imbalance(*received[slot.manager.number][5:7])
                    slot.adapt(slot.balance, value, reached)
                self.schedule.advance(self.round)
            self.move()
        for slot in self.slots:
            posts.append((slot.manager, (seat.number, self.round, *slot.bid(), seat.application)))
        return posts

    def _know_bounds(self, received: dict[int, Message]) -> None:
        """Note the bounds of the resources; restart the schedule of the metric after a change."""
        seat, computing, receiving = self.seat, self.computing, self.receiving
        rivals = [received[slot.manager.number][3] for slot in self.slots]
        children = [received[child.number] for child in seat.children if child.number in received]
        bound = received[computing.manager.number][2] / computing.task if computing else 0.0
        self.below = bound
        for message in children:
            self.below += message[4]
        self.rivals = self.rivals_below = max([0.0, *rivals, *(message[5] for message in children)])
        self.across = math.inf
        if receiving and seat.parent:
            alone, known = received[seat.parent.number][4:6]
            capacity = received[receiving.manager.number][2]
            self.across = capacity / receiving.task if receiving.task > 0 else math.inf
            self.alone = alone if self.across > 0 else 0.0
            self.rivals = max(self.rivals, known)
        else:
            self.alone = self.below
        value = seat.weight * marginal(self.utility.alpha, self.alone) if self.alone else 0.0
        if computing:
            computing.meet(bound if self.alone > 0 else 0.0, self.alone, value)
        if receiving:
            open_ = self.alone > 0 and self.across < math.inf
            receiving.meet(min(self.below, self.across) if open_ else 0.0, self.alone, value)
        now = self.alone, self.rivals
        if any(abs(a - b) > SAME * b for a, b in zip(self.settled, now, strict=True)):
            self.schedule = MetricSchedule(self.round + FIRST, STEP)
            self.settled = now

    def _leave(self) -> Posts:
        """Start afresh; sign off at children and managers, as all below are cut off, too."""
        seat, gone = self.seat, (self.seat.number, self.round)
        state = self.method, self.utility, 0, seat
        fresh = PeriodicMarketAgent(*state, news=self.news, round=self.round)
        for name in fields(fresh):
            setattr(self, name.name, getattr(fresh, name.name))
        posts = [(each, gone) for each in seat.children]
        return posts + [(slot.manager, gone) for slot in self.slots]


@dataclass(slots=True)
class PeriodicMarketManager(MarketManager):
    """The price manager of a host or link without rounds.

    Attributes
    ----------
    news : News
        The last messages.
    """

    news: News = field(default_factory=News)

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Answer the last bids with a price and residuals."""
        received = self.news.take(messages)
        capacity = received[SENSOR][2]
        bids = [received[each.number] for each in self.seat.members if each.number in received]
        self.price = clear(capacity, bids)
        self.remember([bid[5:7] for bid in bids])
        rivals = float(len({bid[7] for bid in bids}))
        self.round += 1
        return self.posts(capacity, rivals, self.price, self.planned, self.moved)
