"""What a platform consists of: zones, clusters, hosts, cores, flop/s, links and routes, counted."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.platforms.cluster import Cluster
from simplugin.platforms.hosts import Cabinet, Host, Peer
from simplugin.platforms.links import SHARED, Backbone, Link
from simplugin.platforms.platform import Platform, Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from simplugin.platforms.platform import ZoneElement


@dataclass(frozen=True, slots=True)
class Computing:
    """What some hosts amount to.

    Attributes
    ----------
    hosts, cores : int
        How many hosts and how many cores they have together.
    speed : float
        What all cores compute together, in the power states that they start in [flop/s].
    """

    hosts: int
    cores: int
    speed: float


@dataclass(frozen=True, slots=True)
class Part:
    """A zone or a cluster of a platform, with all that is in it.

    Attributes
    ----------
    name : str
        Its id.
    kind : str
        ``zone`` or ``cluster``.
    routing : str
        Of a zone its routing, of a cluster its topology.
    clusters : int
        How many clusters there are, itself included.
    computing : Computing
        Its hosts.
    """

    name: str
    kind: str
    routing: str
    clusters: int
    computing: Computing


@dataclass(frozen=True, slots=True)
class Census:
    """What there is in a platform, as its file has it.

    Attributes
    ----------
    zones, clusters : int
        How many, at any depth; clusters are not counted as zones.
    computing : Computing
        All hosts.
    links : mapping of str to int
        Sharing policy to number of link elements; the links that SimGrid makes for each host of a
        cluster are not among them.
    routes : mapping of str to int
        Element to number, such as ``zoneRoute``.
    parts : tuple of Part
        The zones and clusters with hosts that the platform divides into: those of the outermost
        zone that has more than one. Explicit hosts beside them are in none.
    """

    zones: int
    clusters: int
    computing: Computing
    links: Mapping[str, int]
    routes: Mapping[str, int]
    parts: tuple[Part, ...]


def census_of(platform: Platform) -> Census:
    """Count what a platform consists of.

    Parameters
    ----------
    platform : Platform
        Any platform; hosts of clusters are counted without being listed.

    Returns
    -------
    Census
        What there is.
    """
    elements = [element for element, _ in platform.walk()]
    zones = [element for element in elements if isinstance(element, Zone)]
    policies = Counter(
        element.sharing_policy if isinstance(element, Link) else SHARED
        for element in elements
        if isinstance(element, Link | Backbone)
    )
    return Census(
        zones=len(zones),
        clusters=sum(isinstance(element, Cluster) for element in elements),
        computing=_computing(elements),
        links=dict(sorted(policies.items())),
        routes=dict(sorted(Counter(route.tag for zone in zones for route in zone.routes).items())),
        parts=_parts(platform),
    )


def _parts(platform: Platform) -> tuple[Part, ...]:
    """Return the parts with hosts of the outermost zone that has several, or its only ones."""
    elements: tuple[ZoneElement, ...] = platform.elements
    while True:
        parts = [part for part in map(_part, elements) if part is not None]
        inner = [
            element
            for element in elements
            if isinstance(element, Zone) and any(element.id == part.name for part in parts)
        ]
        if len(parts) != 1 or not inner or not any((*inner[0].zones, *inner[0].clusters)):
            return tuple(parts)
        elements = inner[0].elements


def _part(element: ZoneElement) -> Part | None:
    """Return what is in a zone or cluster; None where there are no hosts."""
    if not isinstance(element, Zone | Cluster):
        return None
    within = list(_within(element))
    computing = _computing(within)
    if not computing.hosts:
        return None
    is_zone = isinstance(element, Zone)
    return Part(
        element.id,
        "zone" if is_zone else "cluster",
        element.routing if isinstance(element, Zone) else element.topology,
        sum(isinstance(inner, Cluster) for inner in within),
        computing,
    )


def _within(element: ZoneElement) -> Iterator[ZoneElement]:
    """Yield an element and all that is in it."""
    stack = [element]
    while stack:
        found = stack.pop()
        yield found
        if isinstance(found, Zone):
            stack += found.elements


def _computing(elements: Iterable[ZoneElement]) -> Computing:
    """Add up hosts, cores and speeds; sums are exact up to one rounding."""
    hosts, cores, speeds = 0, 0, []
    for element in elements:
        if isinstance(element, Host):
            count, each, speed = 1, element.cores, element.speeds[element.pstate]
        elif isinstance(element, Cluster):
            count, each, speed = element.host_count, element.cores, element.speed
        elif isinstance(element, Cabinet):
            count, each, speed = element.host_count, 1, element.speed
        elif isinstance(element, Peer):
            count, each, speed = 1, 1, element.speed
        else:
            continue
        hosts += count
        cores += count * each
        speeds.append(count * each * speed)
    return Computing(hosts, cores, math.fsum(speeds))
