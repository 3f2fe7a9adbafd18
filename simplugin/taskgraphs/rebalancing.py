"""Shares that are balanced again and again, from forecasts of what has happened so far.

`simplugin.taskgraphs.balanced` finds shares under which all graphs have about the same slowdown by
a plan. Contention makes plans wrong, and graphs that nobody expected arrive. Here what is left is
balanced whenever a graph is submitted or completed, and each time that some tasks have been mapped:
graphs that fell behind get more for their waiting tasks, the others less. A graph whose share stays
the same keeps its allocation, so that one that is alone runs as if nobody watched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.allocation import Allocator
from simplugin.taskgraphs.balanced import corrected, fairest, starts
from simplugin.taskgraphs.forecasting import Forecaster, alone
from simplugin.taskgraphs.readings import PAPER
from simplugin.taskgraphs.revisions import competing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.allocation import Allocation
    from simplugin.taskgraphs.online_mapping import Forecast
    from simplugin.taskgraphs.readings import Readings
    from simplugin.workloads.graph_sets import GraphSet

# How often shares are corrected from each start.
_ROUNDS = 6


class Rebalanced:
    """Balances the shares of what is left.

    It remembers what it gave, so that each execution needs its own, or a copy, as
    `simplugin.taskgraphs.execution.execute` makes.

    Parameters
    ----------
    graphs : GraphSet
        All graphs, those to come included; they are not looked at before their release.
    site : Site
        Where.
    length : float
        When the last graph may be completed at most by a forecast, as part of when it would be
        under WPS-width with a `mu` of 0.5.
    waste : float
        How much it counts that graphs suffer at all, beside that they do not suffer alike: what is
        held back for the sake of others is wasted if those who arrive later need it.
    part : float
        After what part of the tasks of all graphs that were submitted shares are balanced again.
    readings : Readings
        For allocations.

    Raises
    ------
    WorkloadError
        A number is out of its range.
    """

    def __init__(
        self,
        graphs: GraphSet,
        site: Site,
        *,
        length: float = 1.0,
        waste: float = 0.3,
        part: float = 0.05,
        readings: Readings = PAPER,
    ) -> None:
        if not (length > 0 and waste >= 0 and part > 0):
            raise WorkloadError(
                f"length is {length!r}, waste {waste!r} and part {part!r}; give numbers above 0;"
                " waste may be 0"
            )
        self._graphs = graphs
        self._site = site
        self._length = length
        self._waste = waste
        self._part = part
        self._readings = readings
        # What each graph was given; not a number before.
        self._beta = np.full(graphs.n_graphs, np.nan)
        # Makespan of each graph alone, by a plan; not a number before its release.
        self._own = np.full(graphs.n_graphs, np.nan)
        self._active: list[int] = []
        self._mapped = 0

    def __call__(
        self, now: float, active: Sequence[int], mapped: Sequence[bool], forecast: Forecast, /
    ) -> dict[int, Allocation]:
        """Return new allocations where it is time to balance."""
        if not self._is_time(active, sum(mapped)):
            return {}
        done = competing(self._graphs, active, mapped)
        if not done:
            return {}
        allocators = {
            graph: Allocator(self._graphs.graphs[graph], self._site, self._readings, done=flags)
            for graph, flags in done.items()
        }
        given = self._beta[list(done)]
        planner = Forecaster(
            now, allocators, given, forecast, self._graphs.release, self._own, self._waste
        )
        found = [corrected(planner, start, _ROUNDS) for start in self._starts(done)]
        under_wps_width = found[1][0]
        points = [point for each in found for point in each]
        best = fairest(points, self._length * under_wps_width.makespan)
        self._beta[list(done)] = best.beta
        return planner.allocations(best.beta)

    def _is_time(self, active: Sequence[int], n_mapped: int) -> bool:
        """Tell whether graphs came or went, or enough tasks were mapped; get to know the new."""
        arrived = [graph for graph in active if np.isnan(self._own[graph])]
        for graph in arrived:
            self._own[graph] = alone(self._graphs.graphs[graph], self._site, self._readings)
        known = ~np.isnan(self._own)
        n_tasks = int(np.sum(np.diff(self._graphs.first)[known]))
        if list(active) == self._active and n_mapped < self._mapped + self._part * n_tasks:
            return False
        self._active, self._mapped = list(active), n_mapped
        return True

    def _starts(self, done: Mapping[int, NDArray[np.bool_]]) -> list[NDArray[np.float64]]:
        """Return shares to start from: as they are, and by what is left of the graphs."""
        left = [self._graphs.graphs[graph].without(flags) for graph, flags in done.items()]
        given = self._beta[list(done)]
        as_it_is = np.where(np.isnan(given), 1.0 / len(given), given)
        return [as_it_is, *starts(left, self._site)]
