"""Files that are written, moved and copied from host to host: SimGrid's ``io-file-remote``."""

from functools import partial
from pathlib import Path

from simplugin import simulate
from simplugin.formats import read_platform

MEBI = 2**20


class FileSystem:
    """Files on a disk of a host, by their paths."""

    def __init__(self, host, disk, contents):
        self.host, self.disk = host, disk.id
        self.mount = disk.properties.get("mount", "/")
        self.files = {}
        if content := disk.properties.get("content"):
            for line in (contents / content).read_text(encoding="utf-8").splitlines():
                path, size = line.split()
                self.files[self.mount.rstrip("/") + path] = int(size)
        self.used = sum(self.files.values())

    def tell(self, date, what):
        sizes = f"{self.used // MEBI}/{(500 * 2**30 - self.used) // MEBI} MiB used/free"
        print(f"[{date:10.6f}] (0@     ) {what}{sizes} on '{self.disk}@{self.host}'")

    def on(self, me):
        host = me.host_by_name(self.host)
        return next(disk for disk in host.disks if disk.name == self.disk)

    async def write(self, me, path, size):
        """Write a file from the actor's host over what it is now.

        As in SimGrid, what two actors write into a file at a time counts twice.
        """
        old = self.files.setdefault(path, 0)
        if self.host != me.host.name:
            await me.sendto(me.host, self.host, size)
        self.used -= old
        await self.on(me).write(size)
        self.used += max(0, size - old)
        self.files[path] = max(size, old)

    async def copy(self, me, path, other, new_path):
        """Copy a file to another disk."""
        size = self.files[path]
        await self.on(me).read(size)
        await me.sendto(self.host, other.host, size)
        await other.write(me, new_path, size)


def mounted(systems, path):
    found = (each for each in systems if path.startswith(each.mount))
    return max(found, key=lambda each: len(each.mount))


async def host(me, path, target=None, new_path=None, moves="0", *, systems):
    def tell(text):
        print(f"[{me.now:10.6f}] ({me.pid}@{me.host.name:>5}) {text}")

    system = mounted(systems[me.host.name], path)
    size = system.files[path]
    tell(f"Opened file '{path}'")
    tell("File Descriptor information:")
    for what, value in (
        ("Full path", f"'{path}'"),
        ("Size", size),
        ("Mount point", f"'{system.mount}'"),
        ("Disk Id", f"'{system.disk}'"),
        ("Host Id", f"'{system.host}'"),
        ("File Descriptor Id", 0),
    ):
        print(f"\t\t{what}: {value}")
    tell(f"Try to write {size // 1024} MiB to '{path}'")
    size *= 1024
    await system.write(me, path, size)
    tell(f"Have written {size // MEBI} MiB to '{path}'.")
    if target:
        what = "Move" if moves == "1" else "Copy"
        tell(f"{what} '{path}' (of size {size}) from '{me.host.name}' to '{target}'")
        await system.copy(me, path, mounted(systems[target], new_path), new_path)
        if moves == "1":
            system.used -= system.files.pop(path)
    return systems


def main(examples: Path, platform: str, deployment: str):
    systems, remote = {}, []
    (zone,) = read_platform(platform).elements
    for each in sorted(zone.hosts, key=lambda host: host.id):
        contents = examples / "platforms"
        systems[each.id] = [FileSystem(each.id, disk, contents) for disk in each.disks]
        if "remote_disk" in each.properties:
            remote.append((each.id, *each.properties["remote_disk"].split(":")))
    local = [(name, system) for name, found in systems.items() for system in found]
    for name, _, disk, owner in remote:
        systems[name] += [each for each in systems[owner] if each.disk == disk]
    for name, found in systems.items():
        for each in found:
            each.tell(0.0, f"Init: {name}: ")
    functions = {"host": partial(host, systems=systems)}
    result = simulate(platform, deployment, functions=functions)
    systems = result.values("host")[-1]
    for name, each in local:
        next(s for s in systems[name] if s.disk == each.disk).tell(result.clock, "End: ")
    print(f"[{result.clock:10.6f}] (0@     ) Simulation time {result.clock:g}")
