"""What processes there are below one, and how much memory they occupy, as Linux tells it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable

_PAGE = resource.getpagesize()


def children(pid: int) -> list[int]:
    """Return the processes that a process started and that have not been waited for."""
    found: list[int] = []
    for thread in _names(f"/proc/{pid}/task"):
        found += [int(word) for word in _read(f"/proc/{pid}/task/{thread}/children").split()]
    return found


def descendants(pid: int) -> list[int]:
    """Return all processes below a process, parents before their children."""
    found = children(pid)
    for each in found:  # grows meanwhile
        found += children(each)
    return found


def occupied(pids: Iterable[int], enough: int) -> int:
    """Return how much memory processes occupy together [byte].

    Pages that several of them share count several times, unless the sum is above `enough`: only
    then is it worth to look which they are.

    Parameters
    ----------
    pids : iterable of int
        Processes; those that have ended occupy nothing.
    enough : int
        Below this the sum need not be exact [byte].
    """
    numbers = list(pids)
    rough = sum(_resident(pid) for pid in numbers)
    return rough if rough <= enough else sum(_share(pid) for pid in numbers)


def _resident(pid: int) -> int:
    """Return the resident memory of a process, shared pages included [byte]."""
    words = _read(f"/proc/{pid}/statm").split()
    return int(words[1]) * _PAGE if words else 0


def _share(pid: int) -> int:
    """Return the resident memory of a process; of shared pages its part [byte]."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)  # some processes do not let others look


def _read(file: str) -> bytes:
    """Return what a file of a process says; nothing if the process has ended."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _names(directory: str) -> list[str]:
    """Return what is in a directory of a process; nothing if the process has ended."""
    try:
        return os.listdir(directory)
    except OSError:
        return []
