"""Arrays of disks behind a controller, at several RAID levels: SimGrid's ``plugin-jbod``."""

from dataclasses import dataclass
from pathlib import Path

from simplugin import Host, Link, Platform, Route, SimGridOptions, Zone, simulate
from simplugin.platforms import Disk

SPARE_DISKS = {0: 0, 4: 1, 5: 1, 6: 2}  # as many as blocks of parity, by RAID level


@dataclass
class Array:
    """Disks that are read and written together."""

    controller: str
    level: int

    def write_init(self, me, size):
        """Plan to send data, compute the parity of 1 flop per byte, and write all disks."""
        controller = me.host_by_name(self.controller)
        disks = controller.disks
        spare = SPARE_DISKS.get(self.level, 0)
        part = size if self.level == 1 else size // (len(disks) - spare)
        last = first = me.sendto_init(me.host, controller, size)
        if spare:
            parity = me.exec_init(part * spare, host=controller)
            first.add_successor(parity)
            last = parity
        writes = [disk.write_init(part) for disk in disks]
        for write in writes:
            last.add_successor(write)
        return [first, *([last] if last is not first else []), *writes]

    def read_init(self, me, size):
        """Plan to read the disks without parity, or one of the mirrors, and to send the data."""
        controller = me.host_by_name(self.controller)
        disks = controller.disks
        used = 1 if self.level == 1 else len(disks) - SPARE_DISKS[self.level]
        reads = [disk.read_init(size // used) for disk in disks[:used]]
        transfer = me.sendto_init(controller, me.host, size)
        for read in reads:
            read.add_successor(transfer)
        return [*reads, transfer]


async def write_then_read(me, arrays):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    size = 10_000_000
    for array in arrays:
        tell(f"XXXXXXXXXXXXXXX RAID {array.level} XXXXXXXXXXXXXXXX")
        pending = [activity.start() for activity in array.write_init(me, size)]
        tell("asynchronous write posted, wait for it")
        await me.wait_all(pending)
        tell("asynchronous write done")
        await me.wait_all(array.read_init(me, size))
        tell("synchonous read done")
        await me.wait_all(array.write_init(me, size))
        tell("synchonous write done")
        pending = [activity.start() for activity in array.read_init(me, size)]
        tell("asynchronous read posted, wait for it")
        await me.wait_all(pending)
        tell("asynchonous read done")
        await me.wait_all(array.write_init(me, size))
        tell("synchonous write done")
        for _ in range(2):
            await me.wait_all(array.read_init(me, size))
            tell("synchonous read done")


def main(examples: Path, settings: dict[str, str]):
    arrays = {f"jbod_raid{level}": Array(f"jbod_raid{level}", level) for level in (0, 1, 4, 5, 6)}
    for name in ("jbod_raid1", "jbod_raid3"):
        print(f"[0.000000] '{name}' is {'a' if name in arrays else 'not a'} valid JBOD")
    link = Link("link", 1e7 / 0.97)
    controllers = [
        Host(name, 1e9, disks=tuple(Disk(f"{name}_disk_{i}", 1e7, 5e6) for i in range(4)))
        for name in arrays
    ]
    routes = [Route("host", name, [link.id]) for name in arrays]
    platform = Platform(Zone("world", "Full", [Host("host", "1Gf"), *controllers, link], routes))
    result = simulate(
        platform,
        [("host", write_then_read, list(arrays.values()))],
        options=SimGridOptions(crosstraffic="network/crosstraffic" not in settings),
    )
    print(f"[{result.clock:.6f}] Simulated time: {result.clock:g}")
