"""Task graphs from and to DOT, as daggen writes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from simplugin.core.errors import WorkloadFileError
from simplugin.formats.elements import number_text
from simplugin.formats.task_graph_structure import NamedEdge, ReadingContext, structure
from simplugin.inputs.files import FilePath, read_text, uncollected, unpacked_name, write
from simplugin.inputs.locations import LineLocation, SourceLocation, fraction, quantity, shown
from simplugin.workloads.task_graphs import TaskGraph

KEYWORDS = frozenset(["strict", "graph", "digraph", "node", "edge", "subgraph"])

_TOKEN = re.compile(
    r"""\s*+(?:
      (?P<comment>//[^\n]*+|/\*.*?\*/|\#[^\n]*+)
    | (?P<quoted>"(?:[^"\\]|\\.)*+")
    | (?P<mark>->|--|[{}\[\];,=:+])
    | (?P<number>-?(?:\.\d++|\d++(?:\.\d*+)?)(?:[eE][-+]?\d++)?(?![^\W\d]))
    | (?P<word>[^\W\d]\w*+)
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)?", re.ASCII)
_OPENED = {'"': "this quote", "/*": "this comment"}


class _Place(NamedTuple):
    """A place in a text, whose line is computed for an error message only; see `SourceLocation`."""

    file: FilePath
    text: str
    at: int

    def error(self, message: str, remedy: str) -> WorkloadFileError:
        """Return an error at its line."""
        return LineLocation(self.file, self.text.count("\n", 0, self.at) + 1).error(message, remedy)


class Token(NamedTuple):
    """A word, a mark, or the end of a text.

    Attributes
    ----------
    kind : str
        ``'name'``, ``'keyword'``, ``'mark'`` or ``'end'``.
    text : str
        Its text: without quotes for a name, in lower case for a keyword.
    at : int
        Where it begins.
    source : tuple of (path, str)
        The file, and all of its text.
    """

    kind: str
    text: str
    at: int
    source: tuple[FilePath, str]

    @property
    def place(self) -> _Place:
        """Its place."""
        return _Place(*self.source, self.at)


def _tokens(text: str, file: FilePath) -> Iterator[Token]:
    """Yield the tokens of a text; the last one is of kind ``'end'``."""
    source = (file, text)
    at, scan = 0, _TOKEN.scanner(text).match  # type: ignore[attr-defined] # it has no stub
    while match := scan():
        kind = match.lastgroup
        found, at = match[kind], match.start(kind)
        if kind == "comment":
            # A line of a preprocessor, and nothing else, begins with #.
            if found[0] == "#" and text[text.rfind("\n", 0, at) + 1 : at].strip():
                break
        elif kind == "quoted":
            yield Token("name", unquoted(found), at, source)
        elif kind == "word" and found.lower() in KEYWORDS:
            yield Token("keyword", found.lower(), at, source)
        else:
            name = kind if kind in ("mark", "end") else "name"
            yield Token(name, found, at, source)
        at = match.end()
    if at < len(text):
        at += len(text[at:]) - len(text[at:].lstrip())
        raise _unreadable(text, at, _Place(file, text, at))


def _unreadable(text: str, at: int, place: _Place) -> Exception:
    """Return an error for what no token begins with."""
    for opening, name in _OPENED.items():
        if text.startswith(opening, at):
            return place.error(f"{name} has no end", f"close it: {shown(text[at : at + 30])}")
    if text[at] == "<":
        return place.error("there is a label in HTML", "put the text between double quotes")
    word = re.split(r"[\s\[\];,={}]", text[at : at + 30], maxsplit=1)[0] or text[at]
    return place.error(f"{shown(word)} is no DOT", "put names and values between double quotes")


def unquoted(text: str) -> str:
    r"""Return a name without quotes; within them only ``\"`` and the end of a line are escaped."""
    if text[0] != '"':
        return text
    # An escape stands for itself, but for two.
    stands_for = {'\\"': '"', "\\\n": ""}
    return _ESCAPE.sub(lambda match: stands_for.get(match[0], match[0]), text[1:-1])


def quoted(name: str) -> str | None:
    """Return a name as DOT writes it, between quotes if need be; None if DOT cannot say it."""
    if _BARE.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    text = '"' + name.replace('"', '\\"') + '"'
    match = _TOKEN.fullmatch(text)
    sayable = match is not None and match.lastgroup == "quoted" and unquoted(text) == name
    return text if sayable and "\0" not in name else None


Attributes = dict[str, Token]


class DotTask(NamedTuple):
    """A statement of a task.

    Attributes
    ----------
    name : str
        Of the task.
    place : SourceLocation
        Place of its name.
    attributes : dict of str to Token
        Values of the attributes that are known.
    """

    name: str
    place: SourceLocation
    attributes: Attributes


class DotEdge(NamedTuple):
    """An edge of a statement.

    Attributes
    ----------
    source, target : str
        Names of the tasks at its ends.
    place : SourceLocation
        Place of its arrow.
    attributes : dict of str to Token
        Values of the attributes that are known.
    """

    source: str
    target: str
    place: SourceLocation
    attributes: Attributes


class _Parser:
    """Reads token by token; attributes that are not known are passed over.

    Defaults of ``node [...]`` and ``edge [...]`` are in the statements that follow them.
    """

    def __init__(self, text: str, file: FilePath, known: Collection[str]) -> None:
        self._known = known
        self.unused: list[str] = []
        self.name: str | None = None
        self._defaults: dict[str, Attributes] = {"node": {}, "edge": {}, "graph": {}}
        self.tasks: list[DotTask] = []
        self.edges: list[DotEdge] = []
        self._next = _tokens(text, file).__next__
        self._token = self._next()
        self.place = self._token.place
        if self._is("keyword", "strict"):
            self._take()
        if self._is("keyword", "graph"):
            raise self._token.place.error("the graph is undirected", "write digraph, and -> in it")
        if not self._is("keyword", "digraph"):
            raise self._unexpected("'digraph'", "write digraph G { ... }")
        self._take()
        if self._token.kind == "name":
            self.name = self._take().text
        self._take_mark("{")
        while not self._is("mark", "}"):
            self._statement()
        self._take()
        if self._token.kind != "end":
            raise self._unexpected("the end of the file", "give each graph a file of its own")

    def _is(self, kind: str, text: str) -> bool:
        """Return True if the token that is next is of a kind and says a text."""
        return self._token.text == text and self._token.kind == kind

    def _take(self) -> Token:
        """Return the token and step on to the next."""
        token = self._token
        if token.kind != "end":
            self._token = self._next()
        return token

    def _take_mark(self, text: str) -> None:
        """Step over a mark that has to be there."""
        if not self._is("mark", text):
            raise self._unexpected(repr(text), "see whether something is left open before it")
        self._take()

    def _take_name(self, what: str) -> Token:
        """Return a token that has to be a name."""
        if self._token.kind != "name":
            raise self._unexpected(what, "put names and values between double quotes")
        return self._take()

    def _unexpected(self, expected: str, remedy: str) -> Exception:
        """Return an error for a token where another should be."""
        found = self._token
        here = "the end of the file" if found.kind == "end" else shown(found.text)
        return found.place.error(f"{here} is here instead of {expected}", remedy)

    def _statement(self) -> None:
        """Read a statement."""
        token = self._token
        if self._is("mark", ";"):
            self._take()
        elif self._is("mark", "{") or self._is("keyword", "subgraph"):
            raise token.place.error(
                "there is a subgraph, which task graphs have none of", "list its edges one by one"
            )
        elif token.kind == "keyword" and token.text in self._defaults:
            self._take()
            if not self._is("mark", "["):
                raise self._unexpected("'['", f'quote the name of a task called "{token.text}"')
            self._defaults[token.text] |= self._attributes()
        else:
            self._task_or_edges()

    def _task_or_edges(self) -> None:
        """Read a task with its attributes, a chain of edges, or a setting of the graph."""
        path = [self._take_name("the name of a task")]
        if self._is("mark", "="):
            self._take()
            self._take_name("a value")
            return
        arrows = []
        while self._is("mark", "->"):
            arrows.append(self._take().place)
            path.append(self._take_name("the name of a task"))
        if self._is("mark", "--"):
            raise self._token.place.error("there is an undirected edge", "write -> for --")
        if self._is("mark", ":"):
            raise self._token.place.error("a task has a port", "leave out ':' and what follows it")
        found = self._attributes()
        if not arrows:
            attributes = self._defaults["node"] | found
            self.tasks.append(DotTask(path[0].text, path[0].place, attributes))
        for arrow, source, target in zip(arrows, path[:-1], path[1:], strict=True):
            attributes = self._defaults["edge"] | found
            self.edges.append(DotEdge(source.text, target.text, arrow, attributes))

    def _attributes(self) -> Attributes:
        """Read lists of attributes, if there are any."""
        found: Attributes = {}
        while self._is("mark", "["):
            self._take()
            while not self._is("mark", "]"):
                name = self._take_name("the name of an attribute")
                self._take_mark("=")
                value = self._take_name("a value")
                if name.text in found:
                    message = f"attribute {name.text!r} is given twice"
                    raise name.place.error(message, "give it once")
                if name.text in self._known:
                    found[name.text] = value
                else:
                    self.unused.append(f"attributes {name.text}")
                if self._is("mark", ",") or self._is("mark", ";"):
                    self._take()
            self._take()
        return found


@uncollected()
def read_dot(
    path: FilePath, *, name: str | None = None, alpha: float | None = None, lenient: bool = False
) -> TaskGraph:
    """Read a task graph in daggen's dialect of DOT, or SimGrid's.

    A task is a statement ``1 [size="49659735022", alpha="0.19"]``, its size in flop; an edge is
    ``2 -> 4 [size="411041792"]``, its size in byte, 0 if it has none. The data that a task works
    on is its attribute ``byte``, which daggen does not write, or the largest of the edges that
    leave it: daggen gives each of them all of that data. A task needs a statement of its own. An
    edge that is given again with the same size, as daggen does, is one edge.

    In SimGrid's dialect, a size of -1 is that of an edge without data, and tasks ``root`` and
    ``end`` need no statement: they compute nothing. Where one of them has an edge and no statement,
    all other tasks follow ``root``, and ``end`` follows them, as in SimGrid.

    Parameters
    ----------
    path : path
        A file with one directed graph.
    name : str, optional
        Of the graph; by default its name in the file, else the name of the file.
    alpha, lenient
        See `read_task_graph`.

    Returns
    -------
    TaskGraph
        Tasks and edges in the order of the file, ``root`` and ``end`` of SimGrid's dialect first
        and last. `TaskGraph.left_open` lists the points that the file leaves open.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the line.
    WorkloadError
        `alpha` is out of range.
    """
    reading = ReadingContext(None, alpha, lenient)
    found = _Parser(read_text(path, WorkloadFileError), path, ("size", "alpha", "byte"))
    reading.unused(found.unused, "tasks and edges")
    sizes: dict[tuple[str, str], float] = {}
    edges = []
    for edge in found.edges:
        size = _size(edge, reading)
        if (edge.source, edge.target) not in sizes or sizes[edge.source, edge.target] != size:
            edges.append((edge.source, edge.target, edge.place))
        else:
            reading.note("repeated edges", "one edge")
        sizes[edge.source, edge.target] = size
    tasks = _completed(found, edges, reading)
    pairs = structure([(task.name, task.place) for task in tasks], edges, found.place)
    edge_byte = [sizes.get((source, target), 0.0) for source, target, _ in edges]
    leaving = [0.0] * len(tasks)
    for size, source in zip(edge_byte, pairs[:, 0].tolist(), strict=True):
        leaving[source] = max(leaving[source], size)
    amounts = [_amounts(task, reading, most) for task, most in zip(tasks, leaving, strict=True)]
    flop, alphas, byte = np.array(amounts, dtype=np.float64).T
    title = name if name is not None else found.name
    return TaskGraph(
        unpacked_name(path).stem if title is None else title,
        tuple(task.name for task in tasks),
        flop,
        alphas,
        byte,
        pairs,
        np.array(edge_byte),
        reading.finish(),
    )


def _size(edge: DotEdge, reading: ReadingContext) -> float:
    """Return the data of an edge; 0 where nothing is said."""
    size = edge.attributes.get("size")
    if size is None:
        reading.note("edges without a size", "0 byte")
        return 0.0
    what = f"size of edge {shown(edge.source)} -> {shown(edge.target)}"
    value = quantity(size.text, what, size.place, negative=True)
    if value == -1:
        reading.note("edges of size -1", "0 byte, as in SimGrid's dialect")
        return 0.0
    return reading.size(value, what, size.place)


def _completed(found: _Parser, edges: list[NamedEdge], reading: ReadingContext) -> list[DotTask]:
    """Return the tasks with those that SimGrid's dialect implies; add the edges of these."""
    named = {task.name for task in found.tasks}
    ends = [{edge[end] for edge in edges} for end in (0, 1)]
    implied = [name for name in ("root", "end") if name in (ends[0] | ends[1]) - named]
    if not implied:
        return found.tasks
    reading.note("tasks without a statement", "root and end of SimGrid's dialect", len(implied))
    place, before = found.place, len(edges)
    for each in found.tasks:
        for name, side, pair in (("root", 1, ("root", each.name)), ("end", 0, (each.name, "end"))):
            if name in named.union(implied) - {each.name} and each.name not in ends[side]:
                edges.append((*pair, place))
    reading.note("edges of root and end", "added, as SimGrid does", len(edges) - before)
    nothing = {"size": Token("name", "0", place.at, (place.file, place.text))}
    first, last = ([DotTask(name, place, nothing)] * (name in implied) for name in ("root", "end"))
    return [*first, *found.tasks, *last]


def _amounts(task: DotTask, reading: ReadingContext, leaving: float) -> tuple[float, float, float]:
    """Return the computation, the part that is not parallel, and the data of a task."""
    title = shown(task.name)
    size = task.attributes.get("size")
    if size is None:
        raise task.place.error(f"task {title} has no size", 'give its flop, e.g. [size="1e9"]')
    flop = quantity(size.text, f"size of task {title}", size.place)
    alpha = None
    if (given := task.attributes.get("alpha")) is not None:
        what = f"alpha of task {title}"
        alpha = fraction(quantity(given.text, what, given.place), what, given.place)
    if (given := task.attributes.get("byte")) is not None:
        leaving = quantity(given.text, f"byte of task {title}", given.place)
    return flop, reading.part(alpha), leaving


def write_dot(graph: TaskGraph, path: FilePath) -> None:
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


def _name(name: str, path: FilePath) -> str:
    """Return a name as DOT writes it."""
    text = quoted(name)
    if text is None:
        remedy = "rename it: no zero bytes, no backslash before a quote or at its end"
        raise WorkloadFileError(f"DOT cannot say {shown(name)}", file=path, remedy=remedy)
    return text
