"""Actors with start and kill times in a deployment file: SimGrid's ``actor-lifetime``."""

from pathlib import Path

from simplugin import simulate


async def sleeper(me):
    me.on_exit(lambda killed: me.log("Exiting now (done sleeping or got killed)."))
    me.log("Hello! I go to sleep.")
    await me.sleep_for(10)
    me.log("Done sleeping.")


def main(examples: Path, platform: str, deployment: str):
    simulate(platform, deployment, functions={"sleeper": sleeper})
