"""Two executions on one host, of which one has twice the share: SimGrid's ``exec-basic``."""

from pathlib import Path

from simplugin import simulate


async def executor(me):
    await me.execute(98095)
    me.log("Done.")


async def privileged(me):
    await me.execute(98095, priority=2)
    me.log("Done.")


def main(examples: Path, platform: str):
    simulate(platform, [("Tremblay", executor), ("Tremblay", privileged)])
