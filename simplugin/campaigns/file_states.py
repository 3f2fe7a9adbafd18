"""Contents of files and directories, read again only where they have changed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

# Two changes within a tick of a file system's clock have one date. [s]
SETTLED = 2.0
_CHUNK = 1 << 20
_DATABASE = b"SQLite format 3\0"

_Value = TypeVar("_Value")
_State = tuple[int, int, int, int]


class Remembered(Generic[_Value]):
    """A function of a path that is called again only if what is there has changed.

    What changed a moment ago may change again under the same date, and is not remembered yet.

    Parameters
    ----------
    read : callable
        Returns what is wanted of a path; depends on nothing but what is there.
    """

    def __init__(self, read: Callable[[str], _Value]) -> None:
        self._read = read
        self._known: dict[str, tuple[_State, _Value]] = {}

    def __call__(self, path: str) -> _Value:
        """Return what is wanted of a path; an `OSError` if there is nothing."""
        now = time.time()
        found = os.stat(path)
        # The date of the last change shows contents whose own date was set back.
        state = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        known = self._known.get(path)
        if known is not None and known[0] == state:
            return known[1]
        value = self._read(path)
        if now - max(found.st_mtime, found.st_ctime) > SETTLED:
            self._known[path] = (state, value)
        return value


class Entry(NamedTuple):
    """The kind of a name in a directory, links followed; neither kind if it cannot be read."""

    is_file: bool
    is_directory: bool
    is_link: bool


def _entries(path: str) -> Mapping[str, Entry]:
    """List a directory."""
    found: dict[str, Entry] = {}
    with os.scandir(path) as listed:
        for each in sorted(listed, key=lambda entry: entry.name):
            try:
                mode = each.stat().st_mode
            except OSError:
                mode = 0
            found[each.name] = Entry(stat.S_ISREG(mode), stat.S_ISDIR(mode), each.is_symlink())
    return MappingProxyType(found)


def _digest(path: str) -> str:
    """Return the SHA-256 of a file."""
    total = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest()


def _is_database(path: str) -> bool:
    """Return True if a file is an SQLite database."""
    with open(path, "rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE


# Of a directory: its entries by name. Of a file: its SHA-256, and whether it is a database.
_listed = Remembered(_entries)
file_digest = Remembered(_digest)
is_database = Remembered(_is_database)


def entries(path: str) -> Mapping[str, Entry]:
    """Return the entries of a directory by name; none if it cannot be read."""
    try:
        return _listed(path)
    except OSError:
        return {}
