"""The keeper of run processes: ``python -P -m simplugin.campaigns.running.worker_server FD``.

It is a fork server (`simplugin.simulation.server`) that loads what runs need, and forks a run
process on request.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import pickle
import resource
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from io import TextIOWrapper

from simplugin.campaigns.jobs import Failure, RunJob, RunResult, now
from simplugin.campaigns.keys import versions
from simplugin.core.errors import ActorError, CrashError, SimpluginError, WallClockLimitError
from simplugin.inputs.references import UnresolvedError, resolve
from simplugin.inputs.temporary_directories import scratch_directory
from simplugin.simulation import processes, servers
from simplugin.simulation.server import main

LENGTH = struct.Struct("!Q")
_LONGEST_TEXT = 20_000
_LAST_FRAMES = 8
# What every scenario needs. Solvers are left out: they take longer to load than most need them.
_NEEDED = ("simplugin.scenarios.loading", "simplugin.formats.platform_xml")
# What is in it ends with the run process; empty if there is no room.
_directory = ""


def _prepare(scratch: contextlib.ExitStack) -> str:
    """Load what most jobs need; return the directory for temporary files."""
    global _directory
    # A core file of a run that crashed helps nobody.
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    for module in _NEEDED:
        importlib.import_module(module)
    from simplugin.scenarios.kinds import KINDS, kind_called

    for name in KINDS:
        kind_called(name)
    versions()
    with contextlib.suppress(OSError):  # full; those who need room will say so
        _directory = scratch.enter_context(scratch_directory())
    return _directory


def _tidy() -> None:
    """Remove temporary files: a run that is killed leaves them."""
    if _directory:
        for entry in os.scandir(_directory):
            shutil.rmtree(entry, ignore_errors=True)


def _serve(jobs: int) -> None:
    """Do jobs until the caller has no more."""
    caller = socket.socket(fileno=jobs)
    if _directory:
        with contextlib.suppress(OSError):
            tempfile.tempdir = tempfile.mkdtemp(dir=_directory)
            os.environ["TMPDIR"] = tempfile.tempdir
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What a run prints must not make it fail.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    with caller.makefile("rb") as stream, contextlib.suppress(EOFError):
        while True:
            answer = _answer(pickle.load(stream))
            caller.sendall(LENGTH.pack(len(answer)) + answer)


def _answer(job: RunJob) -> bytes:
    """Do a job; return whether nothing of it still runs, and the rest of its record, pickled."""
    process, threads = os.getpid(), threading.active_count()
    started, before = now(), time.perf_counter()
    found = _outcome(job)
    when = started, time.perf_counter() - before, f"{socket.gethostname()}:{process}"
    if os.getpid() != process:
        os._exit(0)  # the target forked, and its child came back too
    processes.flush_output()
    # Those that detached themselves are the keeper's children by now.
    left = {*processes.children(process), *processes.children(os.getppid())} - {process}
    only_servers_run = left <= set(servers.server_processes())
    clean = threading.active_count() <= threads and only_servers_run
    if isinstance(found, RunResult):
        try:
            record = (found, None, *when, versions(found.row.provenance))
            return pickle.dumps((clean, *record), protocol=5)
        except Exception as error:
            text = f"what came out of {job.target} cannot be sent: {_text(error)}"
            found = Failure("error", f"{text}; return plain data")
    return pickle.dumps((clean, None, found, *when, versions()), protocol=5)


def _outcome(job: RunJob) -> RunResult | Failure:
    """Call the function that does a job."""
    try:
        found = resolve(job.target)(job.arguments)
    except BaseException as error:
        return _failure(error)
    if isinstance(found, RunResult):
        return found
    kind = type(found)
    name = f"{kind.__module__}.{kind.__qualname__}"
    wrong = f"{job.target} returned an object of type {name}, not a Measured"
    return Failure("error", wrong)


def _failure(error: BaseException) -> Failure:
    """Return why a job failed, without our own frames at the start of the traceback."""
    if isinstance(error, WallClockLimitError):
        return Failure("wall_limit", _short(_text(error)))
    if isinstance(error, CrashError):
        return Failure("crash", _short(_text(error)))
    if isinstance(error, MemoryError) or (
        isinstance(error, ActorError) and isinstance(error.__cause__, MemoryError)
    ):
        return Failure("memory_limit", _short(f"it got no more memory: {_text(error)}"))
    if isinstance(error, SimpluginError | UnresolvedError):
        return Failure("error", _short(_text(error)))
    names = [
        frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    # The first is `_outcome`, of the program that this is.
    others = [place for place, name in enumerate(names[1:], 1) if not name.startswith("simplugin.")]
    frames = traceback.extract_tb(error.__traceback__)[others[0] if others else 1 :]
    where = "".join(traceback.format_list(frames[-_LAST_FRAMES:])).rstrip()
    name = type(error).__qualname__
    first_line = _short(f"{name}: {_text(error)}".rstrip(": "))
    return Failure("error", f"{first_line}\n{where}".rstrip())


def _text(error: BaseException) -> str:
    """Return the message of an exception, even of one that has none."""
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__qualname__} without message>"


def _short(text: str) -> str:
    """Leave out the middle of a text that nobody would read."""
    if len(text) <= _LONGEST_TEXT:
        return text
    half = _LONGEST_TEXT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"


if __name__ == "__main__":
    with contextlib.ExitStack() as scratch:
        main(lambda: _prepare(scratch), _serve, _tidy)
