"""A barrier: SimGrid's ``synchro-barrier``."""

from pathlib import Path

from simplugin import simulate


async def worker(me, barrier):
    me.log("Waiting on the barrier")
    await barrier.wait()
    me.log("Bye")


async def master(me, size):
    barrier = me.barrier(size)
    me.log(f"Spawning {size - 1} workers")
    for number in range(size - 1):
        me.spawn(worker, barrier, host="Jupiter", name=f"worker-{number}")
    me.log("Waiting on the barrier")
    await barrier.wait()
    me.log("Bye")


def main(examples: Path, platform: str, actors: str):
    simulate(platform, [("Tremblay", master, int(actors))])
