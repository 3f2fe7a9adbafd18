"""How a global scheduler chooses the site that a bundle goes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.market.model import completion_times
from simplugin.optimum.bundle_benefit import largest_benefit

if TYPE_CHECKING:
    from simplugin.market.model import Terms
    from simplugin.platforms.peer_sites import PeerSite
    from simplugin.workloads.bundles import Bundle


@dataclass(frozen=True, slots=True)
class Situation:
    """What a global scheduler knows when it has a bundle to hand over.

    Attributes
    ----------
    estimates : tuple of float, shape (n_sites,)
        How long each site is expected to take for the bundle [s].
    backlog : tuple of float, shape (n_sites,)
        After how long each site is expected to be done with what it has [s].
    idle : tuple of bool, shape (n_sites,)
        Whether each site has nothing to do.
    handed : int
        How many bundles have been handed over before.
    """

    estimates: tuple[float, ...]
    backlog: tuple[float, ...]
    idle: tuple[bool, ...]
    handed: int


Dispatcher = Callable[[Situation], int | None]
"""Returns the site that gets the bundle, or None to wait until a site is done with one."""


def first_idle(situation: Situation) -> int | None:
    """Wait until a site is idle; of several the quickest, then the first, gets the bundle."""
    idle = [site for site, is_idle in enumerate(situation.idle) if is_idle]
    return min(idle, key=lambda site: situation.estimates[site], default=None)


def round_robin(situation: Situation) -> int | None:
    """Hand bundles to all sites in turn."""
    return situation.handed % len(situation.idle)


def earliest(situation: Situation) -> int | None:
    """Hand the bundle to the site that is to be done with it first, behind what that has."""
    done = [b + e for b, e in zip(situation.backlog, situation.estimates, strict=True)]
    return done.index(min(done))


DISPATCHERS: dict[str, Dispatcher] = {
    "first_idle": first_idle,
    "round_robin": round_robin,
    "earliest": earliest,
}


def estimated_completion(site: PeerSite, bundle: Bundle, terms: Terms) -> float:
    """Return how long a site is expected to take for a bundle [s].

    It is what the assignment of the largest benefit takes by the estimated completion times, if
    no discounts of earlier bundles are left: what a site's published capacities tell.

    Parameters
    ----------
    site : PeerSite
        The site.
    bundle : Bundle
        The tasks.
    terms : Terms
        What prices follow from.

    Raises
    ------
    InfeasibleError
        The bundle cannot be placed there under the caps.
    """
    times = completion_times(site, bundle, terms.setup)
    market = terms.market(times, bundle.count)
    best = largest_benefit(market.values, market.m, market.caps, market.q)
    return float((best.amounts * times).max())
