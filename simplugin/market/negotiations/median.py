"""Weighted medians: prices are those of tasks that split what is in doubt."""

from __future__ import annotations

import math

import numpy as np

from simplugin.elementary import log
from simplugin.market.negotiations.answering_peers import answering_peer, following
from simplugin.market.negotiations.bisection import SETTLED
from simplugin.market.negotiations.brackets import Bracket, ask_all, counts_of, weighted_median
from simplugin.market.negotiations.protocol import Negotiation, Scheduler


def median(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    r"""Announce weighted medians of what peers' middle tasks are worth.

    Each peer answers how many tasks it wants at a price, how many above it, and what its middle
    doubtful tasks on both sides are worth, so that one round does what would take two. Half the
    doubtful tasks are with peers whose middle one is worth at least the median, and half of these
    are worth at least that; so are, likewise, a quarter at most that. A round thus settles a
    quarter of the doubtful tasks or ends. Rounds do not depend on values or discount rates, only
    on how many tasks there are, see `median_rounds`. It is selection of the m-th largest from
    sorted lists [1]_.

    Parameters
    ----------
    n_peers, m : int
        How many peers and tasks there are.
    generator : Generator
        Not drawn from.

    References
    ----------
    .. [1] G. N. Frederickson, D. B. Johnson (1982). The complexity of selection and ranking in
       X + Y and matrices with sorted columns. J. Computer and System Sciences 24.
    """
    (caps,) = yield from ask_all(n_peers, ("open", m))
    bracket = Bracket.everything(m, counts_of(caps))
    few = SETTLED * n_peers
    if not bracket.decided(few):
        (middles,) = yield from ask_all(n_peers, ("middle", bracket.low, bracket.high))
    while not bracket.decided(few):
        pivot = weighted_median(middles, bracket.doubtful)
        asked = ("split", bracket.low, pivot, bracket.high)
        counts, more, above, below = yield from ask_all(n_peers, asked)
        bracket = bracket.heard(pivot, counts_of(counts))
        bracket = bracket.heard(following(pivot), counts_of(more))
        middles = above if more.sum() >= m else below
    return (yield from bracket.settle())


def median_rounds(total: int, n_peers: int) -> int:
    """Return how many rounds weighted medians take at most.

    Parameters
    ----------
    total : int
        How many tasks all peers take at most, none more than there are.
    n_peers : int
        How many peers there are.
    """
    quarters = log(max(1.0, total / (SETTLED * n_peers))) / log(4 / 3)
    # The opening, the first medians, one split for each quarter and at least one, the settlement.
    return 3 + max(1, math.ceil(quarters))


MEDIAN = Negotiation("median", median, answering_peer)
