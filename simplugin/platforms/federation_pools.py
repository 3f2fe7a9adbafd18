"""Clusters whose hosts hang from one switch with a bandwidth: a star of all their hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.platforms.hosts import Cabinet, Host, Router
from simplugin.platforms.links import SPLITDUPLEX, Backbone, HostLink, Link
from simplugin.platforms.platform import Zone

if TYPE_CHECKING:
    from simplugin.platforms.federation_draws import DrawnCluster, DrawnSwitch
    from simplugin.platforms.platform import ZoneElement


def pool(switch: DrawnSwitch, clusters: list[DrawnCluster]) -> tuple[Zone, str, str]:
    """Return a zone of hosts around a switch.

    Parameters
    ----------
    switch : DrawnSwitch
        With a bandwidth.
    clusters : list of DrawnCluster
        Whose hosts they are. Those of one core are a cabinet; SimGrid's cabinets know no other,
        so hosts of more are written one by one.

    Returns
    -------
    tuple of Zone, str and str
        The zone, the router at which it is left, and the link that is the switch.
    """
    assert switch.bandwidth is not None
    gateway = f"{switch.id}-router"
    elements: list[ZoneElement] = [Backbone(switch.id, switch.bandwidth, switch.latency)]
    for cluster in clusters:
        elements += [_cabinet(cluster)] if cluster.cores == 1 else _hosts(cluster)
    return Zone(switch.id, "Cluster", (Router(gateway), *elements)), gateway, switch.id


def _cabinet(cluster: DrawnCluster) -> Cabinet:
    """Return a cluster of hosts of one core."""
    return Cabinet(
        cluster.id,
        f"1-{cluster.hosts}",
        cluster.speed,
        cluster.bandwidth,
        cluster.latency,
        prefix=f"{cluster.name}-",
        suffix=f".{cluster.site}",
    )


def _hosts(cluster: DrawnCluster) -> list[ZoneElement]:
    """Return the hosts of a cluster with their links, named as those of a cabinet."""
    parts: list[ZoneElement] = []
    for number in range(1, cluster.hosts + 1):
        name = f"{cluster.name}-{number}.{cluster.site}"
        link = f"link_{name}"
        parts += [
            Host(name, cluster.speed, cluster.cores),
            Link(link, cluster.bandwidth, cluster.latency, SPLITDUPLEX),
            HostLink(name, f"{link}_UP", f"{link}_DOWN"),
        ]
    return parts
