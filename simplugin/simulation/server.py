"""The warm fork server: ``python -m simplugin.simulation.server FD BACK_END``.

One such process serves each process that calls `simulate`, per back end. It loads SimGrid once,
never starts an engine, and forks a fresh child for each simulation. Campaigns have servers that
load something else, and whose children do one run after the other.

A server belongs to its caller: it ends, with everything below it, when the caller's end of the
control socket closes, however that happened. That works also while a child is inside a C function
that never returns, and does not depend on which of the caller's threads started it. What a child
starts stays below the server, even if it detaches itself, and ends with the child.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import os
import pickle
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from simplugin.simulation.process_environment import adopt, forbid_simulations
from simplugin.simulation.processes import (
    adopt_orphans,
    end_children,
    flush_output,
    part_from,
    signal_at_parents_end,
)
from simplugin.simulation.protocol import ENDED, FAILED, NOT_STARTED, READY, STARTED, STATUS

_MESSAGE = 1 << 18
_RUN_FDS = 5


def main(
    prepare: Callable[[], str | None],
    run: Callable[..., None],
    tidy: Callable[[], None] = lambda: None,
) -> None:
    """Load what children need, then serve until the caller is gone.

    Parameters
    ----------
    prepare : callable
        Loads it; returns a text for the caller, if there is one.
    run : callable
        Called in each child with the descriptors that the caller gave for it.
    tidy : callable
        Called when a child and all that it started have ended.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    # While it loads it does not listen, and would outlive a caller that is killed by a second.
    # Later the caller's thread that started it may end.
    _end_with_caller(control, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        answer = READY + (prepare() or "").encode()
    except Exception:
        control.send(FAILED + traceback.format_exc()[-60000:].encode())
    else:
        _end_with_caller(control, 0)
        server = Server(control, run, tidy)
        control.send(answer)
        try:
            server.serve()
        finally:
            end_children()
            tidy()


def _end_with_caller(control: socket.socket, number: int) -> None:
    """Have the system send a signal when the caller's thread ends, or none; end if it is gone."""
    signal_at_parents_end(number)
    poll = select.poll()
    poll.register(control, select.POLLHUP)
    if poll.poll(0):
        sys.exit()


class Server:
    """State of the server.

    Parameters
    ----------
    control : socket
        To the caller.
    run, tidy
        As `main` takes them.
    """

    def __init__(
        self, control: socket.socket, run: Callable[..., None], tidy: Callable[[], None]
    ) -> None:
        self._control = control
        self._run = run
        self._tidy = tidy
        self._retired = False
        # By process id: where the caller waits for its end.
        self._children: dict[int, socket.socket] = {}
        # By descriptor of such a socket, while the caller has not shut it.
        self._owners: dict[int, int] = {}
        # Ends of children wake up the loop.
        self._wakeup, self._wakeup_end = socket.socketpair()
        self._wakeup.setblocking(False)
        self._wakeup_end.setblocking(False)
        signal.set_wakeup_fd(self._wakeup_end.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        self._poll = select.poll()
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        # What a child leaves behind becomes a child of the server, which thus finds it.
        adopt_orphans()
        _settle_memory()

    def serve(self) -> None:
        """Answer until the caller is gone, or until retired and idle, or until terminated."""
        while not (self._retired and not self._children):
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    if not self._answer():
                        return
                elif descriptor == self._wakeup.fileno():
                    with contextlib.suppress(BlockingIOError):
                        if signal.SIGTERM in self._wakeup.recv(4096):
                            return
                    self._reap()
                elif descriptor in self._owners:
                    # The caller shut its side: it does not want this child any more.
                    self._poll.unregister(descriptor)
                    os.kill(self._owners.pop(descriptor), signal.SIGKILL)

    def _answer(self) -> bool:
        """Do what one message says; False if the caller is gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(
                self._control, _MESSAGE, _RUN_FDS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            return False
        if not message:
            return False
        order: dict[str, Any] = pickle.loads(message)
        if order["do"] == "run":
            self._start(*descriptors)
        elif order["do"] == "adopt":
            adopt(order["surroundings"])
        elif order["do"] == "warm":
            _warm(order["modules"])
        elif order["do"] == "retire":
            self._retired = True
        return True

    def _start(self, watch: int, *descriptors: int) -> None:
        """Fork a child."""
        status = socket.socket(fileno=watch)
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            _report(status, NOT_STARTED, error.errno or errno.EAGAIN)
            status.close()
            pid = -1
        if pid == 0:
            status.close()
            self._become_child(server, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        if pid > 0:
            _report(status, STARTED, pid)
            self._children[pid] = status
            self._owners[status.fileno()] = pid
            self._poll.register(status, select.POLLIN)

    def _become_child(self, server: int, descriptors: tuple[int, ...]) -> NoReturn:
        """Do what is asked for in the process just forked, and never come back."""
        code = 1
        try:
            part_from(server, signal.SIGCHLD, signal.SIGTERM)
            for mine in (self._control, self._wakeup, self._wakeup_end, *self._children.values()):
                mine.close()
            self._run(*descriptors)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            flush_output()
            # Neither SimGrid's nor Python's clean-up: both may hang on actors that still wait.
            os._exit(code)

    def _reap(self) -> None:
        """End what children that ended left running, and report their end to the callers."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                watch = self._children.pop(pid, None)
                if watch is not None:
                    if self._owners.pop(watch.fileno(), None) is not None:
                        self._poll.unregister(watch)
                    # Of the others, each has adopted what it started.
                    end_children(self._children)
                    self._tidy()
                    _report(watch, ENDED, status)
                    watch.close()


def _report(watch: socket.socket, kind: bytes, number: int) -> None:
    """Send a message to a caller, who may have gone."""
    with contextlib.suppress(OSError):
        watch.send(STATUS.pack(kind, number), socket.MSG_NOSIGNAL)


def _warm(modules: list[str]) -> None:
    """Import modules that the children would import one after the other."""
    forbid_simulations("the module asks for a simulation while a server imports it")
    for name in modules:
        # The child that needs it reports what is wrong with it.
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    _settle_memory()


def _settle_memory() -> None:
    """Keep the collector of the children away from pages shared with the server."""
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from simplugin.simulation import child

    main(lambda: child.prepare(sys.argv[2]), child.run)
    # The caller waits for this end, and Python's clean-up would take longer than a simulation.
    os._exit(0)
