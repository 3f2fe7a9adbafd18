"""Random markets for bundles, each the same whenever and wherever its seed is drawn."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.core.elementary import exp, log
from simplugin.core.errors import WorkloadError
from simplugin.optimum.bundle_benefit import BestBundle
from simplugin.papers.zheng.settings import EQUAL, best_of
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, largest_share

PEERS = (2, 24)
TASKS = (2, 1500)
ALPHA = (1e-4, 0.5)
# Standard deviations of the logarithms of values: from nearly equal peers to very unequal ones.
SPREAD = (0.01, 1.5)
# Lambda, where N_max is a multiple of the mean number of tasks.
FACTOR = (1.0, 4.0)
CAPS = ("none", "lambda", "random")
# The median value [price].
LEVEL = 60.0


def random_market(
    seed: int, most_tasks: int = TASKS[1], *, own_rates: bool = False
) -> BundleMarket:
    """Return the random market of a seed, in which all tasks can be placed.

    From 2 to 24 peers; from 2 to 1500 tasks and discount rates from 1e-4 to 0.5, both uniform in
    their logarithms; values lognormal around 60, their spread drawn too; a third of the markets
    each without caps, with N_max = lambda ceil(m / n), and with caps of each peer's own.

    Parameters
    ----------
    seed : int
        From 0 on.
    most_tasks : int
        Maximum number of tasks.
    own_rates : bool
        True for a discount rate of each peer's own, from the same range.

    Raises
    ------
    WorkloadError
        There would be fewer than 2 tasks.
    """
    if most_tasks < TASKS[0]:
        raise WorkloadError(f"most_tasks is {most_tasks!r}; give {TASKS[0]} or more")
    draws = np.random.default_rng(seed)
    n_peers = int(draws.integers(PEERS[0], PEERS[1] + 1))
    m = round(_log_uniform(draws, TASKS[0], most_tasks))
    alpha = _log_uniform(draws, *ALPHA)
    spread = draws.uniform(*SPREAD)
    values = LEVEL * exp(spread * draws.standard_normal(n_peers))
    kind = CAPS[int(draws.integers(len(CAPS)))]
    factor = draws.uniform(*FACTOR)
    if kind == "none":
        caps = np.full(n_peers, m)
    elif kind == "lambda":
        caps = np.full(n_peers, largest_share(m, n_peers, factor))
    else:
        mean = -(-m // n_peers)
        caps = draws.integers(0, int(2 * factor * mean) + 1, n_peers)
        # Missing capacity is spread at random, so that all tasks can be placed.
        lack = max(m - int(caps.sum()), 0)
        caps = caps + draws.multinomial(lack, np.full(n_peers, 1 / n_peers))
    q = np.full(n_peers, 1 - alpha)
    if own_rates:
        low, high = log(ALPHA).tolist()
        q = 1 - exp(np.random.default_rng([seed, 1]).uniform(low, high, n_peers))
    return BundleMarket(values, m, np.minimum(caps, m), q)


def _log_uniform(draws: np.random.Generator, low: float, high: float) -> float:
    """Draw a number with a uniform logarithm."""
    return exp(draws.uniform(log(low), log(high)))


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


def seeds(count: int) -> dict[str, object]:
    """Return what determines a measurement on random markets."""
    return {
        "seeds": f"0-{count - 1}",
        "alpha": "1e-4 to 0.5, log-uniform",
        "N_max": "none, lambda ceil(m / n) or any, of a third of the markets each",
    }
