"""Bundles sold one after another, with discounts that are kept, decay or are reset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, expm1, log, power
from simplugin.market.actors.stations import Counters, lifetime
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.workloads.bundle_markets import Amounts, Floats


def kept_parts(counters: Counters, dates: ArrayLike) -> Floats:
    """Return the remaining part of counters at the date of each bundle, since the previous one."""
    lasts = lifetime(counters)
    steps = np.diff(np.asarray(dates, dtype=np.float64), prepend=np.asarray(dates)[0])
    if lasts in (0, np.inf):
        return np.full(len(steps), 0.0 if lasts == 0 else 1.0)
    return exp(-steps / lasts)


def serve(
    values: Iterable[ArrayLike], counts: Sequence[int], q: float, parts: Floats
) -> list[tuple[Floats, BestBundle]]:
    """Return the discount counters before each bundle, and its assignment of largest benefit.

    A counter a means the value V q^a of the next task; `values` are those of each bundle.
    """
    found: list[tuple[Floats, BestBundle]] = []
    sold = 0.0 * np.asarray(parts[0])
    for own, m, part in zip(values, counts, parts, strict=True):
        sold = sold * part
        best = largest_benefit(np.asarray(own) * power(np.asarray(q), sold), m, m, q)
        found.append((np.broadcast_to(sold, best.amounts.shape), best))
        sold = sold + best.amounts
    return found


def best_in_hindsight(values: Floats, counts: Sequence[int], q: float, parts: Floats) -> float:
    """Return the largest benefit of bundles that are all known beforehand, of every history.

    Tasks of one bundle cost others of later ones by an amount that depends on the dates; the
    benefit is no longer concave.
    """
    choices = [compositions(m, len(values)) for m in counts]
    log_q = log(q)
    sold, benefit = np.zeros((1, len(values))), np.zeros(1)
    for choice, part in zip(choices, parts, strict=True):
        sold = sold * part
        worth = values * exp(sold * log_q) / -expm1(log_q)
        gain = np.sum(worth[:, None] * -expm1(choice * log_q), axis=2)
        benefit = (benefit[:, None] + gain).ravel()
        sold = (sold[:, None, :] + choice).reshape(-1, len(values))
    return float(benefit.max())


def compositions(m: int, parts: int) -> Amounts:
    """Return all ways to deal m tasks to peers; shape (n_ways, parts)."""
    if parts == 1:
        return np.array([[m]])
    blocks = []
    for first in range(m, -1, -1):
        rest = compositions(m - first, parts - 1)
        blocks.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(blocks)
