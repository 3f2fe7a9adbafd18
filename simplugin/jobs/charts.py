"""Charts of schedules of batch jobs: nodes, queue, utilisation and cumulative counts over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from simplugin.jobs.execution import JobExecution
from simplugin.jobs.nodes import lowest, nodes_of
from simplugin.results.charts import Bar, ScheduleChart
from simplugin.results.curves import CurvePlot
from simplugin.workloads.job_schedules import JobSchedule

Floats = NDArray[np.float64]
Series = dict[str, tuple[Floats, Floats]]
Steps = tuple[tuple[float, int], ...]

# Users up to this number have a colour each; else classes of size have.
_MOST_USERS = 12
# Jobs whose bars are drawn; files of more take long to open.
_MOST_BARS = 20_000
# Largest class of size, as a power of 4.
_LARGEST_CLASS = 12


def executed_schedule(execution: JobExecution) -> JobSchedule:
    """Return when and where the jobs of an execution ran."""
    jobs = execution.log.jobs
    walltimes = [np.nan if job.walltime is None else job.walltime for job in jobs]
    held = [mask.bit_count() for mask in execution.nodes]
    return JobSchedule(
        ids=tuple(job.id for job in jobs),
        submit=execution.submit.astype(np.float64),
        start=execution.start.astype(np.float64),
        end=execution.end.astype(np.float64),
        sizes=np.array([own or job.size for own, job in zip(held, jobs, strict=True)]),
        nodes=tuple(map(nodes_of, execution.nodes)),
        states=execution.state,
        walltimes=np.array(walltimes),
    )


def stepwise_schedule(execution: JobExecution) -> JobSchedule:
    """Return the steps of malleable jobs as jobs of their own, on unknown nodes.

    A job keeps one set of all nodes that it had, which others may have had at other times.
    """
    whole = executed_schedule(execution)
    rows = []
    for place in np.flatnonzero(whole.started()).tolist():
        own = execution.steps[place] or ((float(whole.start[place]), int(whole.sizes[place])),)
        ends = [date for date, _ in own[1:]] + [float(whole.end[place])]
        rows += [
            (place, f"{whole.ids[place]}.{number}", date, end, size)
            for number, ((date, size), end) in enumerate(zip(own, ends, strict=True))
        ]
    if not rows:
        return whole
    places, ids, dates, last, sizes = zip(*rows, strict=True)
    at = np.array(places)
    return JobSchedule(
        ids=ids,
        submit=whole.submit[at],
        start=np.array(dates),
        end=np.array(last),
        sizes=np.array(sizes),
        nodes=((),) * len(ids),
        states=tuple(whole.states[place] for place in places),
        walltimes=whole.walltimes[at],
    )


def size_class(size: int) -> str:
    """Return the class of a number of nodes: ``1 node``, ``2-4 nodes``, ``5-16 nodes``, ..."""
    power = next((each for each in range(_LARGEST_CLASS) if size <= 4**each), _LARGEST_CLASS)
    return "1 node" if power == 0 else f"{4 ** (power - 1) + 1}-{4**power} nodes"


def by_class(sizes: Sequence[int]) -> dict[str, list[int]]:
    """Return the positions of the jobs of each class of size, small ones first."""
    found: dict[str, list[int]] = {}
    for place in sorted(range(len(sizes)), key=lambda each: sizes[each]):
        found.setdefault(size_class(sizes[place]), []).append(place)
    return {name: sorted(places) for name, places in found.items()}


def job_chart(
    schedules: Mapping[str, JobSchedule],
    n_nodes: int,
    title: str = "",
    *,
    users: Mapping[str, str] | None = None,
    dates: Mapping[str, float] | None = None,
    bars_are: str = "jobs",
) -> ScheduleChart:
    """Return the Gantt chart of schedules of jobs on nodes, below each other to compare them.

    Jobs whose nodes are unknown are put on the lowest nodes that are free.

    Parameters
    ----------
    schedules : mapping of str to JobSchedule
        By their names; several are of the same jobs.
    n_nodes : int
        Nodes of the machine.
    title : str
        Title of the chart.
    users : mapping of str to str, optional
        The user of each job by its id. If there are 2 to 12, each has a colour; otherwise classes
        of size have.
    dates : mapping of str to float, optional
        Dates to mark by their names [s].
    bars_are : str
        What the schedules have, in the plural.

    Returns
    -------
    ScheduleChart
        Of the first 20,000 jobs that started in each schedule.
    """
    group_of: dict[str, str] = {}
    for each in schedules.values():
        group_of |= dict(zip(each.ids, map(size_class, each.sizes.tolist()), strict=True))
    classes = set(group_of.values())
    known = set((users or {}).values())
    by_user = users is not None and 2 <= len(known) <= _MOST_USERS
    if by_user:
        group_of = {id_: (users or {}).get(id_, "") or "(unknown)" for id_ in group_of}
        groups = sorted(set(group_of.values()))
    else:
        groups = [size_class(4**each) for each in range(_LARGEST_CLASS + 1)]
        groups = [name for name in groups if name in classes]
    number = {name: place for place, name in enumerate(groups)}
    bars, clusters, facts = [], [], []
    first = 0
    for name, schedule in schedules.items():
        order = np.argsort(schedule.start, kind="stable")[: int(schedule.started().sum())].tolist()
        nodes = _placed(schedule, order, n_nodes)
        for place in order[:_MOST_BARS]:
            id_ = schedule.ids[place]
            on = tuple(first + node for node in nodes[place])
            span = float(schedule.start[place]), float(schedule.end[place])
            bars.append(Bar(number[group_of[id_]], on, *span, id_))
        count = 1 + max((max(nodes[place], default=0) for place in order), default=0)
        clusters.append((name, max(count, n_nodes)))
        first += clusters[-1][1]
        some = f"the first {_MOST_BARS:,} of " if len(order) > _MOST_BARS else ""
        facts.append(
            f"{some}{len(order):,} {bars_are}, last end {np.nanmax(schedule.end, initial=0):,.0f} s"
        )
    if len(schedules) > 1:
        facts = [f"{name}: {fact}" for name, fact in zip(schedules, facts, strict=True)]
    facts.append(f"colours: {'users' if by_user else 'sizes'}")
    return ScheduleChart(
        "schedule", title, tuple(clusters), tuple(groups), tuple(bars),
        facts="; ".join(facts), dates=dict(dates or {}),
    )  # fmt: skip


def _placed(
    schedule: JobSchedule, order: Sequence[int], n_nodes: int
) -> dict[int, tuple[int, ...]]:
    """Return the nodes of the jobs that started, where they are unknown the lowest free ones."""
    if all(schedule.nodes[place] for place in order):
        known = sorted({node for place in order for node in schedule.nodes[place]})
        # Numbers of nodes of real machines begin anywhere.
        rank = {node: number if known[-1] >= n_nodes else node for number, node in enumerate(known)}
        return {place: tuple(map(rank.__getitem__, schedule.nodes[place])) for place in order}
    found: dict[int, tuple[int, ...]] = {}
    running: list[tuple[float, int]] = []
    free, nodes = (1 << n_nodes) - 1, n_nodes
    for place in order:
        while running and running[0][0] <= schedule.start[place]:
            free |= heappop(running)[1]
        size = int(schedule.sizes[place])
        missing = max(size - free.bit_count(), 0)
        # More jobs at a time than the machine has nodes: measured dates are rounded.
        free |= ((1 << missing) - 1) << nodes
        nodes += missing
        mask = lowest(free, size)
        free ^= mask
        heappush(running, (float(schedule.end[place]), mask))
        found[place] = nodes_of(mask)
    return found


def job_curves(
    schedules: Mapping[str, JobSchedule], n_nodes: int, steps: Sequence[Steps] = ()
) -> tuple[CurvePlot, ...]:
    """Return the jobs that wait, the nodes in use, and the cumulative counts over time.

    Parameters
    ----------
    schedules : mapping of str to JobSchedule
        By their names, which the curves have if there are several.
    n_nodes : int
        Nodes of the machine.
    steps : sequence of tuple, shape (n_jobs,)
        Dates and numbers of nodes of each malleable job of the only schedule, empty for others.

    Returns
    -------
    tuple of CurvePlot
        ``queue``, ``utilisation`` and ``cumulative``.
    """
    several = len(schedules) > 1
    span = (
        min(float(np.min(each.submit, initial=np.inf)) for each in schedules.values()),
        max(float(np.nanmax(each.end, initial=0.0)) for each in schedules.values()),
    )
    queue: Series = {}
    used: Series = {}
    counts: Series = {}
    for name, each in schedules.items():
        before = f"{name}, " if several else ""
        ran = each.started()
        submit, start, end = each.submit[ran], each.start[ran], each.end[ran]
        one = np.ones(len(start))
        queue[name] = _steps(np.append(submit, start), np.append(one, -one), span)
        size = each.sizes[ran].astype(np.float64)
        dates, changes = [*start.tolist(), *end.tolist()], [*size.tolist(), *(-size).tolist()]
        if any(steps):
            dates, changes = _changes(each, steps)
        used[name if several else "in use"] = _steps(np.array(dates), np.array(changes), span)
        counts.setdefault("submitted", _steps(submit, one, span))
        for word, column in (("started", start), ("ended", end)):
            counts[f"{before}{word}"] = _steps(column, one, span)
    time = "time [s]"
    return (
        CurvePlot("queue", "Jobs that wait", time, "jobs", queue, whole=True),
        CurvePlot(
            "utilisation", "Nodes in use", time, "nodes", used, {"all": float(n_nodes)}, whole=True
        ),
        CurvePlot("cumulative", "Jobs until a date", time, "jobs", counts, whole=True),
    )


def _steps(dates: Floats, changes: Floats, span: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the corners of a sum of changes at dates, from the begin to the end of a span."""
    known, place = np.unique(dates, return_inverse=True)
    after = np.cumsum(np.bincount(place, changes, minlength=len(known)))
    levels = np.stack([np.append(0.0, after)[:-1], after], axis=1).ravel()
    x = np.concatenate([span[:1], np.repeat(known, 2), span[1:]])
    return x, np.concatenate([[0.0], levels, after[-1:] if len(after) else [0.0]])


def _changes(schedule: JobSchedule, steps: Sequence[Steps]) -> tuple[list[float], list[float]]:
    """Return the dates at which jobs take or give back nodes, and how many."""
    dates, changes = [], []
    for place in np.flatnonzero(schedule.started()).tolist():
        start = float(schedule.start[place])
        own = steps[place] or ((start, int(schedule.sizes[place])),)
        held = 0
        for date, count in (*own, (float(schedule.end[place]), 0)):
            dates.append(date)
            changes.append(float(count - held))
            held = count
    return dates, changes
