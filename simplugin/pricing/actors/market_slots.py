"""Bids of one slot of an agent, and its use of a manager's answers.

Letters, operations and their order are those of `simplugin.pricing.policies.market`, for a single
slot and application.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simplugin.pricing.neighbourhood import Address
from simplugin.pricing.policies.market import CEILING, FLOOR, GROWTH, SIZE


@dataclass(slots=True)
class Slot:
    r"""Demand of an agent for its host, or for the link to it.

    Attributes
    ----------
    manager : Address
        Of the resource.
    task : float
        Demand of a task [flop] or [byte].
    demand, bound : float
        The same, and its maximum if it were alone [tasks/s]; 0 outside the market.
    request, metric, inverse, give : float
        :math:`d` [tasks/s], :math:`\theta` [utility/(tasks/s)^2], :math:`1 / \theta` (0 out of
        the market), and the decrease of the offer with the price in the last bid.
    price, price_before : float
        :math:`\lambda` now and a round ago [utility/flop] or [utility/byte].
    offer, before, answer, plan, worth : float
        :math:`z'` now and a round ago, :math:`t`, :math:`z` [tasks/s], :math:`y`
        [utility/(tasks/s)].
    paid, paid_before : float
        :math:`\theta (d - z')` now and a round ago [utility/(tasks/s)].
    planned, moved : float
        This round's residuals.
    balance : float
        Its factor of the metric, where the manager keeps none for all.
    """

    manager: Address
    task: float
    demand: float = 0.0
    bound: float = 0.0
    request: float = 0.0
    metric: float = 0.0
    inverse: float = 0.0
    give: float = 0.0
    price: float = 0.0
    price_before: float = 0.0
    offer: float = 0.0
    before: float = 0.0
    answer: float = 0.0
    plan: float = 0.0
    worth: float = 0.0
    paid: float = 0.0
    paid_before: float = 0.0
    planned: float = 0.0
    moved: float = 0.0
    balance: float = 1.0

    def enter(self, bound: float, alone: float, value: float) -> None:
        """Begin to bid, with the throughput of the application alone and its marginal utility."""
        self.bound = bound
        self.demand = self.task if bound > 0 else 0.0
        self.request = self.offer = 0.0
        self.balance = 1.0
        self._measure(SIZE * value * (1.0 / min(bound, alone)) if bound > 0 else 0.0)

    def _measure(self, metric: float) -> None:
        """Take a metric."""
        self.metric, self.inverse = metric, 1.0 / metric if metric > 0 else 0.0

    def resume(self, bound: float, alone: float, value: float) -> None:
        """Continue to bid if it has a metric; otherwise enter the market."""
        if bound > 0 and self.metric > 0:
            self.bound, self.demand = bound, self.task
            self._measure(self.metric)
        else:
            self.enter(bound, alone, value)

    def meet(self, bound: float, alone: float, value: float) -> None:
        """Note another bound; enter or leave the market where it comes from 0, or is 0."""
        if bound <= 0 or self.bound <= 0:
            self.enter(bound, alone, value)
        self.bound = bound

    def bid(self) -> tuple[float, ...]:
        """Return a bid: demand, request, decrease of the offer with the price, residuals."""
        self.give = self.demand / self.metric if self.metric > 0 else 0.0
        return self.demand, self.request, self.give, self.planned, self.moved

    def take(self, price: float) -> None:
        """Note the price, and the offer that goes with it."""
        self.price_before, self.before = self.price, self.offer
        self.price, request = price, self.request
        self.offer = offer = max(request - price * self.give, 0.0) if request > 0 else 0.0
        self.answer = 2 * offer - request
        self.paid_before, self.paid = self.paid, self.metric * (request - offer)

    def undo(self, request: float) -> None:
        """Return to the offer and the price of a round ago, with another request."""
        self.price, self.offer, self.paid = self.price_before, self.before, self.paid_before
        self.request = request

    def settle(self, plan: float, worth: float, value: float, reached: float) -> None:
        """Note the plan and its worth, and this round's residuals.

        Parameters
        ----------
        plan, worth : float
            :math:`z` and :math:`y`.
        value, reached : float
            Marginal utility, and throughput, of the application.
        """
        if self.bound <= 0:
            return
        self.plan, self.worth = plan, worth
        metric, offer = self.metric, self.offer
        missed = plan - offer
        gap = missed * (1.0 / min(self.bound, reached))
        pay = (self.paid - self.paid_before) / value
        shift = metric * (offer - self.before) / value
        drift = metric * missed / value
        self.planned, self.moved = gap * gap + pay * pay, shift * shift + drift * drift

    def adapt(self, balance: float, value: float, reached: float) -> None:
        """Take a metric after price and offer."""
        if self.bound <= 0:
            return
        size = min(self.bound, reached)
        cost = min(self.demand * self.price / value, CEILING)
        part = min(self.offer / size, CEILING)
        pull = math.sqrt((cost + FLOOR) / (part + FLOOR))
        self._measure(SIZE * value / size * pull * balance)

    def move(self, relaxation: float) -> None:
        """Move the request, step 6."""
        if self.bound > 0:
            offer = self.offer
            onward = (relaxation - 1) * (self.plan - offer)
            self.request = offer + self.worth * self.inverse + onward


@dataclass(slots=True)
class MetricSchedule:
    """Rounds in which the metric changes, more and more rarely.

    Attributes
    ----------
    next : int
        The round after which it changes next.
    step : float
        Rounds between the last two changes.
    """

    next: int = 1
    step: float = 1.0

    def due(self, number: int) -> bool:
        """Return True if the metric changes after a round."""
        return number >= self.next

    def advance(self, number: int) -> None:
        """Note that it has changed after a round."""
        self.step *= GROWTH
        self.next = number + max(1, round(self.step))

    def put_off(self, number: int) -> None:
        """Note that it does not change before a round."""
        self.next = max(self.next, number)
