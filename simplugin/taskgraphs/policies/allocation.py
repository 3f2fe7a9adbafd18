"""Allocations: the numbers of processors on which the tasks of a graph run.

HCPA's reference cluster is homogeneous and as powerful as the site: an allocation is found there,
and translated to each cluster of the site afterwards.

All procedures start with one processor a task. Again and again, the task of the critical path that
benefits most from one more processor, by ``T(n) / n - T(n + 1) / (n + 1)``, gets it; a task that
one more does not make faster never grows. The procedures differ in when they stop. Times are those
on the reference cluster, without redistributions; of several critical paths the first counts, and
of several tasks the first of the path.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
.. [2] A. Radulescu, A. van Gemund (2001). A Low-Cost Approach towards Mixed Task and Data Parallel
   Scheduling. ICPP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.core.formatting import counted
from simplugin.inputs.decisions import decided
from simplugin.platforms.sites import Site
from simplugin.taskgraphs._kernels import Growth, fewest_processors, most_processors
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.timing import task_times
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

# Quotients of speeds that miss a whole number by so little are that number.

_ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class Reference:
    """A homogeneous cluster with the power of a site.

    Attributes
    ----------
    speed : float
        Speed of each processor [flop/s].
    processors : int
        The largest number that has no more power than the site.
    """

    speed: float
    processors: int


def reference_of(site: Site, assumptions: ModelAssumptions = PAPER) -> Reference:
    """Return the reference cluster of a site.

    Parameters
    ----------
    site : Site
        The site.
    assumptions : ModelAssumptions
        ``reference_speed`` counts.
    """
    if assumptions.reference_speed == "slowest":
        speed = float(np.min(site.speed))
    elif assumptions.reference_speed == "fastest":
        speed = float(np.max(site.speed))
    else:
        speed = site.power / site.n_processors
    return Reference(speed, floor(site.power / speed * _ROUNDING))


def translate(
    graph: TaskGraph,
    count: NDArray[np.int64],
    reference: Reference,
    site: Site,
    assumptions: ModelAssumptions = PAPER,
) -> NDArray[np.int64]:
    """Translate an allocation on the reference cluster to each cluster of the site.

    By time, it is the fewest processors on which a task takes no longer (up to rounding), or the
    whole cluster where there are none; by power, as many as are no faster together, at least one
    and at most the whole cluster.

    Parameters
    ----------
    graph : TaskGraph
        The graph.
    count : int64, shape (n_tasks,)
        Processors of the reference cluster.
    reference : Reference
        The reference cluster of the site.
    site : Site
        The site.
    assumptions : ModelAssumptions
        ``translation`` counts.

    Returns
    -------
    int64, shape (n_clusters, n_tasks)
        Processors of each cluster.
    """
    if assumptions.translation == "time":
        time = task_times(graph.flop, graph.alpha, count, reference.speed)
        return fewest_processors(graph.flop, graph.alpha, time, site.speed, site.processors)
    alike = np.multiply.outer(reference.speed / site.speed * _ROUNDING, count)
    return np.clip(alike.astype(np.int64), 1, site.processors[:, np.newaxis])


def caps(graph: TaskGraph, reference: Reference, site: Site) -> NDArray[np.int64]:
    """Return the largest useful allocations on the reference cluster, as a task has one cluster.

    Parameters
    ----------
    graph : TaskGraph
        The graph.
    reference : Reference
        The reference cluster of the site.
    site : Site
        The site.

    Returns
    -------
    int64, shape (n_tasks,)
        The most processors on which a task takes as long as on the best whole cluster, or longer
        (up to rounding); from 1 to all of the reference cluster.
    """
    whole = task_times(
        graph.flop, graph.alpha, site.processors[:, np.newaxis], site.speed[:, np.newaxis]
    )
    return most_processors(
        graph.flop, graph.alpha, np.min(whole, axis=0), reference.speed, reference.processors
    )


# A share may be exceeded by so little: a third of 0.3 is not quite a tenth.
_TOLERANCE = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Allocation:
    """Numbers of processors on which the tasks of a graph run.

    Attributes
    ----------
    reference : int64, shape (n_tasks,)
        Processors of the reference cluster.
    time : float64, shape (n_tasks,)
        Time of each task on them [s].
    processors : int64, shape (n_clusters, n_tasks)
        Processors of each cluster, for a task that runs there.
    """

    reference: NDArray[np.int64]
    time: NDArray[np.float64]
    processors: NDArray[np.int64]


class Allocator:
    """Allocation procedures for one graph on one site.

    Parameters
    ----------
    graph : TaskGraph
        The graph.
    site : Site
        The site.
    assumptions : ModelAssumptions
        ``reference_speed``, ``translation`` and ``full_level`` count.
    done : bool, shape (n_tasks,), optional
        Finished tasks: they take no time, count in no precedence level, and keep one processor.

    Raises
    ------
    WorkloadError
        The shape or type of `done` is wrong.
    """

    def __init__(
        self,
        graph: TaskGraph,
        site: Site,
        assumptions: ModelAssumptions = PAPER,
        *,
        done: NDArray[np.bool_] | None = None,
    ) -> None:
        done = np.zeros(graph.n_tasks, dtype=np.bool_) if done is None else np.asarray(done)
        if done.shape != (graph.n_tasks,) or done.dtype != np.bool_:
            raise WorkloadError(
                f"done of graph {graph.name!r} is {done.dtype} of shape {done.shape};"
                f" give bool of shape ({graph.n_tasks},)"
            )
        self._graph = graph
        self._site = site
        self._assumptions = assumptions
        self._done = done
        self._flop = np.where(done, 0.0, graph.flop)
        self._reference = reference_of(site, assumptions)
        self._power = site.power / self._reference.speed
        self._growth = _growth(
            graph,
            self._flop,
            np.where(done, -1, graph.level),
            caps(graph, self._reference, site),
            self._reference.speed,
        )

    def hcpa(self) -> Allocation:
        """Allocate by HCPA: CPA on the reference cluster.

        A task stops growing where the best whole cluster no longer keeps up with the reference.
        """
        return self._allocation(self._growth.balanced(self._reference.processors))

    def scrap(self, beta: float) -> Allocation:
        """Allocate under a share of the power of the site by SCRAP (section 4 of [1]_).

        The areas of all tasks (power times time) over the length of the critical path stay within
        the share: the step that violates this is undone, and is the last.

        Parameters
        ----------
        beta : float
            The share, above 0 and at most 1.

        Raises
        ------
        WorkloadError
            The share is out of its range.
        """
        limit = self._checked(beta) * self._power * _TOLERANCE
        return self._allocation(self._growth.within_area(limit))

    def scrap_max(self, beta: float) -> Allocation:
        """Allocate by SCRAP-MAX, see `scrap_max`."""
        limit = floor(self._checked(beta) * self._power * _TOLERANCE)
        passes = self._assumptions.full_level == "pass"
        return self._allocation(self._growth.within_levels(limit, passes))

    def _checked(self, beta: float) -> float:
        """Return a share, if it is valid."""
        if not (isfinite(beta) and 0 < beta <= 1):
            raise WorkloadError(
                f"graph {self._graph.name!r} has the share {float(beta)!r};"
                f" give one above 0 and up to 1{remedy_of(beta)}"
            )
        return float(beta)

    def _allocation(self, count: NDArray[np.int64]) -> Allocation:
        """Return the allocation of some numbers of reference processors."""
        time = task_times(self._flop, self._graph.alpha, count, self._reference.speed)
        processors = translate(self._graph, count, self._reference, self._site, self._assumptions)
        processors[:, self._done] = 1
        return Allocation(count, time, processors)


def _growth(
    graph: TaskGraph,
    flop: NDArray[np.float64],
    level: NDArray[np.int64],
    most: NDArray[np.int64],
    speed: float,
) -> Growth:
    """Return the compiled graph."""
    after = graph.successors
    return Growth(flop, graph.alpha, after.start, after.task, graph.order, level, most, speed)


def cpa(graph: TaskGraph, processors: int, speed: float) -> NDArray[np.int64]:
    """Allocate a graph on one homogeneous cluster by CPA [2]_.

    Tasks grow until the critical path is no longer than the areas of all tasks (processors times
    time), spread over all processors.

    Parameters
    ----------
    graph : TaskGraph
        The graph.
    processors : int
        Processors of the cluster, at least 1; with fewer than there really are, more tasks run
        side by side.
    speed : float
        Speed of each processor [flop/s].

    Returns
    -------
    int64, shape (n_tasks,)
        Processors.

    Raises
    ------
    WorkloadError
        The number of processors or their speed is not positive.
    """
    if processors < 1 or not (isfinite(speed) and speed > 0):
        raise WorkloadError(
            f"graph {graph.name!r} is to run on {counted(processors, 'processor')} of"
            f" {speed!r} flop/s; give at least one, and a speed above 0"
        )
    most = np.full(graph.n_tasks, processors, dtype=np.int64)
    return _growth(graph, graph.flop, graph.level, most, speed).balanced(processors)


def scrap_max(
    graph: TaskGraph,
    site: Site,
    beta: float,
    assumptions: ModelAssumptions = PAPER,
    *,
    done: NDArray[np.bool_] | None = None,
) -> Allocation:
    """Allocate a graph under a share of the power of a site by SCRAP-MAX (section 4 of [1]_).

    The tasks of a precedence level together stay within the share. A task whose level is full is
    passed over, and the next best of the critical path grows; a level with more tasks than its
    share keeps one processor a task.

    Parameters
    ----------
    graph : TaskGraph
        The graph.
    site : Site
        The site.
    beta : float
        The share, above 0 and at most 1.
    assumptions : ModelAssumptions
        ``reference_speed``, ``translation`` and ``full_level`` count.
    done : bool, shape (n_tasks,), optional
        Finished tasks, for a graph that is partly executed.

    Returns
    -------
    Allocation
        Processors of the reference cluster and of each cluster.

    Raises
    ------
    WorkloadError
        The share is out of its range, or the shape or type of `done` is wrong.
    """
    return Allocator(graph, site, assumptions, done=done).scrap_max(beta)


def remedy_of(share: float) -> str:
    """Return the remedy for a share of 0: in proportion, a graph without work gets nothing."""
    return "; use a weighted policy, 'wps_...', or 'es'" if share == 0 else ""


def check_allocations(graphs: GraphSet, allocations: Sequence[Allocation], site: Site) -> None:
    """Raise WorkloadError unless there is an allocation for each graph that fits the site."""
    if len(allocations) != graphs.n_graphs:
        raise WorkloadError(
            f"there are {len(allocations)} allocations for {graphs.n_graphs} graphs; give one for"
            " each graph"
        )
    for graph, allocation in zip(graphs.graphs, allocations, strict=True):
        check_allocation(graph, allocation, site)


def check_allocation(graph: TaskGraph, allocation: Allocation, site: Site) -> None:
    """Raise WorkloadError if an allocation does not fit its graph or the site."""
    what = f"the allocation of graph {graph.name!r} has"
    counts, most = (site.n_clusters, graph.n_tasks), site.processors[:, np.newaxis]
    rule = f"whole numbers of shape {counts}, at least 1 and at most {site.processors.tolist()}"
    given = getattr(allocation, "processors", None), getattr(allocation, "time", None)
    processors = decided(f"{what} the processors", given[0], rule, counts, whole=True, least=1)
    if np.any(processors > most):
        raise WorkloadError(
            f"{what} a task on more processors than a cluster of site {site.name!r} has; give"
            f" {rule}"
        )
    rule = f"{graph.n_tasks} times from 0 s on, one for each task"
    decided(f"{what} the times", given[1], rule, counts[1:], least=0.0)
