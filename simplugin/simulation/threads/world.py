"""State of the simulation of this process: timers, requests, living actors, end."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, TypeVar

from simplugin.core import errors
from simplugin.simulation import _driver
from simplugin.simulation.back_end import UnawaitedDetector, date_limit_error
from simplugin.simulation.choices import ChoiceRecorder, first_option
from simplugin.simulation.process.failures import described, full_trace_error
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.record import ThreadsRecorder

T = TypeVar("T")
_PROGRESS_EVERY = 1024


def nothing() -> None:
    """Do nothing: the function of a cancelled timer."""


class AbandonedError(BaseException):
    """Ends a thread of a simulation that is over, without touching its coroutine."""


@dataclass(order=True)
class Timer:
    """A function that is called at a date [s], unless it is replaced before."""

    date: float
    number: int
    function: Callable[[], object] = field(compare=False)
    is_limit: bool = field(compare=False)


class SimulationState:
    """State shared by all actors of the simulation.

    Parameters
    ----------
    record : ThreadsRecorder
        Totals and trace.
    seed : int
        Seed of the actors' random generators.

    Attributes
    ----------
    hosts, links : dict of str to Host, of str to Link
        By name.
    actors, living : list of Actor
        All in order of their pid, and those alive.
    boot : list of Actor
        Those that start again each time their host comes back.
    current : Actor or None
        The actor that runs.
    running : dict of str to Work
        Activities with a running action, by its name in SimGrid.
    takes_parallel_tasks : bool
        True if the host model is ptask_L07.
    error : BaseException or None
        Why the simulation is over before its end.
    log_level : int
        Position in `simplugin.simulation.logs.LEVELS` of the least that is written.
    write_log : callable or None
        Called with level and message of what actors log.
    limit : float or None
        Limit of simulated time [s].
    choices : ChoiceRecorder
        Asks the chooser, and keeps its decisions.
    """

    def __init__(self, record: ThreadsRecorder, *, seed: int) -> None:
        self.record, self.seed = record, seed
        self.hosts: dict[str, Any] = {}
        self.links: dict[str, Any] = {}
        self.running: dict[str, Any] = {}
        self.actors: list[Any] = []
        self.living: list[Any] = []
        self.boot: list[Any] = []
        self.current: Any = None
        self.takes_parallel_tasks = False
        self.log_level = 0
        self.error: BaseException | None = None
        self.limit: float | None = None
        self.progress: Callable[[float, int], None] | None = None
        self.write_log: Callable[[str, object], None] | None = None
        self.choices = ChoiceRecorder(first_option, lambda: self.now, self.stop)
        self._named: dict[tuple[object, str], Any] = {}
        self.numbers = itertools.count()
        self._timers: list[Timer] = []
        self._requests: deque[Callable[[], object]] = deque()
        # Activities that ended at this date; SimGrid has not finished them yet.
        self._kept: list[Any] = []
        self._kept_since = 0.0
        self._has_killed = False
        self._watch = UnawaitedDetector(self.stop, self._running_name, locates=False)

    @property
    def now(self) -> float:
        """The simulated date [s]."""
        return float(simgrid.Engine.clock)

    def shared(self, kind: Callable[..., T], name: str | None, *args: Any) -> T:
        """Return the object that all actors share by name, or a new one without a name."""
        found: T | None = None if name is None else self._named.get((kind, name))
        made = kind(self, *args, name) if found is None else found
        return made if name is None else self._named.setdefault((kind, name), made)

    # ---- timers and requests ----

    def at(self, date: float, function: Callable[[], object], *, is_limit: bool = False) -> Timer:
        """Call a function at a date [s]."""
        timer = Timer(date, next(self.numbers), function, is_limit)
        heappush(self._timers, timer)
        return timer

    def later(self, request: Callable[[], object]) -> None:
        """Add a request to SimGrid for this date, after all requests before."""
        self._requests.append(request)

    def step(self) -> float:
        """Call due timers and requests; return the time to the next [s], below 0 without one."""
        try:
            return self._step()
        except BaseException as error:
            self.stop(error)
            return 0.0

    def _step(self) -> float:
        self.check()
        if self.error is not None:
            return self._kill_all()
        if self.now > self._kept_since:
            self._kept.clear()
            self._kept_since = self.now
        limits = []
        while self._timers and self._timers[0].date <= self.now:
            timer = heappop(self._timers)
            limits.append(timer) if timer.is_limit else timer.function()
        self.hear()
        for timer in limits:  # the last: what ends exactly at its limit has ended in time
            timer.function()
        if not self._requests and all(actor.is_daemon for actor in self.living):
            for actor in list(self.living):
                actor.end_now()
        if self._requests:
            self.do_requests()
            return 0.0
        while self._timers and self._timers[0].function is nothing:
            heappop(self._timers)
        return max(0.0, self._timers[0].date - self.now) if self._timers else -1.0

    def do_requests(self) -> None:
        """Process all requests to SimGrid."""
        while self._requests:
            self._requests.popleft()()
            self.hear()

    def hear(self) -> None:
        """End the activities of actions that have ended."""
        for name, left, has_failed in _driver.ended():
            if name in self.running:
                self._kept.append(self.running.pop(name))
                self._kept[-1].ended(left, has_failed=has_failed)

    def request(self, function: Callable[[], object]) -> None:
        """Change the platform now, for the running actor; others run in between.

        Raises
        ------
        ForcefulKillException
            That has killed the actor.
        """
        me = self.running_actor("a change of the platform")
        if me.is_gone:
            self.later(function)
            return
        try:
            function()
        except simgrid.ActorKilled:
            self.lost(me)
            raise errors.ForcefulKillException("exited") from None
        finally:
            self.current = me

    # ---- the running actor ----

    def running_actor(self, operation: str) -> Any:
        """Return the actor that runs; RuntimeError if there is none."""
        if self.current is None:
            raise RuntimeError(f"{operation} outside of a running actor")
        return self.current

    def _running_name(self) -> tuple[str, str] | None:
        """Return name and host of the actor that runs, None if it is being killed."""
        actor = self.current
        excused = actor is None or self.error is not None or actor.dying
        return None if excused else (actor.name, actor.host.name)

    def never_awaited(self, what: str, creator: Any, exceptions: int, place: str) -> None:
        """Stop because of an operation that goes away, unless an exception is the reason."""
        is_excused = creator is None or creator.was_killed or (creator.dying and creator.coroutine)
        # The count of another thread is irrelevant.
        is_first = self.current is not creator or exceptions == _driver.exceptions()
        if self.error is None and not is_excused and is_first:
            self._watch.report(what, creator.name, creator.host.name, place)

    def lost(self, actor: Any) -> None:
        """Find out why SimGrid has killed the thread of an actor.

        Raises
        ------
        AbandonedError
            The simulation is over, for instance because this is SimGrid's way of ending a deadlock.
        """
        if self.error is None and not actor.dying:
            blocked = tuple(each.as_blocked() for each in self.living)
            self.stop(errors.DeadlockError(self.now, blocked))
        if self.error is not None:
            raise AbandonedError
        actor.is_gone = True

    # ---- the end ----

    def stop(self, error: BaseException) -> None:
        """End the simulation with an error; the first one counts."""
        self.error = self.error or error

    def failed(self, actor: Any, error: BaseException) -> None:
        """End the simulation because an exception left an actor."""
        told = described(error, error.__traceback__)
        wrapped = errors.ActorError(actor.name, actor.host.name, self.now, *told)
        wrapped.__cause__ = error
        self.stop(wrapped)

    def check(self) -> None:
        """Stop if a limit is exceeded; tell the progress now and then."""
        if self.limit is not None and self.now > self.limit and self.living:
            self.stop(date_limit_error(self.limit))
        if self.record.is_full:
            self.stop(full_trace_error(self.now))
        if self.progress is not None and next(self.numbers) % _PROGRESS_EVERY == 0:
            self.progress(self.now, len(self.living))

    def _kill_all(self) -> float:
        """End all threads and actions, once."""
        if self._has_killed:
            return -1.0
        self._has_killed = True
        simgrid.Actor.kill_all()
        for work in self.running.values():
            work.call("cancel")
        return 0.0
