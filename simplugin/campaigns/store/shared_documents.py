"""Documents that many rows share, on their way out of the store."""

from __future__ import annotations

import json
import sqlite3
from functools import lru_cache
from typing import Any

from simplugin.errors import StoreError

_MOST = 256


class SharedDocuments:
    """A reader's view of the table ``texts``; what is asked for often is read once.

    Parameters
    ----------
    connection : sqlite3.Connection
        The reader's.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        @lru_cache(_MOST)
        def text(number: int) -> str:
            row = connection.execute("SELECT text FROM texts WHERE number = ?", (number,))
            found = row.fetchone()
            if found is None:
                raise StoreError(f"the store is damaged: its text {number} is missing")
            return str(found[0])

        @lru_cache(_MOST)
        def document(number: int) -> Any:
            return json.loads(text(number))

        self._text = text
        self._document = document

    def text(self, number: int) -> str:
        """Return a text."""
        return self._text(number)

    def document(self, number: int) -> Any:
        """Return a text as the JSON that it is; not to be changed."""
        return self._document(number)
