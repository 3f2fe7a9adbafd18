"""The one simulation of this process: who is in it, and how it is brought to its end."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import simgrid
from simplugin.errors import (
    ActorError,
    BlockedActor,
    DeadlockError,
    ForcefulKillException,
    SimulatedTimeLimitError,
    SimulationError,
)
from simplugin.simulation import _driver
from simplugin.simulation.back_end import await_place
from simplugin.simulation.unawaited import Watch

if TYPE_CHECKING:
    from simplugin.simulation.threads.actor import Actor
    from simplugin.simulation.threads.platform import Host, Link
    from simplugin.simulation.threads.record import Record
    from simplugin.simulation.threads.work import DirectTransfer

P = ParamSpec("P")
T = TypeVar("T")
_PROGRESS_EVERY = 1024
_HERE = str(Path(__file__).parent)


class AbandonedError(BaseException):
    """Ends a thread of a simulation that is over, without touching its coroutine."""


class World:
    """State shared by all actors of the simulation.

    Attributes
    ----------
    actors : list of Actor
        In order of their pid, ended ones included.
    stopping : bool
        The simulation is over; threads must end without doing anything.
    error : SimulationError or None
        Why it is over.
    plugins : frozenset of str
        SimGrid's plug-ins that are loaded.
    takes_parallel_tasks : bool
        Whether the host model is ptask_L07.
    precision : float
        SimGrid's shortest sleep [s].
    expected_awaits : int
        Operations that were created and not awaited yet.
    limit : float or None
        Limit of simulated time [s]. SimGrid does not know it, because it would go there even if
        all was over before: the first actor that goes on after it ends the simulation.
    """

    def __init__(self, record: Record, *, seed: int) -> None:
        self.record = record
        self.plugins: frozenset[str] = frozenset()
        self.seed = seed
        self.hosts: dict[str, Host] = {}
        self.links: dict[str, Link] = {}
        self.actors: list[Actor] = []
        self._named: dict[tuple[str, str], Any] = {}
        self.transfers: list[DirectTransfer] = []
        self.kept: list[Any] = []
        self.takes_parallel_tasks = False
        self.precision = 0.0
        self.expected_awaits = 0
        self.stopping = False
        self.error: SimulationError | None = None
        self.limit: float | None = None
        self.progress: Callable[[float, int], None] | None = None
        self._resumptions = 0
        self._deferred: list[Callable[[], object]] = []
        self._thread = threading.local()
        self._watch = Watch(self.stop, lambda: self.now)
        _driver.watch_awaits(self._watch.report, False)
        self._watch.watch_coroutines(self._running_name, _driver.exceptions)

    @property
    def now(self) -> float:
        """The simulated date [s]."""
        return float(simgrid.Engine.clock)

    @property
    def alive(self) -> int:
        """Number of actors that have not ended."""
        return sum(not actor.ended for actor in self.actors)

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

    def enter(self, actor: Actor) -> None:
        """Say that this thread is the actor's."""
        self._thread.actor = actor
        sys.set_coroutine_origin_tracking_depth(1)

    @property
    def actor(self) -> Actor | None:
        """The actor that runs in this thread, if there is one."""
        return getattr(self._thread, "actor", None)

    def never_awaited(self, what: str, creator: Actor | None, exceptions: int, place: str) -> None:
        """Stop because of an operation that goes away, unless an exception is the reason."""
        self.expected_awaits -= 1
        excused = self.stopping or creator is None or creator.dying or creator.was_killed
        # The count of another thread says nothing.
        caught = self.actor is creator and exceptions != _driver.exceptions()
        if creator is not None and not (excused or caught):
            self._watch.report(what, creator.name, creator.host.name, place)

    def _running_name(self) -> tuple[str, str] | None:
        """Return name and host of the actor in this thread, None if it is being killed."""
        actor = self.actor
        if actor is None or self.stopping or actor.dying or actor.was_killed:
            return None
        return actor.name, actor.host.name

    def running(self, operation: str) -> Actor:
        """Return the actor that runs in this thread.

        Raises
        ------
        RuntimeError
            There is none.
        """
        actor = self.actor
        if actor is None:
            raise RuntimeError(f"{operation} outside of a running actor")
        return actor

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the bindings for the running actor.

        Raises
        ------
        ForcefulKillException
            The actor is being killed, or was killed by this very call.
        """
        actor = self.running("a call of SimGrid")
        if actor.dying:
            raise ForcefulKillException("exited")
        try:
            return function(*args, **kwargs)
        except simgrid.ActorKilled:
            self.killed(actor)
            raise ForcefulKillException("exited") from None

    def call_even_dying(self, function: Callable[[], object]) -> None:
        """Call the bindings; a dying actor, who may not, leaves it to the next that runs."""
        if self.running("a call of SimGrid").dying:
            self.defer(function)
        else:
            self.call(function)

    def defer(self, function: Callable[[], object]) -> None:
        """Leave a call of the bindings to the next actor that runs."""
        self._deferred.append(function)

    def do_deferred(self) -> None:
        """Do what dying actors left behind."""
        for function in self.take_deferred():
            self.call(function)

    def take_deferred(self) -> Iterator[Callable[[], object]]:
        """Yield what dying actors left behind."""
        while self._deferred:
            yield self._deferred.pop(0)

    def resumed(self) -> None:
        """Take note that an actor goes on; end its thread instead if the simulation is over."""
        self.check_limit()
        if self.stopping:
            simgrid.Actor.kill_all()
            raise AbandonedError
        self._resumptions += 1
        if self.progress is not None and self._resumptions % _PROGRESS_EVERY == 0:
            self.progress(self.now, self.alive)
        self.do_deferred()

    # ---- the end ----

    def check_limit(self) -> None:
        """Stop if the limit of simulated time has passed."""
        if self.limit is None or self.now <= self.limit:
            return
        error = SimulatedTimeLimitError(
            f"the simulated clock reached its limit of {self.limit:g} s; actors still run"
        )
        error.limit = error.clock = float(self.limit)
        self.stop(error)

    def stop(self, error: SimulationError) -> None:
        """End the simulation with an error; the first one counts."""
        if not self.stopping:
            self.stopping = True
            self.error = error

    def killed(self, actor: Actor) -> None:
        """Find out why SimGrid killed an actor.

        Raises
        ------
        AbandonedError
            The simulation is over, for instance because this is SimGrid's way of ending a deadlock.
        """
        self.check_limit()
        if self.stopping:
            raise AbandonedError
        only_daemons = all(other.is_daemon for other in self.actors if not other.ended)
        host_failed = not actor.host.is_on
        if not (actor.dying or host_failed or only_daemons):
            self.stop(self._deadlock())
            raise AbandonedError
        actor.dying = True

    def failed(self, actor: Actor, error: BaseException) -> None:
        """End the simulation because an exception left an actor."""
        inside = _inside(error.__traceback__)
        lines = traceback.format_exception(type(error), error, inside)
        summary = traceback.format_exception_only(error)[-1].strip()
        wrapped = ActorError(actor.name, actor.host.name, self.now, summary, "".join(lines))
        wrapped.__cause__ = error
        self.stop(wrapped)

    def _deadlock(self) -> DeadlockError:
        """Describe the actors that are left."""
        blocked = tuple(
            BlockedActor(
                actor.name,
                actor.host.name,
                await_place(actor.coroutine),
                "to be resumed" if actor.is_suspended else actor.waits_for(),
                actor.since,
            )
            for actor in self.actors
            if not actor.ended
        )
        return DeadlockError(self.now, blocked)


def _inside(trace: TracebackType | None) -> TracebackType | None:
    """Drop the frames of this package above the actor's own."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return trace
