"""Waits for the end of other actors, with time limits: SimGrid's ``actor-join``."""

from contextlib import suppress
from pathlib import Path

from simplugin import simulate
from simplugin.errors import TimeoutException


async def sleeper(me):
    me.log("Sleeper started")
    await me.sleep_for(3)
    me.log("I'm done. See you!")


async def master(me):
    for number, limit in (("1st", 2), ("2nd", 4), ("3rd", 2)):
        me.log(f"Start {number} sleeper")
        actor = me.spawn(sleeper, name=f"{number} sleeper from master")
        me.log(f"Join the {number} sleeper (timeout {limit})")
        with suppress(TimeoutException):
            await actor.join(limit)

    me.log("Start 4th sleeper")
    actor = me.spawn(sleeper, name="4th sleeper from master")
    me.log("Waiting 4")
    await me.sleep_for(4)
    me.log("Join the 4th sleeper after its end (timeout 1)")
    await actor.join(1)

    me.log("Goodbye now!")
    await me.sleep_for(1)
    me.log("Goodbye now!")


def main(examples: Path, platform: str):
    result = simulate(platform, [("Tremblay", master)])
    print(f"[{result.clock:.6f}] Simulation time {result.clock}")
