"""How long negotiations take on SimGrid, on the chosen site."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.market.execution import execute
from simplugin.market.model import Terms, completion_times
from simplugin.market.negotiations import NEGOTIATIONS, negotiate
from simplugin.market.section5_sites import SEED, TASKS, chosen_site
from simplugin.workloads.bundles import Bundle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplugin.workloads.bundle_markets import Floats

# From the local scheduler to any peer [s].
LATENCY = 0.01
ALPHA = 0.01
TERMS = Terms(alpha=ALPHA)
KIND = "neutral"


@dataclass(frozen=True, eq=False)
class Negotiating:
    """A negotiation on SimGrid beside the same in this process.

    Attributes
    ----------
    name : str
        Of the negotiation.
    own_time, completion : float
        How long peers negotiate, and how long they then work [s].
    rounds, messages : int
        What it takes.
    bytes : float
        As well [byte].
    differs : float
        By which part its price differs; inf if amounts, payments, rounds, messages or bytes do.
    """

    name: str
    own_time: float
    completion: float
    rounds: int
    messages: int
    bytes: float
    differs: float


@cache
def simulated(latency: float = LATENCY) -> tuple[Negotiating, ...]:
    """Return what negotiations take on the chosen site with a latency to each peer.

    Parameters
    ----------
    latency : float
        From the local scheduler to any peer [s].
    """
    return tuple(_simulated(latency))


def _simulated(latency: float) -> Iterator[Negotiating]:
    """Yield each negotiation."""
    site, bundle = replace(chosen_site(), latency=latency), Bundle.of_class(KIND, TASKS)
    values = TERMS.values(completion_times(site, bundle))
    for name, negotiation in NEGOTIATIONS.items():
        (deal,) = execute(site, bundle, TERMS, name, seed=SEED).deals
        here = negotiate(negotiation, values, TASKS, TASKS, 1 - ALPHA, seed=SEED)
        alike = (
            np.array_equal(deal.amounts, here.amounts)
            and _equal(deal.payments, here.payments)
            and (deal.rounds, deal.messages, deal.bytes) == (here.rounds, here.messages, here.bytes)
        )
        yield Negotiating(
            name,
            deal.agreed - deal.called,
            deal.finished - deal.agreed,
            deal.rounds,
            deal.messages,
            deal.bytes,
            abs(deal.price / here.price - 1) if alike else np.inf,
        )


def _equal(paid: Floats | None, expected: Floats | None) -> bool:
    """Return whether payments of each peer's own are the same, or there are none on both sides."""
    if paid is None or expected is None:
        return paid is expected
    return np.allclose(paid, expected, rtol=1e-9, atol=0.0)
