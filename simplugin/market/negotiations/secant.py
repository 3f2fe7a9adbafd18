"""Secants: prices at which demand should be right, guessed from what peers have answered."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from simplugin.elementary import log
from simplugin.market.negotiations.answering_peers import answering_peer, following
from simplugin.market.negotiations.bisection import SETTLED
from simplugin.market.negotiations.brackets import Bracket, ask_all, counts_of, weighted_median
from simplugin.market.negotiations.demand_models import DemandModel
from simplugin.market.negotiations.protocol import (
    Call,
    Message,
    Negotiation,
    Scheduler,
)
from simplugin.workloads.bundle_markets import Amounts

# Doubtful tasks beyond `SETTLED` a peer that are left to the last round.
SPARE = 2
# Guesses that may be made before half the doubtful tasks are settled.
GUESSES = 2


def secant(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    r"""Announce two prices a round, between which the bundle should clear.

    Peers first quote what their task would be worth in an equal split: at the lowest quote they
    want at least m tasks, above the highest fewer, and if all buy and have one discount rate the
    mean of the quotes clears the bundle but for half a task a peer. How counts change with the
    price then tells by how much each peer's worths fall, and so at which two prices half of n + 2
    tasks more, and fewer, than m are wanted. Once two prices leave no more than 2 n + 2 tasks in
    doubt, one round settles these.

    Guesses may fail, for peers whose worths fall otherwise. If two of them do not halve the
    doubtful tasks, two rounds therefore find and announce the weighted median of the middle ones,
    which settles a quarter of them: see `secant_rounds`. The result is optimal, ties included.

    Parameters
    ----------
    n_peers, m : int
        How many peers and tasks there are.
    generator : Generator
        Not drawn from.
    """
    bracket, model, pair = yield from _opened(n_peers, m)
    few = SETTLED * n_peers + SPARE
    if not bracket.decided(few):
        bracket = yield from _announce(bracket, model, pair)
    while not bracket.decided(few):
        aim, guesses = bracket.doubt // 2, 0
        pair = _guessed(bracket, model)
        while guesses < GUESSES and bracket.doubt > aim and pair[0] < pair[1]:
            bracket = yield from _announce(bracket, model, pair)
            if bracket.decided(few):
                return (yield from bracket.settle())
            pair = _guessed(bracket, model)
            guesses += 1
        if bracket.doubt > aim:
            asked = ("middle", bracket.low, bracket.high)
            (middles,) = yield from ask_all(n_peers, asked)
            pivot = weighted_median(middles, bracket.doubtful)
            bracket = yield from _announce(bracket, model, (pivot, following(pivot)))
    return (yield from bracket.settle())


def secant_rounds(total: int, n_peers: int) -> int:
    """Return how many rounds secants take at most, whatever peers answer.

    Parameters
    ----------
    total : int
        How many tasks all peers take at most, none more than there are.
    n_peers : int
        How many peers there are.
    """
    quarters = log(max(1.0, total / (SETTLED * n_peers + SPARE))) / log(4 / 3)
    # Two openings, the first prices, guesses and a median for each quarter, the settlement.
    return 4 + (GUESSES + 2) * max(0, math.ceil(quarters))


def _opened(
    n_peers: int, m: int
) -> Generator[Call, list[Message], tuple[Bracket, DemandModel, tuple[float, float]]]:
    """Ask for caps and what a task of an equal split is worth; return the first two prices."""
    share = -(-m // n_peers)
    limits, worth = yield from ask_all(n_peers, ("quote", share, m))
    caps = counts_of(limits)
    bracket = Bracket.everything(m, caps)
    if np.minimum(caps, share).sum() < m:
        share = _level(m, caps)
        _, worth = yield from ask_all(n_peers, ("quote", share, m))
    some = worth[caps >= share]
    low = float(np.clip(some.mean(), some.min(), some.max()))
    high = max(float(some[some >= low].mean()), following(low))
    return bracket, DemandModel(np.minimum(caps, share), worth, caps), (low, high)


def _level(m: int, caps: Amounts) -> int:
    """Return the least number of tasks of a peer such that all are placed under the caps."""
    sizes = np.sort(caps)
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    open_ = np.arange(len(caps), 0, -1)
    levels = -(-(m - before) // open_)
    return int(levels[np.argmax(levels <= sizes)])


def _announce(
    bracket: Bracket, model: DemandModel, pair: tuple[float, float]
) -> Generator[Call, list[Message], Bracket]:
    """Ask all peers how many tasks they want at two prices."""
    answers = yield from ask_all(len(bracket.most), ("prices", *pair))
    for price, counts in zip(pair, answers, strict=True):
        wanted = counts_of(counts)
        model.heard(price, wanted)
        bracket = bracket.heard(price, wanted)
    return bracket


def _guessed(bracket: Bracket, model: DemandModel) -> tuple[float, float]:
    """Return the two prices between which about n tasks are in doubt; or NaN."""
    margin = 0.5 * (SETTLED - 1) * len(bracket.most) + 0.5 * SPARE
    totals = (bracket.m + margin, bracket.m - margin)
    low, high = model.prices(totals, bracket.low, bracket.high).tolist()
    return low, high


SECANT = Negotiation("secant", secant, answering_peer)
