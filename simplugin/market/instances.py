"""Random markets for bundles, each the same whenever and wherever its seed is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simplugin.elementary import exp, log
from simplugin.errors import WorkloadError
from simplugin.market.model import largest_share
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

PEERS = (2, 24)
TASKS = (2, 1500)
ALPHA = (1e-4, 0.5)
# Standard deviations of the logarithms of values, from peers that are almost alike on.
SPREAD = (0.01, 1.5)
# Lambda, where N_max is a multiple of the mean number of tasks.
FACTOR = (1.0, 4.0)
CAPS = ("none", "lambda", "random")
# The median value [price].
LEVEL = 60.0


@dataclass(frozen=True, eq=False)
class Instance:
    """A random market in which all tasks can be placed.

    Attributes
    ----------
    seed : int
        Of the draw.
    values : float64, shape (n_peers,)
        Base prices, V_i^b [price].
    m : int
        How many tasks there are.
    caps : int64, shape (n_peers,)
        How many each peer takes at most.
    q : float
        1 - alpha of all peers.
    alpha : float
        Discount rate.
    kind : {"none", "lambda", "random"}
        What caps are like: m; lambda times the mean number of tasks; any, of each peer its own.
    """

    seed: int
    values: Floats
    m: int
    caps: Amounts
    q: float
    alpha: float
    kind: str

    def __post_init__(self) -> None:
        """Copy the arrays, so that nobody can write to them."""
        for name in ("values", "caps"):
            array = np.array(getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def market(self) -> BundleMarket:
        """What is traded."""
        return BundleMarket(self.values, self.m, self.caps, self.q)

    @property
    def arguments(self) -> tuple[Floats, int, Amounts, float]:
        """What a policy is given: values, m, caps and q."""
        return self.values, self.m, self.caps, self.q


def instance(seed: int, most_tasks: int = TASKS[1]) -> Instance:
    """Return the random market of a seed.

    From 2 to 24 peers; from 2 to 1500 tasks and discount rates from 1e-4 to 0.5, both uniform in
    their logarithms; values lognormal around 60, their spread drawn too; a third of the markets
    each without caps, with N_max = lambda ceil(m / n), and with caps of each peer's own.

    Parameters
    ----------
    seed : int
        From 0 on.
    most_tasks : int
        How many tasks there are at most, where fewer than 1500 are wanted.

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
        # What lacks is spread at random, so that all tasks can be placed.
        lack = max(m - int(caps.sum()), 0)
        caps = caps + draws.multinomial(lack, np.full(n_peers, 1 / n_peers))
    limits = np.minimum(caps, m).astype(np.int64)
    return Instance(seed, values, m, limits, 1 - alpha, alpha, kind)


def _log_uniform(draws: np.random.Generator, low: float, high: float) -> float:
    """Return a number whose logarithm is uniform."""
    return exp(draws.uniform(log(low), log(high)))
