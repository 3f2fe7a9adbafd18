"""What negotiations take on random markets: rounds, messages, bytes, and what peers tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp, log
from simplugin.errors import InfeasibleError
from simplugin.market.instances import ALPHA, Instance, instance
from simplugin.market.negotiations import NEGOTIATIONS, Negotiation, negotiate
from simplugin.market.negotiations.bisection import bisection_rounds
from simplugin.market.negotiations.clock import clock
from simplugin.market.negotiations.median import median_rounds
from simplugin.market.negotiations.secant import secant_rounds
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket

if TYPE_CHECKING:
    from simplugin.market.negotiations.protocol import Message, Peer
    from simplugin.workloads.bundle_markets import Floats

INSTANCES, QUICK_INSTANCES = 1000, 60
# Benefits and prices that differ by less are equal; relative.
EQUAL = 1e-9
# Those that only exchange prices and counts, and what tasks in doubt are worth.
CLEARING = ("bisection", "median", "secant")
# How many numbers of a reply are what tasks are worth; of those not listed none is, and of
# "worths" all are.
_TOLD = {
    "posted": 1, "retail": 1, "takes": 2, "quote": 1, "middle": 1, "split": 2, "base": 1, "limit": 1
}  # fmt: skip
BOUNDS: Mapping[str, Callable[[BundleMarket, float], int]] = {
    "bisection": bisection_rounds,
    "median": lambda market, _: median_rounds(int(market.caps.sum()), market.n_peers),
    "secant": lambda market, _: secant_rounds(int(market.caps.sum()), market.n_peers),
}


class _Counting:
    """A peer, and how many times it tells what a task is worth to it."""

    def __init__(self, peer: Peer, told: list[int]) -> None:
        self._peer, self._told = peer, told

    def reply(self, message: Message, /) -> Message:
        """Return the peer's answer."""
        answer = self._peer.reply(message)
        kind = answer[0]
        self._told[0] += len(answer) - 1 if kind == "worths" else _TOLD.get(kind, 0)
        return answer


def counting(negotiation: Negotiation, told: list[int]) -> Negotiation:
    """Return a negotiation whose peers count in `told` what they tell of tasks' worths."""

    def peer(value: float, cap: int, q: float, generator: np.random.Generator) -> Peer:
        return _Counting(negotiation.peer(value, cap, q, generator), told)

    return Negotiation(negotiation.name, negotiation.scheduler, peer)


@dataclass(frozen=True, eq=False)
class Effort:
    """What one negotiation took on a number of markets; arrays of shape (n_markets,).

    Attributes
    ----------
    gaps : float64
        By which part the benefit is below the largest.
    best : float64
        The largest benefit [price].
    rounds : float64
        Calls of the local scheduler.
    messages, bytes, told : float64
        Of each peer on average: messages in both directions, what they take [byte], and how many
        times it tells what one of its tasks is worth.
    bound : float64
        Rounds that it takes at most; inf where none is known.
    """

    gaps: Floats
    best: Floats
    rounds: Floats
    messages: Floats
    bytes: Floats
    told: Floats
    bound: Floats


def drawn_market(seed: int, own_rates: bool) -> BundleMarket:
    """Return the random market of a seed; with discount rates of each peer's own if wanted."""
    drawn: Instance = instance(seed)
    if not own_rates:
        return drawn.market
    low, high = log(ALPHA).tolist()
    rates = exp(np.random.default_rng([seed, 1]).uniform(low, high, len(drawn.values)))
    return BundleMarket(drawn.values, drawn.m, drawn.caps, 1 - rates)


@cache
def effort(name: str, quick: bool, own_rates: bool = False) -> Effort:
    """Return what a shipped negotiation takes on the markets of the first seeds.

    Parameters
    ----------
    name : str
        One of `NEGOTIATIONS`.
    quick : bool
        60 markets instead of 1000.
    own_rates : bool
        Whether each peer has a discount rate of its own.
    """
    lines = []
    for seed in range(QUICK_INSTANCES if quick else INSTANCES):
        market = drawn_market(seed, own_rates)
        given = (market.values, market.m, market.caps, market.q)
        best, told = largest_benefit(*given), [0]
        agreed = negotiate(counting(NEGOTIATIONS[name], told), *given, seed=seed)
        bound = BOUNDS[name](market, best.price) if name in BOUNDS else np.inf
        each = (agreed.messages, agreed.bytes, told[0])
        lines.append(
            (
                1 - market.benefit(agreed.amounts) / best.benefit,
                best.benefit,
                agreed.rounds,
                *(number / market.n_peers for number in each),
                bound,
            )
        )
    return Effort(*np.array(lines, dtype=np.float64).T)


@dataclass(frozen=True)
class Clocks:
    """How clocks of one step fare.

    Attributes
    ----------
    rounds : tuple of int
        Of those that end.
    cycles : int
        How many repeat themselves for ever.
    open : int
        How many had done neither after the most rounds that were waited for.
    """

    rounds: tuple[int, ...]
    cycles: int
    open: int

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rounds) + self.cycles + self.open


@cache
def clocks(step: float, quick: bool) -> Clocks:
    """Return how clocks of one step fare on the markets of the first seeds, from a price of 1.

    Parameters
    ----------
    step : float
        Part of the relative excess demand by which ln p moves.
    quick : bool
        60 markets instead of 1000.
    """
    rounds: list[int] = []
    cycles = open_ = 0
    for seed in range(QUICK_INSTANCES if quick else INSTANCES):
        try:
            rounds.append(negotiate(clock(step), *instance(seed).arguments).rounds)
        except InfeasibleError as error:
            cycle, cut = (words in str(error) for words in ("never ends", "has not ended"))
            if not cycle ^ cut:
                raise
            cycles += cycle
            open_ += cut
    return Clocks(tuple(rounds), cycles, open_)
