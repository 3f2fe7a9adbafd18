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
