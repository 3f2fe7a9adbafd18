"""Which of the figures that the paper prints fit each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.market.model import HOUR
from simplugin.market.section5 import ALGORITHMS, FIGURE4, PAPER, Row, rows
from simplugin.market.section5_sensitivity import QUICK_SITES
from simplugin.market.section5_sites import MEAN_PRICE, N_PEERS, TASKS

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = "section 5.2, Table 1"
# From here on a ratio of peers' speeds is out of the question.
_FAR = 1000.0


def sums(_quick: bool) -> list[Claim]:
    """Return whether total times can be sums of times none of which is above the completion."""
    return [
        Claim(
            f"{name}: total time is the sum of {N_PEERS} times none above the completion time",
            row.total,
            f"at most {N_PEERS} x {row.completion:g} s = {N_PEERS * row.completion:g} s",
            row.total <= N_PEERS * row.completion,
            "agrees if possible; true of averages over runs, too"
            + ("" if row.total <= N_PEERS * row.completion else ". No platform of 12 peers has it"),
            SOURCE,
        )
        for name, row in ((ALGORITHMS[key], PAPER[key]) for key in ALGORITHMS)
    ]


def spread_needed(row: Row, unit: float) -> float:
    """Return the least ratio of peers' speeds for a benefit and a total time.

    With V_i t_i = c, the products of sums are at least c m^2 by Cauchy and Schwarz, and at most
    c m^2 (r + 1)^2 / (4 r) by Kantorovich, if no peer with tasks is more than r times as fast as
    another. The benefit is at most the sum of A_i V_i, by the discount.

    Parameters
    ----------
    row : Row
        Of Table 1.
    unit : float
        c [G$ s].
    """
    product = row.benefit * row.total / (unit * TASKS**2)
    return 2 * product - 1 + 2 * float(np.sqrt(product * (product - 1))) if product > 1 else 1.0


def unit(_quick: bool) -> list[Claim]:
    """Return in which unit of time prices of Table 1 are 1 / t."""
    products = [row.benefit * row.total / (HOUR * TASKS**2) for row in PAPER.values()]
    hours, seconds = (
        [spread_needed(row, scale) for row in PAPER.values()] for scale in (HOUR, 1.0)
    )
    return [
        Claim(
            "Prices 1 / t of Table 1 are G$ for a task an hour",
            "not said",
            "benefit times total time over m^2 is "
            + ", ".join(f"{each:.3f}" for each in products)
            + " G$ h",
            max(hours) < _FAR < min(seconds),
            "it is c for equal peers without discount (Cauchy and Schwarz), below by the discount,"
            f" above by unlike peers. In hours peers that differ {max(hours):.1f}-fold are enough;"
            f" in seconds they would have to differ {min(seconds):.0f}-fold (Kantorovich). Agrees"
            f" if {_FAR:g}-fold lies between",
            SOURCE,
            provenance={"rows": list(ALGORITHMS.values())},
        )
    ]


def same_platform(_quick: bool) -> list[Claim]:
    """Return whether Table 1 can be of the setting of Fig. 4."""
    paper = PAPER["proportional_share"]
    means = [TASKS * HOUR / (N_PEERS * paper.completion), TASKS * HOUR / paper.total]
    policy = "proportional_share"
    totals = [rows(FIGURE4, seed, 1, (policy,))[policy].total for seed in range(QUICK_SITES)]
    return [
        Claim(
            "Table 1 is of the setting of Figure 4",
            f"mean first price {MEAN_PRICE:g}",
            f"{means[0]:.1f} by Proportional Share's completion, {means[1]:.1f} by its total time",
            abs(means[0] / MEAN_PRICE - 1) <= 0.05,
            "shares in proportion to V_i = c / t_i take c m / sum V each. Agrees if within 5 %."
            f" Rounding to whole tasks does little: on {QUICK_SITES} sites whose mean is"
            f" {MEAN_PRICE:g} total times are {min(totals):.0f} to {max(totals):.0f} s, in Table 1"
            f" {paper.total:.0f} s. It is of another class than Fig. 4, or p* there is no mean of"
            " first prices",
            "section 5.2, Table 1 and Figure 4",
            provenance={"price unit": "G$ for a task an hour", "sites": QUICK_SITES},
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "Table 1, sums": sums,
    "Table 1, unit": unit,
    "Table 1, platform": same_platform,
}
