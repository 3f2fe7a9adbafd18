"""Mapping of allocated tasks to processors, when they become ready.

This is the mapping procedure of [1]_, section 5. A task is ready when all its predecessors have
finished. The tasks that become ready at one instant (dates within 1e-9 of each other, relatively)
are mapped one after the other, those with the largest bottom level first; ties go to the first
graph, then to the first task. Bottom levels are those of the final allocations on the reference
cluster, without transfers. On each cluster a task with an allocation of p processors starts when
the p first of them are free (of those that are free at the same date, the ones with the lowest
numbers), and its data have arrived: redistributions start when the task is mapped, and last as
estimated by `redistribution_time`: each as if it were alone, or sharing the links of either task
with its other redistributions, after those that pass the same switches already. If the task waits
longer for processors than for data, packing looks for fewer processors with which it starts
earlier and finishes no later;
"starts" is the start of its computation, after its data have arrived. The task goes to the cluster
where it finishes first; ties go to the first cluster. There is no backfilling.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import Site
from simplugin.taskgraphs._kernels import Mapper as Kernel
from simplugin.taskgraphs._kernels import MappingClusters, MappingTasks
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.policies.allocation import Allocation, check_allocation, check_allocations
from simplugin.taskgraphs.schedule import Schedule
from simplugin.taskgraphs.timing import Local
from simplugin.workloads.parameter_ranges import one_of
from simplugin.workloads.task_graphs import GraphSet


class TaskMapping(Protocol):
    """A task and its processors."""

    @property
    def task(self) -> int:
        """Number in the graph set."""

    @property
    def processors(self) -> Iterable[int] | NDArray[np.int64]:
        """Numbers in the site."""


class OnlineMapper(Protocol):
    """Object that maps the ready tasks of one instant after the other."""

    def map_ready(self, now: float, tasks: Sequence[int], /) -> Sequence[TaskMapping]:
        """Map some or all of the ready tasks.

        Parameters
        ----------
        now : float
            The date [s].
        tasks : sequence of int
            Tasks that became ready since the last call. There is a call whenever a task ends or a
            graph is submitted, so that tasks which were left unmapped can be mapped.

        Returns
        -------
        sequence of TaskMapping
            Each processor runs its tasks in this order.
        """

    def started(self, task: int, date: float, /) -> None:
        """Note that a task has started."""

    def finished(self, task: int, date: float, /) -> None:
        """Note that a task has finished."""

    def set_allocation(self, graph: int, allocation: Allocation, /) -> None:
        """Change the allocation of a graph's tasks that are not mapped yet."""

    def forecast(
        self, now: float, allocations: Mapping[int, Allocation] | None = None, /
    ) -> NDArray[np.float64]:
        """Return the completion of each graph; called only if allocations are revised."""


@runtime_checkable
class DeviatingMapper(Protocol):
    """Online mapper that learns if a chooser sends a task elsewhere.

    Without this method, the other decisions of the same instant stay.
    """

    def deviate(self, now: float, task: int, processors: Sequence[int], /) -> Sequence[TaskMapping]:
        """Note that a task, just mapped, goes to other processors.

        Returns
        -------
        sequence of TaskMapping
            Instead of the tasks that came after it in the answer of `map_ready`.
        """


class Forecast(Protocol):
    """Forecast of the completion of graphs, see `Mapper.forecast`."""

    def __call__(
        self, now: float, allocations: Mapping[int, Allocation] | None = None, /
    ) -> NDArray[np.float64]:
        """Return the date for each graph [s]; NaN for those that are not submitted."""


class Revision(Protocol):
    """Revision of allocations, after the end of tasks or the submission of graphs."""

    def __call__(
        self, now: float, active: Sequence[int], mapped: Sequence[bool], forecast: Forecast, /
    ) -> Mapping[int, Allocation]:
        """Return new allocations.

        Parameters
        ----------
        now : float
            The date [s].
        active : sequence of int
            Graphs that are submitted and not completed.
        mapped : sequence of bool, shape (n_tasks,)
            Tasks that keep their processors.
        forecast : Forecast
            Effect of other allocations.

        Returns
        -------
        mapping of int to Allocation
            Allocations of the graphs that change.
        """


@dataclass(frozen=True, eq=False)
class Assignment:
    """The processors and estimated dates of a task.

    Attributes
    ----------
    task : int
        Number in the graph set.
    cluster : int
        Number in the site.
    processors : int64, shape (n,)
        Numbers in the site, rising.
    start, finish : float
        Estimated dates of its computation [s].
    """

    task: int
    cluster: int
    processors: NDArray[np.int64]
    start: float
    finish: float


def plan(
    graphs: GraphSet,
    allocations: Sequence[Allocation],
    site: Site,
    *,
    assumptions: ModelAssumptions = PAPER,
    local: Local = "sent",
) -> Schedule:
    """Map all tasks, if everything takes its estimated time.

    Parameters
    ----------
    graphs : GraphSet
        The graphs; their entry tasks are ready at their release.
    allocations : sequence of Allocation
        One for each graph.
    site : Site
        The site.
    assumptions : ModelAssumptions
        Its `packing`, `order`, `fixing`, `redistribution` and `transfers` apply. With `fixing`
        "start" a task is only mapped when its best processors are free; it is tried again, in
        order with all waiting tasks, whenever a task finishes or a graph arrives.
    local : {"sent", "kept"}
        Data that stay on a processor pass the network as others do, or cost nothing; that counts
        blocks, see `redistribution`.

    Returns
    -------
    Schedule
        The schedule.

    Raises
    ------
    WorkloadError
        An allocation is missing, or does not fit its graph or the site; the message names the
        graph.
    """
    kernel = _kernel(graphs, allocations, site, assumptions, local)
    kernel.plan()
    return Schedule(site, graphs, *kernel.schedule(), local)


class Mapper:
    """The decisions of `plan`, one instant after the other, for the real durations of tasks.

    Processors are queues: a task that is mapped on busy processors waits for all earlier tasks
    there to finish. The date at which a processor becomes free is estimated again at every
    instant: running tasks take their estimated time from their start; waiting ones start when
    their data and the tasks before them are estimated to be done, not before the instant; overdue
    tasks are assumed to finish right after the instant.

    Parameters are those of `plan`.

    Raises
    ------
    WorkloadError
        An allocation does not fit, see `plan`.
    """

    def __init__(
        self,
        graphs: GraphSet,
        allocations: Sequence[Allocation],
        site: Site,
        assumptions: ModelAssumptions = PAPER,
        local: Local = "sent",
    ) -> None:
        self._graphs, self._site = graphs, site
        self._kernel = _kernel(graphs, allocations, site, assumptions, local)

    def set_allocation(self, graph: int, allocation: Allocation) -> None:
        """Replace the allocation of a graph; tasks that are mapped already keep theirs.

        Parameters
        ----------
        graph : int
            Number in the graph set.
        allocation : Allocation
            The new one; it also sets the bottom levels by which tasks are sorted.

        Raises
        ------
        WorkloadError
            The graph is unknown, or the allocation does not fit the graph or the site.
        """
        self._set(self._kernel, graph, allocation)

    def _set(self, kernel: Kernel, graph: int, allocation: Allocation) -> None:
        """Set the allocation of a graph if it fits."""
        last = self._graphs.n_graphs - 1
        if not 0 <= graph <= last:
            raise WorkloadError(f"there is no graph {graph!r}; give a number from 0 to {last}")
        check_allocation(self._graphs.graphs[graph], allocation, self._site)
        first = int(self._graphs.first[graph])
        kernel.set_allocation(first, allocation.processors, allocation.time)

    def map_ready(self, now: float, tasks: Sequence[int]) -> list[Assignment]:
        """Map tasks that became ready, and those that waited.

        Parameters
        ----------
        now : float
            The instant [s].
        tasks : sequence of int
            All tasks that became ready at this instant, in any order; none to retry those that
            wait.

        Returns
        -------
        list of Assignment
            In the order of mapping. With `fixing` "reserve" these are all tasks.
        """
        return self._assignments(self._kernel.map_ready(now, list(tasks)))

    def deviate(self, now: float, task: int, processors: Sequence[int]) -> list[Assignment]:
        """Note that a task, just mapped, goes to other processors; see `DeviatingMapper`."""
        return self._assignments(self._kernel.deviate(now, task, np.array(processors)))

    def _assignments(self, tasks: Sequence[int]) -> list[Assignment]:
        """Return the mapping of some tasks."""
        return [Assignment(task, *self._kernel.mapping(task)) for task in tasks]

    def started(self, task: int, date: float) -> None:
        """Note that a task has started to compute."""
        self._kernel.started(task, date)

    def finished(self, task: int, date: float) -> None:
        """Note that a task has finished."""
        self._kernel.finished(task, date)

    def forecast(
        self, now: float, allocations: Mapping[int, Allocation] | None = None
    ) -> NDArray[np.float64]:
        """Return the estimated completion of each graph, from all events until now.

        Parameters
        ----------
        now : float
            The instant; graphs that are submitted later are unknown [s].
        allocations : mapping of int to Allocation, optional
            Allocations to assume; the mapper keeps its own.

        Returns
        -------
        float64, shape (n_graphs,)
            [s]; NaN for graphs that are not submitted.

        Raises
        ------
        WorkloadError
            The instant is not finite, a graph is unknown, or an allocation does not fit.
        """
        if not isfinite(now):
            raise WorkloadError(f"nothing can be forecast at {now!r} s; give a date")
        kernel = self._kernel
        if allocations:
            kernel = kernel.copy()
            for graph, allocation in allocations.items():
                self._set(kernel, graph, allocation)
        finish = kernel.forecast(now)
        return np.maximum.reduceat(finish, self._graphs.first[:-1])


def _kernel(
    graphs: GraphSet,
    allocations: Sequence[Allocation],
    site: Site,
    assumptions: ModelAssumptions,
    local: Local,
) -> Kernel:
    """Return the compiled mapper; raise WorkloadError if an allocation does not fit."""
    one_of("local", local, get_args(Local))
    check_allocations(graphs, allocations, site)
    before, after = graphs.predecessors, graphs.successors
    tasks = MappingTasks(
        graphs.flop,
        graphs.alpha,
        graphs.release[graphs.graph_of],
        before.start,
        before.task,
        graphs.edge_byte[before.edge],
        after.start,
        after.task,
    )
    clusters = MappingClusters(
        site.processors, site.speed, site.bandwidth, site.latency, site.shared, site.switch
    )
    kernel = Kernel(
        tasks,
        clusters,
        assumptions.packing,
        assumptions.order == "bottom",
        assumptions.fixing == "reserve",
        assumptions.transfers,
        assumptions.redistribution == "together",
        local == "kept",
    )
    for first, allocation in zip(graphs.first.tolist(), allocations, strict=False):
        kernel.set_allocation(first, allocation.processors, allocation.time)
    return kernel
