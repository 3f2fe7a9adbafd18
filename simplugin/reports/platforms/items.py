"""Items of a drawing of a platform: hosts, clusters and zones, in the requested detail."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

from simplugin.platforms.hosts import Cabinet, Cluster, Host, Peer, Router
from simplugin.platforms.links import (
    FATPIPE,
    SPLITDUPLEX,
    Backbone,
    BypassZoneRoute,
    HostLink,
    Link,
    LinkUse,
    ZoneRoute,
)
from simplugin.platforms.platform import Platform, Zone
from simplugin.reports.platforms.contents import Contents, contents, group_of, rate_words, stem
from simplugin.reports.platforms.network import Connection, Network, Step, Way, network

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
Point = Host | Peer | Router | Zone | Cluster | Cabinet


@dataclass(frozen=True, slots=True)
class Detail:
    """Level of detail.

    Attributes
    ----------
    hosts : bool
        True if explicit hosts are shown one by one.
    fold : int
        As many equal hosts, or more, that hang from one point by equal links become one box; 0
        for never.
    sites : bool
        True if each part of the outermost zone becomes one box.
    rows : int
        Number of clusters that such a box names.
    boxes : int
        Above that, boxes that hang from one point become one box.
    frame : int
        Maximum number of them that still show in a frame; more are only listed.
    """

    hosts: bool = True
    fold: int = 0
    sites: bool = False
    rows: int = 8
    boxes: int = 10**9
    frame: int = 0


@dataclass(eq=False)
class DrawnItem:
    """Something to draw.

    Attributes
    ----------
    kind : str
        ``host``, ``router``, ``meeting`` (of links), ``bus`` (a link that is a point), ``group``
        (equal hosts: a box of one line), ``listing`` (a box that names clusters), ``zone`` (a box
        around items).
    name : str
        Its name; for a zone that is one box, that of the zone.
    contents : Contents
        Its hosts.
    inner, lines
        Items of a zone and the lines between them, by their positions.
    rows : int
        Number of clusters that a listing names.
    coordinates : tuple of float, optional
        Coordinates given by the platform.
    """

    kind: str
    name: str = ""
    contents: Contents = field(default_factory=lambda: Contents(()))
    inner: list[DrawnItem] = field(default_factory=list)
    lines: list[Connection] = field(default_factory=list)
    rows: int = 0
    coordinates: tuple[float, float] | None = None

    @property
    def is_box(self) -> bool:
        """True if it is drawn as a box with text."""
        return self.kind in ("group", "listing", "zone")

    def walk(self) -> Iterator[DrawnItem]:
        """Yield it and all in it."""
        yield self
        for item in self.inner:
            yield from item.walk()


class PlatformItems:
    """A platform, prepared for being shown in different detail."""

    def __init__(self, platform: Platform) -> None:
        self.links: dict[str, Link | Backbone] = {}
        self._around: dict[str, str] = {}
        self.explicit_hosts = 0
        self._networks: dict[str, Network] = {}
        for element, zone in platform.walk():
            if isinstance(element, Link | Backbone):
                self.links[element.id] = element
            elif isinstance(element, Zone | Cluster) and zone is not None:
                self._around[element.id] = zone.id
            self.explicit_hosts += isinstance(element, Host | Peer)
        zones = tuple(each for each in platform.elements if isinstance(each, Zone | Cluster))
        only = zones[0] if len(zones) == 1 else None
        # A zone around all, without zones around one zone only.
        self.top = only if isinstance(only, Zone) else Zone("platform", "None", zones)
        while len(self.top.elements) == 1 and isinstance(self.top.elements[0], Zone):
            self.top = self.top.elements[0]

    def item(self, detail: Detail) -> DrawnItem:
        """Return all of the platform as one zone."""
        return self._zone(self.top, detail, outermost=True)

    def bandwidth(self, link: str) -> float:
        """Return the bandwidth of a link [byte/s]; 0 if there is no such link."""
        found = self.links.get(link)
        return found.bandwidth if found is not None else 0.0

    def is_fat(self, link: str) -> bool:
        """Return True if a link is a ``FATPIPE``: its bandwidth is not shared."""
        found = self.links.get(link)
        return isinstance(found, Link) and found.sharing_policy == FATPIPE

    def _zone(self, zone: Zone, detail: Detail, *, outermost: bool = False) -> DrawnItem:
        """Return a zone as an item."""
        points = _points(zone)
        hosts = [each for each in points if not isinstance(each, Router)]
        held = contents(zone.elements)
        if not outermost:
            if not hosts:
                return DrawnItem("router", zone.id)
            if len(points) == 1 and isinstance(points[0], Host | Peer):
                return self._leaf(points[0])
            nested = any(isinstance(each, Zone | Cluster | Cabinet) for each in points)
            if detail.sites or not (nested or detail.hosts):
                return _box(zone.id, held, detail.rows)
        elif not (detail.hosts or any(isinstance(each, Zone | Cluster) for each in points)):
            return DrawnItem("zone", zone.id, held, [_box(zone.id, held, max(detail.rows, 24))])
        found = self._network(zone, points)
        inner = [
            self._zone(each, detail) if isinstance(each, Zone) else self._leaf(each)
            for each in points
        ]
        for place in range(found.n_terminals, len(found.points)):
            names = found.buses.get(place)
            inner.append(DrawnItem("bus", ", ".join(names)) if names else DrawnItem("meeting"))
        item = DrawnItem("zone", zone.id, held, inner, list(found.lines))
        if detail.fold:
            self._fold_hosts(item, detail.fold)
        if _box_count(item) > detail.boxes:
            before = _box_count(item) + 1
            while detail.boxes < _box_count(item) < before:
                before = _box_count(item)
                _fold_boxes(item, detail)
            _keep_largest(item, max(3 * detail.boxes, 120), detail.rows)
        return item

    def _leaf(self, element: object) -> DrawnItem:
        """Return a host, router or cluster as an item."""
        if isinstance(element, Router):
            where = element.coordinates
            return DrawnItem("router", element.id, coordinates=where and where[:2])
        if isinstance(element, Cluster | Cabinet):
            return DrawnItem("group", element.id, Contents((group_of(element),)))
        assert isinstance(element, Host | Peer)
        where = element.coordinates
        held = Contents((group_of(element),))
        return DrawnItem("host", element.id, held, coordinates=where and where[:2])

    def _network(self, zone: Zone, points: Sequence[Point]) -> Network:
        """Return the network of the parts of a zone."""
        if zone.id not in self._networks:
            names = [each.id for each in points]
            if zone.routing in ("Cluster", "Wifi"):
                self._networks[zone.id] = _star(zone, names, self.links)
            else:
                self._networks[zone.id] = network(names, self._ways(zone, set(names)), self.is_fat)
        return self._networks[zone.id]

    def _ways(self, zone: Zone, names: set[str]) -> Iterator[Way]:
        """Yield the routes of a zone, between parts of it."""
        opened = {each.id: each for each in zone.zones if _is_opened(each)}
        for route in (*zone.routes, *(route for each in opened.values() for route in each.routes)):
            source, destination = route.source, route.destination
            if isinstance(route, ZoneRoute | BypassZoneRoute):
                source = route.gateway_source if source in opened else source
                destination = route.gateway_destination if destination in opened else destination
            ends = (self._part(source, names), self._part(destination, names))
            if ends[0] and ends[1] and ends[0] != ends[1]:
                yield Way(ends[0], ends[1], tuple(self._step(use) for use in route.links))

    def _part(self, name: str, names: set[str]) -> str:
        """Return the part of a zone that a host or zone is, or is in; empty for none."""
        while name and name not in names:
            name = self._around.get(name, "")
        return name

    def _step(self, use: LinkUse) -> Step:
        """Return a link and the end by which it is entered."""
        if use.direction != "NONE":
            return use.link, int(use.direction == "DOWN")
        base, _, half = use.link.rpartition("_")
        if half in ("UP", "DOWN") and self._is_duplex(base):
            return base, int(half == "DOWN")
        return use.link, 0 if self._is_duplex(use.link) else -1

    def _is_duplex(self, name: str) -> bool:
        """Return True if there is a split-duplex link of that name."""
        link = self.links.get(name)
        return isinstance(link, Link) and link.sharing_policy == SPLITDUPLEX

    def _fold_hosts(self, zone: DrawnItem, least: int) -> None:
        """Make equal hosts that hang from one point by equal links one box."""
        kinds: dict[object, list[int]] = {}
        for leaf, (at, line) in _leaves(zone).items():
            item = zone.inner[leaf]
            if item.kind == "host":
                rates = tuple(self.bandwidth(link) for link in line.links)
                group = item.contents.groups[0]
                kind = (at, rates, stem(item.name), group.cores, group.speed)
                kinds.setdefault(kind, []).append(leaf)
        merged = {}
        for leaves in kinds.values():
            if len(leaves) >= least:
                group = zone.inner[leaves[0]].contents.groups[0]
                first, last = (zone.inner[leaves[at]].name for at in (0, -1))
                name = f"{first} … {last}"
                held = Contents((replace(group, name=name, count=len(leaves)),))
                merged[leaves[0]] = (DrawnItem("group", name, held), leaves)
        _merge(zone, merged)


def _is_opened(zone: Zone) -> bool:
    """Return True if a zone is only a network: several routers and no host."""
    return len(zone.routers) > 1 and not any(
        isinstance(each, Host | Peer | Zone | Cluster | Cabinet) for each in zone.elements
    )


def _points(zone: Zone) -> list[Point]:
    """Return the parts of a zone, those of a network among them instead of it."""
    found: list[Point] = []
    for each in zone.elements:
        if isinstance(each, Zone) and _is_opened(each):
            found += each.routers
        elif isinstance(each, Host | Peer | Router | Zone | Cluster | Cabinet):
            found.append(each)
    return found


def _box(name: str, held: Contents, rows: int) -> DrawnItem:
    """Return a zone as one box."""
    if len(held.groups) == 1:
        group = held.groups[0]
        return DrawnItem("group", name, Contents((replace(group, name=name, whole=True),)))
    return DrawnItem("listing", name, held, rows=rows)


def _star(zone: Zone, names: Sequence[str], known: Container[str]) -> Network:
    """Return the network of a zone with all hosts around one point."""
    points = list(names)
    number = {name: i for i, name in enumerate(points)}
    buses: dict[int, tuple[str, ...]] = {}
    routers = [each.id for each in zone.routers]
    hub = number[routers[0]] if routers else len(points)
    lines: list[Connection] = []
    if zone.routing == "Wifi":
        hub = number.get(zone.properties.get("access_point", ""), hub)
        waves = tuple(link.id for link in zone.links)
        lines = [Connection(i, hub, waves) for i in range(len(names)) if i != hub]
    else:
        for element in zone.elements:
            if isinstance(element, Backbone) and not routers:
                buses[hub] = (element.id,)
            elif isinstance(element, Cabinet):
                lines.append(Connection(number[element.id], hub))
            elif isinstance(element, HostLink):
                link = element.up if element.up in known else element.up.removesuffix("_UP")
                lines.append(Connection(number[element.host], hub, (link,)))
    if lines and hub == len(points):
        points.append("")
    return Network(tuple(points), len(names), tuple(lines), buses if lines else {})


def _leaves(zone: DrawnItem) -> dict[int, tuple[int, Connection]]:
    """Return the items with one neighbour: that and the line to it."""
    joined: dict[int, list[tuple[int, Connection]]] = {}
    for line in zone.lines:
        joined.setdefault(line.start, []).append((line.stop, line))
        joined.setdefault(line.stop, []).append((line.start, line))
    return {item: found[0] for item, found in sorted(joined.items()) if len(found) == 1}


def _box_count(zone: DrawnItem) -> int:
    """Count the boxes in a zone."""
    return sum(each.is_box for each in zone.inner)


def _fold_boxes(zone: DrawnItem, detail: Detail) -> None:
    """Make boxes that hang from one point one box, together with the point if it has a name.

    Where names end in a dot and that of a site, one box for each site.
    """
    rows = detail.rows
    hanging: dict[int, list[int]] = {}
    for leaf, (at, _) in _leaves(zone).items():
        if zone.inner[leaf].is_box:
            hanging.setdefault(at, []).append(leaf)
    merged = {}
    for at, leaves in hanging.items():
        sites: dict[str, list[int]] = {}
        for leaf in leaves:
            sites.setdefault(zone.inner[leaf].name.rpartition(".")[2], []).append(leaf)
        if 1 < len(sites) < len(leaves) / 2:
            for site, members in sites.items():
                held = _together([zone.inner[leaf] for leaf in members])
                merged[members[0]] = (DrawnItem("listing", site, held, rows=rows), members)
        elif len(leaves) > 1:
            point = zone.inner[at]
            takes = point.kind == "router" and len(hanging) > 1
            held = _together([zone.inner[leaf] for leaf in leaves])
            name = point.name if takes else f"{len(leaves):,} parts"
            item = DrawnItem(
                "listing", name, held, rows=rows if len(hanging) > 1 else max(rows, 24)
            )
            if len(leaves) <= detail.frame and not takes:
                item = DrawnItem("zone", name, held, [zone.inner[leaf] for leaf in leaves])
            merged[at if takes else leaves[0]] = (item, [at, *leaves] if takes else leaves)
    _merge(zone, merged)


def _keep_largest(zone: DrawnItem, most: int, rows: int) -> None:
    """Keep the boxes with the most cores, and make the others one."""
    boxes = [i for i, item in enumerate(zone.inner) if item.is_box]
    if len(boxes) <= most:
        return
    order = sorted(boxes, key=lambda i: (-zone.inner[i].contents.core_count, i))
    others = sorted(order[most - 1 :])
    name = f"{len(others):,} smaller parts"
    item = DrawnItem("listing", name, _together([zone.inner[i] for i in others]), rows=rows)
    _merge(zone, {others[0]: (item, others)})
    at = next(i for i, each in enumerate(zone.inner) if each is item)
    zone.lines = [line for line in zone.lines if at not in (line.start, line.stop)]


def _together(items: Sequence[DrawnItem]) -> Contents:
    """Return the contents of several items."""
    return Contents(tuple(group for item in items for group in item.contents.groups))


def _merge(zone: DrawnItem, merged: dict[int, tuple[DrawnItem, list[int]]]) -> None:
    """Put items in the places of others, and renumber."""
    goes = {each: first for first, (_, members) in merged.items() for each in members}
    kept = [i for i in range(len(zone.inner)) if goes.get(i, i) == i]
    number = {old: new for new, old in enumerate(kept)}
    links: dict[tuple[int, int], dict[str, None]] = {}
    for line in zone.lines:
        ends = [number[goes.get(end, end)] for end in (line.start, line.stop)]
        if ends[0] != ends[1]:
            links.setdefault((min(ends), max(ends)), {}).update(dict.fromkeys(line.links))
    zone.inner = [merged[i][0] if i in merged else zone.inner[i] for i in kept]
    zone.lines = [Connection(*ends, tuple(found)) for ends, found in links.items()]


class DrawnPart:
    """Some items of a zone and the lines between them."""

    def __init__(self, zone: DrawnItem, members: Sequence[int], survey: PlatformItems) -> None:
        number = {old: new for new, old in enumerate(members)}
        self.items = [zone.inner[i] for i in members]
        self.lines = [line for line in zone.lines if line.start in number and line.stop in number]
        self.edges = [(number[line.start], number[line.stop]) for line in self.lines]
        self._survey = survey
        self._name_points()

    def bandwidth(self, line: Connection) -> float:
        """Return the bandwidth of a line in one direction [byte/s]; 0 if unknown."""
        return max((self._survey.bandwidth(link) for link in line.links), default=0.0)

    def is_fat(self, line: Connection) -> bool:
        """Return True if transfers on a line do not share its bandwidth."""
        return bool(line.links) and all(self._survey.is_fat(link) for link in line.links)

    def rate(self, line: Connection) -> str:
        """Return the label of a line: its rate, or two if directions differ."""
        if not line.links or all(self._stands_in(link) for link in line.links):
            return ""
        rates = dict.fromkeys(rate_words(self._survey.bandwidth(link)) for link in line.links)
        if len(line.links) > 8 and len(rates) == 1:
            return f"{len(line.links):,} \u00d7 {next(iter(rates))}"
        if len(rates) > 2:
            return f"{len(line.links)} links"
        return " / ".join(rates)

    def _stands_in(self, link: str) -> bool:
        """Return True if a link exists only because SimGrid requires one in many places."""
        uses = sum(link in line.links for line in self.lines) if self._survey.is_fat(link) else 0
        return uses > 3

    def _name_points(self) -> None:
        """Name each nameless point by the only word common to the names of its links."""
        tokens = [[set(_TOKEN.findall(link)) for link in line.links] for line in self.lines]
        everywhere = [each for line in tokens for each in line]
        common = set.intersection(*everywhere) if len(everywhere) > 2 else set()
        taken: dict[str, DrawnItem] = {}
        for place, item in enumerate(self.items):
            if item.kind != "meeting" or item.name:
                continue
            here = [
                words
                for edge, line in zip(self.edges, tokens, strict=True)
                if place in edge
                for words in line
            ]
            shared = set.intersection(*here) - common if len(here) > 1 else set()
            if len(shared) == 1 and not shared & set(taken):
                item.name = shared.pop()
                taken[item.name] = item
        for item in self.items:
            if item.kind == "bus" and item.name and not item.name.endswith("bps"):
                names = item.name.split(", ")
                rated = [f"{name} {rate_words(self._survey.bandwidth(name))}" for name in names]
                item.name = ", ".join(rated) if len(rated) <= 2 else f"{len(rated)} links"
