"""Hosts that change their performance state: SimGrid's ``exec-dvfs``."""

from pathlib import Path

from simplugin import simulate


def tell_speed(me, host):
    me.log(f"Current power peak={host.speed:f}")


async def dvfs_test(me, pstate):
    host = me.host
    me.log(f"Count of Processor states={host.pstate_count}")
    tell_speed(me, host)
    await me.execute(100e6)
    duration = me.now
    me.log(f"Computation1 duration: {duration:.2f}")

    speed = host.pstate_speed(pstate)
    me.log(f"Changing power peak value to {speed:f} (at index {pstate})")
    host.pstate = pstate
    tell_speed(me, host)
    await me.execute(100e6)
    me.log(f"Computation2 duration: {me.now - duration:.2f}")

    other = me.host_by_name("MyHost2")
    me.log(f"Count of Processor states={other.pstate_count}")
    tell_speed(me, other)


def main(examples: Path, platform: str):
    actors = [("MyHost1", dvfs_test, 2), ("MyHost2", dvfs_test, 2)]
    result = simulate(platform, actors)
    print(f"[{result.clock:.6f}] Total simulation time: {result.clock:e}")
