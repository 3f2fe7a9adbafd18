"""The contract of a back end, and the parts that both back ends share."""

from __future__ import annotations

import dis
import gc
import math
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Protocol

from simplugin.core.errors import (
    CallbackError,
    NeverAwaitedError,
    PlatformError,
    SimulatedTimeLimitError,
    SimulationError,
)
from simplugin.core.name_suggestions import did_you_mean
from simplugin.formats.config_options import GOVERNORS
from simplugin.simulation import _driver
from simplugin.simulation.api.callbacks import Callbacks, Completion
from simplugin.simulation.choices import Chooser
from simplugin.simulation.logs import RunningActor
from simplugin.simulation.options import is_real
from simplugin.simulation.process.failures import described
from simplugin.simulation.protocol import ActorJob
from simplugin.simulation.trace import KINDS, STATES

# SimGrid's options that are recorded with each result; type: s str, d float, b bool.
_OPTIONS_IN_FORCE = {
    "cpu/model": "s",
    "host/model": "s",
    "network/model": "s",
    "network/bandwidth-factor": "s",
    "network/crosstraffic": "b",
    "network/latency-factor": "s",
    "network/loopback-bw": "d",
    "network/loopback-lat": "d",
    "network/TCP-gamma": "d",
    "network/weight-S": "d",
    "precision/timing": "d",
    "precision/work-amount": "d",
}
_HERE = str(Path(__file__).parent)
# They take the fraction of a task that is left for its work.
_NOT_WITH_PARALLEL_TASKS = ("host_dvfs", "host_load", "link_load")


class BackEnd(Protocol):
    """One simulation in this process; SimGrid's engine starts once in a process.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    trace_limit : int
        Memory that the trace may occupy [byte]; 0 to keep none.
    energy : bool
        Measure the energy of hosts and links.
    seed : int
        Seed of the actors' random generators.
    """

    def __init__(
        self, arguments: Sequence[str], *, trace_limit: int, energy: bool, seed: int
    ) -> None: ...

    def load_platform(self, path: str) -> None:
        """Read a platform file."""

    def speaker(self) -> RunningActor | None:
        """Return the actor that runs, None if none does."""

    def clock(self) -> float:
        """Return the simulated date [s]."""

    def log_with(self, level: int, write: Callable[[str, object], None]) -> None:
        """Write log messages of at least this level by `write(level, message)`."""

    def call_back(self, callbacks: Callbacks) -> None:
        """Let SimGrid call a user's functions; once the platform is loaded."""

    def order_by(self, seed: int) -> None:
        """Draw the order of the actors that are ready at one date."""

    def choose_with(self, chooser: Chooser) -> None:
        """Leave the actors' decisions to a chooser."""

    def spawn(self, actor: ActorJob) -> None:
        """Place an actor."""

    def run(self, until: float | None, progress: Callable[[float, int], None] | None) -> None:
        """Simulate to the end.

        Parameters
        ----------
        until : float or None
            Limit of the simulated date [s].
        progress : function of (clock [s], actors alive), optional
            Called now and then.

        Raises
        ------
        ActorError
            An exception left an actor.
        DeadlockError
            Actors wait for what can never happen.
        SimulatedTimeLimitError
            The clock reached `until`.
        SimulationError
            The trace has outgrown its limit.
        """

    def collect(self) -> dict[str, Any]:
        """Return the outcome so far, as `collected`; also after `run` raised."""


def collected(
    clock: float,
    returned: list[tuple[str, str, Any, str]],
    hosts: Mapping[str, Any],
    links: Mapping[str, Any],
    trace: Mapping[str, Any],
    choices: Sequence[tuple[float, str, str | None, int, int]],
    ties: int | None,
) -> dict[str, Any]:
    """Return the outcome of one simulation.

    Parameters
    ----------
    clock : float
        Date of the end [s].
    returned : list of tuple
        Name, host, value and state ("ended", "killed" or "running") of each actor, in order of
        creation.
    hosts, links : mapping
        Columns of `HostTotals` and `LinkTotals`, in SimGrid's order: numbers or their bytes.
    trace : mapping
        Columns of the activities, as for `Trace.from_columns`.
    choices : sequence of tuple
        The decisions that were taken, as the fields of `TakenChoice`.
    ties : int or None
        Number of dates at which actors competed for something; None if it is not known.

    Returns
    -------
    dict
        The parts of `result_of`: these, SimGrid's options in force, measurements of its plug-ins by
        plug-in and quantity, an entry a host or link, and the times at which hosts were off [s].
    """
    options = {name: str(_driver.option(name, kind)) for name, kind in _OPTIONS_IN_FORCE.items()}
    return {
        "clock": clock,
        "returned": returned,
        "hosts": hosts,
        "links": links,
        "trace": trace,
        "choices": choices,
        "ties": ties,
        "options": options,
        "plugins": _driver.plugin_figures(),
        "off_times": _off_times(clock),
    }


def await_place(coroutine: Any) -> str:
    """Return ``file:line`` of the innermost `await` of a suspended coroutine."""
    frame = None
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or frame
        coroutine = getattr(coroutine, "cr_await", None)
    return "its start" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def date_limit_error(limit: float) -> SimulatedTimeLimitError:
    """Return the error for actors that still run at the limit of simulated time [s]."""
    error = SimulatedTimeLimitError(
        f"the simulated clock reached its limit of {limit:g} s; actors still run"
    )
    error.limit = error.clock = float(limit)
    return error


def prepare_plugins(arguments: Sequence[str], platform: str, *, energy: bool) -> frozenset[str]:
    """Give the loaded plug-ins the platform, which is loaded; return their names.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    platform : str
        Path of the platform's file.
    energy : bool
        True if the energy plug-ins were started.

    Raises
    ------
    PlatformError
        A host has a governor that SimGrid lacks; the message has its line.
    SimulationError
        A plug-in does not understand the host model.
    """
    loaded = frozenset(_driver.prepare_plugins(list(arguments), energy))
    if "host_dvfs" in loaded:
        for host, governor in _driver.host_properties("plugin/dvfs/governor").items():
            if governor.lower() not in GOVERNORS:
                raise PlatformError(
                    f"host {host!r} has the governor {governor!r}",
                    file=platform,
                    line=_line_of(platform, governor),
                    remedy=f"choose among {', '.join(GOVERNORS)}",
                )
    if _driver.option("host/model", "s") == "ptask_L07":
        for plugin in _NOT_WITH_PARALLEL_TASKS:
            if plugin in loaded:
                raise SimulationError(
                    f"SimGrid's plug-in {plugin} gives wrong figures with the host model "
                    "ptask_L07; choose another host_model or leave the plug-in out"
                )
    return loaded


def _off_times(end: float) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return the times at which hosts were off until the end, by host in order of names [s]."""
    found: dict[str, list[tuple[float, float]]] = {}
    since: dict[str, float] = {}
    switches = _driver.switches()
    for host, date, on in [*switches, *((host, end, True) for host, _, _ in switches)]:
        if not on:
            since.setdefault(host, date)
        # A host that goes off and on at one date was not off.
        elif (start := since.pop(host, date)) < date:
            found.setdefault(host, []).append((start, date))
    return {host: tuple(found[host]) for host in sorted(found)}


def _line_of(platform: str, text: str) -> int | None:
    """Return the first line that has `text` between quotation marks, None if no line has."""
    lines = Path(platform).read_text(errors="replace").splitlines()
    quoted = (f'"{text}"', f"'{text}'")
    return next((i for i, line in enumerate(lines, 1) if any(q in line for q in quoted)), None)


# ---- callbacks ------------------------------------------------------------------------------


class GuardedCallbacks:
    """A user's callbacks as functions that raise nothing: an error ends the simulation.

    Parameters
    ----------
    callbacks : Callbacks
        The user's.
    stop : callable
        Ends the simulation with an error.

    Attributes
    ----------
    on_activity_completion : callable or None
        The same, called with actor, resource, position in `KINDS`, label, dates of start and end
        [s], amount, and position in `STATES`.
    """

    def __init__(self, callbacks: Callbacks, stop: Callable[[SimulationError], object]) -> None:
        _require_models_of(callbacks)
        self._stop = stop
        hosts = _driver.hosts()
        known = {
            "host": [host.name for host in hosts],
            "link": [link.name for link in _driver.links()],
            "disk": [f"{host.name}:{disk.name}" for host in hosts for disk in host.disks],
        }
        for kind in ("host", "link", "disk_read", "disk_write"):
            what = kind.partition("_")[0]
            for name, function in getattr(callbacks, f"{kind}_sharing").items():
                if name not in known[what]:
                    message = f"{kind}_sharing: the platform has no {what} {name!r}"
                    meant = did_you_mean(name, known[what])
                    raise SimulationError(f"{message}; {meant}" if meant else message)
                asked = partial(self._number, f"{kind}_sharing[{name!r}]", function)
                _driver.share(kind, name, asked)
        bandwidth, latency = callbacks.bandwidth_factor, callbacks.latency_factor
        _driver.set_factors(
            bandwidth and partial(self._number, "bandwidth_factor", bandwidth),
            latency and partial(self._number, "latency_factor", latency),
        )
        if (function := callbacks.on_host_state_change) is not None:
            _driver.monitor_hosts(partial(self._called, "on_host_state_change", function))
        if (function := callbacks.on_link_state_change) is not None:
            _driver.monitor_links(partial(self._called, "on_link_state_change", function))
        self.on_activity_completion: Callable[..., object] | None = None
        if (ended := callbacks.on_activity_completion) is not None:
            self.on_activity_completion = partial(
                self._called,
                "on_activity_completion",
                lambda *row: ended(
                    Completion._make([*row[:2], KINDS[row[2]], *row[3:7], STATES[row[7]]])
                ),
            )

    def _number(self, name: str, function: Callable[..., object], *given: Any) -> float:
        """Return the number that a callback gives; 1 without one, which ends the simulation."""
        answer: Any = self._called(name, function, *given)
        value = math.nan
        if is_real(answer):
            try:
                value = float(answer)
            except OverflowError:
                answer = math.inf
        may_be_zero = name == "latency_factor"
        if 0 < value < math.inf or (may_be_zero and value == 0):
            return value
        if answer is not _FAILED:
            bound = "of 0 or more" if may_be_zero else "above 0"
            wrong = f"it returned {answer!r}; return a finite number {bound}"
            self._stop(CallbackError(name, _driver.clock(), wrong, ""))
        return 1.0

    def _called(self, name: str, function: Callable[..., object], *given: Any) -> object:
        """Return the value of a callback, `_FAILED` if it raises."""
        try:
            return function(*given)
        except BaseException as error:
            inside = error.__traceback__ and error.__traceback__.tb_next
            failed = CallbackError(name, _driver.clock(), *described(error, inside))
            failed.__cause__ = error
            self._stop(failed)
            return _FAILED


_FAILED = object()


def _require_models_of(callbacks: Callbacks) -> None:
    """Raise unless SimGrid's models, which are loaded, ask the callbacks that are given.

    Raises
    ------
    SimulationError
        They would not; the message names the option.
    """
    given = {
        "bandwidth_factor": callbacks.bandwidth_factor,
        "latency_factor": callbacks.latency_factor,
    }
    factors = [name for name, function in given.items() if function is not None]
    for name in factors:
        option = f"network/{name.replace('_', '-')}"
        if not _driver.is_default(option):
            raise SimulationError(f"{name} replaces SimGrid's {option}; leave one of them out")
    hosts, links = list(callbacks.host_sharing), list(callbacks.link_sharing)
    disks = [*callbacks.disk_read_sharing, *callbacks.disk_write_sharing]
    for option, refused, asked in (
        ("host/model", "ptask_L07", [*factors, *hosts, *links]),
        ("network/model", "Constant", [*factors, *links]),
        ("network/solver", "fairbottleneck", links),
        ("cpu/solver", "fairbottleneck", hosts),
        ("disk/solver", "fairbottleneck", disks),
        ("cpu/optim", "TI", hosts),
    ):
        value = _driver.option(option, "s")
        if value == refused and asked:
            raise SimulationError(
                f"{option} {value} asks no callback for {', '.join(asked)}; choose another model"
            )
    if factors and _driver.option("tracing", "b"):
        raise SimulationError(
            f"SimGrid's tracing does not know {factors[0]}; leave one of them out"
        )


# ---- missing awaits ---------------------------------------------------------------------------
#
# Operations and coroutines that are created and not awaited are noticed when they go away. This is
# no mistake where an exception or a kill keeps an actor from awaiting them: hence what goes away
# with the frames of an exception, or after an exception in the same actor, is not reported, unless
# a statement consists of the call.


class UnawaitedDetector:
    """Reports operations and user coroutines that are never awaited in a simulation.

    Parameters
    ----------
    stop : callable
        Ends the simulation with an error.
    running : callable
        Returns name and host of the running actor; None if it is being killed.
    locates : bool
        True if the driver notes where each operation is created.
    """

    def __init__(
        self,
        stop: Callable[[NeverAwaitedError], object],
        running: Callable[[], tuple[str, str] | None],
        *,
        locates: bool,
    ) -> None:
        self._stop = stop
        self._running = running
        _driver.watch_awaits(self.report, locates)
        # Python calls this function of `warnings` when a coroutine that never ran goes away.
        self._warn = warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]
        warnings._warn_unawaited_coroutine = self._report_coroutine  # type: ignore[attr-defined]

    def report(self, what: str, actor: str, host: str, place: str) -> None:
        """Stop the simulation because of something that goes away, unless it is excused.

        Parameters
        ----------
        what : str
            Its description, for the message.
        actor, host : str
            The actor that created it, and its host.
        place : str
            ``file:line`` where it was created; empty if it is unknown.
        """
        frame = user_frame()
        if frame is not None and _ends_statement(frame):
            place = place_of(frame)
        elif sys.exc_info()[0] is not None or _is_unwound(frame):
            return
        self._stop(NeverAwaitedError(actor, host, _driver.clock(), what, place))

    def _report_coroutine(self, coroutine: Any) -> None:
        """Stop the simulation because of a coroutine of a function of the user's."""
        actor = self._running()
        if actor is None:
            return
        frame = user_frame()
        if _driver.exceptions() and not (frame is not None and _ends_statement(frame)):
            # When it was created is unknown: it may or may not be because of an exception.
            self._warn(coroutine)
            return
        origin = coroutine.cr_origin
        place = f"{origin[0][0]}:{origin[0][1]}" if origin else ""
        self.report(f"{coroutine.__qualname__}()", *actor, place)


def user_frame() -> FrameType | None:
    """Return the innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame


def place_of(frame: FrameType | None) -> str:
    """Return ``file:line`` of a frame; empty if there is none."""
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _ends_statement(frame: FrameType) -> bool:
    """Return True if a frame is dropping the value of a call that nothing uses."""
    before = ""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            return instruction.opname == "POP_TOP" and before.startswith("CALL")
        before = instruction.opname
    return False


def _is_unwound(frame: FrameType | None) -> bool:
    """Return True if an exception that still exists has passed a frame, or one above it."""
    stack = set()
    while frame is not None:
        stack.add(frame)
        frame = frame.f_back
    return any(
        isinstance(each, TracebackType) and each.tb_frame in stack for each in gc.get_objects()
    )
