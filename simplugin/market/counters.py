"""Bundles served one after another, with discounts that last, fade or start anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numpy.typing import ArrayLike

from simplugin.elementary import exp, expm1, log, power
from simplugin.errors import WorkloadError
from simplugin.market.actors.stations import Counters, lifetime
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import TOLERANCE, Amounts, BundleMarket, Floats

# Up to how many histories `best_in_hindsight` looks at.
MOST_HISTORIES = 1_000_000


@dataclass(frozen=True, eq=False)
class Served:
    """What became of bundles, one after another.

    Attributes
    ----------
    amounts : int64, shape (n_bundles, n_peers)
        Tasks of each bundle that each peer gets.
    sold : float64, shape (n_bundles, n_peers)
        Discount counters before each bundle, a_i: so many tasks count as sold already.
    benefits : float64, shape (n_bundles,)
        Global benefit of each bundle at the values of its time [price].
    """

    amounts: Amounts
    sold: Floats
    benefits: Floats

    @property
    def benefit(self) -> float:
        """Of all bundles [price]."""
        return float(self.benefits.sum())


def serve(
    values: ArrayLike,
    counts: Sequence[int],
    caps: ArrayLike | None,
    q: ArrayLike,
    counters: Counters = "reset",
    dates: ArrayLike | None = None,
) -> Served:
    """Serve bundles one after another, each by its assignment of largest benefit.

    A peer whose discount counter is a takes its next task for V q^a. With counters that are kept
    and caps that do not bind, the bundles' assignments add up to the optimum of all tasks
    together, since the largest values come first. With counters that are reset, every bundle finds
    the first values again: the more bundles the same tasks are cut into, the larger the benefit.

    Parameters
    ----------
    values : array_like, shape (n_peers,) or (n_bundles, n_peers)
        What its first task is worth to each peer, V_i^b, in all bundles or in each [price].
    counts : sequence of int
        Tasks of each bundle.
    caps : array_like, shape (n_peers,), optional
        How many tasks of one bundle each peer takes at most; no limit without.
    q : array_like, shape (n_peers,)
        1 - alpha; one number for all will do.
    counters : {"reset", "kept"} or float
        Whether counters start anew with each bundle, go on, or fade with a time constant [s].
    dates : array_like, shape (n_bundles,), optional
        When each bundle is sold, in order [s]; needed for counters that fade.

    Returns
    -------
    Served
        Amounts and benefits.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        A bundle cannot be placed under the caps.
    """
    base = np.asarray(values, dtype=np.float64)
    table = base if base.ndim == 2 else np.broadcast_to(base, (len(counts), *base.shape))
    if len(table) != len(counts) or not len(counts):
        raise WorkloadError(f"there are {len(counts)} bundles and values of {len(table)}")
    keep = _kept(counters, dates, len(counts))
    sold = np.zeros(table.shape[1:])
    before, amounts, benefits = [], [], []
    for own, m, rate in zip(table, counts, keep, strict=True):
        sold = sold * rate
        market = BundleMarket(own * power(np.asarray(q), sold), m, m if caps is None else caps, q)
        best = largest_benefit(market.values, market.m, market.caps, market.q)
        before.append(sold)
        amounts.append(best.amounts)
        benefits.append(best.benefit)
        sold = sold + best.amounts
    return Served(np.array(amounts), np.array(before), np.array(benefits))


def best_in_hindsight(
    values: ArrayLike,
    counts: Sequence[int],
    q: ArrayLike,
    counters: Counters,
    dates: ArrayLike | None = None,
) -> Served:
    """Return the best for bundles that are all known beforehand, by looking at every history.

    What fades makes tasks of one bundle cost others of later ones, by an amount that depends on
    the dates; the benefit is no longer concave. Only for a few peers, bundles and tasks.

    Parameters
    ----------
    values, counts, q, counters, dates
        As those of `serve`; values are the same in all bundles, and there are no caps.

    Returns
    -------
    Served
        Of all histories the first of largest benefit.

    Raises
    ------
    WorkloadError
        There are more than a million histories, or an argument is out of its range.
    """
    base = np.asarray(values, dtype=np.float64)
    total = prod(comb(m + len(base) - 1, len(base) - 1) for m in counts)
    if total > MOST_HISTORIES:
        raise WorkloadError(
            f"there are {total} histories; give peers and tasks for at most {MOST_HISTORIES}"
        )
    choices = [compositions(m, len(base)) for m in counts]
    log_q = np.broadcast_to(log(np.asarray(q, dtype=np.float64)), base.shape)
    sold, value = np.zeros((1, len(base))), np.zeros(1)
    for choice, rate in zip(choices, _kept(counters, dates, len(counts)), strict=True):
        sold = sold * rate
        worth = base * exp(sold * log_q) / -expm1(log_q)
        gain = np.sum(worth[:, None] * -expm1(choice * log_q), axis=2)
        value = (value[:, None] + gain).ravel()
        sold = (sold[:, None, :] + choice).reshape(-1, len(base))
    first = int(np.argmax(value >= value.max() * (1 - TOLERANCE)))
    picked = np.unravel_index(first, [len(choice) for choice in choices])
    amounts = np.array([choice[at] for choice, at in zip(choices, picked, strict=True)])
    return replay(base, amounts, q, counters, dates)


def replay(
    values: ArrayLike,
    amounts: ArrayLike,
    q: ArrayLike,
    counters: Counters,
    dates: ArrayLike | None = None,
) -> Served:
    """Return what amounts that are given come to.

    Parameters
    ----------
    values, q, counters, dates
        As those of `serve`; values are the same in all bundles.
    amounts : int64, shape (n_bundles, n_peers)
        Tasks of each bundle that each peer gets.
    """
    base = np.asarray(values, dtype=np.float64)
    table = np.asarray(amounts, dtype=np.int64)
    sold, before, benefits = np.zeros(base.shape), [], []
    for row, rate in zip(table, _kept(counters, dates, len(table)), strict=True):
        sold = sold * rate
        total = int(row.sum())
        market = BundleMarket(base * power(np.asarray(q), sold), total, total, q)
        before.append(sold)
        benefits.append(market.benefit(row))
        sold = sold + row
    return Served(table, np.array(before), np.array(benefits))


def cut(m: int, pieces: int) -> list[int]:
    """Return the counts of a bundle of m tasks that is cut into pieces as equal as can be."""
    if not 1 <= pieces <= m:
        raise WorkloadError(f"pieces are {pieces!r}; give from 1 to {m}, as many as tasks")
    each, rest = divmod(m, pieces)
    return [each + (number < rest) for number in range(pieces)]


def compositions(m: int, parts: int) -> Amounts:
    """Return all ways to deal m tasks to peers; shape (n_ways, parts)."""
    if parts == 1:
        return np.array([[m]])
    blocks = []
    for first in range(m, -1, -1):
        rest = compositions(m - first, parts - 1)
        blocks.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(blocks)


def _kept(counters: Counters, dates: ArrayLike | None, n_bundles: int) -> Floats:
    """Return which part of counters is left at each bundle since the one before."""
    lasts = lifetime(counters)
    if lasts in (0, np.inf):
        return np.full(n_bundles, 0.0 if lasts == 0 else 1.0)
    if dates is None:
        raise WorkloadError(f"counters fade in {lasts!r} s, but dates are not given")
    when = np.asarray(dates, dtype=np.float64)
    steps = np.diff(when)
    if when.shape != (n_bundles,) or not np.all(np.isfinite(when)) or not np.all(steps >= 0):
        raise WorkloadError(f"dates are {dates!r}; give one a bundle, none before the last one")
    return exp(-np.concatenate([[0.0], steps]) / lasts)
