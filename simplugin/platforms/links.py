"""Links, the backbone of a zone, and routes over links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Annotated, ClassVar

from simplugin.core.errors import PlatformError
from simplugin.platforms.validation import (
    Bandwidth,
    Latency,
    Name,
    Properties,
    Text,
    ValidatedElement,
    check_fields,
    choice,
    require_parts,
)

SHARED = "SHARED"
FATPIPE = "FATPIPE"
SPLITDUPLEX = "SPLITDUPLEX"
WIFI = "WIFI"
SHARING_POLICIES = frozenset({SHARED, FATPIPE, SPLITDUPLEX, WIFI})
_BACK = {"NONE": "NONE", "UP": "DOWN", "DOWN": "UP"}
DIRECTIONS = frozenset(_BACK)


@dataclass(frozen=True, slots=True)
class Link(ValidatedElement):
    """A network link.

    Attributes
    ----------
    id : str
        Its name. A split-duplex link is two links to SimGrid, ``<id>_UP`` and ``<id>_DOWN``.
    bandwidth : float
        Capacity [byte/s]; in each direction if split-duplex.
    latency : float
        Latency [s].
    sharing_policy : str
        ``SHARED``: all transfers share the bandwidth. ``FATPIPE``: each transfer may have it
        all. ``SPLITDUPLEX``: those in the same direction share it. ``WIFI``: an access point.
    further_bandwidths : tuple of float
        Bandwidths of the modulation levels 1, 2, ... of a ``WIFI`` link [byte/s].
    bandwidth_profile, latency_profile, state_profile : str
        Profile files, relative to the platform file or absolute; empty for none.
    properties : mapping of str to str
        Free annotations; the energy model reads ``wattage_range`` from them.

    Raises
    ------
    PlatformError
        A field is out of its range; the message names the link.
    """

    id: Name
    bandwidth: Bandwidth
    latency: Latency = 0.0
    sharing_policy: Annotated[str, choice(*SHARING_POLICIES)] = SHARED
    further_bandwidths: tuple[Bandwidth, ...] = ()
    bandwidth_profile: Text = ""
    latency_profile: Text = ""
    state_profile: Text = ""
    properties: Properties = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        if self.sharing_policy == WIFI and self.latency:
            raise PlatformError(
                f"{what} is WIFI and has a latency of {self.latency!r} s",
                remedy="SimGrid gives Wi-Fi links no latency: set it to 0",
            )
        if self.sharing_policy == SPLITDUPLEX and self.state_profile:
            raise PlatformError(
                f"{what} is SPLITDUPLEX and has a state profile, at whose first event SimGrid ends",
                remedy=f"declare a <trace> for {self.id}_UP and another for {self.id}_DOWN, each "
                'with a <trace_connect kind="LINK_AVAIL"/>',
            )

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """Bandwidth of each modulation level; one unless it is a Wi-Fi link [byte/s]."""
        return (self.bandwidth, *self.further_bandwidths)

    @property
    def profile_files(self) -> dict[str, str]:
        """The profile files that it follows, by kind."""
        if not (self.bandwidth_profile or self.latency_profile or self.state_profile):
            return {}  # like nearly all
        files = (
            ("BANDWIDTH", self.bandwidth_profile),
            ("LATENCY", self.latency_profile),
            ("LINK_AVAIL", self.state_profile),
        )
        return {kind: file for kind, file in files if file}

    @property
    def simgrid_names(self) -> tuple[str, ...]:
        """The names under which SimGrid knows it."""
        if self.sharing_policy == SPLITDUPLEX:
            return (f"{self.id}_UP", f"{self.id}_DOWN")
        return (self.id,)


@dataclass(frozen=True, slots=True)
class Backbone(ValidatedElement):
    """The link that every transfer of a zone of routing ``Cluster`` passes.

    Attributes
    ----------
    id : str
        Its name.
    bandwidth : float
        Capacity, shared by all [byte/s].
    latency : float
        Latency [s].
    """

    id: Name
    bandwidth: Bandwidth
    latency: Latency


@dataclass(frozen=True, slots=True)
class HostLink:
    """The links between a host and the middle of its zone of routing ``Cluster``.

    Attributes
    ----------
    host : str
        The host.
    up, down : str
        Names of the links from it and to it, as SimGrid knows them (``<id>_UP`` and
        ``<id>_DOWN`` for a split-duplex link).
    """

    host: Name
    up: Name
    down: Name

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, f"the host link of {self.host!r}")


@dataclass(frozen=True, slots=True)
class LinkUse(ValidatedElement):
    """A link on a route.

    Attributes
    ----------
    link : str
        Name of the link.
    direction : str
        ``UP`` or ``DOWN`` for a split-duplex link, ``NONE`` for any other.
    """

    kind: ClassVar[str] = "link"
    link: Name
    direction: Annotated[str, choice(*DIRECTIONS)] = "NONE"

    def back(self) -> LinkUse:
        """Return the use of the link on the way back."""
        return LinkUse(self.link, _BACK[self.direction])


def _as_uses(what: str, links: Iterable[LinkUse | str]) -> tuple[LinkUse, ...]:
    """Turn the links of a route, given by name or as uses, into uses; raise if there are none."""
    if isinstance(links, str):
        links = (links,)
    parts = require_parts(what, links, (LinkUse, str))
    if not parts:
        raise PlatformError(f"{what} are missing", remedy="list at least one link")
    return tuple(LinkUse(link) if isinstance(link, str) else link for link in parts)


@dataclass(frozen=True, slots=True, init=False)
class _Way:
    """The links between two ends; hosts and routers unless the class says otherwise."""

    tag: ClassVar[str]
    source: Name
    destination: Name
    links: Annotated[tuple[LinkUse, ...], _as_uses]

    def __init__(self, source: str, destination: str, links: Iterable[LinkUse | str]) -> None:
        self._set(source, destination, links)

    def _set(self, *values: object) -> None:
        """Set the fields in their order, and check them."""
        for each, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, each.name, value)
        check_fields(self, f"the {self.tag} from {self.source!r} to {self.destination!r}")


@dataclass(frozen=True, slots=True, init=False)
class Route(_Way):
    """The links between two hosts or routers of one zone.

    Attributes
    ----------
    source, destination : str
        Hosts or routers.
    links : tuple of LinkUse
        In the order in which they are passed. Names are accepted in their stead.
    symmetrical : bool
        True if it serves the way back too, the links in reverse order.

    Raises
    ------
    PlatformError
        It has no link, or an end has no name.
    """

    tag: ClassVar[str] = "route"
    symmetrical: bool

    def __init__(
        self,
        source: str,
        destination: str,
        links: Iterable[LinkUse | str],
        *,
        symmetrical: bool = True,
    ) -> None:
        self._set(source, destination, links, symmetrical)


@dataclass(frozen=True, slots=True, init=False)
class BypassRoute(_Way):
    """A route between two hosts or routers that replaces the zone's routing.

    Attributes
    ----------
    source, destination : str
        Hosts or routers; one way only.
    links : tuple of LinkUse
        In the order in which they are passed. Names are accepted in their stead.
    """

    tag: ClassVar[str] = "bypassRoute"


@dataclass(frozen=True, slots=True, init=False)
class ZoneRoute(_Way):
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
        True if it serves the way back too, the links in reverse order.

    Raises
    ------
    PlatformError
        It has no link, a name is missing, or both gateways are the same.
    """

    tag: ClassVar[str] = "zoneRoute"
    gateway_source: Name
    gateway_destination: Name
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
        self._set(source, destination, links, gateway_source, gateway_destination, symmetrical)
        if gateway_source == gateway_destination:
            raise PlatformError(
                f"the route from zone {source!r} to zone {destination!r} has "
                f"{gateway_source!r} as both gateways",
                remedy="name a host or router of each zone",
            )


@dataclass(frozen=True, slots=True, init=False)
class BypassZoneRoute(_Way):
    """A route between two zones, at any depth, that replaces their routing.

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
    gateway_source: Name
    gateway_destination: Name

    def __init__(
        self,
        source: str,
        destination: str,
        gateway_source: str,
        gateway_destination: str,
        links: Iterable[LinkUse | str],
    ) -> None:
        self._set(source, destination, links, gateway_source, gateway_destination)


# Tuples of classes take less time than unions where there are many routes.
BYPASSES = (BypassRoute, BypassZoneRoute)
CROSSING = (ZoneRoute, BypassZoneRoute)
AnyRoute = Route | BypassRoute | ZoneRoute | BypassZoneRoute
