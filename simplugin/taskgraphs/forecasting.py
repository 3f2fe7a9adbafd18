"""What shares would come to for graphs that are being executed, by the forecast of their mapper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.allocation import Allocator
from simplugin.taskgraphs.balanced import LEAST, PLANS, Point
from simplugin.taskgraphs.mapping import plan
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.allocation import Allocation
    from simplugin.taskgraphs.online_mapping import Forecast
    from simplugin.taskgraphs.readings import Readings
    from simplugin.workloads.task_graphs import TaskGraph


def alone(graph: TaskGraph, site: Site, readings: Readings) -> float:
    """Return the makespan of a graph with the site for itself, by a plan that counts contention.

    Parameters
    ----------
    graph : TaskGraph
        What.
    site : Site
        Where.
    readings : Readings
        For its allocation.

    Returns
    -------
    float
        [s].
    """
    allocation = Allocator(graph, site, readings).scrap_max(1.0)
    return plan(GraphSet((graph,)), (allocation,), site, readings=PLANS).makespan


class Forecaster:
    """Tells what shares of what is left would come to.

    Parameters
    ----------
    now : float
        The date [s].
    allocators : dict of int to Allocator
        Of each graph that competes, for its tasks that are not mapped.
    given : float64, shape (n_competing,)
        The shares that they have; not a number before. Who keeps his keeps his allocation.
    forecast : Forecast
        Of the mapper.
    release, own : float64, shape (n_graphs,)
        When each graph is submitted, and its makespan alone [s].
    waste : float
        How much it counts that graphs suffer at all, beside that they do not suffer alike.
    """

    def __init__(
        self,
        now: float,
        allocators: dict[int, Allocator],
        given: NDArray[np.float64],
        forecast: Forecast,
        release: NDArray[np.float64],
        own: NDArray[np.float64],
        waste: float = 0.0,
    ) -> None:
        self.now = now
        self.allocators = allocators
        self.given = given
        self.forecast = forecast
        self.release = release
        self.own = own
        self.waste = waste

    def allocations(self, beta: NDArray[np.float64]) -> dict[int, Allocation]:
        """Return what graphs get under shares that are not those that they have."""
        shares = zip(self.allocators.items(), beta.tolist(), self.given.tolist(), strict=True)
        return {
            graph: allocator.scrap_max(share)
            for (graph, allocator), share, given in shares
            if share != given
        }

    def point(self, beta: NDArray[np.float64]) -> Point:
        """Forecast under some shares; graphs that were completed count as they are."""
        beta = np.clip(beta, LEAST, 1.0)
        completion = self.forecast(self.now, self.allocations(beta))
        known = ~np.isnan(completion)
        found = np.full(len(completion), np.nan)
        # The timer of a release may ring in the last digits before it.
        shared = np.maximum(completion[known] - self.release[known], 0.0)
        found[known] = slowdown(self.own[known], shared)
        suffered = float(np.sum(1 - found[known]))
        return Point(
            beta,
            found[list(self.allocators)] / np.mean(found[known]),
            unfairness(found[known]) + self.waste * suffered,
            float(np.max(completion[known])),
        )
