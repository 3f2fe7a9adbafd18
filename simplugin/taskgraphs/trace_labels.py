"""What tasks and redistributions are called in the trace of an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simplugin.workloads.graph_sets import GraphSet


def task_label(graphs: GraphSet, task: int) -> str:
    """Return ``graph:task`` of a task by its number in the set."""
    return graphs.name_of(task)


def edge_label(graphs: GraphSet, edge: int) -> str:
    """Return ``graph:task->task`` of an edge by its number in the set."""
    source, target = graphs.edges[edge].tolist()
    graph = graphs.graphs[graphs.graph_of[source]]
    first = int(graphs.first[graphs.graph_of[source]])
    return f"{graph.name}:{graph.tasks[source - first]}->{graph.tasks[target - first]}"
