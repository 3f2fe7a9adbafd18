"""Checks that every schedule must pass, planned or as it came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs.timing import redistribution_time, task_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplugin.taskgraphs.schedules import Schedule

# Dates may differ by so much of the makespan.
_TOLERANCE = 1e-9


def violations(schedule: Schedule, *, transfers: bool, exact: bool = True) -> list[str]:
    """Return what is wrong with a schedule.

    Checked are that each task has distinct processors of its cluster, that no task starts before
    its graph is released, that tasks start after their predecessors have finished, that a
    processor runs one task at a time, in the schedule's order, and how long tasks take.

    Parameters
    ----------
    schedule : Schedule
        Of all tasks.
    transfers : bool
        Whether a redistribution has to fit between a task and the next one, as long at least as
        `redistribution_time` says.
    exact : bool
        Whether tasks take the time that `task_times` says, as in plans, or may take longer.

    Returns
    -------
    list of str
        A sentence for each violation, naming the tasks; empty if there is none. Dates may be off
        by 1e-9 of the makespan.
    """
    found = list(_wrong_places(schedule))
    if found:
        return found
    slack = _TOLERANCE * max(float(np.max(schedule.finish)), 1e-9)
    found += _wrong_durations(schedule, slack, exact)
    found += _early_starts(schedule, slack, transfers)
    found += _overlaps(schedule, slack)
    return found


def _wrong_places(schedule: Schedule) -> Iterator[str]:
    """Tell tasks without processors, or on those of other clusters; and an order that is none."""
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
    """Tell tasks that take less time than they need, or another one."""
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
    """Tell tasks that start before their release, or before their data are there."""
    graphs = schedule.graphs
    release = graphs.release[graphs.graph_of]
    for task in np.flatnonzero(schedule.start < release - slack).tolist():
        yield (
            f"task {graphs.name_of(task)!r} starts at {float(schedule.start[task])!r} s, before its"
            f" graph is released at {float(release[task])!r} s"
        )
    for (source, target), byte in zip(
        graphs.edges.tolist(), graphs.edge_byte.tolist(), strict=True
    ):
        there = float(schedule.finish[source])
        if transfers:
            there += redistribution_time(schedule.site, byte, *_place(schedule, source, target))
        if schedule.start[target] < there - slack:
            yield (
                f"task {graphs.name_of(target)!r} starts at {float(schedule.start[target])!r} s,"
                f" before the data of {graphs.name_of(source)!r} are there at {there!r} s"
            )


def _place(schedule: Schedule, source: int, target: int) -> tuple[int, int, int, int]:
    """Return cluster and number of processors of two tasks."""
    first, second = (
        (int(schedule.cluster[task]), int(schedule.allocation[task])) for task in (source, target)
    )
    return *first, *second


def _overlaps(schedule: Schedule, slack: float) -> Iterator[str]:
    """Tell tasks that start on a processor before the one that goes first there has finished."""
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
