"""Shares that are revised when graphs arrive or complete; mapped tasks keep their processors.

The report [1]_ leaves this to future work. `Revised` applies a policy to the present graphs.
`Rebalanced` balances slowdowns by forecasts from all past events, since contention makes plans
wrong and graphs arrive unannounced: when a graph is submitted or completed, and after the mapping
of a number of tasks, delayed graphs get larger shares for their waiting tasks, the others smaller
ones.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import Site
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.policies.allocation import Allocation, Allocator, scrap_max
from simplugin.taskgraphs.policies.balanced import Forecaster, alone, corrected, fairest, starts
from simplugin.taskgraphs.policies.mapping import Forecast
from simplugin.taskgraphs.policies.shares import SharingPolicy, checked_shares
from simplugin.taskgraphs.timing import Local
from simplugin.workloads.parameter_ranges import one_of
from simplugin.workloads.task_graphs import GraphSet

# Corrections of shares from each start.
_ROUNDS = 6

When = Literal["arrival", "event"]


def competing(
    graphs: GraphSet, active: Sequence[int], mapped: Sequence[bool]
) -> dict[int, NDArray[np.bool_]]:
    """Return the graphs that compete: those with computation that is not mapped yet.

    Parameters
    ----------
    graphs : GraphSet
        All graphs.
    active : sequence of int
        Graphs that are submitted and not completed.
    mapped : sequence of bool, shape (n_tasks,)
        Tasks that keep their processors.

    Returns
    -------
    dict of int to bool, shape (n_tasks of the graph,)
        True for the mapped tasks of each graph, in the order of `active`.
    """
    flags, first = np.asarray(mapped, dtype=np.bool_), graphs.first
    parts = {graph: flags[first[graph] : first[graph + 1]] for graph in active}
    return {
        graph: done for graph, done in parts.items() if np.any(graphs.graphs[graph].flop[~done])
    }


@dataclass(eq=False)
class Revised:
    """Shares by a policy of the present graphs.

    An instance remembers these graphs: each execution needs its own instance, or a copy as
    `simplugin.taskgraphs.execution.execute` makes.

    Attributes
    ----------
    graphs : GraphSet
        All graphs; none is used before its release.
    site : Site
        The site.
    policy : SharingPolicy
        The policy. It gets the tasks of each competing graph that are not mapped yet.
    when : {"arrival", "event"}
        Set the share of a graph when it is submitted, or all shares whenever a graph is submitted
        or completed.
    assumptions : ModelAssumptions
        For allocations.

    Raises
    ------
    WorkloadError
        The value of `when` is unknown.
    """

    graphs: GraphSet
    site: Site
    policy: SharingPolicy
    when: When = "event"
    assumptions: ModelAssumptions = PAPER
    _active: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Check the choice."""
        one_of("when", self.when, get_args(When))

    def __call__(
        self, _now: float, active: Sequence[int], mapped: Sequence[bool], _forecast: Forecast, /
    ) -> dict[int, Allocation]:
        """Return new allocations if a graph was submitted or completed."""
        before, self._active = self._active, list(active)
        if self._active == before:
            return {}
        done = competing(self.graphs, active, mapped)
        concerned = [graph for graph in done if self.when == "event" or graph not in before]
        if not concerned:
            return {}
        left = [self.graphs.graphs[graph].without(flags) for graph, flags in done.items()]
        beta = checked_shares(self.policy(left, self.site), len(left))
        shares = dict(zip(done, beta.tolist(), strict=True))
        return {
            graph: scrap_max(
                self.graphs.graphs[graph],
                self.site,
                shares[graph],
                self.assumptions,
                done=done[graph],
            )
            for graph in concerned
        }


@dataclass(eq=False)
class Rebalanced:
    """Shares of the remaining tasks, balanced on forecasts.

    A graph with an unchanged share keeps its allocation. An instance remembers the shares: each
    execution needs its own instance, or a copy as `simplugin.taskgraphs.execution.execute` makes.

    Attributes
    ----------
    graphs : GraphSet
        All graphs; none is used before its release.
    site : Site
        The site.
    length : float
        Largest forecast completion of the last graph, over that under WPS-width with a `mu` of
        0.5.
    waste : float
        Weight of the mean slowdown, relative to that of fairness: power that stays idle for
        fairness is missing when other graphs arrive.
    part : float
        Shares are balanced again after the mapping of this part of the tasks of all submitted
        graphs.
    assumptions : ModelAssumptions
        For allocations.
    local : {"sent", "kept"}
        As in `simplugin.taskgraphs.policies.mapping.plan`.

    Raises
    ------
    WorkloadError
        A number is out of its range.
    """

    graphs: GraphSet
    site: Site
    _: KW_ONLY
    length: float = 1.0
    waste: float = 0.3
    part: float = 0.05
    assumptions: ModelAssumptions = PAPER
    local: Local = "sent"
    _active: list[int] = field(default_factory=list, init=False)
    _mapped: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (self.length > 0 and self.waste >= 0 and self.part > 0):
            raise WorkloadError(
                f"length is {self.length!r}, waste {self.waste!r} and part {self.part!r}; give"
                " numbers above 0; waste may be 0"
            )
        # Of each graph: its share; its planned makespan alone, once it is released.
        self._beta, self._own = np.full((2, self.graphs.n_graphs), np.nan)

    def __call__(
        self, now: float, active: Sequence[int], mapped: Sequence[bool], forecast: Forecast, /
    ) -> dict[int, Allocation]:
        """Return new allocations if it is time to balance."""
        if not self._is_time(active, sum(mapped)):
            return {}
        done = competing(self.graphs, active, mapped)
        if not done:
            return {}
        allocators = {
            graph: Allocator(self.graphs.graphs[graph], self.site, self.assumptions, done=flags)
            for graph, flags in done.items()
        }
        given = self._beta[list(done)]
        planner = Forecaster(
            now, allocators, given, forecast, self.graphs.release, self._own, self.waste
        )
        # From the present shares, and from those of the remaining tasks.
        left = [self.graphs.graphs[graph].without(flags) for graph, flags in done.items()]
        present = np.where(np.isnan(given), 1.0 / len(given), given)
        begins = (present, *starts(left, self.site))
        found = [corrected(planner.point, start, _ROUNDS) for start in begins]
        under_wps_width = found[1][0]
        points = [point for each in found for point in each]
        best = fairest(points, self.length * under_wps_width.makespan)
        self._beta[list(done)] = best.beta
        return planner.allocations(best.beta)

    def _is_time(self, active: Sequence[int], n_mapped: int) -> bool:
        """Return True if the graphs changed or enough tasks were mapped; plan new graphs."""
        arrived = [graph for graph in active if np.isnan(self._own[graph])]
        for graph in arrived:
            submitted = self.graphs.graphs[graph]
            allocation = scrap_max(submitted, self.site, 1.0, self.assumptions)
            self._own[graph] = alone(submitted, allocation, self.site, self.local)
        known = ~np.isnan(self._own)
        n_tasks = int(np.sum(np.diff(self.graphs.first)[known]))
        if list(active) == self._active and n_mapped < self._mapped + self.part * n_tasks:
            return False
        self._active, self._mapped = list(active), n_mapped
        return True
