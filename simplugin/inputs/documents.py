"""TOML and JSON documents with errors that name file, line and key."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from simplugin.core.errors import FileError, minus_remedy
from simplugin.inputs.files import read_text
from simplugin.inputs.locations import shown
from simplugin.inputs.messages import InputProblem, folded
from simplugin.inputs.positions import Path, json_line, json_starts, toml_line, toml_syntax_error

# Numbers that Python's parser accepts and JSON excludes, and numbers with too many digits.
_NO_NUMBER = re.compile(r"NaN|-?Infinity|-?\d{4301,}")
# Python's parser needs a time and a memory that grow with the square of the parts of a dotted key.
_DOTTED = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)++""")
_MOST_DOTS = 100
# It needs 150 bytes for each digit of a number before it finds that there are too many.
_LONG_NUMBER = re.compile(r"""(?<![\w"'.+-])[-+]?\d[\w.]{4300,}+""")
_LONGEST_PATH = 200
_TOO_DEEP, _LESS_DEEP = "values are nested too deeply", "nest fewer of them"


@dataclass(frozen=True, slots=True)
class Document:
    """A document, its text and its content.

    Attributes
    ----------
    content : object
        The values, as the parser returns them.
    kind : type of FileError
        Of its errors.
    file : path, optional
        None for values that were not read from a file.
    text : str
        Its text; empty for a document that a program composed, even if it has a file name.
    find_line : callable
        From the text and a path in the content to the line.
    """

    content: Any
    kind: type[FileError]
    file: str | os.PathLike[str] | None = None
    text: str = ""
    find_line: Callable[[str, Path], int | None] = toml_line

    def line(self, path: Path) -> int | None:
        """Return the line of the value at a path, counted from 1; None if it is unknown."""
        if self.file is None or not self.text:
            return None
        # A key missing in the outermost table is reported for the first line.
        return self.find_line(self.text, path) or (1 if path else None)

    def error(self, path: Path, message: str, remedy: str | None) -> FileError:
        """Return an error at the line of the value at a path."""
        return self.kind(message, file=self.file, line=self.line(path), remedy=remedy)

    def errors(self, problems: Iterable[InputProblem]) -> FileError:
        """Return one error about all problems, with the line and the path of the first."""
        errors = []
        for each in problems:
            errors.append(self.error(each.path, each.text, each.remedy))
            errors[-1].path = each.path
        first, *others = sorted(errors, key=lambda error: error.line or 0)
        if not others:
            return first
        _, *lines = folded(map(str, (first, *others)))
        remedy = "\n".join([first.remedy or "and", *lines])
        joined = self.kind(first.message, file=first.file, line=first.line, remedy=remedy)
        joined.path, joined.all_errors = first.path, (first, *others)
        return joined

    def at(self, *path: str | int) -> ValueLocation:
        """Return the place of a value."""
        return ValueLocation(self, path)


@dataclass(frozen=True, slots=True)
class ValueLocation:
    """The place of a value in a document; see `simplugin.inputs.locations.SourceLocation`.

    Attributes
    ----------
    document : Document
        The document.
    path : tuple of str and int
        Keys and indices that lead to the value from the root.
    """

    document: Document
    path: tuple[str | int, ...]

    def error(self, message: str, remedy: str) -> FileError:
        """Return an error that names the path, the file and the line."""
        where = path_text(self.path)
        return self.document.error(self.path, f"{where}: {message}" if where else message, remedy)


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}


@dataclass(frozen=True, slots=True)
class JsonValue(ValueLocation):
    """A value in a JSON document, and its place.

    Attributes
    ----------
    content : object
        The value.
    """

    content: Any

    def get(self, key: str) -> JsonValue | None:
        """Return a member of an object, None where there is none."""
        content = self._as(dict)
        if key not in content:
            return None
        return JsonValue(self.document, (*self.path, key), content[key])

    def member(self, key: str) -> JsonValue:
        """Return a member of an object that has to be there."""
        value = self.get(key)
        if value is None:
            raise self.error(f"there is no {key!r}", f"add {key!r}")
        return value

    def items(self) -> list[JsonValue]:
        """Return the items of a list."""
        content = self._as(list)
        return [JsonValue(self.document, (*self.path, at), item) for at, item in enumerate(content)]

    def listed(self, key: str) -> list[JsonValue]:
        """Return the items of an optional list."""
        found = self.get(key)
        return [] if found is None else found.items()

    def either(self, key: str, older: str) -> JsonValue:
        """Return a member by its name, or by that of older versions."""
        found = self.get(older)
        return self.member(key) if found is None else found

    def text(self) -> str:
        """Return a text."""
        content: str = self._as(str)
        if any("\ud800" <= letter <= "\udfff" for letter in content):
            raise self.error(f"{content!r} has half a character", "write whole surrogate pairs")
        return content

    def number(self, *, negative: bool = False) -> float:
        """Return a finite number that is at least 0, unless it may be negative."""
        content = self.content
        if isinstance(content, bool) or not isinstance(content, int | float):
            raise self.error(f"{_shown(content)} is no number", "give a number >= 0")
        try:
            value = float(content)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self.error("this number is too large", "give a smaller one")
        if value < 0 and not negative:
            raise self.error(f"{value!r} is negative", "give a number >= 0")
        return value

    def whole(self, least: int = 0) -> int:
        """Return a whole number from `least` to 2^53."""
        value = self.number()
        if value != int(value) or not least <= value <= 2**53:
            raise self.error(f"{_shown(self.content)}", f"give a whole number from {least} on")
        return int(value)

    def members(self) -> dict[str, JsonValue]:
        """Return the members of an object."""
        content = self._as(dict)
        return {
            key: JsonValue(self.document, (*self.path, key), each) for key, each in content.items()
        }

    def _as(self, kind: type) -> Any:
        """Return the content if it is of a kind."""
        if not isinstance(self.content, kind):
            name = _KINDS[kind]
            raise self.error(f"{_shown(self.content)} is not {name}", f"give {name}")
        return self.content


def _shown(content: object) -> str:
    """Return a value as messages quote it."""
    for kind, name in _KINDS.items():
        if isinstance(content, kind) and kind is not str:
            return name
    return shown(content) if isinstance(content, str) else json.dumps(content)[:80]


def path_text(path: Path) -> str:
    """Return a path as messages show it, for instance ``tasks[3].id``."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    text = "".join(parts).removeprefix(".")
    return text if text.isprintable() and len(text) <= _LONGEST_PATH else shown(text)


def read_toml(
    path: str | os.PathLike[str],
    kind: type[FileError],
    remedy: str = "write tables in [brackets], and key = value with texts in quotes",
) -> Document:
    """Read a TOML file.

    Parameters
    ----------
    path : path
        A file in UTF-8.
    kind : type of FileError
        Of all errors.
    remedy : str
        Of errors of syntax.

    Raises
    ------
    FileError
        Of the given kind: it cannot be read, is no TOML, or nests too deeply; the message names the
        line.
    """
    # TOML counts lines by \n; the text of a Windows file must not become one line longer.
    text = read_text(path, kind).replace("\r\n", "\n")
    for found in _DOTTED.finditer(text):
        if found[0].count(".") > _MOST_DOTS:
            raise kind(_TOO_DEEP, file=path, line=_line(text, found), remedy=_LESS_DEEP)
    if (number := _LONG_NUMBER.search(text)) is not None:
        message, line = f"{shown(number[0])} is too large", _line(text, number)
        raise kind(message, file=path, line=line, remedy="give a smaller number")
    try:
        # Also an empty file has a first line.
        return Document(tomllib.loads(text), kind, path, text or "\n")
    except tomllib.TOMLDecodeError as error:
        message, line = toml_syntax_error(error, text)
        remedy = minus_remedy(text.split("\n")[line - 1]) or remedy
        raise kind(f"not TOML: {message}", file=path, line=line, remedy=remedy) from None
    except RecursionError:
        raise kind(_TOO_DEEP, file=path, remedy=_LESS_DEEP) from None


def _line(text: str, found: re.Match[str]) -> int:
    """Return the line of a match, counted from 1."""
    return text.count("\n", 0, found.start()) + 1


def read_json(path: str | os.PathLike[str], kind: type[FileError]) -> Document:
    """Read a JSON file in UTF-8; parameters and errors are those of `parse_json`."""
    return parse_json(read_text(path, kind), path, kind)


def parse_json(text: str, path: str | os.PathLike[str], kind: type[FileError]) -> Document:
    """Return the document of a JSON text.

    Parameters
    ----------
    text : str
        The text.
    path : path
        The file that it comes from.
    kind : type of FileError
        Of all errors.

    Raises
    ------
    FileError
        Of the given kind: it is no JSON, an object has a key twice, or it nests too deeply; the
        message names the line.
    """
    document = Document(None, kind, path, text, json_line)
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        message = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        minus = minus_remedy(text.split("\n")[error.lineno - 1])
        remedy = minus or f"look at column {error.colno}; is the file complete?"
        raise kind(message, file=path, line=error.lineno, remedy=remedy) from None
    except RecursionError:
        raise kind(_TOO_DEEP, file=path, remedy=_LESS_DEEP) from None
    except ValueError as error:
        raise _value_error(document, error) from None
    return Document(content, kind, path, text, json_line)


def _value_error(document: Document, error: ValueError) -> FileError:
    """Return an error for well-formed JSON that is refused, or that Python cannot hold."""
    seen = set()
    for path, start in json_starts(document.text):
        if path in seen:
            line = document.text.count("\n", 0, start) + 1
            message = f"{path_text(path)}: there are two of this name"
            return document.kind(message, file=document.file, line=line, remedy="remove one")
        seen.add(path)
        if (found := _NO_NUMBER.match(document.text, start)) is not None:
            message = f"{shown(found[0])} is no number of JSON"
            return document.at(*path).error(message, "give a plain number")
    return document.kind(str(error), file=document.file, remedy="give other values")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise ValueError if a key occurs twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def _constant(name: str) -> NoReturn:
    """Refuse what Python's parser takes but JSON has not."""
    raise ValueError(f"{name} is no number of JSON")
