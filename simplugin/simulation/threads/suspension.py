"""An actor that is stopped until it is resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import simgrid
from simplugin.simulation.threads.blocking import Blocking
from simplugin.simulation.threads.work import DirectTransfer

if TYPE_CHECKING:
    from simplugin.simulation.threads.activity import Activity
    from simplugin.simulation.threads.actor import Actor


class Suspension:
    """Stops an actor with its activities, and lets it go on.

    Not by SimGrid's own suspension, which crashes where an activity of the actor is over, and
    aborts where one fails: what the actor does is suspended, and the actor itself waits at a
    semaphore before it goes on.

    Parameters
    ----------
    actor : Actor
        Who.
    """

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._gate: Any = None

    @property
    def is_on(self) -> bool:
        """True if the actor is suspended."""
        return self._gate is not None and not (self._actor.dying or self._actor.ended)

    def blocking(self) -> Blocking[None]:
        """Return an operation that stops it."""
        return Blocking(self._actor.world, lambda: f"suspend {self._actor.name!r}", self._begin)

    def _begin(self) -> None:
        """Stop it."""
        actor = self._actor
        if self._gate is None and not (actor.dying or actor.ended):
            self._gate = actor.world.call(simgrid.Semaphore, 0)
            for activity in self._activities():
                activity.suspend()

    def end(self) -> None:
        """Let it go on."""
        if not self.is_on:
            return
        gate, self._gate = self._gate, None
        for activity in self._activities():
            # Started meanwhile, it is suspended too, but does not know it.
            activity.suspend()
            activity.resume()
        self._actor.world.call_even_dying(gate.release)

    def _activities(self) -> list[Activity]:
        """Return what SimGrid suspends with the actor: all but direct transfers."""
        return [each for each in self._actor.activities if not isinstance(each, DirectTransfer)]

    def wait(self) -> None:
        """Block the actor, which calls this, until it is resumed."""
        while self.is_on:
            self._gate.acquire()
