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
    """What one actor waits for, until another opens it.

    Unlike SimGrid's semaphores, a limit of time holds for an actor that has moved from a host that
    fails.
    """

    def __init__(self) -> None:
        self._opened = False
        self._signal: Any = None

    def wait(self, world: World, limit: float) -> bool:
        """Block until it is opened, or until the time limit; return whether it opened in time."""
        deadline = world.now + limit
        expired = False
        while not (self._opened or expired):
            self._signal = signal(world)
            try:
                self._signal.wait_for(limit if limit < 0 else max(0.0, deadline - world.now))
            except simgrid.TimeoutException:
                expired = True  # whoever opens it at this very date comes too late
            except simgrid.NetworkFailureException:
                pass
            world.call(self._signal.cancel)
        return not expired

    def open(self, world: World) -> None:
        """Wake who waits."""
        self._opened = True
        if self._signal is not None:
            fire(world, self._signal)
