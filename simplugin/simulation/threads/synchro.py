"""Synchronisation in simulated time: mutex, semaphore, condition variable, barrier."""

from __future__ import annotations

from operator import index
from typing import Any

from simplugin.simulation import api
from simplugin.simulation.threads.activity import Await, Request, WaitingQueue
from simplugin.simulation.threads.refused import complete
from simplugin.simulation.threads.world import SimulationState


class ThreadsLock(WaitingQueue):
    """A number of things that actors take and give back, in the order of asking."""

    capacity = 1

    def give(self, request: Request) -> None:
        """Give one, if there is one."""
        if self.capacity > 0:
            self.capacity -= 1
            self.taken_by(request.owner)
            request.end()
        else:
            self.line.append(request)

    def taken_by(self, actor: Any) -> None:
        """Record its owner."""

    def free(self) -> None:
        """Take one back, and give it to the next that waits."""
        self.capacity += 1
        if self.line:
            self.give(self.line.popleft())

    def take_back(self, _request: Request) -> None:
        """Take back the grant of an actor that is killed before it resumes."""
        self.free()


@complete(api.Semaphore)
class ThreadsSemaphore(ThreadsLock):
    """A semaphore; see :class:`simplugin.simulation.api.Semaphore`."""

    def __init__(self, world: SimulationState, capacity: int, name: str | None) -> None:
        super().__init__(world, name)
        if index(capacity) < 0:
            raise ValueError(f"the capacity of a semaphore must be at least 0, not {capacity}")
        self.capacity = index(capacity)

    @property
    def would_block(self) -> bool:
        """True if no place is free."""
        return self.capacity == 0

    def acquire(self, timeout: float | None = None) -> Await:
        """Take a place, or wait for it."""
        return self.asked("acquire", self.give, timeout)

    def release(self) -> None:
        """Free a place."""
        self.free()

    def __aenter__(self) -> Await:
        return self.acquire()

    def __aexit__(self, *exception: object) -> Await:
        self.free()
        return self.done("release")


@complete(api.Mutex)
class ThreadsMutex(ThreadsLock):
    """A mutex; see :class:`simplugin.simulation.api.Mutex`."""

    owner: Any = None

    def taken_by(self, actor: Any) -> None:
        """Record its owner."""
        self.owner = actor

    def free(self) -> None:
        """Take it back."""
        self.owner = None
        super().free()

    def lock(self) -> Await:
        """Make it this actor's, or wait for it."""
        return self.asked("lock", self.give)

    def try_lock(self) -> bool:
        """Lock it if it is free."""
        is_free = self.capacity > 0
        if is_free:
            self.capacity, self.owner = 0, self.world.running_actor("try_lock")
        return is_free

    def unlock(self) -> None:
        """Give it to the next actor that waits."""
        self.unlock_as(self.world.running_actor("unlock"), "unlock")

    def unlock_as(self, actor: Any, operation: str) -> None:
        """Give it to the next actor that waits; raise unless this one holds it."""
        if self.owner is not actor:
            who = "not locked" if self.owner is None else "held by another actor"
            raise RuntimeError(f"{operation}: the mutex {self.name!r} is {who}")
        self.free()

    def __aenter__(self) -> Await:
        return self.lock()

    def __aexit__(self, *exception: object) -> Await:
        me = self.world.running_actor("unlock")
        # An actor that is killed while it waits for a condition does not hold the mutex.
        if not me.dying or self.owner is me:
            self.unlock()
        return self.done("unlock")


@complete(api.Condition)
class ThreadsCondition(WaitingQueue):
    """A condition variable; see :class:`simplugin.simulation.api.Condition`."""

    def __init__(self, world: SimulationState, mutex: ThreadsMutex, name: str | None) -> None:
        super().__init__(world, name)
        self._mutex = mutex

    def wait(self, timeout: float | None = None) -> Await:
        """Release the mutex, wait to be notified or for the time limit, lock it again."""
        return self.asked("condition", self._wait, timeout)

    def _wait(self, request: Request) -> None:
        """Release the mutex and wait."""
        if self._mutex.owner is not request.owner:
            request.end()
        self._mutex.unlock_as(request.owner, "wait")
        self.line.append(request)

    def time_out(self, request: Request) -> None:
        """End a wait that was not notified."""
        self._lock_again(request, was_notified=False)

    def _lock_again(self, request: Request, *, was_notified: bool) -> None:
        """Move a request to the queue of the mutex, without a time limit."""
        request.leave()
        for wait in request.waits:
            wait.forget_limit()
        request.value, request.place = was_notified, self._mutex
        self._mutex.give(request)

    def notify_one(self) -> None:
        """Wake the first that waits."""
        if self.line:
            self._lock_again(self.line[0], was_notified=True)

    def notify_all(self) -> None:
        """Wake all that wait now."""
        while self.line:
            self.notify_one()


@complete(api.Barrier)
class ThreadsBarrier(WaitingQueue):
    """A barrier; see :class:`simplugin.simulation.api.Barrier`."""

    size: int

    def __init__(self, world: SimulationState, size: int, name: str | None) -> None:
        super().__init__(world, name)
        if index(size) < 1:
            raise ValueError(f"the size of a barrier must be at least 1, not {size}")
        self.size = index(size)

    def wait(self) -> Await:
        """Wait until all have arrived; True for the last."""
        return self.asked("barrier", self._come)

    def _come(self, request: Request) -> None:
        """Release all once the barrier is complete."""
        self.line.append(request)
        request.value = len(self.line) >= self.size
        while request.value and self.line:
            self.line.popleft().end()
