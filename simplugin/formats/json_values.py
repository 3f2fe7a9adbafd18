"""JSON of untrusted origin as values that know where in their document they stand."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from simplugin.errors import WorkloadFileError
from simplugin.formats.places import shown
from simplugin.formats.text_files import read_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    Steps = tuple[str | int, ...]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
# What Python's parser takes and JSON has not, and what has more digits than Python reads.
_NO_NUMBER = re.compile(r"NaN|-?Infinity|-?\d{4301,}")
_LONGEST_PATH = 200
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A document and its text.

    Attributes
    ----------
    file : path
        Where it was read.
    text : str
        What stands there.
    """

    file: str | os.PathLike[str]
    text: str

    def line(self, path: Steps) -> int:
        """Return the line on which the value at a path begins, counted from 1."""
        start = next((start for each, start in _starts(self.text) if each == path), 0)
        return self.text.count("\n", 0, start) + 1


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value in a document; a `Place` that errors can be tied to.

    Attributes
    ----------
    document : JsonDocument
        The document.
    path : tuple of str and int
        Keys and indices that lead to it from the root.
    content : object
        The value.
    """

    document: JsonDocument
    path: Steps
    content: Any

    def error(self, message: str, remedy: str) -> WorkloadFileError:
        """Return an error that names the file, the line and the path; see `Place`."""
        where = path_text(self.path)
        return WorkloadFileError(
            f"{where}: {message}" if where else message,
            file=self.document.file,
            line=self.document.line(self.path),
            remedy=remedy,
        )

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

    def text(self) -> str:
        """Return a text."""
        content: str = self._as(str)
        if any("\ud800" <= letter <= "\udfff" for letter in content):
            raise self.error(f"{content!r} has half a character", "write whole surrogate pairs")
        return content

    def number(self) -> float:
        """Return a number that is at least 0 and finite."""
        content = self.content
        if isinstance(content, bool) or not isinstance(content, int | float):
            raise self.error(f"{_shown(content)} is no number", "give a number >= 0")
        try:
            value = float(content)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self.error("this number is too large", "give a smaller one")
        if value < 0:
            raise self.error(f"{value!r} is negative", "give a number >= 0")
        return value

    def _as(self, kind: type) -> Any:
        """Return the content if it is of a kind."""
        if not isinstance(self.content, kind):
            name = _KINDS[kind]
            raise self.error(f"{_shown(self.content)} is not {name}", f"give {name}")
        return self.content


def read_json(path: str | os.PathLike[str]) -> JsonValue:
    """Return the root of a document.

    Parameters
    ----------
    path : path
        A file in UTF-8.

    Returns
    -------
    JsonValue
        Whatever stands there.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or is no JSON, an object has a key twice, or it nests too deeply;
        the message names the line.
    """
    document = JsonDocument(path, read_text(path))
    try:
        content = json.loads(document.text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise WorkloadFileError(
            f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}",
            file=path,
            line=error.lineno,
            remedy=f"look at column {error.colno}; is the file complete?",
        ) from None
    except RecursionError:
        raise WorkloadFileError(
            "values are nested too deeply", file=path, remedy="nest fewer of them"
        ) from None
    except ValueError as error:
        raise _value_error(document, error) from None
    return JsonValue(document, (), content)


def _value_error(document: JsonDocument, error: ValueError) -> WorkloadFileError:
    """Return an error for well-formed JSON that is refused, or that Python cannot hold."""
    seen = set()
    for path, start in _starts(document.text):
        place = JsonValue(document, path, None)
        if path in seen:
            message = f"{path_text(path)}: there are two of this name"
            line = document.text.count("\n", 0, start) + 1
            return WorkloadFileError(
                message, file=document.file, line=line, remedy="remove one of them"
            )
        seen.add(path)
        if (found := _NO_NUMBER.match(document.text, start)) is not None:
            return place.error(f"{shown(found[0])} is no number of JSON", "give a plain number")
    return WorkloadFileError(str(error), file=document.file, remedy="give other values")


def path_text(path: Steps) -> str:
    """Return a path as messages show it, for instance ``tasks[3].id``."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    text = "".join(parts).removeprefix(".")
    return text if text.isprintable() and len(text) <= _LONGEST_PATH else shown(text)


def _shown(content: object) -> str:
    """Return a value as messages quote it."""
    for kind, name in _KINDS.items():
        if isinstance(content, kind) and kind is not str:
            return name
    return shown(content) if isinstance(content, str) else json.dumps(content)[:80]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys are all different."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def _constant(name: str) -> NoReturn:
    """Refuse what Python's parser takes but JSON has not."""
    raise ValueError(f"{name} is no number of JSON")


def _starts(text: str) -> Iterator[tuple[Steps, int]]:
    """Yield the path of each value of a valid document, and where it begins."""
    path: list[str | int] = []
    opened: list[str] = []
    key_next = False
    for match in _TOKEN.finditer(text):
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
