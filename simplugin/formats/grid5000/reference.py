"""Facts of Grid'5000 from its reference repository, or from a dump of its API.

References
----------
.. [1] Grid'5000 reference repository, https://gitlab.inria.fr/grid5000/reference-repository.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

from simplugin.errors import PlatformError
from simplugin.formats.grid5000.backbone import all_places, backbone, site_places
from simplugin.formats.grid5000.entries import DataWarnings, Entry, grid_entry
from simplugin.formats.grid5000.files import read_tree
from simplugin.formats.grid5000.nodes import cluster_facts
from simplugin.formats.grid5000.switches import SiteNetwork, site_network, unknown_nodes, uplinks
from simplugin.platforms.grid5000.facts import ClusterFacts, DataWarning, Grid5000, SiteFacts

_DATE = re.compile(r"(?<!\d)\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?(?!\d)", re.ASCII)


def read_reference(
    path: str | os.PathLike[str], *, date: str | None = None
) -> tuple[Grid5000, tuple[DataWarning, ...]]:
    """Read what the reference says of sites, nodes, switches and the backbone.

    What cannot be used is left out, what disagrees is decided, what is missing is assumed, each
    with a warning: see `cluster_facts`, `uplinks` and `backbone` in this room.

    Parameters
    ----------
    path : path
        The reference repository's directory, its ``data`` or ``data/grid5000``; a tar of one of
        these; or the API's deep description of the grid as one JSON file. Tar and JSON may be
        compressed with gzip, bzip2 or xz. Nothing is written.
    date : str, optional
        Of the facts; otherwise the year and month in the name of the file or directory, such as
        ``reference-2026-03.tar.xz``, and empty where it has none. A year and month, or a day.

    Returns
    -------
    facts : Grid5000
        All sites that have nodes.
    warnings : tuple of DataWarning
        What was odd, sorted by place; the places are the same wherever the reference lies.

    Raises
    ------
    PlatformError
        It cannot be read, is no reference, a file in it is no JSON, or no node can be described;
        the message names the file and the line. Or `date` is none.
    """
    if date is not None and not _DATE.fullmatch(date):
        remedy = "give a year and month, 2026-03, or a day, 2026-03-31"
        raise PlatformError(f"{date!r} is no date of a reference", remedy=remedy)
    content, from_files = read_tree(path)
    warnings = DataWarnings()
    grid = grid_entry(content, warnings, extension=".json" if from_files else "")
    found: list[SiteFacts] = []
    networks: dict[str, tuple[Entry, SiteNetwork]] = {}
    taken: set[str] = set()
    for site in grid.parts["sites"]:
        network = site_network(site, warnings)
        clusters = _clusters(site, network, taken, warnings)
        if not clusters:
            warnings.on("site", site.uid).left_out(site.place, f"{site.uid} has no nodes")
            continue
        ways = uplinks(network, _carried(clusters), warnings)
        networks[site.uid] = (site, network)
        found.append(SiteFacts(site.uid, network.router, clusters, ways))
    if not found:
        raise PlatformError(
            "no node in it can be described",
            file=path,
            remedy="; ".join(map(str, warnings.found[:3])) or "give the whole reference",
        )
    places = site_places(grid, warnings)
    links = backbone(grid, networks, places, warnings)
    if date is None:
        match = _DATE.search(Path(path).resolve().name)
        date = match[0] if match else ""
    ordered = sorted(
        warnings.found, key=lambda warning: (warning.place, warning.kind, warning.message)
    )
    facts = Grid5000(date, tuple(found), links, all_places(places, links))
    return facts, tuple(ordered)


def _clusters(
    site: Entry, network: SiteNetwork, taken: set[str], warnings: DataWarnings
) -> tuple[ClusterFacts, ...]:
    """Return the clusters of a site that have nodes."""
    found = []
    for cluster in site.parts["clusters"]:
        about = warnings.on("cluster", site.uid, cluster.uid)
        if cluster.uid in taken:
            about.left_out(cluster.place, f"another site has a cluster {cluster.uid} too")
            continue
        facts = cluster_facts(cluster, network, about)
        if facts is not None:
            taken.add(cluster.uid)
            found.append(facts)
    known = {node.uid for cluster in site.parts["clusters"] for node in cluster.parts["nodes"]}
    unknown_nodes(network, known, warnings)
    return tuple(found)


def _carried(clusters: tuple[ClusterFacts, ...]) -> dict[str, float]:
    """Return the rates of all adapters together that hang from each equipment [bit/s]."""
    carried: defaultdict[str, float] = defaultdict(float)
    for cluster in clusters:
        for group in cluster.groups:
            carried[group.adapter.switch] += group.count * group.adapter.rate
    return dict(carried)
