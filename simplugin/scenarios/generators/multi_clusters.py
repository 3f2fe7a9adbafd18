"""Clusters in one place, as scenarios ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simplugin.platforms import Platform
from simplugin.platforms.sites import (
    GIGABIT,
    LATENCY,
    SUBSETS,
    TEN_GIGABITS,
    MultiCluster,
)
from simplugin.scenarios.generators.capacities import Quantity, read_quantity


def grid5000_subset(site: str) -> Platform:
    """Return a multi-cluster site of Grid'5000.

    Parameters
    ----------
    site : str
        A key of `simplugin.platforms.sites.SUBSETS`.
    """
    if site not in SUBSETS:
        raise ValueError(f"no subset is called {site!r}; give one of {', '.join(SUBSETS)}")
    return SUBSETS[site].platform()


def multi_cluster(
    clusters: Sequence[Any],
    name: str = "site",
    one_switch: bool = True,
    bandwidth: Quantity = GIGABIT,
    latency: Quantity = LATENCY,
    switch_bandwidth: Quantity = TEN_GIGABITS,
    switch_latency: Quantity = LATENCY,
) -> Platform:
    """Return clusters in one place.

    Parameters
    ----------
    clusters : sequence of mapping
        Of each its `name`, number of `processors` and their `speed` [flop/s].
    name : str
        Of the site.
    one_switch, bandwidth, latency, switch_bandwidth, switch_latency
        As in `simplugin.platforms.sites.MultiCluster`; quantities may be texts with a
        unit.
    """
    parts = []
    if isinstance(clusters, str) or not isinstance(clusters, Sequence):
        raise ValueError(f"clusters is {clusters!r}; give a list of tables")
    for number, cluster in enumerate(clusters):
        if not isinstance(cluster, Mapping) or set(cluster) != {"name", "processors", "speed"}:
            raise ValueError(f"clusters[{number}] is {cluster!r}; give name, processors and speed")
        speed = read_quantity(f"clusters[{number}].speed", cluster["speed"])
        parts.append((cluster["name"], cluster["processors"], speed))
    site = MultiCluster(
        name,
        tuple(parts),
        one_switch,
        read_quantity("bandwidth", bandwidth),
        read_quantity("latency", latency),
        read_quantity("switch_bandwidth", switch_bandwidth),
        read_quantity("switch_latency", switch_latency),
    )
    return site.platform()
