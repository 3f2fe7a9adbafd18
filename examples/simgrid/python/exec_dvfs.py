"""Hosts that change their performance state: SimGrid's ``exec-dvfs``."""

from pathlib import Path

from simplugin import simulate


async def dvfs_test(me, pstate):
    host = me.host
    me.log(f"Count of Processor states={host.pstate_count}")
    me.log(f"Current power peak={host.speed:f}")
    await me.execute(100e6)
    duration = me.now
    me.log(f"Task1 duration: {duration:.2f}")

    speed = host.pstate_speed(pstate)
    me.log(f"Changing power peak value to {speed:f} (at index {pstate})")
    host.pstate = pstate
    me.log(f"Changed power peak={host.speed:f}")
    await me.execute(100e6)
    me.log(f"Task2 duration: {me.now - duration:.2f}")

    other = me.host_by_name("MyHost2")
    me.log(f"Count of Processor states={other.pstate_count}")
    me.log(f"Final power peak={other.speed:f}")


def main(examples: Path, platform: str):
    simulate(platform, [("MyHost1", dvfs_test, 2), ("MyHost2", dvfs_test, 2)])
