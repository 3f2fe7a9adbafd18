"""Running scenarios whose task graphs share a site."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.inputs.kinds import Outcome, Progress
from simplugin.optimum.task_graph_bounds import makespan_bound, own_bounds
from simplugin.rows import Row
from simplugin.scenarios.graph_schedulers import (
    Wishes,
    baseline_of,
    is_baseline,
    policy_of,
    wishes_of,
)
from simplugin.scenarios.graph_workloads import graph_set
from simplugin.simulation.metrics import metrics
from simplugin.simulation.options import SimGridOptions
from simplugin.simulation.resolve import resolve
from simplugin.taskgraphs.allocation import PROCEDURES, hcpa
from simplugin.taskgraphs.assessment import Assessment
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.global_ordering import global_ordering
from simplugin.taskgraphs.platform_sites import site_of
from simplugin.taskgraphs.rebalancing import Rebalanced
from simplugin.taskgraphs.revisions import Revised
from simplugin.taskgraphs.shares import checked_shares
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simplugin.platforms import Platform
    from simplugin.platforms.sites import Site
    from simplugin.scenarios.scenario import Scenario
    from simplugin.taskgraphs.allocation import Allocation
    from simplugin.taskgraphs.execution import Execution
    from simplugin.taskgraphs.online_mapping import Revision
    from simplugin.workloads.task_graphs import TaskGraph

# Of their platforms the site says exactly what the network has, and that data pass it in any case.
_KNOWN_NETWORKS = ("multi_cluster", "grid5000_subset")


@dataclass(frozen=True, eq=False)
class _Setting:
    """Where and how graphs are executed."""

    scenario: Scenario
    site: Site
    platform: Platform | Path
    wishes: Wishes

    def allocations(
        self, graphs: Sequence[TaskGraph], shares: NDArray[np.float64]
    ) -> list[Allocation]:
        """Return how many processors each task gets."""
        readings, procedure = self.wishes.readings, self.wishes.procedure
        if procedure == "hcpa":
            return [hcpa(graph, self.site, readings) for graph in graphs]
        allocate = PROCEDURES[procedure]
        pairs = zip(graphs, shares.tolist(), strict=True)
        return [allocate(graph, self.site, share, readings) for graph, share in pairs]

    def executed(
        self,
        graphs: GraphSet,
        allocations: Sequence[Allocation] | None,
        **further: Any,
    ) -> Execution:
        """Simulate; a baseline plans what has no allocations."""
        wishes = self.wishes
        what: dict[str, Any] = {"allocations": allocations, "mode": wishes.mode}
        estimated = wishes.how["transfers"]
        if allocations is None:
            make = baseline_of(self.scenario)
            plan = make(graphs, self.site, transfers=estimated, **wishes.policy)
            what = {"schedule": plan, "mode": "planned"}
        elif wishes.ordering == "global":
            plan = global_ordering(graphs, allocations, self.site, transfers=estimated)
            what = {"schedule": plan, "mode": "planned"}
        return execute(
            graphs,
            self.site,
            platform=self.platform,
            readings=wishes.readings,
            revise=self._revision(graphs),
            **wishes.how,
            **what,
            **further,
        )

    def _revision(self, graphs: GraphSet) -> Revision | None:
        """Return who revises shares, if anybody does."""
        when, readings = self.wishes.revision, self.wishes.readings
        if when == "none":
            return None
        if when == "rebalanced":
            return Rebalanced(graphs, self.site, readings=readings)
        policy = partial(policy_of(self.scenario), **self.wishes.policy)
        return Revised(
            graphs, self.site, policy, "arrival" if when == "arrival" else "event", readings
        )


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Execute all graphs together and each alone, and compare with bounds.

    Bounds count the least times of redistributions on the platforms of this package's generators
    of multi-clusters, as long as data that stay on their hosts are sent as well. Elsewhere they
    take data to arrive at once: of other platforms, files among them, the site is an estimate,
    and what it says of the network proves nothing.
    """
    wishes = wishes_of(scenario)
    graphs = graph_set(scenario)
    platform = scenario.make_platform()
    setting = _Setting(scenario, site_of(platform), platform, wishes)
    shares, allocations = None, None
    if not is_baseline(scenario):
        shares = _shares(setting, graphs.graphs)
        allocations = setting.allocations(graphs.graphs, shares)
    how = _arguments(scenario)
    traced = scenario.simulation.trace and scenario.output.trace is not None
    done = setting.executed(graphs, allocations, progress=progress, **how, trace=traced)
    own = _own_makespans(setting, graphs.graphs, allocations, how)
    moved = _data_take_time(setting)
    told = Assessment(
        done,
        own,
        makespan_bound(graphs, setting.site, transfers=moved).value,
        np.array([each.value for each in own_bounds(graphs, setting.site, transfers=moved)]),
        # Shares that are revised have no one value.
        None if wishes.procedure == "hcpa" or wishes.revision != "none" else shares,
        _most_cores(setting),
    )
    energy = [metric for metric in metrics(done.result) if metric.name == "energy"]
    row = Row((*told.metrics(), *energy), done.result.provenance, told.best)
    return Outcome(
        row,
        done.result,
        told.listings(),
        schedule=told.chart(scenario.title),
        graphs=told.graph_charts(),
    )


def _data_take_time(setting: _Setting) -> bool:
    """Whether it is certain that redistributions take what the site says, at least."""
    simulation = setting.scenario.simulation
    return (
        setting.scenario.platform.generator in _KNOWN_NETWORKS
        and setting.wishes.how["local"] == "sent"
        and replace(simulation.options, host_model=None) == SimGridOptions()
    )


def _most_cores(setting: _Setting) -> NDArray[np.int64]:
    """Return how many cores the hosts of each cluster have at most."""
    cores = {host.name: host.cores for host in resolve(setting.platform).hosts}
    return np.array([max(map(cores.__getitem__, hosts)) for hosts in setting.site.hosts])


def _shares(setting: _Setting, graphs: Sequence[TaskGraph]) -> NDArray[np.float64]:
    """Return what the policy gives each graph."""
    scenario = setting.scenario
    parameters = setting.wishes.policy
    idle = [graph.name for graph in graphs if graph.work == 0]
    try:
        shares = policy_of(scenario)(graphs, setting.site, **parameters)
        return checked_shares(shares, len(graphs), repr(scenario.scheduler.name))
    except (WorkloadError, TypeError, ValueError) as error:
        key = ("scheduler", "parameters" if parameters else "name")
        message = f"{scenario.scheduler.name!r} cannot be used: {error}"
        if idle:
            message += f" (graph {idle[0]!r} has nothing to compute)"
        raise scenario.error(message, *key) from error


def _arguments(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario's arguments of `simulate`, the trace apart."""
    given = scenario.simulation.arguments()
    del given["trace"]
    options = given["options"]
    if options.host_model is None:
        options = replace(options, host_model="ptask_L07")
    elif options.host_model != "ptask_L07":
        message = f"simulation.options.host_model is {options.host_model!r}"
        remedy = "remove it: parallel tasks need 'ptask_L07'"
        raise scenario.error(message, "simulation", "options", "host_model", remedy=remedy)
    return given | {"options": options}


def _own_makespans(
    setting: _Setting,
    graphs: Sequence[TaskGraph],
    allocations: Sequence[Allocation] | None,
    how: dict[str, Any],
) -> NDArray[np.float64]:
    """Return the makespan of each graph that has the site for itself [s]."""
    makespans = []
    for number, graph in enumerate(graphs):
        alone = None
        if allocations is not None and setting.wishes.readings.own == "share":
            alone = [allocations[number]]
        elif allocations is not None:
            alone = setting.allocations([graph], np.ones(1))
        makespans.append(setting.executed(GraphSet((graph,)), alone, **how).makespan)
    return np.array(makespans)
