"""Sites of peers on any SimGrid platform."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.graphs import NO_SPEED
from simplugin.platforms.hosts import Host
from simplugin.platforms.links import FATPIPE
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.platform import Platform
from simplugin.simulation.resolve import ResolvedLink, ResolvedRoute, refuse_wifi, resolve
from simplugin.workloads.bundles import Bundle

SCHEDULER = "scheduler"


def site_of(
    platform: Platform | str | os.PathLike[str],
    scheduler: str = SCHEDULER,
    peers: Sequence[str] | None = None,
) -> PeerSite:
    """Return hosts of a SimGrid platform as a local scheduler and its computing peers.

    Speeds, routes and links are those that SimGrid reports. A peer's speed is that of one core,
    since it computes one task after the other; its bandwidth is the nominal bandwidth of the
    narrowest link on the route from the scheduler, without sharing; the site's latency is that of
    the longest route. The uplink stays unlimited: shared links are simulated with the platform.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    scheduler : str
        The host of the local scheduler.
    peers : sequence of str, optional
        Hosts of the peers; by default all others that compute and have a route to the scheduler.

    Raises
    ------
    PlatformError
        SimGrid refuses the platform.
    WorkloadError
        A host is missing, computes nothing, cannot be reached or is named twice, or a route has no
        definite bandwidth: it passes a Wi-Fi link, or no link. `argument` is the invalid argument,
        ``scheduler`` or ``peers``.
    """
    speed = {host.name: host.speed for host in resolve(platform).hosts}
    if scheduler not in speed:
        known = ", ".join(sorted(speed)[:8])
        raise WorkloadError(
            f"scheduler {scheduler!r} is no host; there are {known}", argument="scheduler"
        )
    wanted = list(speed) if peers is None else list(peers)
    if peers is None:
        wanted = [name for name in wanted if name != scheduler and speed[name] > NO_SPEED]
        wanted.sort(key=_key)
    _check(scheduler, wanted, speed)
    resolved = resolve(platform, [(scheduler, name) for name in wanted])
    found = {route.destination: route for route in resolved.routes}
    if peers is None:
        wanted = [name for name in wanted if name in found]
    for _, name, reason in resolved.unreachable:
        if peers is not None:
            raise WorkloadError(
                f"peers names {name!r}, to which scheduler {scheduler!r} has no route"
                f" ({reason.strip()}); leave it out",
                argument="peers",
            )
    if not wanted:
        raise WorkloadError(
            f"scheduler {scheduler!r} has a route to no host that computes", argument="scheduler"
        )
    routes = [found[name] for name in wanted]
    links = {link.name: link for link in resolved.links}
    speeds = np.array([speed[name] for name in wanted])
    bandwidth = np.array([_narrowest(route, links) for route in routes])
    latency = max(route.latency for route in routes)
    return PeerSite(tuple(wanted), speeds, bandwidth, latency=latency, scheduler=scheduler)


def shared_site(
    platform: Platform | str | os.PathLike[str],
    site: PeerSite,
    bundle: Bundle,
    setup: float = 0.005,
) -> PeerSite:
    """Return a site with the bandwidths of peers while all execute tasks.

    Nominal bandwidths are shared max-min fairly: of the overloaded links, the one with the least
    bandwidth for each of its peers is filled first. As `believed` of
    `simplugin.market.execution.execute`, such a site gives prices that include contention.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file, with the site's hosts.
    site : PeerSite
        The peers.
    bundle : Bundle
        Tasks that all peers execute one after the other; each peer's mean rate is byte / t_i, since
        it transfers only while it neither sets up nor computes.
    setup : float
        Time of each task before its data are sent, t^setup [s].

    Raises
    ------
    PlatformError
        SimGrid refuses the platform.
    """
    resolved = resolve(platform, [(site.scheduler, name) for name in site.names])
    passed = {route.destination: set(route.links) for route in resolved.routes}
    links = [
        (link.bandwidth, np.array([link.name in passed[name] for name in site.names]))
        for link in resolved.links
        if link.sharing_policy != FATPIPE
    ]
    byte, busy = bundle.byte, setup + bundle.flop / site.speed
    bandwidth, open_ = site.bandwidth.copy(), np.ones(site.n_peers, dtype=bool)

    def excess(capacity: float, members: NDArray[np.bool_], most: float) -> float:
        """Return the overload of a link if open peers get at most a bandwidth."""
        each = np.where(open_, np.minimum(bandwidth, most), bandwidth)
        return float(np.sum((byte / (busy + byte / each))[members])) - capacity

    while byte and np.any(open_):
        filled = []
        for capacity, members in links:
            low, high = 0.0, float(bandwidth.max())
            if np.any(members & open_) and excess(capacity, members, high) > 1e-9 * capacity:
                while low < (middle := 0.5 * (low + high)) < high:
                    over = excess(capacity, members, middle) > 0
                    low, high = (low, middle) if over else (middle, high)
                filled.append((low, members & open_))
        if not filled:
            break
        level, members = min(filled, key=lambda each: each[0])
        bandwidth[members] = np.minimum(bandwidth[members], level)
        open_ &= ~members
    return replace(site, bandwidth=bandwidth)


def hosts_beside(platform: Platform | str | os.PathLike[str], scheduler: str) -> list[str]:
    """Return the other individual hosts of a scheduler's zone.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    scheduler : str
        A host.

    Raises
    ------
    PlatformError
        The file cannot be read.
    WorkloadError
        There is no such host, or no other host in its zone.
    """
    described = platform if isinstance(platform, Platform) else read_platform(platform)
    zones = [
        zone
        for element, zone in described.walk()
        if isinstance(element, Host) and element.id == scheduler
    ]
    found = [] if not zones or zones[0] is None else [host.id for host in zones[0].hosts]
    others = [name for name in found if name != scheduler]
    if not others:
        raise WorkloadError(
            f"scheduler {scheduler!r} is in no zone with other hosts; give peers",
            argument="scheduler",
        )
    return others


def _key(name: str) -> tuple[str, int]:
    """Return the sort key of a name, by which peer-2 comes before peer-10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _check(scheduler: str, peers: Sequence[str], speed: Mapping[str, float]) -> None:
    """Raise WorkloadError unless each name is that of one computing host."""
    for place, name in enumerate(peers):
        faults = {
            ", which is no host of the platform": name not in speed,
            ", which is the scheduler; leave it out": name == scheduler,
            " twice; name it once": name in peers[:place],
            ", which computes nothing; leave it out": speed.get(name, 0.0) <= NO_SPEED,
        }
        for fault, present in faults.items():
            if present:
                raise WorkloadError(f"peers names {name!r}{fault}", argument="peers")


def _narrowest(route: ResolvedRoute, links: Mapping[str, ResolvedLink]) -> float:
    """Return the bandwidth of the narrowest link of a route."""
    refuse_wifi(route, links, "give peers that leave the host out", argument="peers")
    passed = [links[name] for name in route.links if name in links]
    if not passed:
        raise WorkloadError(
            f"peers names {route.destination!r}, to which the route has no link and thus no"
            " bandwidth; give peers that leave the host out",
            argument="peers",
        )
    return min(link.bandwidth for link in passed)
