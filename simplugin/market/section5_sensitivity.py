"""In which part of settings that fit the paper each order of its Table 1 holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.listings import Listing
from simplugin.market.section5 import (
    ALGORITHMS,
    ALPHA,
    OTHER_READINGS,
    RELATIONS,
    SETTINGS,
    Row,
    Setting,
    rows,
)
from simplugin.market.section5_sites import SPREAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.listings import Cell

ALPHAS = (0.003, 0.006, 0.01, 0.015, 0.02, 0.03)
# N_max over the mean number of tasks of a peer; none at last.
FACTORS = (1.0, 1.25, 1.5, 2.0, None)
SPREADS = (0.3, 0.8)
# Sites on which it is looked at as chosen, and under each variation; auctions on each.
SITES, QUICK_SITES = 200, 20
VARIED_SITES = 40
RUNS, QUICK_RUNS = 3, 1


@dataclass(frozen=True)
class Variation:
    """A way to fill in what the paper leaves open.

    Attributes
    ----------
    group : str
        What it is about.
    words : str
        What it does.
    settings : tuple of Setting
        To look at.
    spread : float
        Of `consistent_site`.
    stand_in : tuple of (str, str)
        Algorithms of Table 1, and by which policy each is read instead.
    """

    group: str
    words: str
    settings: tuple[Setting, ...] = SETTINGS
    spread: float = SPREAD
    stand_in: tuple[tuple[str, str], ...] = field(default=())

    def rows(self, setting: Setting, seed: int, runs: int) -> Mapping[str, Row]:
        """Return Table 1 of a site under the variation."""
        policies = tuple(dict(self.stand_in).get(name, name) for name in ALGORITHMS)
        # One algorithm at a time, since variations share most of them.
        found = [rows(setting, seed, runs, (each,), self.spread)[each] for each in policies]
        return dict(zip(ALGORITHMS, found, strict=True))


CHOSEN = Variation("", "as chosen")
VARIATIONS = (
    *(Variation("class", f"{each.kind} tasks", (each,)) for each in SETTINGS),
    *(
        Variation(
            "discount rate",
            f"alpha {alpha:g}",
            tuple(replace(each, alpha=alpha) for each in SETTINGS),
        )
        for alpha in ALPHAS
        if alpha != ALPHA
    ),
    *(
        Variation(
            "N_max",
            f"N_max {factor:g} times the mean",
            tuple(replace(each, factor=factor) for each in SETTINGS),
        )
        for factor in FACTORS
        if factor is not None
    ),
    *(
        Variation("capacities", f"capacities of spread {spread:g}", spread=spread)
        for spread in SPREADS
    ),
    *(
        Variation("reading", OTHER_READINGS[policy], stand_in=((name, policy),))
        for name in ALGORITHMS
        for policy in OTHER_READINGS
        if policy.startswith(name)
    ),
)


@cache
def holding(
    variation: Variation = CHOSEN, sites: int = SITES, runs: int = RUNS
) -> NDArray[np.bool_]:
    """Return whether each relation of Table 1 holds on each site in each setting.

    Parameters
    ----------
    variation : Variation
        Settings and readings.
    sites : int
        Seeds of sites, from 0 on.
    runs : int
        Over how many seeds the double auction is averaged on each.

    Returns
    -------
    bool, shape (n_sites, n_settings, 9)
        In the order of `RELATIONS`.
    """
    return np.array(
        [
            [
                [relation.holds(found) for relation in RELATIONS]
                for found in (variation.rows(setting, seed, runs) for setting in variation.settings)
            ]
            for seed in range(sites)
        ]
    )


def sensitivity(sites: int = SITES, varied_sites: int = VARIED_SITES, runs: int = RUNS) -> Listing:
    """Return in what part of sites and settings the orders of Table 1 hold.

    Parameters
    ----------
    sites : int
        To look at as chosen.
    varied_sites : int
        To look at under each variation.
    runs : int
        As in `holding`.
    """
    lines: list[tuple[Cell, ...]] = []
    for variation in (CHOSEN, *VARIATIONS):
        found = holding(variation, sites if variation is CHOSEN else varied_sites, runs)
        parts = found.mean(axis=(0, 1)).tolist()
        lines.append(
            (variation.words, found[..., 0].size, *parts, float(found.all(axis=-1).mean()))
        )
    metrics = [f"{relation.metric}: {relation.words}" for relation in RELATIONS]
    return Listing(
        "In which part of settings the orders of Table 1 hold",
        (
            ("variation", ""), ("settings", ""),
            *((name, "%") for name in metrics), ("all nine", "%"),
        ),
        tuple(lines),
        f"as chosen: alpha {ALPHA:g}, no N_max, three classes; sites of seeds from 0 on; auctions"
        f" averaged over {runs} seeds on each",
    )  # fmt: skip
