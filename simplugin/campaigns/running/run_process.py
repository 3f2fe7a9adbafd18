"""A process that does one job after the other, supervised."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import threading
import time
import weakref
from typing import Any

from simplugin.campaigns.jobs import Failure, Job, Measured, Record, now
from simplugin.campaigns.running.child import LENGTH, Answer
from simplugin.campaigns.running.keepers import KeptProcess, LostError
from simplugin.campaigns.running.memory import occupied
from simplugin.campaigns.running.versions import versions
from simplugin.errors import SetupError, SimpluginError

# Quick jobs are over before anybody looks at their memory; the others are looked at often [s].
_FIRST_LOOK = 0.05
_NEXT_LOOK = 0.1
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

    def run(self, job: Job) -> Record:
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
            if isinstance(answer, Failure):
                duration = time.perf_counter() - before
                answer = Answer(None, answer, started, duration, clean=False)
            return _record(job, answer, f"{socket.gethostname()}:{self._pid}")

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
            Whether to wait until everything is gone. If not, close it once more, later.
        """
        with self._state:
            self._closed = self._stopped = True
            if self._kept is not None:
                self._kept.hang_up()
        if wait:
            with self._running:
                self._dispose()

    def __enter__(self) -> RunProcess:
        """Return itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    def _answer(self, job: Job) -> Answer | Failure:
        """Have a job done by a process that takes it."""
        try:
            message = pickle.dumps((job.target, job.arguments), protocol=5)
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
            ready = self._kept is not None and self._kept.is_ready
            self._replace_worker()
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

    def _replace_worker(self) -> None:
        """Do without the process that was lost, and without its keeper if that is gone too."""
        kept = self._kept
        if kept is None or kept.worker is None or kept.end_worker(_ENDS_ITSELF) is None:
            self._dispose()

    def _conversation(self, kept: KeptProcess, job: Job) -> Answer | Failure:
        """Wait for the answer, within the limits."""
        begun = time.monotonic()
        deadline = None if job.wall_limit is None else begun + job.wall_limit
        look = begun + _FIRST_LOOK
        received = bytearray()
        while not _is_complete(received):
            moment = time.monotonic()
            if deadline is not None and moment >= deadline:
                return self._too_slow(kept, job)
            if moment >= look:
                # Its keeper may not have ended it.
                self._check_stopped()
                kept.trim_output()
                if (failure := self._too_large(kept, job)) is not None:
                    return failure
                look = moment + _NEXT_LOOK
            until = look if deadline is None else min(look, deadline)
            part = kept.receive(max(0.0, until - time.monotonic()))
            if part is None:
                return self._died(kept)
            received += part
        return self._understood(kept, received)

    def _understood(self, kept: KeptProcess, received: bytearray) -> Answer | Failure:
        """Read an answer."""
        try:
            answer: Answer = pickle.loads(memoryview(received)[LENGTH.size :])
        except Exception as error:
            kept.end_worker()
            return Failure("error", f"what came out cannot be read here: {error}")
        if not answer.clean:
            kept.end_worker()
        return answer

    def _too_slow(self, kept: KeptProcess, job: Job) -> Failure:
        """End a run that takes too long."""
        kept.end_worker()
        text = f"stopped after {job.wall_limit:g} s of real time"
        return Failure("wall_limit", f"{text}; raise campaign.wall_limit if it may take longer")

    def _too_large(self, kept: KeptProcess, job: Job) -> Failure | None:
        """End a run that occupies too much memory."""
        if job.memory_limit is None:
            return None
        size = occupied(kept.processes(), job.memory_limit)
        if size <= job.memory_limit:
            return None
        kept.end_worker()
        text = f"stopped when it occupied {_megabytes(size)}, of {_megabytes(job.memory_limit)}"
        remedy = "raise campaign.memory_limit if it may have more"
        return Failure("memory_limit", f"{text}; {remedy}")

    def _died(self, kept: KeptProcess) -> Failure:
        """Say how the process ended."""
        status = kept.end_worker(_ENDS_ITSELF)
        self._check_stopped()
        words = kept.last_words()
        text = _ending(status)
        return Failure("crash", f"{text}; it wrote last:\n{words}" if words else text)

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
            kept.close()

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


def _record(job: Job, answer: Answer, place: str) -> Record:
    """Write down how a job ended."""
    measured: Measured | None = answer.measured
    provenance: Any = None if measured is None else measured.row.provenance
    return Record(
        job=job,
        measured=measured,
        failure=answer.failure,
        started=answer.started,
        duration=answer.duration,
        place=place,
        versions=versions(provenance),
    )


def _is_complete(received: bytearray) -> bool:
    """Whether a message has arrived as a whole."""
    if len(received) < LENGTH.size:
        return False
    return len(received) >= LENGTH.size + int(LENGTH.unpack_from(received)[0])


def _ending(status: int | None) -> str:
    """Say how a process ended."""
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
