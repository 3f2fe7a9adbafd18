"""Actors: the operations of `me`, and the thread in which SimGrid lets an actor live."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from numpy.random import Generator, default_rng

from simplugin.errors import (
    CancelException,
    ForcefulKillException,
    SimpluginError,
    TimeoutException,
)
from simplugin.simulation.api.actor import Matrix, Vector
from simplugin.simulation.logs import Level, rank
from simplugin.simulation.protocol import ActorJob
from simplugin.simulation.threads import activity, simgrid, work
from simplugin.simulation.threads.activity import Activity, launched
from simplugin.simulation.threads.meeting import Mailbox, Meeting, Message, MessageQueue
from simplugin.simulation.threads.synchro import Barrier, Condition, Mutex, Semaphore
from simplugin.simulation.threads.work import (
    Host,
    Link,
    Route,
    host_of,
    require_on,
    route_between,
)
from simplugin.simulation.threads.world import (
    AbandonedError,
    ActorRecord,
    Blocking,
    World,
    a_number,
    positive,
    time_limit,
)

M = TypeVar("M", bound=Meeting)


class Actor(ActorRecord):
    """An actor; see :class:`simplugin.simulation.api.Actor`.

    Parameters
    ----------
    life : Life
        Its function and place.
    """

    def __init__(self, life: Life) -> None:
        world, job = life.world, life.job
        pid = len(world.actors) + 1
        super().__init__(world, pid, job.name, life.host, job.daemon, job.start_time)
        self.life = life
        self.properties = dict(job.properties)
        self.on_exit_callbacks: list[Callable[[bool], object]] = []
        # Children that may not run before this actor's next await.
        self.held: list[Actor] = []
        self.is_held = False
        self._random: Generator | None = None
        world.actors.append(self)

    def __repr__(self) -> str:
        return f"<Actor {self.pid}: {self.name}@{self.host.name}>"

    # ---- state ----

    @property
    def now(self) -> float:
        """The simulated date [s]."""
        return self.world.now

    @property
    def random(self) -> Generator:
        """Its own random generator."""
        if self._random is None:
            self._random = default_rng((self.world.seed, self.pid))
        return self._random

    # ---- work and time ----

    def _execution(
        self,
        flops: float,
        *,
        host: Host | str | None = None,
        priority: float = 1.0,
        bound: float | None = None,
        threads: int = 1,
        label: str | None = None,
    ) -> Activity:
        """Compute some flops."""
        me = self.world.running("execute")
        place = me.host if host is None else host_of(self.world, host)
        share = positive(priority, "priority")
        if bound is not None:
            positive(bound, "bound")
            raise work.unbound("bound of an execution")
        if operator.index(threads) < 1:
            raise ValueError(f"threads must be >= 1, not {threads}")
        if threads > 1:
            raise work.unbound("thread count of an execution")
        return work.Execution(me, flops, place, share, label)

    execute, exec_async, exec_init = launched(_execution, "blocking", "begun", "later")

    def _parallel_task(
        self,
        hosts: Sequence[Host | str],
        flops: Vector | None,
        sizes: Matrix | None,
        *,
        label: str | None = None,
    ) -> Activity:
        """Run a parallel task."""
        me = self.world.running("parallel_execute")
        if not self.world.takes_parallel_tasks:
            raise SimpluginError(
                "parallel tasks need the host model ptask_L07: "
                "SimGridOptions(host_model='ptask_L07')"
            )
        places = [host_of(self.world, host) for host in hosts]
        return work.ParallelTask(me, places, flops, sizes, label)

    parallel_execute, parallel_async, parallel_init = launched(
        _parallel_task, "blocking", "begun", "later"
    )

    def sleep_for(self, duration: float) -> Blocking[None]:
        """Sleep for a duration [s]."""
        return work.sleep(self.world.running("sleep"), a_number(duration, "duration"))

    def sleep_until(self, date: float) -> Blocking[None]:
        """Sleep until a date [s]."""
        return work.sleep(self.world.running("sleep"), a_number(date, "date") - self.now)

    def yield_(self) -> Blocking[None]:
        """Let the other actors of this date go first."""
        return Blocking(self.world, lambda: "yield", simgrid.this_actor.yield_)

    # ---- communication ----

    def mailbox(self, name: str) -> Mailbox:
        """Return the mailbox of that name."""
        return self._meeting(Mailbox, name)

    def message_queue(self, name: str) -> MessageQueue:
        """Return the message queue of that name."""
        return self._meeting(MessageQueue, name)

    def _meeting(self, kind: type[M], name: str) -> M:
        """Get or create."""
        if not isinstance(name, str):
            raise TypeError(f"a name is a str, not {name!r}")
        return self.world.shared(kind.__name__, name, lambda: kind(self.world, name))

    def _transfer(
        self,
        source: Host | str | None,
        destination: Host | str | None,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> Activity:
        """Transfer bytes between two hosts."""
        me = self.world.running("sendto")
        start = None if source is None else host_of(self.world, source)
        end = None if destination is None else host_of(self.world, destination)
        if rate is not None:
            raise work.unbound("rate of a direct transfer")
        return work.DirectTransfer(me, start, end, size, label)

    sendto, sendto_async, sendto_init = launched(_transfer, "blocking", "begun", "later")

    def wait_any(
        self, activities: Sequence[Activity], timeout: float | None = None
    ) -> Blocking[Activity]:
        """Wait for the first of some activities."""
        wanted, limit = activity.checked(activities), time_limit(timeout)
        if not wanted:
            raise ValueError("wait_any needs at least one activity")

        def perform() -> Activity:
            over = activity.await_first(wanted, limit, "any of")
            over.outcome()
            return over

        return Blocking(self.world, lambda: activity.describe_those("any of", wanted), perform)

    def wait_all(
        self, activities: Sequence[Activity], timeout: float | None = None
    ) -> Blocking[list[Any]]:
        """Wait for all of some activities."""
        wanted, limit = activity.checked(activities), time_limit(timeout)

        def perform() -> list[Any]:
            deadline = self.now + limit
            left = wanted
            while left:
                time = activity.time_left(self.world, deadline, limit)
                over = activity.await_first(left, time, "all of")
                over.outcome()
                left = [each for each in left if each is not over]
            return [each.outcome() for each in wanted]

        return Blocking(self.world, lambda: activity.describe_those("all of", wanted), perform)

    def test_any(self, activities: Sequence[Activity]) -> Activity | None:
        """Return the first activity that is over, or None."""
        return activity.first_over(activity.checked(activities))

    # ---- other actors ----

    def spawn(
        self,
        function: Callable[..., Any],
        *args: Any,
        host: Host | str | None = None,
        name: str | None = None,
        daemon: bool = False,
        restart: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> Actor:
        """Start another actor."""
        me = self.world.running("spawn")
        assert isinstance(me, Actor)
        place = me.host if host is None else host_of(self.world, host)
        called = str(getattr(function, "__name__", "actor")) if name is None else name
        if not isinstance(called, str):
            raise TypeError(f"name must be a str, not {called!r}")
        require_on(place, called)
        known = dict(properties or {})
        job = ActorJob(function, args, place.name, called, 0.0, None, restart, daemon, known)
        life = Life(self.world, job)
        child = life.actor()
        child.is_held = True
        me.held.append(child)
        self.world.call(life.start)
        return child

    def let_children_start(self) -> None:
        """Let the actors that it spawned run."""
        for child in self.held:
            child.is_held = False
        self.held.clear()

    def join(self, timeout: float | None = None) -> Blocking[Any]:
        """Wait for its end; gives its returned value."""
        limit = time_limit(timeout)
        return Blocking(self.world, lambda: f"join {self.name!r}", lambda: self._join(limit))

    def _join(self, limit: float) -> Any:
        """Block until it ended."""
        deadline = self.now + limit
        has_ended = self.ended
        left = limit
        while left != 0 or limit == 0:
            before = self.now
            self.native.join(left)
            # SimGrid ends it early if the caller has moved and the host where it began fails.
            left = limit if limit < 0 else max(0.0, deadline - self.now)
            if not self.is_alive or self.now == before:
                break
        # Time limits expire before actors run: an end at that very date is too late.
        in_time = limit < 0 or has_ended or self.ended_at < deadline
        if self.is_alive or not in_time:
            raise TimeoutException(f"join {self.name!r}: the time limit was reached")
        return self.value

    def kill(self) -> None:
        """End it."""
        me = self.world.running("kill")
        if self is me:
            self.exit()
        if self.ended or self.dying:
            return
        self.end_now()
        if not me.dying:
            self.world.do_deferred()

    def end_now(self) -> None:
        """Have SimGrid kill it, and note the end of what it does."""
        self.dying = True
        abandoned = self.abandon()
        self.world.call_even_dying(self.native.kill)
        for each in abandoned:
            each.wake_waiters()

    def exit(self) -> None:
        """End the caller."""
        self.world.running("exit")
        raise ForcefulKillException("exited")

    def suspend(self) -> Blocking[None]:
        """Stop it, with its activities, until it is resumed.

        Not by SimGrid's own suspension, which crashes where an activity of the actor is over, and
        aborts where one fails: what the actor does is suspended, and the actor itself waits at a
        semaphore before it goes on.
        """
        return Blocking(self.world, lambda: f"suspend {self.name!r}", self._suspend)

    def _suspend(self) -> None:
        """Stop it now."""
        if self.gate is None and not (self.dying or self.ended):
            self.gate = self.world.call(simgrid.Semaphore, 0)
            for each in self._suspended_with_it():
                each.suspend()

    def resume(self) -> None:
        """Let it go on."""
        if not self.is_suspended:
            return
        gate, self.gate = self.gate, None
        for each in self._suspended_with_it():
            # Started meanwhile, it is suspended too, but does not know it.
            each.suspend()
            each.resume()
        self.world.call_even_dying(gate.release)

    def _suspended_with_it(self) -> list[Activity]:
        """Return what SimGrid suspends with the actor: all but direct transfers."""
        return [
            each
            for each in self.activities
            if each.has_started and not isinstance(each, work.DirectTransfer)
        ]

    def wait_until_resumed(self) -> None:
        """Block the actor, which calls this, while it is suspended."""
        while self.is_suspended:
            self.gate.acquire()

    def daemonize(self) -> None:
        """Make it end when only daemons are left."""
        if not self.ended:
            self.is_daemon = True
            self.world.call(self.native.daemonize)

    def on_exit(self, callback: Callable[[bool], object]) -> None:
        """Call a function at its end."""
        if not callable(callback):
            raise TypeError(f"on_exit() needs a function, not {callback!r}")
        self.on_exit_callbacks.append(callback)

    def set_host(self, host: Host | str) -> None:
        """Migrate it."""
        place = host_of(self.world, host)
        executions = [
            each
            for each in list(self.activities)
            if isinstance(each, work.Execution) and each.has_started and not each.look()
        ]
        for execution in executions:
            execution.migrate(place)
        followers = [each.watcher for each in self.activities] + [self.life.killer]
        for native in [self.native, *(each for each in followers if each is not None)]:
            self.world.call(setattr, native, "host", place.native)
        self.host = place
        for execution in executions:
            execution.settle_suspension()

    def log(self, message: object, level: Level = "info") -> None:
        """Write a line with host, actor and date."""
        if rank(level) >= self.world.log_level and self.world.write_log is not None:
            self.world.write_log(level, message)

    # ---- platform ----

    def host_by_name(self, name: str) -> Host:
        """Return the host of that name."""
        return host_of(self.world, name)

    def link_by_name(self, name: str) -> Link:
        """Return the link of that name."""
        if name not in self.world.links:
            raise SimpluginError(f"the platform has no link {name!r}")
        found: Link = self.world.links[name]
        return found

    @property
    def hosts(self) -> list[Host]:
        """All hosts."""
        return list(self.world.hosts.values())

    @property
    def links(self) -> list[Link]:
        """All links."""
        return list(self.world.links.values())

    @property
    def actors(self) -> list[ActorRecord]:
        """All actors alive."""
        return [actor for actor in self.world.actors if actor.is_alive]

    def route(self, source: Host | str, destination: Host | str) -> Route:
        """Return links and latency between two hosts."""
        ends = host_of(self.world, source), host_of(self.world, destination)
        return route_between(self.world, *ends)

    # ---- synchronisation ----

    def mutex(self, name: str | None = None) -> Mutex:
        """Return a mutex."""
        return self.world.shared("mutex", name, lambda: Mutex(self.world, name))

    def semaphore(self, capacity: int, name: str | None = None) -> Semaphore:
        """Return a semaphore."""
        return self.world.shared("semaphore", name, lambda: Semaphore(self.world, capacity, name))

    def condition(self, mutex: Mutex, name: str | None = None) -> Condition:
        """Return a condition variable on a mutex."""
        return self.world.shared("condition", name, lambda: Condition(self.world, mutex, name))

    def barrier(self, size: int, name: str | None = None) -> Barrier:
        """Return a barrier."""
        return self.world.shared("barrier", name, lambda: Barrier(self.world, size, name))


# ---- the thread of an actor -----------------------------------------------------------------


class Life:
    """An actor's function; called again each time that the host of a restartable actor comes back.

    Parameters
    ----------
    world : World
        The simulation.
    job : ActorJob
        Its function, arguments and place.
    """

    def __init__(self, world: World, job: ActorJob) -> None:
        self.world = world
        self.job = job
        self.host = host_of(world, job.host)
        self.current: Actor | None = None
        # SimGrid's actor that kills it at a date.
        self.killer: Any = None
        self._next: Actor | None = None

    def actor(self) -> Actor:
        """Make the actor that will live this next."""
        self.current = self._next = Actor(self)
        return self._next

    def start(self) -> None:
        """Give it a thread of SimGrid's."""
        actor = self._next
        assert actor is not None
        actor.native = self.host.native.add_actor(self.job.name, self._live)
        if self.job.daemon:
            actor.native.daemonize()
        if self.job.restart or self.job.start_time > 0:
            actor.native.set_auto_restart(True)

    def start_killer(self, date: float) -> None:
        """Have a daemon kill the actor at a date [s]."""

        def kill() -> None:
            self.killer = simgrid.Actor.by_pid(simgrid.this_actor.get_pid())
            if date <= self.world.now:
                return
            work.sleep_until(self.world, date, date - self.world.now)
            if self.current is not None and self.current.is_alive:
                self.current.end_now()
                simgrid.this_actor.yield_()  # the killed one ends first
                self.world.do_deferred()

        self.host.native.add_actor("killer", kill).daemonize().set_auto_restart(True)

    def _live(self) -> None:
        """Live once; SimGrid calls it."""
        actor, self._next = self._next, None
        if actor is None and not self.job.restart:
            return  # SimGrid restarts those that waited for their start time, too
        start_time = self.job.start_time
        if actor is None:
            actor = self.current = Actor(self)
            start_time = 0.0
        actor.native = simgrid.Actor.by_pid(simgrid.this_actor.get_pid())
        self.world.enter(actor)
        try:
            self._run(actor, start_time)
        except AbandonedError:
            pass
        except BaseException as error:
            self.world.failed(actor, error)
            if not actor.dying:
                simgrid.Actor.kill_all()

    def _run(self, actor: Actor, start_time: float) -> None:
        """Run the actor's coroutine and its on-exit callbacks."""
        try:
            self._await_start(actor, start_time)
            coroutine = self.job.function(actor, *self.job.args)
            if not inspect.iscoroutine(coroutine):
                raise TypeError(
                    f"an actor is an 'async def' function, but {self.job.function!r} "
                    f"returned {coroutine!r}"
                )
            actor.coroutine = coroutine
            value = _drive(actor)
            actor.value = None if actor.dying else value
            actor.was_killed = actor.dying
        except ForcefulKillException:
            actor.was_killed = True
        for callback in reversed(actor.on_exit_callbacks):
            with contextlib.suppress(ForcefulKillException):
                callback(actor.was_killed)
        actor.ended, actor.ended_at = True, actor.now
        actor.let_children_start()
        _abandon_activities(actor)
        actor.coroutine = None

    def _await_start(self, actor: Actor, start_time: float) -> None:
        """Wait for the start time, and for the parent to let it start."""
        world = self.world
        world.go_on_or_end()
        if start_time > world.now and not (actor.dying or actor.host.is_on):
            self._wait_for_boot(actor)
        if actor.dying or actor.missed_its_start or not actor.host.is_on:
            actor.dying = True
            raise ForcefulKillException("exited")
        actor.waits_for_boot = False
        if start_time > world.now:
            actor.waits_for = lambda: "its start"
            try:
                work.sleep_until(world, start_time, start_time - world.now)
            except simgrid.ActorKilled:
                world.killed(actor)
                if actor.host.is_on:
                    raise ForcefulKillException("exited") from None
                # It is not there yet, and waits for its host to boot.
                actor.dying = False
                self._wait_for_boot(actor)
        while actor.is_held:
            world.call(simgrid.this_actor.yield_)
        world.call(actor.wait_until_resumed)
        world.resumed()

    def _wait_for_boot(self, actor: Actor) -> None:
        """End this thread; the actor waits for its start time again when its host is back."""
        self._next = actor
        actor.waits_for_boot = True
        raise AbandonedError from None


def _abandon_activities(actor: Actor) -> None:
    """End what the actor started, as SimGrid is about to do."""
    for each in list(actor.activities):
        each.look()  # it may be over since this very date
    waited_for = [
        each
        for each in actor.activities
        if each.signals or each.is_daemons or isinstance(each, Message)
    ]
    for each in waited_for:
        if each.ends_with_owner:
            each.ends(CancelException, activity.NAN)
            each.wake_waiters()
    # From here to the end of the thread no call of SimGrid: others must find us and SimGrid agree.
    actor.abandon()


def _drive(actor: Actor) -> Any:
    """Do what the coroutine asks for until it returns; return its value."""
    step: Callable[[], Any] = functools.partial(actor.coroutine.send, None)
    while True:
        try:
            request = step()
        except StopIteration as end:
            return end.value
        if not isinstance(request, Blocking):
            error = RuntimeError("an actor awaited something that is not simplugin's")
            with contextlib.suppress(StopIteration):  # it was caught
                actor.coroutine.throw(error)
            raise error
        step = _performed(actor, request)


def _performed(actor: Actor, request: Blocking[Any]) -> Callable[[], Any]:
    """Perform a request; return how to go on with the coroutine."""
    world = actor.world
    actor.waits_for, actor.since = request.waits_for, world.now
    actor.let_children_start()
    go_on: Callable[[], Any]
    try:
        try:
            go_on = functools.partial(actor.coroutine.send, request.perform())
        except (AbandonedError, AssertionError, simgrid.ActorKilled):
            raise
        except (Exception, ForcefulKillException) as error:
            go_on = functools.partial(actor.coroutine.throw, error)
        while actor.is_doomed:  # by an actor that ran before, at the date at which this ended
            simgrid.this_actor.yield_()
        actor.wait_until_resumed()
    except simgrid.ActorKilled:
        world.killed(actor)
        return functools.partial(actor.coroutine.throw, ForcefulKillException("exited"))
    if not actor.dying:
        world.resumed()
    return go_on
