"""Shares that are balanced again and again, from forecasts of what has happened so far.

`simplugin.taskgraphs.balanced` finds shares under which all graphs have about the same slowdown by
a plan. Contention makes plans wrong, and graphs that nobody expected arrive. Here what is left is
balanced whenever a graph is submitted or completed, and each time that some tasks have finished:
graphs that fell behind get more for their waiting tasks, the others less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.allocation import Allocator
from simplugin.taskgraphs.balanced import (
    LEAST,
    PLANS,
    Point,
    corrected,
    fairest,
    starts,
)
from simplugin.taskgraphs.mapping import plan
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.readings import PAPER
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.allocation import Allocation
    from simplugin.taskgraphs.online_mapping import Forecast
    from simplugin.taskgraphs.readings import Readings

# How much it counts that graphs suffer at all, beside that they do not suffer alike: what is held
# back for the sake of others is wasted if those who arrive later need it.
_WASTE = 0.3
# How often shares are corrected at a time, and after what part of the tasks again.
_ROUNDS, _PART = 6, 0.05


class Rebalanced:
    """Balances the shares of what is left.

    Parameters
    ----------
    graphs : GraphSet
        All graphs, those to come included; they are not looked at before their release.
    site : Site
        Where.
    length : float
        What the makespan may be at most, as part of what it would be under WPS-width.
    readings : Readings
        For allocations.
    """

    def __init__(
        self, graphs: GraphSet, site: Site, *, length: float = 1.0, readings: Readings = PAPER
    ) -> None:
        self._graphs = graphs
        self._site = site
        self._length = length
        self._readings = readings
        self._beta = np.zeros(graphs.n_graphs)
        self._own = np.full(graphs.n_graphs, np.nan)
        self._active: list[int] = []
        self._mapped = 0

    def __call__(
        self, now: float, active: Sequence[int], mapped: Sequence[bool], forecast: Forecast, /
    ) -> dict[int, Allocation]:
        """Return new allocations where it is time to balance."""
        count = sum(mapped)
        if list(active) == self._active and count < self._mapped + _PART * len(mapped):
            return {}
        arrived = set(active) - set(self._active)
        self._submit(arrived, len(active))
        self._active, self._mapped = list(active), count
        flags, first = np.asarray(mapped, dtype=np.bool_), self._graphs.first
        done = {graph: flags[first[graph] : first[graph + 1]] for graph in active}
        allocators = {
            graph: Allocator(self._graphs.graphs[graph], self._site, self._readings, done=flags)
            for graph, flags in done.items()
            if not np.all(flags)
        }
        if not allocators:
            return {}
        planner = _Forecaster(now, allocators, forecast, self._graphs.release, self._own)
        found: list[Point] = []
        for start in self._starts(list(allocators), done):
            found += corrected(planner, start, _ROUNDS)
        base = found[_ROUNDS + 1]
        best = fairest(found, self._length * base.makespan).beta
        self._beta[list(allocators)] = best
        return planner.allocations(best)

    def _starts(
        self, competing: Sequence[int], done: Mapping[int, NDArray[np.bool_]]
    ) -> list[NDArray[np.float64]]:
        """Return shares to start from: as they are, and by what is left of the graphs."""
        left = [self._graphs.graphs[graph].without(done[graph]) for graph in competing]
        return [self._beta[competing], *starts(left, self._site)]

    def _submit(self, graphs: set[int], n_active: int) -> None:
        """Get to know graphs that are new."""
        for graph in graphs:
            each = self._graphs.graphs[graph]
            allocation = Allocator(each, self._site, self._readings).scrap_max(1.0)
            alone = plan(GraphSet((each,)), (allocation,), self._site, readings=PLANS)
            self._own[graph] = alone.makespan
            self._beta[graph] = 1.0 / n_active


class _Forecaster:
    """Tells what shares of what is left would come to."""

    def __init__(
        self,
        now: float,
        allocators: dict[int, Allocator],
        forecast: Forecast,
        release: NDArray[np.float64],
        own: NDArray[np.float64],
    ) -> None:
        self.now = now
        self.allocators = allocators
        self.forecast = forecast
        self.release = release
        self.own = own

    def allocations(self, beta: NDArray[np.float64]) -> dict[int, Allocation]:
        """Return what graphs get under shares."""
        return {
            graph: allocator.scrap_max(float(share))
            for (graph, allocator), share in zip(self.allocators.items(), beta, strict=True)
        }

    def point(self, beta: NDArray[np.float64]) -> Point:
        """Forecast under some shares; graphs that were completed count as they are."""
        beta = np.clip(beta, LEAST, 1.0)
        completion = self.forecast(self.now, self.allocations(beta))
        known = ~np.isnan(completion)
        found = np.full(len(completion), np.nan)
        found[known] = slowdown(self.own[known], completion[known] - self.release[known])
        competing = found[list(self.allocators)]
        return Point(
            beta,
            competing / np.mean(found[known]),
            unfairness(found[known]) + _WASTE * float(np.sum(1 - found[known])),
            float(np.max(completion[known])),
        )
