"""The condensed catalogue of Grid'5000: facts and remarks as one JSON file, a line a group."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from simplugin.errors import PlatformError, WorkloadFileError
from simplugin.formats.grid5000_reference import read_reference
from simplugin.formats.json_values import read_json
from simplugin.platforms.grid5000.facts import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    Grid5000,
    NodeGroup,
    Place,
    Remark,
    SiteFacts,
    Uplink,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from simplugin.formats.json_values import JsonValue

Part = TypeVar("Part")

FORMAT = "simplugin catalogue of Grid'5000, version 1"
SOURCE = "Grid'5000 reference repository, https://gitlab.inria.fr/grid5000/reference-repository"
SHIPPED = "grid5000-2026-03.json"
_REMEDY = "make one by `simplugin platform catalogue REFERENCE -o FILE`"


def read_facts(path: str | os.PathLike[str]) -> tuple[Grid5000, tuple[Remark, ...]]:
    """Read a catalogue or a reference, whichever it is.

    Parameters
    ----------
    path : path
        What `read_catalogue` or `simplugin.formats.grid5000_reference.read_reference` takes.

    Returns
    -------
    facts : Grid5000
        What is known.
    remarks : tuple of Remark
        What was found missing or contradictory when the reference was read.

    Raises
    ------
    PlatformError
        It is neither, or says something wrong.
    """
    return read_catalogue(path) if is_catalogue(path) else read_reference(path)


def shipped_catalogue() -> tuple[Grid5000, tuple[Remark, ...]]:
    """Read the catalogue that comes with the package: the reference of March 2026.

    Returns
    -------
    facts : Grid5000
        What is known.
    remarks : tuple of Remark
        What was found missing or contradictory when the reference was read.
    """
    with resources.as_file(resources.files("simplugin.formats") / SHIPPED) as path:
        return read_catalogue(path)


def read_catalogue(path: str | os.PathLike[str]) -> tuple[Grid5000, tuple[Remark, ...]]:
    """Read a catalogue.

    Parameters
    ----------
    path : path
        A file that `write_catalogue` wrote.

    Returns
    -------
    facts : Grid5000
        Exactly what was written.
    remarks : tuple of Remark
        The same.

    Raises
    ------
    PlatformError
        It cannot be read, is no catalogue, or says something wrong; the message names the line.
    """
    try:
        root = read_json(path)
        if not isinstance(root.content, dict) or root.content.get("format") != FORMAT:
            raise PlatformError(f"this is no {FORMAT}", file=path, remedy=_REMEDY)
        _only(root, ("format", "date", "source", "sites", "backbone", "places", "remarks"))
        sites = tuple(_site(each) for each in root.member("sites").items())
        links = tuple(_link(each) for each in root.member("backbone").items())
        remarks = tuple(_remark(each) for each in root.member("remarks").items())
        places = tuple(_place(each) for each in root.member("places").items())
        return Grid5000(root.member("date").text(), sites, links, places), remarks
    except WorkloadFileError as error:
        raise PlatformError(
            error.message, file=error.file, line=error.line, remedy=error.remedy
        ) from None


def write_catalogue(
    facts: Grid5000, remarks: Iterable[Remark], path: str | os.PathLike[str]
) -> None:
    """Write a catalogue, a line a group of nodes, so that two can be compared line by line.

    Parameters
    ----------
    facts : Grid5000
        What is known.
    remarks : iterable of Remark
        What was found missing or contradictory.
    path : path
        Where; an existing file is replaced.

    Raises
    ------
    PlatformError
        The file cannot be written.
    """
    try:
        Path(path).write_text(catalogue_text(facts, remarks), encoding="utf-8", newline="\n")
    except OSError as error:
        remedy = "give a path that you may write"
        raise PlatformError(str(error.strerror), file=path, remedy=remedy) from None


def catalogue_text(facts: Grid5000, remarks: Iterable[Remark]) -> str:
    """Return a catalogue as text.

    Parameters
    ----------
    facts : Grid5000
        What is known.
    remarks : iterable of Remark
        What was found missing or contradictory.

    Returns
    -------
    str
        JSON; numbers are exact.
    """
    head = {"format": FORMAT, "date": facts.date, "source": SOURCE}
    lines = ["{", *(f" {_json(key)}: {_json(value)}," for key, value in head.items())]
    lines += [' "sites": [']
    for at, site in enumerate(facts.sites, start=1):
        lines += _site_lines(site)
        lines[-1] += "," * (at < len(facts.sites))
    lines += [" ],", *_list_lines(" ", "backbone", map(_link_json, facts.backbone))]
    lines[-1] += ","
    places = (_json([p.name, _plain(p.latitude), _plain(p.longitude)]) for p in facts.places)
    lines += _list_lines(" ", "places", places)
    lines[-1] += ","
    told = (_json([r.kind, r.place, r.message, list(r.about)]) for r in remarks)
    lines += _list_lines(" ", "remarks", told)
    return "\n".join([*lines, "}", ""])


def _site_lines(site: SiteFacts) -> list[str]:
    """Return the lines of a site."""
    lines = [f'  {{"uid": {_json(site.uid)}, "router": {_json(site.router)},']
    ways = (_json([way.switch, way.towards, _plain(way.rate)]) for way in site.uplinks)
    lines += _list_lines("   ", "uplinks", ways)
    lines += [lines.pop() + ",", '   "clusters": [']
    for at, cluster in enumerate(site.clusters, start=1):
        lines.append(f'    {{"uid": {_json(cluster.uid)},')
        lines += _list_lines("     ", "groups", map(_group_json, cluster.groups))
        lines[-1] += "}" + "," * (at < len(site.clusters))
    return [*lines, "   ]}"]


def _list_lines(indent: str, key: str, items: Iterable[str]) -> list[str]:
    """Return the lines of a list, one for each item."""
    lines = [f"{indent} {item}," for item in items]
    if not lines:
        return [f'{indent}"{key}": []']
    lines[-1] = lines[-1].removesuffix(",")
    return [f'{indent}"{key}": [', *lines, f"{indent}]"]


def _group_json(group: NodeGroup) -> str:
    """Return a group of nodes as an object on one line."""
    members: dict[str, Any] = {
        "numbers": group.numbers,
        "cores": group.cores,
        "speed": _plain(group.speed),
        "adapter": _adapter_list(group.adapter),
    }
    if group.fast_adapter is not None:
        members["fast_adapter"] = _adapter_list(group.fast_adapter)
    return _json(members)


def _adapter_list(adapter: Adapter) -> list[Any]:
    """Return an adapter as a list."""
    return [adapter.interface, _plain(adapter.rate), adapter.switch]


def _link_json(link: BackboneLink) -> str:
    """Return a link of the backbone as an object on one line."""
    members: dict[str, Any] = {"ends": list(link.ends), "rate": _plain(link.rate)}
    if link.assumed:
        members["assumed"] = True
    return _json(members)


def _json(value: Any) -> str:
    """Return a value on one line."""
    return json.dumps(value, ensure_ascii=False)


def _plain(value: float) -> float | int:
    """Return a whole number as one, which reads better and is the same number."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _site(value: JsonValue) -> SiteFacts:
    """Return a site."""
    _only(value, ("uid", "router", "uplinks", "clusters"))
    return SiteFacts(
        value.member("uid").text(),
        value.member("router").text(),
        tuple(_cluster(each) for each in value.member("clusters").items()),
        tuple(_uplink(each) for each in value.member("uplinks").items()),
    )


def _cluster(value: JsonValue) -> ClusterFacts:
    """Return a cluster."""
    _only(value, ("uid", "groups"))
    groups = tuple(_group(each) for each in value.member("groups").items())
    return ClusterFacts(value.member("uid").text(), groups)


def _group(value: JsonValue) -> NodeGroup:
    """Return a group of nodes."""
    _only(value, ("numbers", "cores", "speed", "adapter", "fast_adapter"))
    cores = value.member("cores")
    if not isinstance(cores.content, int) or isinstance(cores.content, bool):
        raise cores.error(f"{cores.content!r} is no whole number", "give a whole number > 0")
    fast = value.get("fast_adapter")
    arguments = (
        value.member("numbers").text(),
        cores.content,
        value.member("speed").number(),
        _adapter(value.member("adapter")),
        None if fast is None else _adapter(fast),
    )
    return _made(value, lambda: NodeGroup(*arguments))


def _adapter(value: JsonValue) -> Adapter:
    """Return an adapter."""
    interface, rate, switch = _items(value, 3)
    arguments = (interface.text(), rate.number(), switch.text())
    return _made(value, lambda: Adapter(*arguments))


def _uplink(value: JsonValue) -> Uplink:
    """Return an uplink."""
    switch, towards, rate = _items(value, 3)
    arguments = (switch.text(), towards.text(), rate.number())
    return _made(value, lambda: Uplink(*arguments))


def _link(value: JsonValue) -> BackboneLink:
    """Return a link of the backbone."""
    _only(value, ("ends", "rate", "assumed"))
    ends = [end.text() for end in value.member("ends").items()]
    if len(ends) != 2:
        raise value.error(f"a link has {len(ends)} ends", "give two")
    assumed = value.get("assumed")
    if assumed is not None and not isinstance(assumed.content, bool):
        raise assumed.error(f"{assumed.content!r} is neither true nor false", "give one of these")
    rate = value.member("rate").number()
    said_so = assumed is not None and bool(assumed.content)
    return _made(value, lambda: BackboneLink((ends[0], ends[1]), rate, said_so))


def _place(value: JsonValue) -> Place:
    """Return where a site or point of presence is."""
    name, *degrees = _items(value, 3)
    latitude, longitude = map(_degrees, degrees)
    return _made(value, lambda: Place(name.text(), latitude, longitude))


def _degrees(value: JsonValue) -> float:
    """Return an angle, which may be negative."""
    content = value.content
    known = isinstance(content, int | float) and not isinstance(content, bool)
    if not known or not abs(content) <= 180:
        raise value.error("this is no angle in degrees", "give a number from -180 to 180")
    return float(content)


def _remark(value: JsonValue) -> Remark:
    """Return a remark."""
    *texts, about = _items(value, 4)
    kind, place, message = (each.text() for each in texts)
    return Remark(kind, place, message, tuple(each.text() for each in about.items()))


def _items(value: JsonValue, count: int) -> list[JsonValue]:
    """Return the items of a list of some length."""
    items = value.items()
    if len(items) != count:
        raise value.error(f"there are {len(items)} items", f"give {count}")
    return items


def _only(value: JsonValue, known: tuple[str, ...]) -> None:
    """Refuse an object that says more than what is read."""
    if isinstance(value.content, dict):
        unknown = [key for key in value.content if key not in known]
        if unknown:
            raise value.error(f"{unknown[0]!r} is not known", f"give only {', '.join(known)}")


def _made(value: JsonValue, make: Callable[[], Part]) -> Part:
    """Return what is made of a value; an error names the line."""
    try:
        return make()
    except PlatformError as error:
        raise value.error(error.message, error.remedy or "give another value") from None


def is_catalogue(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a catalogue does.

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
