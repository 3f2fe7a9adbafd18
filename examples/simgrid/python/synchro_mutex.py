"""Pairs of actors with a mutex each: SimGrid's ``synchro-mutex``."""

from pathlib import Path

from simplugin import Placement, simulate


async def manager(me, pair, results):
    async with me.mutex(f"mutex {pair}"):
        me.log(
            "Hello simgrid, I'm ready to compute after acquiring the mutex from a context manager"
        )
        results[pair] += 1
    me.log("I'm done, good bye")
    return results


async def worker(me, pair, results):
    mutex = me.mutex(f"mutex {pair}")
    await mutex.lock()
    me.log("Hello simgrid, I'm ready to compute after a regular lock")
    results[pair] += 1
    mutex.unlock()
    me.log("I'm done, good bye")
    return results


def main(examples: Path, platform: str, pairs: str):
    actors, results = [], [0] * int(pairs)
    for pair in range(int(pairs)):
        actors += [
            Placement("Jupiter", manager, (pair, results), name=f"worker-{pair}(mgr)"),
            Placement("Tremblay", worker, (pair, results), name=f"worker-{pair}"),
        ]
    result = simulate(platform, actors)
    for pair, value in enumerate(result.value_of("worker-0")):
        print(f"[{result.clock:.6f}] Result[{pair}] -> {value}")
