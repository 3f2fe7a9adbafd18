"""What a negotiation is: calls of a local scheduler, replies of peers, and an agreement."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from simplugin.market.agents.draws import own_generator as own_generator
from simplugin.market.outcomes import checked_payments
from simplugin.workloads.bundle_markets import BundleMarket

if TYPE_CHECKING:
    from simplugin.workloads.bundle_markets import Amounts, Floats

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
        To whom it goes; replies come back in this order.
    message : tuple
        A kind and numbers.
    answers : bool
        Whether the local scheduler waits for replies; if not it is sent an empty list.
    """

    peers: tuple[int, ...]
    message: Message
    answers: bool = True


@dataclass(frozen=True, eq=False)
class Agreement:
    """What a negotiation ends with.

    Attributes
    ----------
    amounts : int64, shape (n_peers,)
        Tasks of each peer; it learns them when they come.
    price : float
        What peers pay for each task; on average, where each has a payment of its own [price].
    payments : float64, shape (n_peers,), optional
        What each peer pays for all its tasks; the price for each of them without [price].
    """

    amounts: Amounts
    price: float
    payments: Floats | None = None


Scheduler = Generator[Call, list[Message], Agreement]
"""A local scheduler: it yields calls and is sent their replies."""


class Peer(Protocol):
    """A computing peer, which knows its own value, cap and discount, and what it has heard."""

    def reply(self, message: Message, /) -> Message:
        """Return what it answers; where no answer is wanted that goes nowhere."""
        ...


@dataclass(frozen=True)
class Negotiation:
    """An algorithm as its two sides.

    Attributes
    ----------
    name : str
        For tables.
    scheduler : callable
        ``(n_peers, m, generator)``: the local scheduler of `m` tasks.
    peer : callable
        ``(value, cap, q, generator)``: a peer.
    """

    name: str
    scheduler: Callable[[int, int, np.random.Generator], Scheduler]
    peer: Callable[[float, int, float, np.random.Generator], Peer]


@dataclass(frozen=True, eq=False)
class Negotiated:
    """An agreement and what it took.

    Attributes
    ----------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        What peers pay for each task; on average, where each has a payment of its own [price].
    rounds : int
        Calls.
    messages : int
        Sent by the local scheduler and by peers.
    bytes : float
        What all messages take [byte].
    payments : float64, shape (n_peers,), optional
        What each peer pays for all its tasks; the price for each of them without [price].
    """

    amounts: Amounts
    price: float
    rounds: int
    messages: int
    bytes: float
    payments: Floats | None = None


def message_size(message: Message) -> float:
    """Return how large a message is: an envelope of 40 byte and 8 byte a number [byte]."""
    return ENVELOPE + NUMBER * (len(message) - 1)


def negotiate(
    negotiation: Negotiation,
    values: ArrayLike,
    m: int,
    caps: ArrayLike,
    q: ArrayLike,
    seed: int = 0,
) -> Negotiated:
    """Negotiate in this process, without a network.

    Parameters
    ----------
    negotiation : Negotiation
        The two sides.
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`. Of these the local scheduler is
        told m and how many peers there are, and each peer its own value, cap and q.
    seed : int
        Of the random numbers that each draws for itself.

    Returns
    -------
    Negotiated
        The agreement, with the rounds, messages and bytes it took.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.
    """
    market = BundleMarket(values, m, caps, q)
    own = zip(market.values.tolist(), market.caps.tolist(), market.q.tolist(), strict=True)
    peers = [negotiation.peer(*known, own_generator(seed, i)) for i, known in enumerate(own)]
    scheduler = negotiation.scheduler(market.n_peers, market.m, own_generator(seed))
    rounds = messages = 0
    size = 0.0
    replies: list[Message] | None = None
    while True:
        try:
            call = next(scheduler) if replies is None else scheduler.send(replies)
        except StopIteration as end:
            agreement: Agreement = end.value
            break
        heard = [peers[i].reply(call.message) for i in call.peers]
        replies = heard if call.answers else []
        rounds += 1
        messages += len(call.peers) + len(replies)
        size += len(call.peers) * message_size(call.message) + sum(map(message_size, replies))
    amounts = market.check(agreement.amounts)
    paid = agreement.payments
    return Negotiated(
        amounts,
        agreement.price,
        rounds,
        messages,
        size,
        None if paid is None else checked_payments(paid, amounts),
    )
