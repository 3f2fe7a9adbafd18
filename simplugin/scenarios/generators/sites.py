"""Multi-clusters, federations and Grid'5000, with parameters from scenarios."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simplugin.errors import PlatformError
from simplugin.formats.federations import federation_platform_from, read_federation_platform
from simplugin.formats.grid5000.catalogue import read_facts, shipped_catalogue
from simplugin.formats.grid5000.latencies import read_latencies
from simplugin.platforms import Platform
from simplugin.platforms.grid5000.platform import grid5000_platform
from simplugin.platforms.grid5000.selection import selected
from simplugin.platforms.sites import GIGABIT, LATENCY, SUBSETS, TEN_GIGABITS, MultiCluster
from simplugin.scenarios.generators.calls import Quantity, read_quantity


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


def grid5000(
    site: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    reference: str | None = None,
    interconnect: str = "ethernet",
    latencies: str | None = None,
    *,
    directory: str | os.PathLike[str] = ".",
) -> Platform:
    """Return the platform of Grid'5000, or of a part of it.

    Parameters
    ----------
    site, cluster : str or sequence of str, optional
        Only these.
    reference : str, optional
        Path of the reference or of a catalogue; the catalogue that comes with simplugin without.
    interconnect : str
        ``ethernet`` or ``fast``, as in `simplugin.platforms.grid5000.platform.grid5000_platform`.
    latencies : str, optional
        Path of a table of latencies, as `simplugin.formats.grid5000.latencies` reads it.
    directory : path
        Where paths start; for a scenario, that of its file.
    """
    source = _path("reference", reference, directory)
    table = _path("latencies", latencies, directory)
    sites, clusters = _names("site", site), _names("cluster", cluster)
    try:
        facts, warnings = shipped_catalogue() if source is None else read_facts(source)
        times = None if table is None else read_latencies(table, facts)
        return grid5000_platform(selected(facts, sites, clusters, warnings), times, interconnect)
    except PlatformError as error:
        raise ValueError(str(error)) from error


def _path(key: str, value: Any, directory: str | os.PathLike[str]) -> Path | None:
    """Take a path."""
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise ValueError(f"{key} is {value!r}; give a path")
    return Path(directory) / value


def _names(key: str, value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Take one name or several."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    names: Any = value  # of a scenario, which may hold anything
    if not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise ValueError(f"{key} is {value!r}; give a name, or a list of names")
    return tuple(names)


def federation(
    description: str | None = None,
    seed: int | None = None,
    *,
    directory: str | os.PathLike[str] = ".",
    **tables: Any,
) -> Platform:
    """Return a federation of clusters.

    Parameters
    ----------
    description : str, optional
        Path of a TOML file.
    seed : int, optional
        Of the draws, instead of that of the description.
    directory : path
        Where the path starts; for a scenario, that of its file.
    **tables
        Instead of a file, what it would hold: ``name``, ``backbone`` and ``sites``.
    """
    if (description is None) is not bool(tables):
        raise ValueError("give either a description or its tables, such as sites")
    given: Any = description  # of a scenario, which may hold anything
    if given is not None and (not isinstance(given, str | os.PathLike) or not str(given)):
        raise ValueError(f"description is {given!r}; give a path")
    try:
        if description is not None:
            return read_federation_platform(Path(directory) / description, seed)
        return federation_platform_from(tables, seed)
    except PlatformError as error:
        raise ValueError(str(error)) from error
