r"""Trading of applications between nodes that know their neighbours only.

Section 5.5 of Beaumont et al. (2008), "Centralized versus distributed schedulers for bag-of-tasks
applications", IEEE TPDS 19(5). With :math:`\alpha_u^{(k)}` the tasks of type k that node u computes
and :math:`sent_{u \to v}^{(k)}` those that it sends to its child v [tasks/s], a node knows its own
row of the former, its own rows of the latter, its speed, the bandwidths to its children and the
types. H and L are the types of the highest and the lowest throughput, divided by weights.

The root asks for an exchange of one type by another. Each node answers the amount that its subtree
could take. The root chooses an operation, and its amount goes down the tree: each node gives a
share to its worker and the rest to its children. The same messages carry the next question. A node
that is not concerned, and has answered this question already, gets no message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple

from simplugin.bags.policy import PARENT, WORKER, NodeKnowledge, NodePlan, Posts

# Orders in which nodes are offered tasks; the paper leaves it open.
Order = Literal["fast", "breadth", "slow"]
ORDERS: tuple[Order, ...] = ("fast", "breadth", "slow")

# Free CPU or port, or a difference of ratios, below this share is rounding.
NOISE = 1e-9
# Factor of a branch in bus desaturation ...
SCALE = 0.9
# ... and the largest share of the imbalance that it removes, else H and L can alternate for ever.
STRIDE = 0.5
# A branch with less than this part of a type loses it: scaling alone never ends.
CUT = 1e-3
# Smallest change of an operation, relative to the highest throughput.
LEAST = 1e-9


class TradeOffer(NamedTuple):
    """The amount that the first nodes of a subtree can take.

    Attributes
    ----------
    rank : float
        Breadth first: the level of those nodes below the subtree's root, inf if there are none.
        Else 0.
    amount : float
        [tasks/s] of the type that lags, or [byte/s] of the leading type, see `tradable`.
    """

    rank: float
    amount: float


NO_OFFER = TradeOffer(math.inf, 0.0)


@dataclass(slots=True)
class Rates:
    """Rates at which a node of the tree sends and computes.

    Attributes
    ----------
    known : NodeKnowledge
        Its knowledge of tasks, and its measurements.
    is_root : bool
        True if it has no parent.
    compute : list of float, shape (n_types,)
        Tasks of each type that it computes [tasks/s].
    sent : list of list of float, shape (n_children, n_types)
        Tasks of each type that each child gets from it [tasks/s].
    cost : list of list of float, shape (n_types, 1 + n_children)
        Time for which its port sends a task to each target [s]; 0 to its own worker.
    """

    known: NodeKnowledge
    is_root: bool
    compute: list[float] = field(init=False)
    sent: list[list[float]] = field(init=False)
    cost: list[list[float]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        types, bandwidth = range(len(self.known.flop)), self.known.bandwidth
        self.compute = [0.0 for _ in types]
        self.sent = [[0.0 for _ in types] for _ in bandwidth]
        self.cost = [
            [0.0, *(byte / width if width > 0 else math.inf for width in bandwidth)]
            for byte in self.known.byte
        ]

    def throughput(self) -> list[float]:
        """Return the tasks of each type that the subtree computes [tasks/s], shape (n_types,)."""
        return [sum(column) for column in zip(self.compute, *self.sent, strict=True)]

    def plan(self) -> NodePlan:
        """Return the rates as a plan."""
        return NodePlan((tuple(self.compute), *map(tuple, self.sent)))


# ---- capacities ----


def cpu_room(rates: Rates) -> float:
    """Return the free capacity of the node's CPU, c_u (1 - CPU) [flop/s]."""
    speed, used = rates.known.speed, 0.0
    for rate, flop in zip(rates.compute, rates.known.flop, strict=True):
        used += rate * flop
    return speed - used if speed - used > NOISE * speed else 0.0


def port_room(rates: Rates) -> float:
    """Return the free share of the node's port, 1 - bus_occupation(u)."""
    room = 1.0
    for costs, flow in zip(rates.cost, zip(*rates.sent, strict=True), strict=False):
        for cost, rate in zip(costs[1:], flow, strict=True):
            if rate:
                room -= cost * rate
    return room if room > NOISE else 0.0


def has_trade(known: NodeKnowledge, high: int, low: int) -> bool:
    """Return True if communication trading applies: H has the higher CCR, and L has data."""
    # Ratios that are equal but for rounding are equal.
    least = known.byte[low] * known.flop[high] * (1 + NOISE)
    return known.byte[low] > 0 and known.byte[high] * known.flop[low] > least


def tradable(rates: Rates, high: int, low: int) -> float:
    r"""Return the byte/s of the leading type that the node can exchange for the lagging type.

    Communication trading keeps the bytes on all links from the root,
    :math:`\varepsilon_L b^{(L)} = \varepsilon_H b^{(H)} = \beta`, so that only the node's own CPU
    and tasks limit it. Its load rises by :math:`\beta (c^{(L)}/b^{(L)} - c^{(H)}/b^{(H)})`, which
    has to fit in; this is the second term of the paper's minimum for :math:`\varepsilon_H`. That
    minimum lacks :math:`\varepsilon_H \le \alpha_u^{(H)}`, without which rates get negative. The
    text has tasks of type H sent in place of type L, the formulas the reverse: the latter hold.

    The root gets nothing over a link, so it trades in its own way.
    """
    flop, byte = rates.known.flop, rates.known.byte
    if rates.is_root or not rates.compute[high] or not has_trade(rates.known, high, low):
        return 0.0
    if not rates.known.allowed[low]:
        return 0.0
    denser = flop[low] / byte[low] - flop[high] / byte[high]
    return min(rates.compute[high] * byte[high], cpu_room(rates) / denser)


# ---- distribution of an amount over a node and its subtrees ----


def sequence(bandwidth: Sequence[float], order: Order) -> tuple[int, ...]:
    """Return a node's targets in the order in which they are offered tasks.

    Its own worker counts as a child of infinite bandwidth; ties go to the first child.
    """
    children = range(1, 1 + len(bandwidth))
    if order == "slow":
        return (*sorted(children, key=lambda child: bandwidth[child - 1]), WORKER)
    if order == "breadth":
        return (WORKER, *children)
    return (WORKER, *sorted(children, key=lambda child: -bandwidth[child - 1]))


def pour(
    amount: float,
    offers: Sequence[float],
    cost: Sequence[float],
    room: float,
    targets: Sequence[int],
) -> list[float]:
    """Give each target in turn as much as it can take.

    Parameters
    ----------
    amount : float
        The amount to distribute; inf for the maximum.
    offers, cost : sequence of float, shape (1 + n_children,)
        The maximum for each target, and the use of `room` by each unit of it.
    room : float
        Limit of all costs together.
    targets : sequence of int
        In their order.

    Returns
    -------
    list of float, shape (1 + n_children,)
    """
    given = [0.0] * len(offers)
    for target in targets:
        take = min(offers[target], amount)
        if take > 0 and cost[target] > 0:
            take = min(take, room / cost[target])
            room = max(room - take * cost[target], 0.0) if take else room
        given[target] = take
        amount -= take
    return given


def first_offers(
    own: float, below: Sequence[TradeOffer], order: Order
) -> tuple[float, list[float]]:
    """Return the rank of the first nodes in a subtree, and the maximum amount of each target."""
    if order != "breadth":
        return 0.0, [own, *(offer.amount for offer in below)]
    rank = 0.0 if own > 0 else 1 + min((offer.rank for offer in below), default=math.inf)
    return rank, [
        0.0 if rank else own,
        *(offer.amount if offer.rank + 1 == rank else 0.0 for offer in below),
    ]


class Operation(IntEnum):
    """Kind of an operation."""

    NOTHING = 0
    TRADE = 1
    FILL = 2
    SCALE = 3
    ROOT = 4


class TradeQuestion(NamedTuple):
    """Types to be traded: `high` for `low`.

    At the start, when only `low` is to fill the tree in the order of bandwidths, `high` is -1.
    At the end both are.
    """

    high: int
    low: int


NO_QUESTION = TradeQuestion(-1, -1)


class TradeOrder(NamedTuple):
    """An operation, how much of it, and the root's child that it is about (0 if all)."""

    operation: Operation
    amount: float
    branch: int = 0


def next_question(
    known: NodeKnowledge, throughput: list[float], balance: float
) -> TradeQuestion | None:
    """Return the types to be traded, None if they are balanced.

    Of several types of equal throughput H is the one of highest and L the one of lowest CCR, as
    tasks are to be traded for computationally intensive ones.
    """
    level = [rate / weight for rate, weight in zip(throughput, known.weight, strict=True)]
    ratio = [byte / flop for byte, flop in zip(known.byte, known.flop, strict=True)]
    most, least = max(level), min(level)
    high = _densest(_about(most, level), ratio)
    low = _densest(_about(least, level), [1 / each if each else math.inf for each in ratio])
    if high == low or most - least < balance * least:
        return None
    return TradeQuestion(high, low)


def other_question(
    known: NodeKnowledge, throughput: list[float], balance: float, stuck: set[TradeQuestion]
) -> TradeQuestion | None:
    """Return a question with another leading type than the highest; None if all failed.

    With restricted hosts, a third type can leave no capacity to the lagging type.
    """
    level = [rate / weight for rate, weight in zip(throughput, known.weight, strict=True)]
    low = next(iter(stuck)).low
    others = [
        kind
        for kind, each in enumerate(level)
        if each > level[low] * (1 + balance) and TradeQuestion(kind, low) not in stuck
    ]
    return TradeQuestion(max(others, key=level.__getitem__), low) if others else None


def _densest(kinds: Sequence[int], ratio: list[float]) -> int:
    """Return the first of the types of the highest CCR, up to rounding."""
    most = max(ratio[kind] for kind in kinds)
    return next(kind for kind in kinds if ratio[kind] >= most * (1 - NOISE))


def _about(wanted: float, level: list[float]) -> list[int]:
    """Return the types at a level; operations make throughputs equal up to rounding only."""
    return [kind for kind, each in enumerate(level) if abs(each - wanted) <= NOISE * wanted]


def choose(
    rates: Rates, question: TradeQuestion, trade: TradeOffer, gap: TradeOffer
) -> TradeOrder | None:
    r"""Return the first operation, in the paper's precedence, that changes anything.

    Amounts are such that throughputs are at most equal afterwards, with :math:`x` a throughput
    divided by its weight :math:`w`:

    - communication trading of :math:`\beta` byte/s:
      :math:`\beta (1/(b^{(H)} w^{(H)}) + 1/(b^{(L)} w^{(L)})) \le x^{(H)} - x^{(L)}`, from
      :math:`\varepsilon_L b^{(L)} = \varepsilon_H b^{(H)} = \beta`;
    - task trading on the root, of :math:`\varepsilon_H \le \alpha_{root}^{(H)}` tasks/s, from
      :math:`\varepsilon_L c^{(L)} = \varepsilon_H c^{(H)}`.

    Parameters
    ----------
    rates : Rates
        The root's.
    question : TradeQuestion
        Which types.
    trade, gap : TradeOffer
        The amounts that the tree can take by communication trading and by gap filling.
    """
    high, low = question
    if high < 0:
        return TradeOrder(Operation.FILL, gap.amount) if gap.amount > 0 else None
    known, throughput = rates.known, rates.throughput()
    flop, byte, weight = known.flop, known.byte, known.weight
    least = LEAST * throughput[high] / weight[high]
    excess = throughput[high] / weight[high] - throughput[low] / weight[low]
    amount = 0.0
    if has_trade(known, high, low):
        equal = excess / (1 / (byte[high] * weight[high]) + 1 / (byte[low] * weight[low]))
        amount = min(trade.amount, equal)
    if amount > least * weight[high] * byte[high]:
        return TradeOrder(Operation.TRADE, amount)
    amount = min(gap.amount, excess * weight[low])
    if amount > least * weight[low]:
        return TradeOrder(Operation.FILL, amount)
    used = [child for child, row in enumerate(rates.sent, 1) if row[high] > 0]
    if used:
        branch = min(used, key=lambda child: known.bandwidth[child - 1])
        flow, factor = rates.sent[branch - 1][high], 0.0
        if flow > CUT * throughput[high]:
            factor = max(SCALE, 1 - STRIDE * excess * weight[high] / flow)
        return TradeOrder(Operation.SCALE, factor, branch)
    if not known.allowed[low]:
        return None
    equal = excess / (1 / weight[high] + flop[high] / (flop[low] * weight[low]))
    amount = min(rates.compute[high], equal)
    return TradeOrder(Operation.ROOT, amount) if amount > least * weight[high] else None


class Instruction(NamedTuple):
    """Message to a child: an operation on its last answer, and the next question."""

    operation: Operation
    amount: float
    question: TradeQuestion


class Answer(NamedTuple):
    """Message to the parent: the amounts that the subtree can take by trading and by filling."""

    trade: TradeOffer
    gap: TradeOffer


class Trader:
    """A node between two messages; a `simplugin.bags.policy.Negotiator`.

    Parameters
    ----------
    known : NodeKnowledge
        Its knowledge.
    is_root : bool
        True if it has no parent.
    balance : float
        Of the root: relative distance of throughputs at which it stops.
    order : {"fast", "breadth", "slow"}
        The order in which nodes are offered tasks.
    limit : int
        Of the root: most operations.

    Attributes
    ----------
    rates : Rates
        Its rates so far.
    counts : list of int, shape (n_operations,)
        Of the root: how often it did each operation.
    stopped : str
        Empty before the end; of the root "balanced", "stuck" (no operation applies) or "limit".
    """

    together = False

    def __init__(
        self, known: NodeKnowledge, *, is_root: bool, balance: float, order: Order, limit: int
    ) -> None:
        self.rates = Rates(known, is_root)
        self.balance, self.order, self.limit = balance, order, limit
        self.question = NO_QUESTION
        self.answers = [Answer(NO_OFFER, NO_OFFER)] * len(known.bandwidth)
        # The children with a pending answer.
        self.waiting: list[int] = []
        self.counts = [0] * len(Operation)
        self.stopped = ""
        # Questions without an applicable operation since the last operation.
        self.stuck: set[TradeQuestion] = set()
        self._targets = {each: sequence(known.bandwidth, each) for each in {order, "fast"}}

    @property
    def plan(self) -> NodePlan | None:
        """Return the rates as a plan; None before the end."""
        return self.rates.plan() if self.stopped else None

    @property
    def awaits(self) -> int:
        """Return the neighbour of the next message."""
        return self.waiting[0] if self.waiting else PARENT

    def begin(self) -> Posts:
        """Return the first messages, which only the root has."""
        if not self.rates.is_root:
            return []
        # The tree is filled with the type of the highest CCR.
        known = self.rates.known
        ratio = [byte / flop for byte, flop in zip(known.byte, known.flop, strict=True)]
        question = TradeQuestion(-1, _densest(range(len(ratio)), ratio))
        return self._pass_on(Operation.NOTHING, {}, question) or self._choose()

    def hear(self, source: int, message: Instruction | Answer) -> Posts:
        """Return the messages that follow from one of a neighbour."""
        posts: Posts = []
        if isinstance(message, Instruction):
            given = self._carry_out(message.operation, message.amount)
            posts = self._pass_on(message.operation, given, message.question)
            if message.question == NO_QUESTION:
                self.stopped = "instructed"
        else:
            self.answers[source - 1] = message
            self.waiting.remove(source)
        if self.stopped or self.waiting:
            return posts
        if self.rates.is_root:
            return self._choose()
        return [*posts, (PARENT, self._answer())]

    def _answer(self) -> Answer:
        """Return the amounts that the subtree can take, this node included."""
        low, rates = self.question.low, self.rates
        order, rank, caps = self._gaps()
        targets = self._targets[order]
        gap = _offer(rank, pour(math.inf, caps, rates.cost[low], port_room(rates), targets))
        return Answer(NO_OFFER if self.question.high < 0 else _offer(*self._trades()), gap)

    def _gaps(self) -> tuple[Order, float, list[float]]:
        """Return order and rank of gap filling, and the maximum amount of each target."""
        order: Order = self.order if self.question.high >= 0 else "fast"
        low, known = self.question.low, self.rates.known
        room = cpu_room(self.rates) / known.flop[low] if known.allowed[low] else 0.0
        return order, *first_offers(room, [each.gap for each in self.answers], order)

    def _trades(self) -> tuple[float, list[float]]:
        """Return the rank of communication trading, and the maximum amount of each target."""
        room = tradable(self.rates, *self.question)
        return first_offers(room, [each.trade for each in self.answers], self.order)

    def _carry_out(self, operation: Operation, amount: float) -> dict[int, float]:
        """Do the node's share of an operation; return the amounts of the children concerned."""
        (high, low), rates = self.question, self.rates
        rows = rates.compute, *rates.sent
        if operation is Operation.FILL:
            order, _, caps = self._gaps()
            given = pour(amount, caps, rates.cost[low], port_room(rates), self._targets[order])
            for row, each in zip(rows, given, strict=True):
                row[low] += each
        elif operation is Operation.TRADE:
            _, caps = self._trades()
            given = pour(amount, caps, [0.0] * len(caps), math.inf, self._targets[self.order])
            less, more = 1 / rates.known.byte[high], 1 / rates.known.byte[low]
            for row, each in zip(rows, given, strict=True):
                row[high] = max(row[high] - each * less, 0.0)
                row[low] += each * more
        elif operation is Operation.SCALE:
            concerned = [child for child, row in enumerate(rates.sent, 1) if row[high] > 0]
            for row in rows:
                row[high] *= amount
            return dict.fromkeys(concerned, amount)
        else:
            return {}
        return {child: each for child, each in enumerate(given) if child and each > 0}

    def _pass_on(
        self, operation: Operation, given: dict[int, float], question: TradeQuestion
    ) -> Posts:
        """Instruct the children that take part in the operation, or get a new question."""
        posts: Posts = [
            (child, Instruction(operation, given[child], question))
            if child in given
            else (child, Instruction(Operation.NOTHING, 0.0, question))
            for child in range(1, 1 + len(self.answers))
            if child in given or question != self.question
        ]
        self.question = question
        self.waiting = [] if question == NO_QUESTION else [child for child, _ in posts]
        return posts

    def _choose(self) -> Posts:
        """Choose the root's operations until one, or the next question, needs answers."""
        posts: Posts = []
        while not posts and not self.stopped:
            choice = choose(self.rates, self.question, *self._answer())
            known, throughput = self.rates.known, self.rates.throughput()
            if choice is None:
                self.stuck.add(self.question)
                other = None
                if known.restricted and not throughput[self.question.low]:
                    other = other_question(known, throughput, self.balance, self.stuck)
                if other is None:
                    self.stopped = "stuck"
                posts = self._pass_on(Operation.NOTHING, {}, other or NO_QUESTION)
                continue
            self.stuck = set()
            self.counts[choice.operation] += 1
            given = self._begin(choice)
            throughput = self.rates.throughput()
            question = next_question(known, throughput, self.balance)
            if question is None:
                self.stopped = "balanced"
            elif sum(self.counts) >= self.limit:
                self.stopped = "limit"
            if question is None or self.stopped:
                question = NO_QUESTION
            posts = self._pass_on(choice.operation, given, question)
        return posts

    def _begin(self, choice: TradeOrder) -> dict[int, float]:
        """Do the root's share of its choice; return the amounts of the children concerned."""
        operation, amount, branch = choice
        high, low = self.question
        if operation is Operation.ROOT:
            # As much work of the lagging type takes the place of tasks of the leading one.
            compute, flop = self.rates.compute, self.rates.known.flop
            compute[high] = max(compute[high] - amount, 0.0)
            compute[low] += amount * flop[high] / flop[low]
            return {}
        if operation is Operation.SCALE:
            self.rates.sent[branch - 1][high] *= amount
            return {branch: amount}
        return self._carry_out(operation, amount)


def _offer(rank: float, given: Sequence[float]) -> TradeOffer:
    """Return the offer of all that is given."""
    amount = sum(given)
    return TradeOffer(rank, amount) if amount > 0 else NO_OFFER
