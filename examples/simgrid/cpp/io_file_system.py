"""Files on the disks of a host, by a few lines of Python: SimGrid's ``io-file-system``."""

from pathlib import Path

from simplugin import simulate


class FileSystem:
    """Files on a disk, by their names; one is written at its end and read as a whole."""

    def __init__(self, disk, contents):
        self.disk = disk
        self.mount = disk.properties.get("mount", "/")
        self.size = 500 * 2**30
        self.files = {}
        if content := disk.properties.get("content"):
            for line in (contents / content).read_text(encoding="utf-8").splitlines():
                name, size = line.split()
                self.files[name] = int(size)

    @property
    def used(self):
        return sum(self.files.values())

    async def write(self, name, size):
        await self.disk.write(size)
        self.files[name] = self.files.get(name, 0) + size

    async def read(self, name):
        await self.disk.read(self.files[name])
        return self.files[name]


async def host(me, contents):
    def show():
        me.log(f"Storage info on {me.host.name}:")
        for each in systems:
            me.log(
                f"    {each.disk.name} ({each.mount}) Used: {each.used};"
                f" Free: {each.size - each.used}; Total: {each.size}."
            )

    systems = [FileSystem(disk, contents) for disk in me.host.disks]
    scratch, root = systems
    show()
    name = "/scratch/tmp/data.txt"
    await scratch.write(name, 200000)
    me.log(f"Create a 200000 bytes file named '{name}' on {scratch.mount}")
    show()
    me.log(f"Read {await scratch.read(name)} bytes on {name}")
    await scratch.write(name, 100000)
    me.log(f"Write 100000 bytes on {name}")

    new_name = "/scratch/tmp/simgrid.readme"
    me.log(f"Move '{name}' to '{new_name}'")
    scratch.files[new_name] = scratch.files.pop(name)
    data = {new_name: "777"}
    me.log(f"User data attached to the file: {data[new_name]}")
    show()
    me.log(f"Unlink file: '{new_name}'")
    del scratch.files[new_name]
    show()

    name = "/lib/libc.so"
    await root.write(name, 4096)
    me.log(f"Create a 4096 bytes file named '{name}' on {root.mount}")
    show()


def main(examples: Path, platform: str):
    simulate(platform, [("bob", host, examples / "platforms")])
