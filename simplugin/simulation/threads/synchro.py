"""Synchronisation in simulated time: mutex, semaphore, condition variable, barrier."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from operator import index
from typing import Any

from simplugin.errors import ForcefulKillException, TimeoutException
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.activity import signal
from simplugin.simulation.threads.world import ActorRecord, Blocking, World, done, time_limit


class Gate:
    """A gate at which one actor waits until another opens it.

    With a time limit it is a signal: unlike that of SimGrid's semaphores, it holds for an actor
    that has moved from a host that fails. Without one it is a semaphore, which wakes in the
    order of those of SimGrid.
    """

    def __init__(self) -> None:
        self._opened = False
        self._wake: Callable[[], object] | None = None

    def wait(self, world: World, limit: float) -> bool:
        """Block until it is opened, or until the time limit; return True if it opened in time."""
        if limit < 0:
            semaphore = simgrid.Semaphore(0)
            self._wake = semaphore.release
            if not self._opened:
                semaphore.acquire()
            return True
        deadline = world.now + limit
        expired = False
        while not (self._opened or expired):
            waited = signal(world)
            self._wake = waited.cancel
            try:
                if not self._opened:  # by an actor that ran while the signal was made
                    waited.wait_for(max(0.0, deadline - world.now))
            except simgrid.TimeoutException:
                expired = True  # whoever opens it at this very date comes too late
            except simgrid.NetworkFailureException:
                pass
            world.call(waited.cancel)
        return not expired

    def open(self, world: World) -> None:
        """Wake the actor that waits."""
        self._opened = True
        if self._wake is not None:
            world.call_even_dying(self._wake)


class _Named:
    """The common part of all of them."""

    def __init__(self, world: World, name: str | None) -> None:
        self._world = world
        self.name = name

    def _blocking(self, kind: str, perform: Any) -> Blocking[Any]:
        """Return an operation with its name in its description."""
        text = kind if self.name is None else f"{kind} {self.name!r}"
        return Blocking(self._world, lambda: text, perform)


class Semaphore(_Named):
    """A semaphore; see :class:`simplugin.simulation.api.Semaphore`."""

    def __init__(self, world: World, capacity: int, name: str | None) -> None:
        super().__init__(world, name)
        if index(capacity) < 0:
            raise ValueError(f"the capacity of a semaphore must be at least 0, not {capacity}")
        self.capacity = index(capacity)
        self._waiting: deque[Gate] = deque()

    @property
    def would_block(self) -> bool:
        """True if no place is free."""
        return self.capacity == 0

    def acquire(self, timeout: float | None = None) -> Blocking[None]:
        """Take a place, or wait for it."""
        limit = time_limit(timeout)
        return self._blocking("acquire", lambda: self._perform(limit))

    def _perform(self, limit: float) -> None:
        """Block until there is a place."""
        mine = Gate()
        try:
            if self.capacity > 0:
                self.capacity -= 1
                simgrid.this_actor.yield_()  # others go first, as with SimGrid's own
                return
            self._waiting.append(mine)
            granted = mine.wait(self._world, limit)
        except (simgrid.ActorKilled, ForcefulKillException):
            self._give_up(mine)
            raise
        if not granted:
            self._give_up(mine)
            raise TimeoutException("acquire: the time limit was reached")

    def _give_up(self, mine: Gate) -> None:
        """Leave the queue, or hand on the place that came too late."""
        if mine in self._waiting:
            self._waiting.remove(mine)
        else:
            self.release()

    def release(self) -> None:
        """Free a place."""
        if self._waiting:
            self._waiting.popleft().open(self._world)
        else:
            self.capacity += 1
            # Others go first, as with SimGrid's own.
            self._world.call_even_dying(simgrid.this_actor.yield_)

    def __aenter__(self) -> Blocking[None]:
        return self.acquire()

    def __aexit__(self, *exception: object) -> Blocking[None]:
        self.release()
        return done(self._world, "unlock")


class Mutex(_Named):
    """A mutex; see :class:`simplugin.simulation.api.Mutex`."""

    def __init__(self, world: World, name: str | None) -> None:
        super().__init__(world, name)
        self._native = world.call(simgrid.Semaphore, 1)
        self.owner: ActorRecord | None = None

    def lock(self) -> Blocking[None]:
        """Make it this actor's, or wait for it."""
        return self._blocking("lock", self.perform_lock)

    def perform_lock(self) -> None:
        """Block until it is this actor's."""
        self._native.acquire()
        self.owner = self._world.running("lock")

    def try_lock(self) -> bool:
        """Lock it if it is free."""
        if self._native.would_block:
            return False
        self._world.call(self._native.acquire)
        self.owner = self._world.running("try_lock")
        return True

    def unlock(self) -> None:
        """Give it to the next actor that waits."""
        self.check_owner("unlock")
        self.owner = None
        self._world.call_even_dying(self._native.release)

    def check_owner(self, operation: str) -> None:
        """Raise unless the running actor holds it."""
        if self.owner is not self._world.running(operation):
            who = "not locked" if self.owner is None else "held by another actor"
            raise RuntimeError(f"{operation}: the mutex {self.name!r} is {who}")

    def __aenter__(self) -> Blocking[None]:
        return self.lock()

    def __aexit__(self, *exception: object) -> Blocking[None]:
        me = self._world.running("unlock")
        # An actor that is killed while it waits for a condition does not hold the mutex.
        if not me.dying or self.owner is me:
            self.unlock()
        return done(self._world, "release")


class Condition(_Named):
    """A condition variable; see :class:`simplugin.simulation.api.Condition`."""

    def __init__(self, world: World, mutex: Mutex, name: str | None) -> None:
        super().__init__(world, name)
        self._mutex = mutex
        self._waiting: deque[Gate] = deque()

    def wait(self, timeout: float | None = None) -> Blocking[bool]:
        """Release the mutex, wait to be notified or for the time limit, lock it again."""
        limit = time_limit(timeout)
        return self._blocking("condition", lambda: self._perform_wait(limit))

    def _perform_wait(self, limit: float) -> bool:
        """Block until notified."""
        self._mutex.check_owner("wait")
        mine = Gate()
        self._waiting.append(mine)
        self._mutex.unlock()
        try:
            mine.wait(self._world, limit)
        finally:
            notified = mine not in self._waiting
            if not notified:
                self._waiting.remove(mine)
        self._mutex.perform_lock()
        return notified

    def notify_one(self) -> None:
        """Wake the first that waits."""
        if self._waiting:
            self._waiting.popleft().open(self._world)

    def notify_all(self) -> None:
        """Wake all that wait now."""
        for _ in range(len(self._waiting)):
            self.notify_one()


class Barrier(_Named):
    """A barrier; see :class:`simplugin.simulation.api.Barrier`.

    Made of semaphores: with its own, SimGrid 4.1 crashes when an actor is killed there, and when it
    lists a deadlock.
    """

    def __init__(self, world: World, size: int, name: str | None) -> None:
        super().__init__(world, name)
        if index(size) < 1:
            raise ValueError(f"the size of a barrier must be at least 1, not {size}")
        self.size = size
        self._waiting: list[Gate] = []

    def wait(self) -> Blocking[bool]:
        """Wait until all have come; True for the last."""
        return self._blocking("barrier", self._perform_wait)

    def _perform_wait(self) -> bool:
        """Block until all have come, or let the others go."""
        if len(self._waiting) + 1 >= self.size:
            others, self._waiting = self._waiting, []
            # All of them, even if the caller is killed meanwhile.
            with contextlib.ExitStack() as stack:
                for each in reversed(others):
                    stack.callback(each.open, self._world)
            return True
        mine = Gate()
        self._waiting.append(mine)
        try:
            mine.wait(self._world, -1.0)
        except simgrid.ActorKilled:
            if mine in self._waiting:
                self._waiting.remove(mine)
            raise
        return False
