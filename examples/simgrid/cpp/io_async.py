"""Reads and writes that are awaited, watched, cancelled or left alone: SimGrid's ``io-async``."""

from pathlib import Path

from simplugin import simulate
from simplugin.core.errors import TimeoutException
from simplugin.simulation import Callbacks


def announce(me, verb, size):
    disk = me.host.disks[0]
    me.log(f"Hello! {verb} {size:.0f} bytes from {disk.name}")
    return disk


async def test(me, size):
    disk = announce(me, "read", size)
    await disk.read_init(size).start()
    me.log("Goodbye now!")


async def test_detach(me, size):
    await me.sleep_for(0.2)
    disk = announce(me, "read", size)
    disk.read_init(size, label="Detached activity").detach()
    me.log("Goodbye now!")


async def test_waitfor(me, size):
    disk = announce(me, "write", size)
    try:
        await disk.write_async(size).wait(timeout=0.5)
    except TimeoutException:
        me.log("Asynchronous write: Timeout!")
    me.log("Goodbye now!")


async def test_cancel(me, size):
    await me.sleep_for(0.5)
    disk = announce(me, "write", size)
    write = disk.write_async(size)
    await me.sleep_for(0.5)
    me.log("I changed my mind, cancel!")
    write.cancel()
    me.log("Goodbye now!")


async def test_monitor(me, size):
    await me.sleep_for(1)
    write = me.host.disks[0].write_async(size)
    while not write.test():
        me.log(f"Remaining amount of bytes to write: {write.remaining:g}")
        await me.sleep_for(0.2)
    me.log("Goodbye now!")


def tell(completion):
    if completion.label:
        print(f"[{completion.end:.6f}] {completion.label} is {completion.state}")


def main(examples: Path, platform: str):
    actors = [("bob", each, 2e7) for each in (test, test_detach)]
    actors += [("alice", each, 5e7) for each in (test_waitfor, test_cancel, test_monitor)]
    result = simulate(platform, actors, callbacks=Callbacks(on_activity_completion=tell))
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
