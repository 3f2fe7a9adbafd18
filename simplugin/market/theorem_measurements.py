"""What becomes of the states that section 4 of the paper reasons about, measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from simplugin.elementary import exp, expm1, log, log1p
from simplugin.market.balance import best_response, is_balanced, is_supported, nearest_balance
from simplugin.market.instances import ALPHA, instance
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

SEED = 2011
DRAWS, QUICK_DRAWS = 1000, 100
# Markets of which all assignments are looked at: peers, tasks.
SMALL, QUICK_SMALL = 400, 60
SMALL_PEERS, SMALL_TASKS = (2, 4), (4, 16)
SMALL_RANGES = {
    "small markets": "{} to {} peers, {} to {} tasks".format(*SMALL_PEERS, *SMALL_TASKS)
}
# Balanced states that are made: peers, tasks of each.
MADE_PEERS, MADE_TASKS = (2, 12), (1, 100)
# The least market in which a balanced state is not a maximum.
LEAST = BundleMarket([7, 12], 4, 4, 0.5)
# What a task is worth to a fast peer, and how many slow ones there are; as many tasks.
FAST = (2.0, 10.0, 100.0, 1000.0)
SLOW = 20_000
EQUAL = 1e-9
# Where nothing but rounding is to be forgiven.
_EXACT = 1e-13


@dataclass(frozen=True)
class DrawnMarket:
    """What became of a random market.

    Attributes
    ----------
    active : int
        How many peers have tasks at the maximum.
    balanced, supported : bool
        Whether the maximum is balanced, and whether it is a best response to its price.
    mean_clears : bool
        Whether the mean of prices at the maximum, Eq. (8), clears the market.
    mean_demand : float
        How many tasks peers want at it, in parts of m.
    mean_worth : float
        What those that the maximum gives them too are worth, in parts of it.
    loss : float
        What the state nearest to balance loses, in parts of the maximum.
    wrongly_supported : bool
        Whether some price makes that state a best response though it loses.
    """

    active: int
    balanced: bool
    supported: bool
    mean_clears: bool
    mean_demand: float
    mean_worth: float
    loss: float
    wrongly_supported: bool


@dataclass(frozen=True)
class MadeState:
    """What became of a balanced state that was made.

    Attributes
    ----------
    rises, changes : bool
        Whether some move of a task raises the benefit, or changes it.
    equal : bool
        Whether all peers have as many tasks.
    loss : float
        What it loses, in parts of the maximum.
    """

    rises: bool
    changes: bool
    equal: bool
    loss: float


@dataclass(frozen=True)
class SmallMarket:
    """What became of a market of which all assignments were looked at.

    Attributes
    ----------
    states, maxima : int
        How many assignments there are, and how many of them are maxima.
    exceptions : int
        How many are maxima without a price that supports them, or the other way round.
    near_is_maximal : bool
        Whether of those with tasks for all peers the one whose prices vary least is worth most.
    near_loss : float
        What that one loses, in parts of the best of them.
    moves, losing : int
        How many moves of a task to a peer of higher mean price they have, and how many lose.
    """

    states: int
    maxima: int
    exceptions: int
    near_is_maximal: bool
    near_loss: float
    moves: int
    losing: int


@cache
def drawn_markets(quick: bool) -> list[DrawnMarket]:
    """Return what becomes of random markets."""
    return [_drawn_of(instance(seed).market) for seed in range(QUICK_DRAWS if quick else DRAWS)]


def _drawn_of(market: BundleMarket) -> DrawnMarket:
    """Look at a market's maximum and at the state near to balance."""
    best = largest_benefit(market.values, market.m, market.caps, market.q)
    near = nearest_balance(market)
    means = market.mean_prices(best.amounts)
    mean = float(means.mean())
    response = np.minimum(market.response(mean), best.amounts)
    active = best.amounts > 0
    loss = max(1 - near.benefit / best.benefit, 0.0)
    return DrawnMarket(
        int(active.sum()),
        is_balanced(market, best.amounts, float(means[active].mean())),
        best_response(market, best.amounts, best.price),
        best_response(market, best.amounts, mean),
        float(market.response(mean).sum()) / market.m,
        market.benefit(response) / best.benefit,
        loss,
        is_supported(market, near.amounts, _EXACT) and loss > _EXACT,
    )


@cache
def made_states(quick: bool) -> list[MadeState]:
    """Return what becomes of balanced states that are made."""
    return [_made_of(*made_state(number)) for number in range(QUICK_DRAWS if quick else DRAWS)]


def made_state(number: int) -> tuple[BundleMarket, Amounts]:
    """Draw amounts, and set values so that all mean prices are 1 there.

    Parameters
    ----------
    number : int
        Of the draw.
    """
    draws = np.random.default_rng([SEED, number])
    n_peers = int(draws.integers(MADE_PEERS[0], MADE_PEERS[1] + 1))
    amounts = draws.integers(MADE_TASKS[0], MADE_TASKS[1] + 1, n_peers)
    alpha = exp(draws.uniform(*log(ALPHA)))
    values = amounts * -alpha / expm1(amounts * log1p(-alpha))
    m = int(amounts.sum())
    return BundleMarket(values, m, m, 1 - alpha), amounts


def _made_of(market: BundleMarket, amounts: Amounts) -> MadeState:
    """Look at moves of one task, and at the maximum."""
    change = market.worth(amounts + 1)[None, :] - market.worth(amounts)[:, None]
    np.fill_diagonal(change, 0.0)
    best = largest_benefit(market.values, market.m, market.caps, market.q)
    return MadeState(
        bool(np.any(change > EQUAL)),
        bool(np.any(np.abs(change) > EQUAL)),
        bool(np.all(amounts == amounts[0])),
        max(1 - market.benefit(amounts) / best.benefit, 0.0),
    )


@cache
def small_markets(quick: bool) -> list[SmallMarket]:
    """Return what becomes of small markets."""
    return [_small_of(small_market(number)) for number in range(QUICK_SMALL if quick else SMALL)]


def small_market(number: int) -> BundleMarket:
    """Draw a market of few assignments.

    Parameters
    ----------
    number : int
        Of the draw.
    """
    # From 1 on: [SEED, 1, 0] would be [SEED, 1], that of a made state.
    draws = np.random.default_rng([SEED, 1, number + 1])
    n_peers = int(draws.integers(SMALL_PEERS[0], SMALL_PEERS[1] + 1))
    m = int(draws.integers(SMALL_TASKS[0], SMALL_TASKS[1] + 1))
    alpha = exp(draws.uniform(*log(ALPHA)))
    values = exp(draws.uniform(0, 1) * draws.standard_normal(n_peers))
    return BundleMarket(values, m, m, 1 - alpha)


def _small_of(market: BundleMarket) -> SmallMarket:
    """Look at all assignments of a small market."""
    every = _assignments(market.n_peers, market.m)
    benefit = np.array([market.benefit(amounts) for amounts in every])
    maximal = benefit >= benefit.max() * (1 - _EXACT)
    supported = np.array([is_supported(market, amounts, _EXACT) for amounts in every])
    # All with a task at least for every peer, as the paper assumes.
    busy = np.all(every > 0, axis=1)
    means = np.array([market.mean_prices(amounts) for amounts in every[busy]])
    near = int(np.argmin(means.var(axis=1)))
    loss = float(1 - benefit[busy][near] / benefit[busy].max())
    moves, losing = _moves(market, every[busy], means)
    return SmallMarket(
        len(every),
        int(maximal.sum()),
        int(np.sum(maximal != supported)),
        loss <= EQUAL,
        loss,
        moves,
        losing,
    )


def _moves(market: BundleMarket, every: Amounts, means: Floats) -> tuple[int, int]:
    """Return how many moves to a peer with a higher mean price there are, and how many lose."""
    worth, following = market.worth(every), market.worth(every + 1)
    gain = following[:, None, :] - worth[:, :, None]
    wanted = means[:, None, :] > means[:, :, None] * (1 + EQUAL)
    return int(wanted.sum()), int(np.sum(wanted & (gain < 0)))


def _assignments(n_peers: int, m: int) -> Amounts:
    """Return all ways to place tasks; shape (n_assignments, n_peers)."""
    grid = np.indices((m + 1,) * (n_peers - 1)).reshape(n_peers - 1, -1).T
    grid = grid[grid.sum(axis=1) <= m]
    return np.column_stack([grid, m - grid.sum(axis=1)]).astype(np.int64)


@cache
def extreme_markets(quick: bool) -> tuple[Floats, Floats, Floats]:
    """Return values of a fast peer, what balance loses among many slow ones, and its limit."""
    del quick
    fast = np.array(FAST)
    x = fast
    for _ in range(200):
        x = fast * -expm1(-x)
    ratios = []
    for value, long in zip(fast, x, strict=True):
        values = np.append(value, np.ones(SLOW))
        market = BundleMarket(values, SLOW, SLOW, exp(-long / SLOW))
        best = largest_benefit(values, market.m, market.caps, market.q)
        ratios.append(best.benefit / nearest_balance(market).benefit)
    # Balanced, it has x / -ln q tasks; at the maximum ln R / -ln q of them.
    return fast, np.array(ratios), 1 + (fast - 1 - log(fast)) / x
