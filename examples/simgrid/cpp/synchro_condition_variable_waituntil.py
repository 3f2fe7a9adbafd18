"""Competitors that wait for the start, with limits: SimGrid's ``...-waituntil``."""

from pathlib import Path

from simplugin import Placement, simulate

is_ready = []


async def competitor(me, number, condition, mutex):
    me.log("Entering the race...")
    async with mutex:
        while not is_ready:
            is_notified = await condition.wait(timeout=(number + 1) * 0.25)
            me.log(f"Out of wait_until ({'YAY!' if is_notified else 'timeout'})")
    me.log("Running!")


async def go(me, condition, mutex):
    me.log("Are you ready? ...")
    await me.sleep_for(3)
    async with mutex:
        me.log("Go go go!")
        is_ready.append(True)
        condition.notify_all()


async def start(me):
    mutex = me.mutex()
    condition = me.condition(mutex)
    for number in range(10):
        me.spawn(competitor, number, condition, mutex)
    me.spawn(go, condition, mutex)


def main(examples: Path):
    platform = examples / "platforms/small_platform.xml"
    simulate(platform, [Placement("Tremblay", start, name="main")])
