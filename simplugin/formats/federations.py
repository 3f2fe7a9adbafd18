"""Descriptions of federations in TOML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from simplugin.core.errors import PlatformError
from simplugin.inputs.documents import Document, read_toml
from simplugin.inputs.files import FilePath
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.validation import table, tuple_of, validated
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.drawn_quantities import DrawnBandwidth, DrawnLatency, DrawnSpeed, drawn
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
from simplugin.platforms.laws import Law
from simplugin.platforms.platform import Platform


def read_federation(path: FilePath, seed: int | None = None) -> Federation:
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
    return _federation_of(read_toml(path, PlatformError), seed)


def read_federation_platform(path: FilePath, seed: int | None = None) -> Platform:
    """Read the description of a federation, and make its platform.

    Parameters
    ----------
    path, seed
        As for `read_federation`.

    Raises
    ------
    PlatformError
        The description cannot be read, or is invalid, or a drawn value is invalid; with
        the file, the line where there is one, and a remedy.
    """
    return _platform(read_toml(path, PlatformError), seed)


def federation_platform_from(tables: Mapping[str, Any], seed: int | None = None) -> Platform:
    """Return the platform of the federation that tables describe.

    Parameters
    ----------
    tables : mapping
        As in a file.
    seed : int, optional
        Of the draws, instead of that in the tables.

    Raises
    ------
    PlatformError
        They are invalid, or a drawn value is.
    """
    return _platform(Document(dict(tables), PlatformError), seed)


def _federation_of(document: Document, seed: int | None) -> Federation:
    """Return the federation that a document describes."""
    found: Federation = validated(_FEDERATION, document)
    return found if seed is None else replace(found, seed=seed)


def _platform(document: Document, seed: int | None) -> Platform:
    """Return the platform of the federation that a document describes."""
    federation = _federation_of(document, seed)
    try:
        platform = federation.platform()
        require_consistent(platform)
    except PlatformError as error:
        about = error.about if isinstance(error, FederationError) else ()
        raise document.error(about, error.message, error.remedy) from None
    return platform


def _link(
    between: list[str],
    bandwidth: float | Law,
    latency: float | Law = 0.0,
    duplex: bool = True,
) -> SiteLink:
    """Return a cable between two sites."""
    source, destination = between
    return SiteLink(source, destination, Wire(bandwidth, latency, duplex))


def _backbone(
    kind: str,
    hub: Switch | None = None,
    links: Sequence[SiteLink] = (),
    *,
    bandwidth: float | Law | None = None,
    latency: float | Law | None = None,
    duplex: bool | None = None,
) -> SiteBackbone:
    """Return the network between the sites."""
    wire = None
    if bandwidth is not None:
        wire = Wire(bandwidth, latency or 0.0, duplex is not False)
    elif latency is not None or duplex is not None:
        raise InvalidValueError("key '{key}' is missing", "add it", ("bandwidth",))
    return SiteBackbone(kind, wire, hub, tuple(links))


def _whole(value: Any) -> Any:
    """Return a whole number, which may be written as 4.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_TEXT = Annotated[str, Field(min_length=1, examples=["a text"])]
_KIND = Annotated[str, Field(examples=[f"one of {', '.join(BACKBONES)}"])]
_SEED = Annotated[int, BeforeValidator(_whole), Field(ge=0)]
_REPEAT = Annotated[int, BeforeValidator(_whole), Field(ge=1)]
_COUNT = drawn(_REPEAT, float)
_CAPACITY = {"bandwidth": DrawnBandwidth, "latency": DrawnLatency}
_CABLE = {**_CAPACITY, "duplex": bool}
_WIRE = table(Wire, **_CABLE)
_SWITCH = table(Switch, **_CAPACITY, uplink=_WIRE)
_CLUSTER = table(
    ClusterGroup,
    name=_TEXT,
    repeat=_REPEAT,
    hosts=_COUNT,
    speed=DrawnSpeed,
    cores=_COUNT,
    **_CAPACITY,
    backbone=table(Switch, **_CAPACITY),
    uplink=_WIRE,
    switch=_TEXT,
)
_SITE = table(
    SiteGroup,
    name=_TEXT,
    repeat=_REPEAT,
    one_switch=bool,
    switch=_SWITCH,
    switches=tuple_of(table(Switch, name=_TEXT, **_CAPACITY, uplink=_WIRE, to=_TEXT)),
    uplink=_WIRE,
    clusters=tuple_of(_CLUSTER),
)
_BETWEEN = Annotated[list[_TEXT], Field(min_length=2, max_length=2, examples=["two names"])]
_BACKBONE = table(
    _backbone,
    kind=_KIND,
    **_CABLE,
    hub=table(Switch, **_CAPACITY),
    links=tuple_of(table(_link, between=_BETWEEN, **_CABLE)),
)
_FEDERATION = table(Federation, name=_TEXT, seed=_SEED, backbone=_BACKBONE, sites=tuple_of(_SITE))
