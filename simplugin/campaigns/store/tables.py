"""The table of runs: its columns, as pandas, as files, and as a table for SQL.

The columns are in this order: the identification of the run (`campaign`, `position`, `key`,
`status`), the varied dotted keys, the metrics, then `optimum`, `bound` and `gap`, and further data
(`seed` to `digest`).
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from simplugin.campaigns.store.documents import text_of, text_reader, value_of
from simplugin.campaigns.store.schema import COUNTING, read_only
from simplugin.core.errors import StoreError
from simplugin.core.name_suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas

Cell = float | int | str | bool | None

_CELLS = """
    SELECT m.campaign, m.position, lower(hex(m.key)), r.status, m.varied, r.metrics, r.shape,
        r.best, r.gap, r.provenance, r.provenance_base, r.versions, r.duration, r.started, r.place,
        r.attempt, r.failure, r.error, r.digest
    FROM members m JOIN runs r ON r.key = m.key
    WHERE {conditions}
    ORDER BY m.campaign, m.position, r.attempt
"""
_TABLES = ("units", "campaigns", "members", "runs", "texts")
# Steps of SQLite's virtual machine between two checks of the time, a few milliseconds.
_STEPS = 100_000
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
_FIRST = ("campaign", "position", "key", "status")
_BEST = ("optimum", "bound", "gap")
_LAST = (
    *("seed", "duration", "started", "place", "attempts", "failure", "error"),
    *("simplugin", "simgrid", "digest"),
)
_LARGEST = 2**63  # beyond the integers of pandas and SQLite


@dataclass(frozen=True)
class RunColumns:
    """The columns of a table of runs.

    Attributes
    ----------
    varied : dict of str to str
        The column of each varied key: its name, unless another column has that name.
    metrics : dict of str to str
        The column of each metric.
    units : dict of str to str
        The unit of each column of a metric.
    """

    varied: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns in order."""
        return (*_FIRST, *self.varied.values(), *self.metrics.values(), *_BEST, *_LAST)


def columns_of(connection: sqlite3.Connection, campaign: int | None = None) -> RunColumns:
    """Return the columns of the runs of a campaign, or of all campaigns."""
    where, values = ("WHERE campaign = ?", [campaign]) if campaign is not None else ("", [])
    taken = set((*_FIRST, *_BEST, *_LAST))
    keys: dict[str, None] = {}
    for (varied,) in connection.execute(f"SELECT varied FROM members {where}", values):
        keys.update(dict.fromkeys(value_of(varied)))
    runs = f"SELECT shape FROM runs WHERE key IN (SELECT key FROM members {where})"
    shapes = connection.execute(
        f"SELECT text FROM texts WHERE number IN ({runs}) ORDER BY number", values
    )
    units: dict[str, str] = {}
    for (shape,) in shapes:
        units.update(value_of(shape)["units"])
    varied = {key: f"varied.{key}" if key in taken else key for key in keys}
    taken |= set(varied.values())
    metrics = {name: f"metric.{name}" if name in taken else name for name in units}
    return RunColumns(varied, metrics, {metrics[name]: unit for name, unit in units.items()})


def cells_of(
    connection: sqlite3.Connection, columns: RunColumns, campaign: int | None, *, every: bool
) -> Iterator[list[Cell]]:
    """Yield the rows of the table of runs; varied tables and lists are JSON.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the store.
    columns : RunColumns
        The result of `columns_of`.
    campaign : int, optional
        Number of the campaign; by default all campaigns.
    every : bool
        True for all attempts.
    """
    document = text_reader(connection)
    conditions = ["1"] if campaign is None else ["m.campaign = ?"]
    statement = _CELLS.format(conditions=" AND ".join(conditions + [COUNTING] * (not every)))
    for row in connection.execute(statement, () if campaign is None else (campaign,)):
        *first, varied, metrics, shape, best, gap, provenance, base, versions = row[:12]
        duration, started, place, attempt, failure, error, digest = row[12:]
        values = value_of(varied)
        numbers = value_of(metrics) if metrics else {}
        about = document(shape)["best"] if shape else None
        made_by = document(versions)
        changed = value_of(provenance) if provenance else {}
        whole = document(base) if base else {}
        yield [
            *first,
            *(plain_cell(values.get(key)) for key in columns.varied),
            *(numbers.get(name) for name in columns.metrics),
            best if about and about["proof"] == "optimum" else None,
            best if about and about["proof"] == "bound" else None,
            gap,
            changed.get("seed", whole.get("seed")),
            *(duration, started, place, attempt, failure, error),
            *(made_by.get(name, whole.get(name)) for name in ("simplugin", "simgrid")),
            digest,
        ]


def plain_cell(value: Any) -> Cell:
    """Return a value as a cell of a table: a number, a text, or else JSON."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return text_of(value)


def frame_of(columns: RunColumns, rows: Iterable[Sequence[Any]]) -> pandas.DataFrame:
    """Return rows of cells as a table; ``attrs["units"]`` has the units of the metrics."""
    import pandas

    cells = list(map(list, zip(*rows, strict=True))) or [[] for _ in columns.names]
    table = pandas.DataFrame(
        {name: _column(column) for name, column in zip(columns.names, cells, strict=True)}
    )
    table.attrs["units"] = columns.units
    return table


def _column(cells: list[Any]) -> Any:
    """Return a column with the narrowest type that represents all cells exactly."""
    import pandas

    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int} and None in cells:
        if all(abs(cell or 0) < _LARGEST for cell in cells):
            return pandas.array(cells, dtype="Int64")
        return pandas.Series(cells, dtype="object")
    if kinds and kinds <= {int, float}:
        return pandas.Series(cells, dtype="float64" if float in kinds or None in cells else None)
    return pandas.Series(cells, dtype="object" if len(kinds) != 1 else None)


class Query:
    """A read-only connection with the tables ``results``, of all runs, and ``units``, of metrics.

    Parameters
    ----------
    path : path
        The store.
    campaign : int, optional
        Number of the campaign in the tables; by default all campaigns.
    wall_limit : float
        Time limit of a query, and of filling the tables [s].

    Attributes
    ----------
    columns : tuple of str
        Columns of ``results``; the same as those of `StoreReader.frame`.
    """

    def __init__(
        self, path: Path, campaign: int | None = None, wall_limit: float = math.inf
    ) -> None:
        self._path = path
        self._wall_limit = wall_limit
        self._end = monotonic() + wall_limit
        self._connection = read_only(path)
        try:
            columns = columns_of(self._connection, campaign)
            self.columns = columns.names
            cells = cells_of(self._connection, columns, campaign, every=False)
            self._add_table("results", self.columns, cells)
            self._add_table("units", ("metric", "unit"), columns.units.items())
            self._connection.set_authorizer(
                lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
            )
            # Python handles signals only when it is called: thus Ctrl-C ends a query.
            self._connection.set_progress_handler(lambda: int(monotonic() > self._end), _STEPS)
        except BaseException:
            self._connection.close()
            raise

    def run(self, sql: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Execute a query; return the names of its columns, and its rows.

        Raises
        ------
        StoreError
            The query is invalid, would write, or returns no rows; or it exceeds the time limit,
            also while rows are read.
        """
        self._end = monotonic() + self._wall_limit
        try:
            answer = self._connection.execute(sql)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._query_error(error) from error
        if answer.description is None:
            message, remedy = "the query returns no columns", "write SELECT ... FROM results"
            raise StoreError(message, file=self._path, remedy=remedy)
        return [column[0] for column in answer.description], self._rows(answer)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _add_table(self, table: str, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
        """Create a temporary table; columns have no type, so that values stay as they are."""
        names = ", ".join(f"NULL AS {_quoted(name)}" for name in columns)
        self._connection.execute(f"CREATE TEMP TABLE {table} AS SELECT {names} WHERE 0")
        add = f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})"
        self._connection.execute("BEGIN")
        self._connection.executemany(add, self._values(rows))
        self._connection.execute("COMMIT")

    def _values(self, rows: Iterable[Iterable[Any]]) -> Iterator[list[Any]]:
        """Yield the values of rows for SQLite; raise StoreError if the time limit is over."""
        for row in rows:
            if monotonic() > self._end:
                raise self._too_late()
            yield list(map(_sql_value, row))

    def _too_late(self) -> StoreError:
        """Return the error of a query that takes too long."""
        remedy = "ask for fewer rows, or raise --wall-limit"
        return StoreError(
            f"no answer within {self._wall_limit:g} s", file=self._path, remedy=remedy
        )

    def _rows(self, answer: sqlite3.Cursor) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of an answer."""
        try:
            yield from answer
        except sqlite3.Error as error:
            raise self._query_error(error) from error

    def _query_error(self, error: Exception) -> StoreError | KeyboardInterrupt:
        """Return the error of a query, with a list of tables and columns."""
        text, code = str(error), getattr(error, "sqlite_errorcode", 0)
        if code == sqlite3.SQLITE_INTERRUPT and monotonic() > self._end:
            return self._too_late()
        if code == sqlite3.SQLITE_INTERRUPT:
            return KeyboardInterrupt()
        if code == sqlite3.SQLITE_AUTH:
            message, remedy = "a query can only read", "run a campaign to add rows"
            return StoreError(message, file=self._path, remedy=remedy)
        if "one statement" in text:
            message, remedy = "a query is one statement", "run several statements separately"
            return StoreError(message, file=self._path, remedy=remedy)
        unknown = re.search(r"no such (?:column|table): (?:\w+\.)?\"?([^\"]+)", text)
        near = did_you_mean(unknown[1], (*self.columns, "results", *_TABLES)) if unknown else ""
        columns = ", ".join(name if name.isidentifier() else _quoted(name) for name in self.columns)
        return StoreError(
            f"SQL: {text}" + (f" ({near})" if near else ""),
            file=self._path,
            remedy=f"columns of results are {columns}; further tables are {', '.join(_TABLES)}",
        )


def _quoted(name: str) -> str:
    """Return a name of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _sql_value(cell: Cell) -> Cell:
    """Return a cell that SQLite can hold."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "backslashreplace").decode()
    if isinstance(cell, int) and not -_LARGEST <= cell < _LARGEST:
        return float(cell)
    return cell
