"""Lines of the values in JSON and TOML documents, which the standard parsers do not give."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache

Path = Sequence[str | int]
Steps = tuple[str | int, ...]

_JSON = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
_TOML = re.compile(
    r"""
      \#[^\n]*+
    | \"{3}(?:\\.|[^\\])*?\"{3}(?!\")
    | '{3}.*?'{3}(?!')
    | "(?:\\.|[^"\\])*+"
    | '[^']*+'
    | [\[\]{}=,.\n]
    | [^\s\[\]{}=,.\#"']++
    """,
    re.VERBOSE | re.DOTALL,
)
_TOML_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_TOML_END = " (at end of document)"


def json_starts(text: str) -> Iterator[tuple[Steps, int]]:
    """Yield the path of each value of a valid JSON document, and where it begins."""
    path: list[str | int] = []
    opened: list[str] = []
    key_next = False
    for match in _JSON.finditer(text):
        token = match[0]
        if token in "]}":
            path.pop()
            opened.pop()
        elif token == ",":
            key_next = opened[-1] == "{"
            if not key_next:
                path[-1] = int(path[-1]) + 1
        elif token == ":":
            continue
        elif key_next:
            path[-1] = json.loads(token)
            key_next = False
        else:
            yield tuple(path), match.start()
            if token in "[{":
                opened.append(token)
                key_next = token == "{"
                path.append("" if key_next else 0)


def json_line(text: str, path: Path) -> int:
    """Return the line on which the value at a path begins, counted from 1.

    A value that the document lacks has the line of the innermost one around it.

    Parameters
    ----------
    text : str
        A valid JSON document.
    path : sequence of str or int
        Keys and indices, from the outside in.
    """
    wanted = tuple(path)
    start = 0
    for steps, begin in json_starts(text):
        if steps == wanted[: len(steps)]:
            start = begin
        if steps == wanted:
            break
    return text.count("\n", 0, start) + 1


def toml_line(text: str, path: Path) -> int | None:
    """Return the line on which a key is set or an item of an array begins, counted from 1.

    A key that the document lacks has the line of the innermost table around it.

    Parameters
    ----------
    text : str
        A valid TOML document.
    path : sequence of str or int
        Keys and positions in arrays, from the outside in.

    Returns
    -------
    int or None
        None if the outermost key is missing.
    """
    lines = _TomlLines(text).lines
    wanted = tuple(path)
    while wanted and wanted not in lines:
        wanted = wanted[:-1]
    return lines.get(wanted)


def toml_syntax_error(error: tomllib.TOMLDecodeError, text: str) -> tuple[str, int]:
    """Return the message and the line of a syntax error."""
    message = str(error)
    if match := _TOML_PLACE.search(message):
        return message[: match.start()], int(match[1])
    return message.removesuffix(_TOML_END), text.rstrip("\n").count("\n") + 1


@lru_cache(maxsize=1)  # for several problems in one document
class _TomlLines:
    """The line of each key and item of a valid document."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Steps, int] = {}
        self._tables: dict[Steps, int] = {}
        self._tokens = self._split(text)
        self._token, self._line = next(self._tokens)
        table: Steps = ()
        while self._token:
            if self._token == "\n":
                self._take()
            elif self._token == "[":
                table = self._header()
            else:
                self._pair(table)

    def _split(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield each token with its line, and an empty one at the end."""
        at, line = 0, 1
        for match in _TOML.finditer(text):
            line += text.count("\n", at, match.start())
            at = match.start()
            if not match[0].startswith("#"):
                yield match[0], line
        yield "", line

    def _take(self) -> str:
        """Return the token and step on to the next."""
        token = self._token
        self._token, self._line = next(self._tokens, ("", self._line))
        return token

    def _key(self, end: str) -> list[str]:
        """Return the parts of a key, and step over what ends it."""
        parts = []
        while (token := self._take()) != end:
            if token != ".":
                quoted = token[0] in "\"'"
                parts.append(tomllib.loads(f"key = {token}")["key"] if quoted else token)
        return parts

    def _note(self, path: Steps, line: int) -> None:
        """Note the line of a path, and of the tables around it that are named here first."""
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _header(self) -> Steps:
        """Read ``[table]`` or ``[[tables]]``; return its path."""
        line = self._line
        self._take()
        several = self._token == "["
        if several:
            self._take()
        path: Steps = ()
        *around, last = self._key("]")
        for part in around:
            path = self._inner((*path, part))
        path = (*path, last)
        if several:
            self._take()
            self._tables[path] = self._tables.get(path, -1) + 1
        path = self._inner(path)
        self._note(path, line)
        return path

    def _inner(self, path: Steps) -> Steps:
        """Return the path of a table, of the last one if there are several."""
        return (*path, self._tables[path]) if path in self._tables else path

    def _pair(self, table: Steps) -> None:
        """Read ``key = value``."""
        line = self._line
        path = (*table, *self._key("="))
        self._note(path, line)
        self._value(path)

    def _value(self, path: Steps) -> None:
        """Step over a value and record the positions in it."""
        end = {"[": "]", "{": "}"}.get(self._token)
        if end is None:
            while self._token not in ("", "\n", ",", "]", "}"):
                self._take()
            return
        self._take()
        position = 0
        while self._token != end:
            if self._token in ("\n", ","):
                self._take()
            elif end == "}":
                self._pair(path)
            else:
                self._note((*path, position), self._line)
                self._value((*path, position))
                position += 1
        self._take()
