"""Task graphs from and to DOT, as daggen writes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadFileError
from simplugin.formats.dot_syntax import parse
from simplugin.formats.dot_tokens import quoted
from simplugin.formats.quantities import number_text
from simplugin.formats.task_graph_runtimes import require_alpha
from simplugin.formats.task_graph_structure import structure
from simplugin.inputs.files import read_text, write
from simplugin.inputs.places import fraction, quantity, shown
from simplugin.workloads.task_graphs import TaskGraph

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from simplugin.formats.dot_syntax import DotEdge, DotTask


def read_dot(
    path: str | os.PathLike[str], *, name: str | None = None, alpha: float = 0.0
) -> TaskGraph:
    """Read a task graph in daggen's dialect of DOT.

    A task is a statement ``1 [size="49659735022", alpha="0.19"]``, its size in flop; an edge is
    ``2 -> 4 [size="411041792"]``, its size in byte, 0 if it has none. The data that a task works
    on is its attribute ``byte``, of which daggen knows nothing, or the largest of the edges that
    leave it: daggen gives each of them all of that data. A task needs a statement of its own. An
    edge that is given again with the same size, as daggen does, is one edge.

    Parameters
    ----------
    path : path
        A file with one directed graph.
    name : str, optional
        Of the graph; by default what the file calls it, or how the file is called.
    alpha : float
        The part that is not parallel, for tasks of which the file does not say it.

    Returns
    -------
    TaskGraph
        Tasks and edges in the order of the file.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the line.
    WorkloadError
        `alpha` is out of range.
    """
    require_alpha(alpha)
    found = parse(read_text(path, WorkloadFileError), path, ("size", "alpha", "byte"))
    edges = _folded(found.edges)
    parts = structure(
        [(task.name, task.place) for task in found.tasks],
        [(edge.source, edge.target, edge.place) for edge in edges],
        found.place,
    )
    leaving = [0.0] * len(parts.tasks)
    edge_byte = [_size(edge) for edge in edges]
    for size, source in zip(edge_byte, parts.edges[:, 0].tolist(), strict=True):
        leaving[source] = max(leaving[source], size)
    amounts = [_amounts(task, alpha, most) for task, most in zip(found.tasks, leaving, strict=True)]
    flop, alphas, byte = np.array(amounts, dtype=np.float64).T
    title = name if name is not None else found.name
    title = Path(path).stem if title is None else title
    return TaskGraph(
        title,
        parts.tasks,
        flop,
        alphas,
        byte,
        parts.edges,
        np.array(edge_byte),
        assumed_alpha=None if all("alpha" in task.attributes for task in found.tasks) else alpha,
    )


def _folded(edges: Iterable[DotEdge]) -> list[DotEdge]:
    """Leave out what repeats an edge; what differs from it in size is still there."""
    first: dict[tuple[str, str], DotEdge] = {}
    return [
        edge
        for edge in edges
        if (same := first.setdefault((edge.source, edge.target), edge)) is edge
        or _size(edge) != _size(same)
    ]


def _size(edge: DotEdge) -> float:
    """Return the data of an edge; 0 where nothing is said."""
    size = edge.attributes.get("size")
    what = f"size of edge {shown(edge.source)} -> {shown(edge.target)}"
    return 0.0 if size is None else quantity(size.text, what, size.place)


def _amounts(task: DotTask, alpha: float, leaving: float) -> tuple[float, float, float]:
    """Return the computation, the part that is not parallel, and the data of a task."""
    title = shown(task.name)
    size = task.attributes.get("size")
    if size is None:
        raise task.place.error(f"task {title} has no size", 'give its flop, e.g. [size="1e9"]')
    flop = quantity(size.text, f"size of task {title}", size.place)
    if (given := task.attributes.get("alpha")) is not None:
        what = f"alpha of task {title}"
        alpha = fraction(quantity(given.text, what, given.place), what, given.place)
    if (given := task.attributes.get("byte")) is not None:
        leaving = quantity(given.text, f"byte of task {title}", given.place)
    return flop, alpha, leaving


def write_dot(graph: TaskGraph, path: str | os.PathLike[str]) -> None:
    """Write a task graph in daggen's dialect of DOT; `read_dot` gives an equal one back.

    Parameters
    ----------
    graph : TaskGraph
        What to write.
    path : path
        Where; an existing file is replaced.

    Raises
    ------
    WorkloadFileError
        A name cannot be said in DOT, or the file cannot be written.
    """
    names = [_name(task, path) for task in graph.tasks]
    lines = [f"digraph {_name(graph.name, path)} {{"]
    sizes = [number_text(value) for value in graph.edge_byte]
    leaving = np.zeros(graph.n_tasks)
    np.maximum.at(leaving, graph.edges[:, 0], graph.edge_byte)
    for task, title in enumerate(names):
        line = f'  {title} [size="{number_text(graph.flop[task])}"'
        line += f', alpha="{number_text(graph.alpha[task])}"'
        if graph.byte[task] != leaving[task]:
            line += f', byte="{number_text(graph.byte[task])}"'
        lines.append(line + "]")
    for (source, target), size in zip(graph.edges.tolist(), sizes, strict=True):
        lines.append(f'  {names[source]} -> {names[target]} [size="{size}"]')
    write("\n".join([*lines, "}", ""]), path, WorkloadFileError)


def _name(name: str, path: str | os.PathLike[str]) -> str:
    """Return a name as DOT writes it."""
    text = quoted(name)
    if text is None:
        remedy = "rename it: no zero bytes, no backslash before a quote or at its end"
        raise WorkloadFileError(f"DOT cannot say {shown(name)}", file=path, remedy=remedy)
    return text
