"""Descriptions of federations in TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from simplugin.errors import PlatformError
from simplugin.formats.federation_tables import Document, Table
from simplugin.inputs.documents import read_toml
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.federations.federation import Federation
from simplugin.platforms.federations.parts import (
    BACKBONES,
    ClusterGroup,
    FederationError,
    SiteBackbone,
    SiteGroup,
    SiteLink,
    Switch,
    Wire,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from simplugin.platforms import Platform

_Made = TypeVar("_Made")

_TOP = ("name", "seed", "backbone", "sites")
_BACKBONE = ("kind", "bandwidth", "latency", "duplex", "hub", "links")
_LINK = ("between", "bandwidth", "latency", "duplex")
_SITE = ("name", "repeat", "one_switch", "switch", "switches", "uplink", "clusters")
_CLUSTER = (
    *("name", "repeat", "hosts", "speed", "cores", "bandwidth", "latency"),
    *("backbone", "uplink", "switch"),
)
_SWITCH = ("bandwidth", "latency", "uplink")
_NAMED_SWITCH = ("name", *_SWITCH, "to")
_CAPACITY = ("bandwidth", "latency")
_WIRE = ("bandwidth", "latency", "duplex")


def read_federation(path: str | os.PathLike[str], seed: int | None = None) -> Federation:
    """Read the description of a federation.

    Parameters
    ----------
    path : path
        A TOML file; docs/platforms/federations.md has its keys.
    seed : int, optional
        Of the draws, instead of the file's.

    Raises
    ------
    PlatformError
        It cannot be read or says something wrong; with line and remedy.
    """
    document, tables = _document(path)
    return federation_from(tables, seed, document)


def read_federation_platform(path: str | os.PathLike[str], seed: int | None = None) -> Platform:
    """Read the description of a federation, and make its platform.

    Parameters
    ----------
    path, seed
        As for `read_federation`.

    Raises
    ------
    PlatformError
        The description cannot be read or says something wrong, or what was drawn cannot be; with
        the file, the line where there is one, and a remedy.
    """
    document, tables = _document(path)
    return _platform(federation_from(tables, seed, document), document)


def federation_platform_from(tables: Mapping[str, Any], seed: int | None = None) -> Platform:
    """Return the platform of the federation that tables describe.

    Parameters
    ----------
    tables, seed
        As for `federation_from`.

    Raises
    ------
    PlatformError
        They say something wrong, or what was drawn cannot be.
    """
    return _platform(federation_from(tables, seed), Document())


def _platform(federation: Federation, document: Document) -> Platform:
    """Return the platform of a federation."""

    def made() -> Platform:
        platform = federation.platform()
        require_consistent(platform)
        return platform

    return _made(made, document)


def _document(path: str | os.PathLike[str]) -> tuple[Document, dict[str, Any]]:
    """Read a TOML file."""
    document = read_toml(path, PlatformError)
    return Document(path, document.text), document.content


def _made(make: Callable[[], _Made], document: Document, *path: str | int) -> _Made:
    """Return what a part of a document describes; an objection gets the line that it is about."""
    try:
        return make()
    except PlatformError as error:
        if error.file is not None:
            raise
        about = error.about if isinstance(error, FederationError) else ()
        placed = document.error((*path, *about), error.message, error.remedy)
        if about and placed.line is None and document.file is not None:
            # What the outermost table lacks is missing from the first line on.
            placed = PlatformError(error.message, file=document.file, line=1, remedy=error.remedy)
        raise placed from None


def federation_from(
    tables: Mapping[str, Any], seed: int | None = None, document: Document | None = None
) -> Federation:
    """Return the federation that tables describe.

    Parameters
    ----------
    tables : mapping
        As in a file.
    seed : int, optional
        Of the draws, instead of that in the tables.
    document : Document, optional
        What they were read from, for the lines in messages.

    Raises
    ------
    PlatformError
        They say something wrong.
    """
    read = document or Document()
    top = Table(dict(tables), (), read, _TOP)
    name = top.text("name", "federation")
    own = top.whole("seed", 0, 0)
    sites = tuple(_site(table, read, at) for at, table in enumerate(top.tables("sites", _SITE)))
    between = top.table("backbone", _BACKBONE)
    backbone = None if between is None else _backbone(between, read)
    chosen = own if seed is None else seed
    return _made(lambda: Federation(name, sites, backbone, chosen or 0), read)


def _site(table: Table, document: Document, at: int) -> SiteGroup:
    """Read a site, or several alike."""
    one_switch = table.truth("one_switch", default=True)
    clusters = tuple(
        _cluster(each, document, "sites", at, "clusters", number)
        for number, each in enumerate(table.tables("clusters", _CLUSTER))
    )
    switch = table.table("switch", _CAPACITY if one_switch else _SWITCH)
    if "one_switch" in table and switch is None:
        raise table.wrong("one_switch", "remove it, or describe the switch: switch = { ... }")
    named = table.tables("switches", _NAMED_SWITCH)
    return _made(
        lambda: SiteGroup(
            table.text("name"),
            clusters,
            _switch(switch),
            one_switch,
            tuple(_named_switch(each) for each in named),
            _wire(table.table("uplink", _WIRE)),
            table.whole("repeat", 1),
        ),
        document,
        *("sites", at),
    )


def _cluster(table: Table, document: Document, *path: str | int) -> ClusterGroup:
    """Read a cluster, or several alike."""
    return _made(
        lambda: ClusterGroup(
            table.text("name"),
            table.count("hosts"),
            table.quantity("speed"),
            table.quantity("bandwidth"),
            table.quantity("latency"),
            table.count("cores", 1),
            _switch(table.table("backbone", _CAPACITY)),
            _wire(table.table("uplink", _WIRE)),
            table.text("switch", ""),
            table.whole("repeat", 1),
        ),
        document,
        *path,
    )


def _backbone(table: Table, document: Document) -> SiteBackbone:
    """Read what joins the sites."""
    links = tuple(_link(each) for each in table.tables("links", _LINK))
    hub = _switch(table.table("hub", _CAPACITY))
    has_wire = any(key in table for key in ("bandwidth", "latency", "duplex"))
    wire = _wire(table) if has_wire else None
    return _made(
        lambda: SiteBackbone(table.text("kind", choices=BACKBONES), wire, hub, links),
        document,
        "backbone",
    )


def _link(table: Table) -> SiteLink:
    """Read a cable between two sites."""
    source, destination = table.texts("between", 2)
    wire = _wire(table)
    assert wire is not None
    return SiteLink(source, destination, wire)


def _wire(table: Table | None) -> Wire | None:
    """Read a cable."""
    if table is None:
        return None
    return table.made(
        lambda: Wire(
            table.quantity("bandwidth"),
            table.quantity("latency", 0.0),
            table.truth("duplex", default=True),
        )
    )


def _switch(table: Table | None) -> Switch | None:
    """Read the bandwidth, the latency and perhaps the uplink of a switch without a name."""
    if table is None:
        return None
    uplink = _wire(table.table("uplink", _WIRE))
    return table.made(
        lambda: Switch("", table.quantity("bandwidth"), table.quantity("latency", 0.0), uplink)
    )


def _named_switch(table: Table) -> Switch:
    """Read one of the switches of a site."""
    return table.made(
        lambda: Switch(
            table.text("name"),
            table.quantity("bandwidth") if "bandwidth" in table else None,
            table.quantity("latency", 0.0),
            _wire(table.table("uplink", _WIRE)),
            table.text("to", ""),
        )
    )
