"""Shares that give all graphs the same slowdown, found on plans.

A plan estimates the effect of any shares in less than a millisecond, so that shares need not follow
from the shapes of graphs: those of graphs that would suffer more than others grow, and those of the
others shrink, until all suffer alike. The search starts from several of the report's strategies, as
they are and with all shares doubled (graphs rarely use all of them), and takes the fairest of all
planned shares with a makespan no longer than that under WPS-width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import Site
from simplugin.taskgraphs.assumptions import ModelAssumptions
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.policies.allocation import Allocation, Allocator
from simplugin.taskgraphs.policies.mapping import Forecast, plan
from simplugin.taskgraphs.policies.shares import contribution, proportional, weighted
from simplugin.taskgraphs.timing import Local
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

# Plans count contention.
PLANS = ModelAssumptions(redistribution="together")
# The least share.
LEAST = 1e-3
# The exponent of corrections shrinks by this factor from round to round.
_CALMING = 0.9


@dataclass(frozen=True)
class BalancedShares:
    """Shares, and their effect by a plan.

    Attributes
    ----------
    beta : float64, shape (n_graphs,)
        Shares of graphs that compete.
    relief : float64, shape (n_graphs,)
        Their slowdowns over the mean of all graphs.
    cost : float
        The quantity to minimise: the unfairness of all graphs, and possibly more.
    makespan : float
        Completion of the last graph [s].
    """

    beta: NDArray[np.float64]
    relief: NDArray[np.float64]
    cost: float
    makespan: float


@dataclass(frozen=True, eq=False)
class Forecaster:
    """Effects of shares of the remaining tasks, by forecasts.

    Attributes
    ----------
    now : float
        The date [s].
    allocators : dict of int to Allocator
        Of each competing graph, for its tasks that are not mapped.
    given : float64, shape (n_competing,)
        Present shares, NaN if there is none. A graph that keeps its share keeps its allocation.
    forecast : Forecast
        The forecast of the mapper.
    release, own : float64, shape (n_graphs,)
        Release and makespan alone of each graph [s].
    waste : float
        Weight of the mean slowdown, relative to that of fairness.
    """

    now: float
    allocators: dict[int, Allocator]
    given: NDArray[np.float64]
    forecast: Forecast
    release: NDArray[np.float64]
    own: NDArray[np.float64]
    waste: float = 0.0

    def allocations(self, beta: NDArray[np.float64]) -> dict[int, Allocation]:
        """Return the allocations of graphs with changed shares."""
        shares = zip(self.allocators.items(), beta.tolist(), self.given.tolist(), strict=True)
        return {
            graph: allocator.scrap_max(share)
            for (graph, allocator), share, given in shares
            if share != given
        }

    def point(self, beta: NDArray[np.float64]) -> BalancedShares:
        """Return the effect of some shares; completed graphs count with their real slowdown."""
        beta = np.clip(beta, LEAST, 1.0)
        completion = self.forecast(self.now, self.allocations(beta))
        known = ~np.isnan(completion)
        found = np.full(len(completion), np.nan)
        # The timer of a release may ring in the last digits before it.
        shared = np.maximum(completion[known] - self.release[known], 0.0)
        found[known] = slowdown(self.own[known], shared)
        suffered = float(np.sum(1 - found[known]))
        return BalancedShares(
            beta,
            found[list(self.allocators)] / np.mean(found[known]),
            unfairness(found[known]) + self.waste * suffered,
            float(np.max(completion[known])),
        )


def corrected(
    point: Callable[[NDArray[np.float64]], BalancedShares], start: NDArray[np.float64], rounds: int
) -> list[BalancedShares]:
    """Return the points of successive corrections: graphs that suffer more get larger shares.

    Parameters
    ----------
    point : callable
        Returns the effect of shares, which it clips to the allowed range.
    start : float64, shape (n_graphs,)
        The first shares.
    rounds : int
        Number of corrections.
    """
    found = [point(start)]
    exponent = 1.0
    for _ in range(rounds):
        last = found[-1]
        found.append(point(last.beta / last.relief**exponent))
        exponent *= _CALMING
    return found


def fairest(found: Sequence[BalancedShares], limit: float) -> BalancedShares:
    """Return the point of least cost with a makespan within a limit [s], or the shortest."""
    limit = max(limit, min(point.makespan for point in found))
    return min((point for point in found if point.makespan <= limit), key=lambda point: point.cost)


def balanced(
    graphs: Sequence[TaskGraph],
    site: Site,
    *,
    length: float = 1.0,
    rounds: int = 15,
    local: Local = "sent",
) -> NDArray[np.float64]:
    """Give all graphs about the same slowdown.

    Parameters
    ----------
    graphs : sequence of TaskGraph
        The competing graphs.
    site : Site
        The site.
    length : float
        Largest planned makespan, over that under WPS-width with a `mu` of 0.5.
    rounds : int
        Corrections from each start.
    local : {"sent", "kept"}
        As in `plan`.

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
    together = GraphSet(tuple(graphs))
    allocators = {number: Allocator(graph, site) for number, graph in enumerate(graphs)}
    pairs = zip(graphs, allocators.values(), strict=True)
    own = np.array([alone(graph, each.scrap_max(1.0), site, local) for graph, each in pairs])

    def planned(
        _now: float, allocations: Mapping[int, Allocation] | None = None, /
    ) -> NDArray[np.float64]:
        """Return the completion of all graphs by a plan."""
        chosen = tuple((allocations or {}).values())
        return plan(together, chosen, site, assumptions=PLANS, local=local).completion

    none = np.full(len(graphs), np.nan)
    planner = Forecaster(0.0, allocators, none, planned, together.release, own)
    found = [
        point for start in starts(graphs, site) for point in corrected(planner.point, start, rounds)
    ]
    return fairest(found, length * found[0].makespan).beta


def starts(graphs: Sequence[TaskGraph], site: Site) -> list[NDArray[np.float64]]:
    """Return shares to start from."""
    work = contribution(graphs, site, "work")
    width = contribution(graphs, site, "width")
    shares = [weighted(width, 0.5)]
    if np.any(work > 0):
        shares += [proportional(work), weighted(work, 0.7)]
    return [factor * each for factor in (1.0, 2.0) for each in shares]


def alone(graph: TaskGraph, allocation: Allocation, site: Site, local: Local = "sent") -> float:
    """Return the planned makespan of a graph alone on a site [s]."""
    return plan(GraphSet((graph,)), (allocation,), site, assumptions=PLANS, local=local).makespan
