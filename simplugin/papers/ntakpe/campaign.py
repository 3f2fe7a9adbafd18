"""Campaign of seeded combinations of task graphs on Grid'5000 sites, simulated by SimGrid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.inputs.references import named_policy
from simplugin.optimum.task_graph_bounds import makespan_bound
from simplugin.platforms import Platform
from simplugin.platforms.sites import SUBSETS, MultiCluster
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.execution import GraphExecution, execute
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.policies.allocation import Allocation, scrap_max
from simplugin.taskgraphs.policies.mapping import Revision, plan
from simplugin.taskgraphs.policies.revisions import Rebalanced, Revised
from simplugin.taskgraphs.policies.shares import SharingPolicy, checked_shares
from simplugin.taskgraphs.policies.shipped import POLICIES
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.graph_generators import Family, combination
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

# Tasks are mapped when they become ready, or as planned before the start.
Mode = Literal["online", "planned"]

SEED = 6774
SITES = tuple(SUBSETS)
STRATEGIES = ("s", "es", "ps_cp", "ps_width", "ps_work", "wps_cp", "wps_width", "wps_work")
# Weight of equal shares where the paper takes another one for a family of graphs.
MU: dict[tuple[str, Family], float] = {("wps_width", "fft"): 0.3}
# Other ways to draw graphs: the keywords of `combination`.
VARIANTS: dict[str, dict[str, Any]] = {
    "one complexity": {"scenario": "same"},
    "mixed costs": {"scenario": "mixed"},
    "uniform sizes": {"sizes": "uniform"},
    "scaled additions": {"counting": "scaled"},
    "additions drawn": {"counting": "drawn"},
}
# Other networks: the fields of `MultiCluster`.
NETWORKS: dict[str, dict[str, Any]] = {"wide switches": {"switch_bandwidth": 1e12}}
# The dates of submissions and the graphs have separate random streams.
_DATES = 1


@dataclass(frozen=True)
class Case:
    """Some graphs on a site.

    Attributes
    ----------
    family : str
        An entry of `FAMILIES`.
    count : int
        Number of graphs.
    number : int
        Number of the combination.
    site : str
        A key of `simplugin.platforms.sites.SUBSETS`.
    variant : str
        A key of `VARIANTS` or `NETWORKS`; empty for the paper's graphs and network.
    rho : float
        Mean time between two submissions over the mean makespan of the graphs alone on the site;
        0 if all graphs are submitted together.
    """

    family: Family
    count: int
    number: int
    site: str
    variant: str = ""
    rho: float = 0.0


@dataclass(frozen=True)
class SharingSetting:
    """A way to share a site among graphs.

    Attributes
    ----------
    strategy : str
        A key of `simplugin.taskgraphs.policies.shipped.POLICIES`.
    mu : float, optional
        Weight of equal shares in weighted strategies; by default the paper's value.
    mode : {"online", "planned"}
        Map tasks as others really end, or all beforehand.
    readings : ModelAssumptions
        Choices that the paper leaves open.
    revision : {"", "arrival", "event", "rebalanced"}
        Revision of shares while tasks run.
    """

    strategy: str
    mu: float | None = None
    mode: Mode = "online"
    readings: ModelAssumptions = PAPER
    revision: Literal["", "arrival", "event", "rebalanced"] = ""


@dataclass(frozen=True)
class MakespanMeasurement:
    """Makespans of a case under a setting.

    Attributes
    ----------
    own : tuple of float
        Makespan of each graph alone on the site [s].
    shared : tuple of float
        Makespan of each graph among the others, from its submission [s].
    makespan : float
        Completion of the last graph [s].
    planned : float
        Its estimate before anything ran [s].
    """

    own: tuple[float, ...]
    shared: tuple[float, ...]
    makespan: float
    planned: float

    @cached_property
    def slowdown(self) -> NDArray[np.float64]:
        """Slowdown of each graph, Eq. (3); shape (n_graphs,)."""
        return slowdown(np.array(self.own), np.array(self.shared))

    @property
    def unfairness(self) -> float:
        """Unfairness, Eq. (5)."""
        return unfairness(self.slowdown)


@dataclass(frozen=True)
class Scope:
    """The runs of a measurement.

    Attributes
    ----------
    counts : tuple of int
        Numbers of graphs.
    combinations : int
        Combinations of each number.
    sites : tuple of str
        Keys of `simplugin.platforms.sites.SUBSETS`.
    """

    counts: tuple[int, ...]
    combinations: int
    sites: tuple[str, ...] = field(default=SITES)

    def cases(self, family: Family, variant: str = "", rho: float = 0.0) -> list[Case]:
        """Return the runs of a family: by number of graphs, combination and site."""
        return [
            Case(family, count, number, site, variant, rho)
            for count in self.counts
            for number in range(self.combinations)
            for site in self.sites
        ]

    @property
    def runs(self) -> int:
        """Number of runs of each number of graphs."""
        return self.combinations * len(self.sites)

    def provenance(self) -> dict[str, object]:
        """Return the facts that determine the measurements."""
        return {
            "seed": SEED,
            "graphs": list(self.counts),
            "combinations": self.combinations,
            "sites": list(self.sites),
        }


# The paper's campaign, and the parts of it for settings that take long, and for many settings.
FULL, SLOW, PART = Scope((2, 4, 6, 8, 10), 25), Scope((2, 6, 10), 25), Scope((2, 6, 10), 4)
_FEW = ("lille", "sophia")
# Random graphs differ most from each other.
QUICK: dict[Family, Scope] = {
    "random": Scope((4, 8), 4, _FEW),
    "fft": Scope((4, 8), 2, _FEW),
    "strassen": Scope((4, 8), 2, _FEW),
}
QUICK_PART = Scope((4,), 2, _FEW)

EIGHT = {name: SharingSetting(name) for name in STRATEGIES}
# Estimates that count contention.
TOGETHER = ModelAssumptions(redistribution="together")
BALANCED = SharingSetting("balanced")
REBALANCED = SharingSetting("balanced", revision="rebalanced", readings=TOGETHER)


@cache
def measured(case: Case, setting: SharingSetting) -> MakespanMeasurement:
    """Simulate a case under a setting; results are cached."""
    done = executed(case, setting)
    if setting.readings.baseline == "share":
        own = tuple(
            _alone(case, graph, allocation, setting)
            for graph, allocation in zip(graphs_of(case), _allocations(case, setting), strict=True)
        )
    elif case.rho:
        # A setting that helps a graph alone reduces its slowdown, too.
        own = own_makespans(case, "online", PAPER)
    else:
        # Slowdowns under different estimates have the same basis.
        readings = replace(setting.readings, redistribution=PAPER.redistribution)
        own = own_makespans(case, setting.mode, readings)
    shared = tuple(done.schedule.makespans.tolist())
    return MakespanMeasurement(own, shared, done.makespan, done.estimate)


def executed(case: Case, setting: SharingSetting, *, trace: bool = False) -> GraphExecution:
    """Execute a case under a setting."""
    graphs = submitted(case)
    return execute(
        graphs,
        cluster_of(case).site(),
        _decisions(case, graphs, _allocations(case, setting), setting),
        platform=platform_of(cluster_of(case)),
        assumptions=setting.readings,
        revise=_revision(case, setting, graphs),
        trace=trace,
    )


@cache
def graphs_of(case: Case) -> tuple[TaskGraph, ...]:
    """Return the graphs of a case; a combination has the same graphs on all sites."""
    drawn = VARIANTS.get(case.variant, {})
    return combination(case.family, case.count, (SEED, case.number), **drawn)


@cache
def submitted(case: Case) -> GraphSet:
    """Return the graphs of a case and the dates of their submission, the first at 0.

    The time between two submissions is exponential. The random numbers depend neither on rho nor
    on the site.
    """
    graphs = graphs_of(case)
    if not case.rho:
        return GraphSet(graphs)
    generator = np.random.default_rng([SEED, case.number, case.count, _DATES])
    mean = case.rho * float(np.mean(own_makespans(case, "online", PAPER)))
    gaps = mean * generator.exponential(size=case.count - 1)
    return GraphSet(graphs, np.concatenate([[0.0], np.cumsum(gaps)]))


@cache
def own_makespans(case: Case, mode: Mode, readings: ModelAssumptions) -> tuple[float, ...]:
    """Return the simulated makespan of each graph of a case alone on its site [s]."""
    if case.rho:
        return own_makespans(replace(case, rho=0.0), mode, readings)
    setting, site = SharingSetting("s", mode=mode, readings=readings), cluster_of(case).site()
    return tuple(
        _alone(case, graph, scrap_max(graph, site, 1.0, readings), setting)
        for graph in graphs_of(case)
    )


def _alone(case: Case, graph: TaskGraph, allocation: Allocation, setting: SharingSetting) -> float:
    """Return the simulated makespan of a graph alone on a site [s]."""
    graphs = GraphSet((graph,))
    return execute(
        graphs,
        cluster_of(case).site(),
        _decisions(case, graphs, (allocation,), setting),
        platform=platform_of(cluster_of(case)),
        assumptions=setting.readings,
    ).makespan


def _decisions(
    case: Case, graphs: GraphSet, allocations: tuple[Allocation, ...], setting: SharingSetting
) -> Schedule | tuple[Allocation, ...]:
    """Return allocations to map online, or their plan."""
    if setting.mode == "online":
        return allocations
    return plan(graphs, allocations, cluster_of(case).site(), assumptions=setting.readings)


@cache
def bound(case: Case, *, transfers: bool, tolerance: float) -> float:
    """Return a date before which no schedule completes all graphs of a case [s]."""
    site = cluster_of(case).site()
    return makespan_bound(submitted(case), site, transfers=transfers, tolerance=tolerance).value


def cluster_of(case: Case) -> MultiCluster:
    """Return the site of a case."""
    return replace(SUBSETS[case.site], **NETWORKS.get(case.variant, {}))


@cache
def platform_of(site: MultiCluster) -> Platform:
    """Return the platform of a site, the same for each run."""
    return site.platform()


def strategy_of(setting: SharingSetting, family: Family) -> SharingPolicy:
    """Return the policy of a setting."""
    mu = MU.get((setting.strategy, family)) if setting.mu is None else setting.mu
    policy: Callable[..., NDArray[np.float64]] = named_policy(setting.strategy, POLICIES)
    return policy if mu is None else partial(policy, mu=mu)


def _revision(case: Case, setting: SharingSetting, graphs: GraphSet) -> Revision | None:
    """Return the revision of shares of a setting."""
    site = cluster_of(case).site()
    if setting.revision == "rebalanced":
        return Rebalanced(graphs, site, assumptions=setting.readings)
    if setting.revision:
        policy = strategy_of(setting, case.family)
        return Revised(graphs, site, policy, setting.revision, setting.readings)
    return None


def _allocations(case: Case, setting: SharingSetting) -> tuple[Allocation, ...]:
    """Return the allocations of a case under the shares of a setting."""
    graphs, site = graphs_of(case), cluster_of(case).site()
    # A revision replaces the shares at each submission.
    shares = np.ones(len(graphs))
    if not setting.revision:
        shares = checked_shares(strategy_of(setting, case.family)(graphs, site), len(graphs))
    return tuple(
        scrap_max(graph, site, share, setting.readings)
        for graph, share in zip(graphs, shares.tolist(), strict=True)
    )
