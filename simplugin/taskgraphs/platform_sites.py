"""Sites of any platform: clusters of equal hosts, and the network along SimGrid's routes."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import PlatformError
from simplugin.platforms import Platform
from simplugin.platforms.hosts import Cabinet, Cluster, Host, Peer
from simplugin.platforms.links import HostLink, Link
from simplugin.platforms.sites import Site
from simplugin.simulation.resolve import ResolvedPlatform, resolve

# Separators between the name of a cluster and the numbers of its hosts, and these numbers.
_NUMBER = re.compile(r"[-_.]*\d*$")


def site_of(platform: Platform | str | os.PathLike[str], name: str | None = None) -> Site:
    """Return a platform as schedulers of parallel tasks see it.

    Its clusters are the clusters and cabinets of the platform, and of each other zone the hosts
    of equal speed whose own links, if they are marked as such, have equal bandwidth, in the order
    of the file. A host is one processor with the speed of one of its
    cores, in the power state that it starts in.

    The network is an estimate from the routes between some hosts of each cluster. The links that
    only occur on routes from and to one host are its own, and the narrowest of them limits it. The
    others are shared by all traffic on them; FATPIPE links do not count there.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    name : str, optional
        Name of the site; by default that of the first zone.

    Raises
    ------
    PlatformError
        The platform has no host, or no route between two hosts.
    """
    if isinstance(platform, str | os.PathLike):
        from simplugin.formats.platform_xml import read_platform

        platform = read_platform(Path(platform))
    groups = _groups(platform, {host.name: host.speed for host in resolve(platform).hosts})
    if not groups:
        remedy = "give it at least one of a speed above 0"
        raise PlatformError("the platform has no host that computes", remedy=remedy)
    # The first, middle and last of the hosts.
    samples = [
        sorted({hosts[0], hosts[len(hosts) // 2], hosts[-1]}, key=hosts.index) for hosts in groups
    ]
    everyone = [host for hosts in samples for host in hosts]
    # A host alone in its cluster only ever sends to itself there.
    alone = [(hosts[0], hosts[0]) for hosts in samples if len(hosts) == 1]
    resolved = resolve(platform, [*permutations(everyone, 2), *alone])
    for source, target, reason in resolved.unreachable:
        if source != target:
            raise PlatformError(
                f"SimGrid finds no route from {source!r} to {target!r}: {reason}",
                remedy="a site needs routes between all hosts",
            )
    cluster = {host: at for at, hosts in enumerate(samples) for host in hosts}
    first = platform.elements[0]
    speed = {host.name: host.speed for host in resolved.hosts}
    return Site(
        name or getattr(first, "id", None) or "site",
        _names([hosts for hosts in groups]),
        tuple(tuple(hosts) for hosts in groups),
        np.array([speed[hosts[0]] for hosts in groups]),
        *_network(resolved, cluster),
    )


def _groups(platform: Platform, speed: Mapping[str, float]) -> list[list[str]]:
    """Return the hosts of each cluster, in the order of the file."""
    groups: dict[tuple[str, float, object], list[str]] = {}
    elements = [element for element, _ in platform.walk()]
    width = {e.simgrid_names[0]: e.bandwidth for e in elements if isinstance(e, Link)}
    own = {each.host: width.get(each.up) for each in elements if isinstance(each, HostLink)}
    for element, zone in platform.walk():
        if isinstance(element, Cluster | Cabinet):
            place, hosts = element.id, list(element.host_names())
        elif isinstance(element, Host | Peer):
            place, hosts = "" if zone is None else zone.id, [element.id]
        else:
            continue
        for host in hosts if speed[hosts[0]] else ():
            groups.setdefault((place, speed[host], own.get(host)), []).append(host)
    return list(groups.values())


def _names(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return names of clusters: the common beginning of their hosts' names before a number."""
    names = []
    for hosts in groups:
        beginning = os.path.commonprefix(hosts)  # noqa: RUF071 # names are no paths
        names.append(_NUMBER.sub("", beginning) or hosts[0])
    counts = Counter(names)
    return tuple(
        name if counts[name] == 1 else f"{name}-{number}" for number, name in enumerate(names, 1)
    )


def _network(
    resolved: ResolvedPlatform, cluster: Mapping[str, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return bandwidth, latency, shared and switch of a site, by routes between some hosts."""
    # Of each link, the hosts that are an end of every route with it.
    owners: dict[str, set[str]] = {}
    for route in resolved.routes:
        for link in route.links:
            hosts = {route.source, route.destination}
            owners[link] = owners.get(link, hosts) & hosts
    width = {link.name: link.bandwidth for link in resolved.links}
    single = {link.name for link in resolved.links if link.sharing_policy == "FATPIPE"}
    count = 1 + max(cluster.values())
    bandwidth = np.full(count, np.inf)
    latency, shared = np.zeros((count, count)), np.full((count, count), np.inf)
    narrowest: dict[int, str] = {}
    for route in resolved.routes:
        ends = cluster[route.source], cluster[route.destination]
        latency[ends] = max(latency[ends], route.latency)
        # The loopback that SimGrid gives hosts without one of their own is no part of them.
        for link in filter(width.__contains__, route.links):
            for host in owners[link]:
                at = cluster[host]
                bandwidth[at] = min(bandwidth[at], width[link])
            if not owners[link] and link not in single and width[link] < shared[ends]:
                shared[ends] = width[link]
                if ends[0] == ends[1]:
                    narrowest[ends[0]] = link
    # Clusters without a shared link have a switch each, which limits nothing.
    links = [narrowest.get(number, number) for number in range(count)]
    return bandwidth, latency, shared, np.array([links.index(link) for link in links])
