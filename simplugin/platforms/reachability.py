"""Hosts that cannot reach each other because the routing of a zone lacks routes.

Looks at each zone by itself, in time linear in its elements and routes, never at all pairs: within
a zone, every host must reach every other host and every gateway out, and be reached from every
gateway in; every zone with hosts must reach every other. Where ways between zones are composed, the
zones that they pass must join the gateways at which they enter and leave.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from simplugin.platforms.hosts import Cluster, Host, Peer
from simplugin.platforms.links import BYPASSES, CROSSING, HostLink, ZoneRoute
from simplugin.platforms.names import Names, reached
from simplugin.platforms.platform import Zone
from simplugin.platforms.validation import WARNING, PlatformProblem

_REMEDY = {
    "Full": "add the missing routes, or use routing Floyd to compose routes of others",
    "Floyd": "add routes that join the two",
    "Dijkstra": "add routes that join the two",
    "DijkstraCache": "add routes that join the two",
    "Cluster": "add a <host_link> for each host",
    "Vivaldi": 'give it coordinates, e.g. coordinates="25.5 9.4 1.4"',
    "Wifi": "add the link of the access point",
    "None": "use another routing; only the network model Constant needs no routes",
}
_Gateways = defaultdict[str, dict[str, None]]
# Tuples of classes, as there may be hundreds of thousands of elements.
_ONE_HOST, _ZONES = (Host, Peer), (Zone, Cluster)
_PLACED = (Host, Peer, Zone, Cluster)
_DIJKSTRA = {"Dijkstra", "DijkstraCache"}
_COMPOSED = {"Floyd", *_DIJKSTRA}
# Maximum number of zones from which composed ways to all others are checked.
_MOST_SOURCES = 200

_FLATTEN = "put the clusters of all sites directly into one zone, with routes between any two"


def unreachable(zones: Sequence[Zone], names: Names) -> list[PlatformProblem]:
    """Return the zones in which hosts cannot reach each other.

    Parameters
    ----------
    zones : sequence of Zone
        All zones of a platform that is free of errors, in its order.
    names : Names
        Of its elements.

    Returns
    -------
    list of PlatformProblem
        A warning for each zone with missing routes, naming one pair, and for each gateway
        that not all of its zone gets to.
    """
    layout = _Layout(zones, names)
    problems: list[PlatformProblem] = []
    for zone in zones:
        pair = layout.missing_pair(zone)
        if pair is None:
            problems += layout.broken_transit(zone)
            continue
        source, destination = pair
        if source == destination:
            message = f"{source!r} has no coordinates in zone {zone.id!r} of routing Vivaldi"
        else:
            message = (
                f"{layout.what(source)} cannot reach {layout.what(destination)}: zone {zone.id!r} "
                f"of routing {zone.routing} has no route"
            )
        problems.append(PlatformProblem(message, _REMEDY[zone.routing], zone, WARNING))
    return problems + layout.dead_gateways()


class _Layout:
    """The zones, and the elements that must be reachable."""

    def __init__(self, zones: Sequence[Zone], names: Names) -> None:
        self._zones = {zone.id: zone for zone in zones}
        self._names = names
        # Of each zone, what hosts must reach to leave it, and what must reach them.
        self._gateways_out: _Gateways = defaultdict(dict)
        self._gateways_in: _Gateways = defaultdict(dict)
        self._bypassed: set[tuple[str, str]] = set()
        self._targets_of: dict[str, defaultdict[str, set[str]]] = {}
        self._joins: dict[tuple[str, str], bool] = {}
        for zone in zones:
            for route in zone.routes:
                if isinstance(route, CROSSING):
                    source = (route.gateway_source, route.source)
                    destination = (route.gateway_destination, route.destination)
                    self._add_gateway(self._gateways_out, *source)
                    self._add_gateway(self._gateways_in, *destination)
                    if getattr(route, "symmetrical", False):
                        self._add_gateway(self._gateways_in, *source)
                        self._add_gateway(self._gateways_out, *destination)
                if isinstance(route, BYPASSES):
                    self._bypassed.add((route.source, route.destination))

    def _add_gateway(self, gateways: _Gateways, gateway: str, zone: str) -> None:
        """Record a gateway of a zone at each level down to it."""
        at = gateway
        while at != zone and (above := self._names.zone_of(at)):
            gateways[above][at] = None
            at = above

    def what(self, name: str) -> str:
        """Name an element with its kind."""
        place = self._names.place(name)
        return f"zone {name!r}" if place is not None and place.kind == "zone" else repr(name)

    def dead_gateways(self) -> list[PlatformProblem]:
        """Return the gateways to which SimGrid 4.1 finds no way from the rest of their zone.

        A gateway serves the zone that it is directly in. From other parts of a zone of zones,
        SimGrid looks the way up in the wrong zone: it crashes or leaves links out.
        """
        problems = []
        reported = set()
        for zone in self._zones.values():
            for route in zone.routes:
                if not isinstance(route, ZoneRoute):
                    continue
                for part, gateway in (
                    (route.source, route.gateway_source),
                    (route.destination, route.gateway_destination),
                ):
                    home = self._names.zone_of(gateway)
                    others = self._names.leaves[part] - (home in self._names.peopled)
                    if others and home != part and (part, home) not in reported:
                        reported.add((part, home))
                        message = (
                            f"hosts of zone {part!r} outside {home!r} cannot leave by gateway "
                            f"{gateway!r}: SimGrid 4.1 finds no way to it"
                        )
                        problems.append(PlatformProblem(message, _FLATTEN, route, WARNING))
        return problems

    def missing_pair(self, zone: Zone) -> tuple[str, str] | None:
        """Return two elements of a zone that lack a route between them."""
        has_hosts = self._names.has_hosts
        hosts = [
            part.id
            for part in zone.elements
            if isinstance(part, _ONE_HOST) or (isinstance(part, _ZONES) and has_hosts(part.id))
        ]
        own = set(hosts)
        outs = [name for name in self._gateways_out[zone.id] if name not in own]
        ins = [name for name in self._gateways_in[zone.id] if name not in own]
        if not hosts or len(hosts) + len(outs) + len(ins) < 2:
            return None
        if zone.routing in {"None", "Wifi"}:
            joined = zone.routing == "Wifi" and zone.links
            return None if joined else (hosts[0], [*hosts, *outs, *ins][1])
        if zone.routing == "Vivaldi":
            # SimGrid 4.1 gives zones no coordinates.
            places = ((part, getattr(part, "coordinates", None)) for part in zone.elements)
            nowhere = (part.id for part, at in places if at is None and isinstance(part, _PLACED))
            return next(((name, name) for name in nowhere), None)
        if zone.routing == "Cluster":
            linked = {part.host for part in zone.elements if isinstance(part, HostLink)}
            loose = [name for name in hosts if name not in linked]
            return (loose[0], loose[1]) if len(loose) > 1 else None
        targets = self._targets(zone)
        if zone.routing != "Full":
            return _not_connected(hosts, outs, ins, targets)
        for sources, aims in ((hosts, [*hosts, *outs]), (ins, hosts)):
            wanted = set(aims)
            for source in sources:
                got = targets.get(source, set())
                count = len(aims) - (source in wanted)
                if sum(name in wanted for name in got if name != source) < count:
                    return source, next(name for name in aims if name != source and name not in got)
        return None

    def broken_transit(self, zone: Zone) -> Iterator[PlatformProblem]:
        """Yield the first way between zones that cannot pass a zone on it."""
        if zone.routing not in _COMPOSED:
            return
        onward: defaultdict[str, list[tuple[str, int, str, str]]] = defaultdict(list)
        for route in zone.routes:
            if isinstance(route, ZoneRoute):
                cost = len(route.links)
                ways = [(route.source, route.gateway_source)]
                ways.append((route.destination, route.gateway_destination))
                for (source, leave), (aim, enter) in (ways, ways[::-1])[: 1 + route.symmetrical]:
                    onward[source].append((aim, cost, leave, enter))
        parts = [part.id for part in zone.zones] + [part.id for part in zone.clusters]
        sources = [part for part in parts if self._names.has_hosts(part)]
        for start in sources[:_MOST_SOURCES]:
            fault = self._fault_on_ways(zone, start, onward)
            if fault is not None:
                end, passed, enter, leave = fault
                message = (
                    f"zone {start!r} cannot reach zone {end!r}: the way through zone {passed!r} "
                    f"enters at {enter!r}, leaves at {leave!r}, and "
                )
                if zone.routing in _DIJKSTRA:
                    message += "SimGrid 4.1 crashes where the two differ"
                    remedy = "use routing Floyd, or one gateway for all routes of a zone"
                else:
                    message += "no route joins the two"
                    remedy = f"add the route to zone {passed!r}"
                yield PlatformProblem(message, remedy, zone, WARNING)
                return

    def _fault_on_ways(
        self, zone: Zone, start: str, onward: Mapping[str, list[tuple[str, int, str, str]]]
    ) -> tuple[str, str, str, str] | None:
        """Return a zone that cannot be reached, the zone at fault and the gateways of that."""
        entered: dict[str, str] = {}
        faults: dict[str, tuple[str, str, str] | None] = {start: None}
        heap = [(cost, aim, start, leave, enter) for aim, cost, leave, enter in onward[start]]
        heapq.heapify(heap)
        while heap:
            distance, at, before, leave, enter = heapq.heappop(heap)
            if at in faults:
                continue
            entered[at] = enter
            fault = faults[before]
            if fault is None and before != start and entered[before] != leave:
                gateways = (entered[before], leave)
                if zone.routing in _DIJKSTRA or not self._joined(gateways):
                    fault = (before, *gateways)
            faults[at] = fault
            if (
                fault is not None
                and self._names.has_hosts(at)
                and (start, at) not in self._bypassed
            ):
                return (at, *fault)
            for aim, cost, leaves, enters in onward.get(at, ()):
                heapq.heappush(heap, (distance + cost, aim, at, leaves, enters))
        return None

    def _joined(self, gateways: tuple[str, str]) -> bool:
        """Return True if two gateways are joined; ways between many zones pass the same ones."""
        if gateways not in self._joins:
            self._joins[gateways] = self._search_joined(*gateways)
        return self._joins[gateways]

    def _search_joined(self, source: str, destination: str) -> bool:
        """Return True if the zone of two gateways has a way from one to the other."""
        zone = self._zones.get(self._names.zone_of(source))
        if zone is None or self._names.zone_of(destination) != zone.id:
            return True  # in a cluster, where all reach all, or in different zones
        if zone.routing not in {"Full", *_COMPOSED}:
            return zone.routing != "None"
        targets = self._targets(zone)
        if zone.routing == "Full":
            return destination in targets.get(source, ())
        return destination in reached(source, targets)

    def _targets(self, zone: Zone) -> Mapping[str, set[str]]:
        """Return what each element of a zone has a route to."""
        targets = self._targets_of.get(zone.id)
        if targets is not None:
            return targets
        targets = self._targets_of[zone.id] = defaultdict(set)
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
        while at and (above := self._names.zone_of(at)) != zone:
            at = above
        return at


def _not_connected(
    hosts: list[str], outs: list[str], ins: list[str], targets: Mapping[str, set[str]]
) -> tuple[str, str] | None:
    """Return two elements that no chain of routes joins."""
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for source, got in targets.items():
        for destination in got:
            sources[destination].add(source)
    start = hosts[0]
    onward, back = reached(start, targets), reached(start, sources)
    for name in (*hosts, *outs):
        if name not in onward:
            return start, name
    for name in (*hosts, *ins):
        if name not in back:
            return name, start
    return None
