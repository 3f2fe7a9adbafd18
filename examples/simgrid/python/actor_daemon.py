"""A daemon that ends with the last other actor: SimGrid's ``actor-daemon``."""

from pathlib import Path

from simplugin import Placement, simulate


async def worker(me):
    me.log("Let's do some work (for 10 sec on Boivin).")
    await me.execute(980.95e6)
    me.log("I'm done now. I leave even if it makes the daemon die.")


async def daemon(me):
    me.daemonize()
    while True:
        me.log("Hello from the infinite loop")
        await me.sleep_for(3)


def main(examples: Path, platform: str):
    simulate(platform, [Placement("Boivin", worker), Placement("Tremblay", daemon)])
