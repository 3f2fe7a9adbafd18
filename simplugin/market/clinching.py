"""A rising clock at which peers clinch tasks, and so pay VCG prices without reporting values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.market.mechanisms import Settlement
from simplugin.workloads.bundle_markets import BundleMarket, Floats

# How finely the start is looked for: widest bracket of the logarithm of its price.
_START = 0.01


@dataclass(frozen=True, eq=False)
class Clock:
    """What came out of a rising clock.

    Attributes
    ----------
    settlement : Settlement
        Tasks that peers clinched and what they pay for them.
    starting : int
        Rounds that found the price at which the clock starts.
    rising : int
        Rounds in which the clock rose.
    """

    settlement: Settlement
    starting: int
    rising: int

    @property
    def rounds(self) -> int:
        """How often the local scheduler named a price and all peers answered."""
        return self.starting + self.rising

    @property
    def messages(self) -> int:
        """How many messages were exchanged: a price to each peer and a demand from each."""
        return 2 * self.rounds * self.settlement.market.n_peers


@dataclass
class _Bidders:
    """Peers that answer how many tasks they want at a price, and nothing else."""

    market: BundleMarket

    def demand(self, log_price: float) -> Floats:
        """Return how many tasks each wants at a price; of ties it wants them."""
        return self.market.above(log_price).astype(np.float64)

    def exits(self, demand: Floats) -> Floats:
        """Return the logarithm of the price up to which each wants as many as it does."""
        return np.where(demand > 0, self.market.log_worth(demand), np.inf)


def ascending_clock(market: BundleMarket, *, tick: float | None = None) -> Clock:
    """Sell tasks at a price that rises until peers want no more than there are.

    Whenever all others together want fewer tasks than there are, a peer clinches the difference
    at the price of that moment [1]_. With falling values and a clock that stops wherever someone
    wants a task less, that is the largest benefit and VCG's payments, with tasks that nobody else
    takes for nothing (``unsold="worthless"``). To answer truly is best for a peer as long as the
    others answer by some values of theirs.

    The clock starts where nobody has clinched anything yet, or as good as free, found by bisection
    of the price with the same questions.

    Parameters
    ----------
    market : BundleMarket
        What tasks are really worth; each peer only answers for itself.
    tick : float, optional
        The clock rises by factors of exp(tick), and peers answer with whole numbers only. Where
        more leave in the last tick than may, those of high numbers do. The benefit is right to
        that factor, and nobody pays more for a task than that many times its VCG price. Without,
        peers answer also up to which price they want as many, and the clock stops at the next such
        price.

    Returns
    -------
    Clock
        Who got what for how much, in how many rounds.

    Raises
    ------
    WorkloadError
        The tick is not positive.

    References
    ----------
    .. [1] L. M. Ausubel (2004). An efficient ascending-bid auction for multiple objects. American
       Economic Review 94(5).
    """
    if tick is not None and not 0 < tick < np.inf:
        raise WorkloadError(f"tick is {tick!r}; give a positive number")
    bidders = _Bidders(market)
    log_price, starting = _start(bidders)
    demand = bidders.demand(log_price)
    clinched = _clinched(demand, market.m)
    payments = np.zeros(market.n_peers)
    rising = 0
    while demand.sum() > market.m:
        exits = bidders.exits(demand)
        if tick is None:
            rising += 1
            # Of those that leave at one price the highest number leaves first.
            log_price = float(exits.min())
            leaving = np.zeros_like(demand)
            leaving[np.flatnonzero(exits == log_price)[-1]] = 1
        else:
            # Rounds in which nobody leaves count, too.
            ticks = _ticks(log_price, tick, float(exits.min()))
            rising, log_price = rising + ticks, log_price + ticks * tick
            leaving = _rationed(demand - bidders.demand(log_price), demand.sum() - market.m)
        demand = demand - leaving
        more = _clinched(demand, market.m)
        payments += (more - clinched) * np.exp(log_price)
        clinched = more
    amounts = demand.astype(np.int64)
    return Clock(Settlement(market, amounts, payments), starting, rising)


def _clinched(demand: Floats, m: int) -> Floats:
    """Return how many tasks are left to each peer by what the others want."""
    left: Floats = m - (demand.sum() - demand)
    return np.maximum(0, left)


def _start(bidders: _Bidders) -> tuple[float, int]:
    """Return the logarithm of a price below which nothing is clinched, and rounds to find it."""
    m = bidders.market.m
    free = _clinched(bidders.demand(-np.inf), m)
    rounds = 1

    def is_low(log_price: float) -> bool:
        nonlocal rounds
        rounds += 1
        demand = bidders.demand(log_price)
        return bool(demand.sum() >= m and np.all(_clinched(demand, m) == free))

    # From one unit of price by ever longer steps, as values are not known.
    low = high = 0.0
    step = 1.0
    if is_low(low):
        while is_low(high := low + step):
            low, step = high, 2 * step
    else:
        while not is_low(low := high - step):
            high, step = low, 2 * step
    while high - low > _START:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low, rounds


def _ticks(log_price: float, tick: float, leaving: float) -> int:
    """Return after how many ticks the price is above that at which the next one leaves."""
    return int(np.floor((leaving - log_price) / tick)) + 1


def _rationed(leaving: Floats, excess: float) -> Floats:
    """Return who leaves if no more may than the tasks wanted in excess: high numbers first."""
    before = np.cumsum(leaving[::-1]) - leaving[::-1]
    going: Floats = np.clip(excess - before, 0, leaving[::-1])
    return going[::-1]
