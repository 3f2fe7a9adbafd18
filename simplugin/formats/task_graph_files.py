"""Task graphs from and to files, in the format that the end of their name says.

A further end, such as ``.gz`` in ``.json.gz``, says that the file is compressed.
"""

from __future__ import annotations

from collections.abc import Callable

from simplugin.core.errors import WorkloadFileError
from simplugin.formats.dax import read_dax, write_dax
from simplugin.formats.dot import read_dot, write_dot
from simplugin.formats.task_graph_structure import DEFAULT_SPEED
from simplugin.formats.wfformat import read_wfformat, write_wfformat
from simplugin.inputs.files import FilePath, unpacked_name
from simplugin.workloads.task_graphs import TaskGraph

Read = Callable[..., TaskGraph]
Write = Callable[..., None]

# DOT has flop, and no runtimes.
_DOT: tuple[Read, Write] = (
    lambda path, speed, **given: read_dot(path, **given),  # noqa: ARG005
    lambda graph, path, speed: write_dot(graph, path),  # noqa: ARG005
)
_DAX: tuple[Read, Write] = (read_dax, write_dax)
_WFFORMAT: tuple[Read, Write] = (read_wfformat, write_wfformat)
# Reader and writer by suffix.
FORMATS = {".dot": _DOT, ".gv": _DOT, ".dax": _DAX, ".xml": _DAX, ".json": _WFFORMAT}


def read_task_graph(
    path: FilePath,
    *,
    name: str | None = None,
    alpha: float | None = None,
    speed: float | None = None,
    lenient: bool = False,
) -> TaskGraph:
    """Read a task graph in the format that the end of the name says, see `FORMATS`.

    Parameters
    ----------
    path : path
        The file.
    name : str, optional
        Of the graph; by default its name in the file, else the name of the file.
    alpha : float, optional
        Sequential part of tasks for which the file does not give it. None means 0 for
        tasks that the file has on several cores, and 1 for all others, which are no faster on
        several processors.
    speed : float, optional
        Of the processors that runtimes are those of [flop/s]; `DEFAULT_SPEED` without. DOT has
        flop, and needs none.
    lenient : bool
        True if negative sizes of files and edges are read as 0, and not refused.

    Returns
    -------
    TaskGraph
        The points that the file leaves open are in `TaskGraph.left_open`. See `read_dot`,
        `read_dax` and `read_wfformat`.

    Raises
    ------
    WorkloadFileError
        The name of the file ends otherwise, or the file cannot be read or says something wrong;
        the message names the place.
    WorkloadError
        `alpha` or `speed` is out of range.
    """
    return _format(path)[0](path, speed=speed, name=name, alpha=alpha, lenient=lenient)


def write_task_graph(graph: TaskGraph, path: FilePath, *, speed: float = DEFAULT_SPEED) -> None:
    """Write a task graph in the format that the end of the name says, see `FORMATS`.

    Parameters
    ----------
    graph : TaskGraph
        What to write.
    path : path
        Where; an existing file is replaced.
    speed : float
        Of the processors that runtimes are those of [flop/s]; DOT has flop, and needs none.

    Raises
    ------
    WorkloadFileError
        The name of the file ends otherwise, the format cannot say a name, or the file cannot be
        written.
    WorkloadError
        `speed` is out of range.
    """
    _format(path)[1](graph, path, speed=speed)


def _format(path: FilePath) -> tuple[Read, Write]:
    """Return the reader and the writer of a file."""
    suffix = unpacked_name(path).suffix
    if suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        message = f"{suffix!r} is the end of no task graph's file"
        raise WorkloadFileError(message, file=path, remedy=f"name it with one of {known}")
    return FORMATS[suffix.lower()]
