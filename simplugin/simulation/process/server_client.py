"""Fork servers and the processes that they fork, seen from their caller."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Self

from simplugin.core.errors import CrashError, SetupError
from simplugin.simulation.process.environment import ProcessEnvironment
from simplugin.simulation.process.failures import crash, tail
from simplugin.simulation.process.operating_system import cpu_seconds, descendants
from simplugin.simulation.process.wire_format import (
    ADOPT,
    ENDED,
    FAILED,
    NOT_STARTED,
    READY,
    STARTED,
    STATUS,
    WARM_UP,
    write_job,
)

# Enough for a server that is busy killing processes of a child, or loading a module [s].
PATIENCE = 10.0
# BLAS threads do not survive a fork, and results must not depend on their number.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_STARTS = 3
_MAX_OUTPUT = 1 << 20
# Takes the path as data: from PYTHONPATH, Python would run a sitecustomize.py there.
_START = """
import sys
end = sys.argv.index("--")
sys.path[:], sys.argv[:] = sys.argv[end + 1 :], sys.argv[1:end]
import runpy
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""

# Held while sockets for a child are made: a process that another thread forks at that time would
# inherit the server's end, and hide the death of the server.
_lock = threading.RLock()
_all_servers: weakref.WeakSet[ForkServer] = weakref.WeakSet()
_servers: dict[str, SimulationServer] = {}


def is_readable(channel: socket.socket | ChildProcess, wait: float = 0.0) -> bool:
    """Return True if there is a message or the end of the channel within `wait` seconds."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    return bool(poll.poll(int(wait * 1000)))


class ChildProcess:
    """A process forked by a fork server, seen from its caller.

    Parameters
    ----------
    channel : socket
        Where the server reports the start and the end.

    Attributes
    ----------
    pid : int or None
        Its process id once it has started.
    has_ended : bool
        True after the end of it and of everything that it started.
    status : int or None
        Its status then, as `os.waitpid` gives it; None if its server was killed.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self.pid: int | None = None
        self.status: int | None = None
        self.has_ended = False

    def fileno(self) -> int:
        """Return the descriptor that is readable when `hear` does not block."""
        return self._channel.fileno()

    def hear(self) -> None:
        """Wait for the next event: the start, or the end; raise CrashError if it cannot start."""
        try:
            message = self._channel.recv(STATUS.size)
        except OSError:
            message = b""
        kind, number = STATUS.unpack(message) if message else (b"", 0)
        if kind == STARTED:
            self.pid = number
            return
        self.has_ended = True
        if kind == NOT_STARTED:
            raise CrashError(f"the process cannot be started: {os.strerror(number)}")
        self.status = number if kind == ENDED else None

    def kill(self) -> None:
        """Let the server kill it, and wait until it is gone or the server does not answer."""
        with contextlib.suppress(OSError):
            # Not `close`: a process forked from this one may hold the socket too.
            self._channel.shutdown(socket.SHUT_WR)
        self._channel.settimeout(PATIENCE)
        while not self.has_ended:
            with contextlib.suppress(CrashError):
                self.hear()

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()


@dataclass(eq=False)
class ForkServer:
    """A fork server (`simplugin.simulation.process.fork_server`), seen from its caller.

    Attributes
    ----------
    control : socket
        Closing it ends the server and everything that it runs.
    process : subprocess.Popen
        The server.
    output : file
        Its standard output and standard error.
    is_ready : bool
        True once it has loaded what its children need.
    """

    control: socket.socket
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    is_ready: bool = False

    @classmethod
    def start(cls, module: str, *arguments: str, **environment: str) -> Self:
        """Start a server, which is not ready yet.

        Parameters
        ----------
        module : str
            The module to run.
        *arguments : str
            Its arguments after the descriptor of the control socket.
        **environment : str
            Variables that differ from those of this process.
        """
        path = [os.path.abspath(str(entry)) for entry in sys.path]
        with contextlib.ExitStack() as stack:
            # A file without a disk: it cannot be full, and need not be read.
            output = stack.enter_context(open(os.memfd_create("simplugin-server"), "rb"))
            # After a truncation, writers append at the new end of the file.
            fcntl.fcntl(output, fcntl.F_SETFL, os.O_APPEND)
            mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.enter_context(mine)
            with its:
                process = subprocess.Popen(
                    [
                        # -P: a file of the current directory must not pass for runpy.
                        *(sys.executable, "-P", "-c", _START, module),
                        *(str(its.fileno()), *arguments, "--", *path),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    # The seed: loops over sets of names must have the same order each time.
                    env={**os.environ, "PYTHONHASHSEED": "0", **environment},
                    pass_fds=(its.fileno(),),
                    # Ctrl-C at the terminal is handled by the caller.
                    start_new_session=True,
                )
            stack.pop_all()
        server = cls(mine, process, output)
        _all_servers.add(server)
        return server

    def answer(self) -> tuple[bytes, str]:
        """Wait until it has loaded; return READY or FAILED, or nothing if it died, and a text."""
        try:
            answer = self.control.recv(1 << 16)
        except ConnectionResetError:
            answer = b""
        self.is_ready = answer[:1] == READY
        return answer[:1], answer[1:].decode()

    def fork(self, *descriptors: int) -> ChildProcess:
        """Request a child.

        Parameters
        ----------
        *descriptors : int
            What its `run` is called with.

        Raises
        ------
        OSError
            The server is gone.
        """
        return self._child(b"fork", *descriptors)

    def adopt(self, pid: int) -> ChildProcess:
        """Let the server watch a process that one of its children has forked."""
        return self._child(STATUS.pack(ADOPT, pid))

    def _child(self, message: bytes, *descriptors: int) -> ChildProcess:
        """Send a message about a child, with the socket on which the server reports about it."""
        with _lock:
            mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with its:
                try:
                    socket.send_fds(self.control, [message], [its.fileno(), *descriptors])
                except BaseException:
                    mine.close()
                    raise
        return ChildProcess(mine)

    def terminate(self) -> None:
        """End it now, with everything that it runs, and wait until they are gone."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)
        if not self.is_ready:
            # It would notice only when everything is loaded, and has no children yet.
            self.process.kill()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # stuck, or stopped
            for pid in (*descendants(self.process.pid), self.process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()

    def close(self) -> None:
        """Terminate it, and release its descriptors."""
        self.terminate()
        self.abandon()

    def abandon(self) -> None:
        """Release its descriptors without ending it, in a process forked from its caller."""
        self.control.close()
        self.output.close()
        # There it is not a child: nothing to wait for, nothing to warn about.
        self.process.returncode = self.process.returncode or 0


@dataclass(eq=False)
class SimulationServer(ForkServer):
    """A server that has loaded a back end of simulations.

    Attributes
    ----------
    modules : set of str
        Installed modules that it has been asked to load since.
    """

    modules: set[str] = field(default_factory=set)
    _environment: ProcessEnvironment | None = None

    def wait_until_ready(self, back_end: str) -> None:
        """Wait until the back end is loaded; raise if the server cannot work."""
        if self.is_ready:
            return
        kind, text = self.answer()
        if kind == FAILED:
            reason = text.strip().splitlines()[-1]
            raise SetupError(
                f"the back end {back_end.partition(':')[0]} cannot be loaded: {reason}; "
                "`make install` builds it"
            )
        if kind != READY:
            words = tail(os.pread(self.output.fileno(), _MAX_OUTPUT, 0))
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
            code = self.process.poll()
            if code is not None and code < 0:
                raise crash(-code, words, "it was started", "the simulation server")
            raise SetupError(f"the simulation server did not start: {words or code}")
        self.output.close()

    def warm_up(self, modules: Sequence[str]) -> None:
        """Let the server adopt the environment of this process, and load installed modules.

        Children inherit both. Modules are not loaded again until the caller ends, as in any Python
        program. Raises OSError if the server is gone.
        """
        environment = ProcessEnvironment.current()
        if environment == self._environment and not modules:
            return
        with open(os.memfd_create("simplugin"), "rb") as file:
            write_job(file.fileno(), (environment, list(modules)))
            socket.send_fds(self.control, [WARM_UP], [file.fileno()])
        self.modules.update(modules)
        self._environment = environment


def start_server(back_end: str) -> None:
    """Start a server unless one is running; return while it loads the back end."""
    with _lock:
        if back_end not in _servers:
            module = "simplugin.simulation.process.fork_server"
            threads = {name: os.environ.get(name, number) for name, number in ONE_THREAD.items()}
            _servers[back_end] = SimulationServer.start(module, back_end, **threads)


def start_simulation(
    back_end: str, descriptors: Sequence[int]
) -> tuple[ChildProcess, SimulationServer]:
    """Start the process of a simulation; return it and its server.

    Parameters
    ----------
    back_end : str
        ``module:class``.
    descriptors : sequence of int
        The arguments of `simplugin.simulation.process.simulation_process.run`.
    """
    with _lock:
        for _ in range(_STARTS):
            server = _servers.get(back_end)
            if server is not None and server.process.poll() is not None:
                _servers.pop(back_end).close()
            start_server(back_end)
            server = _servers[back_end]
            try:
                server.wait_until_ready(back_end)
                server.warm_up(())
                return server.fork(*descriptors), server
            except CrashError as error:
                lost = error
                _servers.pop(back_end).close()
            except OSError as error:  # it died since
                lost = CrashError(f"the simulation server ended before its first order: {error}")
                _servers.pop(back_end).close()
            except BaseException:
                _servers.pop(back_end).close()
                raise
    raise lost


def stop_servers() -> None:
    """End all simulation servers of this process; the next simulation starts another one."""
    with _lock:
        for server in _servers.values():
            server.close()
        _servers.clear()


def server_processes() -> list[int]:
    """Return the process ids of the simulation servers of this process."""
    with _lock:
        return [server.process.pid for server in _servers.values()]


def cpu_time() -> float:
    """Return the CPU time of this process, of its children that ended, and of its servers [s]."""
    return sum([*os.times()[:4], *map(cpu_seconds, server_processes())])


def _after_fork() -> None:
    """Leave the servers to the process that started them."""
    global _lock
    _lock = threading.RLock()
    for server in list(_all_servers):
        server.abandon()
    _servers.clear()


# A fork waits until no thread holds the lock.
os.register_at_fork(
    before=lambda: _lock.acquire() and None,
    after_in_parent=lambda: _lock.release(),
    after_in_child=_after_fork,
)
atexit.register(stop_servers)
