"""The textbook clock: the price moves by a fixed part of the excess demand, and may never rest."""

from __future__ import annotations

from functools import partial

import numpy as np

from simplugin.elementary import exp
from simplugin.errors import InfeasibleError
from simplugin.market.negotiations.answering_peers import answering_peer
from simplugin.market.negotiations.brackets import Bracket, ask_all, counts_of
from simplugin.market.negotiations.protocol import Agreement, Negotiation, Scheduler

STEP, ROUNDS = 0.1, 20_000


def clock(step: float = STEP, start: float = 0.0, rounds: int = ROUNDS) -> Negotiation:
    r"""Return tatonnement with a fixed step: ln p grows by step (D - m) / m in each round.

    It ends when demand D is m, at whichever price that clears the market it has come to. Demand is
    whole numbers, so that it may jump from above m to below and the price go up and down for ever.
    The sum of all D - m tells the price; once it has been there before, all that follows is known,
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
    scheduler = partial(_clock, step=step, start=start, rounds=rounds)
    return Negotiation(f"clock {step:g}", scheduler, answering_peer)


def _clock(
    n_peers: int,
    m: int,
    generator: np.random.Generator,  # noqa: ARG001
    step: float,
    start: float,
    rounds: int,
) -> Scheduler:
    """Move the price until demand is m; fail if it repeats itself."""
    (caps,) = yield from ask_all(n_peers, ("open", m))
    Bracket.everything(m, counts_of(caps))  # refuses what does not fit
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
    if excess in seen:
        raise InfeasibleError(
            f"a clock of step {step:g} never ends: its prices of round {seen[excess] + 1} on come"
            f" again every {len(seen) - seen[excess]} rounds; negotiate by bisection"
        )
    raise InfeasibleError(
        f"a clock of step {step:g} has not ended after {rounds} rounds; negotiate by bisection"
    )
