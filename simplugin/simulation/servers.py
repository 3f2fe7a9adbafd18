"""The caller's warm servers: one per back end, started when first needed."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from simplugin.errors import SetupError
from simplugin.simulation.failures import tail
from simplugin.simulation.surroundings import Surroundings, lead_to, same_environment

_STOP_TIMEOUT = 5.0
_CHUNK = 200
# Surroundings that do not fit into one message: modules are not loaded in advance [byte].
_LARGEST = 150_000
# Modules there are replaced by installing, not by editing: a running program keeps what it has.
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})

_lock = threading.RLock()
_servers: dict[str, WarmServer] = {}
# Replaced, but still busy with the simulations of other threads.
_retired: list[WarmServer] = []


@dataclass(eq=False)
class WarmServer:
    """A running server process, seen from its caller.

    Attributes
    ----------
    back_end : str
        ``module:class`` that it has loaded.
    control : socket
        Closing it ends the server and everything that it runs.
    warm : dict of str to (str, int)
        File of each module that is loaded for the children's sake, and when it was changed.
    """

    back_end: str
    control: socket.socket
    process: subprocess.Popen[bytes]
    warm: dict[str, tuple[str, int]] = field(default_factory=dict)
    surroundings: bytes = b""

    @classmethod
    def start(cls, back_end: str, where: bytes) -> WarmServer:
        """Start a server and wait until it is ready."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its, tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                # -P: a file of the current directory must not pass for one of our modules.
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "simplugin.simulation.server",
                    str(its.fileno()),
                    back_end,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd="/",
                env=_server_environment(),
                pass_fds=(its.fileno(),),
                # Ctrl-C at the terminal is for the caller, who decides what it ends.
                start_new_session=True,
            )
            its.close()
            server = cls(back_end, mine, process)
            try:
                server._wait_until_ready(log)
                server.adopt(where)
            except BaseException:
                server.stop()
                raise
        return server

    def _wait_until_ready(self, log: Any) -> None:
        """Raise if the server cannot work."""
        with contextlib.suppress(ConnectionResetError):
            answer = self.control.recv(1 << 16)
            if answer == b"ready":
                return
            if answer:
                text = answer.removeprefix(b"failed ").decode()
                raise SetupError(_cannot_load(self.back_end, text))
        log.seek(0)
        raise SetupError(f"the simulation server did not start: {tail(log.read())}")

    def run(self, descriptors: Sequence[int]) -> None:
        """Have a simulation started on the given descriptors (job, watch, stdout, stderr).

        Raises
        ------
        OSError
            The server is gone.
        """
        socket.send_fds(self.control, [pickle.dumps({"do": "run"})], list(descriptors))

    def adopt(self, where: bytes) -> None:
        """Give the server its caller's surroundings, which its children then have already."""
        self.surroundings = where
        self._say({"do": "adopt", "surroundings": where})

    def warm_up(self, modules: Sequence[tuple[str, str, int]], where: bytes) -> None:
        """Have modules loaded in advance, as they would be in `where`."""
        if len(where) > _LARGEST:
            return
        fresh = [each for each in modules if each[0] not in self.warm]
        if self.surroundings != where:
            self.adopt(where)
        for start in range(0, len(fresh), _CHUNK):
            names = [name for name, _, _ in fresh[start : start + _CHUNK]]
            self._say({"do": "warm", "modules": names})
        self.warm.update({name: (file, changed) for name, file, changed in fresh})

    def is_fit(self, where: bytes) -> bool:
        """Whether its modules are still what a child in `where` would import itself."""
        if not self.warm:
            return True
        if self.surroundings != where and not self._is_near(where):
            return False
        return all(
            _changed(file) == changed
            for file, changed in self.warm.values()
            if not file.startswith(_INSTALLED)
        )

    def _is_near(self, where: bytes) -> bool:
        """Whether its modules are those of its caller, whose path or directory has changed."""
        files = ((name, file) for name, (file, _) in self.warm.items())
        return same_environment(self.surroundings, where) and lead_to(files)

    def retire(self) -> None:
        """Let it end when its last simulation has ended."""
        self._say({"do": "retire"})

    def stop(self) -> None:
        """End it now, with everything that it runs."""
        self.control.close()
        try:
            self.process.wait(_STOP_TIMEOUT)
        except subprocess.TimeoutExpired:  # stuck in a module that it loads
            self.process.kill()
            self.process.wait()

    def forget(self) -> None:
        """Let go of it in a process forked from its caller."""
        self.control.close()
        self.process.returncode = 0  # not our child: nothing to wait for, nothing to warn about

    def _say(self, order: dict[str, Any]) -> None:
        """Send a message; a server that is gone shows when it is next used."""
        with contextlib.suppress(OSError):
            self.control.send(pickle.dumps(order))


def start_simulation(back_end: str, where: bytes, descriptors: Sequence[int]) -> WarmServer:
    """Have a fit server start a simulation; return the server.

    Parameters
    ----------
    back_end : str
        ``module:class``.
    where : bytes
        The caller's surroundings.
    descriptors : sequence of int
        The simulation's ends of: job socket, watch socket, standard output, standard error.
    """
    with _lock:
        _bury_retired()
        for _ in range(3):
            server = _fit_server(back_end, where)
            try:
                server.run(descriptors)
            except OSError:  # it died since
                _servers.pop(back_end).stop()
            else:
                return server
    raise SetupError("the simulation server ends as soon as it is started")


def _fit_server(back_end: str, where: bytes) -> WarmServer:
    """Return a server whose modules are up to date, replacing the one there is if need be."""
    server = _servers.get(back_end)
    if server is not None and server.process.poll() is not None:
        _servers.pop(back_end).stop()
    elif server is not None and not server.is_fit(where):
        server.retire()
        _retired.append(_servers.pop(back_end))
    if back_end not in _servers:
        _servers[back_end] = WarmServer.start(back_end, where)
    return _servers[back_end]


def warm_up(server: WarmServer, modules: Sequence[tuple[str, str, int]]) -> None:
    """Have a server load modules for the simulations to come."""
    with _lock:
        if server in _servers.values():
            server.warm_up(modules, Surroundings.current().packed())


def stop_servers() -> None:
    """End every server of this process and everything that it runs; the next call starts anew."""
    with _lock:
        for server in (*_servers.values(), *_retired):
            server.stop()
        _servers.clear()
        _retired.clear()


def server_processes() -> list[int]:
    """Return the process ids of the servers of this process."""
    with _lock:
        return [server.process.pid for server in (*_servers.values(), *_retired)]


def _bury_retired() -> None:
    """Close the books on retired servers that have ended."""
    for server in [each for each in _retired if each.process.poll() is not None]:
        server.control.close()
        _retired.remove(server)


def _server_environment() -> dict[str, str]:
    """Return the environment in which a server starts; its children get the caller's."""
    path = [os.path.abspath(str(entry)) for entry in sys.path]
    return {
        # BLAS threads started before a fork do not survive it, and results must not depend on
        # their number.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        # Actors may go through a set of names: the same inputs give the same order.
        "PYTHONHASHSEED": "0",
    }


def _cannot_load(back_end: str, text: str) -> str:
    """Say that a back end's module is missing, and what makes it."""
    module = back_end.partition(":")[0]
    reason = text.strip().splitlines()[-1]
    return f"the back end {module} cannot be loaded: {reason}; `make install` builds it"


def _changed(file: str) -> int | None:
    """Return when a file was changed, as no program can set it; None if it is gone."""
    try:
        return os.stat(file).st_ctime_ns
    except OSError:
        return None


@contextlib.contextmanager
def no_fork() -> Iterator[None]:
    """Keep other threads from forking, here also from starting simulations.

    A process that inherits the server's end of a socket would hide the server's death.
    """
    with _lock:
        yield


def _before_fork() -> None:
    """Wait until no thread is within `no_fork`."""
    _lock.acquire()


def _after_fork_in_parent() -> None:
    """Go on."""
    _lock.release()


def _after_fork() -> None:
    """Leave the servers to the process that started them."""
    global _lock
    _lock = threading.RLock()
    for server in (*_servers.values(), *_retired):
        server.forget()
    _servers.clear()
    _retired.clear()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
)
atexit.register(stop_servers)
