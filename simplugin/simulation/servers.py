"""The caller's side of simulations: its warm fork servers, and the supervision of each simulation.

There is one server per back end, started when first needed.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import fcntl
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Self, TextIO

from simplugin.core.errors import CrashError, SetupError, SimulationError, WallClockLimitError
from simplugin.core.formatting import EscapingStream
from simplugin.inputs.references import is_installed
from simplugin.simulation.failures import crash, place, platform_error_of_abort, tail
from simplugin.simulation.process_environment import ProcessEnvironment
from simplugin.simulation.processes import descendants, spent
from simplugin.simulation.protocol import (
    COMMAND,
    ENDED,
    ERROR,
    FAILED,
    LOADED,
    LOGGED,
    NOT_STARTED,
    PAUSED,
    PROGRESS,
    READY,
    RESULT,
    STARTED,
    STATUS,
    WHERE_ARE_YOU,
    SimulationSettings,
    read_outcome,
    write_job,
)
from simplugin.simulation.serialization import unpack_error

# Enough for a server that is busy ending what a child started, or loading a module [s].
PATIENCE = 10.0
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_STARTS = 3
# No message of a simulation is longer [byte].
_NEWS = 64
_SHOWN_AT_ONCE = 1 << 20
# A wait for events, after which there may be another [s].
_LONGEST_WAIT = 1e5
# What it takes to write a traceback, on a busy machine [s].
_ANSWER_TIMEOUT = 0.5
# Takes the path as data: from PYTHONPATH, Python would run a sitecustomize.py there.
_START = """
import sys
end = sys.argv.index("--")
sys.path[:], sys.argv[:] = sys.argv[end + 1 :], sys.argv[1:end]
import runpy
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""

_lock = threading.RLock()
_servers: dict[str, WarmServer] = {}
# Replaced, but still busy with the simulations of other threads.
_retired: list[WarmServer] = []


@dataclass(eq=False)
class ServerProcess:
    """A fork server (`simplugin.simulation.server`), seen from its caller.

    Attributes
    ----------
    control : socket
        Closing it ends the server and everything that it runs.
    output : file
        What it prints to; children may have another.
    is_ready : bool
        True once it has loaded what its children need.
    """

    control: socket.socket
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    is_ready: bool = False

    @classmethod
    def start(cls, module: str, *arguments: str, **environment: str) -> Self:
        """Start a server, which is not ready yet, with this environment and some more."""
        path = [os.path.abspath(str(entry)) for entry in sys.path]
        with contextlib.ExitStack() as stack:
            # A file without a disk: it cannot be full, and nobody needs to read it.
            output = stack.enter_context(open(os.memfd_create("simplugin-server"), "rb"))
            # Who is cut short goes on at the new end.
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
                    env={
                        **os.environ,
                        # There may be a loop over a set of names: the same inputs give the same
                        # order.
                        "PYTHONHASHSEED": "0",
                        **environment,
                    },
                    pass_fds=(its.fileno(),),
                    # Ctrl-C at the terminal is for the caller, who decides what it ends.
                    start_new_session=True,
                )
            stack.pop_all()
        return cls(mine, process, output)

    def answer(self) -> tuple[bytes, str]:
        """Wait until it has loaded; return READY or FAILED, or nothing if it died, and a text."""
        try:
            answer = self.control.recv(1 << 16)
        except ConnectionResetError:
            answer = b""
        self.is_ready = answer[:1] == READY
        return answer[:1], answer[1:].decode()

    def run(self, descriptors: Sequence[int]) -> None:
        """Have a child forked.

        Parameters
        ----------
        descriptors : sequence of int
            The socket where the server reports its start and end; those that the child gets.

        Raises
        ------
        OSError
            The server is gone.
        """
        socket.send_fds(self.control, [pickle.dumps({"do": "run"})], list(descriptors))

    def hang_up(self) -> None:
        """Have everything ended; does not wait. Any thread may call it."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """End it now, with everything that it runs, and wait until they are gone."""
        self.hang_up()
        if not self.is_ready:
            # It would notice when all is loaded, and has started nothing yet.
            self.process.kill()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # stuck, or stopped
            for pid in (*descendants(self.process.pid), self.process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """End it, and give back what it took."""
        self.end()
        self.forget()

    def forget(self) -> None:
        """Let go of it, also in a process forked from its caller."""
        self.control.close()
        self.output.close()
        # There it is no child: nothing to wait for, nothing to warn about.
        self.process.returncode = self.process.returncode or 0


def status(watch: socket.socket) -> tuple[bytes, int]:
    """Return kind and number of what a server says about a child; no kind if it is gone."""
    try:
        message = watch.recv(STATUS.size)
    except OSError:
        message = b""
    kind, number = STATUS.unpack(message) if message else (b"", 0)
    return kind, number


@dataclass(eq=False)
class WarmServer(ServerProcess):
    """A server that has loaded a back end of simulations.

    Attributes
    ----------
    warm : dict of str to [str, int]
        File of each module that is loaded for the children's sake, and when it was changed.
    surroundings : Surroundings, optional
        Those that its children have already.
    """

    warm: dict[str, list[Any]] = field(default_factory=dict)
    surroundings: ProcessEnvironment | None = None

    def wait_until_ready(self, back_end: str, where: ProcessEnvironment) -> None:
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
            words = tail(os.pread(self.output.fileno(), _SHOWN_AT_ONCE, 0))
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
            code = self.process.poll()
            if code is not None and code < 0:
                raise crash(-code, words, "it was started", "the simulation server")
            raise SetupError(f"the simulation server did not start: {words or code}")
        self.output.close()
        self.adopt(where)

    def adopt(self, where: ProcessEnvironment) -> bool:
        """Give the server its caller's surroundings, which its children then have already."""
        if self.surroundings != where and self.say({"do": "adopt", "surroundings": where}):
            self.surroundings = where
        return self.surroundings == where

    def warm_up(self, modules: Sequence[tuple[str, str, int]], where: ProcessEnvironment) -> None:
        """Have modules loaded in advance, as they would be in `where`."""
        fresh = {name: origin for name, *origin in modules if name not in self.warm}
        if fresh and self.adopt(where) and self.say({"do": "warm", "modules": list(fresh)}):
            self.warm.update(fresh)

    def is_fit(self, where: ProcessEnvironment) -> bool:
        """Return True if its modules are still what a child in `where` would import itself."""
        return not self.warm or (
            (self.surroundings == where or self._is_near(where))
            and all(
                _changed(file) == changed
                for file, changed in self.warm.values()
                # Replaced by installing, not by editing: a running program keeps what it has.
                if not is_installed(file)
            )
        )

    def _is_near(self, where: ProcessEnvironment) -> bool:
        """Return True if only path or directory changed, and lead to the same modules."""
        mine = self.surroundings
        if mine is None or mine.environment != where.environment:
            return False
        places = {name: _places_of(name) for name in {each.split(".")[0] for each in self.warm}}
        return all(
            file.startswith(places[name.split(".")[0]]) for name, (file, _) in self.warm.items()
        )

    def say(self, order: dict[str, Any]) -> bool:
        """Send a message; False if it is too long, or if the server is gone."""
        try:
            self.control.send(pickle.dumps(order))
        except OSError:
            return False
        return True


def start_simulation(
    back_end: str, where: ProcessEnvironment, descriptors: Sequence[int]
) -> WarmServer:
    """Have a fit server start a simulation; return the server.

    Parameters
    ----------
    back_end : str
        ``module:class``.
    where : Surroundings
        The caller's.
    descriptors : sequence of int
        The server's end of the watch socket; the file of the job; the simulation's ends of the
        news socket and of standard output; the file of its standard error.
    """
    with _lock:
        for ended in [each for each in _retired if each.process.poll() is not None]:
            ended.forget()
            _retired.remove(ended)
        for _ in range(_STARTS):
            try:
                server = _fit_server(back_end, where)
                server.run(descriptors)
            except CrashError as error:
                lost = error
            except OSError as error:  # it died since
                lost = CrashError(f"the simulation server ended before its first order: {error}")
                _servers.pop(back_end).stop()
            else:
                return server
    raise lost


def _fit_server(back_end: str, where: ProcessEnvironment) -> WarmServer:
    """Return a server whose modules are up to date, replacing the one there is if need be."""
    server = _servers.get(back_end)
    if server is not None and server.process.poll() is not None:
        _servers.pop(back_end).stop()
    elif server is not None and not server.is_fit(where):
        # It ends when its last simulation has ended.
        server.say({"do": "retire"})
        _retired.append(_servers.pop(back_end))
    start_server(back_end)
    server = _servers[back_end]
    try:
        server.wait_until_ready(back_end, where)
    except BaseException:
        _servers.pop(back_end).stop()
        raise
    return server


def start_server(back_end: str) -> None:
    """Start a server unless there is one; it loads the back end while its caller goes on."""
    with _lock:
        if back_end not in _servers:
            # BLAS threads started before a fork do not survive it, and results must not depend on
            # their number.
            threads = {name: os.environ.get(name, number) for name, number in ONE_THREAD.items()}
            _servers[back_end] = WarmServer.start(
                "simplugin.simulation.server", back_end, **threads
            )


def warm_up(server: WarmServer, modules: Sequence[tuple[str, str, int]]) -> None:
    """Have a server load modules for the simulations to come."""
    with _lock:
        if server in _servers.values():
            server.warm_up(modules, ProcessEnvironment.current())


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


def cpu_time() -> float:
    """Return the CPU time of this process and of its simulations [s].

    Children that ended are included, other children that run are not.
    """
    own = os.times()
    return sum([*own[:4], *map(spent, server_processes())])


def _places_of(package: str) -> tuple[str, ...]:
    """Return the file of a module, or the directories of a package, that an import would find."""
    for finder in sys.meta_path:
        spec = finder.find_spec(package, None)
        if spec is not None:
            inside = spec.submodule_search_locations
            return (spec.origin or "",) if inside is None else tuple(f"{each}/" for each in inside)
    return ()


def _changed(file: str) -> int | None:
    """Return when a file was changed, as no program can set it; None if it is gone."""
    try:
        return os.stat(file).st_ctime_ns
    except OSError:
        return None


def _after_fork() -> None:
    """Leave the servers to the process that started them."""
    global _lock
    _lock = threading.RLock()
    for server in (*_servers.values(), *_retired):
        server.forget()
    _servers.clear()
    _retired.clear()


# A fork waits until no thread holds the lock.
os.register_at_fork(
    before=lambda: _lock.acquire() and None,
    after_in_parent=lambda: _lock.release(),
    after_in_child=_after_fork,
)
atexit.register(stop_servers)


# ---- one simulation -----------------------------------------------------------------------------


class Supervision:
    """One simulation in a process of its own.

    Parameters
    ----------
    settings, packed_actors
        The job.
    wall_limit : float, optional
        Real time that it may take [s].
    progress : callable, optional
        Called with the simulated date and the number of actors alive.

    Attributes
    ----------
    is_paused : bool
        True if it goes step by step and waits for a command.
    clock : float
        Date of the last pause [s].
    at_end : bool
        True if nothing can happen any more.
    """

    def __init__(
        self,
        settings: SimulationSettings,
        packed_actors: bytes,
        wall_limit: float | None,
        progress: Callable[[float, int], None] | None,
    ) -> None:
        self._settings = settings
        self._packed_actors = packed_actors
        self._wall_limit = wall_limit
        self._progress = progress
        self.clock = 0.0
        self.at_end = False
        self._pid: int | None = None
        self._clock: float | None = None
        self.is_paused = False
        self._loaded = False
        self._status: int | None = None
        self._ended = False
        self._is_log = False
        self._text = codecs.getincrementaldecoder("utf-8")("replace")

    def run(self) -> bytes:
        """Simulate; return the body of the result.

        Raises
        ------
        SimulationError, PlatformError, DeploymentError
            There is none.
        """
        with self.started():
            self._converse()
            return self._conclude()

    @contextlib.contextmanager
    def started(self) -> Iterator[None]:
        """Have the process started, and leave none behind."""
        # A file, not a pipe: what SimGrid says before it dies can be megabytes.
        with contextlib.ExitStack() as stack, tempfile.TemporaryFile(buffering=0) as stderr:
            self._stderr = stderr.fileno()
            limit = self._wall_limit
            self._deadline = None if limit is None else time.monotonic() + limit
            self._file = os.memfd_create("simplugin")
            stack.callback(os.close, self._file)
            write_job(self._file, self._settings, self._packed_actors)
            # A process that another thread forks meanwhile would inherit the server's end of a
            # socket, and hide the server's death.
            with _lock, contextlib.ExitStack() as theirs:
                sockets = []
                for _ in range(2):
                    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    sockets.append(stack.enter_context(mine))
                    sockets.append(theirs.enter_context(its))
                self._news, its_news, self._watch, its_watch = sockets
                self._news.setblocking(False)
                self._stdout, its_stdout = os.pipe()
                stack.callback(os.close, self._stdout)
                theirs.callback(os.close, its_stdout)
                os.set_blocking(self._stdout, False)
                self._server = start_simulation(
                    self._settings.back_end,
                    self._settings.surroundings,
                    [its_watch.fileno(), self._file, its_news.fileno(), its_stdout, self._stderr],
                )
            try:
                yield
            finally:
                self.is_paused = False
                if not self._ended:
                    self._abandon()

    def wait(self) -> bytes | None:
        """Return the body of the result, None at a pause; raise as `run`."""
        self._converse()
        return self._conclude() if self._ended else None

    def command(self, kind: bytes, date: float) -> bytes | None:
        """Send a command to a simulation that pauses; return as `wait`."""
        if self._deadline is not None:
            # The limit is the simulation's, not that of the time between commands.
            self._deadline += time.monotonic() - self._paused_since
        self.is_paused = False
        with contextlib.suppress(OSError):  # it was killed, as `wait` will find
            self._news.send(COMMAND.pack(kind, date))
        return self.wait()

    def state(self) -> tuple[Any, ...]:
        """Return what a simulation that pauses has written after a command to do so."""
        _, parts = read_outcome(self._file)
        os.truncate(self._file, 0)
        return parts

    def _converse(self) -> None:
        """Take what comes until the process has ended."""
        take = {
            self._watch.fileno(): self._hear_server,
            self._news.fileno(): self._hear_simulation,
            self._stdout: self._relay,
        }
        poll = select.poll()
        for descriptor in take:
            poll.register(descriptor, select.POLLIN)
        while not (self._ended or self.is_paused):
            for descriptor, _ in poll.poll(self._patience()):
                if not take[descriptor]():
                    poll.unregister(descriptor)
        while self._hear_simulation():
            pass
        self._relay()

    def _patience(self) -> int | None:
        """Return how long to wait for an event [ms]; raise if time is over."""
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._too_slow()
        # Rounded up: a wait of 0 ms would spin. The system does not wait for months at a time.
        return int(min(left, _LONGEST_WAIT) * 1000) + 1

    def _too_slow(self) -> WallClockLimitError:
        """Return the error for a simulation that takes too long."""
        message = f"the simulation took more than {self._wall_limit:g} s of real time"
        if self._clock is not None:
            message += f"; the simulated date was {self._clock:g} s"
        stderr = self._ask_where()
        if place(stderr):
            message += f"; it was at {place(stderr)}"
        error = WallClockLimitError(message)
        error.limit = self._wall_limit or 0.0
        error.clock = self._clock
        error.stderr = stderr
        return error

    def _ask_where(self) -> str:
        """Return the end of its standard error, with the place where it is now if it says so."""
        before = tail(self._errors_written())
        if self._pid is None or self._ended:
            return before
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, WHERE_ARE_YOU)
        patience = time.monotonic() + _ANSWER_TIMEOUT
        while (after := tail(self._errors_written())) == before:
            if time.monotonic() > patience:
                break
            time.sleep(0.01)
        return after

    def _hear_simulation(self) -> bool:
        """Read a message of the simulation; False when there is none."""
        try:
            message = self._news.recv(_NEWS)
        except OSError:
            return False
        if message == LOADED:
            self._loaded = True
        elif len(message) == PAUSED.size:
            _, self.clock, self.at_end = PAUSED.unpack(message)
            self.is_paused, self._paused_since = True, time.monotonic()
        elif message:
            self._clock, alive = PROGRESS.unpack(message)
            if self._progress is not None:
                self._progress(self._clock, alive)
        return bool(message)

    def _hear_server(self) -> bool:
        """Read what the server says about the process; False if that is the last."""
        kind, number = status(self._watch)
        if kind == STARTED:
            self._pid = number
        elif kind == NOT_STARTED:
            reason = os.strerror(number)
            raise CrashError(f"the simulation's process cannot be started: {reason}")
        else:
            self._ended = True
            self._status = number if kind == ENDED else None
        return not self._ended

    def _relay(self) -> bool:
        """Show what the actors printed; False when there will be no more."""
        # Not more than a pipe holds, or an actor that prints without end would keep us here.
        try:
            data = os.read(self._stdout, 1 << 16)
        except BlockingIOError:
            return True
        for number, part in enumerate(data.split(LOGGED)):
            self._is_log ^= number > 0
            stream = sys.stderr if self._is_log else sys.stdout
            # What a program prints is its own.
            as_is = stream.stream if isinstance(stream, EscapingStream) else stream
            _show(as_is, self._text.decode(part))
        return bool(data)

    def _abandon(self) -> None:
        """Have the process killed, and wait until it is gone."""
        with contextlib.suppress(OSError):
            # Not `close`: a process forked from this one meanwhile may hold the socket too.
            self._watch.shutdown(socket.SHUT_WR)
        self._watch.settimeout(PATIENCE)
        with contextlib.suppress(SimulationError):
            while self._hear_server():
                pass

    def _conclude(self) -> bytes:
        """Turn what is known about the ended process into a result or an exception."""
        stderr = self._errors_written()
        kind, parts = read_outcome(self._file)
        if kind not in (RESULT, ERROR):
            raise self._died(tail(stderr))
        modules, body = parts
        warm_up(self._server, modules)
        if kind == ERROR:
            error = unpack_error(body)
            if isinstance(error, SimulationError):
                error.stderr = tail(stderr)
            if stderr:
                error.add_note(f"The simulation wrote to its standard error:\n{tail(stderr)}")
            raise error
        if stderr:
            _show(sys.stderr, stderr.decode("utf-8", "replace"))
        found: bytes = body
        return found

    def _errors_written(self) -> bytes:
        """Return what the process wrote to its standard error, or the end of it."""
        size = os.fstat(self._stderr).st_size
        start = max(0, size - _SHOWN_AT_ONCE)
        return os.pread(self._stderr, size - start, start)

    def _died(self, stderr: str) -> Exception:
        """Return the error for a process that said nothing before its end."""
        if self._status is None:
            lost = CrashError("the simulation server was killed, and the simulation with it")
            lost.stderr = stderr
            return lost
        if not self._loaded and os.WIFSIGNALED(self._status):
            refused = platform_error_of_abort(stderr, self._settings.platform)
            if refused is not None:
                return refused
        where = "it ran its actors" if self._loaded else "it loaded modules and platform"
        error = crash(self._status, stderr, where)
        error.clock = self._clock
        return error


def _show(stream: TextIO | None, text: str) -> None:
    """Write to a stream of the caller's, which a program without terminal may lack."""
    if stream is not None and text:
        stream.write(text)
        stream.flush()
