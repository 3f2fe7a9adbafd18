"""Pairs of hosts whose routes tell whether all hosts of a platform can reach each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, permutations
from typing import TYPE_CHECKING

import numpy as np

from simplugin.platforms.cluster import Cluster
from simplugin.platforms.hosts import Cabinet, Host, Peer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplugin.platforms.platform import Platform

# SimGrid finds some ten thousand routes a second, fewer where it searches for shortest paths.
MOST_PAIRS = 100_000
_SEED = 0
# Few enough to be asked for at any rate, and then better in the order of the platform.
_MOST_ORDERED = 1000


@dataclass(frozen=True, slots=True)
class HostPairs:
    """Ordered pairs of hosts.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Source and destination.
    complete : bool
        Whether all hosts reach each other if these do; else the pairs are a sample.
    """

    pairs: tuple[tuple[str, str], ...]
    complete: bool


def telling_pairs(platform: Platform, most: int = MOST_PAIRS) -> HostPairs:
    """Choose the pairs of hosts to ask SimGrid for.

    Hosts of a cluster, or of a cabinet, are alike: one of them stands for all on the way to and
    from the rest, and two of them for the ways within. Explicit hosts each stand for themselves.
    All ordered pairs of those are taken if they are not too many. Else each of them is the source
    and the destination of as many pairs, with partners drawn at random by a fixed seed; if there
    are too many even for that, pairs are drawn at random.

    Parameters
    ----------
    platform : Platform
        Any platform.
    most : int
        How many pairs at most, those within clusters apart.

    Returns
    -------
    HostPairs
        At least one pair if there are two hosts; from a thousand on in random order, so that the
        first ones are a sample too.
    """
    hosts: list[str] = []
    neighbours: list[tuple[str, str]] = []
    for element, _ in platform.walk():
        if isinstance(element, Host | Peer):
            hosts.append(element.id)
        elif isinstance(element, Cluster | Cabinet):
            first = list(islice(element.host_names(), 2))
            # Not the first one, which is the gateway of many a torus or fat tree.
            hosts.append(first[-1])
            neighbours += permutations(first, 2)
    count = len(hosts)
    complete = count * (count - 1) <= most
    pairs = [*(permutations(hosts, 2) if complete else _sample(hosts, most)), *neighbours]
    if len(pairs) > _MOST_ORDERED:
        order = np.random.default_rng(_SEED).permutation(len(pairs))
        pairs = [pairs[at] for at in order]
    return HostPairs(tuple(pairs), complete)


def _sample(hosts: list[str], most: int) -> Iterator[tuple[str, str]]:
    """Draw pairs of different hosts, each host as often as any other if there are pairs enough."""
    generator = np.random.default_rng(_SEED)
    order = generator.permutation(len(hosts))
    times = most // len(hosts)
    if not times:
        for source, shift in generator.integers((0, 1), len(hosts), (most, 2)).tolist():
            yield hosts[source], hosts[(source + shift) % len(hosts)]
        return
    # Each shift along the shuffled hosts pairs every host with another one, both ways.
    for shift in (1 + generator.permutation(len(hosts) - 1)[:times]).tolist():
        for source, destination in zip(order, np.roll(order, -shift), strict=True):
            yield hosts[source], hosts[destination]
