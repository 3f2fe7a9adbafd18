"""Read-only connections to a store, also while another process writes to it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from simplugin.campaigns.store.faults import told
from simplugin.campaigns.store.schema import require_store, require_there
from simplugin.errors import StoreError

# How long to wait while a store is brought back after its writer was killed [s].
_PATIENCE = 10.0


def read_only(path: Path) -> sqlite3.Connection:
    """Open a store for reading.

    What a killed writer committed is there: it stands in ``STORE-wal``. Where SQLite cannot keep
    the index of that file, ``STORE-shm``, because the directory cannot be written, a store that
    was closed in an orderly way is read as it is.

    Raises
    ------
    StoreError
        There is no such file, it is no store, of a version that is not known, damaged, or cannot
        be read here.
    """
    require_there(path)
    try:
        return _opened(path, "mode=ro")
    except StoreError as error:
        cause = error.__cause__
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    if not os.access(path, os.R_OK):
        raise StoreError("the store cannot be read: permission denied", file=path)
    log = path.resolve().with_name(f"{path.resolve().name}-wal")
    if log.exists() and log.stat().st_size > 0:
        raise StoreError(
            f"the store cannot be read here: its latest rows stand in {log.name}, and SQLite needs"
            " to write beside it to read them",
            file=path,
            remedy=f"copy both files to a directory that you can write to, and read {path.name}",
        )
    # Nobody can be writing, for there is no log: it can be taken for a file that never changes.
    return _opened(path, "mode=ro&immutable=1")


def _opened(path: Path, options: str) -> sqlite3.Connection:
    """Connect, and look at the file."""
    with told(path):
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?{options}",
            uri=True,
            isolation_level=None,
            timeout=_PATIENCE,
        )
    try:
        with told(path):
            require_store(connection, path)
            connection.execute("SELECT count(*) FROM campaigns").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
