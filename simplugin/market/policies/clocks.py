"""Clocks: prices that rise until peers clinch all tasks, or move with the excess demand."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from simplugin.core.elementary import exp
from simplugin.core.errors import InfeasibleError, WorkloadError
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

# How finely the start is looked for: widest bracket of the logarithm of its price.
START = 0.01
LEAST_TICK = 1e-6


def clinching(tick: float | None = None) -> BundleNegotiation:
    """Return a clock that rises until peers want no more tasks than there are.

    Whenever all others together want fewer tasks than there are, a peer clinches the difference
    at the price of that moment [1]_. With falling values and a clock that stops wherever someone
    wants a task less, that is the largest benefit and VCG's payments, with tasks that nobody else
    takes for nothing (``unsold="worthless"`` of
    `simplugin.market.mechanisms.vickrey_clarke_groves`). To answer truly is best for a peer as
    long as the others answer by some values of theirs.

    All peers say how many tasks they take at most, and how many they want at prices by which the
    local scheduler finds the start of the clock: bisection, where nobody has clinched anything yet
    or as good as free. Then all say up to which price they want as many as there, and the clock
    stops at the lowest of these; whose it is takes a task less, and is asked again. Of peers that
    leave at one price the highest number does first.

    Parameters
    ----------
    tick : float, optional
        The clock rises by factors of exp(tick), and peers answer with whole numbers only, all of
        them at each tick. Where more leave in the last tick than may, those of high numbers do.
        The benefit is right to that factor, and nobody pays more for a task than that many times
        its VCG price.

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
    """Let the clock stop wherever someone wants a task less."""
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
    """Tasks that peers still want, and payments for those that they have clinched."""

    def __init__(self, m: int, demand: Amounts) -> None:
        self._m, self.demand = m, demand
        self._clinched = clinched(demand, m)
        self._payments = np.zeros(len(demand))

    @property
    def excess(self) -> int:
        """Number of tasks wanted in excess of those there are."""
        return int(self.demand.sum()) - self._m

    def leave(self, leaving: Amounts, log_price: float) -> None:
        """Note that peers want fewer tasks; others clinch what that leaves to them."""
        self.demand = self.demand - leaving
        now = clinched(self.demand, self._m)
        self._payments += (now - self._clinched) * exp(log_price)
        self._clinched = now

    def agreement(self) -> Agreement:
        """Return what is sold."""
        return Agreement(self.demand, float(self._payments.sum()) / self._m, self._payments)


def clinched(demand: Amounts, m: int) -> Amounts:
    """Return how many tasks are left to each peer by what the others want."""
    left: Amounts = m - (demand.sum() - demand)
    return np.maximum(0, left)


def _start(n_peers: int, m: int) -> Generator[Call, list[Message], tuple[float, Amounts]]:
    """Find a price below which nothing is clinched; return its logarithm and the demand there."""
    limits, _ = yield from opening(n_peers, m, ("open", m))
    free = clinched(limits, m)
    # From one unit of price by ever longer steps, as values are not known.
    low, high, step, at = -math.inf, math.inf, 1.0, 0.0
    demand, asked = limits, False
    while high - low > START:
        (counts,) = yield from ask_all(n_peers, ("price", at))
        wanted = counts_of(counts)
        if at == LOWEST:
            # What is worth nothing to others is clinched for nothing; look for the start again.
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
    """Return who leaves if no more may than the tasks wanted in excess: high numbers first."""
    before = np.cumsum(leaving[::-1]) - leaving[::-1]
    going: Amounts = np.clip(excess - before, 0, leaving[::-1])
    return going[::-1]


CLINCHING = clinching()


STEP, ROUNDS = 0.1, 20_000


def clock(step: float = STEP, start: float = 0.0, rounds: int = ROUNDS) -> BundleNegotiation:
    r"""Return tatonnement with a fixed step: ln p grows by step (D - m) / m in each round.

    It ends when demand D is m, at whichever price that clears the market it has come to. Demand is
    whole numbers, so that it may jump from above m to below and the price go up and down for ever.
    The sum of all D - m gives the price; once it has been there before, all that follows is known,
    and the negotiation fails.

    Parameters
    ----------
    step : float
        Part of the relative excess demand by which the price's logarithm moves.
    start : float
        Logarithm of the first price.
    rounds : int
        After how many to give up.
    """
    if not (math.isfinite(step) and math.isfinite(start)):
        raise WorkloadError(f"step is {step!r} and start {start!r}; give finite numbers")

    def scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
        yield from opening(n_peers, m, ("open", m))
        # A whole number, so that a price that comes again is the same to the last bit.
        excess = 0
        seen: dict[int, int] = {}
        while excess not in seen and len(seen) < rounds:
            seen[excess] = len(seen)
            price = start + step * excess / m
            (counts,) = yield from ask_all(n_peers, ("price", price))
            wanted = counts_of(counts)
            if wanted.sum() == m:
                return Agreement(wanted, exp(price))
            excess += int(wanted.sum()) - m
        why = f"has not ended after {rounds} rounds"
        if excess in seen:
            first, period = seen[excess] + 1, len(seen) - seen[excess]
            why = f"never ends: its prices of round {first} on come again every {period} rounds"
        raise InfeasibleError(f"a clock of step {step:g} {why}; negotiate by bisection")

    return BundleNegotiation(f"clock {step:g}", scheduler, AnsweringPeer)
