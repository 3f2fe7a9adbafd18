"""The tables behind claims and figures: what is measured in full and in quick runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.campaign import (
    COMBINATIONS,
    COUNTS,
    SEED,
    SITES,
    STRATEGIES,
    Case,
    Setting,
)
from simplugin.taskgraphs.readings import Readings
from simplugin.taskgraphs.section7 import averages, cases, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.taskgraphs.section7 import Averages
    from simplugin.workloads.graph_generators import Family


@dataclass(frozen=True)
class Scope:
    """Which runs are made.

    Attributes
    ----------
    counts : tuple of int
        Numbers of graphs.
    combinations : int
        Of each number.
    sites : tuple of str
        Keys of `simplugin.platforms.sites.SUBSETS`.
    """

    counts: tuple[int, ...]
    combinations: int
    sites: tuple[str, ...]

    def cases(self, family: Family, variant: str = "") -> list[Case]:
        """Return the runs of a family of graphs."""
        return cases(
            family,
            counts=self.counts,
            combinations=self.combinations,
            sites=self.sites,
            variant=variant,
        )

    @property
    def runs(self) -> int:
        """How many runs each number of graphs has."""
        return self.combinations * len(self.sites)

    def provenance(self) -> dict[str, object]:
        """Return what determines the measurements."""
        return {
            "seed": SEED,
            "graphs": list(self.counts),
            "combinations": self.combinations,
            "sites": list(self.sites),
        }


# The paper's campaign, and a part of it for what needs many settings.
FULL = Scope(COUNTS, COMBINATIONS, SITES)
PART = Scope((2, 6, 10), 4, SITES)
# Of quick runs; random graphs differ most from each other.
_FEW = ("lille", "sophia")
QUICK: dict[Family, Scope] = {
    "random": Scope((4, 8), 4, _FEW),
    "fft": Scope((4, 8), 2, _FEW),
    "strassen": Scope((4, 8), 2, _FEW),
}
QUICK_PART = Scope((4,), 2, _FEW)

EIGHT = tuple(map(Setting, STRATEGIES))
BALANCED = Setting("balanced")
# Estimates that count contention.
TOGETHER = Readings(redistribution="together")
REBALANCED = Setting("balanced", revision="rebalanced", readings=TOGETHER)
# How much equal shares weigh in sweeps.
MUS = tuple(np.linspace(0.0, 1.0, 11).round(1).tolist())
QUICK_MUS = (0.0, 0.5, 0.7, 1.0)


def scope(family: Family, *, quick: bool) -> Scope:
    """Return the runs of the campaign."""
    return QUICK[family] if quick else FULL


def part(*, quick: bool) -> Scope:
    """Return the runs of what needs many settings."""
    return QUICK_PART if quick else PART


@cache
def table(family: Family, chosen: Scope) -> Averages:
    """Return the averages of the paper's eight strategies."""
    return averages(run(chosen.cases(family), EIGHT))


@cache
def beside(family: Family, chosen: Scope, settings: Sequence[Setting]) -> Averages:
    """Return the averages of some settings, relative to the best of the eight strategies."""
    chosen_cases = chosen.cases(family)
    return averages(run(chosen_cases, settings), run(chosen_cases, EIGHT))


def weighted(strategy: str, *, quick: bool = False) -> tuple[Setting, ...]:
    """Return a weighted strategy with each `mu` of a sweep."""
    return tuple(Setting(strategy, mu=mu) for mu in (QUICK_MUS if quick else MUS))


@cache
def mu_table(strategy: str, family: Family, chosen: Scope, *, quick: bool = False) -> Averages:
    """Return the averages of a weighted strategy by `mu`."""
    return averages(run(chosen.cases(family), weighted(strategy, quick=quick)))
