"""An actor that moves to other hosts, also while it computes: SimGrid's ``actor-migrate``."""

from pathlib import Path

from simplugin import simulate


async def worker(me, first, second):
    flops = 5 * (first.speed + second.speed)
    me.log(
        f"Let's move to {first.name} to execute {flops / 1e6:.2f} Mflops"
        f" (5sec on {first.name} and 5sec on {second.name})"
    )
    me.set_host(first)
    await me.execute(flops)

    me.log(f"I wake up on {me.host.name}. Let's suspend a bit")
    await me.suspend()

    me.log(f"I wake up on {me.host.name}")
    me.log("Done")


async def monitor(me):
    boivin, jacquelin, fafard = map(me.host_by_name, ("Boivin", "Jacquelin", "Fafard"))
    actor = me.spawn(worker, boivin, jacquelin, host=fafard)

    await me.sleep_for(5)
    me.log(f"After 5 seconds, move the actor to {jacquelin.name}")
    actor.set_host(jacquelin)

    await me.sleep_until(15)
    me.log(f"At t=15, move the actor to {fafard.name} and resume it.")
    actor.set_host(fafard)
    actor.resume()


def main(examples: Path, platform: str):
    simulate(platform, [("Boivin", monitor)])
