"""Shares that give all graphs the same slowdown, found on plans.

A plan tells what any shares would come to in less than a millisecond, so that shares need not follow
from what graphs look like: those whose graphs would suffer more than others grow, the others shrink,
until all suffer alike. This starts from several of the paper's strategies, as they are and with all
shares doubled (graphs rarely use all that they may), and of all that was planned on the way, the
fairest is taken whose makespan is not much longer than the shortest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.allocation import Allocator
from simplugin.taskgraphs.mapping import plan
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.readings import Readings
from simplugin.taskgraphs.shares import contribution, proportional, weighted
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.workloads.task_graphs import TaskGraph

# Contention is what plans are about.
_PLANS = Readings(redistribution="together")
# No share is less.
_LEAST = 1e-3
# By what part the exponent of corrections shrinks from round to round.
_CALMING = 0.9


@dataclass(frozen=True)
class _Point:
    """Shares, and what they come to by a plan."""

    beta: NDArray[np.float64]
    slowdown: NDArray[np.float64]
    unfairness: float
    makespan: float


def balanced(
    graphs: Sequence[TaskGraph], site: Site, *, tolerance: float = 0.2, rounds: int = 15
) -> NDArray[np.float64]:
    """Give all graphs about the same slowdown.

    Parameters
    ----------
    graphs : sequence of TaskGraph
        Those that compete.
    site : Site
        What they compete for.
    tolerance : float
        By what part the makespan may be longer than the shortest that was found.
    rounds : int
        Corrections from each start.

    Returns
    -------
    float64, shape (n_graphs,)
        Share of each graph.

    Raises
    ------
    WorkloadError
        A parameter is negative.
    """
    if not tolerance >= 0 or rounds < 0:
        raise WorkloadError(
            f"tolerance is {tolerance!r} and rounds is {rounds!r}; give numbers >= 0"
        )
    planner = _Planner(graphs, site)
    found = []
    for start in _starts(graphs, site):
        point = planner.point(start)
        found.append(point)
        exponent = 1.0
        for _ in range(rounds):
            relief = np.mean(point.slowdown) / point.slowdown
            point = planner.point(point.beta * relief**exponent)
            found.append(point)
            exponent *= _CALMING
    limit = min(point.makespan for point in found) * (1.0 + tolerance)
    allowed = [point for point in found if point.makespan <= limit]
    return min(allowed, key=lambda point: point.unfairness).beta


def _starts(graphs: Sequence[TaskGraph], site: Site) -> list[NDArray[np.float64]]:
    """Return shares to start from."""
    work = contribution(graphs, site, "work")
    width = contribution(graphs, site, "width")
    shares = [proportional(work), weighted(work, 0.7), weighted(width, 0.5)]
    return [factor * each for factor in (1.0, 2.0) for each in shares]


class _Planner:
    """Plans the same graphs under any shares."""

    def __init__(self, graphs: Sequence[TaskGraph], site: Site) -> None:
        self.graphs = GraphSet(tuple(graphs))
        self.site = site
        self.allocators = [Allocator(graph, site) for graph in graphs]
        self.own = np.array(
            [
                plan(GraphSet((graph,)), (allocator.scrap_max(1.0),), site, readings=_PLANS).makespan
                for graph, allocator in zip(graphs, self.allocators, strict=True)
            ]
        )

    def point(self, beta: NDArray[np.float64]) -> _Point:
        """Plan under some shares."""
        beta = np.clip(beta, _LEAST, 1.0)
        allocations = [
            allocator.scrap_max(float(share))
            for allocator, share in zip(self.allocators, beta, strict=True)
        ]
        makespans = plan(self.graphs, allocations, self.site, readings=_PLANS).makespans
        found = slowdown(self.own, makespans)
        return _Point(beta, found, unfairness(found), float(np.max(makespans)))
