"""The one simulation of this process: its record, its actors, its end, and what they await."""

from __future__ import annotations

import math
import sys
import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from simplugin.errors import (
    ActorError,
    BlockedActor,
    CancelException,
    DeadlockError,
    ForcefulKillException,
    SimulationError,
)
from simplugin.simulation import _driver
from simplugin.simulation.back_end import (
    Watch,
    await_place,
    date_limit_error,
    described,
    place_of,
    user_frame,
)
from simplugin.simulation.failures import full_trace_error
from simplugin.simulation.result import HostTotals, LinkTotals
from simplugin.simulation.threads import simgrid
from simplugin.simulation.trace import KINDS, Trace

_STATES = ("FINISHED", "FAILED", "CANCELED")
# Memory of a row, and of a text besides its characters, about [byte].
_ROW, _TEXT = sum(np.dtype(each).itemsize for each in Trace.dtypes.values()), 100

P = ParamSpec("P")
T = TypeVar("T")
_PROGRESS_EVERY = 1024
# SimGrid 4.1 runs each Python actor in a thread; later releases switch contexts in one thread.
_IN_THREADS = simgrid.simgrid_version == "4.1.0"
_HERE = str(Path(__file__).parent)


class Record:
    """Rows of the trace, and totals of each host and link.

    Parameters
    ----------
    trace_limit : int
        Memory that the trace may occupy [byte]; 0 to keep none.

    Attributes
    ----------
    is_full : bool
        True if the trace has outgrown its limit.
    monitor : callable or None
        Called with each row; kind and state are positions in `KINDS` and `_STATES`.
    """

    def __init__(self, trace_limit: int) -> None:
        self.is_full = False
        self.monitor: Callable[..., object] | None = None
        # Below 0 no row is kept.
        self._left = trace_limit or -1
        self._columns = {name: array(np.dtype(each).char) for name, each in Trace.dtypes.items()}
        self._resources: dict[str, int] = {}
        self._labels: dict[str, int] = {}
        self._computed: defaultdict[str, float] = defaultdict(float)
        self._intervals: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._carried: defaultdict[tuple[str, str], float] = defaultdict(float)

    def add(
        self,
        actor: int,
        resource: str,
        kind: str,
        label: str | None,
        start: float,
        end: float,
        amount: float,
        state: str,
    ) -> None:
        """Keep a row of the trace.

        Parameters
        ----------
        actor : int
            Pid of the actor that started the activity.
        resource : str
            Host, hosts separated by commas, or ``source->destination``.
        kind : str
            One of `simplugin.simulation.trace.KINDS`.
        label : str or None
            Label of the activity.
        start, end : float
            Dates [s].
        amount : float
            Done [flop, byte or s], NaN where the bindings do not say.
        state : str
            FINISHED, FAILED or CANCELED.
        """
        kind_code, state_code = KINDS.index(kind), _STATES.index(state)
        if self.monitor is not None:
            self.monitor(actor, resource, kind_code, label, start, end, amount, state_code)
        if self._left < 0:
            return
        try:
            texts = self._code(self._resources, resource), self._code(self._labels, label)
            row = (actor - 1, *texts, kind_code, state_code, start, end, amount)
            for column, value in zip(self._columns.values(), row, strict=True):
                column.append(value)
            self._left -= _ROW
        except MemoryError:
            self._left = -1
        self.is_full = self._left < 0

    def _code(self, known: dict[str, int], text: str | None) -> int:
        """Return the number of a text, -1 for none."""
        if text is None:
            return -1
        if text not in known:
            known[text] = len(known)
            self._left -= _TEXT + len(text)
        return known[text]

    def computed(self, host: str, start: float, end: float, flops: float) -> None:
        """Count an execution."""
        self._intervals[host].append((start, end))
        if not math.isnan(flops):
            self._computed[host] += flops

    def carried(self, source: str, destination: str, size: float) -> None:
        """Count a transfer; NaN if nobody knows how much."""
        if size > 0:
            self._carried[source, destination] += size

    def host_totals(self, hosts: Sequence[str], energy: Sequence[float]) -> HostTotals:
        """Return work computed and time with at least one execution, joined to the energy."""
        flops = np.array([self._computed[host] for host in hosts])
        busy = np.array([_length(self._intervals[host]) for host in hosts])
        return HostTotals(tuple(hosts), flops, busy, np.array(energy))

    def link_totals(self, links: Sequence[str], energy: Sequence[float]) -> LinkTotals:
        """Return the bytes carried, joined to the energy."""
        total: defaultdict[str, float] = defaultdict(float)
        # Without links, as in the model Constant, there need not be routes.
        for (source, destination), size in self._carried.items() if links else ():
            route, _ = simgrid.Host.by_name(source).route_to(simgrid.Host.by_name(destination))
            for link in route:
                total[link.name] += size
        carried = np.array([total[link] for link in links])
        return LinkTotals(tuple(links), carried, np.array(energy))

    def trace(self, actors: Sequence[str]) -> Trace:
        """Return the trace; `actors` are the names in order of pid."""
        texts = {"resource_names": self._resources, "label_names": self._labels}
        return Trace.from_columns(self._columns | texts | {"actor_names": actors})


def _length(intervals: list[tuple[float, float]]) -> float:
    """Return the length of the union of some intervals."""
    total, reached = 0.0, 0.0
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


class AbandonedError(BaseException):
    """Ends a thread of a simulation that is over, without touching its coroutine."""


@dataclass(eq=False)
class ActorRecord:
    """The state of an actor, as its activities and the simulation see it.

    Attributes
    ----------
    host : Host
        Where it runs.
    native : simgrid.Actor
        SimGrid's actor.
    activities : list of Activity
        Those that it started and that go on.
    awaited : list of Activity
        Those that it waits for, which SimGrid cancels if it is killed.
    dying : bool
        It is being killed: what remains to run are `finally` blocks and on-exit callbacks.
    is_doomed : bool
        What it waits for was abandoned because SimGrid is about to kill it.
    waits_for : callable
        Gives the text for the list of a deadlock.
    since : float
        Date since which it waits [s].
    gate : simgrid.Semaphore or None
        Where it waits to be resumed, if it is suspended.
    waits_for_boot : bool
        Its host was off at its start time.
    """

    world: World
    pid: int
    name: str
    host: Any
    is_daemon: bool
    start_time: float
    native: Any = None
    coroutine: Any = None
    activities: list[Any] = field(default_factory=list)
    awaited: list[Any] = field(default_factory=list)
    value: Any = None
    ended: bool = False
    ended_at: float = 0.0
    was_killed: bool = False
    dying: bool = False
    is_doomed: bool = False
    waits_for: Callable[[], str] = lambda: "nothing"
    since: float = 0.0
    gate: Any = None
    waits_for_boot: bool = False

    @property
    def state(self) -> str:
        """Its state: "ended", "killed" or "running"."""
        if not self.ended:
            return "killed" if self.missed_its_start else "running"
        return "killed" if self.was_killed else "ended"

    @property
    def is_alive(self) -> bool:
        """True if it has not ended."""
        return not (self.ended or self.dying or self.missed_its_start)

    @property
    def missed_its_start(self) -> bool:
        """True if its host was off at its start time, and still is."""
        return self.waits_for_boot and self.start_time < self.world.now

    @property
    def is_suspended(self) -> bool:
        """True if it is suspended."""
        return self.gate is not None and not (self.dying or self.ended)

    def abandon(self) -> list[Any]:
        """Note the end of all that SimGrid is about to cancel, and return it.

        Before SimGrid does it: those who run between must not find it in a mailbox any more.
        """
        abandoned = [each for each in self.activities if each.ends_with_owner]
        abandoned += [each for each in self.awaited if each not in abandoned and not each.over]
        self.is_doomed = bool(self.awaited)
        for activity in abandoned:
            activity.ends(CancelException, math.nan)
        return abandoned


class World:
    """State shared by all actors of the simulation.

    Parameters
    ----------
    record : Record
        Totals and trace.
    seed : int
        Seed of the actors' random generators.

    Attributes
    ----------
    hosts, links : dict of str to Host, of str to Link
        By name.
    actors : list of ActorRecord
        In order of their pid, ended ones included.
    transfers : list of DirectTransfer
        All that were started.
    kept : list
        SimGrid's objects that must not go away.
    plugins : frozenset of str
        SimGrid's plug-ins that are loaded.
    takes_parallel_tasks : bool
        True if the host model is ptask_L07.
    precision : float
        SimGrid's shortest sleep [s].
    expected_awaits : int
        Operations that were created and not awaited yet.
    stopping : bool
        The simulation is over; threads must end without doing anything.
    error : SimulationError or None
        Why it is over.
    log_level : int
        Position in `simplugin.simulation.logs.LEVELS` of the least that is written.
    write_log : callable or None
        Called with level and message of what actors log.
    limit : float or None
        Limit of simulated time [s]. SimGrid does not know it, because it would go there even if
        all was over before: the first actor that goes on after it ends the simulation.
    """

    def __init__(self, record: Record, *, seed: int) -> None:
        self.record = record
        self.seed = seed
        self.hosts: dict[str, Any] = {}
        self.links: dict[str, Any] = {}
        self.actors: list[ActorRecord] = []
        self.transfers: list[Any] = []
        self.kept: list[Any] = []
        self.plugins: frozenset[str] = frozenset()
        self.takes_parallel_tasks = False
        self.precision = 0.0
        self.expected_awaits = 0
        self.stopping = False
        self.error: SimulationError | None = None
        self.limit: float | None = None
        self.progress: Callable[[float, int], None] | None = None
        self.log_level = 0
        self.write_log: Callable[[str, object], None] | None = None
        self._named: dict[tuple[str, str], Any] = {}
        self._resumptions = 0
        self._deferred: list[Callable[[], object]] = []
        self._thread = threading.local()
        self._entered: dict[int, ActorRecord] = {}
        self._watch = Watch(self.stop, self._running_name, locates=False)

    @property
    def now(self) -> float:
        """The simulated date [s]."""
        return float(simgrid.Engine.clock)

    def shared(self, kind: str, name: str | None, make: Callable[[], T]) -> T:
        """Get or create what all actors share by name."""
        if name is None:
            return make()
        found: T | None = self._named.get((kind, name))
        if found is None:
            made = make()
            # Others may have run meanwhile, and made it.
            found = self._named.setdefault((kind, name), made)
        return found

    # ---- the running actor ----

    def enter(self, actor: ActorRecord) -> None:
        """Make this thread, or this context, the actor's."""
        self._thread.actor = actor
        self._entered[simgrid.this_actor.get_pid()] = actor
        sys.set_coroutine_origin_tracking_depth(1)

    @property
    def actor(self) -> ActorRecord | None:
        """The actor that runs, if one does."""
        if _IN_THREADS:
            return getattr(self._thread, "actor", None)
        return self._entered.get(simgrid.this_actor.get_pid())

    def running(self, operation: str) -> ActorRecord:
        """Return the actor that runs in this thread.

        Raises
        ------
        RuntimeError
            There is none.
        """
        if self.actor is None:
            raise RuntimeError(f"{operation} outside of a running actor")
        return self.actor

    def _running_name(self) -> tuple[str, str] | None:
        """Return name and host of the actor in this thread, None if it is being killed."""
        actor = self.actor
        if actor is None or self.stopping or actor.dying or actor.was_killed:
            return None
        return actor.name, actor.host.name

    def never_awaited(
        self, what: str, creator: ActorRecord | None, exceptions: int, place: str
    ) -> None:
        """Stop because of an operation that goes away, unless an exception is the reason."""
        self.expected_awaits -= 1
        if self.stopping or creator is None or creator.dying or creator.was_killed:
            return
        # The count of another thread says nothing.
        if self.actor is not creator or exceptions == _driver.exceptions():
            self._watch.report(what, creator.name, creator.host.name, place)

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the bindings for the running actor, if one runs in this thread.

        Raises
        ------
        ForcefulKillException
            The actor is being killed, or was killed by this very call.
        """
        actor = self.actor
        if actor is None:
            return function(*args, **kwargs)
        if actor.dying:
            raise ForcefulKillException("exited")
        try:
            return function(*args, **kwargs)
        except simgrid.ActorKilled:
            self.killed(actor)
            raise ForcefulKillException("exited") from None

    def call_even_dying(self, function: Callable[[], object]) -> None:
        """Call the bindings; a dying actor, which may not, leaves it to the next that runs."""
        if self.actor is not None and self.actor.dying:
            self._deferred.append(function)
        else:
            self.call(function)

    def do_deferred(self) -> None:
        """Do what dying actors left behind."""
        while self._deferred:
            self.call(self._deferred.pop(0))

    def resumed(self) -> None:
        """Take note that an actor goes on; end its thread instead if the simulation is over."""
        self.go_on_or_end()
        self._resumptions += 1
        if self.progress is not None and self._resumptions % _PROGRESS_EVERY == 0:
            self.progress(self.now, sum(not actor.ended for actor in self.actors))
        self.do_deferred()

    # ---- the end ----

    def go_on_or_end(self) -> None:
        """End the thread of this actor, and all others, if the simulation is over."""
        self._check_limit()
        self.check_trace()
        if self.stopping:
            simgrid.Actor.kill_all()
            raise AbandonedError

    def _check_limit(self) -> None:
        """Stop if the limit of simulated time has passed."""
        if self.limit is not None and self.now > self.limit:
            self.stop(date_limit_error(self.limit))

    def check_trace(self) -> None:
        """Stop if the trace has outgrown its limit."""
        if self.record.is_full:
            self.stop(full_trace_error(self.now))

    def stop(self, error: SimulationError) -> None:
        """End the simulation with an error; the first one counts."""
        if not self.stopping:
            self.stopping = True
            self.error = error

    def killed(self, actor: ActorRecord) -> None:
        """Find out why SimGrid killed an actor.

        Raises
        ------
        AbandonedError
            The simulation is over, for instance because this is SimGrid's way of ending a deadlock.
        """
        self._check_limit()
        if self.stopping:
            raise AbandonedError
        only_daemons = all(other.is_daemon for other in self.actors if not other.ended)
        if not (actor.dying or only_daemons) and actor.host.is_on:
            blocked = [
                BlockedActor(
                    other.name,
                    other.host.name,
                    await_place(other.coroutine),
                    "to be resumed" if other.is_suspended else other.waits_for(),
                    other.since,
                )
                for other in self.actors
                if not other.ended
            ]
            self.stop(DeadlockError(self.now, tuple(blocked)))
            raise AbandonedError
        actor.dying = True

    def failed(self, actor: ActorRecord, error: BaseException) -> None:
        """End the simulation because an exception left an actor."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
            trace = trace.tb_next
        wrapped = ActorError(actor.name, actor.host.name, self.now, *described(error, trace))
        wrapped.__cause__ = error
        self.stop(wrapped)


class Blocking(Generic[T]):
    """An operation that starts when awaited: the actor's thread performs it by a blocking call.

    Parameters
    ----------
    world : World
        The simulation.
    waits_for : callable
        Gives the text that says what is waited for.
    perform : callable
        Blocks this thread until it is done; gives the result.
    at_once : bool
        True if it does not block, and no other actor runs before its creator goes on.
    """

    def __init__(
        self,
        world: World,
        waits_for: Callable[[], str],
        perform: Callable[[], T],
        *,
        at_once: bool = False,
    ) -> None:
        self._world = world
        self._creator = world.actor
        self._exceptions = _driver.exceptions()
        self._place = place_of(user_frame())
        self._begun = False
        world.expected_awaits += 1
        self.waits_for = waits_for
        self.perform = perform
        self._at_once = at_once

    def __await__(self) -> Generator[Blocking[T], Any, T]:
        if not self._begun:
            self._begun = True
            self._world.expected_awaits -= 1
        if self._at_once:
            return self.perform()
        if self._world.running("await").dying:
            raise ForcefulKillException("exited")
        result: T = yield self
        return result

    def __del__(self) -> None:
        # It is missing where __init__ failed.
        if not self.__dict__.get("_begun", True):
            self._world.never_awaited(
                self.waits_for(), self._creator, self._exceptions, self._place
            )


def done(world: World, text: str) -> Blocking[None]:
    """Return an operation that is over at once."""
    return Blocking(world, lambda: text, lambda: None, at_once=True)


def a_number(value: float, what: str) -> float:
    """Check that a number is finite and not negative."""
    given: object = value
    # Python would read a number in a text.
    if isinstance(given, str | bytes | bytearray):
        raise TypeError(f"{what} must be a number, not {value!r}")
    try:
        result = float(value)
    except TypeError:
        raise TypeError(f"{what} must be a number, not {value!r}") from None
    if not 0 <= result < float("inf"):
        raise ValueError(f"{what} must be a finite number >= 0, not {value!r}")
    return result


def positive(value: float, what: str) -> float:
    """Check that a number is finite and above zero."""
    if a_number(value, what) <= 0:
        raise ValueError(f"{what} must be > 0, not {value!r}")
    return float(value)


def time_limit(timeout: float | None) -> float:
    """Return SimGrid's form of a time limit: negative if there is none."""
    return -1.0 if timeout is None else a_number(timeout, "timeout")
