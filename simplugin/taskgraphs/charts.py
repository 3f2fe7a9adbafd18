"""Schedules and task graphs as charts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simplugin.charts import Bar, Curve, GraphChart, Node, ScheduleChart
from simplugin.taskgraphs.layered_layout import layered_layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simplugin.taskgraphs.schedules import Schedule
    from simplugin.workloads.task_graphs import TaskGraph


def schedule_chart(
    schedule: Schedule,
    title: str = "",
    *,
    name: str = "schedule",
    dates: Mapping[str, float] | None = None,
) -> ScheduleChart:
    """Return the Gantt chart of a schedule, with a colour for each graph.

    Parameters
    ----------
    schedule : Schedule
        Planned or as it came about.
    title : str
        Above the chart.
    name : str
        Of the file that it becomes, without a suffix.
    dates : mapping of str to float, optional
        Dates to be marked, such as a lower bound, by their names [s].

    Returns
    -------
    ScheduleChart
        Labels are the names of tasks.
    """
    site, graphs = schedule.site, schedule.graphs
    tasks = [task for graph in graphs.graphs for task in graph.tasks]
    bars = tuple(
        Bar(
            int(graphs.graph_of[task]),
            tuple(schedule.processors_of(task).tolist()),
            float(schedule.start[task]),
            float(schedule.finish[task]),
            label,
        )
        for task, label in enumerate(tasks)
    )
    used = schedule.area / (site.n_processors * schedule.makespan) if schedule.makespan else 0.0
    return ScheduleChart(
        name,
        title,
        tuple(zip(site.clusters, site.processors.tolist(), strict=True)),
        tuple(graph.name for graph in graphs.graphs),
        bars,
        facts=f"{len(tasks)} task{'s' * (len(tasks) != 1)}, makespan {schedule.makespan:.4g} s,"
        f" {100 * used:.0f} % of the processors' time taken",
        dates=dict(dates or {}),
        completion=tuple(schedule.completion.tolist()),
    )


def graph_chart(
    graph: TaskGraph,
    allocation: NDArray[np.int64] | None = None,
    cluster: NDArray[np.int64] | None = None,
    clusters: Sequence[str] = (),
    *,
    time: NDArray[np.float64] | None = None,
    colour: int | None = None,
) -> GraphChart:
    """Return the drawing of a graph, a row for each precedence level.

    Areas of nodes are in proportion to their work. The critical path stands out.

    Parameters
    ----------
    graph : TaskGraph
        The graph.
    allocation : int64, shape (n_tasks,), optional
        How many processors each task has, to be written on it.
    cluster : int64, shape (n_tasks,), optional
        Where each task is, for its colour.
    clusters : sequence of str
        Names of the clusters.
    time : float64, shape (n_tasks,), optional
        Of each task, which the critical path is by [s]; by default that on one processor.
    colour : int, optional
        Number of the graph among others, for its colour in their schedule.
    """
    places = layered_layout(graph)
    path = graph.critical_path(graph.flop if time is None else time)
    steps = set(pairwise(path))
    most = float(np.max(graph.flop)) or 1.0
    nodes = tuple(
        Node(
            float(places.x[task]),
            float(places.y[task]),
            name,
            "" if allocation is None else f"{int(allocation[task])}×",  # noqa: RUF001
            float(graph.flop[task]) / most,
            None if cluster is None else int(cluster[task]),
            task in path,
        )
        for task, name in enumerate(graph.tasks)
    )
    edges = tuple(
        Curve(source, target, bends, (source, target) in steps)
        for (source, target), bends in zip(graph.edges.tolist(), places.bends, strict=True)
    )
    levels = int(np.max(graph.level)) + 1
    counts = ((graph.n_tasks, "task"), (graph.n_edges, "edge"), (levels, "level"))
    words = [f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts]
    facts = ", ".join([*words, f"width {graph.width}", f"{graph.work / 1e12:.3g} Tflop"])
    return GraphChart(graph.name, graph.name, nodes, edges, tuple(clusters), facts, colour)


def graph_charts(schedule: Schedule) -> tuple[GraphChart, ...]:
    """Return the drawings of all graphs of a schedule, with the allocations that it has.

    Parameters
    ----------
    schedule : Schedule
        Planned or as it came about.

    Returns
    -------
    tuple of GraphChart
        One a graph; critical paths are by the times that tasks take.
    """
    took = schedule.finish - schedule.start
    charts = []
    for number, graph in enumerate(schedule.graphs.graphs):
        own = slice(*schedule.graphs.first[number : number + 2].tolist())
        charts.append(
            graph_chart(
                graph,
                schedule.allocation[own],
                schedule.cluster[own],
                schedule.site.clusters,
                time=took[own],
                colour=number,
            )
        )
    return tuple(charts)
