"""Rules by which a global scheduler chooses the site of a bundle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket, Floats


@dataclass(frozen=True, slots=True)
class Situation:
    """Knowledge of a global scheduler that chooses the site of a bundle.

    Attributes
    ----------
    estimates : tuple of float, shape (n_sites,)
        Time of each site for the bundle, by its own estimate; inf if it cannot take it [s].
    backlog : tuple of float, shape (n_sites,)
        Expected time until each site has finished its bundles [s].
    idle : tuple of bool, shape (n_sites,)
        True for each site without a bundle.
    handed : int
        Number of bundles assigned before.
    """

    estimates: tuple[float, ...]
    backlog: tuple[float, ...]
    idle: tuple[bool, ...]
    handed: int


Dispatcher = Callable[[Situation], int | None]
"""Returns the site that gets the bundle, or None to wait for the next end of a bundle.

At least one estimate is finite; a site with an infinite estimate must not be chosen.
"""


def first_idle(situation: Situation) -> int | None:
    """Wait for an idle site; choose the quickest idle site, ties by number."""
    idle = [site for site in _able(situation) if situation.idle[site]]
    return min(idle, key=lambda site: situation.estimates[site], default=None)


def round_robin(situation: Situation) -> int | None:
    """Choose sites in turn, skipping sites that cannot take the bundle."""
    n_sites = len(situation.idle)
    return min(_able(situation), key=lambda site: (site - situation.handed) % n_sites)


def earliest(situation: Situation) -> int | None:
    """Choose the site that is expected to finish the bundle first, after its backlog."""
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
    """Return the completion time of the assignment of largest benefit [s].

    Parameters
    ----------
    market : BundleMarket
        The market.
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    """
    return float((largest_benefit(*market.arguments).amounts * times).max())
