"""The file of a store: its tables, its lock, and errors of SQLite."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simplugin.core.errors import StoreError

# "spgn", in the header of every store.
APPLICATION = 0x7370676E
VERSION = 2
# Maximum wait for the recovery of a store whose writer was killed, or for a shell of SQLite [s].
_PATIENCE = 10.0
# Primary result codes, https://www.sqlite.org/rescode.html
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_SPOILT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, *_NO_ROOM)
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_FORBIDDEN = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_DAMAGED = (
    "keep it, and use a new store or a backup; SQLite's command 'sqlite3 FILE .recover' may save a"
    " part of it"
)

STATE_OF = "SELECT status FROM runs WHERE key = ? ORDER BY status, attempt DESC LIMIT 1"
# Of the attempts at a key, the result counts, or else the last failure.
COUNTING = """
    r.number = (SELECT number FROM runs WHERE key = m.key ORDER BY status, attempt DESC LIMIT 1)
"""
# Texts: documents shared by many rows. The arguments of all jobs of a campaign follow from its
# recipe; if that is NULL, members have arguments. Members: the jobs of campaigns; the key is the
# SHA-256 of everything that determines the result. Runs: the attempts to run jobs; `shape` has the
# units of the metrics and the kind of `best`, `provenance` the values that differ from those of
# `provenance_base`; `contents` are for reports: JSON, compressed by zlib.
TABLES = """
CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);
CREATE TABLE campaigns (
    number INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    file TEXT NOT NULL,
    text TEXT NOT NULL,
    total INTEGER NOT NULL,
    begun TEXT NOT NULL,
    target TEXT NOT NULL,
    recipe TEXT
);
CREATE TABLE members (
    campaign INTEGER NOT NULL REFERENCES campaigns,
    position INTEGER NOT NULL,
    key BLOB NOT NULL,
    varied TEXT NOT NULL,
    arguments TEXT,
    PRIMARY KEY (campaign, position)
) WITHOUT ROWID;
CREATE INDEX members_of_keys ON members (key);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    attempt INTEGER NOT NULL,
    campaign INTEGER NOT NULL REFERENCES campaigns,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    started TEXT NOT NULL,
    duration REAL NOT NULL,
    place TEXT NOT NULL,
    versions INTEGER NOT NULL REFERENCES texts,
    shape INTEGER REFERENCES texts,
    metrics TEXT,
    best,
    gap,
    digest TEXT,
    provenance_base INTEGER REFERENCES texts,
    provenance TEXT,
    contents BLOB,
    failure TEXT CHECK (failure IN ('error', 'crash', 'wall_limit', 'memory_limit')),
    error TEXT,
    UNIQUE (key, attempt),
    CHECK ((status = 'done') = (metrics IS NOT NULL) AND (status = 'failed') = (error IS NOT NULL))
);
CREATE UNIQUE INDEX done_once ON runs (key) WHERE status = 'done';
"""

# REPLACE would delete rows without the triggers on deletions.
_TRIGGERS = """
CREATE TRIGGER {0}_stay BEFORE UPDATE ON {0}
BEGIN SELECT RAISE(ABORT, '{0} are only ever added'); END;
CREATE TRIGGER {0}_remain BEFORE DELETE ON {0}
BEGIN SELECT RAISE(ABORT, '{0} are only ever added'); END;
CREATE TRIGGER {0}_new BEFORE INSERT ON {0}
WHEN EXISTS (SELECT 1 FROM {0} WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, '{0} are only ever added'); END;
"""
# Linux's names of network file systems. Source: https://sqlite.org/wal.html, "Disadvantages".
_KINDS = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "fuse.glusterfs"),
    *("lustre", "beegfs", "gpfs", "ceph", "orangefs", "pvfs2", "panfs"),
}
_ESCAPED = re.compile(r"\\([0-7]{3})")
_FILE = "name the store's file"
_ADDED_ONLY = ("runs", "texts")


def script() -> str:
    """Return the statements that create an empty store."""
    triggers = "".join(map(_TRIGGERS.format, _ADDED_ONLY))
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    return f"BEGIN; {TABLES} {triggers} {marks} COMMIT;"


def make_empty(path: Path) -> None:
    """Create an empty store atomically; the caller holds the writer's lock.

    Raises
    ------
    StoreError
        It cannot be written. Existing files are never overwritten.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        for left in (new, new.with_name(f"{new.name}-journal")):
            left.unlink(missing_ok=True)  # of a process that was killed
        with (
            sqlite_errors(path, "written"),
            closing(sqlite3.connect(new, isolation_level=None)) as made,
        ):
            made.execute("PRAGMA synchronous = FULL")
            made.executescript(script())
            made.execute("PRAGMA journal_mode = WAL")
        if path.exists():
            raise StoreError("the store cannot be created: a file of this name exists", file=path)
        new.rename(path)
        # The new entry of the directory must survive a power cut.
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreError(f"the store cannot be created: {error.strerror}", file=path) from error


def require_there(path: Path, *, missing_ok: bool = False) -> None:
    """Raise StoreError unless a path is a regular file; SQLite would block on a pipe."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if missing_ok:
            return
        remedy = "'simplugin campaign run CAMPAIGN.toml' creates one"
        raise StoreError("the store does not exist", file=path, remedy=remedy) from None
    except OSError as error:
        message = f"the store cannot be read: {error.strerror}"
        raise StoreError(message, file=path, remedy=_FILE) from None
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise StoreError(f"this is {what}, not a store", file=path, remedy=_FILE)


def _require_store(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError unless a file is a store of the present format."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        message = "this is an SQLite file, but not a store of campaigns"
        raise StoreError(message, file=path, remedy=f"{_FILE}, or a new file")
    if version != VERSION:
        message = f"the store has the format {version}, but this simplugin knows {VERSION}"
        remedy = "read it with the version of simplugin that wrote it; for new runs, move it away"
        raise StoreError(message, file=path, remedy=remedy)


def no_campaign(path: Path) -> str:
    """Return the remedy for a store without a campaign."""
    return f"run one; a copy of a store needs a copy of {path.name}-wal, which has its latest rows"


def read_only(path: Path) -> sqlite3.Connection:
    """Open a store for reading.

    Committed rows of a killed writer are in ``STORE-wal``. SQLite needs the index of that file,
    ``STORE-shm``; in a directory without write permission only a closed store can be read.

    Raises
    ------
    StoreError
        The file is missing, is not a store, has an unknown version, is damaged, or cannot be read.
    """
    require_there(path)
    try:
        return connected(path, "mode=ro")
    except StoreError as error:
        code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
        if code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    if not os.access(path, os.R_OK):
        raise StoreError("the store cannot be read: permission denied", file=path)
    log = path.resolve().with_name(f"{path.resolve().name}-wal")
    if log.exists() and log.stat().st_size > 0:
        raise StoreError(
            f"the store cannot be read here: its latest rows are in {log.name}, and SQLite needs"
            " to write beside it to read them",
            file=path,
            remedy=f"copy both files to a directory that you can write to, and read {path.name}",
        )
    # Without the log there is no writer: the file is immutable.
    return connected(path, "mode=ro&immutable=1")


def connected(path: Path, options: str, doing: str = "read") -> sqlite3.Connection:
    """Connect to a store with options of SQLite's URI, and check the file."""
    with sqlite_errors(path, doing):
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?{options}",
            uri=True,
            isolation_level=None,
            timeout=_PATIENCE,
        )
        try:
            _require_store(connection, path)
            connection.execute("SELECT count(*) FROM campaigns").fetchone()
        except BaseException:
            connection.close()
            raise
    return connection


class UnwritableError(StoreError):
    """The store cannot be written: the disk is read-only, or permissions are missing."""


@contextmanager
def sqlite_errors(path: Path, doing: str = "read") -> Iterator[None]:
    """Translate errors of SQLite into a `StoreError` with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _FORBIDDEN and doing == "written":
            raise unwritable(path, str(error)) from error
        message, remedy = f"the store cannot be {doing}: {error}", None
        if code in _NO_ROOM and doing == "written":
            what = "" if code == sqlite3.SQLITE_FULL else f" or failing ({error})"
            message = f"the store cannot be written: disk full{what}"
            remedy = "free disk space and run the same command again; recorded runs are safe"
        elif code in _SPOILT:
            message, remedy = f"the store is damaged, or not a store: {error}", _DAMAGED
        elif code in _IN_USE:
            message = f"the store cannot be {doing}: another program keeps it locked"
            remedy = "close the other program, for example an SQLite shell"
        elif code in _FORBIDDEN:
            remedy = "check the permissions of the file and its directory"
        elif code == sqlite3.SQLITE_CONSTRAINT:
            message = f"the store refuses a row: {error}"
        raise StoreError(message, file=path, remedy=remedy) from error


def unwritable(path: Path, why: str) -> UnwritableError:
    """Return the error of a store that cannot be written where it is."""
    remedy = "check the permissions of the file and its directory"
    remedy += ", or choose another file with --store"
    return UnwritableError(f"the store cannot be written: {why}", file=path, remedy=remedy)


class WriterLock:
    """The lock of the writer of a store; the kernel releases it when its process dies.

    Parameters
    ----------
    store : path
        The store; the lock is on ``STORE.lock``, which stays and names its last owner.

    Raises
    ------
    StoreError
        Another process holds it, or the file cannot be created.
    """

    def __init__(self, store: Path) -> None:
        self._file = lock_file(store)
        try:
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            why = f"{self._file.name} cannot be created: {error.strerror}"
            raise unwritable(store, why) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            since = datetime.now(UTC).isoformat(timespec="seconds")
            owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
            with suppress(OSError):  # the disk is full; the lock is valid
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, json.dumps(owner).encode(), 0)
        except BlockingIOError:
            os.close(self._descriptor)
            raise _refusal(store) from None
        except BaseException:
            os.close(self._descriptor)
            raise

    def release(self) -> None:
        """Release the lock; may be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def lock_file(store: Path) -> Path:
    """Return the lock file of a store."""
    file = store.resolve()  # one lock for all names of the store
    return file.with_name(f"{file.name}.lock")


def _refusal(store: Path) -> StoreError:
    """Return the error that names the process that writes to the store."""
    who = "another process"
    try:
        owner: dict[str, Any] = json.loads(lock_file(store).read_text(encoding="utf-8"))
        who = f"process {owner['pid']} on {owner['host']} (since {owner['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        pass  # it has not written its name yet
    remedy = "wait until it ends, or end it; the store can be read at any time"
    return StoreError(f"{who} writes to the store", file=store, remedy=remedy)


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the type of the network file system of a path, for instance ``"nfs4"``.

    Parameters
    ----------
    path : path
        A path, which need not exist.
    mounts : str, optional
        Mounted file systems in the format of ``/proc/self/mountinfo``; by default of this process.

    Returns
    -------
    str or None
        None for a disk of this host, or if unknown.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
        except OSError:
            return None
    place, found, depth = Path(os.path.realpath(path)), None, -1
    for line in mounts.splitlines():
        about, _, kind = line.partition(" - ")
        point = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), about.split()[4]))
        # The last mount at a place hides the others.
        if place.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kind.split()[0], len(point.parts)
    return found if found in _KINDS else None
