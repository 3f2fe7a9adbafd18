"""Random markets with their maxima."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from simplugin.optimum.bundle_benefit import BestBundle
from simplugin.papers.zheng.random_markets import random_market
from simplugin.papers.zheng.settings import EQUAL, best_of
from simplugin.workloads.bundle_markets import Amounts, BundleMarket


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
