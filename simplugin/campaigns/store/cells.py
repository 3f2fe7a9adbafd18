"""The cells of a table of runs, row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from simplugin.campaigns.store.columns import Columns
from simplugin.campaigns.store.exact_json import text_of, value_of
from simplugin.campaigns.store.shared_documents import SharedDocuments
from simplugin.campaigns.store.stored_rows import COUNTING

Cell = float | int | str | bool | None

_SELECT = """
    SELECT m.campaign, m.position, j.key, r.status, m.varied, r.metrics, r.shape, r.best, r.gap,
        r.provenance, r.provenance_base, r.versions, r.duration, r.started, r.place, r.attempt,
        r.failure, r.error, r.digest
    FROM members m JOIN jobs j ON j.number = m.job JOIN runs r ON r.job = m.job
    WHERE {conditions}
    ORDER BY m.campaign, m.position, r.attempt
"""


def rows_of_cells(
    connection: sqlite3.Connection, columns: Columns, campaign: int | None, *, every: bool
) -> Iterator[list[Cell]]:
    """Go through the runs of a campaign, or of all, as rows of a table with these columns.

    Whole tables and lists that were varied are JSON.

    Parameters
    ----------
    connection : sqlite3.Connection
        To the store.
    columns : Columns
        As `columns_of` finds them.
    campaign : int, optional
        Its number.
    every : bool
        All attempts, not only those that count.
    """
    shared = SharedDocuments(connection)
    conditions = ["1"] if campaign is None else ["m.campaign = ?"]
    statement = _SELECT.format(conditions=" AND ".join(conditions + [COUNTING] * (not every)))
    for row in connection.execute(statement, () if campaign is None else (campaign,)):
        *first, varied, metrics, shape, best, gap, provenance, base, versions = row[:12]
        duration, started, place, attempt, failure, error, digest = row[12:]
        values = value_of(varied)
        numbers = value_of(metrics) if metrics else {}
        about = shared.document(shape)["best"] if shape else None
        made_by = shared.document(versions)
        changed = json.loads(provenance) if provenance else {}
        whole = shared.document(base) if base else {}
        yield [
            *first,
            *(_cell(values.get(key)) for key in columns.varied),
            *(numbers.get(name) for name in columns.metrics),
            best if about and about["proof"] == "optimum" else None,
            best if about and about["proof"] == "bound" else None,
            gap,
            changed.get("seed", whole.get("seed")),
            *(duration, started, place, attempt, failure, error),
            *(made_by.get(name, whole.get(name)) for name in ("simplugin", "simgrid")),
            digest,
        ]


def _cell(value: Any) -> Cell:
    """Return a value that was varied, as a cell."""
    return text_of(value) if isinstance(value, dict | list) else value
