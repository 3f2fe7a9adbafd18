"""The disks of a host, and reads and writes on them: SimGrid's ``io-disk-raw``."""

from dataclasses import replace
from pathlib import Path

from simplugin import simulate
from simplugin.formats import read_platform
from simplugin.platforms import Disk, Host


async def runner(me):
    data = {}
    me.log(f"*** Storage info on {me.host.name} ***")
    for disk in me.host.disks:
        me.log(
            f"Disk name: {disk.name} (read: {disk.read_bandwidth:.0f} B/s -- write:"
            f" {disk.write_bandwidth:.0f} B/s"
        )
    first, *_, last = me.host.disks
    await first.write(400000)
    me.log(f"Wrote 400000 bytes on '{first.name}'")
    await first.read(200000)
    me.log(f"Read 200000 bytes on '{first.name}'")
    await last.write(800000)
    me.log(f"Wrote 800000 bytes on '{last.name}'")

    me.log(f"*** Get/set data for storage element: {first.name} ***")
    me.log(f"Get storage data: '{data.get(first.name, 'No user data')}'")
    data[first.name] = "Some user data"
    me.log(f"Set and get data: '{data[first.name]}'")


def main(examples: Path, platform: str):
    found = read_platform(platform)
    [zone] = found.elements
    elements = []
    for each in zone.elements:
        if isinstance(each, Host) and each.id == "bob":
            each = replace(each, disks=(*each.disks, Disk("Disk3", 9.6e7, 6.4e7)))
        elements.append(each)
    hosts = [each for each in elements if isinstance(each, Host)]
    for host in sorted(hosts, key=lambda host: host.id):
        print(f"[0.000000] *** {host.id} properties ****")
        for key, value in host.properties.items():
            print(f"[0.000000]   {key} -> {value}")
    changed = replace(found, elements=(replace(zone, elements=tuple(elements)),))
    result = simulate(changed, [("bob", runner)])
    print(f"[{result.clock:.6f}] Simulated time: {result.clock:g}")
