"""A keeper and its run process, seen from who started them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import select
import shutil
import signal
import socket
import subprocess
import sys
from typing import Any

from simplugin.campaigns.running.child import LENGTH
from simplugin.campaigns.running.keeper import END, ENDED, FAILED, READY, START, STARTED
from simplugin.campaigns.running.memory import descendants
from simplugin.errors import SetupError, SimpluginError

# Enough for a keeper that is busy ending what a run started [s].
_PATIENCE = 10.0
_MESSAGE = 1 << 17
_CHUNK = 1 << 18
# A run process that does not take a job for so long is stuck [s].
_TAKES_JOB = 10.0
_LAST_WORDS = 4096
# What a run may print before it is dropped [byte]; much, since what is written in that moment is
# lost too.
_MOST_OUTPUT = 1 << 26


class LostError(SimpluginError):
    """The keeper, or the run process before it had read its job, is gone."""


class KeptProcess:
    """A run process and its keeper.

    One thread at a time may use it; only `ask_to_end` and `hang_up` may be called by
    another one.

    Raises
    ------
    LostError
        The keeper cannot be started.
    """

    def __init__(self) -> None:
        self.worker: int | None = None
        self.is_ready = False
        self._earlier_words = b""
        self._directory: str | None = None
        self._jobs: socket.socket | None = None
        # A file without a disk: it cannot be full, and the reader cannot be too slow for it.
        self._output = os.memfd_create("simplugin-run")
        try:
            # Who is cut short goes on at the new end.
            fcntl.fcntl(self._output, fcntl.F_SETFL, os.O_APPEND)
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = _started(theirs.fileno(), self._output)
        except OSError as error:
            os.close(self._output)
            if hasattr(self, "_control"):
                self._control.close()
            raise LostError(f"its keeper cannot be started: {error}") from error

    def wait_until_ready(self) -> None:
        """Raise if the keeper cannot work.

        Raises
        ------
        SetupError
            It cannot load what runs need.
        LostError
            It was ended before.
        """
        kind, *details = self._heard()
        if kind == FAILED:
            text = details[0].strip()
            raise SetupError(f"run processes cannot load what they need:\n{text}")
        assert kind == READY, kind
        self.is_ready = True

    def start_worker(self) -> None:
        """Have a run process forked."""
        jobs, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [START], [theirs.fileno()])
            except OSError as error:
                jobs.close()
                raise LostError("its keeper is gone") from error
        self._jobs = jobs
        jobs.settimeout(_TAKES_JOB)
        kind, self.worker, self._directory = self._heard()
        assert kind == STARTED, kind
        self._earlier_words = b""
        self._poll = select.poll()
        self._poll.register(jobs, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)

    def has_worker(self) -> bool:
        """Whether there is a run process that has not ended."""
        if self.worker is None:
            return False
        if _is_readable(self._control):
            self.end_worker()
            return False
        return True

    def send(self, message: bytes) -> None:
        """Send a job to the run process.

        Raises
        ------
        LostError
            It is gone, or does not listen.
        """
        assert self._jobs is not None
        try:
            self._jobs.sendall(LENGTH.pack(len(message)) + message)
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
        status = None
        with contextlib.suppress(LostError, OSError):
            if not _is_readable(self._control, patience):
                self._control.send(END)
            kind, status = self._heard(_PATIENCE)
            assert kind == ENDED, kind
        if status is None:
            self.end()
        self.worker = None
        if self._jobs is not None:
            self._jobs.close()
            self._jobs = None
        return status

    def processes(self) -> list[int]:
        """Return the run process and everything below it."""
        return descendants(self._process.pid)

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
        with contextlib.suppress(OSError):
            self._control.send(END)

    def hang_up(self) -> None:
        """Have everything ended; does not wait. Any thread may call it."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """End the keeper and everything below it, and wait until they are gone."""
        self.hang_up()
        if not self.is_ready:
            # It would notice when all is loaded, and has started nothing yet.
            self._process.kill()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # stuck, or stopped
            for pid in (*self.processes(), self._process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
        if self._directory is not None:
            # A keeper that was killed leaves it; mostly it is gone already.
            shutil.rmtree(self._directory, ignore_errors=True)

    def close(self) -> None:
        """End everything and give back what it took."""
        self.end()
        self.forget()

    def forget(self) -> None:
        """Let go of it, also in a process forked from its caller."""
        self._process.returncode = self._process.returncode or 0
        self._control.close()
        if self._jobs is not None:
            self._jobs.close()
        os.close(self._output)

    def _heard(self, patience: float | None = None) -> tuple[Any, ...]:
        """Return the next message of the keeper."""
        if not _is_readable(self._control, patience):
            raise LostError("its keeper does not answer")
        try:
            data = self._control.recv(_MESSAGE)
        except OSError as error:
            raise LostError("its keeper is gone") from error
        if not data:
            words = self.last_words()
            raise LostError(f"its keeper is gone; it wrote last:\n{words}".rstrip("\n"))
        message: tuple[Any, ...] = pickle.loads(data)
        return message


def _started(control: int, output: int) -> subprocess.Popen[bytes]:
    """Start a keeper."""
    module = "simplugin.campaigns.running.keeper"
    return subprocess.Popen(
        # -P: a file of the current directory must not pass for one of our modules.
        [sys.executable, "-P", "-m", module, str(control)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=_environment(),
        pass_fds=(control,),
        # Ctrl-C at the terminal is for the caller, who decides what it ends.
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    """Return the environment of a keeper and its run processes."""
    path = [os.path.abspath(str(entry)) for entry in sys.path]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        # The same inputs give the same order in sets, and the same sums: as many processes as
        # there are cores do not need threads.
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _is_readable(channel: socket.socket, patience: float | None = 0.0) -> bool:
    """Whether there is a message, or there will be none any more, within so many seconds."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    return bool(poll.poll(None if patience is None else int(patience * 1000)))
