"""Double auctions between a local scheduler that sells tasks and peers that buy them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, log
from simplugin.market.policies.clearing import opening
from simplugin.market.policies.negotiation import (
    Agreement,
    AnsweringPeer,
    BundleNegotiation,
    Call,
    Message,
    Scheduler,
    negotiate,
    party_generator,
)
from simplugin.market.policies.shares import one_by_one
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import Amounts, BundleMarket

_DRAWN_AT_ONCE = 256


def double_auction(
    values: ArrayLike,
    n_tasks: int,
    capacities: ArrayLike,
    discounts: ArrayLike | None = None,
    /,
    *,
    seed: int = 0,
) -> tuple[Amounts, float]:
    """Return the result of a continuous double auction of zero-intelligence traders [1]_.

    Traders arrive one after another. With probability 1/2 the local scheduler arrives and asks a
    price for its next task, uniform between 0 and the largest value of a next task of a peer under
    its cap. Otherwise one of the peers under their caps, each with equal probability, bids for one
    task, uniform between 0 and the value of its next task, V_i q^(k-1) for the k-th. The best bid
    and the best ask stand. Once the bid reaches the ask, a task is sold at the price of the earlier
    of the two, and all bids and asks are withdrawn. The auction ends when all m tasks are sold. A
    peer at its cap does not bid.

    The scheduler's uniform draws (the arriving trader, then its ask) and each peer's, one a bid,
    come from separate generators, see `party_generator`. [2]_ only cites double auctions; this is
    one reading.

    Parameters
    ----------
    values, n_tasks, capacities, discounts
        As `values`, `m`, `caps` and `q` of `simplugin.workloads.bundle_markets.BundleMarket`.
    seed : int
        Seed of the draws.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Mean of the prices at which tasks were sold [price].

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.

    References
    ----------
    .. [1] D. K. Gode, S. Sunder (1993). Allocative efficiency of markets with zero-intelligence
       traders. Journal of Political Economy 101(1).
    .. [2] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    agreed = negotiate(DOUBLE_AUCTION, values, n_tasks, capacities, discounts, seed)
    return agreed.amounts, agreed.price


def double_auction_rounds(
    values: ArrayLike,
    n_tasks: int,
    capacities: ArrayLike,
    discounts: ArrayLike | None = None,
    /,
    *,
    seed: int = 0,
) -> tuple[Amounts, float]:
    """Return the result of a double auction in rounds, each of which serves the best bid.

    In each round the local scheduler asks and all peers under their caps bid, from the same
    ranges as in `double_auction`. If the best bid reaches the ask, a task is sold at the mean of
    the two; ties go to the lowest number. Draws come from the same generators, one for each trader
    and round. Parameters and errors as those of `double_auction`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Mean of the prices at which tasks were sold [price].
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    scheduler, *peers = _draws(seed, market.n_peers)
    worth = market.log_worth(1).copy()
    amounts = np.zeros_like(market.caps)
    paid, sold = 0.0, 0
    while sold < market.m:
        open_ = np.flatnonzero(amounts < market.caps)
        ask = worth[open_].max() + log(next(scheduler))
        bids = worth[open_] + log([next(peers[peer]) for peer in open_.tolist()])
        bid, winner = float(bids.max()), int(open_[np.argmax(bids)])
        if bid < ask:
            continue
        paid += (exp(bid) + exp(ask)) / 2
        sold += 1
        amounts[winner] += 1
        worth[winner] = float(market.log_worth(amounts[winner] + 1, winner))
    return amounts, paid / market.m


def uniform_draws(generator: np.random.Generator) -> Iterator[float]:
    """Yield uniform numbers above 0 and up to 1, as if drawn one by one."""
    while True:
        yield from (1 - generator.random(_DRAWN_AT_ONCE)).tolist()


def _draws(seed: int, n_peers: int) -> list[Iterator[float]]:
    """Return the uniform numbers of the local scheduler, then those of each peer."""
    return [uniform_draws(party_generator(seed, peer)) for peer in (None, *range(n_peers))]


def arriving(draw: float, open_: list[int]) -> int | None:
    """Return the arriving peer for a uniform number in (0, 1]; None for the scheduler."""
    if draw > 0.5:
        return None
    return open_[min(int(2 * draw * len(open_)), len(open_) - 1)]


def double_auction_marginal(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the result of a double auction in which peers bid the value of their next task.

    Tasks go to the highest bids, which is the maximum of the benefit; ties go to the lowest
    number. Parameters and errors as those of `double_auction`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The lowest bid that gets a task [price].
    """
    best = largest_benefit(values, n_tasks, capacities, discounts)
    return best.amounts, best.price


def double_auction_mean(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the result of a double auction in which peers bid their mean price after the deal.

    A peer of k tasks bids v_i(k + 1), Eq. (7), for the next; the highest bid gets it, of equal
    ones that of the lowest number. It ends in the whole numbers nearest to the balanced state.
    Parameters and errors as those of `double_auction`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The lowest bid that gets a task [price].
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    # For a table, the factors are the values themselves.
    table = None if market.table is None else market.table.tolist()
    first = market.values.tolist() if table is None else [1.0] * market.n_peers
    kept = market.q.tolist() if table is None else first
    limits, amounts = market.caps.tolist(), [0] * market.n_peers
    # Sums of q^k by additions and multiplications, which round the same on every CPU.
    powers = [1.0] * market.n_peers if table is None else [row[0] for row in table]
    sums = powers.copy()
    book = [(-first[peer] * sums[peer], peer) for peer in range(market.n_peers) if limits[peer] > 0]
    heapq.heapify(book)
    last = 0.0
    for _ in range(market.m):
        last, peer = book[0]
        amounts[peer] += 1
        if amounts[peer] == limits[peer]:
            heapq.heappop(book)
        else:
            again = powers[peer] * kept[peer]
            powers[peer] = again if table is None else table[peer][amounts[peer]]
            sums[peer] += powers[peer]
            heapq.heapreplace(book, (-first[peer] * sums[peer] / (amounts[peer] + 1), peer))
    return np.array(amounts, dtype=np.int64), -last


def double_auction_dearest(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the result of a double auction in which peers bid their base prices.

    The highest bidder gets as many tasks as it may, then the next; ties go to the lowest number.
    Parameters and errors as those of `double_auction`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The lowest bid that gets a task [price].
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    amounts = one_by_one(market.m, market.caps, np.argsort(-market.values, kind="stable"))
    return amounts, float(market.values[amounts > 0].min())


class BiddingPeer(AnsweringPeer):
    """A peer that bids uniformly up to the value of its next task, by its own draws."""

    def __init__(
        self, value: ArrayLike, cap: int, q: float | None, generator: np.random.Generator
    ) -> None:
        super().__init__(value, cap, q)
        self._draws = uniform_draws(generator)
        self._bought = 0

    def reply(self, message: Message, /) -> Message:
        """Return a bid, or the next value after a sale; logarithms.

        The answer to ``("bid",)`` is a bid, that to ``("sold",)`` the next task's value. Other
        questions are answered as by `AnsweringPeer`.
        """
        if message[0] == "bid":
            return ("bid", self.log_worth(self._bought + 1) + log(next(self._draws)))
        if message[0] == "sold":
            self._bought += 1
            return ("limit", self.log_worth(self._bought + 1))
        return super().reply(message)


def _scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:
    """Request a bid of each arriving peer, and notify peers of their purchases.

    The scheduler's asks depend on the largest value of a next task; peers report theirs at the
    beginning and after each purchase. The number of rounds is that of bids and sales, plus one.
    """
    caps, (first,) = yield from opening(n_peers, m, ("begin", m))
    draws, worth = uniform_draws(generator), first.tolist()
    amounts = np.zeros_like(caps)
    open_ = np.flatnonzero(caps).tolist()
    paid = 0.0
    for _ in range(m):
        winner, log_price = yield from _trade(draws, open_, max(worth[peer] for peer in open_))
        paid += exp(log_price)
        amounts[winner] += 1
        ((_, worth[winner]),) = yield Call((winner,), ("sold",))
        if amounts[winner] == caps[winner]:
            open_.remove(winner)
    return Agreement(amounts, paid / m)


def _trade(
    draws: Iterator[float], open_: list[int], top: float
) -> Generator[Call, list[Message], tuple[int, float]]:
    """Return the buyer of the next task, and the logarithm of its price."""
    bid, ask, bidder = -math.inf, math.inf, -1
    while True:
        peer = arriving(next(draws), open_)
        if peer is None:
            asked = top + log(next(draws))
            if asked <= bid and bidder >= 0:
                return bidder, bid
            ask = min(ask, asked)
        else:
            ((_, offered),) = yield Call((peer,), ("bid",))
            if offered >= ask:
                return peer, ask
            if offered > bid or bidder < 0:  # a bid of 0 is one
                bid, bidder = offered, peer


DOUBLE_AUCTION = BundleNegotiation("double_auction", _scheduler, BiddingPeer)
