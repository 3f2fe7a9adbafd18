"""The place of a store: the lock of its only writer, and network file systems."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simplugin.campaigns.store.schema import unwritable
from simplugin.errors import StoreError

# As Linux calls them. Source: https://sqlite.org/wal.html, "Disadvantages".
_KINDS = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "fuse.glusterfs"),
    *("lustre", "beegfs", "gpfs", "ceph", "orangefs", "pvfs2", "panfs"),
}
_ESCAPED = re.compile(r"\\([0-7]{3})")


class WriterLock:
    """A lock on a file beside the store; the kernel releases it when its process dies.

    Parameters
    ----------
    store : path
        The store; the lock is on ``STORE.lock``, which stays and says who has it, or had it last.

    Raises
    ------
    StoreError
        Another process has it, or the file cannot be made.
    """

    def __init__(self, store: Path) -> None:
        self._file = lock_file(store)
        try:
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            why = f"{self._file.name} cannot be made beside it: {error.strerror}"
            raise unwritable(store, why) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._sign()
        except BlockingIOError:
            os.close(self._descriptor)
            raise _refusal(store) from None
        except BaseException:
            os.close(self._descriptor)
            raise

    def _sign(self) -> None:
        """Write who has it."""
        owner = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(owner).encode(), 0)
        except OSError:
            return  # a full disk; the lock holds all the same

    def release(self) -> None:
        """Let others write; also when called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def lock_file(store: Path) -> Path:
    """Return the file that the writer of a store locks."""
    file = store.resolve()  # so that it is one lock by whatever name the store is called
    return file.with_name(f"{file.name}.lock")


def _refusal(store: Path) -> StoreError:
    """Return the error that names the process that writes to the store."""
    who = "another process"
    try:
        owner: dict[str, Any] = json.loads(lock_file(store).read_text(encoding="utf-8"))
        who = f"process {owner['pid']} on {owner['host']} (since {owner['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        pass  # it has the lock and did not sign yet
    return StoreError(
        f"{who} writes to the store",
        file=store,
        remedy="wait until it ends, or end it; reading is possible meanwhile",
    )


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the kind of the network file system that a file is on, or would be made on.

    Parameters
    ----------
    path : path
        The file, which need not exist.
    mounts : str, optional
        What is mounted where, as ``/proc/self/mountinfo`` has it; that of this process otherwise.

    Returns
    -------
    str or None
        For instance ``"nfs4"``; None for a disk of this host, or if unknown.
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
        # Of several at the same place the last one is seen.
        if place.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kind.split()[0], len(point.parts)
    return found if found in _KINDS else None
