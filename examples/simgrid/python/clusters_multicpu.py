"""A torus, a fat tree and a dragonfly of nodes with 8 hosts: SimGrid's ``clusters-multicpu``.

Platform files have clusters of hosts only: the links of one lead to zones of hosts here.
"""

from itertools import permutations, product
from pathlib import Path

from simplugin import Cluster, Host, Link, Placement, Platform, Route, Zone, simulate
from simplugin.platforms import LinkUse, ZoneRoute
from simplugin.simulation.resolve import resolve

CLUSTERS = {
    "torus": (8, "TORUS", "2,2,2"),
    "fatTree": (6, "FAT_TREE", "2;2,3;1,2;1,1"),
    "dragonfly": (16, "DRAGONFLY", "2,2;2,1;2,2;2"),
}
CPUS = range(8)


def node(number):
    """Return a zone of hosts, the first of which is the gateway, around a fast switch."""
    names = [f"host{number}-cpu{cpu}" for cpu in CPUS]
    links = [Link(f"link-{name}", "100GBps", "1ns", "SPLITDUPLEX") for name in names]
    routes = [
        Route(
            source,
            destination,
            [LinkUse(f"link-{source}", "UP"), LinkUse(f"link-{destination}", "DOWN")],
            symmetrical=False,
        )
        for source, destination in product(names, names)
    ]
    return Zone(f"host{number}", "Full", [*[Host(name, "1Gf") for name in names], *links], routes)


def cluster_of_nodes(kind, bandwidth):
    count, topology, parameters = CLUSTERS[kind]
    cluster = Cluster(
        "cluster",
        f"0-{count - 1}",
        "1Gf",
        bandwidth=bandwidth,
        latency=10e-6,
        topology=topology,
        topology_parameters=parameters,
        limiter_bandwidth=1e9,
    )
    pairs = list(permutations(map(str, range(count)), 2))
    found = resolve(Platform(Zone("alone", "Full", [cluster])), pairs)
    links = [Link(each.name, each.bandwidth, each.latency) for each in found.links]
    routes = [
        ZoneRoute(
            f"host{each.source}",
            f"host{each.destination}",
            f"host{each.source}-cpu0",
            f"host{each.destination}-cpu0",
            each.links,
            symmetrical=False,
        )
        for each in found.routes
    ]
    return Platform(Zone("world", "Full", [*map(node, range(count)), *links], routes))


async def sender(me, hosts):
    text = f"Hello, I'm alive and running on {me.host.name}"
    comms = [me.mailbox(name).put_async(text, 1e6) for name in hosts]
    me.log("Done dispatching all messages")
    await me.wait_all(comms)
    me.log("Goodbye now!")


async def receiver(me):
    me.log(f"I got a '{await me.mailbox(me.host.name).get()}'.")


def main(examples: Path, kind: str, *, language: str):
    # A byte is a bit in the Python example.
    platform = cluster_of_nodes(kind, {"python": "10GBps", "cpp": "10Gbps"}[language])
    hosts = sorted(platform.host_names())
    receivers = [Placement(name, receiver, name=f"receiver-{name}") for name in hosts]
    simulate(platform, [(hosts[0], sender, hosts), *receivers])
