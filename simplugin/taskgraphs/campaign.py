"""The campaign of section 7: strategies over seeded combinations of graphs, run on SimGrid."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simplugin.platforms.sites import SUBSETS
from simplugin.taskgraphs.allocation import PROCEDURES, scrap_max
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.mapping import plan
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.policies import policy_called
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.taskgraphs.rebalancing import Rebalanced
from simplugin.taskgraphs.revisions import Revised
from simplugin.taskgraphs.shares import checked_shares
from simplugin.workloads.graph_generators import combination
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.platforms import Platform
    from simplugin.platforms.sites import MultiCluster, Site
    from simplugin.taskgraphs.allocation import Allocation
    from simplugin.taskgraphs.execution import Execution, Mode
    from simplugin.taskgraphs.online_mapping import Revision
    from simplugin.taskgraphs.policies import Policy
    from simplugin.workloads.graph_generators import Family
    from simplugin.workloads.task_graphs import TaskGraph

SEED = 6774
# Graphs of a combination, combinations of each number, and sites: 100 runs for each number.
COUNTS, COMBINATIONS, SITES = (2, 4, 6, 8, 10), 25, tuple(SUBSETS)
STRATEGIES = ("s", "es", "ps_cp", "ps_width", "ps_work", "wps_cp", "wps_width", "wps_work")
# How much equal shares weigh, by strategy and family; `policies` has the others.
_MU = {("wps_width", "fft"): 0.3}


@dataclass(frozen=True)
class Case:
    """Some graphs on a site.

    Attributes
    ----------
    family : str
        An entry of `FAMILIES`.
    count : int
        How many graphs.
    number : int
        Of the combination.
    site : str
        A key of `simplugin.platforms.sites.SUBSETS`.
    seed : int
        Of all combinations.
    variant : str
        How graphs are drawn, where it is not as in `combination`, or the site is built, where it
        is not as in `SUBSETS`: an entry of `VARIANTS` or `NETWORKS`.
    """

    family: Family
    count: int
    number: int
    site: str
    seed: int = SEED
    variant: str = ""


# Other ways to draw graphs: the keywords of `combination`.
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "one complexity": {"one_scenario": True},
    "uniform sizes": {"sizes": "uniform"},
    "scaled additions": {"counting": "scaled"},
    "additions drawn": {"counting": "drawn"},
}
# Other networks: the fields of `MultiCluster`.
NETWORKS: dict[str, dict[str, Any]] = {"wide switches": {"switch_bandwidth": 1e12}}


@dataclass(frozen=True)
class Setting:
    """How graphs share a site.

    Attributes
    ----------
    strategy : str
        A key of `simplugin.taskgraphs.policies.POLICIES`.
    mu : float, optional
        How much equal shares weigh in weighted strategies; the paper's value without.
    procedure : {"scrap_max", "scrap"}
        How allocations respect shares.
    mode : {"online", "planned"}
        Whether tasks are mapped as others really end, or before.
    readings : Readings
        What the paper leaves open.
    revision : {"", "arrival", "event", "rebalanced"}
        Whether shares are revised while tasks run: by the strategy, see
        `simplugin.taskgraphs.revisions`, or as `simplugin.taskgraphs.rebalancing` does.
    """

    strategy: str
    mu: float | None = None
    procedure: str = "scrap_max"
    mode: Mode = "online"
    readings: Readings = PAPER
    revision: Literal["", "arrival", "event", "rebalanced"] = ""

    @property
    def key(self) -> str:
        """All of it in a line; what is as usual is left out."""
        usual = Setting(self.strategy)
        words = [self.strategy]
        names = ("mu", "procedure", "mode", "revision")
        given = [(name, getattr(self, name)) for name in names]
        words += [f"{name}={value}" for name, value in given if value != getattr(usual, name)]
        others = asdict(PAPER)
        for name, value in asdict(self.readings).items():
            if value != others[name]:
                words.append(f"{name}={value}")
        return " ".join(words)


@dataclass(frozen=True)
class Measurement:
    """What a setting came to in a case.

    Attributes
    ----------
    case : Case
        Some graphs on a site.
    setting : str
        Key of the setting.
    own : tuple of float
        Makespan of each graph when it has the site for itself [s].
    shared : tuple of float
        Makespan of each graph among the others [s].
    planned : float
        When the last graph would end by estimates [s].
    """

    case: Case
    setting: str
    own: tuple[float, ...]
    shared: tuple[float, ...]
    planned: float

    @property
    def makespan(self) -> float:
        """When the last graph ends [s]."""
        return max(self.shared)

    @cached_property
    def slowdown(self) -> NDArray[np.float64]:
        """Of each graph, equation (3)."""
        return slowdown(np.array(self.own), np.array(self.shared))

    @property
    def unfairness(self) -> float:
        """Equation (5)."""
        return unfairness(self.slowdown)


@cache
def measured(case: Case, setting: Setting) -> Measurement:
    """Return what a setting comes to in a case, simulated; what was measured once is kept."""
    graphs = GraphSet(graphs_of(case))
    site = multi_cluster_of(case).site()
    allocations = _allocations(graphs.graphs, site, setting, case.family)
    done = executed(case, setting, allocations)
    planned = plan(graphs, allocations, site, readings=setting.readings)
    if setting.readings.own == "share":
        own = tuple(
            _alone(graph, case, allocation, setting)
            for graph, allocation in zip(graphs.graphs, allocations, strict=True)
        )
    else:
        # Graphs suffer as much with one estimate as with another: slowdowns are over the same.
        readings = replace(setting.readings, redistribution=PAPER.redistribution)
        own = own_makespans(case, setting.mode, readings)
    shared = tuple(done.schedule.makespans.tolist())
    return Measurement(case, setting.key, own, shared, planned.makespan)


def executed(
    case: Case,
    setting: Setting,
    allocations: Sequence[Allocation] | None = None,
    *,
    trace: bool = False,
) -> Execution:
    """Execute a case under a setting.

    Parameters
    ----------
    case : Case
        What.
    setting : Setting
        How.
    allocations : sequence of Allocation, optional
        Those of the setting, where they are known already.
    trace : bool
        Whether every activity is recorded.
    """
    graphs = GraphSet(graphs_of(case))
    site = multi_cluster_of(case).site()
    if allocations is None:
        allocations = _allocations(graphs.graphs, site, setting, case.family)
    return execute(
        graphs,
        site,
        allocations=allocations,
        platform=platform_of(case),
        mode=setting.mode,
        readings=setting.readings,
        revise=revision_of(graphs, site, setting, case.family),
        trace=trace,
    )


@cache
def graphs_of(case: Case) -> tuple[TaskGraph, ...]:
    """Return the graphs of a case; those of a number are the same on all sites."""
    drawn = VARIANTS.get(case.variant, {})
    return combination(case.family, case.count, (case.seed, case.number), **drawn)


@cache
def own_makespans(case: Case, mode: Mode, readings: Readings) -> tuple[float, ...]:
    """Return the makespan of each graph of a case with the site for itself, simulated [s]."""
    setting = Setting("s", mode=mode, readings=readings)
    site = multi_cluster_of(case).site()
    return tuple(
        _alone(graph, case, scrap_max(graph, site, 1.0, readings), setting)
        for graph in graphs_of(case)
    )


def multi_cluster_of(case: Case) -> MultiCluster:
    """Return the site of a case."""
    return replace(SUBSETS[case.site], **NETWORKS.get(case.variant, {}))


def platform_of(case: Case) -> Platform:
    """Return the platform of a case."""
    return _platform(multi_cluster_of(case))


@cache
def _platform(site: MultiCluster) -> Platform:
    """Return the platform of a site."""
    return site.platform()


def _alone(graph: TaskGraph, case: Case, allocation: Allocation, setting: Setting) -> float:
    """Return the makespan of a graph with the site for itself, simulated [s]."""
    done = execute(
        GraphSet((graph,)),
        multi_cluster_of(case).site(),
        allocations=(allocation,),
        platform=platform_of(case),
        mode=setting.mode,
        readings=setting.readings,
    )
    return done.schedule.makespan


def strategy_of(setting: Setting, family: Family) -> Policy:
    """Return the policy of a setting."""
    mu = _MU.get((setting.strategy, family)) if setting.mu is None else setting.mu
    return policy_called(setting.strategy, **({} if mu is None else {"mu": mu}))


def revision_of(graphs: GraphSet, site: Site, setting: Setting, family: Family) -> Revision | None:
    """Return who revises shares, if anybody does."""
    if setting.revision == "rebalanced":
        return Rebalanced(graphs, site, readings=setting.readings)
    if setting.revision == "arrival" or setting.revision == "event":
        policy = strategy_of(setting, family)
        return Revised(graphs, site, policy, setting.revision, setting.readings)
    return None


def _allocations(
    graphs: tuple[TaskGraph, ...], site: Site, setting: Setting, family: Family
) -> tuple[Allocation, ...]:
    """Return how many processors tasks get under the shares of a setting."""
    shares = checked_shares(strategy_of(setting, family)(graphs, site), len(graphs))
    allocate = PROCEDURES[setting.procedure]
    return tuple(
        allocate(graph, site, float(share), setting.readings)
        for graph, share in zip(graphs, shares, strict=True)
    )
