"""Functions that are called when actors end, and a deadlock: SimGrid's ``actor-exiting``."""

from contextlib import suppress
from pathlib import Path

from simplugin import Placement, simulate
from simplugin.core.errors import DeadlockError


async def actor_a(me):
    me.on_exit(lambda killed: me.log("I stop now"))
    await me.sleep_for(1)


async def actor_b(me):
    await me.sleep_for(2)


async def actor_c(me):
    me.on_exit(lambda killed: me.log("I was killed!" if killed else "Exiting gracefully."))
    await me.sleep_for(3)
    me.log("And now, induce a deadlock by waiting for a message that will never come")
    await me.mailbox("nobody").get()


def main(examples: Path, platform: str):
    actors = [
        Placement("Tremblay", actor_a, name="A"),
        Placement("Fafard", actor_b, name="B"),
        Placement("Ginette", actor_c, name="C"),
    ]
    with suppress(DeadlockError):
        simulate(platform, actors)
