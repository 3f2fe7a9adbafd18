"""A platform with its clusters written out host by host."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from simplugin.errors import PlatformError
from simplugin.formats.cluster_expansion import expanded
from simplugin.platforms.hosts import Cluster
from simplugin.platforms.platform import Platform, Zone

if TYPE_CHECKING:
    from simplugin.platforms.platform import PlatformElement, ZoneElement

_Element = TypeVar("_Element", "PlatformElement", "ZoneElement")


def expanded_platform(platform: Platform) -> Platform:
    """Return a platform whose clusters are zones of explicit hosts and links.

    Names and routes stay the same; links of what were clusters can follow profiles.

    Parameters
    ----------
    platform : Platform
        With flat clusters, or none.

    Returns
    -------
    Platform
        What reading it gives after ``write_platform(platform, path, expand=True)``.

    Raises
    ------
    PlatformError
        XML has no elements that say what a cluster says: it is no flat one, say.
    """
    return replace(platform, elements=tuple(map(_written_out, platform.elements)))


def _written_out(element: _Element) -> _Element:
    """Return an element with the clusters in it as zones."""
    if isinstance(element, Zone):
        inner = tuple(map(_written_out, element.elements))
        return cast("_Element", replace(element, elements=inner))
    if not isinstance(element, Cluster):
        return element
    try:
        return cast("_Element", expanded(element))
    except PlatformError as error:
        remedy = "leave the clusters as they are: their links follow no profile then"
        raise PlatformError(error.message, remedy=remedy) from None
