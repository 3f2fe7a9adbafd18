"""Documents in a store: JSON that keeps every bit, and texts shared by many rows."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from simplugin.core.errors import StoreError

# The JSON standard has no NaN; no metric is a mapping with this key.
_MARK = "$float"
_QUOTED = f'"{_MARK}"'
_NAN = {_MARK: "nan"}
# Numbers of texts and bases in memory.
_MAX_TEXTS = 64
_MAX_BASES = 4
_MAX_READ = 256


def text_of(value: Any) -> str:
    """Return plain containers, numbers and texts as JSON, in one line of ASCII.

    Infinities are written as ``1e999``, which readers of JSON read as infinity, and NaN as
    ``{"$float": "nan"}``. Tuples become arrays, numbers of numpy plain numbers.

    Raises
    ------
    StoreError
        A value is not a container, number or text, or a mapping has the key ``$float``.
    """
    try:
        text = _dumps(value)
        if _QUOTED not in text:
            return text
    except ValueError:
        pass  # It has an infinity or NaN.
    except TypeError as error:
        raise StoreError(f"a run's document cannot be recorded: {error}") from error
    text = _dumps(_marked(value))
    return text.replace(f'{{{_QUOTED}:"inf"}}', "1e999").replace(f'{{{_QUOTED}:"-inf"}}', "-1e999")


def value_of(text: str) -> Any:
    """Return the value that `text_of` wrote."""
    if _QUOTED in text:
        return json.loads(text, object_hook=lambda each: math.nan if each == _NAN else each)
    return json.loads(text)


def _dumps(value: Any) -> str:
    """Write JSON without spaces."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """Return a mapping, or an array or number of numpy, as a plain value."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is not a container, number or text")


def _marked(value: Any) -> Any:
    """Replace infinities and NaN."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        if _MARK in value:
            raise StoreError(f"a run's document has the key {_MARK!r}, which stands for NaN here")
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {_MARK: str(float(value))}
    return value


class TextWriter:
    """Writes each text once, and documents as differences from an earlier one.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the store.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.number_of = lru_cache(_MAX_TEXTS)(self._add)
        self._bases: list[tuple[int, dict[str, str]]] = []

    def forget(self) -> None:
        """Clear the cached numbers of texts, after a transaction was rolled back."""
        self.number_of.cache_clear()
        self._bases.clear()

    def packed(self, document: Mapping[str, Any]) -> tuple[int, str]:
        """Return the number of a document, and the values that differ from it, as JSON.

        The keys of both documents are the same, in the same order: the values replace those of the
        document with the number.
        """
        parts = {str(name): text_of(value) for name, value in document.items()}
        names = list(parts)
        best = None
        for number, base in self._bases:
            if list(base) == names:
                changed = {name: parts[name] for name in names if parts[name] != base[name]}
                if best is None or len(changed) < len(best[1]):
                    best = number, changed
        if best is None or 2 * len(best[1]) > len(names):
            best = self.number_of(_joined(parts)), {}
            self._bases.insert(0, (best[0], parts))
            del self._bases[_MAX_BASES:]
        return best[0], _joined(best[1])

    def _add(self, text: str) -> int:
        """Return the number of a text, which is added if it is new."""
        find = "SELECT number FROM texts WHERE text = ?"
        row = self._connection.execute(find, (text,)).fetchone()
        if row is None:
            # Without RETURNING: SQLite has that since 2021 only.
            added = self._connection.execute("INSERT INTO texts (text) VALUES (?)", (text,))
            row = (added.lastrowid,)
        return int(row[0])


def text_reader(connection: sqlite3.Connection) -> Callable[[int], Any]:
    """Return a function that reads the document with a number, and caches it."""

    @lru_cache(_MAX_READ)
    def document(number: int) -> Any:
        found = connection.execute("SELECT text FROM texts WHERE number = ?", (number,)).fetchone()
        if found is None:
            raise StoreError(f"the store is damaged: its text {number} is missing")
        return value_of(found[0])

    return document


def _joined(parts: Mapping[str, str]) -> str:
    """Return a JSON object whose values are given as JSON."""
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in parts.items()) + "}"
