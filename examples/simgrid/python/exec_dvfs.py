"""Hosts that change their performance state: SimGrid's ``exec-dvfs``."""

from pathlib import Path

from simplugin import simulate

WORDS = {"python": ("Task", "Changed", "Final"), "cpp": ("Computation", "Current", "Current")}


async def dvfs_test(me, pstate, task, changed, final):
    host = me.host
    me.log(f"Count of Processor states={host.pstate_count}")
    me.log(f"Current power peak={host.speed:f}")
    await me.execute(100e6)
    duration = me.now
    me.log(f"{task}1 duration: {duration:.2f}")

    speed = host.pstate_speed(pstate)
    me.log(f"Changing power peak value to {speed:f} (at index {pstate})")
    host.pstate = pstate
    me.log(f"{changed} power peak={host.speed:f}")
    await me.execute(100e6)
    me.log(f"{task}2 duration: {me.now - duration:.2f}")

    other = me.host_by_name("MyHost2")
    me.log(f"Count of Processor states={other.pstate_count}")
    me.log(f"{final} power peak={other.speed:f}")


def main(examples: Path, platform: str, *, language: str):
    words = WORDS[language]
    clock = simulate(platform, [(f"MyHost{each}", dvfs_test, 2, *words) for each in (1, 2)]).clock
    if language == "cpp":
        print(f"[{clock:.6f}] Total simulation time: {clock:e}")
