"""A barrier that tells who came last: SimGrid's ``synchro-barrier``."""

from pathlib import Path

from simplugin import simulate


async def worker(me, barrier):
    me.log("Waiting on the barrier")
    await barrier.wait()
    me.log("Bye")


async def master(me, size):
    barrier = me.barrier(size)
    me.log(f"Spawning {size - 1} workers")
    for _ in range(size - 1):
        me.spawn(worker, barrier, host="Jupiter")
    await me.yield_()
    me.log("Waiting on the barrier")
    is_last = await barrier.wait()
    me.log("Bye from the last to enter" if is_last else "Bye")


def main(examples: Path, actors: str):
    simulate(examples / "platforms/two_hosts.xml", [("Tremblay", master, int(actors))])
