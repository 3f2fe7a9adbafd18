"""A token that goes round all hosts, on several platforms: SimGrid's ``app-token-ring``."""

from pathlib import Path

from simplugin import Host, Link, Placement, Platform, Zone, simulate
from simplugin.formats import read_platform
from simplugin.platforms import Backbone, HostLink, Router, ZoneRoute


async def relay(me, count):
    rank = int(me.name)
    neighbour = (rank + 1) % count
    if rank > 0:
        token = await me.mailbox(str(rank)).get()
        me.log(f'Host "{rank}" received "{token}"')
    me.log(f'Host "{rank}" send \'Token\' to Host "{neighbour}"')
    await me.mailbox(str(neighbour)).put("Token", 1e6)
    if rank == 0:
        token = await me.mailbox(str(rank)).get()
        me.log(f'Host "{rank}" received "{token}"')


def cluster(number, hosts):
    """Return a cluster whose last host has one link for both ways."""
    elements = [Router(f"router{number}"), *[Host(host, "1Gf") for host in hosts]]
    for host in hosts:
        up, down = f"{host}_up", f"{host}_up" if host == hosts[-1] else f"{host}_down"
        elements += [Link(name, "1Gbps", "100us") for name in dict.fromkeys((up, down))]
        elements.append(HostLink(host, up, down))
    backbone = Backbone(f"backbone{number}", "20Gbps", "500us")
    return Zone(f"cluster{number}", "Cluster", [*elements, backbone])


def two_clusters():
    clusters = [cluster(1, ["host1", "host2", "host3"]), cluster(2, ["host4", "host5", "host6"])]
    route = ZoneRoute("cluster1", "cluster2", "router1", "router2", ["link1-2"])
    return Platform(Zone("world", "Full", [*clusters, Link("link1-2", "20Gbps", "500us")], [route]))


def main(examples: Path, file: str):
    platform = two_clusters() if file.endswith(".so") else read_platform(file)
    hosts = sorted(platform.host_names())
    print(f"[0.000000] Number of hosts '{len(hosts)}'")
    actors = [
        Placement(host, relay, (len(hosts),), name=str(rank)) for rank, host in enumerate(hosts)
    ]
    result = simulate(platform, actors)
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
