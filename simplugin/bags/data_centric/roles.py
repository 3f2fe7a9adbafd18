"""The nodes of a tree that trade applications, as state machines without a simulator.

What a node does follows from its state and one message alone; the state is changed in place.

The root asks which type may take the place of which. By a convergecast each node tells its parent
how much its subtree could take, the root chooses an operation, and its amount goes down the tree,
each node giving its own share to its worker and the rest to its children; the same messages carry
the next question. Whom it does not concern, and who has answered this question already, hears
nothing. So each operation is one propagation, and nodes know their neighbours only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from simplugin.bags.data_centric.rates import (
    NO_OFFER,
    Offer,
    Order,
    Rates,
    fill,
    fillable,
    first_offers,
    port_room,
    pour,
    scale,
    sequence,
    swap,
    swap_at_root,
    tradable,
)
from simplugin.bags.data_centric.root import (
    NO_QUESTION,
    Operation,
    Question,
    choose,
    next_question,
    opening,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.bags.data_centric.root import Choice
    from simplugin.bags.nodes import Known

# Where messages come from and go to: the parent, or a child as 1, 2, ...
PARENT = 0


class Instruction(NamedTuple):
    """What a parent says: an operation on what the child answered last, and the next question."""

    operation: Operation
    amount: float
    question: Question


class Answer(NamedTuple):
    """What a child says: how much its subtree can take, by trading and by filling."""

    trade: Offer
    gap: Offer


Message = Instruction | Answer
Posts = list[tuple[int, Message]]


@dataclass(slots=True)
class Trader:
    """A node between two messages.

    Attributes
    ----------
    rates : Rates
        Its rates so far.
    order : {"fast", "breadth", "slow"}
        In which order nodes are offered tasks.
    balance : float
        The root's: at which relative distance of throughputs it stops.
    limit : int
        The root's: after how many operations it stops in any case.
    question : Question
        What it answers.
    answers : list of Answer, shape (n_children,)
        The last of each child.
    awaited : list of int
        The children whose answers it waits for; its parent's instruction if there are none.
    counts : list of int, shape (n_operations,)
        The root's: how often it did what.
    stopped : str
        Empty while it goes on; of the root "balanced", "stuck" (nothing applies) or "limit".
    """

    rates: Rates
    order: Order
    balance: float
    limit: int
    question: Question = NO_QUESTION
    answers: list[Answer] = field(init=False)
    awaited: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=lambda: [0] * len(Operation))
    stopped: str = ""
    targets: dict[str, tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with no answer."""
        bandwidth = self.rates.known.bandwidth
        self.answers = [Answer(NO_OFFER, NO_OFFER)] * len(bandwidth)
        self.targets = {order: sequence(bandwidth, order) for order in {self.order, "fast"}}


def new_trader(known: Known, is_root: bool, *, balance: float, order: Order, limit: int) -> Trader:
    """Return the state that a node starts with."""
    return Trader(Rates(known, is_root), order, balance, limit)


def opens(state: Trader) -> tuple[Trader, Posts]:
    """Return the root's state, changed in place, and its messages when it starts."""
    assert state.rates.is_root
    posts = _pass_on(state, Operation.NOTHING, {}, opening(state.rates.known))
    return state, posts or _choose(state)


def decides(state: Trader, source: int, message: Message) -> tuple[Trader, Posts]:
    """Return a node's state and messages after one message.

    Parameters
    ----------
    state : Trader
        Before; it is changed and returned.
    source : int
        `PARENT`, or the child.
    message : Instruction or Answer
        What it said.
    """
    posts: Posts = []
    if isinstance(message, Instruction):
        operation, amount, question = message
        given = _carry_out(state, operation, amount)
        posts = _pass_on(state, operation, given, question)
        if question == NO_QUESTION:
            state.stopped = "told"
    else:
        state.answers[source - 1] = message
        state.awaited.remove(source)
    if state.stopped or state.awaited:
        return state, posts
    if state.rates.is_root:
        return state, _choose(state)
    return state, [*posts, (PARENT, _answer(state))]


def _answer(state: Trader) -> Answer:
    """Return what the subtree can take, its own node included."""
    (high, low), rates = state.question, state.rates
    order: Order = state.order if high >= 0 else "fast"
    caps = first_offers(fillable(rates, low), [each.gap for each in state.answers], order)
    targets = state.targets[order]
    gap = _offer(caps[0], pour(math.inf, caps[1], rates.cost[low], port_room(rates), targets))
    if high < 0:
        return Answer(NO_OFFER, gap)
    caps = first_offers(tradable(rates, high, low), [each.trade for each in state.answers], order)
    return Answer(_offer(*caps), gap)


def _offer(rank: float, given: Sequence[float]) -> Offer:
    """Return the offer of all that is given."""
    amount = sum(given)
    return Offer(rank, amount) if amount > 0 else NO_OFFER


def _carry_out(state: Trader, operation: Operation, amount: float) -> dict[int, float]:
    """Do one's share of an operation; return the amounts of the children that it concerns."""
    (high, low), rates = state.question, state.rates
    order: Order = state.order if high >= 0 else "fast"
    if operation is Operation.FILL:
        offers = [each.gap for each in state.answers]
        _, caps = first_offers(fillable(rates, low), offers, order)
        given = pour(amount, caps, rates.cost[low], port_room(rates), state.targets[order])
        fill(rates, low, given)
    elif operation is Operation.TRADE:
        offers = [each.trade for each in state.answers]
        _, caps = first_offers(tradable(rates, high, low), offers, order)
        given = pour(amount, caps, [0.0] * len(caps), math.inf, state.targets[order])
        swap(rates, high, low, given)
    elif operation is Operation.SCALE:
        given = [0.0, *(amount if row[high] > 0 else -1.0 for row in rates.sent)]
        scale(rates, high, amount)
        return {child: each for child, each in enumerate(given) if child and each >= 0}
    else:
        return {}
    return {child: each for child, each in enumerate(given) if child and each > 0}


def _pass_on(
    state: Trader, operation: Operation, given: dict[int, float], question: Question
) -> Posts:
    """Instruct the children that have something to do, or a new question to answer."""
    posts: Posts = [
        (child, Instruction(operation, given[child], question))
        if child in given
        else (child, Instruction(Operation.NOTHING, 0.0, question))
        for child in range(1, 1 + len(state.answers))
        if child in given or question != state.question
    ]
    state.question = question
    state.awaited = [] if question == NO_QUESTION else [child for child, _ in posts]
    return posts


def _choose(state: Trader) -> Posts:
    """Let the root choose operations until one of them, or the next question, needs answers."""
    posts: Posts = []
    while not posts and not state.stopped:
        choice = choose(state.rates, state.question, *_answer(state))
        if choice is None:
            state.stopped = "stuck"
            return _pass_on(state, Operation.NOTHING, {}, NO_QUESTION)
        state.counts[choice.operation] += 1
        given = _begin(state, choice)
        known, throughput = state.rates.known, state.rates.throughput()
        question = next_question(known, throughput, state.balance)
        if question is None:
            state.stopped = "balanced"
        elif sum(state.counts) >= state.limit:
            state.stopped = "limit"
        if question is None or state.stopped:
            question = NO_QUESTION
        posts = _pass_on(state, choice.operation, given, question)
    return posts


def _begin(state: Trader, choice: Choice) -> dict[int, float]:
    """Do the root's share of its choice; return the amounts of the children that it concerns."""
    operation, amount, branch = choice
    high, low = state.question
    if operation is Operation.ROOT:
        swap_at_root(state.rates, high, low, amount)
        return {}
    if operation is Operation.SCALE:
        state.rates.sent[branch - 1][high] *= amount
        return {branch: amount}
    return _carry_out(state, operation, amount)
