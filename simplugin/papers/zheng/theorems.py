"""Section 4: balanced states, and what holds in place of Theorems 1 to 3.

The proofs of Theorems 1 and 2 move tasks between peers at constant prices v_i, although prices fall
with the number of tasks by Eq. (7); see `simplugin.papers.zheng.balance`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.core.elementary import exp, expm1, log, log1p
from simplugin.papers.statements import Quantity, determined_by, share
from simplugin.papers.zheng.balance import best_response, is_balanced, is_supported, nearest_balance
from simplugin.papers.zheng.random_markets import ALPHA, Drawn, drawn_markets, seeds
from simplugin.papers.zheng.settings import (
    EQUAL,
    SETTINGS,
    ExperimentSetting,
    best_of,
    compositions,
    spread,
)
from simplugin.results.curves import CurvePlot
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

SEED = 2011
DRAWS, QUICK_DRAWS = 1000, 100
# Markets with enumeration of all assignments: peers, tasks.
SMALL, QUICK_SMALL = 400, 60
SMALL_PEERS, SMALL_TASKS = (2, 4), (4, 16)
# Balanced states that are made: peers, tasks of each.
MADE_PEERS, MADE_TASKS = (2, 12), (1, 100)
# The smallest market in which a balanced state is not a maximum.
EXAMPLE, BALANCED = BundleMarket([7, 12], 4, 4, 0.5), np.array([1, 3])
# Value of a task to a fast peer, and number of slow peers and of tasks.
FAST = (2.0, 10.0, 100.0, 1000.0)
SLOW = 20_000
# Tolerance of rounding.
_EXACT = 1e-13


class DrawnState(NamedTuple):
    """The maximum of a random market, and the state nearest to balance."""

    balanced: bool
    supported: bool
    # The mean of prices, Eq. (8): does it clear, and which part of m is wanted?
    mean_clears: bool
    mean_demand: float
    # Part of the benefit that balance loses; True if it loses and a price supports it all the same.
    loss: float
    wrongly_supported: bool


class MadeState(NamedTuple):
    """A balanced state that was made: moves of one task that raise or change the benefit."""

    rises: bool
    changes: bool
    loss: float


class SmallMarket(NamedTuple):
    """A market of which all assignments were looked at."""

    states: int
    maxima: int
    exceptions: int
    # Moves of a task to a peer of higher mean price, and how many of them lose.
    moves: int
    losing: int


def theorems(quick: bool) -> dict[str, Quantity]:
    """Measure balanced states, maxima and the prices that support them."""
    drawn = drawn_states(quick)
    # Amounts are drawn, then values that make mean prices equal.
    made = [_made_state(*made_state(each)) for each in range(QUICK_DRAWS if quick else DRAWS)]
    small = [_small_market(small_market(each)) for each in range(QUICK_SMALL if quick else SMALL)]
    moves, losing = sum(each.moves for each in small), sum(each.losing for each in small)
    rising = sum(each.rises for each in made)
    loss = np.array([each.loss for each in drawn])
    best = best_of(EXAMPLE)
    example = is_balanced(EXAMPLE, BALANCED, 7.0) and not is_balanced(
        EXAMPLE, best.amounts, best.price
    )
    worst = max(
        *(1 / (1 - each) for each in (*loss.tolist(), *(state.loss for state in made))),
        float(extreme_markets()[1].max()),
    )
    odd = sum(not each.supported or each.wrongly_supported for each in drawn)
    exceptions = sum(each.exceptions for each in small)
    found = {
        "balanced.changed": share(
            [each.changes for each in made],
            f" balanced states are changed by some move, and {rising} raised",
        ),
        "maxima.unbalanced": share(
            [not each.balanced for each in drawn],
            f" maxima are unbalanced; {losing / moves:.1%} of {moves} moves as in the proof lose,"
            f" in {len(small)} markets of 2 to 4 peers",
        ),
        "balanced.maximal": replace(
            share(
                [each.loss <= EQUAL for each in made],
                f"; the others lose {spread(each.loss for each in made if each.loss > EQUAL)}."
                f" V = (7, 12), q = 1/2, m = 4: (1, 3) is"
                f" {'balanced' if example else 'not balanced'} and worth"
                f" {EXAMPLE.benefit(BALANCED):g}, (2, 2) is worth {best.benefit:g}",
            ),
            optimum=1.0,
        ),
        "near_balance.loss": Quantity(
            float(loss.max()),
            note=f"{spread(loss)}; {np.sum(loss <= EQUAL)} of {len(loss)} lose nothing",
            optimum=0.0,
        ),
        "mean_price.clears": _mean_price(drawn),
        "supported.exceptions": Quantity(
            exceptions + odd,
            note=f"{sum(each.states for each in small)} states,"
            f" {sum(each.maxima for each in small)} of them maxima, and {len(drawn)} larger"
            " markets",
        ),
        "balance.ratio": Quantity(
            worst,
            note=f"{extreme_markets()[2][-1]:.3f} is the limit for one peer of value {FAST[-1]:g}"
            f" among {SLOW:,} of value 1",
        ),
    }
    return determined_by({"seed": SEED, **seeds(len(drawn))}, found)


def _mean_price(drawn: list[DrawnState]) -> Quantity:
    """Return in which part of the markets the mean of prices clears, and who loses at it."""
    losers = ", ".join(map(_losers, SETTINGS))
    low, middle, high = np.quantile([each.mean_demand for each in drawn], [0.05, 0.5, 0.95])
    return share(
        [each.mean_clears for each in drawn],
        f" markets; peers demand {middle:.2f} m tasks in the median, {low:.2f} m to {high:.2f} m in"
        f" nine of ten. If peers pay the mean of first prices, these lose: {losers}",
    )


def _losers(setting: ExperimentSetting) -> str:
    """Return the number of peers that lose at the mean of first prices, Eq. (8), as text."""
    market, _ = setting.market()
    amounts = best_of(market).amounts
    payments = amounts * float(market.values.mean())
    losers = np.sum(payments > market.sums(amounts) * (1 + EQUAL))
    return (
        f"{setting.kind}: {losers} of {np.count_nonzero(amounts)} peers, all pay"
        f" {payments.sum():.0f} for tasks worth {market.benefit(amounts):.0f} G$"
    )


@cache
def drawn_states(quick: bool) -> list[DrawnState]:
    """Return the states of random markets."""
    return [_drawn_state(each) for each in drawn_markets(QUICK_DRAWS if quick else DRAWS)]


def _drawn_state(drawn: Drawn) -> DrawnState:
    """Examine a market's maximum and the state near to balance."""
    market, best = drawn
    near = nearest_balance(market)
    means = market.mean_prices(best.amounts)
    mean = float(means.mean())
    loss = max(1 - near.benefit / best.benefit, 0.0)
    return DrawnState(
        is_balanced(market, best.amounts, float(means[best.amounts > 0].mean())),
        best_response(market, best.amounts, best.price),
        best_response(market, best.amounts, mean),
        float(market.response(mean).sum()) / market.m,
        loss,
        is_supported(market, near.amounts, _EXACT) and loss > _EXACT,
    )


def made_state(number: int) -> tuple[BundleMarket, Amounts]:
    """Draw amounts, and set values so that all mean prices are 1 there."""
    draws = np.random.default_rng([SEED, number])
    n_peers = int(draws.integers(MADE_PEERS[0], MADE_PEERS[1] + 1))
    amounts = draws.integers(MADE_TASKS[0], MADE_TASKS[1] + 1, n_peers)
    alpha = exp(draws.uniform(*log(ALPHA)))
    values = amounts * -alpha / expm1(amounts * log1p(-alpha))
    m = int(amounts.sum())
    return BundleMarket(values, m, m, 1 - alpha), amounts


def _made_state(market: BundleMarket, amounts: Amounts) -> MadeState:
    """Examine moves of one task, and the maximum."""
    change = market.worth(amounts + 1)[None, :] - market.worth(amounts)[:, None]
    np.fill_diagonal(change, 0.0)
    return MadeState(
        bool(np.any(change > EQUAL)),
        bool(np.any(np.abs(change) > EQUAL)),
        max(1 - market.benefit(amounts) / best_of(market).benefit, 0.0),
    )


def small_market(number: int) -> BundleMarket:
    """Draw a market of few assignments."""
    # From 1 on: [SEED, 1, 0] would be [SEED, 1], that of a made state.
    draws = np.random.default_rng([SEED, 1, number + 1])
    n_peers = int(draws.integers(SMALL_PEERS[0], SMALL_PEERS[1] + 1))
    m = int(draws.integers(SMALL_TASKS[0], SMALL_TASKS[1] + 1))
    alpha = exp(draws.uniform(*log(ALPHA)))
    values = exp(draws.uniform(0, 1) * draws.standard_normal(n_peers))
    return BundleMarket(values, m, m, 1 - alpha)


def _small_market(market: BundleMarket) -> SmallMarket:
    """Examine all assignments of a small market."""
    every = compositions(market.m, market.n_peers)
    benefit = np.array([market.benefit(amounts) for amounts in every])
    maximal = benefit >= benefit.max() * (1 - _EXACT)
    supported = np.array([is_supported(market, amounts, _EXACT) for amounts in every])
    # All with at least one task for every peer, as the paper assumes.
    busy = np.all(every > 0, axis=1)
    means = np.array([market.mean_prices(amounts) for amounts in every[busy]])
    return SmallMarket(
        len(every),
        int(maximal.sum()),
        int(np.sum(maximal != supported)),
        *_moves(market, every[busy], means),
    )


def _moves(market: BundleMarket, every: Amounts, means: Floats) -> tuple[int, int]:
    """Return how many moves to a peer with a higher mean price there are, and how many lose."""
    worth, following = market.worth(every), market.worth(every + 1)
    gain = following[:, None, :] - worth[:, :, None]
    wanted = means[:, None, :] > means[:, :, None] * (1 + EQUAL)
    return int(wanted.sum()), int(np.sum(wanted & (gain < 0)))


@cache
def extreme_markets() -> tuple[Floats, Floats, Floats]:
    """Return values of a fast peer, what balance loses among many slow ones, and its limit."""
    fast = np.array(FAST)
    x = fast
    for _ in range(200):
        x = fast * -expm1(-x)
    ratios = []
    for value, long in zip(fast, x, strict=True):
        values = np.append(value, np.ones(SLOW))
        market = BundleMarket(values, SLOW, SLOW, exp(-long / SLOW))
        ratios.append(best_of(market).benefit / nearest_balance(market).benefit)
    # Balanced, it has x / -ln q tasks; at the maximum ln R / -ln q of them.
    return fast, np.array(ratios), 1 + (fast - 1 - log(fast)) / x


def balance_figures(quick: bool) -> list[CurvePlot]:
    """Return the loss of states near to balance."""
    loss = np.sort([each.loss for each in drawn_states(quick)])
    part = np.arange(1, len(loss) + 1) / len(loss)
    fast, ratios, limits = extreme_markets()
    return [
        CurvePlot(
            "balance-loss",
            f"Loss of the state nearest to balance, {len(loss)} random markets\n"
            f"alpha {ALPHA[0]:g} to {ALPHA[1]:g}; N_max none, lambda ceil(m / n) or any",
            "benefit lost [%]",
            "share of markets",
            {"nearest to balance": (100 * loss, part)},
            whole=True,
        ),
        CurvePlot(
            "balance-ratio",
            f"Largest benefit over that near to balance, one peer of value R among {SLOW:,} of 1\n"
            "as many tasks, no N_max, alpha = 1 - exp(-x / m) where x = R (1 - exp(-x))",
            "R",
            "ratio",
            {"whole tasks": (fast, ratios), "limit": (fast, limits)},
            lines={"2": 2.0},
            log_x=True,
        ),
    ]
