"""Executions that are slower if they are short: SimGrid's ``exec-cpu-factors``."""

from pathlib import Path

from simplugin import Host, Platform, Zone, simulate


async def execute(me, flops):
    """Compute, at half the speed what would take less than a hundredth of a second."""
    factor = 0.5 if flops < me.host.speed / 100 else 1.0
    print(f"[{me.now:.6f}] Host {me.host.name}, task with {flops:f} flops, new factor {factor:f}")
    await me.execute(flops / factor)


async def runner(me):
    flops = me.host.speed
    me.log(f"Executing 1 tasks of {flops:g} flops, should take 1 second.")
    await execute(me, flops)
    me.log(
        f"Executing 1 tasks of {flops / 10:g} flops, it would take .001s without factor. It'll"
        " take .002s"
    )
    await execute(me, flops / 1000)
    me.log("Finished executing. Goodbye now!")


def main(examples: Path):
    simulate(Platform(Zone("world", "Full", [Host("runner", 1e6)])), [("runner", runner)])
