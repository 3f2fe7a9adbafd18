"""A supervised process that does one job after the other."""

from __future__ import annotations

import contextlib
import math
import os
import select
import shutil
import signal
import socket
import time
from collections.abc import Callable

from simplugin.campaigns.jobs import Failure, RunJob, RunRecord, now
from simplugin.campaigns.keys import versions
from simplugin.core.errors import CrashError, SetupError, SimpluginError
from simplugin.simulation.process.failures import describe_status
from simplugin.simulation.process.operating_system import descendants, resident_bytes
from simplugin.simulation.process.server_client import (
    ONE_THREAD,
    ChildProcess,
    ForkServer,
    is_readable,
)
from simplugin.simulation.process.wire_format import (
    FAILED,
    READY,
    is_taken,
    read_outcome,
    write_job,
)

# Time until the first check of the limits, and between two checks [s].
_FIRST_CHECK = 0.05
_CHECK_PERIOD = 0.1
# A run process that does not take a job for this time is stuck [s].
_TAKE_LIMIT = 10.0
_SHOWN_OUTPUT = 4096
# Maximum output of a run [byte]; large, since output that is written during a cut is lost.
_MAX_OUTPUT = 1 << 26
# Time in which a process that closed its channel may end [s].
_END_LIMIT = 1.0
_STARTS = 3


class StoppedError(SimpluginError):
    """A run was stopped because its result is not needed any more."""


class LostError(SimpluginError):
    """The server, or the run process before it had read its job, is gone."""


class RunProcess:
    """A process of this host that does one job after the other.

    It is forked by a server of its own when it is first needed, and replaced after a run that
    crashed, passed a limit, or left threads or processes running. Everything that it starts ends
    with it, and it ends with this process, however that ends.
    """

    def __init__(self) -> None:
        self._server: ForkServer | None = None
        self._process: ChildProcess | None = None
        self._place = os.getpid()

    def run(self, job: RunJob, is_wanted: Callable[[], bool] = lambda: True) -> RunRecord:
        """Do a job, however it ends.

        Parameters
        ----------
        job : RunJob
            Its `target` must be importable with the ``sys.path`` that this process had when the
            run process was started.
        is_wanted : callable
            Called several times a second; the run is stopped once it returns False.

        Returns
        -------
        RunRecord
            With the outcome, or with a `Failure`: of kind "error" if it raised an exception or did
            not return a `RunResult`; "crash" if its process, or that of its simulation, died;
            "wall_limit" or "memory_limit" if it passed a limit of the job or of the scenario.

        Raises
        ------
        StoppedError
            `is_wanted` returned False.
        SetupError
            A run process cannot load the modules of simplugin.
        """
        started, before = now(), time.perf_counter()
        try:
            answer = self._attempt(job, is_wanted)
        except BaseException:
            # The answer to this job must not be taken for that to the next one.
            self.close()
            raise
        if isinstance(answer, RunRecord):
            return answer
        duration, place = time.perf_counter() - before, f"{socket.gethostname()}:{self._place}"
        return RunRecord(job, None, answer, started, duration, place, versions())

    def close(self) -> None:
        """End the process and its server, and wait until they are gone; `run` starts others."""
        if self._process is not None:
            self._release()
        if self._server is not None:
            server, self._server = self._server, None
            server.close()
            # The server removes it, unless it was killed.
            shutil.rmtree(self._directory, ignore_errors=True)

    def _attempt(self, job: RunJob, is_wanted: Callable[[], bool]) -> RunRecord | Failure:
        """Send a job to a process that takes it, and wait for the outcome."""
        for _ in range(_STARTS):
            try:
                self._start(is_wanted)
                return self._supervise(job, is_wanted)
            except LostError as error:
                # Nothing of the job has been done: this is not an attempt.
                lost = f"{error}; that happened {_STARTS} times in a row"
                is_ready = self._server is not None and self._server.is_ready
                self.close()
        if not is_ready:
            raise SetupError(f"run processes cannot be started: {lost}")
        return Failure("crash", lost)

    def _start(self, is_wanted: Callable[[], bool]) -> None:
        """Start the server and the process unless they are running."""
        if self._process is not None and is_readable(self._process):
            self._end_process()
        if self._server is None:
            self._directory = ""
            self._earlier_output = b""
            try:
                # The same sums on each host: there are as many processes as cores.
                module = "simplugin.campaigns.running.worker_server"
                self._server = ForkServer.start(module, **ONE_THREAD)
            except OSError as error:
                raise LostError(f"its server cannot be started: {error}") from error
        while not self._server.is_ready:
            if not is_wanted():
                raise StoppedError("the run was stopped")
            if is_readable(self._server.control, _CHECK_PERIOD):
                kind, text = self._server.answer()
                if kind == FAILED:
                    raise SetupError(f"run processes cannot load what they need:\n{text.strip()}")
                if kind != READY:
                    message = f"its server is gone; its last output was:\n{self._output()}"
                    raise LostError(message.rstrip("\n"))
                self._directory = text
        if self._process is None:
            self._file = os.memfd_create("simplugin-run")
            self._channel, its_channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with its_channel:
                try:
                    self._process = self._server.fork(self._file, its_channel.fileno())
                    self._process.hear()
                except (OSError, CrashError) as error:
                    raise LostError(f"its process cannot be started: {error}") from error
        self._place = self._process.pid or os.getpid()

    def _supervise(self, job: RunJob, is_wanted: Callable[[], bool]) -> RunRecord | Failure:
        """Send a job, and wait for the outcome within the limits."""
        assert self._server is not None
        assert self._process is not None
        try:
            write_job(self._file, job)
        except Exception as error:
            return Failure("error", f"its arguments cannot be sent: {error}")
        self._earlier_output = b""
        os.ftruncate(self._server.output.fileno(), 0)
        with contextlib.suppress(OSError):  # the process has ended, as is found below
            self._channel.send(b"job")
        begun = time.monotonic()
        deadline = begun + (math.inf if job.wall_limit is None else job.wall_limit)
        check = begun + _FIRST_CHECK
        poll = select.poll()
        for source in (self._channel, self._process):
            poll.register(source, select.POLLIN)
        while True:
            moment = time.monotonic()
            if moment >= deadline:
                self._end_process()
                text = f"stopped after {job.wall_limit:g} s of real time"
                remedy = "raise campaign.wall_limit if it may take longer"
                return Failure("wall_limit", f"{text}; {remedy}")
            if moment >= check:
                if not is_wanted():
                    raise StoppedError("the run was stopped")
                if moment > begun + _TAKE_LIMIT and not is_taken(self._file):
                    raise LostError("its process does not take the job")
                self._cut_output()
                if (failure := self._check_memory(job)) is not None:
                    return failure
                check = moment + _CHECK_PERIOD
            # Rounded up: a wait of 0 ms would spin.
            events = poll.poll(int(max(0.0, min(check, deadline) - moment) * 1000) + 1)
            if events:
                # The process may have ended after its answer.
                if is_readable(self._channel) and self._receive():
                    break
                return self._crash()
        try:
            _, (is_clean, *record) = read_outcome(self._file)
        except Exception as error:
            self._end_process()
            return Failure("error", f"its result cannot be read here: {error}")
        if not is_clean:
            self._end_process()
        return RunRecord(job, *record)

    def _receive(self) -> bytes:
        """Return a message of the process; empty if there will be none."""
        try:
            return self._channel.recv(1)
        except OSError:  # with our message unread
            return b""

    def _crash(self) -> Failure:
        """Return the failure of a run after the end of its process, or of its channel."""
        was_taken = is_taken(self._file)
        status = self._end_process(_END_LIMIT)
        if not was_taken:
            raise LostError("its process ended before it took the job")
        text = "its process was killed, together with its server"
        if status is not None:
            text = f"its process {describe_status(status)}"
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                text += ", perhaps because the system ran out of memory"
        output = self._output()
        return Failure("crash", f"{text}; its last output was:\n{output}" if output else text)

    def _check_memory(self, job: RunJob) -> Failure | None:
        """End a run that occupies too much memory."""
        if job.memory_limit is None or self._server is None:
            return None
        size = resident_bytes(descendants(self._server.process.pid), job.memory_limit)
        if size <= job.memory_limit:
            return None
        self._end_process()
        text = f"stopped when it occupied {_megabytes(size)}, of {_megabytes(job.memory_limit)}"
        remedy = "raise campaign.memory_limit if it may have more"
        return Failure("memory_limit", f"{text}; {remedy}")

    def _end_process(self, patience: float = 0.0) -> int | None:
        """End the process and everything that it started; return its status.

        Parameters
        ----------
        patience : float
            Time in which it may end on its own [s].

        Returns
        -------
        int or None
            As `os.waitpid` gives it; None if its server was killed.
        """
        process = self._process
        assert process is not None
        is_readable(process, patience)
        process.kill()
        self._release()
        if process.status is None:
            output = self._output()
            self.close()
            self._earlier_output = output.encode()
        return process.status

    def _release(self) -> None:
        """Close the descriptors of the process."""
        assert self._process is not None
        self._process.close()
        self._process = None
        self._channel.close()
        os.close(self._file)

    def _output(self) -> str:
        """Return the end of the output of the job."""
        output = self._earlier_output
        if self._server is not None:
            descriptor = self._server.output.fileno()
            start = max(0, os.fstat(descriptor).st_size - _SHOWN_OUTPUT)
            output += os.pread(descriptor, _SHOWN_OUTPUT, start)
        if len(output) > _SHOWN_OUTPUT:
            output = output[-_SHOWN_OUTPUT:].partition(b"\n")[2] or output[-_SHOWN_OUTPUT:]
        return output.decode("utf-8", "replace").strip()

    def _cut_output(self) -> None:
        """Drop all but the end of the output if it is too long."""
        assert self._server is not None
        descriptor = self._server.output.fileno()
        size = os.fstat(descriptor).st_size
        if size > _MAX_OUTPUT:
            self._earlier_output = os.pread(descriptor, _SHOWN_OUTPUT, size - _SHOWN_OUTPUT)
            os.ftruncate(descriptor, 0)


def _megabytes(size: int) -> str:
    """Return an amount of memory as text, rounded up so that it exceeds the limit."""
    return f"{-(-size // 1_000_000)} MB"
