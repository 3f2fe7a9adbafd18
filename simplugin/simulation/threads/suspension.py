"""An actor that is stopped until it is resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import simgrid
from simplugin.simulation.threads.blocking import Blocking

if TYPE_CHECKING:
    from simplugin.simulation.threads.actor import Actor


class Suspension:
    """Stops an actor, and lets it go on.

    Parameters
    ----------
    actor : Actor
        Who.
    """

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        # What it waits for while it is suspended by itself.
        self._parked: Any = None

    def blocking(self) -> Blocking[None]:
        """Return an operation that stops it."""
        return Blocking(self._actor.world, lambda: f"suspend {self._actor.name!r}", self._begin)

    def _begin(self) -> None:
        """Stop it."""
        actor = self._actor
        if actor is not actor.world.running("suspend"):
            if not actor.ended:
                actor.native.suspend()
            return
        # SimGrid cannot list an actor that suspended itself in a deadlock: somebody else does it.
        parked = self._parked = simgrid.Semaphore(0)

        def suspend() -> None:
            if self._parked is parked:
                actor.native.suspend()

        actor.host.native.add_actor("suspender", suspend).daemonize()
        parked.acquire()

    def end(self) -> None:
        """Let it go on."""
        actor = self._actor
        if not actor.ended:
            parked, self._parked = self._parked, None
            actor.world.call_even_dying(actor.native.resume)
            if parked is not None:
                actor.world.call_even_dying(parked.release)
