"""The reader of a store."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from simplugin.campaigns.jobs import Failure, RunJob, RunRecord
from simplugin.campaigns.store.documents import text_reader, value_of
from simplugin.campaigns.store.schema import (
    COUNTING,
    STATE_OF,
    no_campaign,
    read_only,
    sqlite_errors,
)
from simplugin.campaigns.store.tables import Cell, RunColumns, cells_of, columns_of, frame_of
from simplugin.core.errors import SetupError, SimpluginError, StoreError
from simplugin.results.row import Best, Metric, Row, RunResult

if TYPE_CHECKING:
    import pandas

SUFFIXES = (".csv", ".parquet")
Status = Literal["done", "failed"]

_ENTRIES = """
    SELECT number, title, identity, file, text, total, begun, recipe,
        done, tried - done, total - tried
    FROM (
        SELECT c.*,
            (SELECT count(*) FROM members m JOIN runs r ON r.key = m.key
             WHERE m.campaign = c.number AND r.status = 'done') AS done,
            (SELECT count(*) FROM members m WHERE m.campaign = c.number
             AND EXISTS (SELECT 1 FROM runs r WHERE r.key = m.key)) AS tried
        FROM campaigns c
    ) ORDER BY number
"""
_VERSIONS = """
    SELECT r.versions FROM members m JOIN runs r ON r.key = m.key
    WHERE m.campaign = ? ORDER BY r.number DESC LIMIT 1
"""
_SPAN = """
    SELECT min(r.started), max(r.started), avg(r.duration) FILTER (WHERE r.status = 'done')
    FROM members m JOIN runs r ON r.key = m.key WHERE m.campaign = ?
"""
_RUNS = """
    SELECT m.position, m.key, c.target, m.arguments, m.varied,
        r.attempt, r.started, r.duration, r.place, r.versions, r.failure, r.error,
        r.shape, r.metrics, r.best, r.digest, r.provenance_base, r.provenance, r.contents
    FROM members m JOIN campaigns c ON c.number = m.campaign JOIN runs r ON r.key = m.key
    WHERE {conditions}
    ORDER BY m.campaign, m.position
"""


@dataclass(frozen=True, slots=True)
class CampaignEntry:
    """A campaign in a store.

    Attributes
    ----------
    number : int
        Its number in the store, from 1.
    title, identity, file, text : str
        As in `simplugin.campaigns.jobs.JobSource`.
    total : int
        The number of its jobs.
    begun : str
        The date of its first start, as ISO 8601 in UTC.
    recipe : str or None
        As in `simplugin.campaigns.jobs.JobSource`, as JSON.
    done, failed, missing : int
        Numbers of its jobs with a result, with failures only, and without an attempt.
    """

    number: int
    title: str
    identity: str
    file: str
    text: str
    total: int
    begun: str
    recipe: str | None
    done: int
    failed: int
    missing: int


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of a campaign.

    Attributes
    ----------
    attempt : int
        Number of the attempt at its key, from 1.
    record : RunRecord
        The record. Its job has no limits, and no arguments if the campaign has a recipe.
    """

    attempt: int
    record: RunRecord


class StoreReader(AbstractContextManager["StoreReader"]):
    """A store of campaigns, open for reading, also while another process writes to it.

    As a context manager it closes the store.

    Parameters
    ----------
    path : path
        The file.

    Attributes
    ----------
    path : path
        The file.

    Raises
    ------
    StoreError
        The file is missing, is not a store, has an unknown version, is damaged, or cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._connection = read_only(self.path)
        self._document = text_reader(self._connection)

    def campaigns(self) -> list[CampaignEntry]:
        """Return the entries of all campaigns in the order of their starts."""
        with sqlite_errors(self.path):
            rows = self._connection.execute(_ENTRIES).fetchall()
        return [CampaignEntry(*row) for row in rows]

    def latest(self) -> CampaignEntry:
        """Return the entry of the last campaign; raise StoreError if the store is empty."""
        entries = self.campaigns()
        if not entries:
            raise StoreError(
                "there is no campaign in the store", file=self.path, remedy=no_campaign(self.path)
            )
        return entries[-1]

    def entry(self, number: int) -> CampaignEntry:
        """Return the entry with a number; raise StoreError if it does not exist."""
        entries = self.campaigns()
        for entry in entries:
            if entry.number == number:
                return entry
        known = ", ".join(f"{each.number} ({each.title or each.file})" for each in entries)
        message = f"there is no campaign {number} in the store"
        raise StoreError(message, file=self.path, remedy=f"there are {known}" if known else None)

    def described(self, identity: str) -> CampaignEntry | None:
        """Return the entry with an identity, or None."""
        return next((each for each in self.campaigns() if each.identity == identity), None)

    def versions(self, campaign: int) -> dict[str, str]:
        """Return the software versions of the last run of a campaign."""
        with sqlite_errors(self.path):
            row = self._connection.execute(_VERSIONS, (campaign,)).fetchone()
        return {} if row is None else dict(self._document(row[0]))

    def span(self, campaign: int) -> tuple[str | None, str | None, float | None]:
        """Return the dates of the first and last start, and the mean duration of done runs [s].

        Shared runs of other campaigns are included. Values without runs are None.
        """
        with sqlite_errors(self.path):
            first, last, mean = self._connection.execute(_SPAN, (campaign,)).fetchone()
        return first, last, mean

    def runs(
        self, campaign: int | None = None, status: Status | None = None, *, first: int = 0
    ) -> Iterator[StoredRun]:
        """Yield the run of each job that has one, by position.

        Of several attempts the result counts, or else the last failure.

        Parameters
        ----------
        campaign : int, optional
            Number of the campaign; by default all campaigns, which repeats shared runs.
        status : {"done", "failed"}, optional
            Only runs with this status.
        first : int
            Least position.

        Raises
        ------
        StoreError
            The campaign does not exist, or the store is damaged.
        """
        if campaign is not None:
            self.entry(campaign)
        wanted = {"m.campaign": campaign, "r.status": status}
        given = {column: value for column, value in wanted.items() if value is not None}
        conditions = [f"{column} = ?" for column in given] + [COUNTING, f"m.position >= {first:d}"]
        with sqlite_errors(self.path):
            statement = _RUNS.format(conditions=" AND ".join(conditions))
            for row in self._connection.execute(statement, list(given.values())):
                yield self._run(*row)

    def failures(self, campaign: int | None = None) -> Iterator[RunRecord]:
        """Yield the last failure of each job without a result, by position."""
        return (run.record for run in self.runs(campaign, "failed"))

    def state_of(self, key: str) -> str | None:
        """Return the status of a key, ``"done"`` or ``"failed"``; None without an attempt."""
        with sqlite_errors(self.path):
            row = self._connection.execute(STATE_OF, (bytes.fromhex(key),)).fetchone()
        return None if row is None else str(row[0])

    def contents(
        self, campaign: int | None = None
    ) -> Iterator[tuple[RunRecord, Mapping[str, Any]]]:
        """Yield the runs with contents for reports, and these contents."""
        for run in self.runs(campaign, "done"):
            measured = run.record.measured
            if measured is not None and measured.contents is not None:
                yield run.record, measured.contents

    def frame(self, campaign: int | None = None, *, every: bool = False) -> pandas.DataFrame:
        """Return a table with a row for each run; see `simplugin.campaigns.store.tables`.

        Parameters
        ----------
        campaign : int, optional
            Number of the campaign; by default all campaigns, which repeats shared runs.
        every : bool
            True for a row for each attempt.

        Returns
        -------
        pandas.DataFrame
            ``frame.attrs["units"]`` has the units of the metrics by their columns.
        """
        columns = self.columns(campaign)
        return frame_of(columns, self.cells(columns, campaign, every=every))

    def columns(self, campaign: int | None = None) -> RunColumns:
        """Return the columns of the table of a campaign; raise StoreError if it does not exist."""
        if campaign is not None:
            self.entry(campaign)
        with sqlite_errors(self.path):
            return columns_of(self._connection, campaign)

    def cells(
        self, columns: RunColumns, campaign: int | None = None, *, every: bool = False
    ) -> Iterator[list[Cell]]:
        """Yield the rows of `frame`."""
        with sqlite_errors(self.path):
            yield from cells_of(self._connection, columns, campaign, every=every)

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._connection.close()

    def __exit__(self, *exception: object) -> None:
        """Close."""
        self.close()

    def _run(self, *row: Any) -> StoredRun:
        """Return the run of a row."""
        position, key, target, arguments, varied, attempt, *rest = row
        started, duration, place, versions, kind, error, *measured = rest
        given = {} if arguments is None else value_of(arguments)
        record = RunRecord(
            job=RunJob(key.hex(), position, target, given, value_of(varied)),
            measured=self._measured(*measured) if error is None else None,
            failure=None if error is None else Failure(kind, error),
            started=started,
            duration=duration,
            place=place,
            versions=self._document(versions),
        )
        return StoredRun(attempt, record)

    def _measured(self, *row: Any) -> RunResult:
        """Return the outcome of a row."""
        shape, metrics, best, digest, base, provenance, contents = row
        about = self._document(shape)
        values, senses = value_of(metrics), about.get("senses", {})
        if about["best"] is not None:
            # SQLite stores NaN as NULL.
            value = float("nan") if best is None else best
            about = {**about, "best": Best(value=value, **about["best"])}
        found = (
            Metric(name, values[name], about["units"][name], senses.get(name)) for name in values
        )
        made_by = {**self._document(base), **value_of(provenance)}
        kept = None if contents is None else value_of(zlib.decompress(contents).decode())
        return RunResult(Row(tuple(found), made_by, about["best"]), digest, kept)


def results(
    store: str | Path, campaign: int | Literal["all"] | None = None, *, every: bool = False
) -> pandas.DataFrame:
    """Return a table with a row for each run of a campaign.

    Parameters
    ----------
    store : path
        The store.
    campaign : int or "all", optional
        Number of the campaign; by default the last one. The table of all repeats shared runs.
    every : bool
        True for a row for each attempt.

    Returns
    -------
    pandas.DataFrame
        Columns as in `simplugin.campaigns.store.tables`; ``attrs["units"]`` has the units of the
        metrics by their columns.

    Raises
    ------
    StoreError
        The store cannot be read, or the campaign does not exist.
    """
    with StoreReader(store) as reader:
        number = reader.latest().number if campaign is None else campaign
        return reader.frame(None if number == "all" else number, every=every)


def export(
    store: Path, file: Path, campaign: int | None = None, *, every: bool = False
) -> tuple[int, int]:
    """Write a table with a row for each run of a campaign, or of all campaigns.

    Parameters
    ----------
    store : path
        The store.
    file : path
        The file to write, ``.csv`` or ``.parquet``; an existing file is replaced. In Parquet files
        a column of several types, or with integers beyond 64 bits, becomes a column of texts.
    campaign : int, optional
        Number of the campaign.
    every : bool
        True for a row for each attempt.

    Returns
    -------
    int, int
        The numbers of rows and columns.

    Raises
    ------
    SimpluginError
        The file has another suffix or cannot be written.
    SetupError
        pyarrow, which writes Parquet files, is missing.
    StoreError
        The store cannot be read.
    """
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        known = " or ".join(SUFFIXES)
        raise SimpluginError(f"{file}: tables are written as {known}; name a file with that suffix")
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        message = "Parquet files need pyarrow: pip install 'simplugin[parquet]', or export to .csv"
        raise SetupError(message)
    new = file.with_name(f".{file.name}.new")
    try:
        with StoreReader(store) as reader:
            columns, count = reader.columns(campaign), 0
            file.parent.mkdir(parents=True, exist_ok=True)
            if suffix == ".parquet":
                count = _write_parquet(reader.frame(campaign, every=every), new)
            else:
                with new.open("w", encoding="utf-8", newline="") as opened:
                    writer = csv.writer(opened, lineterminator="\n")
                    writer.writerow(columns.names)
                    for row in reader.cells(columns, campaign, every=every):
                        writer.writerow(row)
                        count += 1
        new.replace(file)
    except OSError as error:
        raise SimpluginError(f"{file}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            new.unlink()
    return count, len(columns.names)


def _write_parquet(table: pandas.DataFrame, file: Path) -> int:
    """Write a Parquet file; return the number of rows."""
    for name in table.columns:
        column = table[name]
        if column.dtype == object:
            kinds = {type(cell) for cell in column if cell is not None}
            if len(kinds) > 1 or int in kinds:
                table[name] = column.map(str, na_action="ignore")
    table.to_parquet(file, engine="pyarrow", index=False)
    return len(table)
