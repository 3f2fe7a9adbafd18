"""Rules by which a global scheduler chooses the site of a bundle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket, Floats


@dataclass(frozen=True, slots=True)
class Situation:
    """Knowledge of a global scheduler that has a bundle to hand over.

    Attributes
    ----------
    estimates : tuple of float, shape (n_sites,)
        Time of each site for the bundle, by its own estimate; inf if it cannot take it [s].
    backlog : tuple of float, shape (n_sites,)
        After how long each site is expected to be done with what it has [s].
    idle : tuple of bool, shape (n_sites,)
        True for each site that has nothing to do.
    handed : int
        Number of bundles handed over before.
    """

    estimates: tuple[float, ...]
    backlog: tuple[float, ...]
    idle: tuple[bool, ...]
    handed: int


Dispatcher = Callable[[Situation], int | None]
"""Returns the site that gets the bundle, or None to wait until a site is done with one.

One of the estimates at least is finite; a site whose estimate is not may not be chosen.
"""


def first_idle(situation: Situation) -> int | None:
    """Wait until a site is idle; of several the quickest, then the first, gets the bundle."""
    idle = [site for site in _able(situation) if situation.idle[site]]
    return min(idle, key=lambda site: situation.estimates[site], default=None)


def round_robin(situation: Situation) -> int | None:
    """Hand bundles to all sites in turn; instead of one that cannot take it, to the next."""
    n_sites = len(situation.idle)
    return min(_able(situation), key=lambda site: (site - situation.handed) % n_sites)


def earliest(situation: Situation) -> int | None:
    """Hand the bundle to the site that is to be done with it first, behind what that has."""
    done = [b + e for b, e in zip(situation.backlog, situation.estimates, strict=True)]
    return done.index(min(done))


def _able(situation: Situation) -> list[int]:
    """Return the sites that can take the bundle."""
    return [site for site, seconds in enumerate(situation.estimates) if seconds < math.inf]


DISPATCHERS: dict[str, Dispatcher] = {
    "first_idle": first_idle,
    "round_robin": round_robin,
    "earliest": earliest,
}


def completion_of_best(market: BundleMarket, times: Floats) -> float:
    """Return how long the assignment of the largest benefit takes.

    Parameters
    ----------
    market : BundleMarket
        The market.
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    """
    return float((largest_benefit(*market.arguments).amounts * times).max())
