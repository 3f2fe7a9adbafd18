"""Waits for the end of other actors, with time limits: SimGrid's ``actor-join``."""

from contextlib import suppress
from pathlib import Path

from simplugin import simulate
from simplugin.core.errors import TimeoutException


async def sleeper(me):
    me.log("Sleeper started")
    await me.sleep_for(3)
    me.log("I'm done. See you!")


async def master(me, numbers):
    *others, last = (f"{number} sleeper".lstrip() for number in numbers)
    for each, limit in zip(others, (2, 4, 2), strict=True):
        me.log(f"Start {each}")
        actor = me.spawn(sleeper, name=f"{each} from master")
        me.log(f"Join the {each} (timeout {limit})")
        with suppress(TimeoutException):
            await actor.join(limit)

    me.log(f"Start {last}")
    actor = me.spawn(sleeper, name=f"{last} from master")
    me.log("Waiting 4")
    await me.sleep_for(4)
    me.log(f"Join the {last} after its end (timeout 1)")
    await actor.join(1)

    me.log("Goodbye now!")
    await me.sleep_for(1)
    me.log("Goodbye now!")


def main(examples: Path, platform: str, *, language: str):
    numbers = ("1st", "2nd", "3rd", "4th") if language == "python" else ("",) * 4
    clock = simulate(platform, [("Tremblay", master, numbers)]).clock
    print(f"[{clock:.6f}] Simulation time {clock if language == 'python' else f'{clock:g}'}")
