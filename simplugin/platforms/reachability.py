"""Hosts that cannot reach each other because the routing of a zone lacks routes.

Looks at each zone by itself, in time linear in its elements and routes, never at all pairs: within
a zone, every host must reach every other host and every gateway, every zone with hosts every other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from simplugin.platforms.cluster import Cluster
from simplugin.platforms.hosts import Cabinet, Host, Peer, Router
from simplugin.platforms.links import HostLink
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.problems import WARNING, Problem
from simplugin.platforms.routes import BypassRoute, BypassZoneRoute, ZoneRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_REMEDY = {
    "Full": "add the missing routes, or use routing Floyd to compose routes of others",
    "Floyd": "add routes that join the two",
    "Dijkstra": "add routes that join the two",
    "DijkstraCache": "add routes that join the two",
    "Cluster": "add a <host_link> for each host",
    "Vivaldi": 'give it coordinates, e.g. coordinates="25.5 9.4 1.4"',
}

_FLATTEN = "put the clusters of all sites directly into one zone, with routes between any two"


def unreachable(platform: Platform, zone_of: Callable[[str], str]) -> list[Problem]:
    """Say in which zones hosts cannot reach each other.

    Parameters
    ----------
    platform : Platform
        Free of errors.
    zone_of : callable
        From a host or router to the zone or cluster that it is directly in.

    Returns
    -------
    list of Problem
        A warning for each zone whose routing lacks routes, naming one pair, and for each gateway
        that not all of its zone gets to.
    """
    layout = _Layout(platform)
    problems = []
    for zone in layout.zones:
        pair = layout.missing_pair(zone)
        if pair is None:
            continue
        source, destination = pair
        if source == destination:
            message = f"{source!r} has no coordinates in zone {zone.id!r} of routing Vivaldi"
        else:
            message = (
                f"{layout.what(source)} cannot reach {layout.what(destination)}: zone {zone.id!r} "
                f"of routing {zone.routing} has no route"
            )
        problems.append(Problem(message, _REMEDY[zone.routing], zone, WARNING))
    problems += layout.dead_gateways(zone_of)
    problems += _short_dragonflies(platform)
    tops = [top.id for top in platform.elements if isinstance(top, Zone | Cluster)]
    peopled = [top for top in tops if layout.has_hosts(top)]
    if len(peopled) > 1:
        message = f"zones {peopled[0]!r} and {peopled[1]!r} have no zone around them"
        remedy = "their hosts cannot reach each other: put them into one zone, and add zoneRoutes"
        problems.append(Problem(message, remedy, platform.elements[-1], WARNING))
    return problems


def _short_dragonflies(platform: Platform) -> list[Problem]:
    """Say in which dragonflies SimGrid 4.1 ends at a route between groups.

    Router n of each group leads to group n, and SimGrid aborts where there is none.
    """
    problems = []
    for element, _ in platform.walk():
        if not isinstance(element, Cluster) or element.topology != "DRAGONFLY":
            continue
        levels = element.topology_parameters.split(";")
        groups, routers = (int(levels[place].split(",")[0]) for place in (0, 2))
        if groups > routers:
            message = (
                f"dragonfly {element.id!r} has {groups} groups and {routers} routers a chassis: "
                "SimGrid 4.1 aborts at a route to a group that has no router of its number"
            )
            remedy = "give at least as many routers a chassis as groups"
            problems.append(Problem(message, remedy, element, WARNING))
    return problems


class _Layout:
    """Which zone everything is in, and which of it must be reachable."""

    def __init__(self, platform: Platform) -> None:
        self.zones: list[Zone] = []
        self._parent: dict[str, str] = {}
        self._peopled: set[str] = set()  # zones with hosts of their own
        self._leaves: Counter[str] = Counter()  # how many of these a zone holds or is
        self._zone_names: set[str] = set()
        self._gateways: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._bypassed: set[tuple[str, str]] = set()
        for element, around in platform.walk():
            inside = "" if around is None else around.id
            if isinstance(element, Zone | Cluster):
                self._parent[element.id] = inside
                self._zone_names.add(element.id)
            if isinstance(element, Zone):
                self.zones.append(element)
            elif isinstance(element, Host | Router | Peer):
                self._parent[element.id] = inside
            if isinstance(element, Cluster):
                self._people(element.id)
            elif isinstance(element, Host | Peer | Cabinet):
                self._people(inside)
        for zone in self.zones:
            for route in zone.routes:
                if isinstance(route, ZoneRoute | BypassZoneRoute):
                    self._add_gateway(route.gateway_source, route.source)
                    self._add_gateway(route.gateway_destination, route.destination)
                if isinstance(route, BypassRoute | BypassZoneRoute):
                    self._bypassed.add((route.source, route.destination))

    def _people(self, zone: str) -> None:
        """Note that a zone, and so those around it, have hosts."""
        if zone in self._peopled:
            return
        self._peopled.add(zone)
        around = zone
        while around:
            self._leaves[around] += 1
            around = self._parent.get(around, "")

    def _add_gateway(self, gateway: str, zone: str) -> None:
        """Note that all of a zone must reach its gateway, at each level down to it."""
        at = gateway
        while at != zone:
            above = self._parent.get(at)
            if above is None:  # a host or router of a cluster, which all of it reaches
                return
            self._gateways[above][at] = None
            at = above

    def has_hosts(self, zone: str) -> bool:
        """Whether a zone has hosts, at any depth."""
        return self._leaves[zone] > 0

    def what(self, name: str) -> str:
        """Name an element with its kind."""
        return f"zone {name!r}" if name in self._zone_names else repr(name)

    def dead_gateways(self, zone_of: Callable[[str], str]) -> list[Problem]:
        """Say which gateways lie where SimGrid 4.1 finds no way from the rest of their zone.

        A gateway serves the zone that it is directly in. From other parts of a zone of zones,
        SimGrid looks the way up in the wrong zone: it crashes or leaves links out.
        """
        problems = []
        told = set()
        for zone in self.zones:
            for route in zone.routes:
                if not isinstance(route, ZoneRoute):
                    continue
                for part, gateway in (
                    (route.source, route.gateway_source),
                    (route.destination, route.gateway_destination),
                ):
                    home = zone_of(gateway)
                    served = 1 if home in self._peopled else 0
                    if self._leaves[part] > served and home != part and (part, home) not in told:
                        told.add((part, home))
                        message = (
                            f"hosts of zone {part!r} outside {home!r} cannot leave by gateway "
                            f"{gateway!r}: SimGrid 4.1 finds no way to it"
                        )
                        problems.append(Problem(message, _FLATTEN, route, WARNING))
        return problems

    def missing_pair(self, zone: Zone) -> tuple[str, str] | None:
        """Return two elements of a zone that should have a route and have none."""
        hosts = [
            part.id
            for part in zone.elements
            if isinstance(part, Host | Peer)
            or (isinstance(part, Zone | Cluster) and self.has_hosts(part.id))
        ]
        gateways = [name for name in self._gateways[zone.id] if name not in set(hosts)]
        if not hosts or len(hosts) + len(gateways) < 2 or zone.routing in {"None", "Wifi"}:
            return None
        if zone.routing == "Vivaldi":
            return _without_coordinates(zone)
        if zone.routing == "Cluster":
            linked = {part.host for part in zone.elements if isinstance(part, HostLink)}
            loose = [name for name in hosts if name not in linked]
            return (loose[0], loose[1]) if len(loose) > 1 else None
        targets = self._targets(zone)
        if zone.routing == "Full":
            return _not_joined(hosts, gateways, targets)
        return _not_connected(hosts, gateways, targets)

    def _targets(self, zone: Zone) -> dict[str, set[str]]:
        """Return what each element of a zone has a route to."""
        targets: defaultdict[str, set[str]] = defaultdict(set)
        for route in zone.routes:
            targets[route.source].add(route.destination)
            if getattr(route, "symmetrical", False):
                targets[route.destination].add(route.source)
        for source, destination in self._bypassed:
            ways = self._ancestor_in(source, zone.id), self._ancestor_in(destination, zone.id)
            if all(ways):
                targets[ways[0]].add(ways[1])
        return targets

    def _ancestor_in(self, name: str, zone: str) -> str:
        """Return the element directly in a zone that holds another; empty for none."""
        at = name
        while at:
            above = self._parent.get(at, "")
            if above == zone:
                return at
            at = above
        return ""


def _without_coordinates(zone: Zone) -> tuple[str, str] | None:
    """Return an element of a Vivaldi zone that has no place in it, twice."""
    for part in zone.elements:
        if isinstance(part, Zone | Cluster):
            return (part.id, part.id)  # SimGrid 4.1 gives zones no coordinates
        if isinstance(part, Host | Peer) and part.coordinates is None:
            return (part.id, part.id)
    return None


def _not_joined(
    hosts: list[str], gateways: list[str], targets: Mapping[str, set[str]]
) -> tuple[str, str] | None:
    """Return two elements without a direct route: hosts, or a host and a gateway."""
    wanted = [*hosts, *gateways]
    everything, all_hosts = set(wanted), set(hosts)
    for source in wanted:
        aims = everything if source in all_hosts else all_hosts
        got = targets.get(source, set())
        count = len(aims) - (source in aims)
        if sum(name in aims for name in got if name != source) < count:
            ordered = wanted if source in all_hosts else hosts
            return source, next(name for name in ordered if name != source and name not in got)
    return None


def _not_connected(
    hosts: list[str], gateways: list[str], targets: Mapping[str, set[str]]
) -> tuple[str, str] | None:
    """Return two elements that no chain of routes joins."""
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for source, got in targets.items():
        for destination in got:
            sources[destination].add(source)
    start = hosts[0]
    onward, back = _reached(start, targets), _reached(start, sources)
    for name in (*hosts, *gateways):
        if name not in onward:
            return start, name
        if name not in back:
            return name, start
    return None


def _reached(start: str, targets: Mapping[str, Iterable[str]]) -> set[str]:
    """Return all that chains of routes lead to."""
    seen, stack = {start}, [start]
    while stack:
        for name in targets.get(stack.pop(), ()):
            if name not in seen:
                seen.add(name)
                stack.append(name)
    return seen
