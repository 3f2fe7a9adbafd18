"""Platforms of the example scenarios.

As a program, writes one to a file: ``python scenarios/platforms.py lille_nancy FILE``.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np

from simplugin.formats.platform_xml import write_platform
from simplugin.platforms import Cluster, Link, LinkUse, Platform, Zone, ZoneRoute
from simplugin.platforms.graphs import Graph
from simplugin.platforms.links import FATPIPE, SPLITDUPLEX
from simplugin.platforms.random_trees import random_tree
from simplugin.pricing.five_hosts import BANDWIDTH, HOSTS, SPEED, TREE

GIGABIT = 125e6
US = 1e-6
# Cluster: hosts and flop/s of each, from Table 1 of T. N'takpé and F. Suter, "Concurrent
# scheduling of parallel task graphs on multi-clusters using constrained resource allocations".
LILLE = {"chuque": (53, 3.647e9), "chti": (20, 4.311e9), "chicon": (26, 4.384e9)}
NANCY = {"grillon": (47, 3.379e9), "grelon": (120, 3.185e9)}


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
    # One level of zones: SimGrid 4.1 finds no way through the gateway of a zone of zones.
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


def five_hosts(latency: float = 1e-3) -> Platform:
    """Return five equal hosts in a tree.

    From section 5.1 of R. Bertin, A. Legrand and C. Touati, "Toward a fully decentralized
    algorithm for multiple bag-of-tasks application scheduling on grids". Its Figure 2 is a
    drawing; the edges are an assumption, and so is the latency.

    Parameters
    ----------
    latency : float
        Of each link [s].
    """
    edges = np.array([[HOSTS.index(end) for end in edge] for edge in TREE])
    speed, bandwidth = np.full(len(HOSTS), SPEED), np.full(len(TREE), BANDWIDTH)
    return Graph.duplex(HOSTS, speed, edges, bandwidth, latency).platform()


def tree(n_hosts: int = 12, max_degree: int = 3, seed: int = 11) -> Platform:
    """Return a random tree of slow hosts and links.

    As in section 6.1.2 of O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and
    Y. Robert, "Centralized versus distributed schedulers for bag-of-tasks applications".

    Parameters
    ----------
    n_hosts : int
        How many hosts, the root included.
    max_degree : int
        The most children that a host may have.
    seed : int
        Of the draws.
    """
    return random_tree(n_hosts, max_degree, np.random.default_rng(seed)).platform()


if __name__ == "__main__":
    _, generator, file = sys.argv
    command = f"python scenarios/platforms.py {generator} {file}"
    write_platform(globals()[generator](), file, comment=command)
