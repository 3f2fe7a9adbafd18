"""The condensed catalogue of Grid'5000: facts and warnings as one JSON file, a line a group."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from simplugin.core.errors import PlatformError
from simplugin.formats.grid5000.reference import read_reference
from simplugin.inputs.documents import read_json
from simplugin.inputs.files import FilePath, write
from simplugin.inputs.validation import row, table, tuple_of, validated
from simplugin.platforms.grid5000.facts import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    DataWarning,
    Grid5000,
    NodeGroup,
    SiteFacts,
    SitePosition,
    Uplink,
)

FORMAT = "simplugin catalogue of Grid'5000, version 1"
SOURCE = "Grid'5000 reference repository, https://gitlab.inria.fr/grid5000/reference-repository"
SHIPPED = "grid5000-2026-03.json"
_REMEDY = "make one by `simplugin platform catalogue REFERENCE -o FILE`"


def read_facts(path: FilePath) -> tuple[Grid5000, tuple[DataWarning, ...]]:
    """Read a catalogue or a reference, whichever it is.

    Parameters
    ----------
    path : path
        What `read_catalogue` or `simplugin.formats.grid5000.reference.read_reference` takes.

    Returns
    -------
    facts : Grid5000
        Sites, nodes, switches and the backbone.
    warnings : tuple of DataWarning
        Missing or contradictory entries of the reference.

    Raises
    ------
    PlatformError
        It is neither, or says something wrong.
    """
    return read_catalogue(path) if is_catalogue(path) else read_reference(path)


def shipped_catalogue() -> tuple[Grid5000, tuple[DataWarning, ...]]:
    """Read the catalogue that comes with the package: the reference of March 2026.

    Returns
    -------
    facts : Grid5000
        Sites, nodes, switches and the backbone.
    warnings : tuple of DataWarning
        Missing or contradictory entries of the reference.
    """
    with resources.as_file(resources.files("simplugin.formats.grid5000") / SHIPPED) as path:
        return read_catalogue(path)


def read_catalogue(path: FilePath) -> tuple[Grid5000, tuple[DataWarning, ...]]:
    """Read a catalogue.

    Parameters
    ----------
    path : path
        A file that `write_catalogue` wrote.

    Returns
    -------
    facts : Grid5000
        Exactly the facts that were written.
    warnings : tuple of DataWarning
        The same.

    Raises
    ------
    PlatformError
        It cannot be read, is no catalogue, or says something wrong; the message names the line.
    """
    document = read_json(path, PlatformError)
    content = document.content
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise PlatformError(f"this is no {FORMAT}", file=path, remedy=_REMEDY)
    found: tuple[Grid5000, tuple[DataWarning, ...]] = validated(_CATALOGUE, document)
    return found


def write_catalogue(facts: Grid5000, warnings: Iterable[DataWarning], path: FilePath) -> None:
    """Write a catalogue, a line a group of nodes, so that two can be compared line by line.

    Parameters
    ----------
    facts : Grid5000
        Sites, nodes, switches and the backbone.
    warnings : iterable of DataWarning
        Missing or contradictory entries of the reference.
    path : path
        Where; an existing file is replaced.

    Raises
    ------
    PlatformError
        The file cannot be written.
    """
    write(catalogue_text(facts, warnings), path, PlatformError)


def catalogue_text(facts: Grid5000, warnings: Iterable[DataWarning]) -> str:
    """Return a catalogue as text.

    Parameters
    ----------
    facts : Grid5000
        Sites, nodes, switches and the backbone.
    warnings : iterable of DataWarning
        Missing or contradictory entries of the reference.

    Returns
    -------
    str
        JSON; numbers are exact.
    """
    content = {
        "format": FORMAT,
        "date": facts.date,
        "source": SOURCE,
        "sites": list(map(_site, facts.sites)),
        "backbone": [
            {
                "ends": link.ends,
                "rate": _plain(link.rate),
                **({"assumed": True} if link.assumed else {}),
            }
            for link in facts.backbone
        ],
        "places": [[p.name, _plain(p.latitude), _plain(p.longitude)] for p in facts.places],
        "warnings": [[each.kind, each.place, each.message, each.about] for each in warnings],
    }
    return _json(content, "") + "\n"


def _site(site: SiteFacts) -> dict[str, Any]:
    """Return a site as an object."""
    return {
        "uid": site.uid,
        "router": site.router,
        "uplinks": [[way.switch, way.towards, _plain(way.rate)] for way in site.uplinks],
        "clusters": [
            {"uid": cluster.uid, "groups": list(map(_group, cluster.groups))}
            for cluster in site.clusters
        ],
    }


def _group(group: NodeGroup) -> dict[str, Any]:
    """Return a group of nodes as an object."""
    members = {"numbers": group.numbers, "cores": group.cores, "speed": _plain(group.speed)}
    adapters = {"adapter": group.adapter, "fast_adapter": group.fast_adapter}
    return members | {
        key: [each.interface, _plain(each.rate), each.switch]
        for key, each in adapters.items()
        if each is not None
    }


def _json(value: Any, indent: str) -> str:
    """Return JSON in which each item of a list of lists or objects has a line of its own."""
    inner = indent + " "
    if not _is_long(value):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        items = [_json(each, inner) for each in value]
        return f"[\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}]"
    # Short members come first, on one line.
    lines: dict[bool, list[str]] = {False: [], True: []}
    for key, each in value.items():
        lines[_is_long(each)].append(f"{json.dumps(key)}: {_json(each, inner)}")
    return "{" + f",\n{inner}".join([", ".join(lines[False]), *lines[True]]) + "}"


def _is_long(value: Any) -> bool:
    """Return True if a value is a list of lists or objects, or an object with such a list."""
    if isinstance(value, dict):
        return any(map(_is_long, value.values()))
    return isinstance(value, list) and bool(value) and isinstance(value[0], list | dict)


def _plain(value: float) -> float | int:
    """Return a whole number as one, which reads better and is the same number."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _catalogue(
    date: str,
    sites: tuple[SiteFacts, ...],
    backbone: tuple[BackboneLink, ...],
    places: tuple[SitePosition, ...],
    warnings: tuple[DataWarning, ...],
    format: str = "",  # noqa: A002, ARG001 # checked before
    source: str = "",  # noqa: ARG001
) -> tuple[Grid5000, tuple[DataWarning, ...]]:
    """Return the facts and the warnings of a catalogue."""
    return Grid5000(date, sites, backbone, places), warnings


_ADAPTER = row(Adapter, interface=str, rate=float, switch=str)
_GROUP = table(
    NodeGroup, numbers=str, cores=int, speed=float, adapter=_ADAPTER, fast_adapter=_ADAPTER
)
_SITE = table(
    SiteFacts,
    uid=str,
    router=str,
    uplinks=tuple_of(row(Uplink, switch=str, towards=str, rate=float)),
    clusters=tuple_of(table(ClusterFacts, uid=str, groups=tuple_of(_GROUP))),
)
_ENDS = Annotated[list[str], Field(min_length=2, max_length=2)]
_CATALOGUE = table(
    _catalogue,
    format=str,
    date=str,
    source=str,
    sites=tuple_of(_SITE),
    backbone=tuple_of(table(BackboneLink, ends=_ENDS, rate=float, assumed=bool)),
    places=tuple_of(row(SitePosition, name=str, latitude=float, longitude=float)),
    warnings=tuple_of(row(DataWarning, kind=str, place=str, message=str, about=tuple_of(str))),
)


def is_catalogue(path: FilePath) -> bool:
    """Return True if a file begins as a catalogue does.

    Parameters
    ----------
    path : path
        Of anything.

    Returns
    -------
    bool
        False also if it cannot be read.
    """
    if not Path(path).is_file():
        return False
    try:
        with Path(path).open("rb") as stream:
            return FORMAT.encode() in stream.read(4096)
    except OSError:
        return False
