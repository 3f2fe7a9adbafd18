"""DOT text as tokens, each with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.inputs.places import Line, shown

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

KEYWORDS = frozenset(["strict", "graph", "digraph", "node", "edge", "subgraph"])

_TOKEN = re.compile(
    r"""
      (?P<space>\s++)
    | (?P<comment>//[^\n]*+|/\*.*?\*/|\#[^\n]*+)
    | (?P<quoted>"(?:[^"\\]|\\.)*+")
    | (?P<mark>->|--|[{}\[\];,=:+])
    | (?P<number>-?(?:\.\d++|\d++(?:\.\d*+)?)(?:[eE][-+]?\d++)?(?![^\W\d]))
    | (?P<word>[^\W\d]\w*+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)?", re.ASCII)
_OPENED = {'"': "this quote", "/*": "this comment"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a mark, or the end of a text.

    Attributes
    ----------
    kind : str
        ``'name'``, ``'keyword'``, ``'mark'`` or ``'end'``.
    text : str
        What it says: without quotes for a name, in lower case for a keyword.
    place : Line
        Where it begins.
    """

    kind: str
    text: str
    place: Line

    def is_mark(self, text: str) -> bool:
        """Say whether it is a certain mark."""
        return self.kind == "mark" and self.text == text

    @property
    def described(self) -> str:
        """How messages call it."""
        return "the end of the file" if self.kind == "end" else shown(self.text)


def tokens(text: str, file: str | os.PathLike[str]) -> Iterator[Token]:
    """Split DOT text up.

    Comments are ``// ...``, ``/* ... */`` and lines that begin with ``#``.

    Parameters
    ----------
    text : str
        The whole text.
    file : path
        Named in errors.

    Yields
    ------
    Token
        One after the other, the last of kind ``'end'``.

    Raises
    ------
    WorkloadFileError
        There is a character that no token begins with, or a quote or comment without an end.
    """
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match else None
        if match is None or (match[0][0] == "#" and not _begins_line(text, at)):
            raise _unreadable(text, at, Line(file, line))
        found = match[0]
        if kind not in ("space", "comment"):
            yield _token(str(kind), found, Line(file, line))
        line += found.count("\n")
        at = match.end()
    yield Token("end", "", Line(file, line))


def _token(kind: str, found: str, place: Line) -> Token:
    """Return a token from what was found."""
    if kind == "mark":
        return Token(kind, found, place)
    if kind == "quoted":
        return Token("name", unquoted(found), place)
    if kind == "word" and found.lower() in KEYWORDS:
        return Token("keyword", found.lower(), place)
    return Token("name", found, place)


def _begins_line(text: str, at: int) -> bool:
    """Say whether there is nothing but space before a place in its line."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _unreadable(text: str, at: int, place: Line) -> Exception:
    """Return an error for what no token begins with."""
    for opening, name in _OPENED.items():
        if text.startswith(opening, at):
            return place.error(f"{name} has no end", f"close it: {shown(text[at : at + 30])}")
    if text[at] == "<":
        return place.error("there is a label in HTML", "put the text between double quotes")
    word = re.split(r"[\s\[\];,={}]", text[at : at + 30], maxsplit=1)[0] or text[at]
    return place.error(f"{shown(word)} is no DOT", "put names and values between double quotes")


def unquoted(text: str) -> str:
    r"""Return what a quoted text says: only ``\"`` and the end of a line can be escaped."""
    return _ESCAPE.sub(_unescaped, text[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    """Return what an escape stands for, which for most is itself."""
    return {'"': '"', "\n": ""}.get(match[1], match[0])


def quoted(name: str) -> str | None:
    """Return a name as DOT writes it, between quotes if need be; None if DOT cannot say it."""
    if _BARE.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    text = '"' + name.replace('"', '\\"') + '"'
    match = _TOKEN.fullmatch(text)
    sayable = match is not None and match.lastgroup == "quoted" and unquoted(text) == name
    return text if sayable and "\0" not in name else None
