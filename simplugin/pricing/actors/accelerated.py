r"""Decisions of the accelerated market: a second pair of sweeps in each round.

After a plain round's sweeps, the inner products of its residual with those remembered are summed
up each tree. The masters add up the applications through one tree that has an agent on the host
of each: these sums, labelled, ride up it with its own, and the totals come down with its own
answer. Each master then finds the same coefficients, or that the round is undone, and its tree
receives them. Members confirm or undo the round at their managers.

The operations are those of `simplugin.pricing.policies.acceleration`, in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.pricing.actors import market
from simplugin.pricing.actors.market import MarketAgent, MarketManager, clear
from simplugin.pricing.method import Message, Posts
from simplugin.pricing.neighbourhood import ABOVE, ACROSS, BELOW, Circle
from simplugin.pricing.policies.acceleration import (
    MEMORY,
    SLACK,
    coefficients,
    grown,
    steady,
)

Pair = tuple[float, float]


class RoundVerdict(NamedTuple):
    """Result of a round for all: undone or not, a stride, and coefficients."""

    undone: bool
    stride: float
    gamma: tuple[float, ...]


@dataclass(slots=True)
class AcceleratedAgent(MarketAgent):
    """An application's agent between two decisions, and the rounds that it remembers.

    Attributes
    ----------
    requests, residuals : list of pair of float
        Of its two slots, the oldest first [tasks/s].
    residual : pair of float
        Of this round [tasks/s].
    parts : list of float
        Inner products of the residuals, summed over its subtree [utility].
    rows : dict of int to tuple of float
        Those of whole applications that pass through it to their sum, by application.
    products : float64, shape (n_remembered, n_remembered)
        A master's: those of all applications.
    stride : float
        A master's: by how many residuals requests moved last while they merely drifted, or 1.
    least : float
        A master's: the smallest squared norm of a residual since the metric changed [utility].
    plain : list of float
        The requests to return to.
    mixed : bool
        True if there are such: the last ones were not plain.
    settled : float
        Throughput in the last round that counted [tasks/s].
    settled_part : float
        The part of its offer that it computed then.
    """

    requests: list[Pair] = field(default_factory=list)
    residuals: list[Pair] = field(default_factory=list)
    residual: Pair = (0.0, 0.0)
    parts: list[float] = field(default_factory=list)
    rows: dict[int, tuple[float, ...]] = field(default_factory=dict)
    products: list[list[float]] = field(default_factory=list)
    stride: float = 1.0
    least: float = math.inf
    plain: list[float] = field(default_factory=list)
    mixed: bool = False
    settled: float = 0.0
    settled_part: float = 1.0

    def __post_init__(self) -> None:
        """Make the slots; raise WorkloadError if a master's sums reach no other master."""
        MarketAgent.__post_init__(self)
        if not (self.seat.parent or self.seat.gathers or self.seat.relay):
            raise WorkloadError(
                "no application's tree reaches the hosts of all masters, which have to add up sums"
                " over all applications; extend a tree, or take the market without acceleration"
            )

    def resume(self, state: Any) -> None:
        """Take its part of the market's state, and the remembered rounds."""
        MarketAgent.resume(self, state.market)
        number = self.seat.number
        self.settled, self.settled_part = self.reached, self.part
        self.requests, self.residuals = (
            [(float(each[0, number]), float(each[1, number])) for each in rounds]
            for rounds in (state.requests, state.residuals)
        )
        if self.seat.parent is None:
            self.products = state.products.tolist()
            self.stride, self.least = state.stride, state.least
        self.mixed = state.plain is not None
        if state.plain is not None:
            slots = enumerate((self.computing, self.receiving))
            self.plain = [float(state.plain[i, number]) for i, slot in slots if slot]


@dataclass(slots=True)
class AcceleratedManager(MarketManager):
    """A price manager with members that confirm or undo each round.

    Attributes
    ----------
    asked : float
        The price of the last round, which members may still undo.
    """

    asked: float = 0.0

    def decide(self, messages: Sequence[Message]) -> Posts:
        """Answer the bids, or residuals, of all members, and confirm or undo the last round."""
        if self.phase == "start":
            return MarketManager.decide(self, messages)
        capacity, answers = self.answers(messages)
        if self.phase == "bids":
            if not self.remembered:
                self._finish_round(bool(answers[0][7]), [message[5:7] for message in answers])
            self.asked = clear(capacity, answers)
            scheduled = self.schedule.due(self.round + 1) or self.round + 1 == self.rounds
            self.remembered = scheduled
            self.phase = "residuals" if scheduled else "bids"
            return self.posts(self.asked)
        undone = bool(answers[0][2])
        scheduled = self.schedule.due(self.round + 1)
        self._finish_round(undone, [message[3:5] for message in answers])
        if scheduled and not undone:
            self.rebalance()
        self.over = self.round == self.rounds
        self.phase = "bids"
        return [] if self.over else self.posts(self.balance)

    def _finish_round(self, undone: bool, residuals: Sequence[Sequence[float]]) -> None:
        """Confirm the last round, or undo it."""
        self.round += 1
        if undone:
            self.schedule.put_off(self.round + 1)
        else:
            self.price = self.asked
            self.remember(residuals)

    def resume(self, state: Any) -> None:
        """Take its part of the market's state."""
        MarketManager.resume(self, state.market)


def _multiply(state: AcceleratedAgent, received: dict[int, Message], posts: Posts) -> str:
    """Multiply this round's residual with those remembered."""
    del received, posts
    pulls, gaps = [0.0, 0.0], [0.0, 0.0]
    for i, slot in enumerate((state.computing, state.receiving)):
        if slot:
            pulls[i] = slot.metric
            gaps[i] = state.method.relaxation * (slot.plan - slot.offer)
    state.residual = gaps[0], gaps[1]
    left, right = pulls[0] * gaps[0], pulls[1] * gaps[1]
    state.parts = [left * a + right * b for a, b in (*state.residuals, state.residual)]
    state.wait(BELOW, state.seat.children)
    return "parts"


def _parts(state: AcceleratedAgent, received: dict[int, Message], posts: Posts) -> str:
    """Add up the products below, and pass on those of other applications."""
    del posts
    size, state.rows = len(state.parts), {}
    for child in state.seat.children:
        numbers = received[child.number][2:]
        state.parts = [a + b for a, b in zip(state.parts, numbers[:size], strict=True)]
        for at in range(size, len(numbers), size + 1):
            state.rows[int(numbers[at])] = numbers[at + 1 : at + 1 + size]
    state.wait(ACROSS, state.seat.served)
    return "rows"


def _rows(state: AcceleratedAgent, received: dict[int, Message], posts: Posts) -> str:
    """Send the products up, or across to the tree where all are added up."""
    seat, parts = state.seat, tuple(state.parts)
    tag = seat.number, state.round
    for master in seat.served:
        application, *row = received[master.number][2:]
        state.rows[int(application)] = tuple(row)
    if seat.parent:
        labelled = [x for k, row in state.rows.items() for x in (float(k), *row)]
        posts.append((seat.parent, (*tag, *parts, *labelled)))
        state.wait(ABOVE, seat.parents)
        return "verdict"
    if seat.relay:
        posts.append((seat.relay, (*tag, float(seat.application), *parts)))
        state.wait(ACROSS, Circle([seat.relay]))
        return "totals"
    state.rows[seat.application] = parts
    totals = [0.0] * len(parts)
    for application in sorted(state.rows):
        totals = [a + b for a, b in zip(totals, state.rows[application], strict=True)]
    return _conclude(state, totals, posts)


def _totals(state: AcceleratedAgent, received: dict[int, Message], posts: Posts) -> str:
    """Receive the totals from the agent of the tree where all are added up."""
    relay = state.seat.relay
    assert relay
    return _conclude(state, list(received[relay.number][2:]), posts)


def _conclude(state: AcceleratedAgent, totals: list[float], posts: Posts) -> str:
    """Find the coefficients, or that the round is undone: a master's part."""
    size = len(totals) - 1
    old: NDArray[np.float64] = np.array(state.products, dtype=float).reshape(size, size)
    products = grown(old, np.array(totals))
    undone = state.mixed and not products[-1, -1] <= SLACK * state.least
    gamma: tuple[float, ...] = ()
    stride = 1.0
    if undone:
        products = old[-1:, -1:]
    elif state.schedule.due(state.round + 1):
        products = np.zeros((0, 0))
        state.least = math.inf
    else:
        state.least = min(state.least, float(products[-1, -1]))
        if len(totals) > MEMORY + 1:
            products = products[1:, 1:]
        if len(products) >= 2:
            stride = 2 * state.stride if steady(products) else 1.0
            gamma = () if stride > 1 else tuple(coefficients(products).tolist())
    state.products, state.stride = products.tolist(), stride
    return _hear(state, RoundVerdict(undone, stride, gamma), totals, posts)


def _verdict(state: AcceleratedAgent, received: dict[int, Message], posts: Posts) -> str:
    """Receive the coefficients, or that the round is undone, from the parent."""
    parent = state.seat.parent
    assert parent
    undone, stride, many, *rest = received[parent.number][2:]
    gamma, totals = rest[: int(many)], rest[int(many) :]
    return _hear(state, RoundVerdict(bool(undone), stride, tuple(gamma)), totals, posts)


def _hear(state: AcceleratedAgent, verdict: RoundVerdict, totals: list[float], posts: Posts) -> str:
    """Pass the verdict on, to the managers, too, and end the round by it."""
    undone, stride, gamma = verdict
    seat, tag = state.seat, (state.seat.number, state.round)
    sums = totals if seat.gathers else []
    down = (*tag, float(undone), stride, float(len(gamma)), *gamma, *sums)
    posts += [(child, down) for child in seat.children]
    posts += [(master, (*tag, *totals)) for master in seat.served]
    # Managers need it at once if they are to send their balance; else it comes with the next bid.
    scheduled = state.schedule.due(state.round + 1)
    if scheduled or state.round + 1 == state.rounds:
        for slot in state.slots:
            posts.append((slot.manager, (*tag, float(undone), slot.planned, slot.moved)))
    if undone:
        # Return to the round before, with the requests of its plain step.
        for slot, request in zip(state.slots, state.plain, strict=True):
            slot.undo(request)
        state.reached, state.part, state.mixed = state.settled, state.settled_part, False
        state.requests, state.residuals = state.requests[-1:], state.residuals[-1:]
        state.schedule.put_off(state.round + 2)
    state.settled, state.settled_part = state.reached, state.part
    state.round += 1
    state.over = state.round == state.rounds
    if state.over:
        return "over"
    if scheduled:
        state.wait(ABOVE, state.seat.managers)
        return "return" if undone else "change"
    return _bid(state, True, posts) if undone else _mix(state, verdict, posts)


def _return(state: AcceleratedAgent, received: dict[int, Message], posts: Posts) -> str:
    """Bid by the requests of the plain step, with the old metric."""
    del received
    return market.bid(state, posts)


def _change(state: AcceleratedAgent, received: dict[int, Message], posts: Posts) -> str:
    """Change the metric, and forget the rounds before."""
    state.requests, state.residuals, state.mixed = [], [], False
    return MarketAgent.phases["metric"](state, received, posts)


def _bid(state: AcceleratedAgent, undone: bool, posts: Posts) -> str:
    """Bid, and confirm or undo the last round."""
    tag = state.seat.number, state.round
    posts += [(slot.manager, (*tag, *slot.bid(), float(undone))) for slot in state.slots]
    state.wait(ABOVE, state.seat.managers)
    return "offers"


def _mix(state: AcceleratedAgent, verdict: RoundVerdict, posts: Posts) -> str:
    """Move the requests by the rounds remembered, and bid."""
    pair = [slot.request if slot else 0.0 for slot in (state.computing, state.receiving)]
    state.requests = [*state.requests, (pair[0], pair[1])][-MEMORY - 1 :]
    state.residuals = [*state.residuals, state.residual][-MEMORY - 1 :]
    for slot in state.slots:
        slot.move(state.method.relaxation)
    state.mixed = bool(verdict.gamma) or verdict.stride > 1
    if state.mixed:
        state.plain = [slot.request for slot in state.slots]
        for i, either in enumerate((state.computing, state.receiving)):
            if either:
                requests = [each[i] for each in state.requests]
                either.request = _mixed(requests, [each[i] for each in state.residuals], verdict)
    return _bid(state, False, posts)


def _mixed(requests: list[float], residuals: list[float], verdict: RoundVerdict) -> float:
    """Return one mixed request, the differences in order, the oldest first; or a longer step."""
    if verdict.stride > 1:
        return requests[-1] + verdict.stride * residuals[-1]
    mixed = requests[-1] + residuals[-1]
    for j, part in enumerate(verdict.gamma):
        moved = (requests[j + 1] - requests[j]) + (residuals[j + 1] - residuals[j])
        mixed = mixed - part * moved
    return mixed


AcceleratedAgent.phases = {
    **MarketAgent.phases,
    "ended": _multiply,
    "parts": _parts,
    "rows": _rows,
    "totals": _totals,
    "verdict": _verdict,
    "return": _return,
    "change": _change,
}
