"""Task graphs in files: names, edges, exchanged files and times, checked with their places."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError, WorkloadFileError
from simplugin.core.units import format_speed
from simplugin.inputs.files import FilePath
from simplugin.inputs.locations import SourceLocation, non_negative, shown
from simplugin.results.tables import OpenPoint, OpenPoints
from simplugin.workloads.task_graphs import TaskGraph

NamedTask = tuple[str, SourceLocation]
NamedEdge = tuple[str, str, SourceLocation]

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
    tasks: Sequence[NamedTask], edges: Sequence[NamedEdge], document: SourceLocation
) -> NDArray[np.int64]:
    """Return the edges of a graph, with an error at the place of whatever is wrong with it.

    A cycle is looked for first, since it says more than a task of it that is missing.

    Parameters
    ----------
    tasks : sequence of (str, SourceLocation)
        Name of each task, and its place.
    edges : sequence of (str, str, SourceLocation)
        Names of the source and the target of each edge, and its place.
    document : SourceLocation
        Place of the error if there is no task.

    Returns
    -------
    int64, shape (n_edges, 2)
        Which task hands data to which one, in the order given; no two alike, and no cycle.

    Raises
    ------
    WorkloadFileError
        There is no task, two have one name, an edge leads from or to an unknown task, is a
        duplicate, or closes a cycle.
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


@dataclass(eq=False)
class ReadingContext(OpenPoints):
    """Arguments of a reader, and a count of all that its file leaves open.

    Attributes
    ----------
    speed : float, optional
        Of the processors that runtimes are those of [flop/s]; `DEFAULT_SPEED` is assumed without.
    alpha : float, optional
        Sequential part of tasks for which the file does not give it; None means 1 for
        tasks of one core, and 0 for those of several.
    lenient : bool
        True if sizes below 0 are read as 0.
    """

    speed: float | None = None
    alpha: float | None = None
    lenient: bool = False
    _negative: list[tuple[SourceLocation, str]] = field(default_factory=list)

    def unused(self, names: Iterable[str], of: str) -> None:
        """Add the values of the file without effect."""
        for name, count in sorted(Counter(names).items()):
            self.note(f"{name} of {of}", "not used", count)

    def distinct(self, edges: Iterable[NamedEdge]) -> list[NamedEdge]:
        """Return edges without those that are given again."""
        every = list(edges)
        first = {edge[:2]: edge for edge in reversed(every)}
        self.note("repeated edges", "one edge", len(every) - len(first))
        return [edge for edge in every if first[edge[:2]] is edge]

    def size(self, value: float, what: str, place: SourceLocation) -> float:
        """Return a size; that of one below 0, which `finish` may refuse, is 0."""
        if value < 0:
            self._negative.append((place, f"{what} is {value!r}"))
            self.note("negative sizes", "0 byte")
        return max(value, 0.0)

    def flop(self, seconds: float, cores: float | None, what: str, place: SourceLocation) -> float:
        """Return the flop of a task on a number of cores, 1 if it is not given."""
        speed = require_speed(DEFAULT_SPEED if self.speed is None else self.speed)
        if self.speed is None:
            self.note("runtimes on processors of unknown speed", f"of {format_speed(speed)}")
        if cores is None:
            self.note("tasks without cores", "on 1 core")
        return non_negative(seconds * (cores or 1) * speed, what, place)

    def part(self, given: float | None, cores: float | None = None) -> float:
        """Return the part of a task that is not parallel."""
        found = self.alpha if given is None else given
        if found is not None:
            return found
        if cores is not None and cores > 1:
            self.note("tasks of several cores without alpha", "alpha 0: wholly parallel")
            return 0.0
        self.note("tasks without alpha", "alpha 1: no faster on several processors")
        return 1.0

    def finish(self) -> tuple[OpenPoint, ...]:
        """Return the points that the file leaves open; refuse sizes below 0 unless they may be."""
        if self._negative and not self.lenient:
            place, message = self._negative[0]
            more = len(self._negative) - 1
            message += f" (and {more} more below 0)" if more else ""
            raise place.error(
                message, "give sizes >= 0, or read negative ones as 0: lenient = true"
            )
        return self.points()


@dataclass(frozen=True, slots=True, eq=False)
class ReadTask:
    """A task as a file describes it that has runtimes, and files on the edges.

    Attributes
    ----------
    name : str
        Of the task.
    place : SourceLocation
        Where it is described.
    flop : float
        Computation [flop].
    alpha, cores : float, optional
        The part that is not parallel, and the number of cores, where the file says them.
    byte : float, optional
        Data that it works on; of all files that it reads without [byte].
    read : dict of str to (float, SourceLocation)
        By name of the file: its size where no task writes it [byte], and its place.
    written : dict of str to float
        By name of the file: its size [byte].
    """

    name: str
    place: SourceLocation
    flop: float
    alpha: float | None
    cores: float | None
    byte: float | None
    read: dict[str, tuple[float, SourceLocation]]
    written: dict[str, float]


def read_graph(
    name: str,
    tasks: Sequence[ReadTask],
    relations: Iterable[NamedEdge],
    document: SourceLocation,
    reading: ReadingContext,
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
    relations : iterable of (str, str, SourceLocation)
        Names of the source and the target of each edge, and its place.
    document : SourceLocation
        Place of the error if there is no task.
    reading : ReadingContext
        Receives the points that the file leaves open.

    Raises
    ------
    WorkloadFileError
        As `structure` and `ReadingContext.finish`, or the files of an edge or of a task are too
        large.
    """
    writers = defaultdict(list)
    for task in tasks:
        for file in task.written:
            writers[file].append(task)
    made = Counter(file for task in tasks for file in task.written.keys() - task.read.keys())
    several = sum(number > 1 for number in made.values())
    reading.note("files that several tasks write", "read after each of them", several)
    given = reading.distinct(relations)
    places = {(source, target): place for source, target, place in given}
    related = set(places)
    for target in tasks:
        for file, (size, place) in target.read.items():
            sources = [task for task in writers[file] if task is not target]
            if not sources:
                reading.note("inputs that no task writes", "at hand, in no time", byte=size)
            elif any(task.written[file] != size for task in sources):
                reading.note("files of two sizes", "that where they are written on edges")
            changed = [task for task in sources if file in task.read]
            if any((task.name, target.name) in related for task in changed):
                continue
            for source in sources:
                if not (file in target.written and source in changed):
                    places.setdefault((source.name, target.name), place)
    extra = [(*pair, place) for pair, place in places.items() if pair not in related]
    edges = structure([(task.name, task.place) for task in tasks], [*given, *extra], document)
    edge_byte = []
    for (one, other), place in zip(edges.tolist(), places.values(), strict=True):
        files = tasks[one].written.items()
        total = float(sum(size for file, size in files if file in tasks[other].read))
        edge_byte.append(non_negative(total, "size of the files of an edge", place))
    reading.note("edges by files alone", "added", len(extra), sum(edge_byte[len(given) :]))
    byte = []
    for task in tasks:
        total = float(sum(size for size, _ in task.read.values()))
        what = f"size of the files that task {shown(task.name)} reads"
        byte.append(non_negative(total, what, task.place) if task.byte is None else task.byte)
    return TaskGraph(
        name,
        tuple(task.name for task in tasks),
        np.array([task.flop for task in tasks]),
        np.array([reading.part(task.alpha, task.cores) for task in tasks]),
        np.array(byte),
        edges,
        np.array(edge_byte),
        reading.finish(),
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
