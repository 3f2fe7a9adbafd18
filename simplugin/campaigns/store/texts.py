"""Documents that many rows share, on their way into the store."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from simplugin.campaigns.store.exact_json import text_of
from simplugin.campaigns.store.patches import Document, exact_difference

# How many texts are known by heart, and how many bases a document is compared with.
_MOST_TEXTS = 64
_MOST_BASES = 4


class SharedTexts:
    """The writer's view of the table ``texts``: each text is there once.

    Parameters
    ----------
    connection : sqlite3.Connection
        The writer's.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._bases: dict[str, list[tuple[int, Document]]] = {}

    def forget(self) -> None:
        """Forget what is there, since a transaction was rolled back."""
        self._numbers.clear()
        self._bases.clear()

    def number_of(self, text: str) -> int:
        """Return the number of a text, which gets recorded if it is new."""
        number = self._numbers.get(text)
        if number is None:
            number = self._recorded(text)
            self._numbers[text] = number
            if len(self._numbers) > _MOST_TEXTS:
                self._numbers.popitem(last=False)
        else:
            self._numbers.move_to_end(text)
        return number

    def packed(self, kind: str, value: Mapping[str, Any]) -> tuple[int, str]:
        """Return a base, by its number, and the merge patch that makes a document of it.

        Parameters
        ----------
        kind : str
            Documents of the same kind are compared with each other.
        value : mapping
            Becomes a JSON object.
        """
        text = text_of(value)
        # What stands for NaN is left as it is.
        document = json.loads(text)
        best: tuple[int, str] | None = None
        bases = self._bases.setdefault(kind, [])
        for number, base in bases:
            patch = exact_difference(base, document, text)
            if patch is not None:
                told = json.dumps(patch, separators=(",", ":"))
                if best is None or len(told) < len(best[1]):
                    best = number, told
                if 4 * len(told) <= len(text):
                    break  # good enough
        if best is not None and 2 * len(best[1]) <= len(text) + 2:
            return best
        number = self.number_of(text)
        bases.insert(0, (number, document))
        del bases[_MOST_BASES:]
        return number, "{}"

    def _recorded(self, text: str) -> int:
        """Find a text by its hash, or add it."""
        sha256 = hashlib.sha256(text.encode()).digest()
        found = self._connection.execute("SELECT number FROM texts WHERE sha256 = ?", (sha256,))
        row = found.fetchone()
        if row is not None:
            return int(row[0])
        added = self._connection.execute(
            "INSERT INTO texts (sha256, text) VALUES (?, ?)", (sha256, text)
        )
        assert added.lastrowid is not None
        return added.lastrowid
