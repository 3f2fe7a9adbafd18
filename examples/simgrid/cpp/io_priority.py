"""Writes of which one gets a larger share of the disk: SimGrid's ``io-priority``."""

from pathlib import Path

from simplugin import simulate


async def writer(me):
    disk = me.host.disks[0]
    await disk.write(4e6)
    me.log("First write done.")
    await disk.write(4e6)
    me.log("Second write done.")


async def privileged_writer(me):
    disk = me.host.disks[0]
    await disk.write(4e6, priority=2)
    me.log("First write done.")
    await me.sleep_for(0.05)  # until both are ready for the second write
    write = disk.write_async(4e6)
    await me.sleep_for(0.1)
    me.log(
        "Increase priority for the priviledged writer"
        f" ({write.remaining:.0f} bytes remaining to write)"
    )
    write.priority = 2
    await write
    me.log("Second write done.")


def main(examples: Path, platform: str):
    simulate(platform, [("bob", writer), ("bob", privileged_writer)])
