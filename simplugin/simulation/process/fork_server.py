"""The fork server: ``python -m simplugin.simulation.process.fork_server FD BACK_END``.

A fork server loads once what its children need and forks a fresh child on request. Each process
that calls `simulate` has one per back end, which loads SimGrid and never starts an engine; each
run process of a campaign has one that loads what scenarios need.

A server belongs to its caller: it ends, with everything below it, when the caller's end of the
control socket closes, for whatever reason. This also works while a child is inside a C function
that never returns, and does not depend on which thread of the caller started it. Processes that a
child starts stay below the server, even if they daemonise, and end with the child.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterable

from simplugin.simulation.process.environment import ProcessEnvironment, adopt, forbid_simulations
from simplugin.simulation.process.operating_system import (
    become_subreaper,
    detach_from_parent,
    flush_output,
    kill_descendants,
    signal_at_parents_end,
)
from simplugin.simulation.process.wire_format import (
    ADOPT,
    ENDED,
    FAILED,
    NOT_STARTED,
    READY,
    STARTED,
    STATUS,
    WARM_UP,
    take_job,
)

_LONGEST_MESSAGE = 64
_MAX_DESCRIPTORS = 5


def main(
    prepare: Callable[[], str | None],
    run: Callable[..., None],
    tidy: Callable[[], None] = lambda: None,
) -> None:
    """Load what children need, then serve until the caller is gone.

    Parameters
    ----------
    prepare : callable
        Loads it; returns a text for the caller, or None.
    run : callable
        Called in each child with the descriptors that the caller sent for it.
    tidy : callable
        Called after the end of a child and of everything that it started.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    # A server that is loading does not poll its socket, so the kernel ends it with its caller.
    # Later the thread of the caller that started it may end before the caller does.
    _signal_with_caller(control, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        answer = READY + (prepare() or "").encode()
    except Exception:
        control.send(FAILED + traceback.format_exc()[-60000:].encode())
    else:
        _signal_with_caller(control, 0)
        server = ServerLoop(control, run, tidy)
        control.send(answer)
        try:
            server.serve()
        finally:
            kill_descendants()
            tidy()


def _signal_with_caller(control: socket.socket, number: int) -> None:
    """Receive a signal when the caller's thread ends (0 for none); exit if the caller is gone."""
    signal_at_parents_end(number)
    poll = select.poll()
    poll.register(control, select.POLLHUP)
    if poll.poll(0):
        sys.exit()


def fork_child(
    run: Callable[..., None], descriptors: Iterable[int], unused: Iterable[socket.socket] = ()
) -> int:
    """Fork a child that calls `run` with `descriptors` and exits; return its process id.

    Parameters
    ----------
    run : callable
        Called in the child.
    descriptors : iterable of int
        Its arguments.
    unused : iterable of socket
        Sockets of this process, which the child closes.
    """
    parent = os.getpid()
    if pid := os.fork():
        return pid
    code = 1
    try:
        detach_from_parent(parent, signal.SIGCHLD, signal.SIGTERM)
        for each in unused:
            each.close()
        run(*descriptors)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        flush_output()
        # Neither SimGrid's nor Python's clean-up: both may hang on actors that still wait.
        os._exit(code)


class ServerLoop:
    """The loop of a fork server.

    Parameters
    ----------
    control : socket
        Connection to the caller.
    run, tidy
        As in `main`.
    """

    def __init__(
        self, control: socket.socket, run: Callable[..., None], tidy: Callable[[], None]
    ) -> None:
        self._control = control
        self._run = run
        self._tidy = tidy
        # By process id: the socket on which the caller waits for the end of the child.
        self._children: dict[int, socket.socket] = {}
        # By descriptor of such a socket, until the caller shuts its side: the process id.
        self._wanted: dict[int, int] = {}
        # The end of a child wakes up the loop.
        self._wakeup, self._wakeup_end = socket.socketpair()
        self._wakeup.setblocking(False)
        self._wakeup_end.setblocking(False)
        signal.set_wakeup_fd(self._wakeup_end.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        self._poll = select.poll()
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        # Processes that a child leaves become children of the server, which thus finds them.
        become_subreaper()
        _freeze_memory()

    def serve(self) -> None:
        """Answer until the caller is gone, or until terminated."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    if not self._answer():
                        return
                elif descriptor == self._wakeup.fileno():
                    with contextlib.suppress(BlockingIOError):
                        if signal.SIGTERM in self._wakeup.recv(4096):
                            return
                    self._reap()
                elif descriptor in self._wanted:
                    # The caller shut its side: it does not need this child any more.
                    self._poll.unregister(descriptor)
                    os.kill(self._wanted.pop(descriptor), signal.SIGKILL)

    def _answer(self) -> bool:
        """Execute one message; return False if the caller is gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(
                self._control, _LONGEST_MESSAGE, _MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            return False
        if message[:1] == ADOPT:
            self._adopt(descriptors[0], STATUS.unpack(message)[1])
        elif message == WARM_UP:
            _warm_up(*take_job(descriptors[0])[0])
            os.close(descriptors[0])
        elif message:
            self._start(*descriptors)
        return bool(message)

    def _start(self, watch: int, *descriptors: int) -> None:
        """Fork a child."""
        status = socket.socket(fileno=watch)
        unused = (self._control, self._wakeup, self._wakeup_end, status, *self._children.values())
        try:
            pid = fork_child(self._run, descriptors, unused)
        except OSError as error:
            _report(status, NOT_STARTED, error.errno or errno.EAGAIN)
            status.close()
        else:
            self._watch(status, pid)
        for descriptor in descriptors:
            os.close(descriptor)

    def _adopt(self, watch: int, pid: int) -> None:
        """Watch a branch, which becomes a child when the process between the two has ended."""
        status = socket.socket(fileno=watch)
        try:
            os.kill(pid, 0)
        except ProcessLookupError:  # it was killed together with the simulation that forked it
            _report(status, STARTED, pid)
            _report(status, ENDED, signal.SIGKILL)
            status.close()
        else:
            self._watch(status, pid)

    def _watch(self, status: socket.socket, pid: int) -> None:
        """Report the start of a child, and remember whom to report its end."""
        _report(status, STARTED, pid)
        self._children[pid] = status
        self._wanted[status.fileno()] = pid
        self._poll.register(status, select.POLLIN)

    def _reap(self) -> None:
        """Kill what children that ended left running, and report their end to the callers."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                watch = self._children.pop(pid, None)
                if watch is not None:
                    if self._wanted.pop(watch.fileno(), None) is not None:
                        self._poll.unregister(watch)
                    # Orphans of the other children are adopted by those.
                    kill_descendants(self._children)
                    self._tidy()
                    _report(watch, ENDED, status)
                    watch.close()


def _report(watch: socket.socket, kind: bytes, number: int) -> None:
    """Send a message to a caller, which may be gone."""
    with contextlib.suppress(OSError):
        watch.send(STATUS.pack(kind, number), socket.MSG_NOSIGNAL)


def _warm_up(environment: ProcessEnvironment, modules: list[str]) -> None:
    """Adopt an environment, and import modules that each child would import itself."""
    adopt(environment)
    if modules:
        forbid_simulations("the module asks for a simulation while a server imports it")
        for name in modules:
            # The child that needs the module reports the error.
            with contextlib.suppress(BaseException):
                importlib.import_module(name)
        adopt(environment)  # what a module has changed is no business of the other children
        _freeze_memory()


def _freeze_memory() -> None:
    """Exempt all objects from garbage collection, so that children do not copy shared pages."""
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from simplugin.simulation.process import simulation_process

    main(lambda: simulation_process.prepare(sys.argv[2]), simulation_process.run)
    # The caller waits for this end, and Python's clean-up would take longer than a simulation.
    os._exit(0)
