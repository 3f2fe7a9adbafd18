"""Temporary directories that do not outlive their process for long, however it ends."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PREFIX = "simplugin-scratch-"
# As `tempfile.mkdtemp` writes it: nothing that a user would call a directory.
_NAME = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")


@contextmanager
def scratch_directory() -> Iterator[str]:
    """Create a temporary directory; remove those of killed processes.

    Its process holds a lock on a directory, which the system releases when the process ends.
    """
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_unless_held(entry.path)
    directory, lock = _locked_directory()
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)


def _locked_directory() -> tuple[str, int]:
    """Make a directory; return its path and the descriptor that holds the lock."""
    while True:
        directory = tempfile.mkdtemp(prefix=_PREFIX)
        # Before it is locked, another process may take it for abandoned.
        with suppress(FileNotFoundError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # on a file system without locks it is never removed
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.isdir(directory):
                return directory, lock
            os.close(lock)


def _remove_unless_held(directory: str) -> None:
    """Remove a directory if it is this user's; raise OSError if a process uses it."""
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(lock).st_uid == os.getuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(lock)
