"""Task graphs in files: names, edges, exchanged files and times, checked with their places."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import WorkloadError, WorkloadFileError
from simplugin.inputs.files import FilePath
from simplugin.inputs.places import Place, non_negative, shown
from simplugin.workloads.task_graphs import TaskGraph

NamedTask = tuple[str, Place]
NamedEdge = tuple[str, str, Place]

DEFAULT_SPEED = 1e9


def require_speed(speed: float) -> float:
    """Return the speed of the processor of reference, if it can be one.

    Parameters
    ----------
    speed : float
        Of one processor [flop/s].

    Raises
    ------
    WorkloadError
        It is not above 0, or not finite.
    """
    if not (math.isfinite(speed) and speed > 0):
        raise WorkloadError(f"the reference speed is {speed!r}; give flop/s > 0, e.g. 1e9")
    return speed


def runtimes(graph: TaskGraph, speed: float, path: FilePath) -> list[float]:
    """Return the time of each task on one processor.

    Parameters
    ----------
    graph : TaskGraph
        With n_tasks tasks.
    speed : float
        Of the processor [flop/s].
    path : path
        The file to write, named in errors.

    Returns
    -------
    list of float, length n_tasks
        Time [s].

    Raises
    ------
    WorkloadError
        The speed is not above 0.
    WorkloadFileError
        A time is too long to be a number.
    """
    require_speed(speed)
    times = [flop / speed for flop in graph.flop.tolist()]
    for task, time in zip(graph.tasks, times, strict=True):
        if not math.isfinite(time):
            raise WorkloadFileError(
                f"task {shown(task)} takes {time!r} s at {speed!r} flop/s",
                file=path,
                remedy="give a higher speed",
            )
    return times


_MOST_SHOWN = 20


def structure(
    tasks: Sequence[NamedTask], edges: Sequence[NamedEdge], document: Place
) -> NDArray[np.int64]:
    """Return the edges of a graph, with an error at the place of whatever is wrong with it.

    A cycle is looked for first, since it says more than a task of it that is missing.

    Parameters
    ----------
    tasks : sequence of (str, Place)
        Name of each task, and its place.
    edges : sequence of (str, str, Place)
        Names of the source and the target of each edge, and its place.
    document : Place
        Place of the error if there is no task.

    Returns
    -------
    int64, shape (n_edges, 2)
        Which task hands data to which one, in the order given; no two alike, and no cycle.

    Raises
    ------
    WorkloadFileError
        There is no task, two have one name, an edge leads from or to none, is given twice, or
        closes a cycle.
    """
    if not tasks:
        raise document.error("there is no task", "describe at least one")
    index: dict[str, int] = {}
    for name, place in tasks:
        if name in index:
            raise place.error(f"task {shown(name)} is described twice", "name the two apart")
        index[name] = len(index)
    _refuse_cycle(edges)
    numbers: dict[tuple[int, int], None] = {}
    for source, target, place in edges:
        for end in (source, target):
            if end not in index:
                raise place.error(
                    f"edge {_arrow(source, target)} has an end that is not described",
                    f"describe task {shown(end)}, or remove the edge",
                )
        pair = index[source], index[target]
        if pair in numbers:
            raise place.error(
                f"edge {_arrow(source, target)} is given twice", "add the bytes up in one"
            )
        numbers[pair] = None
    return np.array(list(numbers), np.int64).reshape(-1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class ReadTask:
    """A task as a file describes it that has runtimes, and files on the edges.

    Attributes
    ----------
    name : str
        Of the task.
    place : Place
        Where it is described.
    flop : float
        Computation [flop].
    alpha : float, optional
        The part that is not parallel, where the file says it.
    byte : float, optional
        Data that it works on; of all files that it reads without [byte].
    read : dict of str to (float, Place)
        By name of the file: its size where no task writes it [byte], and its place.
    written : dict of str to float
        By name of the file: its size [byte].
    """

    name: str
    place: Place
    flop: float
    alpha: float | None
    byte: float | None
    read: dict[str, tuple[float, Place]]
    written: dict[str, float]


def read_graph(
    name: str,
    tasks: Sequence[ReadTask],
    relations: Sequence[NamedEdge],
    document: Place,
    alpha: float,
) -> TaskGraph:
    """Return the graph of tasks that are ordered by relations and by the files they exchange.

    A task that reads a file follows each task that writes it, whether a relation says so or not.
    A task that reads and writes the same file changes it: such tasks are ordered among each other
    by relations only, and a task after one of them by a relation has the file from there.

    Parameters
    ----------
    name : str
        Of the graph.
    tasks : sequence of ReadTask
        In the order of the file.
    relations : sequence of (str, str, Place)
        Names of the source and the target of each edge, and its place.
    document : Place
        Place of the error if there is no task.
    alpha : float
        The part that is not parallel, for tasks of which the file does not say it.

    Raises
    ------
    WorkloadFileError
        As `structure`, or the files of an edge or of a task are too large.
    """
    writers = defaultdict(list)
    for task in tasks:
        for file in task.written:
            writers[file].append(task)
    places = {(source, target): place for source, target, place in relations}
    related = set(places)
    outside = 0.0
    for target in tasks:
        for file, (size, place) in target.read.items():
            sources = [task for task in writers[file] if task is not target]
            outside += 0.0 if sources else size
            changed = [task for task in sources if file in task.read]
            if any((task.name, target.name) in related for task in changed):
                continue
            for source in sources:
                if not (file in target.written and source in changed):
                    places.setdefault((source.name, target.name), place)
    extra = [(*pair, place) for pair, place in places.items() if pair not in related]
    edges = structure([(task.name, task.place) for task in tasks], [*relations, *extra], document)
    edge_byte = []
    for (one, other), place in zip(edges.tolist(), places.values(), strict=True):
        files = tasks[one].written.items()
        total = float(sum(size for file, size in files if file in tasks[other].read))
        edge_byte.append(non_negative(total, "size of the files of an edge", place))
    byte = []
    for task in tasks:
        total = float(sum(size for size, _ in task.read.values()))
        what = f"size of the files that task {shown(task.name)} reads"
        byte.append(non_negative(total, what, task.place) if task.byte is None else task.byte)
    return TaskGraph(
        name,
        tuple(task.name for task in tasks),
        np.array([task.flop for task in tasks]),
        np.array([alpha if task.alpha is None else task.alpha for task in tasks]),
        np.array(byte),
        edges,
        np.array(edge_byte),
        assumed_alpha=alpha if any(task.alpha is None for task in tasks) else None,
        outside_byte=non_negative(
            outside, "size of the inputs from outside the workflow", document
        ),
    )


def _arrow(*names: str) -> str:
    """Return tasks as the stations of a path."""
    return " -> ".join(map(shown, names))


def _refuse_cycle(edges: Sequence[NamedEdge]) -> None:
    """Refuse edges that go round, at the last line of the cycle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    numbers = {}
    for number, (source, target, _) in enumerate(edges):
        sorter.add(target, source)
        numbers[source, target] = number
    try:
        sorter.prepare()
    except CycleError as error:
        circle = [numbers[pair] for pair in pairwise(error.args[1])]
    else:
        return
    first = circle.index(min(circle))
    names = [edges[edge][0] for edge in circle[first:] + circle[:first]]
    left_out = len(names) - _MOST_SHOWN
    path = _arrow(*names[:_MOST_SHOWN], *([] if left_out > 0 else names[:1]))
    more = f" -> {left_out} more -> {shown(names[0])}" if left_out > 0 else ""
    place = edges[max(circle)][2]
    raise place.error(f"the tasks wait for each other in a cycle: {path}{more}", "remove this edge")
