"""SQL on a store, with the table of runs as a view."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from simplugin.campaigns.store.columns import Columns, columns_of
from simplugin.campaigns.store.connections import read_only
from simplugin.campaigns.store.exact_json import text_of, value_of
from simplugin.campaigns.store.stored_rows import COUNTING
from simplugin.errors import StoreError
from simplugin.near_names import perhaps

_TABLES = ("units", "campaigns", "members", "jobs", "runs", "texts", "contents")
# A few milliseconds of SQLite's virtual machine.
_STEPS = 100_000
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
_VIEW = """
    CREATE TEMP VIEW results AS SELECT {columns}
    FROM main.members m JOIN main.jobs j ON j.number = m.job JOIN main.runs r ON r.job = m.job
    LEFT JOIN main.texts s ON s.number = r.shape
    LEFT JOIN main.texts b ON b.number = r.provenance_base
    LEFT JOIN main.texts v ON v.number = r.versions
    WHERE {conditions}
"""
_COLUMNS = {
    "campaign": "m.campaign",
    "position": "m.position",
    "key": "j.key",
    "status": "r.status",
    "optimum": "CASE cell(s.text, 'best', 'proof') WHEN 'optimum' THEN r.best END",
    "bound": "CASE cell(s.text, 'best', 'proof') WHEN 'bound' THEN r.best END",
    "gap": "r.gap",
    "seed": "coalesce(cell(r.provenance, 'seed'), cell(b.text, 'seed'))",
    "duration": "r.duration",
    "started": "r.started",
    "place": "r.place",
    "attempts": "r.attempt",
    "failure": "r.failure",
    "error": "r.error",
    "simplugin": "coalesce(cell(v.text, 'simplugin'), cell(b.text, 'simplugin'))",
    "simgrid": "coalesce(cell(v.text, 'simgrid'), cell(b.text, 'simgrid'))",
    "digest": "r.digest",
}


class Query:
    """A connection on which nothing but reading is possible, with two views.

    ``results`` has a row for each run, ``units`` one for each metric.

    Parameters
    ----------
    path : path
        The store.
    campaign : int, optional
        Number of the campaign that the views show; by default all.

    Attributes
    ----------
    columns : tuple of str
        Those of ``results``; the same as those of `StoreReader.frame`.
    """

    def __init__(self, path: Path, campaign: int | None = None) -> None:
        self._path = path
        self._interrupted = False
        self._connection = read_only(path)
        try:
            columns = columns_of(self._connection, campaign)
            self.columns = columns.names
            # SQLite's own reading of a number in JSON may be wrong in the last bit.
            self._connection.create_function("cell", -1, self._told_cell, deterministic=True)
            self._connection.execute(_view(columns, campaign))
            self._connection.execute(_units_view(columns))
            self._connection.set_authorizer(_reading_only)
            # Python looks for signals only when it is called: so Ctrl-C ends a query.
            self._connection.set_progress_handler(self._go_on, _STEPS)
        except BaseException:
            self._connection.close()
            raise

    def run(self, sql: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Return the names of an answer's columns, and its rows.

        Raises
        ------
        StoreError
            SQLite does not understand it, it would write, or it asks nothing.
        """
        try:
            answer = self._connection.execute(sql)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._told(error) from error
        if answer.description is None:
            raise StoreError(
                "the query asks nothing", file=self._path, remedy="write SELECT ... FROM results"
            )
        return [column[0] for column in answer.description], self._rows(answer)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _told_cell(self, text: str | None, *keys: str) -> Any:
        """Return a value inside JSON; SQLite does not tell which exception ended a function."""
        try:
            return _cell(text, *keys)
        except KeyboardInterrupt:
            self._interrupted = True
            raise

    @staticmethod
    def _go_on() -> int:
        """Let SQLite go on, unless a signal raises an exception here."""
        return 0

    def _rows(self, answer: sqlite3.Cursor) -> Iterator[tuple[Any, ...]]:
        """Go through an answer."""
        try:
            yield from answer
        except sqlite3.Error as error:
            raise self._told(error) from error

    def _told(self, error: Exception) -> StoreError | KeyboardInterrupt:
        """Say what is wrong with a query, and what there is."""
        text, code = str(error), getattr(error, "sqlite_errorcode", 0)
        if self._interrupted or code == sqlite3.SQLITE_INTERRUPT:
            return KeyboardInterrupt()
        if code == sqlite3.SQLITE_AUTH:
            message, remedy = "a query can only read", "rows are added by running campaigns"
            return StoreError(message, file=self._path, remedy=remedy)
        if "one statement" in text:
            message = "a query is one statement"
            return StoreError(message, file=self._path, remedy="ask for one thing after another")
        unknown = re.search(r"no such (?:column|table): (?:\w+\.)?\"?([^\"]+)", text)
        near = perhaps(unknown[1], (*self.columns, "results", *_TABLES)) if unknown else ""
        columns = ", ".join(name if name.isidentifier() else _quoted(name) for name in self.columns)
        return StoreError(
            f"SQL: {text}" + (f" ({near})" if near else ""),
            file=self._path,
            remedy=f"columns of results are {columns}; tables besides are {', '.join(_TABLES)}",
        )


def _units_view(columns: Columns) -> str:
    """Return the statement that makes the view of the metrics and their units."""
    rows = ", ".join(f"({_text(name)}, {_text(unit)})" for name, unit in columns.units.items())
    told = f"VALUES {rows}" if rows else "SELECT NULL, NULL WHERE 0"
    return f"CREATE TEMP VIEW units (metric, unit) AS {told}"


def _view(columns: Columns, campaign: int | None) -> str:
    """Return the statement that makes the view of the runs."""
    varied = {column: f"cell(m.varied, {_text(key)})" for key, column in columns.varied.items()}
    metrics = {column: f"cell(r.metrics, {_text(key)})" for key, column in columns.metrics.items()}
    known = _COLUMNS | varied | metrics
    told = ", ".join(f"{known[name]} AS {_quoted(name)}" for name in columns.names)
    conditions = COUNTING.replace("FROM runs", "FROM main.runs")
    if campaign is not None:
        conditions += f" AND m.campaign = {campaign:d}"
    return _VIEW.format(columns=told, conditions=conditions)


def _quoted(name: str) -> str:
    """Return a name of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    """Return a text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _reading_only(action: int, *_: Any) -> int:
    """Allow what reads."""
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _cell(text: str | None, *keys: str) -> Any:
    """Return a value inside JSON, for SQL; NaN is NULL."""
    value = None if text is None else _parsed(text)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, dict | list):
        return text_of(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)
    return value


@lru_cache(64)
def _parsed(text: str) -> Any:
    """Read JSON; the columns of a row ask for the same text one after another."""
    return value_of(text)
