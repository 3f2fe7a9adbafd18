"""Actors: the operations of `me`, and the thread in which SimGrid lets an actor live."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.random import Generator, default_rng

from simplugin.core import errors
from simplugin.simulation import _driver, api
from simplugin.simulation.back_end import await_place
from simplugin.simulation.logs import Level, rank
from simplugin.simulation.protocol import ActorJob
from simplugin.simulation.threads import activity, meeting, simgrid, synchro, work
from simplugin.simulation.threads.activity import (
    Await,
    Request,
    ThreadsActivity,
    WaitingQueue,
    offered,
)
from simplugin.simulation.threads.refused import complete
from simplugin.simulation.threads.work import ThreadsHost, ThreadsLink, ThreadsRoute, host_of
from simplugin.simulation.threads.world import AbandonedError, SimulationState, Timer, nothing


@complete(api.Actor)
class ThreadsActor:
    """An actor; see :class:`simplugin.simulation.api.Actor`.

    Parameters
    ----------
    world : SimulationState
        The simulation.
    job : ActorJob
        Its function, arguments and place.

    Attributes
    ----------
    phase : str
        created, ready, running, blocked or ended.
    dying : bool
        It is being killed, or has ended.
    is_gone : bool
        SimGrid has killed its thread, which may call nothing any more.
    activities : list of Activity
        Its running activities, except detached ones.
    waits_at : Await or None
        The operation it waits for.
    since : float
        Date since which it waits [s].
    """

    name: str
    pid: int
    host: ThreadsHost
    properties: dict[str, str]
    is_daemon: bool
    is_suspended: bool

    def __init__(self, world: SimulationState, job: ActorJob) -> None:
        self.world, self.job, self.name = world, job, job.name
        self.host = host_of(world, job.host)
        self.properties = dict(job.properties)
        self.is_daemon = job.daemon
        self.phase, self.since = "created", 0.0
        self.dying = self.is_gone = self.was_killed = self.is_suspended = False
        self.activities: list[ThreadsActivity] = []
        self.waits_at: Await | None = None
        self.coroutine: Any = None
        self.value: Any = None
        self._on_exit: list[Callable[[bool], object]] = []
        self._joins = WaitingQueue(world, job.name)
        self._timers: list[Timer] = []
        # Whether it is to be woken when it is resumed, and whether its thread has run.
        self._is_due = self._has_begun = False
        self._gate = simgrid.Semaphore(0)
        self._native: Any = None
        world.living.append(self)
        world.actors.append(self)
        self.pid = len(world.actors)
        if job.restart:
            world.boot.append(self)

    def __repr__(self) -> str:
        return f"<Actor {self.pid}: {self.name}@{self.host.name}>"

    # ---- state ----

    @property
    def now(self) -> float:
        """The simulated date [s]."""
        return self.world.now

    @functools.cached_property
    def random(self) -> Generator:
        """Its own random generator."""
        return default_rng((self.world.seed, self.pid))

    @property
    def is_alive(self) -> bool:
        """True if it has not ended."""
        return not self.dying

    @property
    def outcome(self) -> str:
        """State at the end: "ended", "killed" or "running"."""
        return "killed" if self.was_killed else "ended" if self.phase == "ended" else "running"

    def as_blocked(self) -> errors.BlockedActor:
        """Return its blocked operation and the line of code."""
        waits = "its start" if self.waits_at is None else self.waits_at.describe()
        waits = "to be resumed" if self.is_suspended else waits
        place = await_place(self.coroutine)
        return errors.BlockedActor(self.name, self.host.name, place, waits, self.since)

    # ---- work, time and communication ----

    execute = offered(api.Actor.execute, work.ThreadsExecution)
    exec_async = offered(api.Actor.exec_async, work.ThreadsExecution, "start")
    parallel_execute = offered(api.Actor.parallel_execute, work.ParallelTask)
    parallel_async = offered(api.Actor.parallel_async, work.ParallelTask, "start")
    sendto = offered(api.Actor.sendto, work.DirectTransfer)
    sendto_async = offered(api.Actor.sendto_async, work.DirectTransfer, "start")

    def sleep_for(self, duration: float) -> Await:
        """Sleep for a duration [s]."""
        return self._sleep(activity.a_number(duration, "duration"))

    def sleep_until(self, date: float) -> Await:
        """Sleep until a date [s]."""
        return self._sleep(activity.a_number(date, "date") - self.now)

    def _sleep(self, duration: float) -> Await:
        """Sleep, not at all if the duration is 0 or less [s]."""
        if duration <= 0:
            return self._joins.done("sleep")
        sleep = work.Sleep(self.world.running_actor("sleep"), amount=duration)
        return Await(self.world, [sleep], "one", begins=True)

    def yield_(self) -> Await:
        """Let the other actors of this date go first."""
        return self._joins.asked("yield", lambda request: request.end())

    def choose(
        self, options: Sequence[Any], observation: Any = None, *, label: str | None = None
    ) -> Await:
        """Leave a decision to the chooser."""
        index = self.world.choices.ask(self, options, observation, label)
        return self._joins.done("choice", index)

    def mailbox(self, name: str) -> meeting.ThreadsMailbox:
        """Return the mailbox of that name."""
        return self.world.shared(meeting.ThreadsMailbox, name)

    def message_queue(self, name: str) -> meeting.ThreadsMessageQueue:
        """Return the message queue of that name."""
        return self.world.shared(meeting.ThreadsMessageQueue, name)

    def wait_any(
        self, activities: Sequence[ThreadsActivity], timeout: float | None = None
    ) -> Await:
        """Wait for the first of some activities."""
        if not activities:
            raise ValueError("wait_any needs at least one activity")
        return Await(self.world, activities, "any", timeout)

    def wait_all(
        self, activities: Sequence[ThreadsActivity], timeout: float | None = None
    ) -> Await:
        """Wait for all of some activities."""
        return Await(self.world, activities, "all", timeout)

    def test_any(self, activities: Sequence[ThreadsActivity]) -> ThreadsActivity | None:
        """Return the first activity that is over, or None."""
        return next((each for each in activity.checked(activities) if each.over), None)

    # ---- other actors ----

    @api.resources.with_parameters_of(api.Actor.spawn)
    def spawn(
        self,
        function: Callable[..., Any],
        *args: Any,
        host: ThreadsHost | str | None = None,
        name: Any = None,
        daemon: bool = False,
        restart: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> ThreadsActor:
        """Start another actor."""
        place = self.world.running_actor("spawn").host.name if host is None else host
        name = str(getattr(function, "__name__", "actor")) if name is None else name
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {name!r}")
        where = host_of(self.world, place).name
        flags = bool(restart), bool(daemon), dict(properties or {})
        job = ActorJob(function, args, where, name, 0.0, None, *flags)
        require_on(self.world, job)
        child = ThreadsActor(self.world, job)
        child.start()
        return child

    def join(self, timeout: float | None = None) -> Await:
        """Wait for its end; gives its returned value."""
        return self._joins.asked("join", self._await_end, timeout)

    def _await_end(self, request: Request) -> None:
        """End a request when this actor has ended."""
        self._joins.line.append(request)
        if self.phase == "ended":
            self._end_joins()

    def _end_joins(self) -> None:
        """End the requests that wait for its end."""
        while self._joins.line:
            request = self._joins.line.popleft()
            request.value = self.value
            request.end()

    def kill(self) -> None:
        """End it."""
        if self is self.world.running_actor("kill"):
            self.exit()
        self.end_now()

    def exit(self) -> None:
        """End the caller."""
        self.world.running_actor("exit")
        raise errors.ForcefulKillException("exited")

    def suspend(self) -> Await:
        """Stop it, with its activities, until it is resumed."""
        return self._joins.asked("suspend", self._suspend)

    def _suspend(self, request: Request) -> None:
        """Stop it now."""
        if not (self.is_suspended or self.dying):
            self.is_suspended = True
            for each in self.activities:
                each.suspend()
        request.end()

    def resume(self) -> None:
        """Resume the actor."""
        if self.is_suspended and not self.dying:
            self.is_suspended = False
            for each in self.activities:
                each.is_suspended = False
                each.hold_action(is_held=False)
            if self._is_due:
                self._make_ready()

    def daemonize(self) -> None:
        """Make it end when only daemons are left."""
        self.is_daemon = True

    def on_exit(self, callback: Callable[[bool], object]) -> None:
        """Call a function at its end."""
        if not callable(callback):
            raise TypeError(f"on_exit() needs a function, not {callback!r}")
        self._on_exit.append(callback)

    def log(self, message: object, level: Level = "info") -> None:
        """Write a line with host, actor and date."""
        if rank(level) >= self.world.log_level and self.world.write_log is not None:
            self.world.write_log(level, message)

    # ---- platform ----

    def host_by_name(self, name: str) -> ThreadsHost:
        """Return the host of that name."""
        return host_of(self.world, name)

    def link_by_name(self, name: str) -> ThreadsLink:
        """Return the link of that name."""
        if name not in self.world.links:
            raise errors.SimpluginError(f"the platform has no link {name!r}")
        found: ThreadsLink = self.world.links[name]
        return found

    @property
    def hosts(self) -> list[ThreadsHost]:
        """All hosts."""
        return list(self.world.hosts.values())

    @property
    def links(self) -> list[ThreadsLink]:
        """All links."""
        return list(self.world.links.values())

    @property
    def actors(self) -> list[ThreadsActor]:
        """All actors alive."""
        return [actor for actor in self.world.living if actor.is_alive]

    def route(self, source: ThreadsHost | str, destination: ThreadsHost | str) -> ThreadsRoute:
        """Return links and latency between two hosts."""
        ends = host_of(self.world, source), host_of(self.world, destination)
        links, latency = _driver.route(*(end.shared for end in ends))
        # Loopbacks are not in the platform's list.
        known = (self.world.links.get(link.name) or ThreadsLink(self.world, link) for link in links)
        return ThreadsRoute(tuple(known), latency)

    # ---- synchronisation ----

    def mutex(self, name: str | None = None) -> synchro.ThreadsMutex:
        """Return a mutex."""
        return self.world.shared(synchro.ThreadsMutex, name)

    def semaphore(self, capacity: int, name: str | None = None) -> synchro.ThreadsSemaphore:
        """Return a semaphore."""
        return self.world.shared(synchro.ThreadsSemaphore, name, capacity)

    def condition(
        self, mutex: synchro.ThreadsMutex, name: str | None = None
    ) -> synchro.ThreadsCondition:
        """Return a condition variable on a mutex."""
        return self.world.shared(synchro.ThreadsCondition, name, mutex)

    def barrier(self, size: int, name: str | None = None) -> synchro.ThreadsBarrier:
        """Return a barrier."""
        return self.world.shared(synchro.ThreadsBarrier, name, size)

    # ---- its life ----

    def place(self, date: float) -> None:
        """Start it at a date [s], before which its host does not know it; kill it at its date."""
        if date > self.now:
            self.phase = "to start"
            self._timers.append(self.world.at(date, self.start))
        else:
            self.start()
        if self.job.kill_time is not None and self.job.kill_time > self.now:
            self._timers.append(self.world.at(self.job.kill_time, self.end_now))

    def start(self) -> None:
        """Start it; it is killed if its host is off."""
        if self.phase in ("created", "to start"):
            self.phase = "created"
            if self.host.is_on:
                self._make_ready()
            else:
                self.end_now()

    def wake(self) -> None:
        """Make it ready, or due once it is resumed."""
        if self.phase != "blocked":
            return
        if self.is_suspended and not self.dying:
            self._is_due = True
        else:
            self._make_ready()

    def _make_ready(self) -> None:
        """Make it ready, after the actors that were ready before."""
        self.phase, self._is_due = "ready", False
        self.world.later(self._go)

    def _go(self) -> None:
        """Open its gate, in a new thread at first; an actor killed before needs none."""
        if self._native is None and not self.dying:
            self._native = self.host.native.add_actor(self.name, self._live)
        if self._native is None:
            self.bury()
        else:
            self._gate.release()

    def bury(self) -> None:
        """End it if its thread has never run."""
        if not self._has_begun:
            self._live(runs=False)

    def end_now(self) -> None:
        """Kill it: cancel its activities, and throw the kill into its coroutine when it resumes."""
        if self.dying:
            return
        self.dying, self.is_suspended = True, False
        for timer in self._timers:
            timer.function = nothing
        if self.phase != "running" and self.waits_at is not None:
            self.waits_at.abandon()
        self._end_activities()
        if self.phase in ("blocked", "created", "to start"):
            self._make_ready()

    def _end_activities(self) -> None:
        """Cancel its activities."""
        for each in list(self.activities):
            each.cancel()

    def block(self) -> None:
        """Wait, in its thread, until its gate is open.

        Raises
        ------
        ForcefulKillException
            It is being killed.
        AbandonedError
            The simulation is over.
        """
        world = self.world
        while True:
            world.current = None
            try:
                self._gate.acquire()
            except simgrid.ActorKilled:
                world.lost(self)
            world.current = self
            if world.error is not None:
                raise AbandonedError
            if self.dying or not self.is_suspended:
                break
            # Suspended since it was woken.
            self.phase, self._is_due = "blocked", True
        self.phase = "running"
        if self.dying:
            raise errors.ForcefulKillException("exited")

    def _live(self, *, runs: bool = True) -> None:
        """Live, in its thread, or only end."""
        self._has_begun = True
        sys.set_coroutine_origin_tracking_depth(1)
        value, was_killed = None, True
        try:
            with contextlib.suppress(errors.ForcefulKillException):
                if runs:
                    self.block()
                    value = self._drive()
                    was_killed = self.dying
            self._end(value, was_killed=was_killed)
        except AbandonedError:
            pass
        except BaseException as error:
            self.world.failed(self, error)
        self.world.current = None

    def _drive(self) -> Any:
        """Perform the awaited operations until the coroutine returns; return its value."""
        self.coroutine = self.job.function(self, *self.job.args)
        if not inspect.iscoroutine(self.coroutine):
            raise TypeError(
                f"an actor is an 'async def' function, but {self.job.function!r} "
                f"returned {self.coroutine!r}"
            )
        step: Callable[[], Any] = functools.partial(self.coroutine.send, None)
        while True:
            try:
                awaited = step()
            except StopIteration as end:
                return end.value
            if not isinstance(awaited, Await):
                error = RuntimeError("an actor awaited something that is not simplugin's")
                with contextlib.suppress(StopIteration):  # it was caught
                    self.coroutine.throw(error)
                raise error
            try:
                step = functools.partial(self.coroutine.send, awaited.perform(self))
            except AbandonedError:
                raise
            except BaseException as error:
                step = functools.partial(self.coroutine.throw, error)

    def _end(self, value: Any, *, was_killed: bool) -> None:
        """End, after the on-exit callbacks."""
        self.world.current = self
        self.was_killed = was_killed
        for callback in reversed(self._on_exit):
            with contextlib.suppress(errors.ForcefulKillException):
                callback(was_killed)
        self.phase, self.dying = "ended", True
        self._end_activities()
        for timer in self._timers:
            timer.function = nothing
        self.world.living.remove(self)
        self.value = None if was_killed else value
        self.coroutine = self.waits_at = None
        self._end_joins()


def require_on(world: SimulationState, job: ActorJob) -> None:
    """Raise unless an actor can start on its host now."""
    if not host_of(world, job.host).is_on:
        raise errors.HostFailureException(
            f"cannot start actor {job.name!r}: host {job.host!r} is off; "
            "with restart=True it starts when the host comes back"
        )


def host_switched(world: SimulationState, name: str, is_on: bool) -> None:
    """Kill the actors of a host that has gone off, or start again those of one that is back."""
    host = world.hosts[name]
    if not is_on:
        for each in list(world.running.values()):
            if each.fails_with(host):
                each.end(each.host_failure)
        for actor in reversed(world.living):
            if actor.host is host and actor.phase != "to start":
                actor.end_now()
                # SimGrid does not run a thread that it kills before.
                world.later(actor.bury)
        return
    for model in [actor for actor in world.boot if actor.host is host]:
        world.boot.remove(model)
        ThreadsActor(world, model.job).place(world.now)
