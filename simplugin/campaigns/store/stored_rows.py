"""Rows of a store, and the records that they are."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simplugin.campaigns.jobs import Failure, Job, Measured, Record
from simplugin.campaigns.store.exact_json import holds_nan, value_of
from simplugin.campaigns.store.patches import applied
from simplugin.campaigns.store.shared_documents import SharedDocuments
from simplugin.rows import Best, Metric, Row

_NAN = float("nan")

# A row for each member of a campaign that was tried; of its attempts the one that counts, the
# outcome or else the last failure.
_SELECT = """
    SELECT m.position, j.key, m.varied, m.wall_limit, m.memory_limit,
        coalesce(m.target, j.target), coalesce(m.base, j.base),
        coalesce(m.arguments, j.arguments),
        r.attempt, r.status, r.started, r.duration, r.place, r.versions, r.shape, r.metrics,
        r.best, r.digest, r.provenance_base, r.provenance, r.failure, r.error, {document}
    FROM members m JOIN jobs j ON j.number = m.job JOIN runs r ON r.job = m.job
    {contents}
    WHERE {conditions}
    ORDER BY m.campaign, m.position
"""
COUNTING = """
    r.number = (SELECT number FROM runs WHERE job = m.job ORDER BY status, attempt DESC LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as a campaign has it.

    Attributes
    ----------
    attempt : int
        Which attempt at its key it was, from 1 on.
    record : Record
        The rest.
    """

    attempt: int
    record: Record


class StoredRows:
    """Reads the rows of a store.

    Parameters
    ----------
    connection : sqlite3.Connection
        To the store.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._shared = SharedDocuments(connection)

    def runs(
        self,
        campaign: int | None = None,
        status: str | None = None,
        *,
        with_contents: bool = False,
    ) -> Iterator[StoredRun]:
        """Go through runs, by campaign and position.

        Parameters
        ----------
        campaign, status
            Those of it only, if given.
        with_contents : bool
            Only runs of which something is kept for reports, with what is kept.
        """
        wanted = {"m.campaign": campaign, "r.status": status}
        given = {column: value for column, value in wanted.items() if value is not None}
        conditions = [f"{column} = ?" for column in given] + [COUNTING]
        statement = _SELECT.format(
            document="c.document" if with_contents else "NULL",
            contents="JOIN contents c ON c.run = r.number" if with_contents else "",
            conditions=" AND ".join(conditions),
        )
        for row in self._connection.execute(statement, list(given.values())):
            yield self._run(row)

    def _run(self, row: tuple[Any, ...]) -> StoredRun:
        """Make a run of a row."""
        position, key, varied, wall, memory, target, base, arguments, *rest = row
        attempt, status, started, duration, place, versions, *outcome = rest
        job = Job(
            key=key,
            position=position,
            target=self._shared.text(target),
            arguments=self._patched(base, arguments),
            varied=value_of(varied),
            wall_limit=wall,
            memory_limit=memory,
        )
        *measured, kind, error, document = outcome
        record = Record(
            job=job,
            measured=self._measured(measured, document) if status == "done" else None,
            failure=Failure(kind, error) if status == "failed" else None,
            started=started,
            duration=duration,
            place=place,
            versions=self._shared.document(versions),
        )
        return StoredRun(attempt, record)

    def _measured(self, columns: list[Any], document: bytes | None) -> Measured:
        """Make what came out of its columns."""
        shape, metrics, best, digest, base, provenance = columns
        told = self._shared.document(shape)
        values = value_of(metrics)
        about = told["best"]
        if about is not None:
            about = Best(value=_NAN if best is None else best, **about)
        row = Row(
            metrics=tuple(Metric(name, values[name], told["units"][name]) for name in values),
            provenance=self._patched(base, provenance),
            best=about,
        )
        contents = None if document is None else value_of(zlib.decompress(document).decode())
        return Measured(row, digest, contents)

    def _patched(self, base: int, patch: str) -> Any:
        """Return a document that is kept as a difference."""
        document = applied(self._shared.document(base), json.loads(patch))
        special = holds_nan(patch) or holds_nan(self._shared.text(base))
        return value_of(json.dumps(document)) if special else document
