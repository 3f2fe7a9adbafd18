"""The interface of actors: `me` and all that it gives, the same on both back ends.

These protocols are for annotations and for reading; actors need not inherit from them:

>>> from simplugin.simulation.api import Actor
>>> async def greet(me: Actor, name: str) -> float:
...     await me.execute(1e9)
...     await me.mailbox(name).put("hello", 1000)
...     return me.now

Dates and durations are in simulated seconds, work in flop, sizes in byte, energy in joule. None is
no time limit. ``docs/semantics.md`` describes what each operation does.

Operations that take time return an awaitable and start when awaited; those with a name that ends in
``_async`` start at once and return an `Activity`; those in ``_init`` return one that is to start
later. A failed await raises an exception of `simplugin.core.errors` with the failed `activity`, the
culprit.
"""

from __future__ import annotations

from simplugin.simulation.api.actor import Actor, Barrier, Condition, Mutex, Semaphore
from simplugin.simulation.api.resources import (
    Activity,
    Mailbox,
    MessageQueue,
    SimulatedDisk,
    SimulatedHost,
    SimulatedLink,
    SimulatedRoute,
)

__all__ = [
    "Activity",
    "Actor",
    "Barrier",
    "Condition",
    "Mailbox",
    "MessageQueue",
    "Mutex",
    "Semaphore",
    "SimulatedDisk",
    "SimulatedHost",
    "SimulatedLink",
    "SimulatedRoute",
]
