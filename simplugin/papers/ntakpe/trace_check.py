"""Check of an execution's trace against the model: capacities, precedence, amounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simplugin.core.errors import WorkloadError
from simplugin.taskgraphs.actors.conductor import edge_label
from simplugin.taskgraphs.execution import GraphExecution
from simplugin.taskgraphs.schedule import Schedule, violations
from simplugin.taskgraphs.timing import redistribution_time, task_times

# Tolerance of dates, relative to the end of the simulation, and of amounts.
SAME = 1e-9


def trace_violations(execution: GraphExecution) -> list[str]:
    """Return the violations of the model in an execution's trace.

    Dates, hosts and amounts are those of the trace, not those of the `GraphExecution`: every task
    ran once, on hosts of one cluster, none of which ran another task then; each computed the
    flop of Amdahl's law, at the speed of its hosts; no task started before its release, before its
    predecessors had finished, or before all its data were there; every edge with data was one
    redistribution from the hosts of its source to those of its target, no faster than it would be
    alone where these are different hosts. The `GraphExecution` agrees with its trace.

    Parameters
    ----------
    execution : GraphExecution
        Made with ``trace=True`` on the platform of its site.

    Raises
    ------
    WorkloadError
        The trace is empty.
    """
    trace = execution.result.trace
    if not len(trace):
        raise WorkloadError("the execution has no trace; execute it with trace=True")
    schedule, graphs = execution.schedule, execution.schedule.graphs
    tasks = [graphs.name_of(task) for task in range(graphs.n_tasks)]
    edges = {edge_label(graphs, edge): edge for edge in np.flatnonzero(graphs.edge_byte).tolist()}
    rows = [row for row in trace.rows() if (row[2], row[7]) == ("ptask", "done")]
    times = Counter(row[3] for row in rows)
    named = [*tasks, *edges]
    found = [f"{name} happened {times[name]} times, not once" for name in named if times[name] != 1]
    foreign = sorted(times.keys() - set(named))
    found += [f"{name!r} is neither a task nor an edge with data" for name in foreign]
    if found:
        return found
    made = {row[3]: _Activity(row[1].split(","), *row[4:7]) for row in rows}
    done = [made[name] for name in tasks]
    for name, activity in zip(tasks, done, strict=True):
        for host in sorted(set(activity.hosts) - set(schedule.site.names)):
            return [f"{name} ran on {host}, which is not of the site"]
    seen = _seen(schedule, done)
    found += violations(seen, transfers=False)
    found += _amounts(seen, done)
    found += _moves(seen, {number: made[name] for name, number in edges.items()})
    for field in ("start", "finish", "cluster", "processor_start", "processor"):
        if not np.array_equal(getattr(schedule, field), getattr(seen, field)):
            found.append(f"the execution has another {field} than its trace")
    return found


class _Activity(NamedTuple):
    """An activity of the trace."""

    hosts: list[str]
    start: float
    end: float
    amount: float


def _seen(schedule: Schedule, done: Sequence[_Activity]) -> Schedule:
    """Return the schedule of the trace, by start."""
    number = {host: at for at, host in enumerate(schedule.site.names)}
    places = [[number[host] for host in each.hosts] for each in done]
    start, finish = (np.array([getattr(each, end) for each in done]) for end in ("start", "end"))
    # A task that takes no time ends before another starts at the same date.
    order = np.lexsort((finish, start))
    return Schedule.of(schedule.site, schedule.graphs, places, start, finish, order, schedule.local)


def _amounts(seen: Schedule, done: Sequence[_Activity]) -> Iterator[str]:
    """Yield tasks with another amount of computation than theirs."""
    graphs = seen.graphs
    counts = seen.allocation
    should = task_times(graphs.flop, graphs.alpha, counts, 1.0) * counts
    for task, row in enumerate(done):
        if abs(row.amount - should[task]) > SAME * should[task]:
            yield f"{graphs.name_of(task)} computed {row.amount} flop, not {should[task]}"


def _moves(seen: Schedule, rows: dict[int, _Activity]) -> Iterator[str]:
    """Yield redistributions at the wrong time, between wrong hosts, or faster than possible."""
    slack = SAME * seen.makespan
    names = seen.site.names
    for edge, row in rows.items():
        source, target = seen.graphs.edges[edge].tolist()
        name = edge_label(seen.graphs, edge)
        if row.start < seen.finish[source] - slack:
            yield f"{name} starts at {row.start} s, its source ends at {seen.finish[source]} s"
        if row.end > seen.start[target] + slack:
            yield f"{name} ends at {row.end} s, its target starts at {seen.start[target]} s"
        ends = [seen.processors_of(task).tolist() for task in (source, target)]
        if Counter(row.hosts) != Counter({names[at] for at in (*ends[0], *ends[1])}):
            yield f"{name} is not between the hosts of its tasks"
        if row.amount:
            yield f"{name} computes {row.amount} flop"
        if not {*ends[0]} & {*ends[1]}:
            least = redistribution_time(
                seen.site,
                float(seen.graphs.edge_byte[edge]),
                int(seen.cluster[source]),
                len(ends[0]),
                int(seen.cluster[target]),
                len(ends[1]),
            )
            if row.end - row.start < least - slack:
                yield f"{name} takes {row.end - row.start} s, at least {least} s are needed"
