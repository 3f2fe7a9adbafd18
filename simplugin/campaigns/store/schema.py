"""What the tables of a store are, and whether a file is one."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from simplugin.campaigns.store.faults import told
from simplugin.errors import StoreError

# "spgn", in the header of every store.
APPLICATION = 0x7370676E
VERSION = 1

TABLES = """
-- Documents that many rows share.
CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE,
    text TEXT NOT NULL
);
CREATE TABLE campaigns (
    number INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    file TEXT NOT NULL,
    text TEXT NOT NULL,
    total INTEGER NOT NULL,
    begun TEXT NOT NULL
);
-- What was to be run, once a key. The arguments are those of `base`, changed as the merge patch
-- `arguments` says: json_patch(base, arguments).
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    target INTEGER NOT NULL REFERENCES texts,
    base INTEGER NOT NULL REFERENCES texts,
    arguments TEXT NOT NULL
);
-- Which campaign has which job where. What is not part of a key may differ between campaigns:
-- target, base and arguments are NULL where they are those of the job.
CREATE TABLE members (
    campaign INTEGER NOT NULL REFERENCES campaigns,
    position INTEGER NOT NULL,
    job INTEGER NOT NULL REFERENCES jobs,
    varied TEXT NOT NULL,
    wall_limit REAL,
    memory_limit INTEGER,
    target INTEGER REFERENCES texts,
    base INTEGER REFERENCES texts,
    arguments TEXT,
    PRIMARY KEY (campaign, position)
) WITHOUT ROWID;
CREATE INDEX members_of_jobs ON members (job);
-- What was tried. `shape` has the units of the metrics and what `best` is about; the provenance is
-- json_patch(provenance_base, provenance).
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES jobs,
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
    failure TEXT CHECK (failure IN ('error', 'crash', 'wall_limit', 'memory_limit')),
    error TEXT,
    UNIQUE (job, attempt),
    CHECK ((status = 'done') = (metrics IS NOT NULL) AND (status = 'failed') = (error IS NOT NULL))
);
CREATE UNIQUE INDEX done_once ON runs (job) WHERE status = 'done';
-- What is kept of some runs for reports: JSON, compressed by zlib.
CREATE TABLE contents (
    run INTEGER PRIMARY KEY REFERENCES runs,
    document BLOB NOT NULL
);
"""

# REPLACE would delete rows without asking the triggers on deletions.
_TRIGGERS = """
CREATE TRIGGER {0}_stay BEFORE UPDATE ON {0}
BEGIN SELECT RAISE(ABORT, '{0} are only ever added'); END;
CREATE TRIGGER {0}_remain BEFORE DELETE ON {0}
BEGIN SELECT RAISE(ABORT, '{0} are only ever added'); END;
CREATE TRIGGER {0}_new BEFORE INSERT ON {0}
WHEN EXISTS (SELECT 1 FROM {0} WHERE {1} = NEW.{1})
BEGIN SELECT RAISE(ABORT, '{0} are only ever added'); END;
"""
_ADDED_ONLY = {"runs": "number", "contents": "run", "jobs": "number", "texts": "number"}


def script() -> str:
    """Return the statements that make an empty store."""
    triggers = "".join(_TRIGGERS.format(table, key) for table, key in _ADDED_ONLY.items())
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    return f"BEGIN; {TABLES} {triggers} {marks} COMMIT;"


def make_empty(path: Path) -> None:
    """Make an empty store at `path`, as a whole or not at all; the caller has the writer's lock.

    Raises
    ------
    StoreError
        It cannot be written. Nothing that is there gets overwritten.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        for left in (new, new.with_name(f"{new.name}-journal")):
            left.unlink(missing_ok=True)  # by a process that died here
        with told(path, "written"), closing(sqlite3.connect(new, isolation_level=None)) as made:
            made.execute("PRAGMA synchronous = FULL")
            made.executescript(script())
            made.execute("PRAGMA journal_mode = WAL")
        if path.exists():
            raise StoreError("the store cannot be made: there is a file now", file=path)
        new.rename(path)
        _sync(path.parent)
    except OSError as error:
        raise StoreError(f"the store cannot be made: {error.strerror}", file=path) from error


def require_there(path: Path) -> None:
    """Refuse paths where there is nothing, or a directory."""
    if path.is_dir():
        remedy = "name the store's file"
        raise StoreError("this is a directory, no store", file=path, remedy=remedy)
    if not path.exists():
        remedy = "'simplugin campaign run CAMPAIGN.toml' makes one"
        raise StoreError("there is no such store", file=path, remedy=remedy)


def require_store(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse files that are something else, and stores that this version does not know."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise StoreError(
            "this is an SQLite file, but no store of campaigns",
            file=path,
            remedy="name the store's file, or one that is not there yet",
        )
    if version != VERSION:
        raise StoreError(
            f"the store has the format {version}, but this simplugin knows {VERSION}",
            file=path,
            remedy="install the version of simplugin that wrote it, or a newer one",
        )


def _sync(directory: Path) -> None:
    """Make a new entry of a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
