"""`me`: what an actor can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import simgrid
from simplugin.errors import (
    ForcefulKillException,
    SimpluginError,
    TimeoutException,
)
from simplugin.simulation.threads import waiting, work
from simplugin.simulation.threads.activity import Activity
from simplugin.simulation.threads.blocking import Blocking, a_number, positive, time_limit
from simplugin.simulation.threads.meeting import Mailbox, Meeting, MessageQueue
from simplugin.simulation.threads.platform import (
    Host,
    Link,
    Route,
    host_of,
    require_on,
    route_between,
)
from simplugin.simulation.threads.suspension import Suspension
from simplugin.simulation.threads.synchro import Barrier, Condition, Mutex, Semaphore
from simplugin.simulation.threads.world import World

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from simplugin.simulation.threads.life import Life

M = TypeVar("M", bound=Meeting)


class Actor:
    """An actor; see :class:`simplugin.simulation.api.Actor`.

    Parameters
    ----------
    world : World
        The simulation.
    life : Life
        What it runs, and how.
    """

    def __init__(self, world: World, life: Life) -> None:
        self.world = world
        self.life = life
        self.name = life.name
        self.host = life.host
        self.pid = len(world.actors) + 1
        self.properties = dict(life.properties)
        self.native: Any = None
        self.coroutine: Any = None
        self.activities: list[Activity] = []
        # What it waits for, which SimGrid cancels if it is killed.
        self.awaited: list[Activity] = []
        self.on_exit_callbacks: list[Callable[[bool], object]] = []
        self.value: Any = None
        self.ended = False
        self.ended_at = 0.0
        self.was_killed = False
        # Being killed: what remains to run are `finally` blocks and on-exit callbacks.
        self.dying = False
        self.is_daemon = life.daemon
        self.since = 0.0
        self.waits_for: Callable[[], str] = lambda: "nothing"
        # Children that may not run before this actor's next await.
        self.held: list[Actor] = []
        self.is_held = False
        self.waits_for_boot = False
        self.suspension = Suspension(self)
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
            from numpy.random import default_rng

            self._random = default_rng((self.world.seed, self.pid))
        return self._random

    @property
    def is_suspended(self) -> bool:
        """Whether it is suspended."""
        return self.suspension.is_on

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return not (self.ended or self.dying or self.missed_its_start)

    @property
    def missed_its_start(self) -> bool:
        """Whether its host was off at its start time, and still is."""
        return self.waits_for_boot and self.life.start_time < self.now

    # ---- work and time ----

    def execute(
        self,
        flops: float,
        *,
        host: Host | str | None = None,
        priority: float = 1.0,
        bound: float | None = None,
        label: str | None = None,
    ) -> Blocking[None]:
        """Compute some flops."""
        me = self.world.running("execute")
        place = me.host if host is None else host_of(self.world, host)
        if positive(priority, "priority") != 1.0 and place is not me.host:
            raise work.unbound("priority of an execution on another host")
        return work.checked_execution(me, flops, place, priority, bound, label).blocking()

    def exec_async(
        self,
        flops: float,
        *,
        host: Host | str | None = None,
        priority: float = 1.0,
        bound: float | None = None,
        label: str | None = None,
    ) -> work.Work:
        """Start to compute."""
        me = self.world.running("exec_async")
        if positive(priority, "priority") != 1.0:
            raise work.unbound("priority of an asynchronous execution")
        place = me.host if host is None else host_of(self.world, host)
        return work.checked_execution(me, flops, place, priority, bound, label).begun()

    def parallel_execute(
        self,
        hosts: Sequence[Host | str],
        flops: Sequence[float] | NDArray[np.float64] | None,
        sizes: Sequence[Sequence[float]] | NDArray[np.float64] | None,
        *,
        label: str | None = None,
    ) -> Blocking[None]:
        """Run a parallel task."""
        return work.checked_parallel_task(self.world, hosts, flops, sizes, label).blocking()

    def parallel_async(
        self,
        hosts: Sequence[Host | str],
        flops: Sequence[float] | NDArray[np.float64] | None,
        sizes: Sequence[Sequence[float]] | NDArray[np.float64] | None,
        *,
        label: str | None = None,
    ) -> work.Work:
        """Start a parallel task."""
        return work.checked_parallel_task(self.world, hosts, flops, sizes, label).begun()

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

    def sendto(
        self,
        source: Host | str,
        destination: Host | str,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> Blocking[None]:
        """Transfer bytes between two hosts."""
        return work.checked_transfer(self.world, source, destination, size, rate, label).blocking()

    def sendto_async(
        self,
        source: Host | str,
        destination: Host | str,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> work.Work:
        """Start a transfer between two hosts."""
        return work.checked_transfer(self.world, source, destination, size, rate, label).begun()

    def wait_any(
        self, activities: Sequence[Activity], timeout: float | None = None
    ) -> Blocking[Activity]:
        """Wait for the first of some activities."""
        return waiting.wait_any(self.world, activities, timeout)

    def wait_all(
        self, activities: Sequence[Activity], timeout: float | None = None
    ) -> Blocking[list[Any]]:
        """Wait for all of some activities."""
        return waiting.wait_all(self.world, activities, timeout)

    def test_any(self, activities: Sequence[Activity]) -> Activity | None:
        """Return the first activity that is over, or None."""
        return next((each for each in waiting.checked(activities) if each.test()), None)

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
        from simplugin.simulation.threads.life import Life

        me = self.world.running("spawn")
        place = me.host if host is None else host_of(self.world, host)
        called = str(getattr(function, "__name__", "actor")) if name is None else name
        require_on(place, called)
        life = Life(self.world, function, args, place, called, daemon, restart, properties or {})
        child = life.actor()
        child.is_held = True
        me.held.append(child)
        self.world.call(life.start)
        return child

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
        if self is self.world.running("kill"):
            self.exit()
        if self.ended or self.dying:
            return
        self.dying = True
        abandoned = self.abandon()
        self.world.call_even_dying(self.native.kill)
        for activity in abandoned:
            activity.wake_waiters()
        if not self.world.running("kill").dying:
            self.world.do_deferred()

    def abandon(self) -> list[Activity]:
        """Note the end of all that SimGrid is about to cancel, and return it.

        Before SimGrid does it: those who run between must not find it in a mailbox any more.
        """
        abandoned = [each for each in self.activities if each.ends_with_owner]
        abandoned += [each for each in self.awaited if each not in abandoned and not each.over]
        for activity in abandoned:
            activity.abandoned()
        return abandoned

    def exit(self) -> None:
        """End the caller."""
        self.world.running("exit")
        raise ForcefulKillException("exited")

    def suspend(self) -> Blocking[None]:
        """Stop it until it is resumed."""
        return self.suspension.blocking()

    def resume(self) -> None:
        """Let it go on."""
        self.suspension.end()

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
            if isinstance(each, work.Execution) and not each.test()
        ]
        for execution in executions:
            execution.migrate(place)
            if execution.native is not None:
                # Not only moved with its actor, it does not fail with the host that it has left.
                self.world.call(setattr, execution.native, "host", place.native)
        followers = [each.watcher for each in self.activities] + [self.life.killer]
        for native in [self.native, *(each for each in followers if each is not None)]:
            self.world.call(setattr, native, "host", place.native)
        self.host = place
        for execution in executions:
            if execution.is_suspended:  # SimGrid starts it again
                execution.resume()
                execution.suspend()

    # ---- platform ----

    def host_by_name(self, name: str) -> Host:
        """Return the host of that name."""
        return host_of(self.world, name)

    def link_by_name(self, name: str) -> Link:
        """Return the link of that name."""
        if name not in self.world.links:
            raise SimpluginError(f"the platform has no link {name!r}")
        return self.world.links[name]

    @property
    def hosts(self) -> list[Host]:
        """All hosts."""
        return list(self.world.hosts.values())

    @property
    def links(self) -> list[Link]:
        """All links."""
        return list(self.world.links.values())

    @property
    def actors(self) -> list[Actor]:
        """All actors alive."""
        return [actor for actor in self.world.actors if actor.is_alive]

    def route(self, source: Host | str, destination: Host | str) -> Route:
        """Return links and latency between two hosts."""
        return route_between(
            self.world, host_of(self.world, source), host_of(self.world, destination)
        )

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
