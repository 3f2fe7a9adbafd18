"""Supervision of the process of one simulation, from the caller's side."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TextIO

from simplugin.errors import CrashError, SimulationError, WallClockLimitError
from simplugin.simulation import servers
from simplugin.simulation.failures import crash, place, platform_error_of_abort, tail
from simplugin.simulation.protocol import (
    ENDED,
    ERROR,
    LOADED,
    NOT_STARTED,
    PROGRESS,
    STARTED,
    STATUS,
    WHERE_ARE_YOU,
    Settings,
    read_outcome,
    write_job,
)
from simplugin.simulation.travel import unpack_error

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
        Called with the simulated date and the number of actors alive.
    """

    def __init__(
        self,
        settings: Settings,
        packed_actors: bytes,
        wall_limit: float | None,
        progress: Callable[[float, int], None] | None,
    ) -> None:
        self._settings = settings
        self._packed_actors = packed_actors
        self._wall_limit = wall_limit
        self._progress = progress
        self._pid: int | None = None
        self._clock: float | None = None
        self._loaded = False
        self._status: int | None = None
        self._ended = False
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
        limit = self._wall_limit
        self._deadline = None if limit is None else time.monotonic() + limit
        self._file = os.memfd_create("simplugin")
        stack.callback(os.close, self._file)
        write_job(self._file, self._settings, self._packed_actors)
        with servers.no_fork(), contextlib.ExitStack() as theirs:
            sockets = []
            for _ in range(2):
                mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                sockets.append(stack.enter_context(mine))
                sockets.append(theirs.enter_context(its))
            self._news, its_news, self._watch, its_watch = sockets
            self._news.setblocking(False)
            self._stdout, its_stdout = os.pipe()
            stack.callback(os.close, self._stdout)
            theirs.callback(os.close, its_stdout)
            os.set_blocking(self._stdout, False)
            self._server = servers.start_simulation(
                self._settings.back_end,
                self._settings.surroundings,
                [self._file, its_news.fileno(), its_watch.fileno(), its_stdout, self._stderr],
            )

    def _converse(self) -> None:
        """Take what comes until the process has ended."""
        take = {
            self._watch.fileno(): self._hear_server,
            self._news.fileno(): self._hear_simulation,
            self._stdout: self._relay,
        }
        poll = select.poll()
        for descriptor in take:
            poll.register(descriptor, select.POLLIN)
        while not self._ended:
            for descriptor, _ in poll.poll(self._patience()):
                if not take[descriptor]():
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
        message = f"the simulation took more than {self._wall_limit:g} s of real time"
        if self._clock is not None:
            message += f"; the simulated date was {self._clock:g} s"
        stderr = self._ask_where()
        if place(stderr):
            message += f"; it was at {place(stderr)}"
        error = WallClockLimitError(message)
        error.limit = self._wall_limit or 0.0
        error.clock = self._clock
        error.stderr = stderr
        return error

    def _ask_where(self) -> str:
        """Return the end of its standard error, with the place where it is now if it says so."""
        before = tail(self._errors_written())
        if self._pid is None or self._ended:
            return before
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, WHERE_ARE_YOU)
        patience = time.monotonic() + _ANSWER_TIMEOUT
        while (after := tail(self._errors_written())) == before:
            if time.monotonic() > patience:
                break
            time.sleep(0.01)
        return after

    def _hear_simulation(self) -> bool:
        """Read a message of the simulation; False when there is none."""
        try:
            message = self._news.recv(PROGRESS.size)
        except OSError:
            return False
        if message == LOADED:
            self._loaded = True
        elif message:
            self._clock, alive = PROGRESS.unpack(message)
            if self._progress is not None:
                self._progress(self._clock, alive)
        return bool(message)

    def _hear_server(self) -> bool:
        """Read what the server says about the process; False if that is the last."""
        try:
            message = self._watch.recv(STATUS.size)
        except OSError:
            message = b""
        kind, number = STATUS.unpack(message) if message else (b"", 0)
        if kind == STARTED:
            self._pid = number
        elif kind == NOT_STARTED:
            reason = os.strerror(number)
            raise SimulationError(f"the simulation's process cannot be started: {reason}")
        else:
            self._ended = True
            self._status = number if kind == ENDED else None
        return not self._ended

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
            while self._hear_server():
                pass

    def _conclude(self) -> bytes:
        """Turn what is known about the ended process into a result or an exception."""
        stderr = self._errors_written()
        kind, parts = read_outcome(self._file)
        if not kind:
            raise self._died(tail(stderr))
        modules, body = parts
        servers.warm_up(self._server, modules)
        if kind == ERROR:
            error = unpack_error(body)
            if isinstance(error, SimulationError):
                error.stderr = tail(stderr)
            if stderr:
                error.add_note(f"The simulation wrote to its standard error:\n{tail(stderr)}")
            raise error
        if stderr:
            _show(sys.stderr, stderr.decode("utf-8", "replace"))
        found: bytes = body
        return found

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
        if not self._loaded and os.WIFSIGNALED(self._status):
            refused = platform_error_of_abort(stderr, self._settings.platform)
            if refused is not None:
                return refused
        where = "it ran its actors" if self._loaded else "it loaded modules and platform"
        error = crash(self._status, stderr, where)
        error.clock = self._clock
        return error


def _show(stream: TextIO | None, text: str) -> None:
    """Write to a stream of the caller's, which a program without terminal may lack."""
    if stream is not None:
        stream.write(text)
        stream.flush()
