"""The statements of a directed graph in DOT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.formats.dot_tokens import Token, tokens

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    from simplugin.inputs.places import Line

    Attributes = dict[str, Token]


@dataclass(frozen=True, slots=True)
class DotTask:
    """A statement of a task.

    Attributes
    ----------
    name : str
        Of the task.
    place : Line
        Where its name stands.
    attributes : dict of str to Token
        Values of the attributes that are known.
    """

    name: str
    place: Line
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class DotEdge:
    """An edge of a statement.

    Attributes
    ----------
    source, target : str
        Names of the tasks at its ends.
    place : Line
        Where its arrow stands.
    attributes : dict of str to Token
        Values of the attributes that are known.
    """

    source: str
    target: str
    place: Line
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class DotGraph:
    """What a file says.

    Attributes
    ----------
    name : str or None
        Of the graph; None if it has none.
    place : Line
        Where it begins.
    tasks : list of DotTask
        In the order of the file.
    edges : list of DotEdge
        In the order of the file.
    """

    name: str | None
    place: Line
    tasks: list[DotTask]
    edges: list[DotEdge]


def parse(text: str, file: str | os.PathLike[str], known: Collection[str]) -> DotGraph:
    """Return the statements of a directed graph.

    Parameters
    ----------
    text : str
        DOT.
    file : path
        Named in errors.
    known : collection of str
        The attributes that matter; others are passed over.

    Returns
    -------
    DotGraph
        Defaults of ``node [...]`` and ``edge [...]`` are in the statements that follow them.

    Raises
    ------
    WorkloadFileError
        The text is no DOT, is not one directed graph, or has subgraphs or ports.
    """
    return _Parser(text, file, known).graph()


class _Parser:
    """Reads token by token."""

    def __init__(self, text: str, file: str | os.PathLike[str], known: Collection[str]) -> None:
        self._tokens = tokens(text, file)
        self._known = known
        self._defaults: dict[str, Attributes] = {"node": {}, "edge": {}, "graph": {}}
        self._tasks: list[DotTask] = []
        self._edges: list[DotEdge] = []
        self._token = next(self._tokens)

    def graph(self) -> DotGraph:
        """Read the whole text."""
        begin = self._token.place
        if self._token.kind == "keyword" and self._token.text == "strict":
            self._take()
        if self._token.kind == "keyword" and self._token.text == "graph":
            raise self._token.place.error("the graph is undirected", "write digraph, and -> in it")
        if self._token.kind != "keyword" or self._token.text != "digraph":
            raise self._unexpected("'digraph'", "write digraph G { ... }")
        self._take()
        name = self._take().text if self._token.kind == "name" else None
        self._take_mark("{")
        while not self._token.is_mark("}"):
            self._statement()
        self._take()
        if self._token.kind != "end":
            raise self._unexpected("the end of the file", "give each graph a file of its own")
        return DotGraph(name, begin, self._tasks, self._edges)

    def _take(self) -> Token:
        """Return the token and step on to the next."""
        token = self._token
        self._token = next(self._tokens, token)
        return token

    def _take_mark(self, text: str) -> None:
        """Step over a mark that has to be there."""
        if not self._token.is_mark(text):
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
        return found.place.error(f"{found.described} stands where {expected} should", remedy)

    def _statement(self) -> None:
        """Read a statement."""
        token = self._token
        if token.is_mark(";"):
            self._take()
        elif token.is_mark("{") or (token.kind == "keyword" and token.text == "subgraph"):
            raise token.place.error(
                "there is a subgraph, which task graphs have none of", "list its edges one by one"
            )
        elif token.kind == "keyword" and token.text in self._defaults:
            self._take()
            if not self._token.is_mark("["):
                raise self._unexpected("'['", f'quote the name of a task called "{token.text}"')
            self._defaults[token.text] |= self._attributes()
        else:
            self._task_or_edges()

    def _task_or_edges(self) -> None:
        """Read a task with its attributes, a chain of edges, or a setting of the graph."""
        path = [self._take_name("the name of a task")]
        if self._token.is_mark("="):
            self._take()
            self._take_name("a value")
            return
        arrows = []
        while self._token.is_mark("->"):
            arrows.append(self._take().place)
            path.append(self._take_name("the name of a task"))
        if self._token.is_mark("--"):
            raise self._token.place.error("there is an undirected edge", "write -> for --")
        if self._token.is_mark(":"):
            raise self._token.place.error("a task has a port", "leave out ':' and what follows it")
        found = self._attributes()
        if not arrows:
            attributes = self._defaults["node"] | found
            self._tasks.append(DotTask(path[0].text, path[0].place, attributes))
        for arrow, source, target in zip(arrows, path[:-1], path[1:], strict=True):
            attributes = self._defaults["edge"] | found
            self._edges.append(DotEdge(source.text, target.text, arrow, attributes))

    def _attributes(self) -> Attributes:
        """Read lists of attributes, if there are any."""
        found: Attributes = {}
        while self._token.is_mark("["):
            self._take()
            while not self._token.is_mark("]"):
                self._attribute(found)
            self._take()
        return found

    def _attribute(self, found: Attributes) -> None:
        """Read an attribute, and keep it if it is known."""
        name = self._take_name("the name of an attribute")
        self._take_mark("=")
        value = self._take_name("a value")
        if name.text in found:
            raise name.place.error(f"attribute {name.text!r} is given twice", "give it once")
        if name.text in self._known:
            found[name.text] = value
        if self._token.is_mark(",") or self._token.is_mark(";"):
            self._take()
