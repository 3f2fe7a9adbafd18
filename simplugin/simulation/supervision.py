"""Watching over the process of one simulation, from the caller's side."""

from __future__ import annotations

import codecs
import contextlib
import os
import pickle
import select
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TextIO

from simplugin.errors import (
    CrashError,
    SimulationError,
    WallClockLimitError,
)
from simplugin.simulation import servers
from simplugin.simulation.failures import (
    crash,
    place,
    platform_error_of_abort,
    tail,
    unpacked_error,
)
from simplugin.simulation.job import Settings
from simplugin.simulation.wire import (
    ACTORS,
    ENDED,
    ERROR,
    LOADED,
    MODULES,
    NOT_STARTED,
    PROGRESS,
    PROGRESS_BODY,
    RESULT,
    SETTINGS,
    STARTED,
    STATUS,
    WHERE_ARE_YOU,
    Frame,
    FrameReader,
    frame,
)

_CHUNK = 1 << 18
_READ = select.POLLIN
_SHOWN_AT_ONCE = 1 << 20
# A server that loads a module answers late, and kills then [s].
_KILL_TIMEOUT = 10.0
# What it takes to write a traceback, on a busy machine [s].
_ANSWER_TIMEOUT = 0.5


class Supervision:
    """One simulation in a process of its own.

    Parameters
    ----------
    settings, packed_actors
        The job.
    wall_limit : float, optional
        Real time that it may take [s].
    progress : callable, optional
        Told the simulated date and the number of actors alive.
    """

    def __init__(
        self,
        settings: Settings,
        packed_actors: bytes,
        wall_limit: float | None,
        progress: Callable[[float, int], None] | None,
    ) -> None:
        self.settings = settings
        self.wall_limit = wall_limit
        self.progress = progress
        self.pid: int | None = None
        self.clock: float | None = None
        self.loaded = False
        self._unsent = memoryview(
            frame(SETTINGS, pickle.dumps(settings)) + frame(ACTORS, packed_actors)
        )
        self._outcome: Frame | None = None
        self._status: int | None = None
        self._ended = False
        self._reader = FrameReader()
        self._text = codecs.getincrementaldecoder("utf-8")("replace")

    def run(self) -> bytes:
        """Simulate; return the body of the result.

        Raises
        ------
        SimulationError, PlatformError, DeploymentError
            There is none.
        """
        # A file, not a pipe: what SimGrid says before it dies can be megabytes.
        with contextlib.ExitStack() as stack, tempfile.TemporaryFile(buffering=0) as stderr:
            self._stderr = stderr.fileno()
            self._open(stack)
            try:
                self._converse()
            except BaseException:
                self._abandon()
                raise
            return self._conclude()

    def _open(self, stack: contextlib.ExitStack) -> None:
        """Make the channels and have the process started."""
        self._deadline = None if self.wall_limit is None else time.monotonic() + self.wall_limit
        with servers.no_fork(), contextlib.ExitStack() as theirs:
            job, its_job = socket.socketpair()
            self._job = stack.enter_context(job)
            theirs.enter_context(its_job)
            watch, its_watch = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._watch = stack.enter_context(watch)
            theirs.enter_context(its_watch)
            self._stdout, its_stdout = os.pipe()
            stack.callback(os.close, self._stdout)
            theirs.callback(os.close, its_stdout)
            os.set_blocking(self._stdout, False)
            self._job.setblocking(False)
            self._server = servers.start_simulation(
                self.settings.back_end,
                self.settings.surroundings,
                [its_job.fileno(), its_watch.fileno(), its_stdout, self._stderr],
            )

    def _converse(self) -> None:
        """Send the job, take what comes, until the process has ended."""
        poll = select.poll()
        poll.register(self._job, _READ | select.POLLOUT)
        poll.register(self._watch, _READ)
        poll.register(self._stdout, _READ)
        while not self._ended:
            for descriptor, event in poll.poll(self._patience()):
                if descriptor == self._watch.fileno():
                    self._hear_server()
                elif descriptor == self._stdout:
                    if not self._relay():
                        poll.unregister(descriptor)
                else:
                    if event & select.POLLOUT and not self._send():
                        poll.modify(descriptor, _READ)
                    if event & (_READ | select.POLLHUP) and not self._hear_simulation():
                        poll.unregister(descriptor)
        while self._hear_simulation():
            pass
        self._relay()

    def _patience(self) -> int | None:
        """Return how long to wait for an event [ms]; raise if time is over."""
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._too_slow()
        # Rounded up: a wait of 0 ms would spin.
        return int(left * 1000) + 1

    def _too_slow(self) -> WallClockLimitError:
        """Return the error for a simulation that takes too long."""
        message = f"the simulation took more than {self.wall_limit:g} s of real time"
        if self.clock is not None:
            message += f"; the simulated date was {self.clock:g} s"
        stderr = self._ask_where()
        if place(stderr):
            message += f"; it was at {place(stderr)}"
        error = WallClockLimitError(message)
        error.limit = self.wall_limit or 0.0
        error.clock = self.clock
        error.stderr = stderr
        return error

    def _ask_where(self) -> str:
        """Return the end of its standard error, with the place where it is now if it says so."""
        before = tail(self._errors_written())
        if self.pid is None or self._ended:
            return before
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, WHERE_ARE_YOU)
        patience = time.monotonic() + _ANSWER_TIMEOUT
        while (after := tail(self._errors_written())) == before:
            if time.monotonic() > patience:
                break
            time.sleep(0.01)
        return after

    def _send(self) -> bool:
        """Send a part of the job; False when nothing is left to send."""
        try:
            sent = self._job.send(self._unsent[:_CHUNK])
        except BlockingIOError:
            return True
        except OSError:  # it died; its status will tell
            return False
        self._unsent = self._unsent[sent:]
        return bool(self._unsent)

    def _hear_simulation(self) -> bool:
        """Read what the simulation says; False when there is no more for now."""
        try:
            data = self._job.recv(_CHUNK)
        except OSError:
            return False
        for each in self._reader.feed(data):
            self._take(each)
        return bool(data)

    def _take(self, message: Frame) -> None:
        """Act on one message of the simulation."""
        if message.kind in (RESULT, ERROR):
            self._outcome = message
        elif message.kind == LOADED:
            self.loaded = True
        elif message.kind == MODULES:
            servers.warm_up(self._server, pickle.loads(message.body))
        elif message.kind == PROGRESS:
            self.clock, active = PROGRESS_BODY.unpack(message.body)
            if self.progress is not None:
                self.progress(self.clock, active)

    def _hear_server(self) -> None:
        """Read what the server says about the process."""
        try:
            data = self._watch.recv(STATUS.size)
        except OSError:
            data = b""
        if not data:
            self._ended = True
            return
        kind, number = STATUS.unpack(data)
        if kind == STARTED:
            self.pid = number
        elif kind == ENDED:
            self._ended = True
            self._status = number
        elif kind == NOT_STARTED:
            reason = os.strerror(number)
            raise SimulationError(f"the simulation's process cannot be started: {reason}")

    def _relay(self) -> bool:
        """Show what the actors printed; False when there will be no more."""
        # Not more than a pipe holds, or an actor that prints without end would keep us here.
        try:
            data = os.read(self._stdout, 1 << 16)
        except BlockingIOError:
            return True
        _show(sys.stdout, self._text.decode(data))
        return bool(data)

    def _abandon(self) -> None:
        """Have the process killed, and wait until it is gone."""
        with contextlib.suppress(OSError):
            # Not `close`: a process forked from this one meanwhile may hold the socket too.
            self._watch.shutdown(socket.SHUT_WR)
        self._watch.settimeout(_KILL_TIMEOUT)
        with contextlib.suppress(SimulationError):
            while not self._ended:
                self._hear_server()

    def _conclude(self) -> bytes:
        """Turn what is known about the ended process into a result or an exception."""
        stderr = self._errors_written()
        if self._outcome is None:
            raise self._died(tail(stderr))
        if self._outcome.kind == ERROR:
            error = unpacked_error(self._outcome.body)
            if isinstance(error, SimulationError):
                error.stderr = tail(stderr)
            if stderr:
                error.add_note(f"The simulation wrote to its standard error:\n{tail(stderr)}")
            raise error
        if stderr:
            _show(sys.stderr, stderr.decode("utf-8", "replace"))
        return self._outcome.body

    def _errors_written(self) -> bytes:
        """Return what the process wrote to its standard error, or the end of it."""
        size = os.fstat(self._stderr).st_size
        start = max(0, size - _SHOWN_AT_ONCE)
        return os.pread(self._stderr, size - start, start)

    def _died(self, stderr: str) -> Exception:
        """Return the error for a process that said nothing before its end."""
        if self._status is None:
            lost = CrashError("the simulation server was killed, and the simulation with it")
            lost.stderr = stderr
            return lost
        if not self.loaded and os.WIFSIGNALED(self._status):
            refused = platform_error_of_abort(stderr, self.settings.platform)
            if refused is not None:
                return refused
        where = "it ran its actors" if self.loaded else "it loaded modules and platform"
        error = crash(self._status, stderr, where)
        error.clock = self.clock
        return error


def _show(stream: TextIO | None, text: str) -> None:
    """Write to a stream of the caller's, which a program without terminal may lack."""
    if stream is not None:
        stream.write(text)
        stream.flush()
