"""The jobs of a run process, one after the other."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import pickle
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any

from simplugin.campaigns.jobs import Failure, Measured, now
from simplugin.errors import ActorError, CrashError, SimpluginError, WallClockLimitError
from simplugin.inputs.references import UnresolvedError, resolve
from simplugin.simulation import servers
from simplugin.simulation.processes import children

LENGTH = struct.Struct("!Q")
_LONGEST_TEXT = 20_000
_LAST_FRAMES = 8
# What every scenario needs. Solvers are left out: they take longer to load than most need them.
_NEEDED = ("simplugin.scenarios.scenario", "simplugin.formats.platform_xml")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a run process about a job.

    Attributes
    ----------
    measured : Measured, optional
        What came out.
    failure : Failure, optional
        Why nothing did.
    started : str
        As ISO 8601 in UTC.
    duration : float
        How long it took [s of real time].
    clean : bool
        True if nothing of it still runs, so that the process may go on to the next job.
    """

    measured: Measured | None
    failure: Failure | None
    started: str
    duration: float
    clean: bool


def prepare() -> None:
    """Load what most jobs need."""
    for module in _NEEDED:
        importlib.import_module(module)
    from simplugin.scenarios.kinds import KINDS, kind_called

    for name in KINDS:
        kind_called(name)


def serve(caller: socket.socket) -> None:
    """Do jobs until the caller has no more."""
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What a run prints must not make it fail.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    while (request := _received(caller)) is not None:
        target, arguments = pickle.loads(request)
        answer = _answer(target, arguments)
        caller.sendall(LENGTH.pack(len(answer)) + answer)


def _received(caller: socket.socket) -> bytearray | None:
    """Return the next message; None if there will be none."""
    data = bytearray()
    wanted = LENGTH.size
    while len(data) < wanted:
        part = caller.recv(1 << 16)
        if not part:
            return None
        data += part
        if wanted == LENGTH.size and len(data) >= wanted:
            wanted += LENGTH.unpack_from(data)[0]
    del data[: LENGTH.size]
    return data


def _answer(target: str, arguments: Mapping[str, Any]) -> bytes:
    """Do a job and write down what came out."""
    process, threads = os.getpid(), threading.active_count()
    started, before = now(), time.perf_counter()
    found = _outcome(target, arguments)
    duration = time.perf_counter() - before
    if os.getpid() != process:
        os._exit(0)  # the target forked, and its child came back too
    _flush()
    clean = threading.active_count() <= threads and _only_servers_run(process)
    if isinstance(found, Measured):
        try:
            return pickle.dumps(Answer(found, None, started, duration, clean), protocol=5)
        except Exception as error:
            text = f"what came out of {target} cannot be sent: {_text(error)}; return plain data"
            found = Failure("error", text)
    return pickle.dumps(Answer(None, found, started, duration, clean), protocol=5)


def _outcome(target: str, arguments: Mapping[str, Any]) -> Measured | Failure:
    """Call the function that does a job."""
    try:
        function = resolve(target)
    except UnresolvedError as error:
        return Failure("error", _short(str(error)))
    except BaseException as error:
        return _failure(error)
    try:
        found = function(arguments)
    except BaseException as error:
        return _failure(error)
    if isinstance(found, Measured):
        return found
    kind = type(found)
    wrong = f"{target} returned a {kind.__module__}.{kind.__qualname__}, not a Measured"
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
    if isinstance(error, SimpluginError):
        return Failure("error", _short(_text(error)))
    names = [
        frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    others = [place for place, name in enumerate(names) if not name.startswith("simplugin.")]
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


def _only_servers_run(process: int) -> bool:
    """Return True if the only processes that were started and go on are the simulation servers."""
    # Those that detached themselves are the keeper's children by now.
    left = {*children(process), *children(os.getppid())} - {process}
    return left <= set(servers.server_processes())


def _flush() -> None:
    """Write out what a job printed."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
