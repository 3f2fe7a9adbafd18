"""Actors, whose stacks need no size here: SimGrid's ``actor-stacksize``."""

from pathlib import Path

from simplugin import simulate


async def actor(me):
    me.log("Hello")


def main(examples: Path, platform: str):
    result = simulate(platform, [("Tremblay", actor)] * 7)
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
