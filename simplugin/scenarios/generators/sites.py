"""Multi-clusters, federations and Grid'5000, with parameters from scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from simplugin.core.errors import PlatformError
from simplugin.formats.federations import federation_platform_from, read_federation_platform
from simplugin.formats.grid5000.catalogue import read_facts, shipped_catalogue
from simplugin.formats.grid5000.latencies import read_latencies
from simplugin.inputs.quantities import HostSpeed, Latency, LinkBandwidth
from simplugin.inputs.sections import Section
from simplugin.platforms import Host, Link, Platform, Zone
from simplugin.platforms.grid5000.facts import selected
from simplugin.platforms.grid5000.platform import grid5000_platform
from simplugin.platforms.hosts import spoke
from simplugin.platforms.links import SPLITDUPLEX
from simplugin.platforms.sites import GIGABIT, LATENCY, SUBSETS, TEN_GIGABITS, MultiCluster
from simplugin.scenarios.generators.topologies import Seed

Name = Annotated[str, Field(min_length=1)]


class ClusterTable(Section):
    """A cluster of a site.

    Attributes
    ----------
    name : str
        Of the cluster.
    processors : int
        Number of hosts.
    speed : float
        Of each [flop/s].
    """

    name: Name
    processors: Annotated[int, Field(ge=1)]
    speed: HostSpeed


def grid5000_subset(site: Literal["lille", "nancy", "rennes", "sophia"]) -> Platform:
    """Return a multi-cluster site of Grid'5000.

    Parameters
    ----------
    site : str
        A key of `simplugin.platforms.sites.SUBSETS`.
    """
    return SUBSETS[site].platform()


def multi_cluster(
    clusters: tuple[ClusterTable, ...],
    name: str = "site",
    one_switch: bool = True,
    bandwidth: LinkBandwidth = GIGABIT,
    latency: Latency = LATENCY,
    switch_bandwidth: LinkBandwidth = TEN_GIGABITS,
    switch_latency: Latency = LATENCY,
) -> Platform:
    """Return clusters in one place.

    Parameters
    ----------
    clusters : tuple of ClusterTable
        Of each its `name`, number of `processors` and their `speed` [flop/s].
    name : str
        Of the site.
    one_switch, bandwidth, latency, switch_bandwidth, switch_latency
        As in `simplugin.platforms.sites.MultiCluster`.
    """
    parts = tuple((each.name, each.processors, each.speed) for each in clusters)
    capacities = bandwidth, latency, switch_bandwidth, switch_latency
    return MultiCluster(name, parts, one_switch, *capacities).platform()


def switched_hosts(
    speeds: tuple[HostSpeed, ...],
    bandwidths: tuple[LinkBandwidth, ...],
    latency: Latency = LATENCY,
) -> Platform:
    """Return hosts around a switch that limits nothing, each with a speed and link of its own.

    Parameters
    ----------
    speeds : tuple of float
        Of each host [flop/s].
    bandwidths : tuple of float
        Of the link of each host, in each direction [byte/s].
    latency : float
        Of each link [s].
    """
    if not len(speeds) == len(bandwidths) > 0:
        raise ValueError(f"{len(speeds)} speeds and {len(bandwidths)} bandwidths; give as many")
    spokes = [
        spoke(Host(f"host-{at}", speed), Link(f"link-{at}", bandwidth, latency, SPLITDUPLEX))
        for at, (speed, bandwidth) in enumerate(zip(speeds, bandwidths, strict=True), 1)
    ]
    hosts, links, ends = zip(*spokes, strict=True)
    return Platform((Zone("hosts", "Cluster", (*hosts, *links, *ends)),))


def grid5000(
    site: str | tuple[str, ...] = (),
    cluster: str | tuple[str, ...] = (),
    reference: Name | None = None,
    interconnect: Literal["ethernet", "fast"] = "ethernet",
    latencies: Name | None = None,
    *,
    directory: Path = Path(),
) -> Platform:
    """Return the platform of Grid'5000, or of a part of it.

    Parameters
    ----------
    site, cluster : str or tuple of str
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
    sites, clusters = ((each,) if isinstance(each, str) else each for each in (site, cluster))
    try:
        facts, warnings = read_facts(directory / reference) if reference else shipped_catalogue()
        times = read_latencies(directory / latencies, facts) if latencies else None
        return grid5000_platform(selected(facts, sites, clusters, warnings), times, interconnect)
    except PlatformError as error:
        raise ValueError(str(error)) from error


def federation(
    description: Name | None = None,
    seed: Seed | None = None,
    *,
    directory: Path = Path(),
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
        The contents of such a file instead: ``name``, ``backbone`` and ``sites``.
    """
    if (description is None) is not bool(tables):
        raise ValueError("give either a description or its tables, such as sites")
    try:
        if description is not None:
            return read_federation_platform(directory / description, seed)
        return federation_platform_from(tables, seed)
    except PlatformError as error:
        raise ValueError(str(error)) from error
