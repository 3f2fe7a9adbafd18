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
from simplugin.workloads.bundle_markets import TOLERANCE, Amounts, BundleMarket, Floats, log_mean

# A kind, then numbers.
Message = tuple[Any, ...]
# Size of a message without numbers, and of each number [byte].
ENVELOPE, NUMBER = 40.0, 8.0
_NUMBERS = (int, float, np.number)


@dataclass(frozen=True)
class Call:
    """A message to some peers, which reply to it or only receive it.

    Attributes
    ----------
    peers : tuple of int
        Recipients, in the order of the replies.
    message : tuple
        Kind and numbers.
    answers : bool
        True if the local scheduler waits for replies; otherwise it receives an empty list.
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
        Tasks of each peer, which learns them when they arrive.
    price : float
        Price of each task; the mean where each peer has a payment of its own [price].
    payments : float64, shape (n_peers,), optional
        Payment of each peer for all its tasks; None for the price of each [price].
    """

    amounts: Amounts
    price: float
    payments: Floats | None = None

    @property
    def paid(self) -> Floats:
        """Payment of each peer for all its tasks [price]; shape (n_peers,)."""
        if self.payments is not None:
            return self.payments
        return self.amounts.astype(np.float64) * self.price


Scheduler = Generator[Call, list[Message], Agreement]
"""A local scheduler, which yields calls and receives their replies."""


class MarketPeer(Protocol):
    """A computing peer, which knows its own value, cap and discount, and the calls to it."""

    def reply(self, message: Message, /) -> Message:
        """Return the answer to a message; it is ignored for calls without answers."""
        ...


@dataclass(frozen=True)
class BundleNegotiation:
    """An algorithm, given by its two sides.

    Attributes
    ----------
    name : str
        Name in tables.
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
    """An agreement and its cost.

    Attributes
    ----------
    rounds : int
        Number of calls.
    messages : int
        Number of messages of the local scheduler and of peers.
    bytes : float
        Size of all messages [byte].
    """

    rounds: int
    messages: int
    bytes: float


def checked_message(who: str, message: object) -> Message:
    """Return a message; raise WorkloadError, naming its sender, unless it is a kind and numbers."""
    sent = message if isinstance(message, tuple) else ()
    if not isinstance(next(iter(sent), None), str) or not all(
        isinstance(each, _NUMBERS) for each in sent[1:]
    ):
        raise WorkloadError(f"{who} {shown(message)}; give a tuple, a kind and numbers")
    return sent


def checked_call(name: str, call: object, n_peers: int) -> Call:
    """Return a call of a local scheduler; raise WorkloadError unless it is valid."""
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
    """Return the size of a message: 40 byte, and 8 byte for each number [byte]."""
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
        The agreement, with its rounds, messages and bytes.

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
    amounts = market.check(agreement.amounts)
    agreed = amounts, agreement.price, agreement.payments
    return NegotiatedAgreement(*agreed, rounds=rounds, messages=messages, bytes=size)


# Separates these streams from those of markets and sites, which start with small seeds.
_NEGOTIATIONS = 0x6E65676F


def negotiation_seed(seed: int, bundle: int, site: int) -> int:
    """Return the seed of a negotiation; the first bundle at the first site has the run's.

    Parameters
    ----------
    seed : int
        Seed of the execution.
    bundle, site : int
        Numbers of the bundle and the site.
    """
    if not bundle and not site:
        return seed
    return int(np.random.SeedSequence([seed, bundle, site]).generate_state(1, np.uint64)[0])


def party_generator(seed: int, peer: int | None = None) -> np.random.Generator:
    """Return the generator of a peer, or of the local scheduler.

    Parameters
    ----------
    seed : int
        Seed of the negotiation.
    peer : int, optional
        Number of the peer; None for the local scheduler.
    """
    # No zero at the end: [s] and [s, 0] are the same seed to numpy.
    return np.random.default_rng([_NEGOTIATIONS, seed, 1 if peer is None else peer + 2])


class PeerTasks:
    """Tasks of one peer with falling values, as logarithms, which never underflow.

    Parameters
    ----------
    value : float or array_like, shape (n_tasks,)
        Value of the first task, V_i, or of all tasks [price].
    cap : int
        Maximum number of tasks.
    q : float, optional
        Ratio of the value of each further task to that of the one before; None with all values.
    generator : Generator, optional
        Random numbers of a peer that draws.

    Attributes
    ----------
    cap : int
        As the parameter; at most the number of tasks once that is known.
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
        """Limit the cap to the number of tasks, and return the cap."""
        self.cap = min(self.cap, int(m))
        return self.cap

    def log_worth(self, number: int) -> float:
        """Return the value of a task by its number from 1 on, Eq. (10)."""
        if self._log_values is None:
            return self._log_value + (number - 1) * self._log_q
        within = number <= len(self._log_values)
        return float(self._log_values[number - 1]) if within else -math.inf

    def bought(self, log_price: float) -> int:
        """Return the demand at a price, Eqs. (12-1) and (12-2)."""
        return self.above(log_price - TOLERANCE)

    def above(self, log_price: float) -> int:
        """Return the number of tasks of at least a value, to the last bit."""
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
        """Return the mean value of consecutive tasks, Eq. (7); the first's for no task."""
        top = self.log_worth(first)
        if not count:
            return top
        if self._log_values is not None:
            return log_mean(self._log_values[first - 1 : first - 1 + count])
        return top + log(expm1(count * self._log_q) / expm1(self._log_q) / count)


class AnsweringPeer(PeerTasks):
    """A peer that answers questions about its demand; all prices are logarithms.

    A question with two prices x and y is about the tasks of values from x to below y. The
    questions and their answers:

    ``("open", m)``
        Its cap for m tasks.
    ``("begin", m)``
        Its cap, and the value of its first task.
    ``("base", m)``
        Its cap, and its base price: the value of its first task, not as a logarithm.
    ``("flat", price)``
        Its demand at a price that is not a logarithm, Eq. (12).
    ``("price", x)``
        The number of tasks of at least that value, Eq. (12).
    ``("prices", x, y)``
        These numbers for two prices.
    ``("quote", k, m)``
        Its cap for m tasks, and the value of its k-th task, or of its last one.
    ``("exit", x, k)``
        The number of tasks of at least that value, k at most, and the value of the last of these:
        the price up to which the demand stays.
    ``("middle", x, y)``
        The value of the middle task.
    ``("split", x, pivot, y)``
        The numbers of tasks of at least the pivot and above it, and the values of the middle tasks
        on both sides of it.
    ``("worths", x, y)``
        The value of each task.
    ``("lowest", x)``
        The value of the last task of at least x.
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
        """Return its cap, and the value of a task."""
        cap = self.limit(m)
        last = min(int(number), cap)
        return ("quote", cap, self.log_worth(last) if last else -math.inf)

    def _exit(self, low: float, most: int) -> Message:
        """Return its demand, and the price up to which it stays; inf if the demand is 0."""
        count = min(self.above(low), int(most))
        return ("quote", count, self.log_worth(count) if count else math.inf)

    def _middle(self, most: int, least: int) -> float:
        """Return the value of the middle task between two numbers."""
        return self.log_worth(least + (most - least + 1) // 2) if most > least else -math.inf

    def _split(self, low: float, pivot: float, high: float) -> Message:
        """Return its tasks on both sides of a pivot."""
        most, from_, above, least = map(self.above, (low, pivot, following(pivot), high))
        return ("split", from_, above, self._middle(above, least), self._middle(most, from_))


def following(log_price: float) -> float:
    """Return the next larger number, the lowest value above a price."""
    return math.nextafter(log_price, math.inf)
