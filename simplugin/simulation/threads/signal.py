"""How one actor wakes another that waits for no activity of SimGrid's."""

from __future__ import annotations

from typing import Any

import simgrid
from simplugin.simulation.threads.world import World

_SIZE = 10**9


def signal(world: World) -> Any:
    """Return something to wait for until `fire`.

    A suspended transfer from the running actor's host to itself: it loads nothing, never ends by
    itself, and belongs to no actor, so that suspending or ending one does not touch it.
    """
    here = world.running("wait").host.native
    waited = world.call(simgrid.Comm.sendto_init, here, here)
    world.call(waited.set_payload_size, _SIZE)
    world.call(waited.start)
    world.call(waited.suspend)
    return waited


def fire(world: World, waited: Any) -> None:
    """Wake whoever waits: they see a network failure."""
    world.call_even_dying(waited.cancel)


class Gate:
    """A gate at which one actor waits until another opens it.

    With a time limit it is a signal: unlike that of SimGrid's semaphores, it holds for an actor
    that has moved from a host that fails. Without one it is a semaphore, which wakes in the
    order of those of SimGrid.
    """

    def __init__(self) -> None:
        self._opened = False
        self._signal: Any = None
        self._semaphore: Any = None

    def wait(self, world: World, limit: float) -> bool:
        """Block until it is opened, or until the time limit; return whether it opened in time."""
        if limit < 0:
            self._semaphore = simgrid.Semaphore(0)
            if not self._opened:
                self._semaphore.acquire()
            return True
        deadline = world.now + limit
        expired = False
        while not (self._opened or expired):
            self._signal = signal(world)
            try:
                if not self._opened:  # by an actor that ran while the signal was made
                    self._signal.wait_for(max(0.0, deadline - world.now))
            except simgrid.TimeoutException:
                expired = True  # whoever opens it at this very date comes too late
            except simgrid.NetworkFailureException:
                pass
            world.call(self._signal.cancel)
        return not expired

    def open(self, world: World) -> None:
        """Wake who waits."""
        self._opened = True
        if self._semaphore is not None:
            world.call_even_dying(self._semaphore.release)
        elif self._signal is not None:
            fire(world, self._signal)
