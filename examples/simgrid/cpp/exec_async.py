"""Executions that are awaited, watched, cancelled or left alone: SimGrid's ``exec-async``."""

from pathlib import Path

from simplugin import Placement, simulate
from simplugin.simulation import Callbacks


def announce(me):
    me.log(f"Execute {me.host.speed:g} flops, should take 1 second.")


async def detached(me):
    announce(me)
    me.exec_init(me.host.speed, label="Detached activity").detach()
    me.log("Goodbye now!")


async def waiter(me):
    announce(me)
    await me.exec_init(me.host.speed).start()
    me.log("Goodbye now!")


async def monitor(me):
    announce(me)
    flops = me.host.speed
    execution = me.exec_init(flops).start()
    while not execution.test():
        left = execution.remaining
        me.log(f"Remaining amount of flops: {left:g} ({100 * left / flops:.0f}%)")
        await me.sleep_for(0.3)
    me.log("Goodbye now!")


async def canceller(me):
    announce(me)
    execution = me.exec_async(me.host.speed)
    await me.sleep_for(0.5)
    me.log("I changed my mind, cancel!")
    execution.cancel()
    me.log("Goodbye now!")


def tell(completion):
    if completion.label:
        print(f"[{completion.end:.6f}] {completion.label} is {completion.state}")


def main(examples: Path, platform: str):
    actors = [
        Placement("Fafard", waiter, name="wait"),
        Placement("Ginette", monitor, name="monitor"),
        Placement("Boivin", canceller, name="cancel"),
        Placement("Tremblay", detached, name="detach"),
    ]
    result = simulate(platform, actors, callbacks=Callbacks(on_activity_completion=tell))
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
