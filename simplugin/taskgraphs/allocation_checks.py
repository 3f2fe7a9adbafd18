"""Allocations that do not fit what they are for are refused before anyone takes them over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.allocation import Allocation
    from simplugin.workloads.graph_sets import GraphSet
    from simplugin.workloads.task_graphs import TaskGraph


def check_allocations(graphs: GraphSet, allocations: Sequence[Allocation], site: Site) -> None:
    """Refuse allocations that do not fit.

    Raises
    ------
    WorkloadError
        There is not one for each graph, or one does not fit its graph or the site; the message
        names the graph.
    """
    if len(allocations) != graphs.n_graphs:
        raise WorkloadError(
            f"there are {len(allocations)} allocations for {graphs.n_graphs} graphs; give one for"
            " each graph"
        )
    for graph, allocation in zip(graphs.graphs, allocations, strict=True):
        check_allocation(graph, allocation, site)


def check_allocation(graph: TaskGraph, allocation: Allocation, site: Site) -> None:
    """Refuse an allocation that does not fit its graph or the site.

    Raises
    ------
    WorkloadError
        It does not fit; the message names the graph.
    """
    shape = (site.n_clusters, graph.n_tasks)
    processors, time = allocation.processors, allocation.time
    if processors.shape != shape or time.shape != (graph.n_tasks,):
        raise WorkloadError(
            f"the allocation of graph {graph.name!r} has shape {processors.shape}, and times of"
            f" shape {time.shape}; give {shape} and {(graph.n_tasks,)}"
        )
    if processors.dtype.kind not in "iu":
        raise WorkloadError(
            f"the allocation of graph {graph.name!r} counts processors in {processors.dtype};"
            " give whole numbers"
        )
    if not np.all(np.isfinite(time) & (time >= 0)):
        task = int(np.argmin(np.isfinite(time) & (time >= 0)))
        raise WorkloadError(
            f"the allocation of graph {graph.name!r} says that task {graph.tasks[task]!r} takes"
            f" {float(time[task])!r} s; give a time from 0 on"
        )
    if np.any((processors < 1) | (processors > site.processors[:, np.newaxis])):
        raise WorkloadError(
            f"the allocation of graph {graph.name!r} has a task on no processor of a cluster of"
            f" site {site.name!r}, or on more than it has; give at least 1 and at most"
            f" {site.processors.tolist()}"
        )
