"""The server of a run process: ``python -P -m simplugin.campaigns.running.worker_server FD``.

It is a fork server (`simplugin.simulation.process.fork_server`) that loads the modules of
scenarios, and forks a run process on request.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import resource
import shutil
import socket
import sys
import tempfile
import threading
import time
import traceback
from io import TextIOWrapper

from simplugin.campaigns.campaign_checks import with_line
from simplugin.campaigns.jobs import Failure, RunJob, now
from simplugin.campaigns.keys import versions
from simplugin.core.errors import (
    ActorError,
    CrashError,
    ScenarioError,
    SimpluginError,
    WallClockLimitError,
)
from simplugin.inputs.references import UnresolvedError, resolve
from simplugin.inputs.temporary_directories import scratch_directory
from simplugin.results.row import RunResult
from simplugin.simulation.process import operating_system, server_client
from simplugin.simulation.process.fork_server import main
from simplugin.simulation.process.wire_format import RESULT, take_job, write_outcome

_LONGEST_TEXT = 20_000
_LAST_FRAMES = 8
# Every scenario needs these. Solvers are not loaded: most scenarios need none, or one of them.
_NEEDED = ("simplugin.scenarios.loading", "simplugin.formats.platform_xml")
# For temporary files, which end with the run process; empty if there is no room.
_directory = ""


def _prepare(scratch: contextlib.ExitStack) -> str:
    """Load what most jobs need; return the directory for temporary files."""
    global _directory
    # A core file of a run that crashed is of no use.
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    for module in _NEEDED:
        importlib.import_module(module)
    from simplugin.scenarios.kinds import KINDS, kind_called

    for name in KINDS:
        kind_called(name)
    versions()
    with contextlib.suppress(OSError):  # the disk is full; runs that need room will fail
        _directory = scratch.enter_context(scratch_directory())
    return _directory


def _tidy() -> None:
    """Remove temporary files, which a run that was killed leaves."""
    if _directory:
        for entry in os.scandir(_directory):
            shutil.rmtree(entry, ignore_errors=True)


def _serve(file: int, channel_descriptor: int) -> None:
    """Do jobs until the process is killed, or its caller is gone.

    Parameters
    ----------
    file : int
        Descriptor of the file of jobs and outcomes.
    channel_descriptor : int
        Of the socket on which jobs are announced.
    """
    channel = socket.socket(fileno=channel_descriptor)
    operating_system.become_subreaper()
    if _directory:
        with contextlib.suppress(OSError):
            tempfile.tempdir = tempfile.mkdtemp(dir=_directory)
            os.environ["TMPDIR"] = tempfile.tempdir
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Any text that a run prints can be written.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    while channel.recv(16):
        job, _ = take_job(file)
        _do(job, file)
        channel.send(b"done")


def _do(job: RunJob, file: int) -> None:
    """Do a job; write whether nothing of it still runs, and the rest of its record."""
    process, threads = os.getpid(), threading.active_count()
    started, before = now(), time.perf_counter()
    outcome = _outcome(job)
    when = started, time.perf_counter() - before, f"{socket.gethostname()}:{process}"
    if os.getpid() != process:
        os._exit(0)  # the target forked, and its child returned too
    operating_system.flush_output()
    left = set(operating_system.children(process)) - set(server_client.server_processes())
    is_clean = threading.active_count() <= threads and not left
    if isinstance(outcome, RunResult):
        try:
            record = (outcome, None, *when, versions(outcome.row.provenance))
            write_outcome(file, RESULT, is_clean, *record)
        except Exception as error:
            text = f"the result of {job.target} cannot be sent: {_text(error)}"
            outcome = Failure("error", f"{text}; return plain data")
        else:
            return
    write_outcome(file, RESULT, is_clean, None, outcome, *when, versions())


def _outcome(job: RunJob) -> RunResult | Failure:
    """Call the function that does a job."""
    try:
        outcome = resolve(job.target)(job.arguments)
    except BaseException as error:
        return _failure(error, job)
    if isinstance(outcome, RunResult):
        return outcome
    kind = type(outcome)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return Failure("error", f"{job.target} returned an object of type {name}, not a RunResult")


def _failure(error: BaseException, job: RunJob) -> Failure:
    """Return the failure of a job that raised; its traceback begins with the user's frames."""
    if isinstance(error, ScenarioError):
        error = with_line(error, job.arguments)
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
    # The first frame is `_outcome`, of the module __main__.
    others = [place for place, name in enumerate(names[1:], 1) if not name.startswith("simplugin.")]
    frames = traceback.extract_tb(error.__traceback__)[others[0] if others else 1 :]
    where = "".join(traceback.format_list(frames[-_LAST_FRAMES:])).rstrip()
    name = type(error).__qualname__
    first_line = _short(f"{name}: {_text(error)}".rstrip(": "))
    return Failure("error", f"{first_line}\n{where}".rstrip())


def _text(error: BaseException) -> str:
    """Return the message of an exception, even if its `__str__` raises."""
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__qualname__} without message>"


def _short(text: str) -> str:
    """Remove the middle of a long text."""
    if len(text) <= _LONGEST_TEXT:
        return text
    half = _LONGEST_TEXT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"


if __name__ == "__main__":
    with contextlib.ExitStack() as scratch:
        main(lambda: _prepare(scratch), _serve, _tidy)
