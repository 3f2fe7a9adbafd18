"""The writer of a store."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simplugin.campaigns.jobs import Failure, JobSource, RunJob, RunRecord
from simplugin.campaigns.store.documents import TextWriter, text_of
from simplugin.campaigns.store.schema import (
    STATE_OF,
    WriterLock,
    connected,
    make_empty,
    require_there,
    sqlite_errors,
    unwritable,
)
from simplugin.results.row import RunResult

_LARGEST = 2**63
_ATTEMPTS = "SELECT coalesce(max(attempt), 0) FROM runs WHERE key = ?"
_ADD_MEMBER = """
    INSERT INTO members (campaign, position, key, varied, arguments) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (campaign, position) DO UPDATE SET key = excluded.key, varied = excluded.varied,
        arguments = excluded.arguments
    WHERE key != excluded.key
"""
_CONCLUDE = """
    UPDATE campaigns SET total = (SELECT count(*) FROM members WHERE campaign = campaigns.number)
    WHERE number = ?
"""


class Store(AbstractContextManager["Store"]):
    """A store of campaigns, open for writing by this process alone.

    Appended rows belong to an open transaction until `commit` makes them durable: SQLite writes
    ahead (WAL) and waits for the disk (``synchronous=FULL``). Rows are only added, never changed.
    As a context manager it commits at the end, or rolls back after an exception.

    Attributes
    ----------
    path : path
        The file.
    """

    def __init__(self, path: Path, lock: WriterLock) -> None:
        self.path = path
        self._lock = lock
        self._connection = connected(path, "mode=rw", "written")
        try:
            with sqlite_errors(path, "written"):
                for pragma in ("journal_mode = WAL", "synchronous = FULL"):
                    self._connection.execute(f"PRAGMA {pragma}")
                found = self._connection.execute("SELECT number FROM campaigns WHERE recipe > ''")
                self._with_recipe = {number for (number,) in found}
        except BaseException:
            self._connection.close()
            raise
        self._texts = TextWriter(self._connection)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a store for writing; create it, and directories above it, if it is missing.

        Raises
        ------
        StoreError
            Another process writes to it; it is not a store, or has another version of the format;
            it cannot be created or read.
        """
        path = Path(path)
        require_there(path, missing_ok=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(path, f"{path.parent}: {error.strerror}") from error
        lock = WriterLock(path)
        try:
            if not path.exists():
                make_empty(path)
            return cls(path, lock)
        except BaseException:
            lock.release()
            raise

    def begin(self, source: JobSource) -> int:
        """Return the number of a campaign, which is recorded if it is new."""
        found = self._row("SELECT number FROM campaigns WHERE identity = ?", source.identity)
        if found is not None:
            return int(found[0])
        recipe = None if source.recipe is None else text_of(source.recipe)
        names = ("identity", "title", "file", "text", "total", "target")
        row = {name: getattr(source, name) for name in names}
        row |= {"begun": datetime.now(UTC).isoformat(timespec="seconds"), "recipe": recipe}
        with self._atomic():
            number = self._add("campaigns", row)
        if recipe is not None:
            self._with_recipe.add(number)
        self.commit()
        return number

    def conclude(self, campaign: int) -> None:
        """Set the total of a campaign to the number of runs that it has: no more are planned."""
        with self._atomic():
            self._connection.execute(_CONCLUDE, [campaign])
        self.commit()

    def state_of(self, key: str) -> str | None:
        """Return ``"done"``, ``"failed"`` if all attempts failed, or None without an attempt."""
        found = self._row(STATE_OF, bytes.fromhex(key))
        return None if found is None else str(found[0])

    def note(self, campaign: int, job: RunJob) -> None:
        """Record a job as a member of a campaign."""
        with self._atomic():
            self._add_member(campaign, job)

    def follow(self, campaign: int, key: str, job: RunJob) -> None:
        """Replace a key by that of a job at all its positions in a campaign."""
        keys = (bytes.fromhex(job.key), campaign, bytes.fromhex(key))
        with self._atomic():
            self._add_member(campaign, job)
            update = "UPDATE members SET key = ? WHERE campaign = ? AND key = ?"
            self._connection.execute(update, keys)

    def append(self, campaign: int, record: RunRecord) -> None:
        """Add an attempt to run a job; durable after the next `commit`.

        Raises
        ------
        StoreError
            The key has a result already, the record has a value that is not a container, number
            or text, or the disk is full; nothing is added.
        """
        key = bytes.fromhex(record.job.key)
        with self._atomic():
            self._add_member(campaign, record.job)
            (earlier,) = self._connection.execute(_ATTEMPTS, (key,)).fetchone()
            row: dict[str, Any] = {
                "key": key,
                "attempt": earlier + 1,
                "campaign": campaign,
                "status": "failed" if record.measured is None else "done",
                "started": record.started,
                "duration": record.duration,
                "place": record.place,
                "versions": self._texts.number_of(text_of(record.versions)),
            }
            if record.measured is not None:
                row |= self._measured(record.measured)
            else:
                failure = record.failure or Failure("error", "")
                # The output of programs may hold any bytes.
                text = failure.text.encode("utf-8", "backslashreplace").decode("utf-8")
                row |= {"failure": failure.kind, "error": text}
            self._add("runs", row)

    def commit(self) -> None:
        """Make all appended rows durable.

        Raises
        ------
        StoreError
            The disk is full or fails; earlier commits are safe.
        """
        if not self._connection.in_transaction:
            return
        try:
            with sqlite_errors(self.path, "written"):
                self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def close(self) -> None:
        """Roll back the open transaction and release the lock; may be called twice."""
        try:
            self._roll_back()
            self._connection.close()
        finally:
            self._lock.release()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Commit, or roll back after an exception; close."""
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def _add(self, table: str, row: Mapping[str, Any]) -> int:
        """Add a row to a table; return its number."""
        places = ", ".join("?" * len(row))
        add = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})"
        number = self._connection.execute(add, list(row.values())).lastrowid
        assert number is not None
        return number

    def _add_member(self, campaign: int, job: RunJob) -> None:
        """Add a job to the members of a campaign, or replace the member at its position."""
        arguments = None if campaign in self._with_recipe else text_of(job.arguments)
        member = (campaign, job.position, bytes.fromhex(job.key), text_of(job.varied), arguments)
        self._connection.execute(_ADD_MEMBER, member)

    def _measured(self, measured: RunResult) -> dict[str, Any]:
        """Return the columns of a result."""
        row, best = measured.row, measured.row.best
        about = best and {"metric": best.metric, "proof": best.proof, "sense": best.sense}
        senses = {metric.name: metric.sense for metric in row if metric.sense is not None}
        units = {metric.name: metric.unit for metric in row}
        shape = {"units": units, "best": about, "senses": senses}
        base, provenance = self._texts.packed(row.provenance)
        contents = measured.contents
        return {
            "shape": self._texts.number_of(text_of(shape)),
            "metrics": text_of({metric.name: metric.value for metric in row}),
            "best": None if best is None else _number(best.value),
            "gap": row.gap,
            "digest": measured.digest,
            "provenance_base": base,
            "provenance": provenance,
            "contents": None if contents is None else zlib.compress(text_of(contents).encode()),
        }

    def _row(self, statement: str, value: str | bytes) -> tuple[Any, ...] | None:
        """Return the first row of an answer."""
        with sqlite_errors(self.path):
            row: tuple[Any, ...] | None = self._connection.execute(statement, (value,)).fetchone()
        return row

    @contextmanager
    def _atomic(self) -> Iterator[None]:
        """Make all changes of the block or none; begin a transaction unless one is open.

        If the disk is full or fails, the transaction ends, and all rows since the last commit are
        lost.
        """
        with sqlite_errors(self.path, "written"):
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("SAVEPOINT change")
        try:
            with sqlite_errors(self.path, "written"):
                yield
                self._connection.execute("RELEASE change")
        except BaseException as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.Error) and not isinstance(cause, sqlite3.IntegrityError):
                self._roll_back()
            elif self._connection.in_transaction:
                self._texts.forget()
                self._connection.execute("ROLLBACK TO change")
                self._connection.execute("RELEASE change")
            raise

    def _roll_back(self) -> None:
        """Roll back the open transaction."""
        self._texts.forget()
        if self._connection.in_transaction:
            with sqlite_errors(self.path, "written"):
                self._connection.execute("ROLLBACK")


def _number(value: Any) -> float:
    """Return a number as an integer of 64 bits or a float."""
    plain: float = value.item() if hasattr(value, "item") else value
    return float(plain) if abs(plain) >= _LARGEST else plain
