"""Routes between hosts and between zones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from simplugin.errors import PlatformError
from simplugin.platforms.links import LinkUse, as_uses
from simplugin.platforms.validation import require_name

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, init=False)
class Route:
    """The links between two hosts or routers of one zone.

    Attributes
    ----------
    source, destination : str
        Hosts or routers.
    links : tuple of LinkUse
        In the order in which they are passed. Names are accepted in their stead.
    symmetrical : bool
        Whether it serves the way back too, the links in reverse order.

    Raises
    ------
    PlatformError
        It has no link, or an end has no name.
    """

    tag: ClassVar[str] = "route"
    source: str
    destination: str
    links: tuple[LinkUse, ...]
    symmetrical: bool

    def __init__(
        self,
        source: str,
        destination: str,
        links: Iterable[LinkUse | str],
        *,
        symmetrical: bool = True,
    ) -> None:
        _set_route(self, source, destination, links)
        object.__setattr__(self, "symmetrical", symmetrical)


@dataclass(frozen=True, slots=True, init=False)
class BypassRoute:
    """A route between two hosts or routers that replaces what the zone's routing gives.

    Attributes
    ----------
    source, destination : str
        Hosts or routers; one way only.
    links : tuple of LinkUse
        In the order in which they are passed. Names are accepted in their stead.
    """

    tag: ClassVar[str] = "bypassRoute"
    source: str
    destination: str
    links: tuple[LinkUse, ...]

    def __init__(self, source: str, destination: str, links: Iterable[LinkUse | str]) -> None:
        _set_route(self, source, destination, links)


@dataclass(frozen=True, slots=True, init=False)
class ZoneRoute:
    """The links between two zones of one zone.

    Attributes
    ----------
    source, destination : str
        Zones or clusters.
    gateway_source, gateway_destination : str
        The host or router of either at which the route starts and ends.
    links : tuple of LinkUse
        In the order in which they are passed. Names are accepted in their stead.
    symmetrical : bool
        Whether it serves the way back too, the links in reverse order.

    Raises
    ------
    PlatformError
        It has no link, a name is missing, or both gateways are the same.
    """

    tag: ClassVar[str] = "zoneRoute"
    source: str
    destination: str
    gateway_source: str
    gateway_destination: str
    links: tuple[LinkUse, ...]
    symmetrical: bool

    def __init__(
        self,
        source: str,
        destination: str,
        gateway_source: str,
        gateway_destination: str,
        links: Iterable[LinkUse | str],
        *,
        symmetrical: bool = True,
    ) -> None:
        _set_route(self, source, destination, links)
        _set_gateways(self, gateway_source, gateway_destination)
        if gateway_source == gateway_destination:
            raise PlatformError(
                f"the route from zone {source!r} to zone {destination!r} has "
                f"{gateway_source!r} as both gateways",
                remedy="name a host or router of each zone",
            )
        object.__setattr__(self, "symmetrical", symmetrical)


@dataclass(frozen=True, slots=True, init=False)
class BypassZoneRoute:
    """A route between two zones, at any depth, that replaces what the routing gives.

    Attributes
    ----------
    source, destination : str
        Zones or clusters; one way only.
    gateway_source, gateway_destination : str
        The host or router of either at which the route starts and ends.
    links : tuple of LinkUse
        In the order in which they are passed. Names are accepted in their stead.
    """

    tag: ClassVar[str] = "bypassZoneRoute"
    source: str
    destination: str
    gateway_source: str
    gateway_destination: str
    links: tuple[LinkUse, ...]

    def __init__(
        self,
        source: str,
        destination: str,
        gateway_source: str,
        gateway_destination: str,
        links: Iterable[LinkUse | str],
    ) -> None:
        _set_route(self, source, destination, links)
        _set_gateways(self, gateway_source, gateway_destination)


AnyRoute = Route | BypassRoute | ZoneRoute | BypassZoneRoute


def _set_route(
    route: AnyRoute, source: str, destination: str, links: Iterable[LinkUse | str]
) -> None:
    """Check and set what every route has."""
    require_name(f"the source of a {route.tag}", source)
    require_name(f"the destination of a {route.tag}", destination)
    uses = as_uses([links] if isinstance(links, str) else links)
    if not uses:
        raise PlatformError(
            f"the {route.tag} from {source!r} to {destination!r} has no link",
            remedy="list at least one link",
        )
    object.__setattr__(route, "source", source)
    object.__setattr__(route, "destination", destination)
    object.__setattr__(route, "links", uses)


def _set_gateways(route: ZoneRoute | BypassZoneRoute, source: str, destination: str) -> None:
    """Check and set the gateways of a route between zones."""
    what = f"the {route.tag} from {route.source!r} to {route.destination!r}"
    require_name(f"the source gateway of {what}", source)
    require_name(f"the destination gateway of {what}", destination)
    object.__setattr__(route, "gateway_source", source)
    object.__setattr__(route, "gateway_destination", destination)
