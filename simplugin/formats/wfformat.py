"""Task graphs from and to WfFormat, the JSON of the WfCommons project."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from simplugin.core.errors import WorkloadFileError
from simplugin.formats.task_graph_structure import (
    DEFAULT_SPEED,
    NamedEdge,
    ReadingContext,
    ReadTask,
    read_graph,
    runtimes,
    structure,
)
from simplugin.inputs.documents import JsonValue, read_json
from simplugin.inputs.files import FilePath, uncollected, write
from simplugin.inputs.locations import SourceLocation, fraction, shown
from simplugin.workloads.task_graphs import TaskGraph

_FLAT = ("1.0", "1.1", "1.2", "1.3", "1.4")
Files = dict[str, tuple[float, SourceLocation]]
_Described = tuple[list[ReadTask], Sequence[NamedEdge], SourceLocation]
# Members of tasks that say something here, or name and describe.
_NAMING = ["name", "id", "type", "category", "program", "command", "arguments", "executedAt"]
_FILES = ["parents", "children", "files", "inputFiles", "outputFiles", "byte"]
_TIMES = ["runtime", "runtimeInSeconds", "cores", "coreCount", "alpha"]
_USED = frozenset([*_NAMING, *_FILES, *_TIMES])
# All that 1.6 adds to 1.5 is optional.
_VERSIONS = ("1.5", "1.6")


@uncollected()
def read_wfformat(
    path: FilePath,
    *,
    speed: float | None = None,
    name: str | None = None,
    alpha: float | None = None,
    lenient: bool = False,
) -> TaskGraph:
    """Read a task graph from an instance in WfFormat 1.0 to 1.6 [1]_.

    A task is called like its ``id``, before version 1.5 like its ``name``. It computes what
    ``coreCount`` (``cores``) processors, 1 if that is not given, of a certain speed do in its
    runtime; the file's description of the hosts of that run is ignored. The data that it works
    on are the files that it reads, those that come from outside included; two members of a task
    that WfFormat does not know, ``alpha`` and ``byte``, take precedence. There is an
    edge where ``parents`` or ``children`` say so, and where a task reads a file that another one
    writes: it carries the files that the parent writes and the child reads. A parent and a child
    without such a file are joined by an edge of 0 byte. Tasks that both read and write the same
    file are ordered by ``parents`` and ``children`` only.

    Parameters
    ----------
    path : path
        The file.
    speed, alpha, lenient
        See `read_task_graph`.
    name : str, optional
        Of the graph; by default its name in the file.

    Returns
    -------
    TaskGraph
        Tasks in the order of the document; edges in that of the ``parents`` of each, then those by
        files only. `TaskGraph.left_open` lists the points that the file leaves open.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the path in the
        document, such as ``workflow.specification.tasks[3].id``, and the line.
    WorkloadError
        `speed` or `alpha` is out of range.

    References
    ----------
    .. [1] WfCommons. WfFormat: the WfCommons JSON schema.
       https://github.com/wfcommons/WfFormat
    """
    reading = ReadingContext(speed, alpha, lenient)
    document = read_json(path, WorkloadFileError)
    root = JsonValue(document, (), document.content)
    version = root.member("schemaVersion")
    if version.text() not in _FLAT + _VERSIONS:
        raise version.error(
            f"this is WfFormat {shown(version.text())}, and 1.0 to 1.6 are what is read",
            "convert the file with wfcommons-migrate-instance.py of wfcommons/WfFormat",
        )
    workflow = root.member("workflow")
    read = _flat if version.text() in _FLAT else _specified
    tasks, relations, described = read(workflow, reading)
    machines = (workflow.get("execution") or workflow).listed("machines")
    reading.unused(["machines"] * len(machines), "the execution")
    title = root.member("name").text() if name is None else name
    return read_graph(title, tasks, relations, described, reading)


def _flat(workflow: JsonValue, reading: ReadingContext) -> _Described:
    """Return what versions 1.0 to 1.4 say: one list of tasks with runtimes and files in them."""
    document = workflow.either("tasks", "jobs")
    tasks = {task.member("name").text(): task for task in document.items()}
    # Tasks refer to each other by name or by id, and one end of an edge may say so alone.
    known = {name: name for name in tasks}
    for name, task in tasks.items():
        if (label := task.get("id")) is not None:
            known.setdefault(label.text(), name)
    found = []
    for task in document.items():
        read: Files = {}
        written: dict[str, float] = {}
        for file in task.listed("files"):
            folder, size = file.get("path"), file.either("sizeInBytes", "size")
            called = ("" if folder is None else folder.text()) + file.member("name").text()
            byte = reading.size(size.number(negative=True), "this size", size)
            if file.member("link").text().lower() == "input":
                read[called] = byte, file
            else:
                written[called] = byte
        ran = task.either("runtimeInSeconds", "runtime"), task.get("cores")
        found.append(_read_task(task, "name", *ran, reading, read, written))
    return found, _relations(tasks, known, reading), document


def _relations(
    tasks: dict[str, JsonValue], known: dict[str, str], reading: ReadingContext
) -> list[NamedEdge]:
    """Return the edges of tasks that one or both of their ends list, those of parents first."""
    parents: dict[tuple[str, str], JsonValue] = {}
    children: dict[tuple[str, str], JsonValue] = {}
    for key, pairs in (("parents", parents), ("children", children)):
        for name, task in tasks.items():
            for place in task.listed(key):
                other = known.get(place.text(), place.text())
                pair = (other, name) if pairs is parents else (name, other)
                reading.note("repeated edges", "one edge", pair in pairs)
                pairs.setdefault(pair, place)
    if parents and children:
        alone = parents.keys() ^ children.keys()
        reading.note("edges that one of their ends lists", "added", len(alone))
    return [(*pair, place) for pair, place in (parents | children | parents).items()]


def _specified(workflow: JsonValue, reading: ReadingContext) -> _Described:
    """Return the parts of versions from 1.5 on: a specification and an execution."""
    specification = workflow.member("specification")
    items = specification.member("tasks").items()
    labels = [task.member("id") for task in items]
    tasks = {label.text(): task for label, task in zip(labels, items, strict=True)}
    relations = _relations(tasks, {}, reading)
    # Before the checks of the structure, whose errors say less.
    structure([(each.text(), each) for each in labels], relations, specification)
    sizes: dict[str, float] = {}
    for file in specification.listed("files"):
        label = file.member("id")
        if label.text() in sizes:
            raise label.error(f"file {shown(label.text())} is here twice", "remove one of them")
        size = file.member("sizeInBytes")
        sizes[label.text()] = reading.size(size.number(negative=True), "this size", size)
    executed = _executed(workflow, tasks)
    found = []
    for task, ran in zip(items, executed, strict=True):
        times = ran.member("runtimeInSeconds"), ran.get("coreCount")
        written = {name: size for name, (size, _) in _files(task, "outputFiles", sizes).items()}
        read = _files(task, "inputFiles", sizes)
        found.append(_read_task(task, "id", *times, reading, read, written))
        reading.unused(ran.content.keys() - _USED, "tasks")
    return found, relations, specification


def _read_task(
    task: JsonValue,
    label: str,
    time: JsonValue,
    cores: JsonValue | None,
    reading: ReadingContext,
    read: Files,
    written: dict[str, float],
) -> ReadTask:
    """Return a task that took a time on some cores, 1 if these are not given."""
    count = None if cores is None else cores.number()
    if cores is not None and count is not None and count < 1:
        raise cores.error(f"{count!r} cores run nothing", "give at least 1")
    reading.unused(task.content.keys() - _USED, "tasks")
    alpha, byte = task.get("alpha"), task.get("byte")
    return ReadTask(
        task.member(label).text(),
        task.member(label),
        reading.flop(time.number(), count, "the computation", time),
        None if alpha is None else fraction(alpha.number(), "this part", alpha),
        count,
        None if byte is None else byte.number(),
        read,
        written,
    )


def _executed(workflow: JsonValue, names: Collection[str]) -> list[JsonValue]:
    """Return the execution of each task."""
    execution = workflow.get("execution")
    if execution is None:
        raise workflow.error(
            "there is no 'execution', so that no task has a runtime",
            "give an instance of a workflow that has run",
        )
    found: dict[str, JsonValue] = {}
    ran = execution.member("tasks")
    for task in ran.items():
        label = task.member("id")
        name = shown(label.text())
        if label.text() not in names:
            raise label.error(f"task {name} is not in the specification", "describe it there")
        if label.text() in found:
            raise label.error(f"task {name} is here twice", "remove one of them")
        found[label.text()] = task
    for each in names:
        if each not in found:
            raise ran.error(f"task {shown(each)} has no runtime", f"add a task {shown(each)}")
    return [found[each] for each in names]


def _files(task: JsonValue, key: str, sizes: dict[str, float]) -> Files:
    """Return the sizes of the files that a task reads or writes, and where they are listed."""
    found: Files = {}
    for file in task.listed(key):
        name = file.text()
        if name not in sizes:
            remedy = "add it to workflow.specification.files"
            raise file.error(f"file {shown(name)} has no size", remedy)
        if name in found:
            raise file.error(f"file {shown(name)} is listed twice", "list it once")
        found[name] = sizes[name], file
    return found


def write_wfformat(graph: TaskGraph, path: FilePath, *, speed: float = DEFAULT_SPEED) -> None:
    """Write a task graph as an instance in WfFormat 1.5.

    Each edge of more than 0 byte becomes a file. `read_wfformat` with the same speed gives the
    graph back, its edges by target: exactly if the speed is a power of two, and otherwise up to
    a relative 1e-15 of the computation (as long as no runtime is below 1e-300 s). ``alpha`` and,
    where it is not the sum of incoming data, ``byte`` are members that WfFormat does not know.
    The execution that the format requires is that on one processor, on 1 January 1970. Its schema
    allows only letters, digits, ``-``, ``_`` and ``.`` in the names of tasks, and whole numbers of
    bytes; others are written unchanged.

    Parameters
    ----------
    graph : TaskGraph
        What to write.
    path : path
        Where; an existing file is replaced.
    speed : float
        Of the processor that the runtimes are those of [flop/s].

    Raises
    ------
    WorkloadFileError
        A runtime is too long, or the file cannot be written.
    WorkloadError
        `speed` is out of range.
    """
    times = runtimes(graph, speed, path)
    files = [
        {"id": f"edge-{edge}", "sizeInBytes": _whole(size)}
        for edge, size in enumerate(graph.edge_byte.tolist())
        if size
    ]
    ran = [
        {"id": task, "runtimeInSeconds": time, "coreCount": 1}
        for task, time in zip(graph.tasks, times, strict=True)
    ]
    execution = {
        "makespanInSeconds": sum(times),
        "executedAt": "1970-01-01T00:00:00+00:00",
        "tasks": ran,
    }
    described = [_task(graph, task) for task in range(graph.n_tasks)]
    specification = {"tasks": described, "files": files}
    instance = {
        "name": graph.name,
        "schemaVersion": _VERSIONS[0],
        "workflow": {"specification": specification, "execution": execution},
    }
    write(json.dumps(instance, indent=2, ensure_ascii=False) + "\n", path, WorkloadFileError)


def _task(graph: TaskGraph, task: int) -> dict[str, Any]:
    """Return the description of a task."""
    name = graph.tasks[task]
    described: dict[str, Any] = {"name": name, "id": name}
    came = 0.0
    for relation, key, near in (
        ("parents", "inputFiles", graph.predecessors),
        ("children", "outputFiles", graph.successors),
    ):
        edges = near.edges_of(task).tolist()
        described[relation] = [graph.tasks[other] for other in near.of(task).tolist()]
        described[key] = [f"edge-{edge}" for edge in edges if graph.edge_byte[edge]]
        if relation == "parents":
            came = sum(float(graph.edge_byte[edge]) for edge in edges)
    described["alpha"] = float(graph.alpha[task])
    if graph.byte[task] != came:
        described["byte"] = _whole(float(graph.byte[task]))
    return described


def _whole(value: float) -> int | float:
    """Return a number without a decimal point where it needs none."""
    return int(value) if value.is_integer() else value
