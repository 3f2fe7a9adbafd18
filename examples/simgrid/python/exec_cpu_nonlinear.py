"""A host that has half its speed as soon as it is shared: SimGrid's ``exec-cpu-nonlinear``."""

from pathlib import Path

from simplugin import Host, Platform, Zone, simulate
from simplugin.simulation import Callbacks


async def runner(me, clock, tasks):
    clock.append(me)
    flops = me.host.speed
    me.log(
        f"Execute {tasks} tasks of {flops:g} flops, should take {tasks} second in a CPU without"
        " degradation. It will take the double here."
    )
    running = [me.exec_async(flops) for _ in range(tasks)]
    me.log("Waiting for all tasks to be done!")
    await me.wait_all(running)
    me.log("Finished executing. Goodbye now!")


def main(examples: Path):
    clock = []

    def degraded(capacity, count):
        new = capacity / 2 if count > 1 else capacity
        now = clock[0].now
        print(f"[{now:.6f}] Host runner, {count} concurrent tasks, new capacity {new:f}")
        return new

    platform = Platform(Zone("world", "Full", [Host("runner", 1e6)]))
    simulate(
        platform,
        [("runner", runner, clock, 10)],
        callbacks=Callbacks(host_sharing={"runner": degraded}),
    )
