"""Facts of Grid'5000 from its reference repository, or from a dump of its API.

References
----------
.. [1] Grid'5000 reference repository, https://gitlab.inria.fr/grid5000/reference-repository.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simplugin.core.errors import PlatformError
from simplugin.formats.grid5000.backbone import all_places, backbone, site_places
from simplugin.formats.grid5000.entries import DataWarnings, ReferenceEntry, grid_entry
from simplugin.formats.grid5000.nodes import cluster_facts
from simplugin.formats.grid5000.switches import SiteNetwork, site_network, unknown_nodes, uplinks
from simplugin.inputs.documents import parse_json
from simplugin.inputs.files import FilePath, decoded, read_bytes
from simplugin.platforms.grid5000.facts import DataWarning, Grid5000, SiteFacts

# The reference of March 2026 is 9.4 MB in 1,195 files, the largest of 0.2 MB.
LARGEST_ARCHIVE = 512 << 20
_FORMS = (
    "give the reference repository's directory, a tar of it, or the API's deep description as JSON"
)
_DEEP = "ask the API for the deep description of the whole grid, which has all clusters and nodes"
_ENTRY = re.compile(
    r"(?:network_equipments/[^/]+|sites/(?P<site>[^/]+)/(?:(?P=site)|network_equipments/[^/]+"
    r"|clusters/(?P<cluster>[^/]+)/(?:(?P=cluster)|nodes/[^/]+)))\.json"
)


def read_tree(path: FilePath) -> tuple[dict[str, Any], bool]:
    """Return all that is said of the grid, in the form of the API's deep description.

    Parameters
    ----------
    path : path
        The repository's directory, its ``data`` or ``data/grid5000``; a tar of one of these; or
        one JSON file with everything: the grid, its sites (a list, or an object with ``items``)
        or a site. Tar and JSON may be compressed with gzip, bzip2 or xz.

    Returns
    -------
    content : dict
        The grid.
    from_files : bool
        Whether it was put together of files, one for each entry.

    Raises
    ------
    PlatformError
        It cannot be read, is cut, is no reference, or a file in it is no JSON object; the message
        names the file and the line.
    """
    if Path(path).is_dir():
        return _tree(_directory_files(Path(path)), path), True
    data = read_bytes(path, PlatformError, _FORMS, LARGEST_ARCHIVE)
    if tarfile.is_tarfile(io.BytesIO(data)):
        return _tree(_archive_files(data, path), path), True
    return _dump(_json_of(data, path), path), False


def parse(data: bytes, file: FilePath) -> dict[str, Any]:
    """Return the JSON object that a file in UTF-8 holds; raise PlatformError if it holds none."""
    content = _json_of(data, file)
    if not isinstance(content, dict):
        raise PlatformError("this is no JSON object", file=file, remedy=_FORMS)
    return content


def _dump(content: Any, path: FilePath) -> dict[str, Any]:
    """Return the grid that a dump of the API describes: all of it, some sites, or a site."""
    if isinstance(content, dict) and "clusters" in content and "sites" not in content:
        content = [content]
    elif isinstance(content, dict) and "items" in content:
        content = content["items"]
    grid = {"sites": content} if isinstance(content, list) else content
    if not isinstance(grid, dict) or not grid.get("sites"):
        raise PlatformError("there are no sites in it", file=path, remedy=_FORMS)
    sites = grid["sites"]
    if isinstance(sites, dict) and isinstance(sites.get("items"), list):
        sites = sites["items"]
    members = list(sites.values()) if isinstance(sites, dict) else sites
    if isinstance(members, list) and not any(
        isinstance(each, dict) and each.get("clusters") for each in members
    ):
        raise PlatformError("no site in it has clusters", file=path, remedy=_DEEP)
    return grid


def _json_of(data: bytes, file: FilePath) -> Any:
    """Return the content of a JSON file."""
    return parse_json(decoded(data, file, PlatformError), file, PlatformError).content


def _tree(files: Iterable[tuple[str, bytes]], path: FilePath) -> dict[str, Any]:
    """Return the grid that files make up; their names are relative to its directory."""
    grid: dict[str, Any] = {"sites": {}, "network_equipments": {}}
    for name, data in files:
        # The file of a site or a cluster is in its directory.
        steps = name.removesuffix(".json").split("/")
        at = grid
        for step in steps[: len(steps) // 2 * 2]:
            at = at.setdefault(step, {})
        at.update(
            (key, value)
            for key, value in parse(data, os.path.join(path, name)).items()
            if key not in ("sites", "clusters", "nodes", "network_equipments")
        )
    if not grid["sites"]:
        raise PlatformError("there are no sites in it", file=path, remedy=_FORMS)
    return grid


def _directory_files(path: Path) -> Iterable[tuple[str, bytes]]:
    """Yield the files that matter, in the order of their names."""
    roots = (path, path / "grid5000", path / "data" / "grid5000")
    root = next((each for each in roots if (each / "sites").is_dir()), None)
    if root is None:
        raise PlatformError("there is no directory 'sites' in it", file=path, remedy=_FORMS)
    names = sorted(
        os.path.relpath(os.path.join(directory, name), root)
        for top in ("sites", "network_equipments")
        for directory, _, files in os.walk(root / top)
        for name in files
    )
    for name in names:
        if _ENTRY.fullmatch(name):
            yield name, read_bytes(root / name, PlatformError, _FORMS)


def _archive_files(data: bytes, path: FilePath) -> Iterable[tuple[str, bytes]]:
    """Yield the files that matter, in the order of their names; nothing is written to disk."""
    if not data.endswith(bytes(1024)):
        raise PlatformError("the archive is cut", file=path, remedy="fetch it again")
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            members = {
                member.name.removeprefix("./"): member for member in archive if member.isreg()
            }
            root = _archive_root(members)
            for name in sorted(members):
                rest = name.removeprefix(root)
                if not name.startswith(root) or not _ENTRY.fullmatch(rest):
                    continue
                if members[name].size > len(data):  # a sparse file, perhaps of terabytes
                    raise PlatformError(
                        f"{name} is larger than the archive", file=path, remedy="fetch it again"
                    )
                stream = archive.extractfile(members[name])
                if stream is not None:
                    yield rest, stream.read()
    except (tarfile.TarError, EOFError, OverflowError) as error:
        raise PlatformError(
            f"this is no whole tar: {error}", file=path, remedy="fetch it again"
        ) from None


def _archive_root(names: Iterable[str]) -> str:
    """Return the prefix of ``sites/`` in the names of members."""
    roots = {
        match[1]
        for match in (re.match(r"((?:.*?/)??)sites/[^/]+/.*\.json", name) for name in names)
        if match is not None
    }
    # The repository contains sources and generated files; the latter are in data/grid5000.
    return min(roots, key=lambda root: (not root.endswith("data/grid5000/"), root), default="")


_DATE = re.compile(r"(?<!\d)\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?(?!\d)", re.ASCII)


def read_reference(
    path: FilePath, *, date: str | None = None
) -> tuple[Grid5000, tuple[DataWarning, ...]]:
    """Read sites, nodes, switches and the backbone from the reference.

    Invalid entries are skipped, contradictions are decided, missing values are assumed, each
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
        All sites with nodes.
    warnings : tuple of DataWarning
        Problems of the data, sorted by place; places do not depend on where the reference is.

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
    networks: dict[str, tuple[ReferenceEntry, SiteNetwork]] = {}
    taken: set[str] = set()
    for site in grid.parts["sites"]:
        network = site_network(site, warnings)
        clusters = []
        for cluster in site.parts["clusters"]:
            about = warnings.on(cluster.place, "cluster", site.uid, cluster.uid)
            if cluster.uid in taken:
                about.left_out(f"another site has a cluster {cluster.uid} too")
            elif (facts := cluster_facts(cluster, network, about)) is not None:
                taken.add(cluster.uid)
                clusters.append(facts)
        known = {node.uid for each in site.parts["clusters"] for node in each.parts["nodes"]}
        unknown_nodes(network, known, warnings)
        if not clusters:
            warnings.on(site.place, "site", site.uid).left_out(f"{site.uid} has no nodes")
            continue
        # Rates of all adapters together that hang from each equipment [bit/s].
        carried: defaultdict[str, float] = defaultdict(float)
        for group in (group for each in clusters for group in each.groups):
            carried[group.adapter.switch] += group.count * group.adapter.rate
        ways = uplinks(network, carried, warnings)
        networks[site.uid] = (site, network)
        found.append(SiteFacts(site.uid, network.router, tuple(clusters), ways))
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
    return Grid5000(date, tuple(found), links, all_places(places, links)), tuple(ordered)
