"""The warm fork server: ``python -m simplugin.simulation.server FD MODULE``.

One such process serves each process that calls `simulate`, per back end. It loads SimGrid once,
never starts an engine, and forks a fresh child for each simulation. It belongs to its caller: it
ends, with all its children, when the caller's end of the control socket closes, however that
happened.
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
from typing import Any, NoReturn

from simplugin.simulation import child
from simplugin.simulation.processes import adopt_orphans, end_children, part_from
from simplugin.simulation.protocol import ENDED, NOT_STARTED, STARTED, STATUS
from simplugin.simulation.surroundings import adopt, forbid_simulations

_MESSAGE = 1 << 18
_RUN_FDS = 5


def main() -> None:
    """Load the back end's module, then serve until the caller is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child.prepare(sys.argv[2])
    except Exception:
        control.send(b"failed " + traceback.format_exc()[-60000:].encode())
        return
    server = Server(control)
    control.send(b"ready")
    server.serve()


class Server:
    """State of the server.

    Parameters
    ----------
    control : socket
        To the caller.
    """

    def __init__(self, control: socket.socket) -> None:
        forbid_simulations("the module asks for a simulation while a server imports it")
        self._control = control
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
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._poll = select.poll()
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        # What a simulation leaves behind becomes a child of the server, which thus finds it.
        adopt_orphans()
        _settle_memory()

    def serve(self) -> None:
        """Answer until the caller is gone, or until retired and idle."""
        while not (self._retired and not self._children):
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    if not self._answer():
                        end_children()
                        return
                elif descriptor == self._wakeup.fileno():
                    with contextlib.suppress(BlockingIOError):
                        self._wakeup.recv(4096)
                    self._reap()
                elif descriptor in self._owners:
                    # The caller shut its side: it does not want this simulation any more.
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

    def _start(self, file: int, news: int, watch: int, stdout: int, stderr: int) -> None:
        """Fork the process of one simulation."""
        status = socket.socket(fileno=watch)
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            _report(status, NOT_STARTED, error.errno or errno.EAGAIN)
            status.close()
            pid = -1
        if pid == 0:
            self._become_child(server, file, news, stdout, stderr)
        for descriptor in (file, news, stdout, stderr):
            os.close(descriptor)
        if pid > 0:
            _report(status, STARTED, pid)
            self._children[pid] = status
            self._owners[status.fileno()] = pid
            self._poll.register(status, select.POLLIN)

    def _become_child(
        self, server: int, file: int, news: int, stdout: int, stderr: int
    ) -> NoReturn:
        """Run one simulation in the process just forked, and never come back."""
        code = 1
        try:
            part_from(server, signal.SIGCHLD, signal.SIGINT)
            # Or it would become a child of the server while the simulation runs.
            adopt_orphans()
            os.dup2(stdout, 1)
            os.dup2(stderr, 2)
            os.close(stdout)
            os.close(stderr)
            for mine in (self._control, self._wakeup, self._wakeup_end, *self._children.values()):
                mine.close()
            child.run(file, socket.socket(fileno=news))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            child.flush_output()
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
                    _report(watch, ENDED, status)
                    watch.close()


def _report(watch: socket.socket, kind: bytes, number: int) -> None:
    """Send a message to a caller, who may have gone."""
    with contextlib.suppress(OSError):
        watch.send(STATUS.pack(kind, number), socket.MSG_NOSIGNAL)


def _warm(modules: list[str]) -> None:
    """Import modules that the children would import one after the other."""
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
    main()
    # The caller waits for this end, and Python's clean-up would take longer than a simulation.
    os._exit(0)
