"""The settings of section 5."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from simplugin.core.elementary import exp, log
from simplugin.market.actors.stations import ServiceRules
from simplugin.market.execution import execute
from simplugin.market.model import Deal, MarketTerms, completion_times
from simplugin.market.policies.negotiation import BundleNegotiation
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.twelve_peers import N_PEERS, SEED, SETUP, chosen_site
from simplugin.simulation import SimGridOptions
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats, largest_share
from simplugin.workloads.bundles import CLASSES, Bundle

TASKS = 1000
# The paper gives neither the discount rate nor N_max; here peers take as many tasks as they like.
ALPHA = 0.01
TERMS = MarketTerms(alpha=ALPHA, setup=SETUP)
# Benefits, prices and times that differ by less are equal; relative.
EQUAL = 1e-9
ON_SITE = {"site": f"chosen, seed {SEED}", "alpha": ALPHA, "N_max": "none", "m": TASKS}


@dataclass(frozen=True)
class ExperimentSetting:
    """An experiment of section 5, with the parameters that the paper leaves open.

    Attributes
    ----------
    kind : {"computation", "neutral", "communication"}
        Class of the tasks.
    alpha : float
        Discount rate.
    factor : float, optional
        N_max over the mean number of tasks of a peer, lambda; None for no limit.
    """

    kind: str
    alpha: float = ALPHA
    factor: float | None = None

    @property
    def bundle(self) -> Bundle:
        """The thousand tasks."""
        return Bundle.of_class(self.kind, TASKS)

    def market(self, site: PeerSite | None = None) -> tuple[BundleMarket, Floats]:
        """Return the market at a site, and the time of a task on each peer [s]."""
        cap = None if self.factor is None else largest_share(TASKS, N_PEERS, self.factor)
        times = completion_times(site or chosen_site(), self.bundle, SETUP)
        return MarketTerms(self.alpha, cap, setup=SETUP).market(times, TASKS), times


SETTINGS = tuple(map(ExperimentSetting, CLASSES))


def best_of(market: BundleMarket) -> BestBundle:
    """Return the assignment of largest benefit."""
    return largest_benefit(*market.arguments)


def dealt(
    site: PeerSite,
    bundle: Bundle,
    negotiation: str | BundleNegotiation = "optimum",
    *,
    rules: ServiceRules | None = None,
    believed: PeerSite | None = None,
    options: SimGridOptions | None = None,
    seed: int = 0,
) -> Deal:
    """Return a bundle's deal on SimGrid at a discount rate of 0.01, without N_max."""
    options = options or SimGridOptions.linear()
    done = execute(
        site, bundle, TERMS, negotiation, rules=rules, believed=believed, options=options, seed=seed
    )
    return done.deals[0]


def bisected(
    rates: tuple[float, float], width: float, goes_on: Callable[[float], bool]
) -> tuple[float, float]:
    """Return logarithms between which a property of lower rates ends, by bisection."""
    low, high = log(rates[0]), log(rates[1])
    while high - low > width:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if goes_on(exp(middle)) else (low, middle)
    return low, high


def compositions(m: int, parts: int) -> Amounts:
    """Return all ways to deal m tasks to peers; shape (n_ways, parts)."""
    if parts == 1:
        return np.array([[m]])
    blocks = []
    for first in range(m, -1, -1):
        rest = compositions(m - first, parts - 1)
        blocks.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(blocks)


def by_class(values: Iterable[float], form: str) -> str:
    """Return one number for each class of tasks as text."""
    return ", ".join(
        f"{value:{form}} ({kind})" for kind, value in zip(CLASSES, values, strict=False)
    )


def spread(values: Iterable[float]) -> str:
    """Return mean and maximum as text."""
    some = np.array(list(values), dtype=np.float64)
    return f"{some.mean():.2%} on average, {some.max():.2%} at most" if len(some) else "none"
