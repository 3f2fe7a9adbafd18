"""Platforms that show what the format can say, and multi-cluster sites of Grid'5000.

As a program, writes one to a file: ``python platforms_xml/make.py NAME FILE``.
"""

from __future__ import annotations

import sys

import numpy as np

from simplugin.formats.platform_xml import write_platform
from simplugin.platforms import Cluster, Host, HostLink, Link, LinkUse, Platform, Zone, ZoneRoute
from simplugin.platforms.grid5000_subsets import SUBSETS

US = 1e-6


def star(workers: int = 10, seed: int = 1) -> Platform:
    """Return a heterogeneous star: a master and workers, each behind a link of its own.

    Parameters
    ----------
    workers : int
        How many workers.
    seed : int
        Of their speeds, uniform from 1 to 10 Gflop/s, and bandwidths, 10 to 125 MB/s.
    """
    generator = np.random.default_rng(seed)
    names = ["master", *(f"worker-{number}" for number in range(1, workers + 1))]
    # Round figures, as one would write them by hand.
    speeds = generator.integers(10, 100, len(names)) * 1e8
    bandwidths = generator.integers(10, 126, len(names)) * 1e6
    hosts = [Host(name, float(speed)) for name, speed in zip(names, speeds, strict=True)]
    links = [
        Link(f"{name}-link", float(bandwidth), 50 * US, "SPLITDUPLEX")
        for name, bandwidth in zip(names, bandwidths, strict=True)
    ]
    ends = [HostLink(name, f"{name}-link_UP", f"{name}-link_DOWN") for name in names]
    return Platform(Zone("star", "Cluster", (*hosts, *links, *ends)))


def two_topologies() -> Platform:
    """Return a 64-host fat tree and a 64-host torus, joined by a 10 Gb/s link."""
    tree = Cluster(
        "tree",
        "0-63",
        4e9,
        bandwidth=1.25e9,
        latency=1 * US,
        prefix="tree-",
        cores=16,
        topology="FAT_TREE",
        topology_parameters="2;8,8;1,4;1,1",
    )
    torus = Cluster(
        "torus",
        "0-63",
        3e9,
        bandwidth=1.25e9,
        latency=1 * US,
        prefix="torus-",
        cores=32,
        topology="TORUS",
        topology_parameters="4,4,4",
    )
    # These topologies have no router: a host of each is the gateway.
    route = ZoneRoute("tree", "torus", "tree-0", "torus-0", [LinkUse("wan", "UP")])
    wan = Link("wan", 1.25e9, 5e-3, "SPLITDUPLEX")
    return Platform(Zone("centre", "Full", (tree, torus, wan), (route,)))


if __name__ == "__main__":
    _, name, file = sys.argv
    sites = {site.name: site.platform for site in SUBSETS.values()}
    made = ({"star": star, "two_topologies": two_topologies} | sites)[name]()
    write_platform(made, file, comment=f"python platforms_xml/make.py {name} {file}")
