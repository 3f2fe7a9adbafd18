"""The continuous relaxation of random markets: tasks that can be divided, beside whole ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.market.instances import instance
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.bundle_programs import continuous_optimum, relaxation

if TYPE_CHECKING:
    from simplugin.workloads.bundle_markets import Amounts, Floats

# Prices that differ by less are equal; relative.
EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Divided:
    """What tasks that can be divided come to on random markets; arrays of shape (n_instances,).

    Attributes
    ----------
    best, above, margin : float64
        The largest benefit of whole tasks, by how much that of tasks which can be divided is more,
        and by how much it may be [price].
    missed : int64
        By how many tasks demand for whole tasks misses m at the relaxation's price; 0 where it
        clears.
    differs : float64, shape (n_solved,)
        Benefit by Clarabel against the closed form; relative.
    duals : float64
        Its dual against that price where only one is optimal, in parts of the largest value.
    """

    best: Floats
    above: Floats
    margin: Floats
    missed: Amounts
    differs: Floats
    duals: Floats


@cache
def divided(count: int, solved: int) -> Divided:
    """Return what tasks that can be divided come to on the markets of the first seeds.

    Parameters
    ----------
    count, solved : int
        How many markets there are, and how many of them Clarabel solves too.
    """
    lines, differs, duals = [], [], []
    for seed in range(count):
        drawn = instance(seed)
        best, parts = largest_benefit(*drawn.arguments), continuous_optimum(*drawn.arguments)
        clears = best.next_price * (1 - EQUAL) <= parts.price <= best.price * (1 + EQUAL)
        wanted = int(drawn.market.response(parts.price).sum())
        missed = 0 if clears else abs(wanted - drawn.m)
        lines.append((best.benefit, parts.benefit - best.benefit, parts.margin, missed))
        if seed < solved:
            other = relaxation(*drawn.arguments)
            differs.append(abs(other.benefit / parts.benefit - 1))
            # Where all peers are idle or at their caps several prices are optimal.
            if np.any((parts.amounts > EQUAL) & (parts.amounts < drawn.caps - EQUAL)):
                duals.append(abs(other.price - parts.price) / drawn.values.max())
    found, above, margin, demand = np.array(lines).T
    return Divided(
        found, above, margin, demand.astype(np.int64), np.array(differs), np.array(duals)
    )
