"""The averages of section 7: unfairness and makespan by strategy and number of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.campaign import (
    COMBINATIONS,
    COUNTS,
    SITES,
    STRATEGIES,
    Case,
    Setting,
    measured,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simplugin.taskgraphs.campaign import Measurement
    from simplugin.workloads.graph_generators import Family


@dataclass(frozen=True, eq=False)
class Averages:
    """Means over the runs of each number of graphs.

    Attributes
    ----------
    strategies : tuple of str
        Keys of settings.
    counts : tuple of int
        Numbers of graphs.
    unfairness : float64, shape (n_strategies, n_counts)
        Equation (5).
    relative : float64, shape (n_strategies, n_counts)
        Makespan over that of the best strategy of the run.
    makespan : float64, shape (n_strategies, n_counts)
        [s].
    planned : float64, shape (n_strategies, n_counts)
        Makespan by estimates [s].
    """

    strategies: tuple[str, ...]
    counts: tuple[int, ...]
    unfairness: NDArray[np.float64]
    relative: NDArray[np.float64]
    makespan: NDArray[np.float64]
    planned: NDArray[np.float64]

    def unfair(self, strategy: str) -> NDArray[np.float64]:
        """Return the unfairness of a strategy by number of graphs; shape (n_counts,)."""
        return np.asarray(self.unfairness[self.strategies.index(strategy)])

    def length(self, strategy: str) -> NDArray[np.float64]:
        """Return the relative makespan of a strategy by number of graphs; shape (n_counts,)."""
        return np.asarray(self.relative[self.strategies.index(strategy)])

    def gain(self, strategy: str, other: str = "s") -> NDArray[np.float64]:
        """Return by what part a strategy is fairer than another; shape (n_counts,)."""
        return 1.0 - self.unfair(strategy) / self.unfair(other)

    def ranked(self, values: Callable[[str], NDArray[np.float64]]) -> list[str]:
        """Return the strategies by their mean over numbers of graphs, the least first."""
        return sorted(self.strategies, key=lambda name: float(np.mean(values(name))))


def averages(
    found: Sequence[Sequence[Measurement]], compared: Sequence[Sequence[Measurement]] | None = None
) -> Averages:
    """Return the means over runs.

    Parameters
    ----------
    found : sequence of sequence of Measurement
        For each run its settings, the same and in the same order everywhere.
    compared : sequence of sequence of Measurement, optional
        For each run, those whose shortest makespan others are relative to; `found` without.
    """
    compared = found if compared is None else compared
    sizes = np.array([run[0].case.count for run in found])
    counts = tuple(np.unique(sizes).tolist())
    shortest = np.array([min(each.makespan for each in run) for run in compared])[:, np.newaxis]
    makespan = np.array([[each.makespan for each in run] for run in found])
    planned = np.array([[each.planned for each in run] for run in found])
    unfairness = np.array([[each.unfairness for each in run] for run in found])

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the means of each number of graphs."""
        return np.stack([values[sizes == count].mean(axis=0) for count in counts], axis=1)

    return Averages(
        tuple(each.setting for each in found[0]),
        counts,
        mean(unfairness),
        mean(makespan / shortest),
        mean(makespan),
        mean(planned),
    )


def cases(
    family: Family,
    *,
    counts: Sequence[int] = COUNTS,
    combinations: int = COMBINATIONS,
    sites: Sequence[str] = SITES,
    variant: str = "",
) -> list[Case]:
    """Return the runs of a family of graphs."""
    return [
        Case(family, count, number, site, variant=variant)
        for count in counts
        for number in range(combinations)
        for site in sites
    ]


def run(
    chosen: Sequence[Case], settings: Sequence[Setting] = tuple(map(Setting, STRATEGIES))
) -> list[list[Measurement]]:
    """Return what each setting comes to in each case."""
    return [[measured(case, setting) for setting in settings] for case in chosen]
