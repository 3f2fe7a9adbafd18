"""Platforms of the example scenarios that no shipped generator makes."""

from __future__ import annotations

from itertools import combinations

from simplugin.platforms import Cluster, Link, LinkUse, Platform, Zone, ZoneRoute
from simplugin.platforms.links import FATPIPE, SPLITDUPLEX
from simplugin.platforms.sites import SUBSETS

GIGABIT = 125e6
US = 1e-6
# Cluster: hosts and flop/s of each, from Table 1 of N'takpé and Suter.
LILLE, NANCY = (
    {cluster: (hosts, speed) for cluster, hosts, speed in SUBSETS[site].clusters}
    for site in ("lille", "nancy")
)


def lille_nancy(backbone: float = 10 * GIGABIT, latency: float = 5e-3) -> Platform:
    """Return two sites of Grid'5000 as they were around 2008.

    Hosts have gigabit links. All clusters of Lille share one uplink, each of Nancy's has its own,
    as the paper has their switches; the rates beyond a host's link and all latencies are
    assumptions.

    Parameters
    ----------
    backbone : float
        Bandwidth between the sites [byte/s].
    latency : float
        Latency between the sites [s].
    """
    uplinks = {cluster: "lille-uplink" for cluster in LILLE}
    uplinks |= {cluster: f"{cluster}-uplink" for cluster in NANCY}
    clusters = [_cluster(name, *facts) for name, facts in (LILLE | NANCY).items()]
    links = [
        Link(name, 10 * GIGABIT, 20 * US, SPLITDUPLEX) for name in dict.fromkeys(uplinks.values())
    ]
    routes = []
    for source, destination in combinations(uplinks, 2):
        uses = [LinkUse(uplinks[source], "UP")]
        if (source in LILLE) != (destination in LILLE):
            uses.append(LinkUse("renater"))
        if uplinks[source] != uplinks[destination]:
            uses.append(LinkUse(uplinks[destination], "DOWN"))
        routes.append(ZoneRoute(source, destination, f"{source}-gw", f"{destination}-gw", uses))
    links.append(Link("renater", backbone, latency))
    # One level of zones: SimGrid 4.1 finds no way through the gateway of a zone of zones, but for
    # routes that bypass the routing.
    return Platform(Zone("grid5000", "Full", (*clusters, *links), tuple(routes)))


def _cluster(name: str, count: int, speed: float) -> Cluster:
    """Return a cluster of hosts ``<name>-1``, ``<name>-2``, ... around a switch."""
    return Cluster(
        name,
        f"1-{count}",
        speed,
        bandwidth=GIGABIT,
        latency=50 * US,
        backbone_bandwidth=10 * GIGABIT,
        backbone_latency=20 * US,
        # A switch passes transfers between different pairs of ports side by side.
        backbone_sharing_policy=FATPIPE,
        prefix=f"{name}-",
        router=f"{name}-gw",
    )
