"""The supervision of a simulation in a process of its own, by its caller."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TextIO

from simplugin.core.errors import CrashError, SimulationError, WallClockLimitError
from simplugin.core.formatting import EscapingStream
from simplugin.simulation.process.failures import crash, place, platform_error_of_abort, tail
from simplugin.simulation.process.serialization import unpack_error
from simplugin.simulation.process.server_client import (
    ChildProcess,
    SimulationServer,
    start_simulation,
)
from simplugin.simulation.process.wire_format import (
    BRANCH,
    COMMAND,
    ERROR,
    EVENT,
    FAILED,
    LOADED,
    LOGGED,
    PAUSED,
    PROGRESS,
    RESULT,
    STARTED,
    STATUS,
    WHERE_ARE_YOU,
    read_outcome,
    write_job,
)
from simplugin.simulation.protocol import SimulationSettings

# No message of a simulation is longer [byte].
_LONGEST_MESSAGE = 64
_MAX_SHOWN = 1 << 20
# A longer wait is split [s].
_LONGEST_WAIT = 1e5
# Writing a traceback takes less, even on a busy machine [s].
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

    Attributes
    ----------
    is_paused : bool
        True if it goes step by step and waits for a command.
    clock : float
        Date of the last pause [s].
    pause : bytes
        Kind of the last pause: EVENT, CHOICE or END.
    answer : int
        Index of the option that is taken with the next command, -1 for none.
    """

    def __init__(
        self,
        settings: SimulationSettings,
        packed_actors: bytes,
        wall_limit: float | None,
        progress: Callable[[float, int], None] | None,
    ) -> None:
        self._settings = settings
        self._packed_actors = packed_actors
        self._wall_limit = wall_limit
        self._progress = progress
        self.clock = 0.0
        self.pause = EVENT
        self.answer = -1
        self.is_paused = False
        self._is_quiet = False
        self._clock: float | None = None
        self._loaded = False
        self._is_log = False
        self._text = codecs.getincrementaldecoder("utf-8")("replace")

    def run(self) -> bytes:
        """Simulate; return the body of the result.

        Raises
        ------
        SimulationError, PlatformError, DeploymentError
            There is none.
        """
        with self.started():
            self._converse()
            return self._conclude()

    @contextlib.contextmanager
    def started(self) -> Iterator[None]:
        """Start the process; kill it at the end of the block unless it has ended."""
        with self._running(self._start):
            yield

    def _start(self, descriptors: Sequence[int]) -> tuple[ChildProcess, SimulationServer]:
        """Let the server start the process; return it and the server."""
        write_job(self._file, self._settings, self._packed_actors)
        return start_simulation(self._settings.back_end, descriptors)

    @contextlib.contextmanager
    def branch(self, *, quiet: bool) -> Iterator[Supervision]:
        """Fork the process, which pauses; yield the supervision of the new one, which does, too.

        Parameters
        ----------
        quiet : bool
            True not to show what it prints.
        """
        packed = self._packed_actors
        branch = Supervision(self._settings, packed, self._wall_limit, self._progress)
        branch._is_quiet = quiet
        with branch._running(partial(self._fork, branch)):
            branch._deadline, branch._loaded = self._deadline, True
            branch.wait()
            yield branch

    @contextlib.contextmanager
    def _running(
        self, start: Callable[[Sequence[int]], tuple[ChildProcess, SimulationServer]]
    ) -> Iterator[None]:
        """Start the process by a function of its descriptors; kill it at the end of the block."""
        # A file, not a pipe: what SimGrid says before it dies can be megabytes.
        with contextlib.ExitStack() as stack, tempfile.TemporaryFile(buffering=0) as stderr:
            self._stderr = stderr.fileno()
            limit = self._wall_limit
            self._deadline = None if limit is None else time.monotonic() + limit
            self._file = os.memfd_create("simplugin")
            stack.callback(os.close, self._file)
            with contextlib.ExitStack() as theirs:
                news = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self._news, its_news = stack.enter_context(news[0]), theirs.enter_context(news[1])
                self._news.setblocking(False)
                self._stdout, its_stdout = os.pipe()
                stack.callback(os.close, self._stdout)
                theirs.callback(os.close, its_stdout)
                os.set_blocking(self._stdout, False)
                self._process, self._server = start(
                    (self._file, its_news.fileno(), its_stdout, self._stderr)
                )
            stack.callback(self._process.close)
            try:
                yield
            finally:
                self.is_paused = False
                if not self._process.has_ended:
                    self._process.kill()

    def _fork(
        self, branch: Supervision, descriptors: Sequence[int]
    ) -> tuple[ChildProcess, SimulationServer]:
        """Let the simulation fork; return the new process and its server."""
        registered, known = os.pipe()
        try:
            self._send(BRANCH, 0.0, *descriptors, registered)
            message = self._answer_about(branch)
            if message[:1] == STARTED:
                process = self._server.adopt(STATUS.unpack(message)[1])
                process.hear()
        except OSError as error:  # the server is gone, as `wait` will find
            message = FAILED + str(error).encode()
        finally:
            os.close(registered)
            os.close(known)
        self.wait()
        if message[:1] != STARTED:
            raise SimulationError(f"the simulation cannot branch here: {message[1:].decode()}")
        return process, self._server

    def _answer_about(self, branch: Supervision) -> bytes:
        """Wait for the message about a branch; nothing if this process ends before."""
        poll = select.poll()
        for channel in (self._process, branch._news):
            poll.register(channel, select.POLLIN)
        while not self._process.has_ended:
            for descriptor, _ in poll.poll(self._patience()):
                if descriptor == branch._news.fileno():
                    return branch._news.recv(1 << 16)
                self._process.hear()
        return b""

    def wait(self) -> bytes | None:
        """Return the body of the result, None at a pause; raise as `run`."""
        self._converse()
        return self._conclude() if self._process.has_ended else None

    def command(self, kind: bytes, date: float) -> bytes | None:
        """Send a command to a simulation that pauses; return as `wait`."""
        self._send(kind, date)
        return self.wait()

    @property
    def packed_functions(self) -> bytes:
        """The functions of the simulation, as they were sent."""
        return self._packed_actors

    def send_actor(self, packed: bytes) -> None:
        """Hand over the actor of an intervention, before the command to start it."""
        write_job(self._file, None, packed)

    def _send(self, kind: bytes, date: float, *descriptors: int) -> None:
        """Send a command."""
        if self._deadline is not None:
            # The limit is the simulation's, not that of the time between commands.
            self._deadline += time.monotonic() - self._paused_since
        self.is_paused = False
        with contextlib.suppress(OSError):  # it was killed, as `wait` will find
            socket.send_fds(self._news, [COMMAND.pack(kind, date, self.answer)], descriptors)
        self.answer = -1

    def state(self) -> tuple[Any, ...]:
        """Return the state that a paused simulation has written on command."""
        _, parts = read_outcome(self._file)
        os.truncate(self._file, 0)
        return parts

    def _converse(self) -> None:
        """Handle messages and output until the process has ended or pauses."""
        process = self._process
        handlers = {self._news.fileno(): self._hear_simulation, self._stdout: self._relay}
        poll = select.poll()
        for descriptor in (process.fileno(), *handlers):
            poll.register(descriptor, select.POLLIN)
        while not (process.has_ended or self.is_paused):
            for descriptor, _ in poll.poll(self._patience()):
                if descriptor == process.fileno():
                    process.hear()
                elif not handlers[descriptor]():
                    poll.unregister(descriptor)
        while self._hear_simulation():
            pass
        self._relay()

    def _patience(self) -> int | None:
        """Return how long to wait for an event [ms]; raise if the limit has passed."""
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._too_slow()
        # Rounded up: a wait of 0 ms would spin. A wait of months would be refused.
        return int(min(left, _LONGEST_WAIT) * 1000) + 1

    def _too_slow(self) -> WallClockLimitError:
        """Return the error for a simulation that takes too long."""
        message = f"the simulation took more than {self._wall_limit:g} s of real time"
        clock = max(self._clock or 0.0, self.clock) if self._settings.steps else self._clock
        if clock is not None:
            message += f"; the simulated date was {clock:g} s"
        stderr = self._ask_where()
        if place(stderr):
            message += f"; it was at {place(stderr)}"
        error = WallClockLimitError(message)
        error.limit = self._wall_limit or 0.0
        error.clock = clock
        error.stderr = stderr
        return error

    def _ask_where(self) -> str:
        """Return the end of its standard error, with its current place if it writes that."""
        before = tail(self._errors_written())
        if self._process.pid is None or self._process.has_ended:
            return before
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, WHERE_ARE_YOU)
        patience = time.monotonic() + _ANSWER_TIMEOUT
        while (after := tail(self._errors_written())) == before:
            if time.monotonic() > patience:
                break
            time.sleep(0.01)
        return after

    def _hear_simulation(self) -> bool:
        """Read a message of the simulation; False when there is none."""
        try:
            message = self._news.recv(_LONGEST_MESSAGE)
        except OSError:
            return False
        if message == LOADED:
            self._loaded = True
        elif len(message) == PAUSED.size:
            self.pause, self.clock = PAUSED.unpack(message)
            self.is_paused, self._paused_since = True, time.monotonic()
        elif message:
            self._clock, alive = PROGRESS.unpack(message)
            if self._progress is not None:
                self._progress(self._clock, alive)
        return bool(message)

    def _relay(self) -> bool:
        """Write out the output of the actors; return False at its end."""
        # At most the size of a pipe: an actor may print without end.
        try:
            data = os.read(self._stdout, 1 << 16)
        except BlockingIOError:
            return True
        for number, part in enumerate(data.split(LOGGED)):
            self._is_log ^= number > 0
            stream = sys.stderr if self._is_log else sys.stdout
            # The output of a user's program is not escaped.
            as_is = stream.stream if isinstance(stream, EscapingStream) else stream
            self._show(as_is, self._text.decode(part))
        return bool(data)

    def _conclude(self) -> bytes:
        """Return the body of the result of the process that has ended, or raise its error."""
        stderr = self._errors_written()
        kind, parts = read_outcome(self._file)
        if kind not in (RESULT, ERROR):
            raise self._died(tail(stderr))
        modules, body = parts
        if modules:
            with contextlib.suppress(OSError):  # the next simulation needs another server
                self._server.warm_up(modules)
        if kind == ERROR:
            error = unpack_error(body)
            if isinstance(error, SimulationError):
                error.stderr = tail(stderr)
            if stderr:
                error.add_note(f"The simulation wrote to its standard error:\n{tail(stderr)}")
            raise error
        if stderr:
            self._show(sys.stderr, stderr.decode("utf-8", "replace"))
        result: bytes = body
        return result

    def _errors_written(self) -> bytes:
        """Return the standard error of the process, or the end of it."""
        size = os.fstat(self._stderr).st_size
        start = max(0, size - _MAX_SHOWN)
        return os.pread(self._stderr, size - start, start)

    def _died(self, stderr: str) -> Exception:
        """Return the error for a process that ended without an outcome."""
        status = self._process.status
        if status is None:
            lost = CrashError("the simulation server was killed, and the simulation with it")
            lost.stderr = stderr
            return lost
        if not self._loaded and os.WIFSIGNALED(status):
            refused = platform_error_of_abort(stderr, self._settings.platform)
            if refused is not None:
                return refused
        where = "it ran its actors" if self._loaded else "it loaded modules and platform"
        error = crash(status, stderr, where)
        error.clock = self._clock
        return error

    def _show(self, stream: TextIO | None, text: str) -> None:
        """Write to a stream of the caller, which is None in a program without terminal."""
        if stream is not None and text and not self._is_quiet:
            stream.write(text)
            stream.flush()
