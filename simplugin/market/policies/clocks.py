"""Clocks: prices that rise until peers clinch all tasks, or move with the excess demand."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from simplugin.core.elementary import exp
from simplugin.core.errors import WorkloadError
from simplugin.market.policies.clearing import DEEP, ask_all, counts_of, opening
from simplugin.market.policies.negotiation import (
    Agreement,
    AnsweringPeer,
    BundleNegotiation,
    Call,
    Message,
    Scheduler,
)
from simplugin.workloads.bundle_markets import LOWEST, Amounts, in_order

# Width of the bracket of the start, as a logarithm of the price.
START = 0.01
LEAST_TICK = 1e-6


def clinching(tick: float | None = None) -> BundleNegotiation:
    """Return a clock that rises until peers want no more tasks than there are.

    Whenever the demand of all others is below the number of tasks, a peer clinches the difference
    at the current price [1]_. With falling values and a clock that stops at each decrease of
    demand, the result has the largest benefit and VCG's payments, where tasks without another taker
    are free (``unsold="worthless"`` of `simplugin.market.mechanisms.vickrey_clarke_groves`). The
    truth is a peer's best answer as long as the others answer by some values of theirs.

    All peers report their caps, and their demand at prices by which the local scheduler finds the
    start of the clock by bisection: a price at which no peer has clinched a task, or only at a
    price near 0. Then all report up to which price their demand stays, and the clock stops at the
    lowest of these prices; that peer wants a task less, and reports again. Of peers that leave at
    one price the highest number leaves first.

    Parameters
    ----------
    tick : float, optional
        Step of the price's logarithm, at each of which all peers report their demand. If too many
        tasks are left in the last tick, peers of high numbers leave first. The benefit is within
        that factor of the largest, and payments are at most that factor above VCG's. None for a
        clock that stops at each decrease of demand.

    Returns
    -------
    BundleNegotiation
        Its agreement has payments; its price is their mean for a task.

    Raises
    ------
    WorkloadError
        The tick is too small.

    References
    ----------
    .. [1] L. M. Ausubel (2004). An efficient ascending-bid auction for multiple objects. American
       Economic Review 94(5).
    """
    if tick is None:
        return BundleNegotiation("clinching", _exact, AnsweringPeer)
    if not LEAST_TICK <= tick < math.inf:
        raise WorkloadError(f"tick is {tick!r}; each is a round: give a number from {LEAST_TICK:g}")
    step = tick

    def ticking(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
        log_price, demand = yield from _start(n_peers, m)
        sale = _Sale(m, demand)
        while sale.excess > 0:
            log_price += step
            (counts,) = yield from ask_all(n_peers, ("price", log_price))
            sale.leave(_rationed(sale.demand - counts_of(counts), sale.excess), log_price)
        return sale.agreement()

    return BundleNegotiation("ticking", ticking, AnsweringPeer)


def _exact(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    """Stop the clock at each decrease of demand."""
    log_price, demand = yield from _start(n_peers, m)
    sale = _Sale(m, demand)
    if sale.excess > 0:
        _, exits = yield from ask_all(n_peers, ("exit", log_price, m))
    while sale.excess > 0:
        log_price = float(exits.min())
        last = int(np.flatnonzero(exits == log_price)[-1])
        sale.leave(np.bincount([last], minlength=n_peers), log_price)
        if sale.excess > 0:
            ((_, _, exits[last]),) = yield Call(
                (last,), ("exit", log_price, int(sale.demand[last]))
            )
    return sale.agreement()


class _Sale:
    """Demand of peers, and payments for the tasks that they have clinched."""

    def __init__(self, m: int, demand: Amounts) -> None:
        self._m, self.demand = m, demand
        self._clinched = clinched(demand, m)
        self._payments = np.zeros(len(demand))

    @property
    def excess(self) -> int:
        """Demand in excess of the number of tasks."""
        return int(self.demand.sum()) - self._m

    def leave(self, leaving: Amounts, log_price: float) -> None:
        """Reduce the demand of peers; others clinch the tasks that this leaves."""
        self.demand = self.demand - leaving
        now = clinched(self.demand, self._m)
        self._payments += (now - self._clinched) * exp(log_price)
        self._clinched = now

    def agreement(self) -> Agreement:
        """Return the agreement."""
        return Agreement(self.demand, float(self._payments.sum()) / self._m, self._payments)


def clinched(demand: Amounts, m: int) -> Amounts:
    """Return the number of tasks that the others' demand leaves to each peer."""
    left: Amounts = m - (demand.sum() - demand)
    return np.maximum(0, left)


def _start(n_peers: int, m: int) -> Generator[Call, list[Message], tuple[float, Amounts]]:
    """Find a price below which no task is clinched; return its logarithm and the demand."""
    limits, _ = yield from opening(n_peers, m, ("open", m))
    free = clinched(limits, m)
    # From the price 1 by growing steps, as values are unknown.
    low, high, step, at = -math.inf, math.inf, 1.0, 0.0
    demand, asked = limits, False
    while high - low > START:
        (counts,) = yield from ask_all(n_peers, ("price", at))
        wanted = counts_of(counts)
        if at == LOWEST:
            # Tasks that are worthless to others are clinched for free; find the start again.
            over, asked = m - int(wanted.sum()), True
            if over >= 0:
                return at, wanted + in_order(over, limits - wanted)
            free, demand = clinched(wanted, m), wanted
            high, step, at = math.inf, 1.0, 0.0
            continue
        if wanted.sum() >= m and np.array_equal(clinched(wanted, m), free):
            low, demand = at, wanted
        else:
            high = at
        if math.isfinite(high - low):
            at = 0.5 * (low + high)
        elif high < math.inf and high - step < DEEP and not asked:
            at = LOWEST
        else:
            at, step = (low + step if high == math.inf else high - step), 2 * step
    return low, demand


def _rationed(leaving: Amounts, excess: int) -> Amounts:
    """Limit the tasks that are left to the excess demand, high numbers first."""
    before = np.cumsum(leaving[::-1]) - leaving[::-1]
    going: Amounts = np.clip(excess - before, 0, leaving[::-1])
    return going[::-1]


CLINCHING = clinching()
