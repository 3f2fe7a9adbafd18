"""A message that follows an execution, and one that it precedes: SimGrid's ``comm-dependent``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, box):
    await me.execute(2 * me.host.speed)
    await me.mailbox(box).put(me.host.speed, 7e6)


async def receiver(me, box):
    received = await me.mailbox(box).get()
    await me.execute(2 * me.host.speed)
    me.log(f"Received: {received:.0f} flops were computed on sender")


def main(examples: Path, platform: str):
    result = simulate(platform, [("Tremblay", sender, "Mailbox"), ("Jupiter", receiver, "Mailbox")])
    print(f"[{result.clock:.6f}] Simulation time: {result.clock:.3f}")
