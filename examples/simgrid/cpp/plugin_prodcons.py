"""Producers and consumers of a queue that holds two messages: SimGrid's ``plugin-prodcons``."""

from itertools import permutations
from pathlib import Path

import numpy as np

from simplugin import Host, Link, Placement, Platform, Route, Zone, simulate
from simplugin.platforms import LinkUse

MOST = 2  # messages that wait
SIZE = 1.2125e6  # of a message, which takes 0.01 s [byte]


class Shared:
    """Number of waiting messages, and SimGrid's random numbers, shared by the actors."""

    def __init__(self):
        self.waiting = 0
        self._bits = np.random.RandomState(5489)

    def uniform(self):
        """Return a number from 0 to 1, without 1."""
        most = 2**32 - 1
        while (number := int(self._bits.randint(0, most + 1, dtype=np.uint32))) == most:
            pass
        return number / most


async def put_async(me, shared, value):
    mutex = me.mutex("queue")
    async with mutex:
        while shared.waiting >= MOST:
            await me.condition(mutex, "can put").wait()
        shared.waiting += 1
        comm = me.mailbox("queue").put_async(value, SIZE)
        me.condition(mutex, "can get").notify_all()
    return comm


async def get_async(me, shared):
    mutex = me.mutex("queue")
    async with mutex:
        while not shared.waiting:
            await me.condition(mutex, "can get").wait()
        shared.waiting -= 1
        comm = me.mailbox("queue").get_async()
        me.condition(mutex, "can put").notify_all()
    return comm


async def ingester(me, number, shared):
    await me.sleep_for(shared.uniform())
    for i in range(3):
        await (await put_async(me, shared, 10 * number + i))
        me.log(f"data sucessfully put: {10 * number + i}")
        await me.sleep_for((3 - i) * shared.uniform())
    pending = []
    for i in range(3):
        pending.append(await put_async(me, shared, 10 * number + i))
        me.log(f"data sucessfully put: {10 * number + i}")
        await me.sleep_for((i + 3) * shared.uniform())
    await me.wait_all(pending)


async def retriever(me, shared):
    await me.sleep_for(shared.uniform())
    for factor in (3, 4, 5, 3, 2, 1):
        value = await (await get_async(me, shared))
        me.log(f"data sucessfully get: {value}")
        await me.sleep_for(factor * shared.uniform())


def main(examples: Path):
    names = [f"node-{number}.simgrid.org" for number in range(8)]
    links = [Link(f"link-{name}", "1Gbps", 0, "SPLITDUPLEX") for name in names]
    routes = [
        Route(
            source,
            destination,
            [LinkUse(f"link-{source}", "UP"), LinkUse(f"link-{destination}", "DOWN")],
            symmetrical=False,
        )
        for source, destination in permutations(names, 2)
    ]
    elements = [*(Host(name, "1Gf") for name in names), *links]
    platform = Platform(Zone("cluster", "Full", elements, routes))

    print(f"[0.000] [maestro] Maximum number of queued data is {MOST}")
    print("[0.000] [maestro] Transfers are done in mailbox mode")
    shared = Shared()
    actors = []
    for i in range(3):
        actors += [
            Placement(names[i], ingester, (i, shared), name=f"ingester-{i}"),
            Placement(names[i + 3], retriever, (shared,), name=f"retriever-{i}"),
        ]
    simulate(platform, actors)
