"""The settings of section 5, and random markets beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from simplugin.market.execution import execute
from simplugin.market.model import Deal, Terms, completion_times
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.papers.statements import Quantity
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.twelve_peers import N_PEERS, SEED, SETUP, chosen_site
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats, largest_share
from simplugin.workloads.bundles import CLASSES, Bundle
from simplugin.workloads.random_markets import random_market

Quantities = Mapping[str, Quantity]

TASKS = 1000
# The paper gives neither the discount rate nor N_max; here peers take as many tasks as they like.
ALPHA = 0.01
TERMS = Terms(alpha=ALPHA, setup=SETUP)
# Benefits, prices and times that differ by less are equal; relative.
EQUAL = 1e-9
ON_SITE = {"site": f"chosen, seed {SEED}", "alpha": ALPHA, "N_max": "none", "m": TASKS}


@dataclass(frozen=True)
class Setting:
    """An experiment of section 5, with what the paper leaves open.

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
        return Terms(self.alpha, cap, setup=SETUP).market(times, TASKS), times


SETTINGS = tuple(map(Setting, CLASSES))


def best_of(market: BundleMarket) -> BestBundle:
    """Return the assignment of largest benefit."""
    return largest_benefit(*market.arguments)


def dealt(site: PeerSite, bundle: Bundle, negotiation: Any = "optimum", **further: Any) -> Deal:
    """Return a bundle's deal on SimGrid at a discount rate of 0.01, without N_max."""
    return execute(site, bundle, TERMS, negotiation, **further).deals[0]


class Drawn(NamedTuple):
    """A random market and its maximum."""

    market: BundleMarket
    best: BestBundle

    def is_best(self, amounts: Amounts) -> bool:
        """Return True if amounts place all tasks with the largest benefit."""
        benefit = self.market.benefit(amounts)
        return bool(amounts.sum() == self.market.m and benefit >= self.best.benefit * (1 - EQUAL))

    def clears(self, price: float) -> bool:
        """Return True if a price clears the market."""
        low, high = self.best.next_price * (1 - EQUAL), self.best.price * (1 + EQUAL)
        return bool(low <= price <= high)


@cache
def drawn_markets(
    count: int, most_tasks: int = 1500, *, own_rates: bool = False
) -> tuple[Drawn, ...]:
    """Return the random markets of the first seeds with their maxima."""
    markets = [random_market(seed, most_tasks, own_rates=own_rates) for seed in range(count)]
    return tuple(Drawn(each, best_of(each)) for each in markets)


def seeds(count: int, **further: object) -> dict[str, object]:
    """Return what determines a measurement on random markets."""
    return {
        "seeds": f"0-{count - 1}",
        "alpha": "1e-4 to 0.5, log-uniform",
        "N_max": "none, lambda ceil(m / n) or any, of a third of the markets each",
        **further,
    }


def by_class(values: Iterable[float], form: str) -> str:
    """Return one number for each class of tasks as text."""
    return ", ".join(
        f"{value:{form}} ({kind})" for kind, value in zip(CLASSES, values, strict=False)
    )


def spread(values: Iterable[float]) -> str:
    """Return mean and maximum as text."""
    some = np.array(list(values), dtype=np.float64)
    return f"{some.mean():.2%} on average, {some.max():.2%} at most" if len(some) else "none"
