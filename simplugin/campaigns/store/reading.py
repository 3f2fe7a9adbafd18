"""The reader of a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from simplugin.campaigns.jobs import Record
from simplugin.campaigns.store.cells import Cell, rows_of_cells
from simplugin.campaigns.store.columns import Columns, columns_of
from simplugin.campaigns.store.connections import read_only
from simplugin.campaigns.store.entries import CampaignEntry
from simplugin.campaigns.store.faults import told
from simplugin.campaigns.store.statements import STATE_OF
from simplugin.campaigns.store.stored_rows import StoredRows, StoredRun
from simplugin.errors import StoreError

if TYPE_CHECKING:
    import pandas

_LARGEST = 2**63  # beyond what pandas' integers hold

Status = Literal["done", "failed"]

_ENTRIES = """
    SELECT number, title, identity, file, text, total, begun, done, tried - done, total - tried
    FROM (
        SELECT c.*,
            (SELECT count(*) FROM members m JOIN runs r ON r.job = m.job
             WHERE m.campaign = c.number AND r.status = 'done') AS done,
            (SELECT count(*) FROM members m WHERE m.campaign = c.number
             AND EXISTS (SELECT 1 FROM runs r WHERE r.job = m.job)) AS tried
        FROM campaigns c
    ) ORDER BY number
"""
_VERSIONS = """
    SELECT t.text FROM members m JOIN runs r ON r.job = m.job JOIN texts t ON t.number = r.versions
    WHERE m.campaign = ? ORDER BY r.number DESC LIMIT 1
"""
_SPAN = """
    SELECT min(r.started), max(r.started), avg(r.duration) FILTER (WHERE r.status = 'done')
    FROM members m JOIN runs r ON r.job = m.job WHERE m.campaign = ?
"""


class StoreReader:
    """A store of campaigns, open for reading; another process may write to it meanwhile.

    Used as a context manager it closes at the end.

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
        There is no such file, it is no store, of a version that is not known, damaged, or cannot
        be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._connection = read_only(self.path)
        self._rows = StoredRows(self._connection)

    def campaigns(self) -> list[CampaignEntry]:
        """Return what there is of each campaign, in the order in which they were begun."""
        with told(self.path):
            rows = self._connection.execute(_ENTRIES).fetchall()
        return [
            CampaignEntry(number, title, identity, file, text, total, begun, *counts)
            for number, title, identity, file, text, total, begun, *counts in rows
        ]

    def latest(self) -> CampaignEntry:
        """Return the campaign that was begun last.

        Raises
        ------
        StoreError
            There is none.
        """
        entries = self.campaigns()
        if not entries:
            raise StoreError("there is no campaign in the store", file=self.path)
        return entries[-1]

    def entry(self, number: int) -> CampaignEntry:
        """Return a campaign by its number.

        Raises
        ------
        StoreError
            There is none with this number.
        """
        entries = self.campaigns()
        for entry in entries:
            if entry.number == number:
                return entry
        known = ", ".join(f"{each.number} ({each.title or each.file})" for each in entries)
        message = f"there is no campaign {number} in the store"
        raise StoreError(message, file=self.path, remedy=f"there are {known}" if known else None)

    def described(self, identity: str) -> CampaignEntry | None:
        """Return the campaign that a source with this identity describes, if there is one."""
        return next((each for each in self.campaigns() if each.identity == identity), None)

    def versions(self, campaign: int) -> dict[str, str]:
        """Return the versions that the last runs of a campaign were done with."""
        with told(self.path):
            row = self._connection.execute(_VERSIONS, (campaign,)).fetchone()
        return {} if row is None else dict(json.loads(row[0]))

    def span(self, campaign: int) -> tuple[str | None, str | None, float | None]:
        """Return when its first and last run started, and how long one took in the mean [s].

        Runs that another campaign had done before count too; the mean is that of outcomes. None
        where there is nothing yet.
        """
        with told(self.path):
            first, last, mean = self._connection.execute(_SPAN, (campaign,)).fetchone()
        return first, last, mean

    def runs(
        self, campaign: int | None = None, status: Status | None = None
    ) -> Iterator[StoredRun]:
        """Go through what came out, a run for each job that was tried, by position.

        Of several attempts the outcome counts, or else the last failure.

        Parameters
        ----------
        campaign : int, optional
            Its number; by default all of them, and a run that is in two is there twice.
        status : {"done", "failed"}, optional
            By default both.

        Raises
        ------
        StoreError
            There is no such campaign, or the store is damaged.
        """
        if campaign is not None:
            self.entry(campaign)
        with told(self.path):
            yield from self._rows.runs(campaign, status)

    def failures(self, campaign: int | None = None) -> Iterator[Record]:
        """Go through the jobs that have only failed, by position."""
        return (run.record for run in self.runs(campaign, "failed"))

    def state_of(self, key: str) -> str | None:
        """Return whether a run is ``"done"``, has only ``"failed"``, or None if it is not there."""
        with told(self.path):
            row = self._connection.execute(STATE_OF, (key,)).fetchone()
        return None if row is None else str(row[0])

    def contents(self, campaign: int | None = None) -> Iterator[tuple[Record, Mapping[str, Any]]]:
        """Go through the runs of which something is kept for reports, with what is kept."""
        if campaign is not None:
            self.entry(campaign)
        with told(self.path):
            for run in self._rows.runs(campaign, with_contents=True):
                measured = run.record.measured
                assert measured is not None
                yield run.record, measured.contents or {}

    def frame(self, campaign: int | None = None, *, every: bool = False) -> pandas.DataFrame:
        """Return a table of the runs, a row each; see `simplugin.campaigns.store.columns`.

        Parameters
        ----------
        campaign : int, optional
            Its number; by default all of them, and a run that is in two has two rows.
        every : bool
            A row for each attempt, not only for those that count.

        Returns
        -------
        pandas.DataFrame
            ``frame.attrs["units"]`` has the units of the metrics by their columns.
        """
        columns = self.columns(campaign)
        return _frame_of(columns, self.cells(columns, campaign, every=every))

    def columns(self, campaign: int | None = None) -> Columns:
        """Return the columns that the table of a campaign's runs has.

        Raises
        ------
        StoreError
            There is no such campaign, or the store is damaged.
        """
        if campaign is not None:
            self.entry(campaign)
        with told(self.path):
            return columns_of(self._connection, campaign)

    def cells(
        self, columns: Columns, campaign: int | None = None, *, every: bool = False
    ) -> Iterator[list[Cell]]:
        """Go through the table of a campaign's runs row by row, as `frame` has it."""
        with told(self.path):
            yield from rows_of_cells(self._connection, columns, campaign, every=every)

    def close(self) -> None:
        """Close the file; also when called twice."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()


def results(
    store: str | Path, campaign: int | Literal["all"] | None = None, *, every: bool = False
) -> pandas.DataFrame:
    """Return a table of the runs of a campaign, a row each.

    Parameters
    ----------
    store : path
        The store.
    campaign : int or "all", optional
        Number of a campaign in it; by default the one that was begun last. A run that is in two
        has two rows in the table of all.
    every : bool
        A row for each attempt, not only for those that count.

    Returns
    -------
    pandas.DataFrame
        Columns as `simplugin.campaigns.store.columns` has them; ``attrs["units"]`` has the units
        of the metrics by their columns.

    Raises
    ------
    StoreError
        The store cannot be read, or there is no such campaign.
    """
    with StoreReader(store) as reader:
        number = reader.latest().number if campaign is None else campaign
        return reader.frame(None if number == "all" else number, every=every)


def _frame_of(columns: Columns, rows: Iterable[Sequence[Any]]) -> pandas.DataFrame:
    """Return rows of cells as a table; ``attrs["units"]`` has the units of the metrics."""
    import pandas

    cells: list[list[Any]] = [[] for _ in columns.names]
    for row in rows:
        for column, cell in zip(cells, row, strict=True):
            column.append(cell)
    table = pandas.DataFrame(
        {name: _column(column) for name, column in zip(columns.names, cells, strict=True)}
    )
    table.attrs["units"] = columns.units
    return table


def _column(cells: list[Any]) -> Any:
    """Return a column with the narrowest type that keeps every cell as it is."""
    import pandas

    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int} and None in cells:
        if all(abs(cell or 0) < _LARGEST for cell in cells):
            return pandas.array(cells, dtype="Int64")
        return pandas.Series(cells, dtype="object")
    if kinds and kinds <= {int, float}:
        return pandas.Series(cells, dtype="float64" if float in kinds or None in cells else None)
    return pandas.Series(cells, dtype="object" if len(kinds) != 1 else None)
