"""Pairs of actors with a mutex each: SimGrid's ``synchro-mutex``."""

from pathlib import Path

from simplugin import Placement, simulate


async def scoped(me, pair, results):
    async with me.mutex(f"mutex {pair}"):
        me.log("Hello s4u, I'm ready to compute after a scoped_lock")
        results[pair] += 1
        me.log("I'm done, good bye")


async def regular(me, pair, results):
    mutex = me.mutex(f"mutex {pair}")
    await mutex.lock()
    me.log("Hello s4u, I'm ready to compute after a regular lock")
    results[pair] += 1
    me.log("I'm done, good bye")
    mutex.unlock()
    return results


def main(examples: Path):
    actors, results = [], [0] * 6
    for pair in range(len(results)):
        actors += [
            Placement("Jupiter", scoped, (pair, results), name="worker"),
            Placement("Tremblay", regular, (pair, results), name="worker"),
        ]
    result = simulate(examples / "platforms/two_hosts.xml", actors)
    for pair, value in enumerate(result.values("worker")[-1]):
        print(f"[{result.clock:.6f}] Result[{pair}] -> {value}")
