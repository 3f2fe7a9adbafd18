"""Actors that let the others go first: SimGrid's ``actor-yield``."""

from pathlib import Path

from simplugin import simulate


async def yielder(me, count):
    for _ in range(count):
        await me.yield_()
    me.log(f"I yielded {count} times. Goodbye now!")


def main(examples: Path, platform: str):
    simulate(platform, [("Tremblay", yielder, 10), ("Ruby", yielder, 15)])
