"""JSON of untrusted origin as values that know where in their document they stand."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simplugin.errors import FileError, WorkloadFileError
from simplugin.inputs import documents
from simplugin.inputs.documents import Document
from simplugin.inputs.places import shown

if TYPE_CHECKING:
    import os

    from simplugin.inputs.positions import Steps

_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value in a document; a `Place` that errors can be tied to.

    Attributes
    ----------
    document : Document
        The document.
    path : tuple of str and int
        Keys and indices that lead to it from the root.
    content : object
        The value.
    """

    document: Document
    path: Steps
    content: Any

    def error(self, message: str, remedy: str) -> FileError:
        """Return an error that names the file, the line and the path; see `Place`."""
        return self.document.at(*self.path).error(message, remedy)

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
    """Return the root of a document."""
    document = documents.read_json(path, WorkloadFileError)
    return JsonValue(document, (), document.content)


def _shown(content: object) -> str:
    """Return a value as messages quote it."""
    for kind, name in _KINDS.items():
        if isinstance(content, kind) and kind is not str:
            return name
    return shown(content) if isinstance(content, str) else json.dumps(content)[:80]
