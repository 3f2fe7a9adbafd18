"""Task graphs from and to WfFormat, the JSON of the WfCommons project."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.formats.json_values import JsonValue, read_json
from simplugin.formats.places import fraction, non_negative, shown
from simplugin.formats.task_graph_runtimes import (
    DEFAULT_SPEED,
    require_alpha,
    require_speed,
    runtimes,
)
from simplugin.formats.task_graph_structure import Structure, structure
from simplugin.formats.text_files import write_text
from simplugin.workloads.task_graphs import TaskGraph

if TYPE_CHECKING:
    import os

# All that 1.6 adds to 1.5 is optional.
_VERSIONS = ("1.5", "1.6")


def read_wfformat(
    path: str | os.PathLike[str],
    *,
    speed: float = DEFAULT_SPEED,
    name: str | None = None,
    alpha: float = 0.0,
) -> TaskGraph:
    """Read a task graph from an instance in WfFormat 1.5 [1]_.

    A task is called like its ``id``. It computes what ``coreCount`` processors (1 if that is not
    given) of a certain speed do in its ``runtimeInSeconds``; what the file says of the hosts on
    which it ran is left aside. The data that it works on are its ``inputFiles``, those that come
    from outside included; two members of a task of the specification that WfFormat does not
    know, ``alpha`` and ``byte``, overrule what is said here. An edge is what ``parents`` and
    ``children`` say alike: it carries the files that the parent writes and the child reads. A
    parent and a child without such a file have an edge of 0 byte.

    Parameters
    ----------
    path : path
        The file.
    speed : float
        Of the processors that the runtimes are those of [flop/s].
    name : str, optional
        Of the graph; by default what the file calls it.
    alpha : float
        The part that is not parallel, for tasks of which the file does not say it.

    Returns
    -------
    TaskGraph
        Tasks in the order of the specification, edges in that of the ``parents`` of each.

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
    require_speed(speed)
    require_alpha(alpha)
    root = read_json(path)
    _require_version(root)
    workflow = root.member("workflow")
    specification = workflow.member("specification")
    tasks = specification.member("tasks").items()
    parts = _structure(tasks, specification)
    flop = _computation(workflow, parts, speed)
    sizes = _sizes(specification)
    read = [_files(task, "inputFiles", sizes) for task in tasks]
    written = [_files(task, "outputFiles", sizes) for task in tasks]
    edge_byte = []
    for source, target in parts.edges.tolist():
        total = sum(size for file, size in read[target].items() if file in written[source])
        what = f"size of the files from task {shown(parts.tasks[source])}"
        edge_byte.append(non_negative(float(total), what, tasks[target]))
    own = [_own(task, files, alpha) for task, files in zip(tasks, read, strict=True)]
    alphas, byte = np.array(own, dtype=np.float64).T
    title = root.member("name").text() if name is None else name
    return TaskGraph(
        title, parts.tasks, np.array(flop), alphas, byte, parts.edges, np.array(edge_byte)
    )


def _require_version(root: JsonValue) -> None:
    """Refuse versions that are laid out differently."""
    version = root.member("schemaVersion")
    if version.text() not in _VERSIONS:
        raise version.error(
            f"this is WfFormat {shown(version.text())}, and 1.5 is what is read",
            "convert the file with wfcommons-migrate-instance.py of wfcommons/WfFormat",
        )


def _structure(tasks: list[JsonValue], specification: JsonValue) -> Structure:
    """Return tasks and edges, on which parents and children have to agree."""
    names = [task.member("id").text() for task in tasks]
    named = [(name, task.member("id")) for name, task in zip(names, tasks, strict=True)]
    edges = [
        (parent.text(), name, parent)
        for name, task in zip(names, tasks, strict=True)
        for parent in task.member("parents").items()
    ]
    parts = structure(named, edges, specification)
    missing = {(source, target): parent for source, target, parent in edges}
    seen = set()
    for name, task in zip(names, tasks, strict=True):
        for child in task.member("children").items():
            pair = name, child.text()
            if pair in seen:
                raise child.error(f"child {shown(pair[1])} is listed twice", "list it once")
            seen.add(pair)
            if missing.pop(pair, None) is None:
                raise child.error(
                    f"{shown(pair[1])} is no task that has {shown(name)} among its parents",
                    "add it there, or remove it here",
                )
    for (source, target), parent in missing.items():
        raise parent.error(
            f"task {shown(source)} does not have {shown(target)} among its children",
            "add it there, or remove it here",
        )
    return parts


def _computation(workflow: JsonValue, parts: Structure, speed: float) -> list[float]:
    """Return the computation of each task of a structure."""
    execution = workflow.get("execution")
    if execution is None:
        raise workflow.error(
            "there is no 'execution', so that no task has a runtime",
            "give an instance of a workflow that has run",
        )
    flop: dict[str, float] = {}
    ran = execution.member("tasks")
    for task in ran.items():
        label = task.member("id")
        name = label.text()
        if name not in parts.index:
            raise label.error(
                f"task {shown(name)} is not in the specification", "describe it there"
            )
        if name in flop:
            raise label.error(f"task {shown(name)} is here twice", "remove one of them")
        cores = task.get("coreCount")
        count = 1.0 if cores is None else cores.number()
        if cores is not None and count < 1:
            raise cores.error(f"{count!r} cores run nothing", "give at least 1")
        time = task.member("runtimeInSeconds")
        flop[name] = non_negative(time.number() * count * speed, "the computation", time)
    for name in parts.tasks:
        if name not in flop:
            raise ran.error(f"task {shown(name)} has no runtime", f"add a task {shown(name)}")
    return [flop[name] for name in parts.tasks]


def _sizes(specification: JsonValue) -> dict[str, float]:
    """Return the size of each file."""
    files = specification.get("files")
    sizes: dict[str, float] = {}
    for file in [] if files is None else files.items():
        label = file.member("id")
        if label.text() in sizes:
            raise label.error(f"file {shown(label.text())} is here twice", "remove one of them")
        sizes[label.text()] = file.member("sizeInBytes").number()
    return sizes


def _files(task: JsonValue, key: str, sizes: dict[str, float]) -> dict[str, float]:
    """Return the sizes of the files that a task reads or writes."""
    files = task.get(key)
    found: dict[str, float] = {}
    for file in [] if files is None else files.items():
        name = file.text()
        if name not in sizes:
            raise file.error(
                f"file {shown(name)} has no size", "add it to workflow.specification.files"
            )
        if name in found:
            raise file.error(f"file {shown(name)} is listed twice", "list it once")
        found[name] = sizes[name]
    return found


def _own(task: JsonValue, read: dict[str, float], alpha: float) -> tuple[float, float]:
    """Return the part of a task that is not parallel, and its data."""
    given = task.get("alpha")
    if given is not None:
        alpha = fraction(given.number(), "this part", given)
    byte = task.get("byte")
    if byte is not None:
        return alpha, byte.number()
    return alpha, non_negative(float(sum(read.values())), "the size of its inputs", task)


def write_wfformat(
    graph: TaskGraph, path: str | os.PathLike[str], *, speed: float = DEFAULT_SPEED
) -> None:
    """Write a task graph as an instance in WfFormat 1.5.

    Each edge of more than 0 byte becomes a file. `read_wfformat` with the same speed gives the
    graph back, its edges by target: exactly if the speed is a power of two, and otherwise up to
    a relative 1e-15 of the computation (as long as no runtime is below 1e-300 s). ``alpha`` and,
    where it is not the sum of what comes in, ``byte`` are members that WfFormat does not know.
    The execution that the format asks for is that on one processor, on 1 January 1970. Its schema
    allows only letters, digits, ``-``, ``_`` and ``.`` in the names of tasks, and whole numbers of
    bytes; others are written as they are.

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
    write_text(json.dumps(instance, indent=2, ensure_ascii=False) + "\n", path)


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
