"""Actors with start and kill times in a deployment file: SimGrid's ``actor-lifetime``."""

from functools import partial
from pathlib import Path

from simplugin import simulate

ENDS = {"python": ("finishing", "killed"), "cpp": ("done sleeping or got killed",) * 2}


async def sleeper(me, ends):
    me.on_exit(lambda killed: me.log(f"Exiting now ({ends[killed]})."))
    me.log("Hello! I go to sleep.")
    await me.sleep_for(10)
    me.log("Done sleeping.")


def main(examples: Path, platform: str, deployment: str, *, language: str):
    function = partial(sleeper, ends=ENDS[language])
    simulate(platform, deployment, functions={"sleeper": function})
