"""Graphs that arrive over time, under shares that are fixed or revised: what the paper leaves open.

Graphs of a combination are submitted one after the other, as a Poisson process; how long one is
after the other is relative to how long they take alone. Under fixed shares everything is known
before; all others only know graphs that were submitted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from simplugin.optimum.task_graph_bounds import makespan_bound
from simplugin.platforms.sites import SUBSETS
from simplugin.taskgraphs.allocation import scrap_max
from simplugin.taskgraphs.campaign import (
    SEED,
    Case,
    Setting,
    graphs_of,
    own_makespans,
    platform_of,
    revision_of,
    strategy_of,
)
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.taskgraphs.shares import checked_shares
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.workloads.graph_generators import Family

COUNT = 10
# Mean time between submissions over mean makespan alone.
RHOS = (0.1, 0.3, 1.0)
STRATEGIES = ("s", "es", "wps_width", "wps_work")
# Dates are drawn apart from graphs.
_DATES = 1


@dataclass(frozen=True)
class Arrivals:
    """Graphs that arrive at a site.

    Attributes
    ----------
    case : Case
        The graphs and the site.
    rho : float
        Mean time between two submissions, over the mean makespan of the graphs alone on the site.
    """

    case: Case
    rho: float


@dataclass(frozen=True)
class Trial:
    """What a setting came to where graphs arrive over time.

    Attributes
    ----------
    arrivals : Arrivals
        Which graphs, where and when.
    setting : str
        Key of the setting.
    own : tuple of float
        Makespan of each graph when it has the site for itself [s].
    shared : tuple of float
        Makespan of each graph among the others, from its submission [s].
    makespan : float
        When the last graph is completed [s].
    """

    arrivals: Arrivals
    setting: str
    own: tuple[float, ...]
    shared: tuple[float, ...]
    makespan: float

    @cached_property
    def slowdown(self) -> NDArray[np.float64]:
        """Of each graph, equation (3)."""
        return slowdown(np.array(self.own), np.array(self.shared))

    @property
    def unfairness(self) -> float:
        """Equation (5)."""
        return unfairness(self.slowdown)


def settings(strategy: str, readings: Readings = PAPER) -> dict[str, Setting]:
    """Return a strategy under shares that are fixed, given on arrival, or revised at events."""
    usual = Setting(strategy, readings=readings)
    return {
        "static": usual,
        "arrival": replace(usual, revision="arrival"),
        "event": replace(usual, revision="event"),
    }


TOGETHER = Readings(redistribution="together")
OURS = Setting("balanced", revision="rebalanced", readings=TOGETHER)


@cache
def submitted(arrivals: Arrivals) -> GraphSet:
    """Return the graphs and when they are submitted: the first one at once.

    The time between two submissions is exponential. The numbers drawn are the same whatever rho
    and the site are, so that only the load tells these apart.
    """
    case = arrivals.case
    generator = np.random.default_rng([case.seed, case.number, case.count, _DATES])
    mean = arrivals.rho * float(np.mean(own_makespans(case, "online", PAPER)))
    gaps = mean * generator.exponential(size=case.count - 1)
    return GraphSet(graphs_of(case), np.concatenate([[0.0], np.cumsum(gaps)]))


@cache
def tried(arrivals: Arrivals, setting: Setting) -> Trial:
    """Return what a setting comes to, simulated; what was tried once is kept.

    Slowdowns are relative to the same own makespans under all settings: those under the readings
    of the paper, so that what helps a graph alone counts as well.
    """
    case, graphs = arrivals.case, submitted(arrivals)
    site = SUBSETS[case.site].site()
    shares = np.ones(graphs.n_graphs)  # replaced on arrival, unless they are fixed
    if not setting.revision:
        shares = checked_shares(
            strategy_of(setting, case.family)(graphs.graphs, site), graphs.n_graphs
        )
    allocations = [
        scrap_max(graph, site, share, setting.readings)
        for graph, share in zip(graphs.graphs, shares.tolist(), strict=True)
    ]
    done = execute(
        graphs,
        site,
        allocations=allocations,
        platform=platform_of(case),
        readings=setting.readings,
        revise=revision_of(graphs, site, setting, case.family),
    )
    own = own_makespans(case, "online", PAPER)
    shared = tuple(done.schedule.makespans.tolist())
    return Trial(arrivals, setting.key, own, shared, done.makespan)


@cache
def bound(arrivals: Arrivals) -> float:
    """Return a date before which nobody completes all graphs [s]."""
    site = SUBSETS[arrivals.case.site].site()
    return makespan_bound(submitted(arrivals), site, tolerance=1e-3).value


@dataclass(frozen=True)
class Summary:
    """Means over runs.

    Attributes
    ----------
    unfairness, slowdown, worst : float
        Equation (5); slowdown of all graphs and of that which suffers most.
    makespan : float
        When the last graph is completed [s].
    """

    unfairness: float
    slowdown: float
    worst: float
    makespan: float


def summary(trials: Sequence[Trial]) -> Summary:
    """Return the means over runs of one setting."""
    return Summary(
        float(np.mean([each.unfairness for each in trials])),
        float(np.mean([each.slowdown for each in trials])),
        float(np.mean([np.min(each.slowdown) for each in trials])),
        float(np.mean([each.makespan for each in trials])),
    )


def runs(
    family: Family,
    rho: float,
    *,
    numbers: Sequence[int],
    sites: Sequence[str] = tuple(SUBSETS),
    seed: int = SEED,
) -> list[Arrivals]:
    """Return combinations of a family that arrive at sites."""
    return [
        Arrivals(Case(family, COUNT, number, site, seed), rho)
        for number in numbers
        for site in sites
    ]
