"""Allocation: on how many processors each task of a graph is to run.

All procedures start with one processor a task. Again and again, the task of the critical path that
benefits most from one more processor, by ``T(n) / n - T(n + 1) / (n + 1)``, gets it; a task that
one more does not make faster never grows. What ends this tells the procedures apart. Times are
those on the reference cluster, without redistributions; of several critical paths the first counts,
and of several tasks the first of the path.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
.. [2] A. Radulescu, A. van Gemund (2001). A Low-Cost Approach towards Mixed Task and Data Parallel
   Scheduling. ICPP.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isfinite
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.taskgraphs import _kernels
from simplugin.taskgraphs.readings import PAPER
from simplugin.taskgraphs.reference import caps, reference_of, translate
from simplugin.taskgraphs.shares import remedy_of
from simplugin.taskgraphs.timing import task_times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.readings import Readings
    from simplugin.workloads.task_graphs import TaskGraph

# A share may be exceeded by so little: a third of 0.3 is not quite a tenth.
_TOLERANCE = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Allocation:
    """On how many processors each task of a graph is to run.

    Attributes
    ----------
    reference : int64, shape (n_tasks,)
        Processors of the reference cluster.
    time : float64, shape (n_tasks,)
        How long each task takes on them [s].
    processors : int64, shape (n_clusters, n_tasks)
        Processors of each cluster, should the task run there.
    """

    reference: NDArray[np.int64]
    time: NDArray[np.float64]
    processors: NDArray[np.int64]


class Allocator:
    """Allocates one graph on one site: what does not depend on the share is prepared once.

    Parameters
    ----------
    graph : TaskGraph
        What.
    site : Site
        Where.
    readings : Readings
        ``reference_speed``, ``translation`` and ``full_level`` count.
    done : bool, shape (n_tasks,), optional
        Tasks that are over: they take no time, count in no precedence level, and keep one
        processor.

    Raises
    ------
    WorkloadError
        `done` has not one entry a task.
    """

    def __init__(
        self,
        graph: TaskGraph,
        site: Site,
        readings: Readings = PAPER,
        *,
        done: NDArray[np.bool_] | None = None,
    ) -> None:
        done = np.zeros(graph.n_tasks, dtype=np.bool_) if done is None else np.asarray(done)
        if done.shape != (graph.n_tasks,) or done.dtype != np.bool_:
            raise WorkloadError(
                f"what is done of graph {graph.name!r} is {done.dtype} of shape {done.shape};"
                f" give bool of shape ({graph.n_tasks},)"
            )
        self._graph = graph
        self._site = site
        self._readings = readings
        self._done = done
        self._flop = np.where(done, 0.0, graph.flop)
        self._reference = reference_of(site, readings)
        self._power = site.power / self._reference.speed
        self._growth = _growth(
            graph,
            self._flop,
            np.where(done, -1, graph.level),
            caps(graph, self._reference, site),
            self._reference.speed,
        )

    def hcpa(self) -> Allocation:
        """Return what HCPA allocates, see `hcpa`."""
        return self._allocation(self._growth.balanced(self._reference.processors))

    def scrap(self, beta: float) -> Allocation:
        """Return what SCRAP allocates under a share, see `scrap`."""
        limit = self._checked(beta) * self._power * _TOLERANCE
        return self._allocation(self._growth.within_area(limit))

    def scrap_max(self, beta: float) -> Allocation:
        """Return what SCRAP-MAX allocates under a share, see `scrap_max`."""
        limit = floor(self._checked(beta) * self._power * _TOLERANCE)
        passes = self._readings.full_level == "pass"
        return self._allocation(self._growth.within_levels(limit, passes))

    def _checked(self, beta: float) -> float:
        """Return a share, or refuse it."""
        if not (isfinite(beta) and 0 < beta <= 1):
            raise WorkloadError(
                f"graph {self._graph.name!r} has the share {float(beta)!r};"
                f" give one above 0 and up to 1{remedy_of(beta)}"
            )
        return float(beta)

    def _allocation(self, count: NDArray[np.int64]) -> Allocation:
        """Return an allocation with all that follows from it."""
        time = task_times(self._flop, self._graph.alpha, count, self._reference.speed)
        processors = translate(self._graph, count, self._reference, self._site, self._readings)
        processors[:, self._done] = 1
        return Allocation(count, time, processors)


def _growth(
    graph: TaskGraph,
    flop: NDArray[np.float64],
    level: NDArray[np.int64],
    most: NDArray[np.int64],
    speed: float,
) -> _kernels.Growth:
    """Return the compiled graph, with other numbers of flop and levels if need be."""
    after = graph.successors
    return _kernels.Growth(
        flop, graph.alpha, after.start, after.task, graph.order, level, most, speed
    )


def cpa(graph: TaskGraph, processors: int, speed: float) -> NDArray[np.int64]:
    """Allocate a graph on one homogeneous cluster by CPA [2]_.

    Tasks grow until the critical path is no longer than the areas of all tasks (processors times
    time), spread over all processors.

    Parameters
    ----------
    graph : TaskGraph
        What.
    processors : int
        Of the cluster, at least 1; a smaller number than there really are makes for more tasks
        side by side.
    speed : float
        Of each processor [flop/s].

    Returns
    -------
    int64, shape (n_tasks,)
        Processors.

    Raises
    ------
    WorkloadError
        There is no processor, or its speed is none.
    """
    if processors < 1 or not (isfinite(speed) and speed > 0):
        raise WorkloadError(
            f"graph {graph.name!r} is to run on {processors!r} processors of {speed!r} flop/s;"
            " give at least one, and a speed above 0"
        )
    most = np.full(graph.n_tasks, processors, dtype=np.int64)
    return _growth(graph, graph.flop, graph.level, most, speed).balanced(processors)


def hcpa(graph: TaskGraph, site: Site, readings: Readings = PAPER) -> Allocation:
    """Allocate a graph on a site of several clusters by HCPA: CPA on the reference cluster.

    A task stops growing where the best whole cluster no longer keeps up with the reference.

    Parameters
    ----------
    graph : TaskGraph
        What.
    site : Site
        Where.
    readings : Readings
        ``reference_speed`` and ``translation`` count.

    Returns
    -------
    Allocation
        Processors of the reference cluster and of each cluster.
    """
    return Allocator(graph, site, readings).hcpa()


def scrap(graph: TaskGraph, site: Site, beta: float, readings: Readings = PAPER) -> Allocation:
    """Allocate a graph under a share of the power of a site by SCRAP (section 4 of [1]_).

    The areas of all tasks (power times time) over the length of the critical path stay within the
    share: the step that breaks this is undone, and is the last.

    Parameters
    ----------
    graph : TaskGraph
        What.
    site : Site
        Where.
    beta : float
        The share, above 0 and up to 1.
    readings : Readings
        ``reference_speed`` and ``translation`` count.

    Returns
    -------
    Allocation
        Processors of the reference cluster and of each cluster.

    Raises
    ------
    WorkloadError
        The share is out of its range.
    """
    return Allocator(graph, site, readings).scrap(beta)


def scrap_max(
    graph: TaskGraph,
    site: Site,
    beta: float,
    readings: Readings = PAPER,
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
        What.
    site : Site
        Where.
    beta : float
        The share, above 0 and up to 1.
    readings : Readings
        ``reference_speed``, ``translation`` and ``full_level`` count.
    done : bool, shape (n_tasks,), optional
        Tasks that are over, for a graph that is partly executed: they take no time, count in no
        precedence level, and keep one processor.

    Returns
    -------
    Allocation
        Processors of the reference cluster and of each cluster.

    Raises
    ------
    WorkloadError
        The share is out of its range, or `done` has not one entry a task.
    """
    return Allocator(graph, site, readings, done=done).scrap_max(beta)


# What allocates a graph under a share, by its name in scenarios.
PROCEDURES: Mapping[str, Callable[[TaskGraph, Site, float, Readings], Allocation]] = {
    "scrap": scrap,
    "scrap_max": scrap_max,
}
