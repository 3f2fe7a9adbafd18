"""Bisection: the local scheduler announces prices, peers answer how many tasks they want."""

from __future__ import annotations

import math

import numpy as np

from simplugin.elementary import log, log2
from simplugin.market.negotiations.answering_peers import answering_peer
from simplugin.market.negotiations.brackets import Bracket, ask_all, counts_of
from simplugin.market.negotiations.protocol import Negotiation, Scheduler
from simplugin.workloads.bundle_markets import BundleMarket

# Doubtful tasks of each peer, on average, that are left to the last round.
SETTLED = 2


def bisection(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    """Announce prices until few tasks are in doubt, then ask what these are worth.

    The first price is 1. Steps of 1, 2, 4 and so on of its logarithm find two prices between which
    the bundle clears; these are bisected until no more than two tasks a peer are in doubt. No peer
    tells what a task is worth to it unless it is in doubt then. The result is optimal, ties
    included. `bisection_rounds` says how many rounds that takes at most.

    Parameters
    ----------
    n_peers, m : int
        How many peers and tasks there are.
    generator : Generator
        Not drawn from.
    """
    (caps,) = yield from ask_all(n_peers, ("open", m))
    bracket = Bracket.everything(m, counts_of(caps))
    price, step = 0.0, 1.0
    while not bracket.decided(SETTLED * n_peers):
        (counts,) = yield from ask_all(n_peers, ("price", price))
        bracket = bracket.heard(price, counts_of(counts))
        price, step = _next(bracket, step)
    return (yield from bracket.settle())


def _next(bracket: Bracket, step: float) -> tuple[float, float]:
    """Return the next price and the step after it while one end is open."""
    if bracket.high == math.inf:
        return bracket.low + step, 2 * step
    if bracket.low == -math.inf:
        return bracket.high - step, 2 * step
    return 0.5 * (bracket.low + bracket.high), step


def bisection_rounds(market: BundleMarket, price: float) -> int:
    r"""Return how many rounds bisection takes at most.

    With the highest clearing price p*, the smallest :math:`j` such that
    :math:`2^j - 1 > |\ln p^*|`, and the least :math:`s = \ln 1/q_i`, the steps outward take
    :math:`j + 1` rounds and leave a width of at most :math:`2^{j-1}`, in which each peer has no
    more than two tasks in doubt once it is below :math:`s`. The opening and the settlement make two
    more.

    Parameters
    ----------
    market : BundleMarket
        Of all peers.
    price : float
        What the last task that is sold is worth [price].
    """
    distance = abs(log(price))
    outward = max(1, math.ceil(log2(distance + 1)))
    if 2**outward - 1 <= distance:
        outward += 1
    narrow = math.ceil(outward - 1 - log2(float(-market.log_q.max())))
    return 2 + outward + 1 + max(0, narrow)


BISECTION = Negotiation("bisection", bisection, answering_peer)
