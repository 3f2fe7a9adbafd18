"""The continuous double auction as messages: peers bid by numbers that they draw themselves."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from simplugin.elementary import exp, log
from simplugin.errors import WorkloadError
from simplugin.market.auctions import arriving, uniform_draws
from simplugin.market.negotiations.brackets import Bracket, ask_all, counts_of
from simplugin.market.negotiations.own_tasks import OwnTasks
from simplugin.market.negotiations.protocol import (
    Agreement,
    Call,
    Message,
    Negotiation,
    Scheduler,
)


class BiddingPeer:
    """A peer that bids any price up to what its next task is worth.

    Parameters
    ----------
    own : OwnTasks
        What tasks are worth to it.
    draws : iterator of float
        Its uniform numbers.
    """

    def __init__(self, own: OwnTasks, draws: Iterator[float]) -> None:
        self._own, self._draws = own, draws
        self._bought = 0

    def reply(self, message: Message, /) -> Message:
        """Return what it knows, a bid, or what the next task is worth after a sale; logarithms.

        ``("begin", m)`` is answered by its cap and the first task's worth, ``("bid",)`` by a bid,
        ``("sold",)`` by the next task's worth.
        """
        own = self._own
        match message[0]:
            case "begin":
                return ("limit", own.limit(message[1]), own.log_worth(1))
            case "bid":
                worth = own.log_worth(self._bought + 1)
                return ("bid", worth + log(next(self._draws)))
            case "sold":
                self._bought += 1
                return ("limit", own.log_worth(self._bought + 1))
        raise WorkloadError(f"a peer is asked {message[0]!r}, which it does not understand")


def double_auction(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:
    """Sell as `simplugin.market.auctions.double_auction` does, with the same draws.

    A peer that arrives is asked for its bid, and told when it has bought. The highest ask is what
    any peer would pay, which peers therefore have to tell: once at the beginning, and after each
    task that they buy. There are as many rounds as bids and sales, and one.

    Parameters
    ----------
    n_peers, m : int
        How many peers and tasks there are.
    generator : Generator
        Of the local scheduler's draws: who arrives, and what it asks.
    """
    limits, first = yield from ask_all(n_peers, ("begin", m))
    caps = counts_of(limits)
    Bracket.everything(m, caps)  # refuses what does not fit
    draws, worth = uniform_draws(generator), first.tolist()
    amounts = np.zeros_like(caps)
    open_ = np.flatnonzero(caps).tolist()
    paid = 0.0
    for _ in range(m):
        top = max(worth[peer] for peer in open_)
        winner, log_price = yield from _trade(draws, open_, top)
        paid += exp(log_price)
        amounts[winner] += 1
        ((_, worth[winner]),) = yield Call((winner,), ("sold",))
        if amounts[winner] == caps[winner]:
            open_.remove(winner)
    return Agreement(amounts, paid / m)


def _trade(
    draws: Iterator[float], open_: list[int], top: float
) -> Generator[Call, list[Message], tuple[int, float]]:
    """Return who buys the next task, and the logarithm of its price."""
    bid, ask, bidder = -math.inf, math.inf, -1
    while True:
        peer = arriving(next(draws), open_)
        if peer is None:
            asked = top + log(next(draws))
            if asked <= bid:
                return bidder, bid
            ask = min(ask, asked)
        else:
            ((_, offered),) = yield Call((peer,), ("bid",))
            if offered >= ask:
                return peer, ask
            if offered > bid:
                bid, bidder = offered, peer


def bidding_peer(value: float, cap: int, q: float, generator: np.random.Generator) -> BiddingPeer:
    """Return a peer that bids by numbers of its own."""
    return BiddingPeer(OwnTasks(value, cap, q), uniform_draws(generator))


DOUBLE_AUCTION = Negotiation("double_auction", double_auction, bidding_peer)
