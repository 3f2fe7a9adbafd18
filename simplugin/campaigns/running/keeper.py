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
import gc
import os
import pickle
import resource
import select
import signal
import socket
import sys
import tempfile
import traceback
from typing import NoReturn

from simplugin.campaigns.running import child
from simplugin.inputs.scratch import scratch_directory
from simplugin.simulation import processes

READY, FAILED, STARTED, ENDED = "ready", "failed", "started", "ended"
START, END = b"start", b"end"


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
        child.prepare()
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
                elif signal.SIGTERM in self._signals():
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

    def _signals(self) -> bytes:
        """Return the numbers of the signals that came."""
        with contextlib.suppress(BlockingIOError):
            return self._wakeup.recv(4096)
        return b""

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
            child.serve(socket.socket(fileno=jobs))
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


if __name__ == "__main__":
    main()
