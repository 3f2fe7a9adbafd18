"""Platforms with their clusters written out host by host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simplugin.errors import PlatformError
from simplugin.platforms.hosts import Cluster, Host, Router
from simplugin.platforms.links import SHARED, SPLITDUPLEX, Backbone, HostLink, Link
from simplugin.platforms.platform import Platform, Zone, ZoneElement
from simplugin.platforms.radical import numbers


def expanded(cluster: Cluster) -> Zone:
    """Return the zone that SimGrid makes of a flat cluster, element by element.

    Parameters
    ----------
    cluster : Cluster
        A flat cluster without limiter links, loopback links and fat-pipe backbone.

    Returns
    -------
    Zone
        Same hosts, links, router and routes under the same names.

    Raises
    ------
    PlatformError
        XML has no elements that say what the cluster says.
    """
    _require_expandable(cluster)
    elements: list[ZoneElement] = []
    split = cluster.sharing_policy == SPLITDUPLEX
    # SimGrid makes FATPIPE links of a flat cluster SHARED.
    policy = SPLITDUPLEX if split else SHARED
    for name, number in zip(cluster.host_names(), numbers(cluster.radical), strict=True):
        link = Link(f"{cluster.id}_link_{number}", cluster.bandwidth, cluster.latency, policy)
        names = link.simgrid_names
        elements += [
            Host(
                name,
                cluster.speed,
                cluster.cores,
                cluster.further_speeds,
                properties=cluster.properties,
            ),
            link,
            HostLink(name, names[0], names[-1]),
        ]
    if cluster.backbone_bandwidth is not None:
        bandwidth, latency = cluster.backbone_bandwidth, cluster.backbone_latency
        elements.append(Backbone(f"{cluster.id}_backbone", bandwidth, latency))
    elements.append(Router(cluster.router_name or ""))
    return Zone(cluster.id, "Cluster", tuple(elements), properties=cluster.properties)


def _require_expandable(cluster: Cluster) -> None:
    """Refuse a cluster that explicit elements cannot describe."""
    obstacle = None
    if cluster.topology != "FLAT":
        obstacle = f"its topology is {cluster.topology}"
    elif cluster.limiter_bandwidth is not None:
        obstacle = "it has limiter links"
    elif cluster.loopback_bandwidth is not None:
        obstacle = "it has loopback links"
    elif cluster.backbone_bandwidth is not None and cluster.backbone_sharing_policy != SHARED:
        obstacle = f"its backbone is {cluster.backbone_sharing_policy}"
    if obstacle is not None:
        raise PlatformError(
            f"cluster {cluster.id!r} cannot be written host by host: {obstacle}",
            remedy="write it as one <cluster> (expand=False)",
        )


def expanded_platform(platform: Platform) -> Platform:
    """Return a platform whose clusters are zones of explicit hosts and links.

    Names and routes stay the same; links of what were clusters can follow profiles.

    Parameters
    ----------
    platform : Platform
        With flat clusters, or none.

    Returns
    -------
    Platform
        What reading it gives after ``write_platform(platform, path, expand=True)``.

    Raises
    ------
    PlatformError
        XML has no elements that say what a cluster says: it is no flat one, say.
    """
    return replace(platform, elements=tuple(map(_written_out, platform.elements)))


def _written_out(element: Any) -> Any:
    """Return an element with the clusters in it as zones."""
    if isinstance(element, Zone):
        return replace(element, elements=tuple(map(_written_out, element.elements)))
    if not isinstance(element, Cluster):
        return element
    try:
        return expanded(element)
    except PlatformError as error:
        remedy = "leave the clusters as they are: their links follow no profile then"
        raise PlatformError(error.message, remedy=remedy) from None
