"""Checks between the parts of a platform, by the rules by which SimGrid 4.1 loads them."""

from __future__ import annotations

from collections.abc import Iterable

from simplugin.core.errors import PlatformError
from simplugin.platforms.hosts import Cabinet, Cluster, Host, Peer
from simplugin.platforms.links import (
    BYPASSES,
    CROSSING,
    AnyRoute,
    Backbone,
    HostLink,
    Link,
    LinkUse,
)
from simplugin.platforms.names import ROOT, Broken, Names
from simplugin.platforms.platform import Platform, Zone, ZoneElement
from simplugin.platforms.profiles import (
    HOST_KINDS,
    LINES_REMEDY,
    Profile,
    ProfileUse,
    profile_problem,
)
from simplugin.platforms.reachability import unreachable
from simplugin.platforms.validation import ERROR, WARNING, PlatformProblem

_WITHOUT_ROUTES = {"None", "Wifi"}
_STARS = {"Cluster", "Vivaldi"}
_Taken = dict[tuple[bool, str, str], AnyRoute]
# A tuple of classes takes less time than a union where there are many elements.
_PARTS_OF_CLUSTERS = (HostLink, Cabinet, Backbone)


def find_problems(platform: Platform, broken: Iterable[Broken] = ()) -> list[PlatformProblem]:
    """Return the faults between the parts of a platform.

    Names that are unknown, declared twice or used before they are declared; routes over unknown
    links or between elements outside their zone; missing and contradictory gateways; elements in
    zones whose routing knows nothing of them; hosts that cannot reach each other.

    Parameters
    ----------
    platform : Platform
        The platform.
    broken : iterable of Broken
        Elements that are meant to exist although the platform lacks them.

    Returns
    -------
    list of PlatformProblem
        Errors and warnings, in the order of the platform.
    """
    inspection = _Inspection(platform, broken)
    problems = inspection.problems
    names = inspection.names
    if not names.mixed_up and not any(problem.severity == ERROR for problem in problems):
        problems += unreachable(inspection.zones, names)
        tops = [top.id for top in platform.elements if isinstance(top, Zone | Cluster)]
        peopled = [top for top in tops if names.has_hosts(top)]
        if len(peopled) > 1:
            message = f"zones {peopled[0]!r} and {peopled[1]!r} have no zone around them"
            remedy = "their hosts cannot reach each other: put them into one zone with zoneRoutes"
            problems.append(PlatformProblem(message, remedy, platform.elements[-1], WARNING))
    return problems


def require_consistent(platform: Platform) -> None:
    """Raise for the first error that SimGrid would find in a platform.

    Parameters
    ----------
    platform : Platform
        The platform.

    Raises
    ------
    PlatformError
        For the first error; warnings are passed over.
    """
    for problem in _Inspection(platform, ()).problems:
        if problem.severity == ERROR:
            raise PlatformError(problem.message, remedy=problem.remedy)


class _Inspection:
    """The checks of a platform, in SimGrid's order: each element is declared, then checked."""

    def __init__(self, platform: Platform, broken: Iterable[Broken]) -> None:
        self.names = Names(broken)
        self.problems = self.names.problems
        self.zones: list[Zone] = []
        self._profiles: set[str] = set()
        self._profile_sources: set[str] = set()
        self._uses: list[ProfileUse] = []
        self._used: set[tuple[str, str]] = set()
        self._followers: set[tuple[str, str]] = set()
        self._wifi_links: set[str] = set()
        self._access_points: list[tuple[Zone, str]] = []
        self._mounting: list[Host] = []
        for element in platform.elements:
            self._element(element, None)
        self._finish(platform)

    def _say(self, part: object, message: str, remedy: str, severity: str = ERROR) -> None:
        """Add a problem."""
        self.problems.append(PlatformProblem(message, remedy, part, severity))

    def _element(self, element: ZoneElement, zone: Zone | None) -> None:
        """Check an element of a zone, or of the platform for None."""
        in_cluster = isinstance(element, _PARTS_OF_CLUSTERS)
        if in_cluster and (zone is None or zone.routing != "Cluster"):
            message = f"a {type(element).__name__.lower()} is in {_zone_text(zone)}"
            self._say(element, message, "move it into a zone of routing Cluster")
            return
        self.names.declare(element, ROOT if zone is None else zone.id)
        if isinstance(element, Host):
            self._profile_files(element)
            if "remote_disk" in element.properties:
                self._mounting.append(element)
        elif isinstance(element, Link):
            self._link(element, zone)
        elif isinstance(element, Zone):
            self._zone(element)
        elif isinstance(element, Cluster):
            self._cluster(element, zone)
        elif isinstance(element, Peer):
            self._profile_files(element)
            if zone is None or zone.routing != "Vivaldi":
                message = f"peer {element.id!r} is in {_zone_text(zone)}"
                self._say(element, message, "move it into a zone of routing Vivaldi")
        elif isinstance(element, Profile):
            self._profile(element)
        elif isinstance(element, ProfileUse):
            self._profile_use(element)

    def _zone(self, zone: Zone) -> None:
        """Check a zone and its elements."""
        self.zones.append(zone)
        self._check_wifi(zone)
        for element in zone.elements:
            self._element(element, zone)
        if zone.routing == "Cluster":
            self._host_links(zone)
        self._check_routes(zone)

    def _cluster(self, cluster: Cluster, zone: Zone | None) -> None:
        """Check the topology of a cluster."""
        if zone is None and cluster.topology != "FLAT":
            message = f"cluster {cluster.id!r} of topology {cluster.topology} is in no zone"
            self._say(cluster, message, "SimGrid crashes on it: put it into a <zone>")
        if cluster.topology == "DRAGONFLY":
            levels = cluster.topology_parameters.split(";")
            groups, routers = (int(levels[place].split(",")[0]) for place in (0, 2))
            if groups > routers:
                # Router n of each group leads to group n.
                message = (
                    f"dragonfly {cluster.id!r} has {groups} groups and {routers} routers a "
                    "chassis: SimGrid 4.1 aborts at a route to a group that has no router of its "
                    "number"
                )
                remedy = "give at least as many routers a chassis as groups"
                self._say(cluster, message, remedy, WARNING)

    def _link(self, link: Link, zone: Zone | None) -> None:
        """Check a link."""
        wifi = zone is not None and zone.routing == "Wifi"
        if link.further_bandwidths and not wifi:
            message = f"link {link.id!r} has {len(link.bandwidths)} bandwidths"
            self._say(link, message, "give it one, or put it into a zone of routing Wifi")
        if link.latency and wifi:
            message = f"link {link.id!r} of a Wi-Fi zone has a latency of {link.latency:g} s"
            self._say(link, message, 'SimGrid gives Wi-Fi links none: write latency="0s"')
        self._profile_files(link)
        if wifi:
            if link.profile_files:
                self._say(link, f"Wi-Fi link {link.id!r} follows a profile", _WIFI_REMEDY)
            self._wifi_links.add(link.id)

    def _check_wifi(self, zone: Zone) -> None:
        """Check the properties that a Wi-Fi zone needs."""
        if zone.routing != "Wifi":
            return
        links = zone.links
        if len(links) > 1 or any(link.sharing_policy == "SPLITDUPLEX" for link in links):
            remedy = "leave one link, not split-duplex: that of the access point"
            self._say(links[-1], f"Wi-Fi zone {zone.id!r} has more than one link", remedy)
        point = zone.properties.get("access_point")
        if point is not None:
            self._access_points.append((zone, point))
        levels = [str(level) for level in range(len(links[0].bandwidths))] if links else []
        for host in zone.elements:
            if not isinstance(host, Host) or host.id == point:
                continue
            rate = host.properties.get("wifi_rate")
            if rate is None:
                message = f"host {host.id!r} of Wi-Fi zone {zone.id!r} has no property wifi_rate"
                remedy = (
                    "write a level of the link, 0 for its first bandwidth; or let actors set it"
                )
                self._say(host, message, remedy, WARNING)
            elif links and rate not in levels:
                message = f"host {host.id!r} has wifi_rate {rate!r}"
                self._say(host, message, f"write a level of the link: {' or '.join(levels)}")

    def _host_links(self, zone: Zone) -> None:
        """Check the links between the hosts of a zone and its middle."""
        for link in zone.elements:
            if not isinstance(link, HostLink):
                continue
            place = self.names.place(link.host)
            if place is None or not self.names.is_host(link.host):
                message = f"a host link is for host {link.host!r}, which does not exist"
                self._say(link, message, "name a host of this zone")
            elif place.kind == "host" and place.zone != zone.id:
                message = (
                    f"a host link of zone {zone.id!r} is for host {link.host!r} of {place.zone!r}"
                )
                self._say(link, message, "move it into the zone of the host")
            for name in dict.fromkeys((link.up, link.down)):
                if self.names.has_link(name):
                    continue
                remedy = self.names.similar(name, link=True) or "name a link declared before"
                if self.names.has_split_link(name):
                    remedy = f"it is split-duplex: name {name + '_UP'!r} or {name + '_DOWN'!r}"
                message = f"the host link of {link.host!r} uses an unknown link {name!r}"
                self._say(link, message, remedy)

    def _profile(self, profile: Profile) -> None:
        """Declare and check a profile."""
        if profile.id in self._profiles:
            message = f"profile {profile.id!r} is declared twice; SimGrid keeps the first"
            self._say(profile, message, "give each profile its own id", WARNING)
        self._profiles.add(profile.id)
        if profile.file:
            self._profile_source(profile, profile.file)
            return
        self._profile_source(profile, profile.id)
        wrong = profile_problem(profile.text, profile.period)
        if wrong is not None:
            self._say(profile, f"profile {profile.id!r}, {wrong}", LINES_REMEDY)

    def _profile_files(self, part: Host | Peer | Link) -> None:
        """Record the profile files that an element follows under SimGrid's names."""
        for kind, file in part.profile_files.items():
            names = part.simgrid_names if isinstance(part, Link) else (part.id,)
            self._profile_source(part, file)
            self._followers.update((name, kind) for name in names)

    def _profile_source(self, part: object, name: str) -> None:
        """Add a problem if SimGrid would read a profile of one name twice."""
        if name in self._profile_sources:
            remedy = "declare it once as a <trace>, or copy the file under another name"
            self._say(part, f"profile {name!r} is loaded twice, which SimGrid refuses", remedy)
        self._profile_sources.add(name)

    def _profile_use(self, use: ProfileUse) -> None:
        """Record that an element follows a profile."""
        place = self.names.place(use.profile)
        is_broken = place is not None and place.kind == "broken"
        if use.profile not in self._profiles and not is_broken:
            message = f"profile {use.profile!r} is unknown where {use.element!r} is to follow it"
            self._say(use, message, "declare the <trace> before")
        if (use.profile, use.kind) in self._used:
            message = f"{use.element!r} is not the first to follow profile {use.profile!r}"
            remedy = "SimGrid lets one element follow it: copy the <trace> under another id"
            self._say(use, message, remedy, WARNING)
            return
        self._used.add((use.profile, use.kind))
        self._uses.append(use)

    def _finish(self, platform: Platform) -> None:
        """Check uses of profiles, access points, actors and disks when all names are known."""
        for use in self._uses:
            if use.kind in HOST_KINDS:
                known, kind = self.names.is_host(use.element), "host"
            else:
                known, kind = self.names.has_link(use.element), "link"
            if (use.element, use.kind) in self._followers:
                message = f"{kind} {use.element!r} follows two profiles of kind {use.kind}"
                self._say(use, message, "SimGrid refuses the second: leave one")
            self._followers.add((use.element, use.kind))
            if use.element in self._wifi_links and kind == "link":
                self._say(use, f"Wi-Fi link {use.element!r} follows a profile", _WIFI_REMEDY)
            elif not known:
                message = f"profile {use.profile!r} is for {kind} {use.element!r}, which is unknown"
                self._say(use, message, f"name a {kind}, or another kind than {use.kind}")
        for zone, point in self._access_points:
            place = self.names.place(point)
            if place is None or place.kind == "zone":
                message = f"the access point {point!r} of Wi-Fi zone {zone.id!r} does not exist"
                self._say(zone, message, "name a host or router in property access_point")
        # A deployment file holds actors for a platform that is elsewhere.
        for actor in platform.actors if platform.elements else ():
            if not self.names.is_host(actor.host):
                message = f"actor {actor.function!r} is on host {actor.host!r}, which is unknown"
                self._say(actor, message, "name a host of the platform")
        walk = platform.walk() if self._mounting else ()
        hosts = {part.id: part for part, _ in walk if isinstance(part, Host)}
        for host in self._mounting:
            mount = host.properties["remote_disk"]
            words = mount.split(":")
            owner = hosts.get(words[2]) if len(words) > 2 else None
            if owner is None or words[1] not in [disk.id for disk in owner.disks]:
                message = f"host {host.id!r} uses a remote disk {mount!r}, which does not exist"
                self._say(host, message, "write mount:disk:host, naming a disk of that host")

    def _check_routes(self, zone: Zone) -> None:
        """Check all routes of a zone after its elements are declared."""
        taken: _Taken = {}
        for route in zone.routes:
            bypass = isinstance(route, BYPASSES)
            if (bypass or self._accepts(zone, route)) and self._ends(zone, route):
                self._gateways(route)
                self._once(zone, route, taken)
            for use in route.links:
                self._route_link(route, use)

    def _accepts(self, zone: Zone, route: AnyRoute) -> bool:
        """Return True if the routing of the zone takes such a route."""
        if zone.routing in _WITHOUT_ROUTES:
            message = f"{_zone_text(zone)} takes no <{route.tag}>"
            self._say(route, message, "remove it, or use routing Full")
            return False
        if zone.routing in _STARS and route.source != route.destination:
            message = f"{_zone_text(zone)} takes no <{route.tag}> between two elements"
            self._say(route, message, "write a <host_link> for each host, or use routing Full")
            return False
        return True

    def _ends(self, zone: Zone, route: AnyRoute) -> bool:
        """Return True if both ends are known and the route may join them."""
        between_zones = isinstance(route, CROSSING)
        kind = "zone or cluster" if between_zones else "host or router"
        good = True
        for end in dict.fromkeys((route.source, route.destination)):
            place = self.names.place(end)
            if place is None:
                message = "is unknown"
                remedy = f"name a {kind} that is declared before in zone {zone.id!r}"
                remedy = self.names.similar(end) or remedy
            elif place.kind == "broken":
                continue
            elif (place.kind == "zone") is not between_zones:
                tag = "a <zoneRoute>" if place.kind == "zone" else "a <route>"
                message, remedy = f"is a {place.kind}", f"name a {kind}, or write {tag}"
            elif place.zone != zone.id and not isinstance(route, BYPASSES):
                message = f"is in zone {place.zone!r}, not directly in {zone.id!r}"
                remedy = f"move the route, or name a {kind} of {zone.id!r}"
            else:
                continue
            self._say(route, f"{_route_text(route)}: {end!r} {message}", remedy)
            good = False
        return good

    def _gateways(self, route: AnyRoute) -> None:
        """Check the gateways of a route between zones."""
        if not isinstance(route, CROSSING):
            return
        for key, gateway, zone in (
            ("gw_src", route.gateway_source, route.source),
            ("gw_dst", route.gateway_destination, route.destination),
        ):
            place = self.names.place(gateway)
            message, remedy = None, f"name a host or router of {zone!r}"
            if place is None:
                message, remedy = "is unknown", self.names.similar(gateway) or remedy
            elif place.kind == "zone":
                message = "is a zone"
            elif not self.names.is_inside(gateway, zone):
                message = f"is in {place.zone!r}, not in {zone!r}"
            if message is not None:
                message = f"{_route_text(route)}: its {key} {gateway!r} {message}"
                self._say(route, message, remedy)

    def _once(self, zone: Zone, route: AnyRoute, taken: _Taken) -> None:
        """Add a problem for a second route between the same elements."""
        bypass = isinstance(route, BYPASSES)
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

    def _route_link(self, route: AnyRoute, use: LinkUse) -> None:
        """Check a link of a route."""
        names, name = self.names, use.link
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
            remedy = names.similar(name, link=True) or "name a link declared before the route"
        self._say(use, f"{_route_text(route)} {problem}", remedy)


def _route_text(route: AnyRoute) -> str:
    """Return what messages call a route."""
    return f"the <{route.tag}> from {route.source!r} to {route.destination!r}"


_WIFI_REMEDY = "SimGrid 4.1 ends at its first event: remove the profile"


def _zone_text(zone: Zone | None) -> str:
    """Return what messages call the place of an element."""
    return "no zone" if zone is None else f"zone {zone.id!r} of routing {zone.routing}"
