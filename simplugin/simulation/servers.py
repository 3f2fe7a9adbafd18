"""The warm fork servers of a caller: one per back end, started when first needed."""

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
from simplugin.simulation.surroundings import Surroundings

_STOP_TIMEOUT = 5.0
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
    warm : dict of str to [str, int]
        File of each module that is loaded for the children's sake, and when it was changed.
    """

    back_end: str
    control: socket.socket
    process: subprocess.Popen[bytes]
    warm: dict[str, list[Any]] = field(default_factory=dict)
    surroundings: Surroundings | None = None

    @classmethod
    def start(cls, back_end: str, where: Surroundings) -> WarmServer:
        """Start a server and wait until it is ready."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # -P: a file of the current directory must not pass for one of our modules.
        command = [sys.executable, "-P", "-m", "simplugin.simulation.server"]
        command += [str(its.fileno()), back_end]
        with its, tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                command,
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
        """Have a simulation started on the given descriptors (see `start_simulation`).

        Raises
        ------
        OSError
            The server is gone.
        """
        socket.send_fds(self.control, [pickle.dumps({"do": "run"})], list(descriptors))

    def adopt(self, where: Surroundings) -> bool:
        """Give the server its caller's surroundings, which its children then have already."""
        if self.surroundings != where and self._say({"do": "adopt", "surroundings": where}):
            self.surroundings = where
        return self.surroundings == where

    def warm_up(self, modules: Sequence[tuple[str, str, int]], where: Surroundings) -> None:
        """Have modules loaded in advance, as they would be in `where`."""
        fresh = {name: origin for name, *origin in modules if name not in self.warm}
        if fresh and self.adopt(where) and self._say({"do": "warm", "modules": list(fresh)}):
            self.warm.update(fresh)

    def is_fit(self, where: Surroundings) -> bool:
        """Return True if its modules are still what a child in `where` would import itself."""
        return not self.warm or (
            (self.surroundings == where or self._is_near(where))
            and all(
                _changed(file) == changed
                for file, changed in self.warm.values()
                if not file.startswith(_INSTALLED)
            )
        )

    def _is_near(self, where: Surroundings) -> bool:
        """Return True if only path or directory changed, and lead to the same modules."""
        mine = self.surroundings
        if mine is None or mine.environment != where.environment:
            return False
        places = {name: _places_of(name) for name in {each.split(".")[0] for each in self.warm}}
        return all(
            file.startswith(places[name.split(".")[0]]) for name, (file, _) in self.warm.items()
        )

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

    def _say(self, order: dict[str, Any]) -> bool:
        """Send a message; False if it is too long, or if the server is gone."""
        try:
            self.control.send(pickle.dumps(order))
        except OSError:
            return False
        return True


def start_simulation(back_end: str, where: Surroundings, descriptors: Sequence[int]) -> WarmServer:
    """Have a fit server start a simulation; return the server.

    Parameters
    ----------
    back_end : str
        ``module:class``.
    where : Surroundings
        The caller's.
    descriptors : sequence of int
        The file of the job; the simulation's ends of the news socket, the watch socket and standard
        output; the file of its standard error.
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


def _fit_server(back_end: str, where: Surroundings) -> WarmServer:
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
            server.warm_up(modules, Surroundings.current())


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


def _places_of(package: str) -> tuple[str, ...]:
    """Return the file of a module, or the directories of a package, that an import would find."""
    for finder in sys.meta_path:
        spec = finder.find_spec(package, None)
        if spec is not None:
            inside = spec.submodule_search_locations
            return (spec.origin or "",) if inside is None else tuple(f"{each}/" for each in inside)
    return ()


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


def _after_fork() -> None:
    """Leave the servers to the process that started them."""
    global _lock
    _lock = threading.RLock()
    for server in (*_servers.values(), *_retired):
        server.forget()
    _servers.clear()
    _retired.clear()


# A fork waits until no thread is within `no_fork`.
os.register_at_fork(
    before=lambda: _lock.acquire() and None,
    after_in_parent=lambda: _lock.release(),
    after_in_child=_after_fork,
)
atexit.register(stop_servers)
