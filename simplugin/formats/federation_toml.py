"""Descriptions of federations in TOML."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from simplugin.errors import PlatformError
from simplugin.formats.federation_tables import Document, Table
from simplugin.formats.toml_lines import place_of
from simplugin.platforms.federation_parts import (
    ClusterGroup,
    SiteBackbone,
    SiteGroup,
    SiteLink,
    Switch,
    Wire,
)
from simplugin.platforms.federations import Federation

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

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
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PlatformError(f"cannot be read: {reason}", file=path) from None
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, line = place_of(error, text)
        raise PlatformError(f"not TOML: {message}", file=path, line=line) from None
    return federation_from(tables, seed, Document(path, text))


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
    top = Table(dict(tables), (), document or Document(), _TOP)
    name = top.text("name", "federation")
    own = top.whole("seed", 0, 0)
    sites = tuple(_site(table) for table in top.tables("sites", _SITE))
    between = top.table("backbone", _BACKBONE)
    backbone = None if between is None else _backbone(between)
    chosen = own if seed is None else seed
    return (between or top).made(lambda: Federation(name, sites, backbone, chosen or 0))


def _site(table: Table) -> SiteGroup:
    """Read a site, or several alike."""
    one_switch = table.truth("one_switch", default=True)
    clusters = tuple(_cluster(each) for each in table.tables("clusters", _CLUSTER))
    switch = table.table("switch", _CAPACITY if one_switch else _SWITCH)
    if "one_switch" in table and switch is None:
        raise table.wrong("one_switch", "remove it, or describe the switch: switch = { ... }")
    named = table.tables("switches", _NAMED_SWITCH)
    return table.made(
        lambda: SiteGroup(
            table.text("name"),
            clusters,
            _switch(switch),
            one_switch,
            tuple(_named_switch(each) for each in named),
            _wire(table.table("uplink", _WIRE)),
            table.whole("repeat", 1),
        )
    )


def _cluster(table: Table) -> ClusterGroup:
    """Read a cluster, or several alike."""
    return table.made(
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
        )
    )


def _backbone(table: Table) -> SiteBackbone:
    """Read what joins the sites."""
    links = tuple(_link(each) for each in table.tables("links", _LINK))
    hub = _switch(table.table("hub", _CAPACITY))
    has_wire = any(key in table for key in ("bandwidth", "latency", "duplex"))
    wire = _wire(table) if has_wire else None
    return table.made(lambda: SiteBackbone(table.text("kind"), wire, hub, links))


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
