"""Counts of the parts of a platform, and the pairs of hosts that represent its routes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, permutations

import numpy as np

from simplugin.platforms.hosts import Cabinet, Cluster, Computing, Host, Peer, computing_of
from simplugin.platforms.links import SHARED, Backbone, Link
from simplugin.platforms.platform import Platform, Zone, ZoneElement
from simplugin.platforms.radical import ranges


@dataclass(frozen=True, slots=True)
class PlatformPart:
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
        Number of clusters there are, itself included.
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
    """Counts of the elements of a platform file.

    Attributes
    ----------
    zones, clusters : int
        Numbers, at any depth; clusters are not counted as zones.
    computing : Computing
        All hosts.
    links : mapping of str to int
        Sharing policy to number of link elements; the links that SimGrid makes for each host of a
        cluster are not among them.
    routes : mapping of str to int
        Element to number, such as ``zoneRoute``.
    parts : tuple of PlatformPart
        The zones and clusters with hosts that the platform divides into: those of the outermost
        zone with more than one. Explicit hosts of such a zone are in none.
    """

    zones: int
    clusters: int
    computing: Computing
    links: Mapping[str, int]
    routes: Mapping[str, int]
    parts: tuple[PlatformPart, ...]


def census_of(platform: Platform) -> Census:
    """Count the parts of a platform.

    Parameters
    ----------
    platform : Platform
        Any platform; hosts of clusters are counted without being listed.

    Returns
    -------
    Census
        The counts.
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
        computing=computing_of(elements),
        links=dict(sorted(policies.items())),
        routes=dict(sorted(Counter(route.tag for zone in zones for route in zone.routes).items())),
        parts=_parts(platform),
    )


def _parts(platform: Platform) -> tuple[PlatformPart, ...]:
    """Return the parts with hosts of the outermost zone that has several, or its only ones."""
    elements: tuple[ZoneElement, ...] = platform.elements
    while True:
        parts = [part for part in map(_part, elements) if part is not None]
        names = {part.name for part in parts}
        inner = [each for each in elements if isinstance(each, Zone) and each.id in names]
        if len(parts) != 1 or not inner or not (inner[0].zones or inner[0].clusters):
            return tuple(parts)
        elements = inner[0].elements


def _part(element: ZoneElement) -> PlatformPart | None:
    """Return the contents of a zone or cluster; None if it has no hosts."""
    if not isinstance(element, Zone | Cluster):
        return None
    within = [inner for inner, _ in Platform((element,)).walk()]
    computing = computing_of(within)
    if not computing.hosts:
        return None
    return PlatformPart(
        element.id,
        type(element).__name__.lower(),
        element.routing if isinstance(element, Zone) else element.topology,
        sum(isinstance(inner, Cluster) for inner in within),
        computing,
    )


# Of hosts that represent others, and as many again within clusters that are not flat. SimGrid
# finds some ten thousand routes a second, fewer where it searches for shortest paths.
MOST_PAIRS = 100_000
# A torus of 10,000 hosts takes some seconds for this number, as its routes are long.
_SAMPLE_WITHIN = 5000
_SEED = 0
# So few that all are tried, in the order of the platform.
_MOST_ORDERED = 1000


@dataclass(frozen=True, slots=True)
class HostPairs:
    """Ordered pairs of hosts.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Source and destination.
    complete : bool
        True if all hosts reach each other if these do; else the pairs are a sample.
    """

    pairs: tuple[tuple[str, str], ...]
    complete: bool


def telling_pairs(platform: Platform) -> HostPairs:
    """Choose the pairs of hosts to ask SimGrid for.

    Explicit hosts represent themselves, and one host of a cluster or of a cabinet represents
    all of it. All ordered pairs of those are taken if they are not too many. Else each of them is
    the source and the destination of as many pairs, with partners drawn at random by a fixed seed;
    if there are too many even for that, pairs are drawn at random.

    Then come the pairs within. Hosts of a flat cluster and of a cabinet are alike, so two of them
    do. In a torus, fat tree or dragonfly routes differ by pair: all pairs within are taken if those
    of all such clusters are not too many, else each of these clusters has an equal share, of some
    thousand at most, and a sample as above if that is too few.

    Parameters
    ----------
    platform : Platform
        Any platform.

    Returns
    -------
    HostPairs
        At least one pair if there are two hosts; from a thousand on in random order, so that the
        first ones are a sample too.
    """
    hosts: list[str] = []
    pairs: list[tuple[str, str]] = []
    shaped: list[Cluster] = []
    for element, _ in platform.walk():
        if isinstance(element, Host | Peer):
            hosts.append(element.id)
        elif isinstance(element, Cluster | Cabinet):
            first = list(islice(element.host_names(), 2))
            # Not the first one, which is the gateway of many a torus or fat tree.
            hosts.append(first[-1])
            if isinstance(element, Cluster) and element.topology != "FLAT":
                shaped.append(element)
            else:
                pairs += permutations(first, 2)
    pairs[:0] = _pairs(len(hosts), hosts.__getitem__, MOST_PAIRS)
    needed = [_ordered(cluster.host_count) for cluster in shaped]
    share = MOST_PAIRS
    if sum(needed) > MOST_PAIRS:
        share = max(min(MOST_PAIRS // len(shaped), _SAMPLE_WITHIN), 2)
    for cluster in shaped:
        pairs += _pairs(cluster.host_count, _host_at(cluster), share)
    complete = _ordered(len(hosts)) <= MOST_PAIRS and all(count <= share for count in needed)
    if len(pairs) > _MOST_ORDERED:
        order = np.random.default_rng(_SEED).permutation(len(pairs))
        pairs = [pairs[at] for at in order]
    return HostPairs(tuple(pairs), complete)


def _ordered(count: int) -> int:
    """Return the number of ordered pairs of hosts."""
    return count * (count - 1)


def _host_at(cluster: Cluster) -> Callable[[int], str]:
    """Return what names the host of a cluster at a place; there may be millions."""
    numbers = np.concatenate([np.arange(each.start, each.stop) for each in ranges(cluster.radical)])
    return lambda at: f"{cluster.prefix}{numbers[at]}{cluster.suffix}"


def _pairs(count: int, name: Callable[[int], str], most: int) -> Iterator[tuple[str, str]]:
    """Yield the names of all pairs if they are not too many, else of a sample."""
    places: Iterable[tuple[int, int]]
    places = permutations(range(count), 2) if _ordered(count) <= most else _sample(count, most)
    for source, destination in places:
        yield name(source), name(destination)


def _sample(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Draw pairs of different hosts, each host as often as any other if there are pairs enough."""
    generator = np.random.default_rng(_SEED)
    times = most // count
    if not times:
        for source, shift in generator.integers((0, 1), count, (most, 2)).tolist():
            yield source, (source + shift) % count
        return
    order = generator.permutation(count)
    # Each shift along the shuffled hosts pairs every host with another one, both ways.
    for shift in (1 + generator.permutation(count - 1)[:times]).tolist():
        yield from zip(order.tolist(), np.roll(order, -shift).tolist(), strict=True)
