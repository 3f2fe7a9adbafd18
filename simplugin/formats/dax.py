"""Task graphs from and to Pegasus' DAX, the XML of its abstract workflows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simplugin.core.errors import WorkloadFileError
from simplugin.formats import xml_text
from simplugin.formats.elements import number_text
from simplugin.formats.task_graph_structure import (
    DEFAULT_SPEED,
    ReadingContext,
    ReadTask,
    read_graph,
    runtimes,
)
from simplugin.inputs import xml_tree
from simplugin.inputs.files import FilePath, read_bytes, uncollected, unpacked_name, write
from simplugin.inputs.locations import LineLocation, SourceLocation, fraction, quantity, shown
from simplugin.inputs.xml_tree import XmlElement
from simplugin.workloads.task_graphs import TaskGraph

_HEADER = '<?xml version="1.0" encoding="UTF-8"?>'
_NAMESPACE = "http://pegasus.isi.edu/schema/DAX"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Attributes of jobs that say something here, or name and describe.
_USED = frozenset(["id", "runtime", "alpha", "byte", "cores", "name", "namespace", "version"])
_OTHER_LINKS = frozenset(["none", "checkpoint"])


@uncollected()
def read_dax(
    path: FilePath,
    *,
    speed: float | None = None,
    name: str | None = None,
    alpha: float | None = None,
    lenient: bool = False,
) -> TaskGraph:
    """Read a task graph from a DAX of Pegasus (version 2 or 3).

    A job is a task that is called like its ``id``. It computes what its ``cores`` (an attribute or
    a profile of Pegasus; 1 without) do in its ``runtime`` at a certain speed. The data that it
    works on are the files that it reads, those that come from outside included; two attributes that
    Pegasus does not know, ``alpha`` and ``byte``, take precedence. There is an edge
    where ``<child>`` and ``<parent>`` say so, perhaps repeatedly, and where a job reads a file that
    another one writes: it carries the files that the parent writes and the child reads, in the size
    that the parent gives them (published files also have others at the child). A parent and a
    child without such a file are joined by an edge of 0 byte. A job that changes a file has it as
    ``inout``; several such jobs are ordered by ``<child>`` and ``<parent>`` only.

    Parameters
    ----------
    path : path
        The file.
    speed, alpha, lenient
        See `read_task_graph`.
    name : str, optional
        Of the graph; by default its name in the file, else the name of the file.

    Returns
    -------
    TaskGraph
        Tasks in the order of the jobs; edges in that of the ``<parent>`` elements, then those by
        files only. `TaskGraph.left_open` lists the points that the file leaves open.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the line.
    WorkloadError
        `speed` or `alpha` is out of range.
    """
    reading = ReadingContext(speed, alpha, lenient)
    data = read_bytes(path, WorkloadFileError)
    root = xml_tree.parse(data, path, WorkloadFileError, "adag")
    if _tag(root) != "adag":
        raise LineLocation(path, root.line).error(
            f"the root element is {shown(root.tag)}", "give a DAX of Pegasus, which is an <adag>"
        )
    for node in root.children:
        if _tag(node) in ("dax", "dag"):
            raise LineLocation(path, node.line).error(
                f"there is a workflow in the workflow, <{_tag(node)}>",
                "put the jobs of the one in its place",
            )
    tasks = [_job(node, path, reading) for node in _children(root, "job")]
    title = root.attributes.get("name", unpacked_name(path).stem) if name is None else name
    relations = [
        (_attribute(parent, "ref", path), target, LineLocation(path, parent.line))
        for child in _children(root, "child")
        for target in [_attribute(child, "ref", path)]
        for parent in _children(child, "parent")
    ]
    return read_graph(title, tasks, relations, LineLocation(path, root.line), reading)


def _tag(node: XmlElement) -> str:
    """Return the name of an element without its namespace."""
    return node.tag.rpartition(":")[2]


def _children(node: XmlElement, tag: str) -> Iterator[XmlElement]:
    """Yield the elements of a name directly in another."""
    return (child for child in node.children if _tag(child) == tag)


def _attribute(node: XmlElement, name: str, path: FilePath) -> str:
    """Return an attribute that has to be there."""
    value = node.attributes.get(name)
    if value is None:
        raise LineLocation(path, node.line).error(
            f"<{_tag(node)}> has no {name!r}", f'write {name}="..."'
        )
    return value


def _job(node: XmlElement, path: FilePath, reading: ReadingContext) -> ReadTask:
    """Return the attributes of a job."""
    task, place = _attribute(node, "id", path), LineLocation(path, node.line)
    what = f"of job {shown(task)}"
    time = quantity(_attribute(node, "runtime", path), f"runtime {what}", place)
    profiles = {
        "/".join(each.attributes.get(key, "") for key in ("namespace", "key")): each.text
        for each in _children(node, "profile")
    }
    said = node.attributes
    if (cores := profiles.pop("pegasus/cores", None)) is not None:
        said = {"cores": cores, **said}
    given = {
        name: quantity(said[name], f"{name} {what}", place)
        for name in ("alpha", "byte", "cores")
        if name in said
    }
    if "alpha" in given:
        fraction(given["alpha"], f"alpha {what}", place)
    if given.get("cores", 1) < 1:
        raise place.error(f"{given['cores']!r} cores run nothing", "give at least 1")
    reading.unused((f"profiles {name}" for name in profiles), "jobs")
    reading.unused((f"attributes {name}" for name in said if name not in _USED), "jobs")
    read: dict[str, tuple[float, SourceLocation]] = {}
    written: dict[str, float] = {}
    for uses in _children(node, "uses"):
        at = LineLocation(path, uses.line)
        file = uses.attributes.get("file", uses.attributes.get("name"))
        if file is None:
            raise at.error("<uses> has no 'file'", 'write file="..." (name="..." in DAX 3)')
        link = _attribute(uses, "link", path).lower()
        if link in _OTHER_LINKS:
            reading.unused([f"files of link {link}"], "jobs")
            continue
        if link not in ("input", "output", "inout"):
            raise at.error(f"link is {shown(link)}", "write input, output or inout")
        if file in read or file in written:
            # The job would wait for itself.
            remedy = 'remove one of them; write link="inout" for a file that the job changes'
            raise at.error(f"job {shown(task)} has file {shown(file)} twice", remedy)
        what_size = f"size of file {shown(file)}"
        size = quantity(_attribute(uses, "size", path), what_size, at, negative=True)
        size = reading.size(size, what_size, at)
        if link != "output":
            read[file] = size, at
        if link != "input":
            written[file] = size
    flop = reading.flop(time, given.get("cores"), f"computation {what}", place)
    alpha, byte = given.get("alpha"), given.get("byte")
    return ReadTask(task, place, flop, alpha, given.get("cores"), byte, read, written)


def write_dax(graph: TaskGraph, path: FilePath, *, speed: float = DEFAULT_SPEED) -> None:
    """Write a task graph as a DAX of version 2.1.

    Each edge of more than 0 byte becomes a file. `read_dax` with the same speed gives the graph
    back: exactly if the speed is a power of two, and otherwise up to a relative 1e-15 of the
    computation (as long as no runtime is below 1e-300 s). ``alpha`` and, where it is not the sum
    of incoming data, ``byte`` are attributes that Pegasus does not know.

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
        A name cannot be said in XML, a runtime is too long, or the file cannot be written.
    WorkloadError
        `speed` is out of range.
    """
    for label in (graph.name, *graph.tasks):
        if _NOT_IN_XML.search(label):
            remedy = "rename it without control characters"
            raise WorkloadFileError(f"XML cannot say {shown(label)}", file=path, remedy=remedy)
    times = runtimes(graph, speed, path)
    jobs = [line for task in range(graph.n_tasks) for line in _job_lines(graph, task, times[task])]
    groups: list[list[str]] = []
    previous = -1
    for source, target in graph.edges.tolist():
        parent = "    " + xml_text.empty("parent", [("ref", graph.tasks[source])])
        if target == previous:
            groups[-1].insert(-1, parent)
        else:
            groups.append(xml_text.block("  ", "child", [("ref", graph.tasks[target])], [parent]))
        previous = target
    content = [*jobs, *(line for group in groups for line in group)]
    attributes = [("xmlns", _NAMESPACE), ("version", "2.1"), ("name", graph.name)]
    attributes += [("jobCount", str(graph.n_tasks)), ("childCount", str(len(groups)))]
    lines = xml_text.block("", "adag", attributes, content)
    write("\n".join([_HEADER, *lines, ""]), path, WorkloadFileError)


def _job_lines(graph: TaskGraph, task: int, time: float) -> list[str]:
    """Return the element of a job."""
    name = graph.tasks[task]
    attributes = [("id", name), ("name", name), ("runtime", number_text(time))]
    attributes.append(("alpha", number_text(graph.alpha[task])))
    content = []
    sizes = {}
    for link, near in (("input", graph.predecessors), ("output", graph.successors)):
        sizes[link] = [float(graph.edge_byte[edge]) for edge in near.edges_of(task).tolist()]
        for edge, size in zip(near.edges_of(task).tolist(), sizes[link], strict=True):
            if size:
                uses = [("file", f"edge-{edge}"), ("link", link), ("size", number_text(size))]
                content.append("    " + xml_text.empty("uses", uses))
    if graph.byte[task] != sum(sizes["input"]):
        attributes.append(("byte", number_text(graph.byte[task])))
    return xml_text.block("  ", "job", attributes, content)
