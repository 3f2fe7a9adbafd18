"""Schedules: the processors and dates of all tasks, and checks of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.inputs.locations import shown
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

    @classmethod
    def of(
        cls,
        site: Site,
        graphs: GraphSet,
        processors: Sequence[ArrayLike],
        start: NDArray[np.float64],
        finish: NDArray[np.float64],
        order: ArrayLike,
        local: Local | None = None,
    ) -> Schedule:
        """Return the schedule of tasks on the processors of each, by their numbers in the site."""
        each = [np.asarray(own, dtype=np.int64) for own in processors]
        first = np.cumsum([0, *map(len, each)], dtype=np.int64)
        processor = np.concatenate(each)
        cluster = np.searchsorted(site.first, processor[first[:-1]], side="right") - 1
        order = np.asarray(order, dtype=np.int64)
        return cls(site, graphs, cluster, start, finish, first, processor, order, local)

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


def placed(what: str, processors: object, site: Site) -> list[int]:
    """Return the processors that a task was given.

    Parameters
    ----------
    what : str
        Who gave them to which task, for messages.
    processors : object
        Should be distinct numbers of one cluster, at least one.
    site : Site
        The site.

    Raises
    ------
    WorkloadError
        They are not.
    """
    last = site.n_processors - 1
    rule = f"different numbers from 0 to {last}, of one cluster of site {site.name!r}"
    found = decided(what, processors, rule, (-1,), whole=True, least=0, most=last)
    clusters = np.unique(np.searchsorted(site.first, found, side="right") - 1)
    if len(clusters) != 1 or np.unique(found).size < found.size:
        names = "".join(f" of {site.clusters[each]!r}" for each in clusters.tolist())
        raise WorkloadError(f"{what} {shown(found)}{names}; give {rule}")
    return [int(each) for each in found]


def checked(schedule: object, graphs: GraphSet, site: Site) -> Schedule:
    """Return a schedule with its numbers as arrays.

    Dates may break the model, see `violations`; places may not.

    Parameters
    ----------
    schedule : object
        Should be a `Schedule` of these graphs on this site.
    graphs, site
        Of the execution.

    Raises
    ------
    WorkloadError
        It is none; the message names the field or the task, and the rule.
    """
    if not isinstance(schedule, Schedule):
        raise WorkloadError(f"the schedule is {type(schedule).__name__}; give a Schedule")
    n_tasks = graphs.n_tasks
    if schedule.site.names != site.names:
        raise WorkloadError(f"the schedule is of another site; make it for site {site.name!r}")
    per_task = ("cluster", "order", "start", "finish")
    found: dict[str, Any] = {}
    for name in (*per_task, "processor", "processor_start"):
        length = n_tasks if name in per_task else n_tasks + 1 if name == "processor_start" else -1
        whole = name not in ("start", "finish")
        rule = "whole numbers from 0 on" if whole else "finite dates"
        rule += f": {length} for {n_tasks} tasks" if length >= 0 else ""
        what, value = f"{name} of the schedule is", getattr(schedule, name)
        least = 0 if whole else -np.inf
        found[name] = decided(what, value, rule, (length,), whole=whole, least=least)
    first, order = found["processor_start"], found["order"]
    if first[0] or first[-1] != len(found["processor"]) or np.any(np.diff(first) < 0):
        raise WorkloadError(
            f"processor_start of the schedule is {shown(first)}; give rising positions from 0 to"
            f" {len(found['processor'])}, the number of all processors of tasks"
        )
    if not np.array_equal(np.sort(order), np.arange(n_tasks)):
        raise WorkloadError(f"order of the schedule is {shown(order)}; give each task once")
    made = replace(schedule, **found)
    for task, cluster in enumerate(made.cluster.tolist()):
        what = f"the schedule has task {graphs.name_of(task)!r} on processors"
        own = placed(what, made.processors_of(task), site)
        if np.searchsorted(site.first, own[0], side="right") - 1 != cluster:
            raise WorkloadError(f"{what} {own}, which are not of its cluster {cluster}; give those")
    return made


def violations(schedule: Schedule, *, transfers: bool, exact: bool = True) -> list[str]:
    """Return the violations of the model in a schedule.

    Each task has distinct processors of its cluster, starts after the release of its graph and
    after its predecessors, and takes its time; a processor runs one task after the other, in the
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
    try:
        schedule = checked(schedule, schedule.graphs, schedule.site)
    except WorkloadError as error:
        return [str(error)]
    slack = _TOLERANCE * float(np.max(schedule.finish))
    found = list(_wrong_durations(schedule, slack, exact))
    found += _early_starts(schedule, slack, transfers)
    found += _overlaps(schedule, slack)
    return found


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
    """Yield tasks that start before their release, or before the arrival of their data."""
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
