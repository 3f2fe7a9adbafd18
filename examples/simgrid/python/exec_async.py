"""Executions that are awaited, watched or cancelled: SimGrid's ``exec-async``."""

from pathlib import Path

from simplugin import Placement, simulate


async def waiter(me):
    me.log(f"Waiter executes {me.host.speed:.0f} flops, should take 1 second.")
    await me.exec_init(me.host.speed).start()
    me.log("Goodbye from waiter!")


async def monitor(me):
    flops = me.host.speed
    me.log(f"Monitor executes {flops:.0f} flops, should take 1 second.")
    execution = me.exec_init(flops).start()
    while not execution.test():
        left = execution.remaining
        me.log(f"Remaining amount of flops: {left:.0f} ({100 * left / flops:.0f}%)")
        await me.sleep_for(0.3)
    me.log("Goodbye from monitor!")


async def canceller(me):
    me.log(f"Canceller executes {me.host.speed:.0f} flops, should take 1 second.")
    execution = me.exec_async(me.host.speed)
    await me.sleep_for(0.5)
    me.log("I changed my mind, cancel!")
    execution.cancel()
    me.log("Goodbye from canceller!")


def main(examples: Path, platform: str):
    actors = [
        Placement("Fafard", waiter, name="wait"),
        Placement("Ginette", monitor, name="monitor"),
        Placement("Boivin", canceller, name="cancel"),
    ]
    simulate(platform, actors)
