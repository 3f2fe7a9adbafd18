"""How large a federation may be: beyond these bounds nothing could be loaded, or even written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.platforms.federation_errors import FederationError
from simplugin.platforms.names import MOST_HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplugin.platforms.federation_draws import DrawnCluster, DrawnSwitch
    from simplugin.platforms.federation_parts import SiteGroup

# Assumed: loading takes SimGrid their number times that of the hosts, a minute for 1,000 with
# 100,000 hosts.
MOST_CLUSTERS = 100_000
# SimGrid's int.
MOST_CORES = 2**31 - 1
# Assumed: each route between two sites is written, 7 MB for a ring of 100 sites.
MOST_ROUTED_SITES = 1_000


def require_bearable(sites: tuple[SiteGroup, ...]) -> None:
    """Refuse more clusters than can be, before their names are made.

    Parameters
    ----------
    sites : tuple of SiteGroup
        Of a federation.

    Raises
    ------
    FederationError
        There are more than `MOST_CLUSTERS`.
    """
    counts = [(site.repeat or 1) * site.cluster_count for site in sites]
    if sum(counts) > MOST_CLUSTERS:
        largest = counts.index(max(counts))
        raise FederationError(
            f"there are {_count(sum(counts))} clusters, more than the {MOST_CLUSTERS:,} that are "
            "made",
            *("sites", largest, "repeat"),
            remedy="repeat sites or clusters less often",
        )


def require_bearable_draws(groups: tuple[SiteGroup, ...], sites: Iterable[DrawnSwitch]) -> None:
    """Refuse more hosts than can be.

    Parameters
    ----------
    groups : tuple of SiteGroup
        As described.
    sites : iterable of DrawnSwitch
        The router of each site, as drawn.

    Raises
    ------
    FederationError
        They have more than `MOST_HOSTS`, each by itself or all together; it is about the largest
        cluster.
    """
    clusters = [cluster for site in sites for cluster in _below(site)]
    largest = max(clusters, key=lambda cluster: cluster.hosts)
    total = sum(cluster.hosts for cluster in clusters)
    if total <= MOST_HOSTS:
        return
    where = next(
        (at, number)
        for at, site in enumerate(groups)
        for number, group in enumerate(site.clusters)
        if largest.site in site.names and largest.name in group.names
    )
    raise FederationError(
        f"the clusters have {_count(total)} hosts, {_count(largest.hosts)} of them cluster "
        f"{largest.name!r} of site {largest.site!r}: more than the {MOST_HOSTS:,} that are made",
        *("sites", where[0], "clusters", where[1], "hosts"),
        remedy="ask for fewer hosts, or a law of smaller numbers",
    )


def require_at_most(what: str, value: float, most: int, field: str) -> None:
    """Refuse a number beyond all bounds.

    Parameters
    ----------
    what : str
        What it is.
    value : float
        The number.
    most : int
        Its bound.
    field : str
        Where it stands.

    Raises
    ------
    FederationError
        It is greater.
    """
    if value > most:
        raise FederationError(
            f"{what} is {_count(value)}, more than the {most:,} that are made",
            field,
            remedy=f"give a number up to {most:,}",
        )


def _below(switch: DrawnSwitch) -> Iterator[DrawnCluster]:
    """Go through the clusters that hang from a switch or from those below it."""
    yield from switch.clusters
    for inner in switch.switches:
        yield from _below(inner)


def _count(number: float) -> str:
    """Write a number so that it fits a line."""
    return f"{int(number):,}" if number < 1e15 else f"{number:.3g}"
