"""Disks that degrade with the number of reads and writes: SimGrid's ``io-degradation``."""

from pathlib import Path

from simplugin import Host, Platform, Zone, simulate
from simplugin.platforms import Disk
from simplugin.simulation import Callbacks

SSD, SATA = Disk("Edel (SSD)", "240MBps", "170MBps"), Disk("Griffon (SATA II)", "68MBps", "50MBps")
# Measured, from one read on.
READS = (152, 161, 184, 197, 207, 215, 220, 224, 227, 231, 233, 235, 237, 238, 239)


def ssd_reads(capacity, count):
    return READS[count - 1] if 1 <= count <= len(READS) else capacity


def ssd_writes(capacity, count):
    return 131 if count == 1 else capacity


def sata_reads(capacity, count):
    return 68.3 - 1.7 * count


async def runner(me):
    size = 100000
    for count in range(1, 15, 2):
        for disk in me.host.disks:
            for kind, start_one in (("read", disk.read_async), ("write", disk.write_async)):
                start = me.now
                await me.wait_all([start_one(size) for _ in range(count)])
                bandwidth = size * count / (me.now - start)
                me.log(
                    f"Disk: {disk.name}, concurrent {kind}: {count}, estimated bandwidth:"
                    f" {bandwidth:f}"
                )


def main(examples: Path):
    bob = Host("bob", 1e6, disks=(SSD, SATA))
    result = simulate(
        Platform(Zone("bob_zone", "Full", [bob])),
        [("bob", runner)],
        callbacks=Callbacks(
            disk_read_sharing={f"bob:{SSD.id}": ssd_reads, f"bob:{SATA.id}": sata_reads},
            disk_write_sharing={f"bob:{SSD.id}": ssd_writes},
        ),
    )
    print(f"[{result.clock:.6f}] Simulated time: {result.clock:g}")
