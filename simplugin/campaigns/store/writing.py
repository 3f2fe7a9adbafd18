"""The writer of a store."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from simplugin.campaigns.jobs import Failure, Job, JobSource, Measured, Record
from simplugin.campaigns.store import statements
from simplugin.campaigns.store.exact_json import text_of
from simplugin.campaigns.store.faults import told, unwritable
from simplugin.campaigns.store.lock import WriterLock
from simplugin.campaigns.store.schema import make_empty, require_store, require_there
from simplugin.campaigns.store.texts import SharedTexts

# How long to wait for a program that has the file locked, a shell of SQLite for instance [s].
_PATIENCE = 10.0
_LARGEST = 2**63


class Store:
    """A store of campaigns, open for writing by this process alone.

    What is appended belongs to an open transaction until `commit`, which is when it becomes
    durable: SQLite writes ahead (WAL) and waits for the disk (``synchronous=FULL``). Rows are only
    ever added. Used as a context manager it commits at the end, or rolls back after an exception.

    Attributes
    ----------
    path : path
        The file.
    """

    def __init__(self, path: Path, lock: WriterLock) -> None:
        self.path = path
        self._lock = lock
        self._connection = sqlite3.connect(
            path.resolve().as_uri() + "?mode=rw", uri=True, isolation_level=None, timeout=_PATIENCE
        )
        try:
            with told(path, "written"):
                require_store(self._connection, path)
                for pragma in ("journal_mode = WAL", "synchronous = FULL"):
                    self._connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            self._connection.close()
            raise
        self._texts = SharedTexts(self._connection)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a store for writing; make an empty one if there is none.

        Parameters
        ----------
        path : path
            Its file; directories above it are made.

        Raises
        ------
        StoreError
            Another process writes to it; it is no store, or of a version that is not known; it
            cannot be made or read.
        """
        path = Path(path)
        if path.exists():
            require_there(path)
        _make_directory(path)
        lock = WriterLock(path)
        try:
            if not path.exists():
                make_empty(path)
            return cls(path, lock)
        except BaseException:
            lock.release()
            raise

    def begin(self, source: JobSource) -> int:
        """Return the number of a campaign, which gets recorded at once if it is new."""
        found = self._row("SELECT number FROM campaigns WHERE identity = ?", source.identity)
        if found is not None:
            return int(found[0])
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._whole():
            about = (source.identity, source.title, source.file, source.text, source.total, now)
            number = self._added(statements.ADD_CAMPAIGN, about)
        self.commit()
        return number

    def state_of(self, key: str) -> str | None:
        """Return whether a run is ``"done"``, has only ``"failed"``, or None if it is not there."""
        found = self._row(statements.STATE_OF, key)
        return None if found is None else str(found[0])

    def note(self, campaign: int, job: Job) -> None:
        """Record that a campaign has a job whose key may be there already, from any campaign."""
        with self._whole():
            self._member(campaign, job)

    def follow(self, campaign: int, key: str, job: Job) -> None:
        """Have the positions of a campaign that have a key have that of another job."""
        with self._whole():
            number = self._member(campaign, job)
            self._connection.execute(statements.FOLLOW, (number, campaign, key))

    def append(self, campaign: int, record: Record) -> None:
        """Add a run that was tried; durable after the next `commit`.

        Raises
        ------
        StoreError
            The key has an outcome already, the record has a value that is no container, number or
            text, or the disk is full; nothing is added then.
        """
        with self._whole():
            job = self._member(campaign, record.job)
            self._add_run(campaign, job, record)

    def commit(self) -> None:
        """Make everything appended durable.

        Raises
        ------
        StoreError
            The disk is full or fails; what was committed before is safe.
        """
        if not self._connection.in_transaction:
            return
        try:
            with told(self.path, "written"):
                self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def close(self) -> None:
        """Roll back what was not committed, and let others write; also when called twice."""
        try:
            self._roll_back()
            self._connection.close()
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Commit, or roll back after an exception; close."""
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def _member(self, campaign: int, job: Job) -> int:
        """Return the number of a job, which becomes a member of the campaign if it is not."""
        limits = (job.wall_limit, job.memory_limit)
        found = self._row(statements.JOB_OF_MEMBER, campaign, job.position, job.key, *limits)
        if found is not None:
            return int(found[0])
        target = self._texts.number_of(job.target)
        base, arguments = self._texts.packed(f"arguments {campaign}", job.arguments)
        document: tuple[int | str | None, ...] = (target, base, arguments)
        found = self._row("SELECT number, target, base, arguments FROM jobs WHERE key = ?", job.key)
        number = found[0] if found else self._added(statements.ADD_JOB, (job.key, *document))
        if found is None or found[1:] == document:
            document = (None, None, None)
        varied = text_of(job.varied)
        row = (campaign, job.position, number, varied, *limits, *document)
        # What another version of the code did at this position stays, but is no member any more;
        # limits are those of the last attempt.
        self._connection.execute(statements.ADD_MEMBER, row)
        return int(number)

    def _added(self, statement: str, row: tuple[object, ...]) -> int:
        """Add a row; return its number."""
        number = self._connection.execute(statement, row).lastrowid
        assert number is not None
        return number

    def _add_run(self, campaign: int, job: int, record: Record) -> None:
        """Add the row of a run, and what is kept of it."""
        versions = self._texts.number_of(text_of(record.versions))
        place = (record.started, record.duration, record.place, versions)
        if record.measured is not None:
            outcome = ("done", *place, *self._measured(record.measured), None, None)
        else:
            failure = record.failure or Failure("error", "")
            outcome = ("failed", *place, *[None] * 7, failure.kind, _printable(failure.text))
        run = self._added(statements.ADD_RUN, (job, job, campaign, *outcome))
        if record.measured is not None and record.measured.contents is not None:
            document = zlib.compress(text_of(record.measured.contents).encode())
            self._connection.execute(statements.ADD_CONTENTS, (run, document))

    def _measured(self, measured: Measured) -> tuple[object, ...]:
        """Return the columns of what came out."""
        row = measured.row
        best = row.best
        shape = {
            "units": {metric.name: metric.unit for metric in row},
            "best": None
            if best is None
            else {"metric": best.metric, "proof": best.proof, "sense": best.sense},
        }
        return (
            self._texts.number_of(text_of(shape)),
            text_of({metric.name: metric.value for metric in row}),
            None if best is None else _number(best.value),
            row.gap,
            measured.digest,
            *self._texts.packed("provenance", row.provenance),
        )

    def _row(self, statement: str, *values: object) -> tuple[int | str, ...] | None:
        """Return the first row of an answer."""
        with told(self.path):
            row: tuple[int | str, ...] | None = self._connection.execute(
                statement, values
            ).fetchone()
        return row

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Do all of several changes or none; a transaction begins if there is none.

        A disk that is full or fails ends the transaction: what was appended since the last commit
        is given up.
        """
        with told(self.path, "written"):
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("SAVEPOINT whole")
        try:
            with told(self.path, "written"):
                yield
                self._connection.execute("RELEASE whole")
        except BaseException as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.Error) and not isinstance(cause, sqlite3.IntegrityError):
                self._roll_back()
            elif self._connection.in_transaction:
                self._texts.forget()
                self._connection.execute("ROLLBACK TO whole")
                self._connection.execute("RELEASE whole")
            raise

    def _roll_back(self) -> None:
        """Give up the open transaction."""
        self._texts.forget()
        if self._connection.in_transaction:
            with told(self.path, "written"):
                self._connection.execute("ROLLBACK")


def _make_directory(path: Path) -> None:
    """Make the directory that a store is to be in."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, f"{path.parent}: {error.strerror}") from error


def _number(value: float) -> float:
    """Return a number as SQLite has it: integers of 64 bits, floats."""
    plain: Any = value
    plain = plain.item() if hasattr(plain, "item") else plain
    number: float = float(plain) if abs(plain) >= _LARGEST else plain
    return number


def _printable(text: str) -> str:
    """Return a text that can be written, whatever bytes a program printed."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
