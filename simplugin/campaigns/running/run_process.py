"""A process that does one job after the other, supervised."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import select
import shutil
import signal
import socket
import threading
import time
import weakref

from simplugin.campaigns.jobs import Failure, RunJob, RunRecord, now
from simplugin.campaigns.keys import versions
from simplugin.campaigns.running.worker_server import LENGTH
from simplugin.core.errors import SetupError, SimpluginError
from simplugin.simulation.processes import descendants, occupied
from simplugin.simulation.protocol import FAILED, READY, STARTED
from simplugin.simulation.servers import ONE_THREAD, PATIENCE, ServerProcess, status

# Quick jobs are over before anybody looks at their memory; the others are looked at often [s].
_FIRST_LOOK = 0.05
_NEXT_LOOK = 0.1
_CHUNK = 1 << 18
# A run process that does not take a job for so long is stuck [s].
_TAKES_JOB = 10.0
_LAST_WORDS = 4096
# What a run may print before it is dropped [byte]; much, since what is written in that moment is
# lost too.
_MOST_OUTPUT = 1 << 26
# A process that closed its channel and does not end by itself [s].
_ENDS_ITSELF = 1.0
_STARTS = 3


class StoppedError(SimpluginError):
    """A run was ended from outside, by `RunProcess.kill` or `RunProcess.close`."""


class RunProcess:
    """A process of this host that does one job after the other.

    It is started when it is first needed, and started anew after a run that crashed, passed a
    limit, or left threads or processes running. Whatever it starts ends with it, and it ends
    with this process, however that ends.

    One thread at a time may call `run`; `kill` and `close` may be called by any.
    """

    def __init__(self) -> None:
        self._kept: KeptProcess | None = None
        self._running = threading.Lock()
        self._state = threading.Lock()
        self._stopped = False
        self._closed = False
        self._pid = os.getpid()
        _alive.add(self)

    def run(self, job: RunJob) -> RunRecord:
        """Do a job, however it ends.

        Parameters
        ----------
        job : Job
            Its `target` must be importable with this process's ``sys.path`` of when the run
            process was started.

        Returns
        -------
        Record
            With what came out, or with a `Failure`: of kind "error" if it raised an exception
            or returned something else than a `Measured`; "crash" if its process, or that of its
            simulation, died; "wall_limit" or "memory_limit" if it was ended for passing a limit
            of the job or of the scenario.

        Raises
        ------
        StoppedError
            `kill` or `close` was called.
        SetupError
            A run process cannot load what it needs.
        """
        with self._running:
            started, before = now(), time.perf_counter()
            try:
                answer = self._answer(job)
            except StoppedError:
                raise
            except BaseException:
                # Its answer must not be taken for that of the next job.
                self._dispose()
                raise
            self._check_stopped()
            if isinstance(answer, RunRecord):
                return answer
            duration, place = time.perf_counter() - before, f"{socket.gethostname()}:{self._pid}"
            return RunRecord(job, None, answer, started, duration, place, versions())

    def kill(self) -> None:
        """End the run in progress, or else the next one before it begins.

        That `run` raises; it can be called again.
        """
        with self._state:
            self._stopped = True
            if self._kept is not None:
                self._kept.ask_to_end()

    def close(self, *, wait: bool = True) -> None:
        """End the process, also in the middle of a run; `run` cannot be called again.

        Parameters
        ----------
        wait : bool
            True if to wait until everything is gone. If not, close it once more, later.
        """
        with self._state:
            self._closed = self._stopped = True
            if self._kept is not None:
                self._kept.server.hang_up()
        if wait:
            with self._running:
                self._dispose()

    def _answer(self, job: RunJob) -> RunRecord | Failure:
        """Have a job done by a process that takes it."""
        try:
            message = pickle.dumps(job, protocol=5)
        except Exception as error:
            return Failure("error", f"its arguments cannot be sent: {error}")
        lost, ready = "", False
        for _ in range(_STARTS):
            try:
                kept = self._kept_process()
                # Here, or it would be ended before it is there.
                self._check_stopped()
                self._pid = kept.worker or os.getpid()
                kept.forget_output()
                kept.send(message)
                return self._conversation(kept, job)
            except LostError as error:
                lost = str(error)
            # Nothing of the job has been done yet: it was no attempt.
            self._check_stopped()
            left, ready = self._kept, self._kept is not None and self._kept.server.is_ready
            # Without its keeper too, if that is gone.
            if left is None or left.worker is None or left.end_worker(_ENDS_ITSELF) is None:
                self._dispose()
        text = f"{lost}; that happened {_STARTS} times in a row"
        if not ready:
            raise SetupError(f"run processes cannot be started: {text}")
        return Failure("crash", text)

    def _kept_process(self) -> KeptProcess:
        """Return a process that waits for a job."""
        self._check_stopped()
        if self._kept is None:
            kept = KeptProcess()
            with self._state:
                self._kept = kept
            self._check_stopped()
            kept.wait_until_ready()
        if not self._kept.has_worker():
            self._kept.start_worker()
        return self._kept

    def _conversation(self, kept: KeptProcess, job: RunJob) -> RunRecord | Failure:
        """Wait for the answer, within the limits."""
        begun = time.monotonic()
        deadline = begun + (math.inf if job.wall_limit is None else job.wall_limit)
        look = begun + _FIRST_LOOK
        received = bytearray()
        while not _is_complete(received):
            moment = time.monotonic()
            if moment >= deadline:
                kept.end_worker()
                text = f"stopped after {job.wall_limit:g} s of real time"
                remedy = "raise campaign.wall_limit if it may take longer"
                return Failure("wall_limit", f"{text}; {remedy}")
            if moment >= look:
                # Its keeper may not have ended it.
                self._check_stopped()
                kept.trim_output()
                if (failure := self._too_large(kept, job)) is not None:
                    return failure
                look = moment + _NEXT_LOOK
            part = kept.receive(max(0.0, min(look, deadline) - time.monotonic()))
            if part is None:
                text = _ending(kept.end_worker(_ENDS_ITSELF))
                self._check_stopped()
                words = kept.last_words()
                return Failure("crash", f"{text}; it wrote last:\n{words}" if words else text)
            received += part
        try:
            clean, *rest = pickle.loads(memoryview(received)[LENGTH.size :])
        except Exception as error:
            kept.end_worker()
            return Failure("error", f"what came out cannot be read here: {error}")
        if not clean:
            kept.end_worker()
        return RunRecord(job, *rest)

    def _too_large(self, kept: KeptProcess, job: RunJob) -> Failure | None:
        """End a run that occupies too much memory."""
        if job.memory_limit is None:
            return None
        size = occupied(descendants(kept.server.process.pid), job.memory_limit)
        if size <= job.memory_limit:
            return None
        kept.end_worker()
        text = f"stopped when it occupied {_megabytes(size)}, of {_megabytes(job.memory_limit)}"
        remedy = "raise campaign.memory_limit if it may have more"
        return Failure("memory_limit", f"{text}; {remedy}")

    def _check_stopped(self) -> None:
        """Raise if somebody wants no more."""
        with self._state:
            stopped, self._stopped = self._stopped, False
        if self._closed:
            self._dispose()
        elif stopped and self._kept is not None and self._kept.worker is not None:
            # Its keeper ends it sooner or later, until when it seems to wait for a job.
            self._kept.end_worker()
        if stopped or self._closed:
            raise StoppedError("the run was ended from outside")

    def _dispose(self) -> None:
        """Do without the process."""
        with self._state:
            kept, self._kept = self._kept, None
        if kept is not None:
            kept.end()
            kept.forget()

    def _forget(self) -> None:
        """Leave the process to the one that it belongs to."""
        self._running, self._state = threading.Lock(), threading.Lock()
        if self._kept is not None:
            self._kept.forget()
            self._kept = None


_alive: weakref.WeakSet[RunProcess] = weakref.WeakSet()


def _after_fork() -> None:
    """Give up all run processes in a process forked from theirs."""
    for each in list(_alive):
        each._forget()


os.register_at_fork(after_in_child=_after_fork)


def _is_complete(received: bytearray) -> bool:
    """Return True if a message has arrived as a whole."""
    begun = len(received) >= LENGTH.size
    return begun and len(received) >= LENGTH.size + int(LENGTH.unpack_from(received)[0])


def _ending(status: int | None) -> str:
    """Return in words how a process ended."""
    if status is None:
        return "its process was killed, together with the one that watches over it"
    if not os.WIFSIGNALED(status):
        code = os.WEXITSTATUS(status)
        return f"its process ended with exit status {code}, without a result"
    number = os.WTERMSIG(status)
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        name = "without name"
    text = f"its process was killed by signal {number} ({name})"
    if number == signal.SIGKILL:
        text += ", perhaps because the system ran out of memory"
    return text


def _megabytes(size: int) -> str:
    """Write an amount of memory, rounded up: what is above a limit must look so."""
    return f"{-(-size // 1_000_000)} MB"


class LostError(SimpluginError):
    """The keeper, or the run process before it had read its job, is gone."""


class KeptProcess:
    """A run process and its keeper.

    One thread at a time may use it; only `ask_to_end` and `server.hang_up` may be called by
    another one.

    Raises
    ------
    LostError
        The keeper cannot be started.
    """

    def __init__(self) -> None:
        self.worker: int | None = None
        self._earlier_words = b""
        self._directory = ""
        self._jobs: socket.socket | None = None
        self._watch: socket.socket | None = None
        try:
            # The same sums: as many processes as there are cores do not need threads.
            self.server = ServerProcess.start(
                "simplugin.campaigns.running.worker_server", **ONE_THREAD
            )
        except OSError as error:
            raise LostError(f"its keeper cannot be started: {error}") from error
        self._output = self.server.output.fileno()

    def wait_until_ready(self) -> None:
        """Raise if the keeper cannot work.

        Raises
        ------
        SetupError
            It cannot load what runs need.
        LostError
            It was ended before.
        """
        kind, text = self.server.answer()
        if kind == FAILED:
            raise SetupError(f"run processes cannot load what they need:\n{text.strip()}")
        if kind != READY:
            raise self._gone()
        self._directory = text

    def start_worker(self) -> None:
        """Have a run process forked."""
        self._jobs, its_jobs = socket.socketpair()
        self._watch, its_watch = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._jobs.settimeout(_TAKES_JOB)
        with its_jobs, its_watch:
            try:
                self.server.run([its_watch.fileno(), its_jobs.fileno()])
            except OSError as error:
                raise LostError("its keeper is gone") from error
        kind, number = self._heard()
        if kind != STARTED:
            raise LostError(f"its process cannot be started: {os.strerror(number)}")
        self.worker = number
        self._poll = select.poll()
        self._poll.register(self._jobs, select.POLLIN)
        self._poll.register(self._watch, select.POLLIN)

    def has_worker(self) -> bool:
        """Return True if there is a run process that has not ended."""
        if self._watch is not None and _is_readable(self._watch):
            self.end_worker()
        return self.worker is not None

    def send(self, message: bytes) -> None:
        """Send a job to the run process.

        Raises
        ------
        LostError
            It is gone, or does not listen.
        """
        assert self._jobs is not None
        try:
            self._jobs.sendall(message)
        except OSError as error:
            raise LostError("its process ended before it took the job") from error

    def receive(self, wait: float) -> bytes | None:
        """Wait up to so many seconds for a part of the answer; return what there is.

        None: the run process has ended, and there will be no more.

        Raises
        ------
        LostError
            It ended before it had read the job.
        """
        assert self._jobs is not None
        # Rounded up: a wait of 0 ms would spin.
        events = dict(self._poll.poll(int(wait * 1000) + 1))
        if not events:
            return b""
        if self._jobs.fileno() not in events and not _is_readable(self._jobs):
            return None
        try:
            return self._jobs.recv(_CHUNK) or None
        except ConnectionResetError as error:  # with our message unread
            raise LostError("its process ended before it took the job") from error

    def end_worker(self, patience: float = 0.0) -> int | None:
        """Have the run process and all that it started killed; return its status.

        Parameters
        ----------
        patience : float
            How long it may take to end by itself [s].

        Returns
        -------
        int or None
            As `os.waitpid` gives it; None if nobody knows.
        """
        assert self._watch is not None
        ending = None
        with contextlib.suppress(LostError):
            if not _is_readable(self._watch, patience):
                self.ask_to_end()
            _, ending = self._heard(PATIENCE)
        if ending is None:
            self.end()
        self.worker = None
        self._hang_up_worker()
        return ending

    def last_words(self) -> str:
        """Return the end of what the job printed so far."""
        size = os.fstat(self._output).st_size
        words = self._earlier_words + os.pread(
            self._output, _LAST_WORDS, max(0, size - _LAST_WORDS)
        )
        if len(words) > _LAST_WORDS:
            words = words[-_LAST_WORDS:].partition(b"\n")[2] or words[-_LAST_WORDS:]
        return words.decode("utf-8", "replace").strip()

    def trim_output(self) -> None:
        """Drop what the job printed long ago."""
        size = os.fstat(self._output).st_size
        if size > _MOST_OUTPUT:
            self._earlier_words = os.pread(self._output, _LAST_WORDS, size - _LAST_WORDS)
            os.ftruncate(self._output, 0)

    def forget_output(self) -> None:
        """Drop what earlier jobs printed."""
        self._earlier_words = b""
        if os.fstat(self._output).st_size:
            os.ftruncate(self._output, 0)

    def ask_to_end(self) -> None:
        """Have the run process ended; does not wait. Any thread may call it."""
        if (watch := self._watch) is not None:
            with contextlib.suppress(OSError):
                watch.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """End the keeper and everything below it, and wait until they are gone."""
        self.server.end()
        # A keeper that was killed leaves it; mostly it is gone already.
        shutil.rmtree(self._directory, ignore_errors=True)

    def forget(self) -> None:
        """Let go of it, also in a process forked from its caller."""
        self.server.forget()
        self._hang_up_worker()

    def _hang_up_worker(self) -> None:
        """Close the channels of the run process."""
        for channel in (self._jobs, self._watch):
            if channel is not None:
                channel.close()
        self._jobs = self._watch = None

    def _heard(self, patience: float | None = None) -> tuple[bytes, int]:
        """Return the next message of the keeper about the run process."""
        assert self._watch is not None
        if not _is_readable(self._watch, patience):
            raise LostError("its keeper does not answer")
        kind, number = status(self._watch)
        if not kind:
            raise self._gone()
        return kind, number

    def _gone(self) -> LostError:
        """Return the error for a keeper that ended."""
        return LostError(f"its keeper is gone; it wrote last:\n{self.last_words()}".rstrip("\n"))


def _is_readable(channel: socket.socket, patience: float | None = 0.0) -> bool:
    """Return True if there is a message, or there will be none any more, within so many seconds."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    return bool(poll.poll(None if patience is None else int(patience * 1000)))
