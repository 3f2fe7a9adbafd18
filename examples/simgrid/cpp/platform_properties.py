"""Properties of zones, hosts and actors: SimGrid's ``platform-properties``."""

from pathlib import Path

from simplugin import Cluster, Placement, Zone
from simplugin.formats import read_platform
from simplugin.simulation import simulation


async def look_at(me, name, zone, date):
    await me.sleep_until(date)
    host = me.host_by_name(name)
    me.log(f"== Print the properties of the host '{name}'")
    for key, value in sorted(host.properties.items()):
        me.log(f"  Host property: '{key}' -> '{value}'")

    me.log("== Try to get a host property that does not exist")
    assert host.properties.get("Unknown") is None
    me.log("== Try to get a host property that does exist")
    me.log(f"   Property: Hdd old value: {host.properties['Hdd']}")
    me.log("== Trying to modify a host property")
    host.properties["Hdd"] = "250"
    me.log(f"   Property: Hdd old value: {host.properties['Hdd']}")
    host.properties["Hdd"] = "180"

    me.log(f"== Print the properties of the zone '{zone.id}' that contains '{name}'")
    for key, value in sorted(zone.properties.items()):
        me.log(f"  Zone property: '{key}' -> '{value}'")


async def bob(me, root):
    me.log("== Print the properties of the root zone")
    for key in ("filename", "date", "author"):
        me.log(f"   Zone property: {key} -> {root.properties[key]}")
    me.log("== Print the properties of the actor")
    for key, value in me.properties.items():
        me.log(f"   Actor property: {key} -> {value}")
    me.log("== Try to get an actor property that does not exist")
    assert me.properties.get("UnknownProcessProp") is None


def main(examples: Path, file: str):
    platform = read_platform(file)
    zones = {part.id: part for part, _ in platform.walk() if isinstance(part, Zone | Cluster)}
    actors = [
        Placement("host1", look_at, ("host1", zones["AS4"], 0), name="alice"),
        Placement("host1", bob, (zones["AS0"],), properties={"SomeProp": "SomeValue"}),
        Placement("host2", look_at, ("host1", zones["AS4"], 1), name="carole"),
        Placement("host2", look_at, ("node-0.simgrid.org", zones["acme"], 2), name="david"),
    ]
    with simulation(file, actors) as sim:
        print(f"[{sim.clock:.6f}] There are {len(sim.hosts)} hosts in the environment")
        for host in sim.hosts:
            print(f"[{sim.clock:.6f}] Host '{host.name}' runs at {host.speed:.0f} flops/s")
        sim.run()
