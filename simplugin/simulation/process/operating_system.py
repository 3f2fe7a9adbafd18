"""Processes of this host: children and descendants, signals, memory and CPU time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import re
import resource
import signal
import sys
import time
from collections.abc import Container, Iterable
from functools import cache
from pathlib import Path

from simplugin.simulation.process.wire_format import FAILED

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PAGE = resource.getpagesize()
# Loaded before anything forks.
_LIBC = ctypes.CDLL(None, use_errno=True)


def signal_at_parents_end(number: int) -> None:
    """Receive a signal when the thread of the parent that forked ends; 0 for none."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def detach_from_parent(parent: int, *handled: int) -> None:
    """Start a new process group and reset the signal handlers.

    Parameters
    ----------
    parent : int
        The process that forked; this process exits if the parent has ended already.
    *handled : int
        Signals that the parent handles.
    """
    # A signal to the group of one child must not reach the parent or another child.
    os.setpgid(0, 0)
    signal_at_parents_end(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.set_wakeup_fd(-1)
    for number in handled:
        signal.signal(number, signal.SIG_DFL)


def become_subreaper(*, adopts: bool = True) -> None:
    """Adopt all descendants whose parent ends, or leave them to the next subreaper above."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, int(adopts), 0, 0, 0)


def fork_sibling(news: int, registered: int) -> bool:
    """Fork a process that becomes a child of the subreaper above; return True in it.

    Thus either of the two processes may end first.

    Parameters
    ----------
    news : int
        Descriptor of a socket: gets `STARTED` with the process id, or `FAILED` with a text.
    registered : int
        Of a pipe that is closed once the subreaper knows the process.
    """
    # Loaded late: only processes of simulations have it.
    from simplugin.simulation import _driver

    subreaper = os.getppid()
    # Python seeds its own generator anew after a fork.
    drawn = random.getstate()
    become_subreaper(adopts=False)
    try:
        if not _driver.fork_sibling(news, registered):
            return False
        between = os.getppid()
        os.read(registered, 1)
        while os.getppid() == between != subreaper:
            time.sleep(1e-4)
        detach_from_parent(subreaper)
        random.setstate(drawn)
        return True
    except OSError as error:
        os.write(news, FAILED + f"{error.strerror}".encode())
        return False
    finally:
        become_subreaper()


# Descriptors that were open before the actors arrived.
_inherited: set[int] = set()
# Not all kernels count it.
_SHARED_MEMORY = re.compile(rb"^RssShmem:\s+[1-9]", re.MULTILINE)


def note_inherited_files() -> None:
    """Remember which files are open, before the actors of a simulation arrive."""
    # The smallest one that is free, which is that of the list itself.
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    _inherited.update({int(name) for name in os.listdir("/proc/self/fd")} - {free})


def obstacle_to_copies(expected: Container[int], processes: Container[int] = ()) -> str:
    """Return what a copy of this process would share with it, or lack; empty if nothing.

    Parameters
    ----------
    expected : container of int
        Descriptors that may be open beside those that the actors have not opened.
    processes : container of int
        Child processes that may exist.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        return "the process has further threads, which a copy would lack; start none"
    if any(each not in processes for each in children(os.getpid())):
        return "the actors have started processes, which a copy does not have; end them first"
    for descriptor, opened in _open_files().items():
        known = descriptor in _inherited or descriptor in expected
        if not known and not opened.startswith("/dev/"):
            return f"the actors have opened {opened}, which a copy would share; close it"
    # Mappings without a descriptor; the list of all mappings would take ten times as long to read.
    if _SHARED_MEMORY.search(Path("/proc/self/status").read_bytes()):
        return "the actors have mapped shared memory, which a copy would share; close it"
    return ""


def _open_files() -> dict[int, str]:
    """Return what the descriptors of this process are open on."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one of this directory itself
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def kill_descendants(spared: Container[int] = ()) -> None:
    """Kill the children of this process and all processes below them; wait until they are gone.

    A subreaper also kills descendants that daemonise.

    Parameters
    ----------
    spared : container of int
        Children that are not killed, with their descendants.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # as after most simulations
        return
    own = os.getpid()
    foreign: set[int] = set()  # of another user: waiting for them could block
    while found := [pid for pid in children(own) if pid not in spared and pid not in foreign]:
        for each in (*found, *(below for pid in found for below in descendants(pid))):
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                pass
            except PermissionError:
                foreign.add(each)
        for pid in found:
            if pid not in foreign:
                os.waitpid(pid, 0)


def flush_output() -> None:
    """Flush standard output and standard error."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def children(pid: int) -> list[int]:
    """Return the children of a process, zombies included."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError):  # it has ended
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def descendants(pid: int) -> list[int]:
    """Return all processes below a process, parents before their children."""
    found = children(pid)
    for each in found:  # the list grows
        found += children(each)
    return found


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and of its children that ended; 0 if it has ended [s]."""
    # The name, in parentheses, may contain anything.
    words = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pids: Iterable[int], enough: int) -> int:
    """Return the memory that processes occupy together [byte].

    Parameters
    ----------
    pids : iterable of int
        Processes; those that have ended count 0.
    enough : int
        A smaller sum counts shared pages several times, a larger one counts them once [byte].
    """
    numbers = list(pids)
    rough = sum(_resident(pid) for pid in numbers)
    return rough if rough <= enough else sum(_share(pid) for pid in numbers)


@cache
def memory() -> int:
    """Return the memory of this host, or of the control group of this process if less [byte]."""
    found = [_PAGE * os.sysconf("SC_PHYS_PAGES")]
    group = Path(
        "/sys/fs/cgroup", _read("/proc/self/cgroup").rpartition(b"::/")[2].decode().strip()
    )
    for directory in (group, *group.parents):
        limit = _read(f"{directory}/memory.max")
        found += [int(limit)] if limit.strip().isdigit() else []
    return min(found)


def _resident(pid: int) -> int:
    """Return the resident memory of a process, shared pages included [byte]."""
    words = _read(f"/proc/{pid}/statm").split()
    return int(words[1]) * _PAGE if words else 0


def _share(pid: int) -> int:
    """Return the resident memory of a process; of shared pages its part [byte]."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)  # not readable for some processes


def _read(file: str) -> bytes:
    """Return the content of a file in /proc; empty if the process has ended."""
    try:
        with open(file, "rb", buffering=0) as stream:
            return stream.read()
    except OSError:
        return b""
