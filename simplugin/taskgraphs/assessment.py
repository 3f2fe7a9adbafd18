"""Metrics, tables and charts of executed graphs, compared with lower bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simplugin.results.charts import GraphChart, ScheduleChart
from simplugin.results.row import Best, Metric
from simplugin.results.tables import Cell, ResultTable, left_open
from simplugin.taskgraphs.charts import graph_charts, schedule_chart
from simplugin.taskgraphs.execution import GraphExecution
from simplugin.taskgraphs.metrics import (
    average_slowdown,
    efficiency,
    slowdown,
    unfairness,
    worst_slowdown,
)
from simplugin.taskgraphs.schedule import Schedule

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GraphAssessment:
    """An execution of concurrent graphs, compared with each graph alone and with lower bounds.

    Attributes
    ----------
    execution : GraphExecution
        Of all graphs together.
    own : float64, shape (n_graphs,)
        Makespan of each graph alone on the site [s].
    bound : float
        Lower bound of the makespan of all graphs [s].
    own_bound : float64, shape (n_graphs,)
        Lower bound of the makespan of each graph alone [s].
    shares : float64, shape (n_graphs,), optional
        Share of each graph, beta.
    cores : int64, shape (n_clusters,), optional
        Largest number of cores of a host of each cluster; by default 1. Each host is one processor.
    program : bool
        True if linear programs contribute to the bounds.
    """

    execution: GraphExecution
    own: Floats
    bound: float
    own_bound: Floats
    shares: Floats | None = None
    cores: NDArray[np.int64] | None = None
    program: bool = True

    @property
    def schedule(self) -> Schedule:
        """The executed schedule."""
        return self.execution.schedule

    @cached_property
    def slowdown(self) -> Floats:
        """Own makespan over that among the others; shape (n_graphs,)."""
        return slowdown(self.own, self.schedule.makespans)

    @property
    def best(self) -> Best:
        """The bound of the makespan."""
        return Best("makespan", self.bound, "bound", "min")

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the execution."""
        graphs, schedule = self.schedule.graphs, self.schedule
        estimate = self.execution.estimate
        return (
            Metric("makespan", schedule.makespan, "s"),
            Metric("estimate", estimate if np.isfinite(estimate) else None, "s"),
            Metric("unfairness", unfairness(self.slowdown)),
            Metric("mean_slowdown", average_slowdown(self.slowdown)),
            Metric("worst_slowdown", worst_slowdown(self.slowdown)),
            Metric("efficiency", efficiency(schedule)),
            Metric("area", schedule.area, "s"),
            Metric("graphs", graphs.n_graphs),
            Metric("tasks", graphs.n_tasks),
            Metric("work", float(np.sum(graphs.flop)), "flop"),
            Metric("redistributed", float(np.sum(self.execution.moved)), "byte"),
        )

    def listings(self) -> tuple[ResultTable, ...]:
        """Return tables of the graphs, of the clusters, and of values that files lack."""
        graphs = self.schedule.graphs.graphs
        open_points = left_open((graph.name, graph.left_open) for graph in graphs)
        return self._of_graphs(), self._of_clusters(), *open_points

    def _of_graphs(self) -> ResultTable:
        """Return the table of graphs."""
        graphs, makespans = self.schedule.graphs, self.schedule.makespans
        columns: list[tuple[str, str, list[Cell]]] = [
            ("graph", "", [graph.name for graph in graphs.graphs]),
            ("tasks", "", [graph.n_tasks for graph in graphs.graphs]),
        ]
        if np.any(graphs.release > 0):
            columns.append(("from", "s", graphs.release.tolist()))
        if self.shares is not None:
            columns.append(("beta", "", self.shares.tolist()))
        pairs = zip(self.own.tolist(), self.own_bound.tolist(), strict=True)
        columns += [
            ("bound", "s", self.own_bound.tolist()),
            ("own", "s", self.own.tolist()),
            ("gap", "%", [value / bound - 1 if bound > 0 else None for value, bound in pairs]),
            ("shared", "s", makespans.tolist()),
            ("slowdown", "", self.slowdown.tolist()),
        ]
        return ResultTable.of_columns("Graphs", columns, self._words())

    def _words(self) -> str:
        """Return the meaning of the metrics and columns."""
        words = (
            "own and shared: makespan of the graph with the site for itself, and among the others;"
            " bound: none alone is shorter; gap: of own, above that bound; slowdown: own over"
            " shared. Among the metrics, gap is that of the makespan of all graphs, above its"
            " own bound"
        )
        if not self.program:
            words += "; bounds are of critical paths, work and switches, and higher with"
            words += " bounds = 'program' in the scheduler's parameters, which may take minutes"
        if np.isfinite(self.execution.estimate):
            words += "; estimate: that makespan as it was planned, before anything ran"
        return words

    def _of_clusters(self) -> ResultTable:
        """Return the table of clusters."""
        schedule, site = self.schedule, self.schedule.site
        held = schedule.allocation * (schedule.finish - schedule.start)
        own = [schedule.cluster == number for number in range(len(site.clusters))]
        mean = [float(np.mean(schedule.allocation[each])) if np.any(each) else None for each in own]
        used = [
            float(np.sum(held[each])) / offered if offered > 0 else None
            for each, offered in zip(
                own, (site.processors * schedule.makespan).tolist(), strict=True
            )
        ]
        columns: list[tuple[str, str, Sequence[Cell]]] = [
            ("cluster", "", site.clusters),
            ("processors", "", site.processors.tolist()),
            ("speed", "flop/s", site.speed.tolist()),
            ("tasks", "", [int(np.count_nonzero(each)) for each in own]),
            ("processors a task", "", mean),
            ("in use", "%", used),
        ]
        several = np.flatnonzero(self.cores > 1).tolist() if self.cores is not None else []
        note = ""
        if self.cores is not None and several:
            hosts = ", ".join(f"{site.clusters[each]} ({self.cores[each]})" for each in several)
            note = f"a host is one processor, whose other cores idle; hosts with cores: {hosts}"
        return ResultTable.of_columns("Clusters", columns, note)

    def chart(self, title: str = "") -> ScheduleChart:
        """Return the Gantt chart of the executed schedule, with the bound."""
        return schedule_chart(self.schedule, title, dates={"lower bound": self.bound})

    def graph_charts(self) -> tuple[GraphChart, ...]:
        """Return the drawings of the graphs with their allocations."""
        return graph_charts(self.schedule)
