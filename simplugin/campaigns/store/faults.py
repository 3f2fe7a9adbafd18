"""What SQLite complains of, told so that one knows what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simplugin.errors import StoreError

# Primary result codes, https://www.sqlite.org/rescode.html
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_SPOILT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, *_NO_ROOM)
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_FORBIDDEN = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_DAMAGED = (
    "keep it, and make a new store, or bring back a copy; SQLite's command 'sqlite3 FILE .recover'"
    " may save what is left"
)


class UnwritableError(StoreError):
    """Here nobody can write to the store: the disk is read-only, or permissions are missing."""


@contextmanager
def told(path: Path, doing: str = "read") -> Iterator[None]:
    """Turn errors of SQLite into a `StoreError` with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error, doing) from error


def store_error(path: Path, error: sqlite3.Error, doing: str) -> StoreError:
    """Return what an error of SQLite means for the store at `path`."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _NO_ROOM and doing == "written":
        what = "disk full" if code == sqlite3.SQLITE_FULL else f"disk full or failing ({error})"
        return StoreError(
            f"the store cannot be written: {what}",
            file=path,
            remedy="free space and run the same command again; what was recorded is safe",
        )
    if code in _SPOILT:
        message = f"the store is damaged, or no store: {error}"
        return StoreError(message, file=path, remedy=_DAMAGED)
    if code in _IN_USE:
        return StoreError(
            f"the store cannot be {doing}: another program keeps it locked",
            file=path,
            remedy="end what else has it open, an SQLite shell for instance",
        )
    if code in _FORBIDDEN:
        if doing == "written":
            return unwritable(path, str(error))
        remedy = "see to the permissions of the file and of its directory"
        return StoreError(f"the store cannot be {doing}: {error}", file=path, remedy=remedy)
    if code == sqlite3.SQLITE_CONSTRAINT:
        return StoreError(f"the store refuses a row: {error}", file=path)
    return StoreError(f"the store cannot be {doing}: {error}", file=path)


def unwritable(path: Path, why: str) -> UnwritableError:
    """Return the error of a store that cannot be written where it is."""
    return UnwritableError(
        f"the store cannot be written: {why}",
        file=path,
        remedy="see to the permissions of the file and of its directory, or name another place"
        " with --store",
    )
