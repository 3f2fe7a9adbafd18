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
from simplugin.pricing.actors.market import MarketAgent, MarketManager, Received, clear
from simplugin.pricing.method import Message, Posts
from simplugin.pricing.neighbourhood import ABOVE, ACROSS, BELOW, Circle
from simplugin.pricing.policies.acceleration import MEMORY, SLACK, coefficients, grown, mix, steady

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
    rows : dict of int to sequence of float
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
    rows: dict[int, Sequence[float]] = field(default_factory=dict)
    products: list[list[float]] = field(default_factory=list)
    stride: float = 1.0
    least: float = math.inf
    plain: list[float] = field(default_factory=list)
    mixed: bool = False
    settled: float = 0.0
    settled_part: float = 1.0

    def __post_init__(self) -> None:
        """Begin; raise WorkloadError if a master's sums reach no other master."""
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

    def end_round(self) -> None:
        """Multiply this round's residual with those remembered."""
        pulls, gaps = [0.0, 0.0], [0.0, 0.0]
        for i, slot in enumerate((self.computing, self.receiving)):
            if slot:
                pulls[i] = slot.metric
                gaps[i] = self.method.relaxation * (slot.plan - slot.offer)
        self.residual = gaps[0], gaps[1]
        left, right = pulls[0] * gaps[0], pulls[1] * gaps[1]
        self.parts = [left * a + right * b for a, b in (*self.residuals, self.residual)]
        self.expect(BELOW, self.seat.children, AcceleratedAgent._parts)

    def _parts(self, received: Received) -> None:
        """Add up the products below, and pass on those of other applications."""
        size, self.rows = len(self.parts), {}
        for child in self.seat.children:
            numbers = received[child.number][2:]
            self.parts = [a + b for a, b in zip(self.parts, numbers[:size], strict=True)]
            for at in range(size, len(numbers), size + 1):
                self.rows[int(numbers[at])] = numbers[at + 1 : at + 1 + size]
        self.expect(ACROSS, self.seat.served, AcceleratedAgent._rows)

    def _rows(self, received: Received) -> None:
        """Send the products up, or across to the tree where all are added up."""
        seat, parts, tag = self.seat, self.parts, (self.seat.number, self.round)
        for master in seat.served:
            application, *row = received[master.number][2:]
            self.rows[int(application)] = row
        if seat.parent:
            labelled = [x for k, row in self.rows.items() for x in (float(k), *row)]
            self.posts.append((seat.parent, (*tag, *parts, *labelled)))
            self.expect(ABOVE, seat.parents, AcceleratedAgent._verdict)
        elif seat.relay:
            self.posts.append((seat.relay, (*tag, float(seat.application), *parts)))
            self.expect(ACROSS, Circle([seat.relay]), AcceleratedAgent._totals)
        else:
            self.rows[seat.application] = parts
            totals = [0.0] * len(parts)
            for application in sorted(self.rows):
                totals = [a + b for a, b in zip(totals, self.rows[application], strict=True)]
            self._conclude(totals)

    def _totals(self, received: Received) -> None:
        """Receive the totals from the agent of the tree where all are added up."""
        assert self.seat.relay
        self._conclude(list(received[self.seat.relay.number][2:]))

    def _conclude(self, totals: list[float]) -> None:
        """Find the coefficients, or that the round is undone: a master's part."""
        size = len(totals) - 1
        old: NDArray[np.float64] = np.array(self.products, dtype=float).reshape(size, size)
        products = grown(old, np.array(totals))
        undone = self.mixed and not products[-1, -1] <= SLACK * self.least
        gamma: tuple[float, ...] = ()
        stride = 1.0
        if undone:
            products = old[-1:, -1:]
        elif self.schedule.due(self.round + 1):
            products = np.zeros((0, 0))
            self.least = math.inf
        else:
            self.least = min(self.least, float(products[-1, -1]))
            if len(totals) > MEMORY + 1:
                products = products[1:, 1:]
            if len(products) >= 2:
                stride = 2 * self.stride if steady(products) else 1.0
                gamma = () if stride > 1 else tuple(coefficients(products).tolist())
        self.products, self.stride = products.tolist(), stride
        self._end_by(RoundVerdict(undone, stride, gamma), totals)

    def _verdict(self, received: Received) -> None:
        """Receive the coefficients, or that the round is undone, from the parent."""
        assert self.seat.parent
        undone, stride, many, *rest = received[self.seat.parent.number][2:]
        verdict = RoundVerdict(bool(undone), stride, tuple(rest[: int(many)]))
        self._end_by(verdict, rest[int(many) :])

    def _end_by(self, verdict: RoundVerdict, totals: list[float]) -> None:
        """End the round by a verdict; pass it on, to the managers, too."""
        undone, stride, gamma = verdict
        seat, tag = self.seat, (self.seat.number, self.round)
        sums = totals if seat.gathers else []
        down = (*tag, float(undone), stride, float(len(gamma)), *gamma, *sums)
        self.posts += [(child, down) for child in seat.children]
        self.posts += [(master, (*tag, *totals)) for master in seat.served]
        # Managers need it at once if they are to send their balance; else it comes with a bid.
        scheduled = self.schedule.due(self.round + 1)
        if scheduled or self.round + 1 == self.rounds:
            for slot in self.slots:
                self.posts.append((slot.manager, (*tag, float(undone), slot.planned, slot.moved)))
        if undone:
            # Return to the round before, with the requests of its plain step.
            for slot, request in zip(self.slots, self.plain, strict=True):
                slot.undo(request)
            self.reached, self.part, self.mixed = self.settled, self.settled_part, False
            self.requests, self.residuals = self.requests[-1:], self.residuals[-1:]
            self.schedule.put_off(self.round + 2)
        self.settled, self.settled_part = self.reached, self.part
        self.round += 1
        self.over = self.round == self.rounds
        if self.over:
            return
        if scheduled:
            phase = AcceleratedAgent._keep_metric if undone else AcceleratedAgent.change_metric
            self.expect(ABOVE, seat.managers, phase)
            return
        if not undone:
            self._mix(verdict)
        self.bid(float(undone))

    def _keep_metric(self, _: Received) -> None:
        """Bid by the requests of the plain step, with the old metric."""
        self.bid()

    def change_metric(self, received: Received) -> None:
        """Change the metric, forget the rounds before, and bid."""
        self.requests, self.residuals, self.mixed = [], [], False
        MarketAgent.change_metric(self, received)

    def _mix(self, verdict: RoundVerdict) -> None:
        """Move the requests by the rounds remembered."""
        pair = [slot.request if slot else 0.0 for slot in (self.computing, self.receiving)]
        self.requests = [*self.requests, (pair[0], pair[1])][-MEMORY - 1 :]
        self.residuals = [*self.residuals, self.residual][-MEMORY - 1 :]
        self.move()
        self.mixed = bool(verdict.gamma) or verdict.stride > 1
        if not self.mixed:
            return
        self.plain = [slot.request for slot in self.slots]
        for i, slot in enumerate((self.computing, self.receiving)):
            if slot:
                requests = [each[i] for each in self.requests]
                residuals = [each[i] for each in self.residuals]
                if verdict.stride > 1:
                    slot.request = requests[-1] + verdict.stride * residuals[-1]
                else:
                    slot.request = mix(requests, residuals, verdict.gamma)


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
