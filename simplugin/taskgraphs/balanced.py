"""Shares that give all graphs the same slowdown, found on plans.

A plan tells what any shares would come to in less than a millisecond, so that shares need not
follow from what graphs look like: those whose graphs would suffer more than others grow, the others
shrink, until all suffer alike. This starts from several of the paper's strategies, as they are and
with all shares doubled (graphs rarely use all that they may), and of all that was planned on the
way, the fairest is taken whose makespan is no longer than that under WPS-width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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
PLANS = Readings(redistribution="together")
# No share is less.
LEAST = 1e-3
# By what part the exponent of corrections shrinks from round to round.
_CALMING = 0.9


@dataclass(frozen=True)
class Point:
    """Shares, and what they come to by a plan.

    Attributes
    ----------
    beta : float64, shape (n_graphs,)
        Shares of graphs that compete.
    relief : float64, shape (n_graphs,)
        Their slowdowns over the mean of all graphs.
    cost : float
        What is to be low: the unfairness of all graphs, with whatever else counts.
    makespan : float
        When the last one ends [s].
    """

    beta: NDArray[np.float64]
    relief: NDArray[np.float64]
    cost: float
    makespan: float


class Planner(Protocol):
    """Who can tell what shares come to."""

    def point(self, beta: NDArray[np.float64], /) -> Point:
        """Plan under some shares, which are clipped to what is allowed."""


def corrected(planner: Planner, start: NDArray[np.float64], rounds: int) -> list[Point]:
    """Return where corrections lead: those who suffer more than others get more."""
    found = [planner.point(start)]
    exponent = 1.0
    for _ in range(rounds):
        last = found[-1]
        found.append(planner.point(last.beta / last.relief**exponent))
        exponent *= _CALMING
    return found


def fairest(found: Sequence[Point], limit: float) -> Point:
    """Return the point of least cost with a makespan within a limit [s], or the shortest."""
    limit = max(limit, min(point.makespan for point in found))
    return min((point for point in found if point.makespan <= limit), key=lambda point: point.cost)


def balanced(
    graphs: Sequence[TaskGraph], site: Site, *, length: float = 1.0, rounds: int = 15
) -> NDArray[np.float64]:
    """Give all graphs about the same slowdown.

    Parameters
    ----------
    graphs : sequence of TaskGraph
        Those that compete.
    site : Site
        What they compete for.
    length : float
        What the makespan may be at most by a plan, as part of that under WPS-width with a `mu` of
        0.5.
    rounds : int
        Corrections from each start.

    Returns
    -------
    float64, shape (n_graphs,)
        Share of each graph.

    Raises
    ------
    WorkloadError
        A parameter is out of its range.
    """
    if not length > 0 or rounds < 0:
        raise WorkloadError(
            f"length is {length!r} and rounds is {rounds!r}; give numbers above 0, and from 0 on"
        )
    planner = _Planner(graphs, site)
    found = [point for start in starts(graphs, site) for point in corrected(planner, start, rounds)]
    return fairest(found, length * found[0].makespan).beta


def starts(graphs: Sequence[TaskGraph], site: Site) -> list[NDArray[np.float64]]:
    """Return shares to start from."""
    work = contribution(graphs, site, "work")
    width = contribution(graphs, site, "width")
    shares = [weighted(width, 0.5)]
    if np.any(work > 0):
        shares += [proportional(work), weighted(work, 0.7)]
    return [factor * each for factor in (1.0, 2.0) for each in shares]


class _Planner:
    """Plans the same graphs under any shares."""

    def __init__(self, graphs: Sequence[TaskGraph], site: Site) -> None:
        self.graphs = GraphSet(tuple(graphs))
        self.site = site
        self.allocators = [Allocator(graph, site) for graph in graphs]
        self.own = np.array(
            [
                plan(GraphSet((graph,)), (allocator.scrap_max(1.0),), site, readings=PLANS).makespan
                for graph, allocator in zip(graphs, self.allocators, strict=True)
            ]
        )

    def point(self, beta: NDArray[np.float64]) -> Point:
        """Plan under some shares."""
        beta = np.clip(beta, LEAST, 1.0)
        allocations = [
            allocator.scrap_max(float(share))
            for allocator, share in zip(self.allocators, beta, strict=True)
        ]
        makespans = plan(self.graphs, allocations, self.site, readings=PLANS).makespans
        found = slowdown(self.own, makespans)
        return Point(beta, found / np.mean(found), unfairness(found), float(np.max(makespans)))
