"""Clusters in one place, as scenarios ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simplugin.errors import PlatformError
from simplugin.platforms import Platform
from simplugin.platforms.grid5000_subsets import SUBSETS
from simplugin.platforms.multi_clusters import MultiCluster
from simplugin.units import parse_bandwidth, parse_speed, parse_time


def grid5000_subset(site: str) -> Platform:
    """Return a multi-cluster site of Grid'5000.

    Parameters
    ----------
    site : str
        A key of `simplugin.platforms.grid5000_subsets.SUBSETS`.
    """
    if site not in SUBSETS:
        raise ValueError(f"no subset is called {site!r}; give one of {', '.join(SUBSETS)}")
    return SUBSETS[site].platform()


def multi_cluster(clusters: Sequence[Any], name: str = "site", **parameters: Any) -> Platform:
    """Return clusters in one place.

    Parameters
    ----------
    clusters : sequence of mapping
        Of each its `name`, number of `processors` and their `speed` [flop/s].
    name : str
        Of the site.
    **parameters
        The other fields of `simplugin.platforms.multi_clusters.MultiCluster`; quantities may be
        texts with a unit.
    """
    parts = []
    for number, cluster in enumerate(clusters):
        if not isinstance(cluster, Mapping) or set(cluster) != {"name", "processors", "speed"}:
            raise ValueError(f"clusters[{number}] is {cluster!r}; give name, processors and speed")
        speed = cluster["speed"]
        speed = parse_speed(speed) if isinstance(speed, str) else float(speed)
        parts.append((cluster["name"], cluster["processors"], speed))
    for key, value in parameters.items():
        if isinstance(value, str):
            parameters[key] = (parse_time if key.endswith("latency") else parse_bandwidth)(value)
    try:
        return MultiCluster(name, tuple(parts), **parameters).platform()
    except PlatformError as error:
        raise ValueError(str(error)) from error
