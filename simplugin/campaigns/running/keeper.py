"""The keeper of run processes: ``python -P -m simplugin.campaigns.running.keeper FD``.

It loads what runs need, forks a run process on request, and forks the next one when that has
ended. Whatever a run process starts stays below the keeper, even if it detaches itself, and ends
with the run process. The keeper belongs to its caller: it ends, with everything below it, when the
caller's end of the control socket closes, however that happened. That works also while a run
process is inside a C function that never returns, and does not depend on which of the caller's
threads started it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from io import TextIOWrapper
from typing import NoReturn

from simplugin.campaigns.jobs import Failure, Job, Measured, now
from simplugin.campaigns.keys import versions
from simplugin.errors import ActorError, CrashError, SimpluginError, WallClockLimitError
from simplugin.inputs.references import UnresolvedError, resolve
from simplugin.inputs.scratch import scratch_directory
from simplugin.simulation import processes, servers

READY, FAILED, STARTED, ENDED = "ready", "failed", "started", "ended"
START, END = b"start", b"end"
LENGTH = struct.Struct("!Q")
_LONGEST_TEXT = 20_000
_LAST_FRAMES = 8
# What every scenario needs. Solvers are left out: they take longer to load than most need them.
_NEEDED = ("simplugin.scenarios.scenario", "simplugin.formats.platform_xml")


def main() -> None:
    """Load what runs need, then serve until the caller is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    # While it loads it does not listen, and would outlive a caller that is killed by a second.
    # Later the caller's thread that started it may end.
    _end_with_caller(control, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A core file of a run that crashed helps nobody.
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    try:
        for module in _NEEDED:
            importlib.import_module(module)
        from simplugin.scenarios.kinds import KINDS, kind_called

        for name in KINDS:
            kind_called(name)
        versions()
    except Exception:
        control.send(pickle.dumps((FAILED, traceback.format_exc()[-60000:])))
        return
    _end_with_caller(control, 0)
    keeper = Keeper(control)
    try:
        keeper.serve()
    finally:
        keeper.clear()


def _end_with_caller(control: socket.socket, number: int) -> None:
    """Have the system send a signal when the caller's thread ends, or none; end if it is gone."""
    processes.signal_at_parents_end(number)
    poll = select.poll()
    poll.register(control, select.POLLHUP)
    if poll.poll(0):
        sys.exit()


class Keeper:
    """State of the keeper.

    Parameters
    ----------
    control : socket
        To the caller.
    """

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.worker: int | None = None
        self._directory: str | None = None
        self._scratch = contextlib.ExitStack()
        # What loses its parent becomes a child of the keeper, which thus finds it.
        processes.adopt_orphans()
        self._wakeup, wakeup_end = socket.socketpair()
        self._wakeup.setblocking(False)
        wakeup_end.setblocking(False)
        self._wakeup_end = wakeup_end
        signal.set_wakeup_fd(wakeup_end.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        self._poll = select.poll()
        self._poll.register(self.control, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        # Keep the collector of the run processes away from pages shared with the keeper.
        gc.collect()
        gc.freeze()

    def serve(self) -> None:
        """Answer until the caller is gone."""
        self._send(READY)
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self.control.fileno():
                    if not self._obey():
                        return
                else:
                    with contextlib.suppress(BlockingIOError):
                        if signal.SIGTERM in self._wakeup.recv(4096):
                            return
                self._reap()

    def clear(self) -> None:
        """End everything below the keeper."""
        if self.worker is not None:
            os.kill(self.worker, signal.SIGKILL)
            self._note(*os.waitpid(self.worker, 0))
        processes.end_children()
        self._scratch.close()
        self._directory = None

    def _obey(self) -> bool:
        """Do what one message says; False if the caller is gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(
                self.control, 64, 1, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            return False
        if message == START:
            self._start(*descriptors)
        elif message == END and self.worker is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.worker, signal.SIGKILL)
        return bool(message)

    def _start(self, jobs: int) -> None:
        """Fork a run process."""
        # A run that is killed leaves its temporary files to the keeper.
        with contextlib.suppress(OSError):  # full; those who need room will say so
            self._directory = self._scratch.enter_context(scratch_directory())
        own = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_worker(own, jobs)
        os.close(jobs)
        self.worker = pid
        self._send(STARTED, pid, self._directory)

    def _become_worker(self, keeper: int, jobs: int) -> NoReturn:
        """Do jobs in the process just forked, and never come back."""
        code = 1
        try:
            # The keeper has only the thread that forked.
            processes.part_from(keeper, signal.SIGCHLD, signal.SIGTERM)
            for mine in (self.control, self._wakeup, self._wakeup_end):
                mine.close()
            if self._directory is not None:
                os.environ["TMPDIR"] = tempfile.tempdir = self._directory
            _serve(socket.socket(fileno=jobs))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        """Take note of processes that ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._note(pid, status)

    def _note(self, pid: int, status: int) -> None:
        """Clean up after the run process, if it was that, and notify the caller."""
        if pid == self.worker:
            self.worker = None
            self.clear()
            self._send(ENDED, status)

    def _send(self, *message: object) -> None:
        """Send a message to the caller, who may have gone."""
        with contextlib.suppress(OSError):
            self.control.send(pickle.dumps(message))


def _serve(caller: socket.socket) -> None:
    """Do jobs until the caller has no more."""
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What a run prints must not make it fail.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    for job in _received(caller):
        answer = _answer(job)
        caller.sendall(LENGTH.pack(len(answer)) + answer)


def _received(caller: socket.socket) -> Iterator[Job]:
    """Yield the jobs until there will be none."""
    with caller.makefile("rb") as stream, contextlib.suppress(EOFError):
        while True:
            yield pickle.load(stream)


def _answer(job: Job) -> bytes:
    """Do a job; return whether nothing of it still runs, and the rest of its record, pickled."""
    process, threads = os.getpid(), threading.active_count()
    started, before = now(), time.perf_counter()
    found = _outcome(job)
    when = started, time.perf_counter() - before, f"{socket.gethostname()}:{process}"
    if os.getpid() != process:
        os._exit(0)  # the target forked, and its child came back too
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    # Those that detached themselves are the keeper's children by now.
    left = {*processes.children(process), *processes.children(os.getppid())} - {process}
    only_servers_run = left <= set(servers.server_processes())
    clean = threading.active_count() <= threads and only_servers_run
    if isinstance(found, Measured):
        try:
            record = (found, None, *when, versions(found.row.provenance))
            return pickle.dumps((clean, *record), protocol=5)
        except Exception as error:
            text = f"what came out of {job.target} cannot be sent: {_text(error)}"
            found = Failure("error", f"{text}; return plain data")
    return pickle.dumps((clean, None, found, *when, versions()), protocol=5)


def _outcome(job: Job) -> Measured | Failure:
    """Call the function that does a job."""
    try:
        found = resolve(job.target)(job.arguments)
    except BaseException as error:
        return _failure(error)
    if isinstance(found, Measured):
        return found
    kind = type(found)
    wrong = f"{job.target} returned a {kind.__module__}.{kind.__qualname__}, not a Measured"
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
    main()
