"""The process of one simulation: it adopts its caller's environment, simulates and reports."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import inspect
import itertools
import locale
import math
import os
import pickle
import platform
import random
import resource
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import numpy as np

from simplugin.core.errors import PlatformError, SetupError, SimpluginError, SimulationError
from simplugin.inputs.references import is_installed
from simplugin.simulation.choices import Choice, Chooser, first_option
from simplugin.simulation.logs import LEVELS, LogPrefix, PrefixedStream, rank
from simplugin.simulation.lookahead import conclude_trial, note_intervention, started_branches
from simplugin.simulation.placement import NotAsyncError, not_async, unknown_host
from simplugin.simulation.process.environment import forbid_simulations
from simplugin.simulation.process.failures import full_trace_error, platform_error
from simplugin.simulation.process.operating_system import (
    become_subreaper,
    children,
    flush_output,
    fork_sibling,
    memory,
    note_inherited_files,
    obstacle_to_copies,
)
from simplugin.simulation.process.serialization import (
    pack,
    pack_error,
    pack_returned,
    unpack_functions,
)
from simplugin.simulation.process.wire_format import (
    ASK,
    BRANCH,
    CHOICE,
    COMMAND,
    END,
    ERROR,
    EVENT,
    FAILED,
    INTERVENE,
    LOADED,
    LOGGED,
    LOOK,
    PAUSED,
    PROGRESS,
    RESULT,
    STATE,
    STEP,
    WHERE_ARE_YOU,
    take_job,
    write_outcome,
)
from simplugin.simulation.protocol import ActorJob, SimulationSettings, UserFunctions
from simplugin.simulation.result import HostTotals, result_of

if TYPE_CHECKING:
    from simplugin.simulation.back_end import BackEnd
    from simplugin.simulation.coroutines import CoroutinesBackEnd

# The server loads modules for the next simulation if they take longer than this [s].
_WORTH_WARMING = 2e-3
# Time between two reports of progress [s].
_PROGRESS_PERIOD = 0.05
# Maximum number of hosts that a message names.
_MAX_HOSTS = 10
_versions: dict[str, str] = {}
# Nothing of SimGrid's is taken down before the process ends: actors may still use it.
_kept: list[Any] = []
_has_simulated = False


def prepare(back_end: str) -> None:
    """Load what every simulation needs, before the fork; start no engine.

    Parameters
    ----------
    back_end : str
        ``module:class``.
    """
    _back_end_class(back_end)
    if _versions:
        return
    memory()
    # Loaded lazily by numpy, needed by every actor that draws a random number.
    np.random.default_rng(0).random()
    from simplugin.simulation import _driver

    try:
        _versions["simplugin"] = version("simplugin")
    except PackageNotFoundError:  # it runs without having been installed
        _versions["simplugin"] = "unknown"
    _marks_all_constraints()
    _versions["simgrid"] = _driver.simgrid_version()
    _versions["python"] = platform.python_version()
    _versions["numpy"] = np.__version__


def run(file: int, news_descriptor: int, stdout: int, stderr: int) -> None:
    """Read the job, simulate, write the outcome.

    Parameters
    ----------
    file : int
        Descriptor of the file of the job and of the outcome.
    news_descriptor : int
        Of the socket where the caller waits for progress.
    stdout, stderr : int
        Descriptors to print to.
    """
    # Otherwise orphans would become children of the server while the simulation runs.
    become_subreaper()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for descriptor, place in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, place)
        os.close(descriptor)
    news = socket.socket(fileno=news_descriptor)
    # It is never closed: the process exits without a garbage collection.
    _kept.append(news)
    # An actor may fork: only this process has a result.
    os.register_at_fork(after_in_child=partial(_disconnect, file, news_descriptor))
    settings, packed_actors = take_job(file)
    # To the descriptors that were put in place after the fork, line by line.
    form: Any = {"buffering": 1, "encoding": "utf-8", "errors": "backslashreplace"}
    sys.stdout = open(1, "w", closefd=False, **form)  # noqa: SIM115  it lives as long as we do
    sys.stderr = open(2, "w", closefd=False, **form)  # noqa: SIM115
    note_inherited_files()
    modules: list[str] = []
    try:
        _apply(settings)
        if settings.question is not None:
            kind, body = RESULT, pickle.dumps(_answer(settings))
        else:
            functions = _arrive(packed_actors, modules)
            if settings.locates:
                sys.set_coroutine_origin_tracking_depth(1)
                sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  it lives as long as we do
            owner = (SteppingObserver if settings.steps else RemoteObserver)(settings, file, news)
            kind, body = RESULT, simulate(settings, functions, owner)
    except BaseException as error:
        _kept.append(error)
        # The report of the error needs memory.
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        kind, body = ERROR, pack_error(known_error(error))
    flush_output()
    write_outcome(file, kind, modules, body)


def _disconnect(*descriptors: int) -> None:
    """Redirect descriptors to ``/dev/null``, in a process that an actor has forked."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def known_error(error: BaseException) -> BaseException:
    """Return the `NotAsyncError` in the cause of an error, or else the error itself."""
    return error.__cause__ if isinstance(error.__cause__, NotAsyncError) else error


class SimulationObserver:
    """Receives the progress and the log messages of a running simulation.

    This class writes them to the terminal of this process.

    Attributes
    ----------
    progress : callable or None
        Called regularly with the simulated date and the number of actors alive.
    """

    def __init__(self, progress: Callable[[float, int], None] | None) -> None:
        self.progress = progress

    def started(self) -> None:
        """Restore Python's handler of SIGINT; called once the engine has started."""
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))

    def loaded(self) -> None:
        """Do nothing; called once the platform is loaded."""

    def placed(self, back_end: BackEnd) -> None:
        """Do nothing; called once the actors are placed, before the first event."""

    def ended(self) -> None:
        """Do nothing; called when the simulation has ended."""

    def chooser(self, given: Chooser) -> Chooser:
        """Return who takes the decisions; `given` is the user's chooser."""
        return given

    def say(self, line: str) -> None:
        """Write a log message of an actor, after the output so far."""
        sys.stdout.flush()
        sys.stderr.write(line)
        sys.stderr.flush()


class RemoteObserver(SimulationObserver):
    """Sends progress and log messages to the caller in another process."""

    _reported = 0.0

    def __init__(self, settings: SimulationSettings, file: int, news: socket.socket) -> None:
        super().__init__(self._report if settings.reports_progress else None)
        self._file = file
        self._news = news
        self._stdout = sys.stdout

    def started(self) -> None:
        """Write a traceback if the process crashes, and whenever the caller asks."""
        # After SimGrid's own handlers, whose messages do not contain the place.
        faulthandler.enable(all_threads=False)
        faulthandler.register(WHERE_ARE_YOU, all_threads=False)

    def loaded(self) -> None:
        """Send a message to the caller."""
        self._news.send(LOADED)

    def say(self, line: str) -> None:
        """Write the message into the output of the actors, marked."""
        self._stdout.flush()
        os.write(1, LOGGED + line.encode("utf-8", "backslashreplace") + LOGGED)

    def _report(self, clock: float, active: int) -> None:
        """Send the simulated date, unless the last report is recent."""
        now = time.monotonic()
        if now - self._reported >= _PROGRESS_PERIOD:
            self._reported = now
            with contextlib.suppress(OSError):  # in a copy, which has nobody to report to
                self._news.send(PROGRESS.pack(clock, active))


class SteppingObserver(RemoteObserver):
    """Pauses the simulation before each event unless the caller has commanded to continue."""

    _back_end: CoroutinesBackEnd
    _reached = -math.inf
    # Whether to pause at a choice, and the index that the caller has chosen there.
    _asks = False
    _index = -1

    def placed(self, back_end: BackEnd) -> None:
        """Pause before the first event."""
        self._back_end = cast("CoroutinesBackEnd", back_end)
        self._back_end.pause_with(self._wait, self._wait(back_end.clock()))

    def ended(self) -> None:
        """Pause at the end, unless the caller has requested the result."""
        if self._reached < math.inf:
            self._reached = -math.inf
            self._obey(math.inf, kind=END)

    def chooser(self, given: Chooser) -> Chooser:
        """Return who pauses and lets the caller decide, if that is requested."""
        return partial(self._choose, given)

    def _choose(self, chooser: Chooser, choice: Choice) -> int:
        """Return the caller's decision, if requested, or else that of the chooser."""
        if not self._asks:
            return chooser(choice)
        try:
            body = pack(choice)
        except Exception as error:
            raise SimulationError(f"the choice cannot leave the process: {error}") from error
        write_outcome(self._file, STATE, body)
        date = self._back_end.clock()
        self._index, self._reached = -1, date
        self._reached = self._obey(date, kind=CHOICE)
        self._back_end.pause_with(self._wait, self._reached)
        return self._index

    def _wait(self, event: float) -> float:
        """Pause before an event at a date; return the date until which to continue [s]."""
        self._reached = self._obey(event, kind=EVENT)
        return self._reached

    def _obey(self, event: float, *, kind: bytes) -> float:
        """Report the pause, and execute commands until one is to continue."""
        date = max(self._back_end.clock(), self._reached)
        while True:
            flush_output()
            self._news.send(PAUSED.pack(kind, date))
            message, descriptors, _, _ = socket.recv_fds(
                self._news, COMMAND.size, 5, socket.MSG_CMSG_CLOEXEC
            )
            command: bytes
            further: float
            command, further, index = COMMAND.unpack(message)
            self._index = max(self._index, index)
            if command == LOOK:
                write_outcome(self._file, STATE, *self._back_end.look(date))
            elif command == BRANCH:
                self._branch(*descriptors)
            elif command == INTERVENE:
                (actor,), *_ = unpack_functions(take_job(self._file)[1])
                _place(self._back_end, actor)
                note_intervention()
                return further
            else:
                self._asks = command == ASK
                return event if command == STEP else further

    def _branch(self, file: int, news: int, stdout: int, stderr: int, registered: int) -> None:
        """Fork; returns in this process and in the branch, which continues with new descriptors.

        Parameters
        ----------
        file, news, stdout, stderr : int
            As in `run`, for the branch.
        registered : int
            Of a pipe that is closed once the server knows the branch.
        """
        if obstacle := obstacle_to_copies({file, news, stdout, stderr, registered}):
            os.write(news, FAILED + obstacle.encode())
        elif fork_sibling(news, registered):
            own = (self._file, self._news.fileno(), 1, 2)
            for new, old in zip((file, news, stdout, stderr), own, strict=True):
                os.dup2(new, old)
        for descriptor in (file, news, stdout, stderr, registered):
            os.close(descriptor)


def _apply(settings: SimulationSettings) -> None:
    """Apply the memory limit and set the seed."""
    if settings.options.memory_limit is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + settings.options.memory_limit
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        # A core file of a simulation that ran out of memory is of no use.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seed(settings.options.seed)


def seed(number: int) -> None:
    """Seed the generators of this process, for actors that use them."""
    random.seed(number)
    np.random.seed(number % 2**32)  # noqa: NPY002


def _arrive(packed: bytes, modules: list[str]) -> UserFunctions:
    """Unpickle the user's functions; add installed modules that the server should load."""
    # Not the names: reading them all would copy the memory shared with the server.
    n_modules = len(sys.modules)
    started = time.perf_counter()
    forbid_simulations("a module asks for a simulation while it is imported by a simulation")
    try:
        functions = unpack_functions(packed)
    except SimulationError:
        raise
    except Exception as error:
        raise SimulationError(
            f"the actors did not arrive in the simulation's process: {error!r}"
        ) from error
    finally:
        forbid_simulations(None)
    is_worth = len(sys.modules) > n_modules and time.perf_counter() - started > _WORTH_WARMING
    # A server with threads could not fork safely, and kills children that it has not forked.
    if is_worth and len(os.listdir("/proc/self/task")) == 1 and not children(os.getpid()):
        # Only these stay the same while the caller runs.
        modules += [
            name
            for name in list(sys.modules)[n_modules:]
            if name.startswith("simplugin.")
            or is_installed(getattr(sys.modules[name], "__file__", None) or "")
        ]
    return functions


def simulate(
    settings: SimulationSettings, functions: UserFunctions, owner: SimulationObserver
) -> bytes:
    """Run the simulation in this process, return the body of the result."""
    global _has_simulated
    if _has_simulated:
        raise SimulationError(
            "debug=True simulates in this process, where SimGrid's engine has started before, which"
            " it does only once; start Python again (in a notebook, restart the kernel), or leave"
            " debug out"
        )
    _has_simulated = True
    _use_plain_locale()
    back_end = _engine(settings)
    _kept.append(back_end)
    owner.started()
    voice = LogPrefix(back_end.speaker, back_end.clock)
    # A simulation that only looks for a place is silent.
    level = len(LEVELS) if settings.locates else rank(settings.options.log)
    back_end.log_with(level, voice.logger(owner.say))
    if settings.options.prefix_prints:
        sys.stdout = cast(TextIO, PrefixedStream(sys.stdout, voice))
    try:
        back_end.load_platform(settings.platform)
    except SimpluginError:
        raise
    except Exception as error:
        raise platform_error(str(error), settings.platform) from None
    if settings.options.energy:
        _require_wattages(back_end, settings.platform)
    if functions.callbacks is not None:
        back_end.call_back(functions.callbacks)
    if settings.options.order is not None:
        back_end.order_by(settings.options.order)
    back_end.choose_with(owner.chooser(functions.chooser or first_option))
    owner.loaded()
    for actor in functions.actors:
        _place(back_end, actor)
    owner.placed(back_end)
    try:
        back_end.run(settings.options.until, owner.progress)
    except BaseException as error:
        conclude_trial(error)
        raise

    def collected() -> dict[str, Any]:
        return back_end.collect() | {"branches": started_branches()}

    conclude_trial(lambda: result_of(collected(), {}))
    owner.ended()
    try:
        return _packed_result(collected())
    except MemoryError:
        if not settings.options.trace:
            raise
        raise full_trace_error() from None


def _use_plain_locale() -> None:
    """Set the locale in which SimGrid reads numbers and compares names.

    Python sets the user's locale for characters, and a module of the actors may set one for
    numbers.
    """
    locale.setlocale(locale.LC_NUMERIC, "C")
    with contextlib.suppress(locale.Error):  # missing on some systems
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")


def _back_end_class(place: str) -> type[BackEnd]:
    """Import the class of a back end."""
    module, _, name = place.partition(":")
    found: type[BackEnd] = getattr(importlib.import_module(module), name)
    return found


def _engine(settings: SimulationSettings) -> BackEnd:
    """Start SimGrid's engine."""
    make = _back_end_class(settings.back_end)
    try:
        back_end = make(
            settings.arguments,
            trace_limit=_trace_limit(settings) if settings.options.trace else 0,
            energy=settings.options.energy,
            seed=settings.options.seed,
        )
    except SimpluginError:
        raise
    except Exception as error:
        raise SimulationError(f"SimGrid refused its options: {error}") from error
    _refuse_wrong_rates()
    _refuse_load_of_integrated(settings)
    return back_end


def _trace_limit(settings: SimulationSettings) -> int:
    """Return the memory that the trace may occupy [byte].

    Sending it to the caller takes up to three times as much, part of it there.
    """
    if settings.options.trace_limit is not None:
        return settings.options.trace_limit
    return max(1, min(memory(), settings.options.memory_limit or memory()) // 4)


def _refuse_load_of_integrated(settings: SimulationSettings) -> None:
    """Raise if a plug-in that measures the load of hosts is used where SimGrid would crash."""
    from simplugin.simulation import _driver

    plugins = [each for each in settings.arguments if each.startswith("--cfg=plugin:host_")]
    if (settings.options.energy or plugins) and _driver.option("cpu/optim", "s") == "TI":
        what = "the energy" if settings.options.energy else plugins[0].partition(":")[2]
        raise SimulationError(
            f"with cpu/optim:TI, SimGrid does not know the load of hosts, hence not {what};"
            " choose Lazy or Full"
        )


@cache
def _marks_all_constraints() -> bool:
    """Return True if this SimGrid starts flows correctly; asked once, before a fork."""
    # Loaded with the back end; the server imports this module before that.
    from simplugin.simulation import _driver

    return _driver.marks_all_constraints()


def _refuse_wrong_rates() -> None:
    """Raise if this SimGrid computes rates above a link's capacity (docs/simgrid)."""
    from simplugin.simulation import _driver

    if not _marks_all_constraints() and _driver.option("network/optim", "s") != "Full":
        raise SimulationError(
            "this SimGrid computes rates above a link's capacity where transfers start at the same "
            "date (network/optim:Lazy, its default): use SimGridOptions(network_optim='Full'), or "
            "a SimGrid with simplugin's patch selective-update, which `make simgrid` builds"
        )


def _require_wattages(back_end: BackEnd, platform_file: str) -> None:
    """Raise PlatformError if a host has no wattages."""
    known = HostTotals(**back_end.collect()["hosts"])
    missing = [repr(known.name[at]) for at in np.flatnonzero(np.isnan(known.energy))]
    if missing:
        more = f" and {len(missing) - _MAX_HOSTS} more" if len(missing) > _MAX_HOSTS else ""
        raise PlatformError(
            "energy is to be measured, but there are hosts without wattages: "
            f"{', '.join(missing[:_MAX_HOSTS])}{more}",
            file=platform_file,
            remedy="give each the property wattage_per_state, for example '95:120:200' (idle, one "
            "core, all cores [W]), or '0:0:0' if it does not count",
        )


def _place(back_end: BackEnd, actor: ActorJob) -> None:
    """Start an actor; the error for an unknown host suggests similar names."""
    try:
        asynchronous = inspect.iscoroutinefunction(actor.function)
        back_end.spawn(actor if asynchronous else actor._replace(function=_checked(actor)))
    except Exception:
        hosts = back_end.collect()["hosts"]["name"]
        if actor.host in hosts:
            raise
        raise unknown_host(actor.name, actor.host, hosts) from None


def _checked(actor: ActorJob) -> Callable[..., Any]:
    """Return a function that checks, when it is called, what the actor's function returns."""
    function: Callable[..., Any] = actor.function

    async def call(*arguments: Any) -> Any:
        # An operation that the function starts needs an actor that runs already.
        awaitable = function(*arguments)
        if not inspect.isawaitable(awaitable):
            raise not_async(actor.name, actor.host, function)
        return await awaitable

    return call


def _packed_result(parts: dict[str, Any]) -> bytes:
    """Pickle the results of the back end."""
    columns = list(zip(*parts["returned"], strict=True)) or [(), (), (), ()]
    names, hosts, values, states = columns
    returned = names, hosts, pack_returned(values, names, hosts), states
    return pickle.dumps(parts | {"returned": returned, "versions": _versions}, protocol=5)


# ---- in the caller's own process, for debuggers ---------------------------------------------


def simulate_here(
    settings: SimulationSettings,
    functions: UserFunctions,
    progress: Callable[[float, int], None] | None,
) -> bytes:
    """Simulate in this process and return the body of the result.

    An exception's traceback ends where the actor raised, so that debuggers show that place.
    """
    note_inherited_files()
    try:
        prepare(settings.back_end)
    except ImportError as error:
        raise SetupError(
            f"the back end cannot be loaded: {error}; `make install` builds it"
        ) from error
    # SimGrid would continue the actors when the process ends.
    arguments = [*settings.arguments, "--cfg=debug/clean-atexit:no"]
    with _restored():
        seed(settings.options.seed)
        sys.set_coroutine_origin_tracking_depth(1)  # names the line of such coroutines
        try:
            owner = SimulationObserver(progress)
            return simulate(replace(settings, arguments=arguments), functions, owner)
        except Exception as error:
            known = known_error(error)
            inside = known.__cause__ and known.__cause__.__traceback__
            raise known.with_traceback(inside or known.__traceback__) from known.__cause__


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Restore the process-wide state that a simulation modifies."""
    import numpy as np

    stdout, depth = sys.stdout, sys.get_coroutine_origin_tracking_depth()
    warn = warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]
    draws, global_draws = random.getstate(), np.random.get_state()  # noqa: NPY002
    categories = (locale.LC_NUMERIC, locale.LC_CTYPE)
    places = [locale.setlocale(category) for category in categories]
    try:
        yield
    finally:
        for category, place in zip(categories, places, strict=True):
            locale.setlocale(category, place)
        random.setstate(draws)
        np.random.set_state(global_draws)  # noqa: NPY002
        warnings._warn_unawaited_coroutine = warn  # type: ignore[attr-defined]
        sys.set_coroutine_origin_tracking_depth(depth)
        sys.stdout = stdout


# ---- platforms ------------------------------------------------------------------------------


def _answer(settings: SimulationSettings) -> dict[str, Any]:
    """Load the platform and describe it, instead of simulating; see `resolve`.

    Raises
    ------
    PlatformError
        SimGrid refuses an option or the platform.
    """
    from simplugin.simulation import _driver  # late, as in `_refuse_wrong_rates`

    _use_plain_locale()
    question = settings.question or {}
    try:
        _driver.setup(settings.arguments, 0, False, 0)
        begin, before = time.perf_counter(), _largest_memory()
        _driver.load_platform(settings.platform)
        _driver.seal()
    except Exception as error:
        raise platform_error(str(error), settings.platform) from None
    found: dict[str, Any] = {
        "seconds": time.perf_counter() - begin,
        "memory": _largest_memory() - before,
        "routes": [],
        "lost": [],
    }
    hosts = {host.name: host for host in _driver.hosts()}
    names = sorted(hosts)
    end = time.monotonic() + question["limit"]
    for source, destination in _pairs(names, question["pairs"]):
        if time.monotonic() > end:
            break
        try:
            links, latency = _driver.route(source, destination)
        except SimpluginError as error:
            found["lost"].append((source, destination, str(error)))
            continue
        passed = tuple(link.name for link in links)
        found["routes"].append((source, destination, passed, latency))
    links = [link for link in _driver.links() if link.name != "__loopback__"]
    if question["described"]:
        found["hosts"] = [_host(hosts[name]) for name in names]
        found["links"] = sorted(map(_link, links))
    else:
        found["hosts"] = [(host.cores, host.speed) for host in hosts.values()]
        found["links"] = [link.sharing_policy for link in links]
    return found


def _largest_memory() -> float:
    """Return the peak memory of this process [byte]."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _host(host: Any) -> tuple[Any, ...]:
    """Describe a host."""
    speeds = tuple(host.pstate_speed(state) for state in range(host.pstate_count))
    return host.name, host.speed, host.cores, speeds, host.properties


def _link(link: Any) -> tuple[Any, ...]:
    """Describe a link."""
    return link.name, link.bandwidth, link.latency, link.sharing_policy, link.properties


def _pairs(names: list[str], wanted: list[tuple[str, str]] | int) -> list[tuple[str, str]]:
    """Return the requested pairs, or that number of pairs spread evenly over all."""
    if not isinstance(wanted, int):
        return wanted
    count = len(names)
    total = count * (count - 1)
    if total <= wanted:
        return list(itertools.permutations(names, 2))
    chosen = []
    for index in range(wanted):
        source, offset = divmod(index * total // wanted, count - 1)
        chosen.append((names[source], names[offset + (offset >= source)]))
    return chosen
