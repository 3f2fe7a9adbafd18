"""Whether the routes of a zone lead over known links between elements of that zone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from simplugin.platforms.problems import ERROR
from simplugin.platforms.routes import BypassRoute, BypassZoneRoute, Route, ZoneRoute

if TYPE_CHECKING:
    from simplugin.platforms.links import LinkUse
    from simplugin.platforms.names import Names, Place
    from simplugin.platforms.platform import Zone
    from simplugin.platforms.routes import AnyRoute

_WITHOUT_ROUTES = {"None", "Wifi"}
_STARS = {"Cluster", "Vivaldi"}


class _Say(Protocol):
    """Notes a problem of a part."""

    def __call__(
        self, part: object, message: str, remedy: str, severity: str = ERROR, /
    ) -> None: ...


class RouteChecks:
    """Looks at the routes of one zone after another.

    Parameters
    ----------
    names : Names
        What is declared so far.
    say : callable
        Notes a problem: part, message, remedy.
    """

    def __init__(self, names: Names, say: _Say) -> None:
        self._names = names
        self._say = say

    def check(self, zone: Zone) -> None:
        """Look at all routes of a zone whose elements are declared."""
        taken: dict[tuple[bool, str, str], AnyRoute] = {}
        for route in zone.routes:
            bypass = isinstance(route, BypassRoute | BypassZoneRoute)
            if (bypass or self._accepts(zone, route)) and self._ends(zone, route, bypass=bypass):
                self._gateways(route)
                self._once(zone, route, taken, bypass=bypass)
            for use in route.links:
                self._link(route, use)

    def _accepts(self, zone: Zone, route: AnyRoute) -> bool:
        """Whether the routing of the zone takes such a route."""
        what = f"zone {zone.id!r} of routing {zone.routing}"
        if zone.routing in _WITHOUT_ROUTES:
            self._say(route, f"{what} takes no <{route.tag}>", "remove it, or use routing Full")
            return False
        if zone.routing in _STARS and route.source != route.destination:
            remedy = "write a <host_link> for each host, or use routing Full"
            self._say(route, f"{what} takes no <{route.tag}> between two elements", remedy)
            return False
        return True

    def _ends(self, zone: Zone, route: AnyRoute, *, bypass: bool) -> bool:
        """Whether both ends are known and where the route may join them."""
        between_zones = isinstance(route, ZoneRoute | BypassZoneRoute)
        good = True
        for end in dict.fromkeys((route.source, route.destination)):
            place = self._names.place(end)
            problem = self._end_problem(zone, place, between_zones=between_zones, bypass=bypass)
            if problem is not None:
                message, remedy = problem
                self._say(
                    route, f"the <{route.tag}> {_ends_text(route)}: {end!r} {message}", remedy
                )
                good = False
        return good

    def _end_problem(
        self, zone: Zone, place: Place | None, *, between_zones: bool, bypass: bool
    ) -> tuple[str, str] | None:
        """Say what is wrong with an end of a route, and the remedy."""
        kind = "zone or cluster" if between_zones else "host or router"
        if place is None:
            return "is unknown", f"name a {kind} that is declared before in zone {zone.id!r}"
        if place.kind == "broken":
            return None
        if (place.kind == "zone") is not between_zones:
            tag = "a <zoneRoute>" if place.kind == "zone" else "a <route>"
            return f"is a {place.kind}", f"name a {kind}, or write {tag}"
        if place.zone != zone.id and not bypass:
            inside = f"zone {place.zone!r}, not directly in {zone.id!r}"
            return f"is in {inside}", f"move the route, or name a {kind} of {zone.id!r}"
        return None

    def _gateways(self, route: AnyRoute) -> None:
        """Look at where a route between zones leaves and enters them."""
        if not isinstance(route, ZoneRoute | BypassZoneRoute):
            return
        for key, gateway, zone in (
            ("gw_src", route.gateway_source, route.source),
            ("gw_dst", route.gateway_destination, route.destination),
        ):
            place = self._names.place(gateway)
            message = None
            if place is None:
                message = "is unknown"
            elif place.kind == "zone":
                message = "is a zone"
            elif not self._names.is_inside(gateway, zone):
                message = f"is in {place.zone!r}, not in {zone!r}"
            if message is not None:
                self._say(
                    route,
                    f"the <{route.tag}> {_ends_text(route)}: its {key} {gateway!r} {message}",
                    f"name a host or router of {zone!r}",
                )

    def _once(
        self,
        zone: Zone,
        route: AnyRoute,
        taken: dict[tuple[bool, str, str], AnyRoute],
        *,
        bypass: bool,
    ) -> None:
        """Refuse a second route between the same elements."""
        ways = [(route.source, route.destination)]
        loop = route.source == route.destination
        if getattr(route, "symmetrical", False) and not (
            loop and zone.routing in {"Full", *_STARS}
        ):
            ways.append((route.destination, route.source))
        if zone.routing in _STARS and not bypass:
            return
        for source, destination in ways:
            before = taken.get((bypass, source, destination))
            if before is not None:
                back = before is route or (before.source, before.destination) != ways[0]
                self._say(
                    route,
                    f"there are two routes from {source!r} to {destination!r} in zone {zone.id!r}",
                    'routes are symmetrical unless they say symmetrical="NO"'
                    if back
                    else "remove one of them",
                )
                return
            taken[bypass, source, destination] = route

    def _link(self, route: AnyRoute, use: LinkUse) -> None:
        """Look at a link of a route."""
        names, name = self._names, use.link
        directed = use.direction != "NONE"
        if names.has_split_link(name) if directed else names.has_link(name):
            return
        if directed and names.has_link(name):
            problem = f"goes {use.direction} over link {name!r}, which is not split-duplex"
            remedy = "leave the direction out, or make the link SPLITDUPLEX"
        elif not directed and names.has_split_link(name):
            problem = f"uses split-duplex link {name!r} without a direction"
            remedy = 'add direction="UP" or direction="DOWN"'
        else:
            problem = f"uses an unknown link {name!r}"
            remedy = "name a link that is declared before the route"
        self._say(use, f"the <{route.tag}> {_ends_text(route)} {problem}", remedy)


def _ends_text(route: Route | ZoneRoute | BypassRoute | BypassZoneRoute) -> str:
    """Name a route by its ends."""
    return f"from {route.source!r} to {route.destination!r}"
