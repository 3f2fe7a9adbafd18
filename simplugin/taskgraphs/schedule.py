"""Schedules: the processors and dates of all tasks, and checks of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simplugin.platforms.sites import Site
from simplugin.taskgraphs._kernels import moved_parts
from simplugin.taskgraphs.timing import Local, redistribution_time, task_times
from simplugin.workloads.task_graphs import GraphSet

# Dates may differ by so much of the makespan.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Schedule:
    """A schedule of all tasks of some graphs, planned or executed.

    Attributes
    ----------
    site : Site
        The site.
    graphs : GraphSet
        The graphs; tasks have the numbers of the set.
    cluster : int64, shape (n_tasks,)
        Cluster of each task.
    start, finish : float64, shape (n_tasks,)
        Dates of the computation of each task [s].
    processor_start : int64, shape (n_tasks + 1,)
        Position in `processor` of the first processor of each task.
    processor : int64, shape (n,)
        Processors by their numbers in the site, see `Site.first`.
    order : int64, shape (n_tasks,)
        The tasks in the order of mapping, which is that of the tasks on each processor.
    local : {"sent", "kept"}, optional
        Whether data that stay on a processor pass the network or cost nothing; None if the
        schedule leaves it open.
    """

    site: Site
    graphs: GraphSet
    cluster: NDArray[np.int64]
    start: NDArray[np.float64]
    finish: NDArray[np.float64]
    processor_start: NDArray[np.int64]
    processor: NDArray[np.int64]
    order: NDArray[np.int64]
    local: Local | None = None

    def processors_of(self, task: int) -> NDArray[np.int64]:
        """Return the processors of a task."""
        return self.processor[self.processor_start[task] : self.processor_start[task + 1]]

    @cached_property
    def allocation(self) -> NDArray[np.int64]:
        """Number of processors of each task; shape (n_tasks,)."""
        return np.diff(self.processor_start)

    @cached_property
    def completion(self) -> NDArray[np.float64]:
        """End of the last task of each graph [s]; shape (n_graphs,)."""
        return np.maximum.reduceat(self.finish, self.graphs.first[:-1])

    @property
    def makespans(self) -> NDArray[np.float64]:
        """Time from the release of each graph to its completion [s]; shape (n_graphs,)."""
        # The timer of a release may ring in the last digits before it.
        return np.maximum(self.completion - self.graphs.release, 0.0)

    @property
    def makespan(self) -> float:
        """Completion of the last graph [s]."""
        return float(np.max(self.completion))

    @cached_property
    def area(self) -> float:
        """Processors times the time that tasks hold them [s]."""
        return float(np.sum(self.allocation * (self.finish - self.start)))


def violations(schedule: Schedule, *, transfers: bool, exact: bool = True) -> list[str]:
    """Return the violations of the model in a schedule.

    Each task has distinct processors of its cluster, starts after the release of its graph and
    after its predecessors, and takes its time; a processor runs one task at a time, in the
    schedule's order.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    transfers : bool
        True if a redistribution takes `redistribution_time` at least.
    exact : bool
        True if tasks take exactly `task_times`, as in plans; False if they may take longer.

    Returns
    -------
    list of str
        A sentence for each violation, naming the tasks; empty if there is none. Dates may be off
        by 1e-9 of the makespan.
    """
    found = list(_wrong_places(schedule))
    if found:
        return found
    slack = _TOLERANCE * float(np.max(schedule.finish))
    found += _wrong_durations(schedule, slack, exact)
    found += _early_starts(schedule, slack, transfers)
    found += _overlaps(schedule, slack)
    return found


def _wrong_places(schedule: Schedule) -> Iterator[str]:
    """Yield tasks without processors or on those of other clusters, and an invalid order."""
    site, graphs = schedule.site, schedule.graphs
    everyone = np.arange(graphs.n_tasks)
    if not np.array_equal(np.sort(schedule.order), everyone):
        yield "the order of mapping does not have each task once"
    for task in everyone.tolist():
        name, cluster = graphs.name_of(task), int(schedule.cluster[task])
        processors = schedule.processors_of(task)
        if not 0 <= cluster < site.n_clusters:
            yield f"task {name!r} is on cluster {cluster}, which site {site.name!r} does not have"
        elif not processors.size or np.unique(processors).size < processors.size:
            yield f"task {name!r} has processors {processors.tolist()}"
        elif np.min(processors) < site.first[cluster] or (
            np.max(processors) >= site.first[cluster + 1]
        ):
            yield (
                f"task {name!r} has processors outside its cluster {site.clusters[cluster]!r}:"
                f" {processors.tolist()}"
            )
        if not np.isfinite(schedule.start[task]) or not np.isfinite(schedule.finish[task]):
            yield f"task {name!r} has no date"


def _wrong_durations(schedule: Schedule, slack: float, exact: bool) -> Iterator[str]:
    """Yield tasks that take less time than they need, or another one."""
    graphs = schedule.graphs
    needed = task_times(
        graphs.flop, graphs.alpha, schedule.allocation, schedule.site.speed[schedule.cluster]
    )
    taken = schedule.finish - schedule.start
    wrong = taken < needed - slack
    if exact:
        wrong |= taken > needed + slack
    for task in np.flatnonzero(wrong).tolist():
        yield (
            f"task {graphs.name_of(task)!r} takes {float(taken[task])!r} s instead of"
            f" {float(needed[task])!r} s"
        )


def _early_starts(schedule: Schedule, slack: float, transfers: bool) -> Iterator[str]:
    """Yield tasks that start before their release, or before their data are there."""
    graphs = schedule.graphs
    release = graphs.release[graphs.graph_of]
    for task in np.flatnonzero(schedule.start < release - slack).tolist():
        yield (
            f"task {graphs.name_of(task)!r} starts at {float(schedule.start[task])!r} s, before its"
            f" graph is released at {float(release[task])!r} s"
        )
    source, target = graphs.edges.T
    there = schedule.finish[source]
    if transfers:
        cluster, count = schedule.cluster, schedule.allocation
        sent = received = passed = graphs.edge_byte
        if schedule.local == "kept":
            places = [schedule.processors_of(task) for task in range(graphs.n_tasks)]
            parts = [
                moved_parts([places[one]], [places[other]]) for one, other in graphs.edges.tolist()
            ]
            sent, received, passed = np.reshape(parts, (-1, 3)).T * graphs.edge_byte
        there = there + redistribution_time(
            schedule.site,
            passed,
            *(cluster[source], count[source]),
            *(cluster[target], count[target]),
            *(sent, received),
        )
    for edge in np.flatnonzero(schedule.start[target] < there - slack).tolist():
        sender, receiver = graphs.edges[edge].tolist()
        yield (
            f"task {graphs.name_of(receiver)!r} starts at {float(schedule.start[receiver])!r} s,"
            f" before the data of {graphs.name_of(sender)!r} are there at {float(there[edge])!r} s"
        )


def _overlaps(schedule: Schedule, slack: float) -> Iterator[str]:
    """Yield tasks that start on a processor before the previous one there has finished."""
    last: dict[int, int] = {}
    graphs, names = schedule.graphs, schedule.site.names
    for task in schedule.order.tolist():
        for processor in schedule.processors_of(task).tolist():
            before = last.get(processor)
            if before is not None and schedule.start[task] < schedule.finish[before] - slack:
                yield (
                    f"tasks {graphs.name_of(before)!r} and {graphs.name_of(task)!r} overlap on host"
                    f" {names[processor]!r}, or are in the wrong order there"
                )
            last[processor] = task
