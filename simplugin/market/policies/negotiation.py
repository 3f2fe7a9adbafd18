"""Negotiations: calls of a local scheduler, replies of peers, and an agreement."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import expm1, log
from simplugin.core.errors import WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.inputs.locations import shown
from simplugin.market.model import checked_payments
from simplugin.workloads.bundle_markets import (
    TOLERANCE,
    Amounts,
    BundleMarket,
    Floats,
    log_mean,
)

# A kind, then numbers.
Message = tuple[Any, ...]
# What a message takes without numbers, and each number in it [byte].
ENVELOPE, NUMBER = 40.0, 8.0


@dataclass(frozen=True)
class Call:
    """The same message to some peers, which reply to it or only hear it.

    Attributes
    ----------
    peers : tuple of int
        Recipients; replies come back in this order.
    message : tuple
        A kind and numbers.
    answers : bool
        True if the local scheduler waits for replies; otherwise it is sent an empty list.
    """

    peers: tuple[int, ...]
    message: Message
    answers: bool = True


@dataclass(frozen=True, eq=False)
class Agreement:
    """The end of a negotiation.

    Attributes
    ----------
    amounts : int64, shape (n_peers,)
        Tasks of each peer; it learns them when they come.
    price : float
        Price of each task; the mean where each peer has a payment of its own [price].
    payments : float64, shape (n_peers,), optional
        Payment of each peer for all its tasks; None for the price of each [price].
    """

    amounts: Amounts
    price: float
    payments: Floats | None = None


Scheduler = Generator[Call, list[Message], Agreement]
"""A local scheduler: it yields calls and is sent their replies."""


class MarketPeer(Protocol):
    """A computing peer, which knows its own value, cap and discount, and what it has heard."""

    def reply(self, message: Message, /) -> Message:
        """Return what it answers; where no answer is wanted that goes nowhere."""
        ...


@dataclass(frozen=True)
class BundleNegotiation:
    """An algorithm as its two sides.

    Attributes
    ----------
    name : str
        For tables.
    scheduler : callable
        ``(n_peers, m, generator)``: the local scheduler of `m` tasks.
    peer : callable
        ``(value, cap, q, generator)``: a peer; where the values of all tasks are given, `value` is
        an array of them and q None, see `PeerTasks`.
    """

    name: str
    scheduler: Callable[[int, int, np.random.Generator], Scheduler]
    peer: Callable[[Any, int, Any, np.random.Generator], MarketPeer]


@dataclass(frozen=True, eq=False, kw_only=True)
class NegotiatedAgreement(Agreement):
    """An agreement and what it took.

    Attributes
    ----------
    rounds : int
        Calls.
    messages : int
        Sent by the local scheduler and by peers.
    bytes : float
        Their size [byte].
    """

    rounds: int
    messages: int
    bytes: float


def checked_message(who: str, message: object) -> Message:
    """Return a message; raise WorkloadError, about who sent it, unless it is a kind and numbers."""
    if not isinstance(message, tuple) or not message:
        raise WorkloadError(f"{who} {shown(message)}; give a tuple, a kind and numbers")
    return message


def checked_call(name: str, call: object, n_peers: int) -> Call:
    """Return what a local scheduler yields; raise WorkloadError unless it is a call of peers."""
    who = f"the scheduler of negotiation {name!r}"
    if not isinstance(call, Call):
        raise WorkloadError(f"{who} yields {shown(call)}; yield a Call")
    rule, last = f"numbers of peers from 0 to {n_peers - 1}", n_peers - 1
    called = decided(f"{who} calls peers", call.peers, rule, (-1,), whole=True, least=0, most=last)
    message = checked_message(f"{who} sends", call.message)
    return Call(tuple(called.tolist()), message, call.answers)


def checked_agreement(name: str, agreement: object, n_peers: int, m: int) -> Agreement:
    """Return the end of a negotiation with its numbers as arrays.

    Raises
    ------
    WorkloadError
        It does not place all tasks, or a price or payment is no finite number.
    """
    who = f"negotiation {name!r}"
    if not isinstance(agreement, Agreement):
        raise WorkloadError(f"{who} returns {shown(agreement)}; return an Agreement")
    rule, what = f"{n_peers} whole numbers from 0 on", f"{who} gives peers the tasks"
    amounts = decided(what, agreement.amounts, rule, (n_peers,), whole=True, least=0)
    if (placed := int(amounts.sum())) != m:
        raise WorkloadError(f"{what} {shown(amounts)}, {placed} in all; place all {m}")
    price = float(decided(f"{who} has the price", agreement.price, "a finite number"))
    paid = agreement.payments
    return Agreement(amounts, price, None if paid is None else checked_payments(paid, amounts))


def message_size(message: Message) -> float:
    """Return how large a message is: an envelope of 40 byte and 8 byte a number [byte]."""
    return ENVELOPE + NUMBER * (len(message) - 1)


def negotiate(
    negotiation: BundleNegotiation,
    values: ArrayLike,
    n_tasks: int,
    capacities: ArrayLike,
    discounts: ArrayLike | None = None,
    seed: int = 0,
) -> NegotiatedAgreement:
    """Negotiate in this process, without a network.

    Parameters
    ----------
    negotiation : BundleNegotiation
        The two sides.
    values, n_tasks, capacities, discounts
        As `values`, `m`, `caps` and `q` of `simplugin.workloads.bundle_markets.BundleMarket`. The
        local scheduler knows the numbers of tasks and of peers, each peer its own value, cap and
        discount.
    seed : int
        Seed of the random numbers of each party.

    Returns
    -------
    NegotiatedAgreement
        The agreement, with the rounds, messages and bytes it took.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    known = enumerate(zip(*market.known, strict=True))
    peers = [negotiation.peer(*own, party_generator(seed, i)) for i, own in known]
    scheduler = negotiation.scheduler(market.n_peers, market.m, party_generator(seed))
    rounds = messages = 0
    size = 0.0
    replies: list[Message] | None = None
    while True:
        try:
            call = next(scheduler) if replies is None else scheduler.send(replies)
        except StopIteration as end:
            agreement = checked_agreement(negotiation.name, end.value, market.n_peers, market.m)
            break
        call = checked_call(negotiation.name, call, market.n_peers)
        who = f"a peer of negotiation {negotiation.name!r} replies"
        heard = [checked_message(who, peers[i].reply(call.message)) for i in call.peers]
        replies = heard if call.answers else []
        rounds += 1
        messages += len(call.peers) + len(replies)
        size += len(call.peers) * message_size(call.message) + sum(map(message_size, replies))
    return NegotiatedAgreement(
        market.check(agreement.amounts),
        agreement.price,
        agreement.payments,
        rounds=rounds,
        messages=messages,
        bytes=size,
    )


# Sets these streams apart from those of markets and sites, which start with small seeds.
_NEGOTIATIONS = 0x6E65676F


def negotiation_seed(seed: int, bundle: int, site: int) -> int:
    """Return the seed of one negotiation; that of the first bundle at the first site is the run's.

    Parameters
    ----------
    seed : int
        Of the execution.
    bundle, site : int
        Numbers.
    """
    if not bundle and not site:
        return seed
    return int(np.random.SeedSequence([seed, bundle, site]).generate_state(1, np.uint64)[0])


def party_generator(seed: int, peer: int | None = None) -> np.random.Generator:
    """Return the random numbers of a peer, or of the local scheduler, which nobody else draws.

    Parameters
    ----------
    seed : int
        Of the negotiation.
    peer : int, optional
        Its number; the local scheduler without.
    """
    # No zero at the end: numpy takes [s] and [s, 0] for the same.
    return np.random.default_rng([_NEGOTIATIONS, seed, 1 if peer is None else peer + 2])


class PeerTasks:
    """Tasks of one peer, each worth less than the one before; logarithms, as these never underflow.

    Parameters
    ----------
    value : float or array_like, shape (n_tasks,)
        Value of the first task, V_i, or of all tasks [price].
    cap : int
        Maximum number of tasks.
    q : float, optional
        Ratio of the value of each further task to that of the one before; None with all values.
    generator : Generator, optional
        For peers that draw.

    Attributes
    ----------
    cap : int
        As above, and no more than there are once it has heard that.
    """

    def __init__(
        self,
        value: ArrayLike,
        cap: int,
        q: float | None,
        generator: np.random.Generator | None = None,
    ) -> None:
        given = np.atleast_1d(np.asarray(value, dtype=np.float64))
        self._value = float(given[0])
        self._log_value, self._log_q = log(self._value), log(1.0 if q is None else q)
        # Of all tasks, if they are given.
        self._log_values = log(given) if q is None else None
        self.cap = int(cap)
        self._generator = generator

    def limit(self, m: float) -> int:
        """Limit the cap to the number of tasks, and return it."""
        self.cap = min(self.cap, int(m))
        return self.cap

    def log_worth(self, number: int) -> float:
        """Return what the task of a number, from 1 on, is worth, Eq. (10)."""
        if self._log_values is None:
            return self._log_value + (number - 1) * self._log_q
        within = number <= len(self._log_values)
        return float(self._log_values[number - 1]) if within else -math.inf

    def bought(self, log_price: float) -> int:
        """Return how many tasks it buys at a price, Eqs. (12-1) and (12-2)."""
        return self.above(log_price - TOLERANCE)

    def above(self, log_price: float) -> int:
        """Return how many tasks are worth at least a price, to the last bit."""
        if math.isinf(log_price):
            return self.cap if log_price < 0 else 0
        if self._log_values is not None:
            return int(np.searchsorted(-self._log_values[: self.cap], -log_price, side="right"))
        many = 1 + (log_price - self._log_value) / self._log_q
        count = int(min(max(many, 0.0), float(self.cap)))
        # The quotient may be rounded to the wrong side of a whole number.
        while count < self.cap and self.log_worth(count + 1) >= log_price:
            count += 1
        while count > 0 and self.log_worth(count) < log_price:
            count -= 1
        return count

    def log_mean(self, first: int, count: int) -> float:
        """Return the mean of what some tasks in a row are worth, Eq. (7); of none, the first's."""
        top = self.log_worth(first)
        if not count:
            return top
        if self._log_values is not None:
            return log_mean(self._log_values[first - 1 : first - 1 + count])
        return top + log(expm1(count * self._log_q) / expm1(self._log_q) / count)


class AnsweringPeer(PeerTasks):
    """A peer that answers questions about its demand; all prices are logarithms.

    Where a question names two prices it is about tasks that are worth at least the first and less
    than the second. The questions:

    ``("open", m)``
        There are m tasks: how many does it take at most?
    ``("begin", m)``
        The same, and what is the first one worth?
    ``("base", m)``
        How many does it take at most, and what is its base price, the value of the first one?
    ``("flat", price)``
        How many does it buy at that price, which is no logarithm, Eq. (12)?
    ``("price", x)``
        How many tasks are worth at least that, Eq. (12)?
    ``("prices", x, y)``
        How many at each of two prices?
    ``("quote", k, m)``
        How many of m tasks does it take at most, and what is its k-th worth, or its last one?
    ``("exit", x, k)``
        How many are worth at least that, of k at most, and what is the last of these worth: up to
        which price does it want as many?
    ``("middle", x, y)``
        What is the middle one worth?
    ``("split", x, pivot, y)``
        How many are worth at least the pivot, how many more than it, and what are the middle ones
        worth of those above it and of those below it?
    ``("worths", x, y)``
        What is each worth?
    ``("lowest", x)``
        What is the last task that is worth at least that worth?
    """

    def reply(self, message: Message, /) -> Message:
        """Return the answer to one of the questions."""
        kind, *numbers = message
        match kind:
            case "open":
                return ("cap", self.limit(*numbers))
            case "begin":
                return ("limit", self.limit(*numbers), self.log_worth(1))
            case "base":
                return ("base", self.limit(*numbers), self._value)
            case "flat":
                return ("count", self.bought(log(*numbers)))
            case "price":
                return ("count", self.above(*numbers))
            case "prices":
                return ("counts", *map(self.above, numbers))
            case "quote":
                return self._quote(*numbers)
            case "exit":
                return self._exit(*numbers)
            case "middle":
                return ("middle", self._middle(*map(self.above, numbers)))
            case "split":
                return self._split(*numbers)
            case "worths":
                most, least = map(self.above, numbers)
                return ("worths", *map(self.log_worth, range(least + 1, most + 1)))
            case "lowest":
                return ("worths", self.log_worth(self.above(*numbers)))
        raise WorkloadError(f"a peer is asked {kind!r}, which it does not understand")

    def _quote(self, number: int, m: int) -> Message:
        """Return its cap, and what a task is worth."""
        cap = self.limit(m)
        last = min(int(number), cap)
        return ("quote", cap, self.log_worth(last) if last else -math.inf)

    def _exit(self, low: float, most: int) -> Message:
        """Return how many tasks it wants, and up to which price; if none, at any."""
        count = min(self.above(low), int(most))
        return ("quote", count, self.log_worth(count) if count else math.inf)

    def _middle(self, most: int, least: int) -> float:
        """Return what the middle one of the tasks after one number up to another is worth."""
        return self.log_worth(least + (most - least + 1) // 2) if most > least else -math.inf

    def _split(self, low: float, pivot: float, high: float) -> Message:
        """Return its tasks on both sides of a pivot."""
        most, from_, above, least = map(self.above, (low, pivot, following(pivot), high))
        return ("split", from_, above, self._middle(above, least), self._middle(most, from_))


def following(log_price: float) -> float:
    """Return the next number, from which on tasks are worth more than a price."""
    return math.nextafter(log_price, math.inf)
