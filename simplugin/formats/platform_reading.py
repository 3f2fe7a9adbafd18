"""Nodes of a platform file into the data classes of a platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simplugin.errors import DeploymentError, FileError, PlatformError, UnitError
from simplugin.formats.attributes import (
    coordinates,
    integer,
    number,
    optional_bandwidth,
    quantities,
    quantity,
    sharing_policy,
    symmetrical,
    word,
)
from simplugin.formats.vocabulary import attribute_problems, named, order_problem, standard_tag
from simplugin.platforms.deployment import DeployedActor
from simplugin.platforms.hosts import TOPOLOGIES, Cabinet, Cluster, Disk, Host, Peer, Router
from simplugin.platforms.links import (
    DIRECTIONS,
    Backbone,
    BypassRoute,
    BypassZoneRoute,
    HostLink,
    Link,
    LinkUse,
    Route,
    ZoneRoute,
)
from simplugin.platforms.platform import Config, Opaque, Platform, Zone
from simplugin.platforms.profiles import KINDS, Profile, ProfileUse
from simplugin.units import parse_bandwidth, parse_speed, parse_time

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from simplugin.inputs.xml_tree import Node

_Problem = PlatformError | DeploymentError | UnitError


class PlatformReader:
    """Builds the parts of a platform, remembering where each stands.

    Parameters
    ----------
    file : path
        Named in errors.
    report : callable, optional
        Given each error, upon which reading goes on without the element; without it, the first
        error is raised.

    Attributes
    ----------
    lines : dict of int to int
        Line of each part built, by the `id` of the part.
    broken : list of Node
        Elements that could not be built.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        report: Callable[[FileError], None] | None = None,
    ) -> None:
        self._file = file
        self._report = report
        self.lines: dict[int, int] = {}
        self.broken: list[Node] = []
        self._readers: dict[str, Callable[[Node], Any]] = {
            "zone": self._zone,
            "cluster": self._cluster,
            "host": self._host,
            "disk": self._disk,
            "link": self._link,
            "config": self._config,
            "actor": self._actor,
            "route": self._route,
            "zoneRoute": self._zone_route,
            "bypassRoute": self._bypass_route,
            "bypassZoneRoute": self._bypass_zone_route,
            "link_ctn": _link_use,
            "router": _router,
            "peer": _peer,
            "cabinet": _cabinet,
            "backbone": _backbone,
            "host_link": _host_link,
            "trace": _profile,
            "trace_connect": _profile_use,
            "random": _opaque,
        }

    def platform(self, root: Node) -> Platform:
        """Build the platform of a root element."""
        self._check_attributes(root)
        parts = self._children(root)
        config: list[Config | Opaque] = [
            part for part in parts if isinstance(part, Config | Opaque)
        ]
        actors = [part for part in parts if isinstance(part, DeployedActor)]
        elements = [part for part in parts if not isinstance(part, Config | Opaque | DeployedActor)]
        return Platform(tuple(elements), tuple(config), tuple(actors))

    def _children(self, parent: Node) -> list[Any]:
        """Build what is in an element, but its properties."""
        before = ""
        parts = []
        for child in parent.children:
            before, problem = order_problem(parent, child, before)
            if problem is not None:
                self.broken.append(child)
                self._fail(child, problem)
            elif child.tag != "argument" and (child.tag != "prop" or self._report is not None):
                part = self._build(child)
                if part is not None:
                    parts.append(part)
        return parts

    def _build(self, node: Node) -> object | None:
        """Build an element; None where it cannot be, or is a property."""
        if not self._check_attributes(node):
            self.broken.append(node)
            return None
        read = self._readers.get(standard_tag(node.tag))
        if read is None:
            return None
        try:
            part: object = read(node)
        except (PlatformError, DeploymentError, UnitError) as error:
            self.broken.append(node)
            self._fail(node, error)
            return None
        self.lines[id(part)] = node.line
        return part

    def _check_attributes(self, node: Node) -> bool:
        """Report unknown and missing attributes; whether there are none."""
        problems = attribute_problems(node)
        for problem in problems:
            self._fail(node, problem)
        return not problems

    def _fail(self, node: Node, error: _Problem) -> None:
        """Report or raise an error with its place."""
        kind = DeploymentError if isinstance(error, DeploymentError) else PlatformError
        if isinstance(error, FileError):
            message, remedy = error.message, error.remedy
        else:
            message, remedy = f"{named(node)}: {error}", None
        located = kind(message, file=self._file, line=node.line, remedy=remedy)
        if self._report is None:
            raise located from None
        self._report(located)

    def _properties(self, node: Node) -> dict[str, str]:
        """Read the properties of an element; SimGrid keeps the first of equal names."""
        properties: dict[str, str] = {}
        for child in node.children:
            if child.tag == "prop" and (self._report is None or "value" in child.attributes):
                if self._report is None:
                    self._check_attributes(child)
                properties.setdefault(child.attributes.get("id", ""), child.attributes["value"])
        properties.pop("", None)
        return properties

    def _zone(self, node: Node) -> Zone:
        """Build a zone and what is in it."""
        parts = self._children(node)
        routes = [part for part in parts if isinstance(part, _ROUTES)]
        elements = [part for part in parts if not isinstance(part, _ROUTES)]
        name, routing = node.attributes["id"], node.attributes["routing"]
        content = (tuple(elements), tuple(routes), self._properties(node))
        try:
            return Zone(name, routing, *content)
        except PlatformError as error:
            if self._report is None:
                raise
            self._fail(node, error)
            # What is in it is looked at all the same.
            return Zone(name or f"(line {node.line})", "Full", *content)

    def _host(self, node: Node) -> Host:
        """Build a host."""
        given = node.attributes
        speeds = quantities(node, "speed", parse_speed)
        disks = self._children(node) if node.children else ()
        return Host(
            given["id"],
            speeds[0],
            integer(node, "core", 1),
            speeds[1:],
            integer(node, "pstate", 0),
            given.get("speed_file") or given.get("availability_file", ""),
            given.get("state_file", ""),
            coordinates(node),
            tuple(disks),
            self._properties(node) if node.children else {},
        )

    def _disk(self, node: Node) -> Disk:
        """Build a disk."""
        self._children(node)
        return Disk(
            node.attributes.get("id", "/"),
            quantity(node, "read_bw", parse_bandwidth),
            quantity(node, "write_bw", parse_bandwidth),
            self._properties(node),
        )

    def _link(self, node: Node) -> Link:
        """Build a link."""
        given = node.attributes
        self._children(node)
        bandwidths = quantities(node, "bandwidth", parse_bandwidth)
        return Link(
            given["id"],
            bandwidths[0],
            quantity(node, "latency", parse_time),
            sharing_policy(node, "sharing_policy", "SHARED"),
            bandwidths[1:],
            given.get("bandwidth_file", ""),
            given.get("latency_file", ""),
            given.get("state_file", ""),
            self._properties(node),
        )

    def _cluster(self, node: Node) -> Cluster:
        """Build a cluster."""
        given = node.attributes
        self._children(node)
        speeds = quantities(node, "speed", parse_speed)
        backbone = optional_bandwidth(node, "bb_bw")
        loopback = optional_bandwidth(node, "loopback_bw")
        return Cluster(
            given["id"],
            given["radical"],
            speeds[0],
            quantity(node, "bw", parse_bandwidth),
            quantity(node, "lat", parse_time),
            given["prefix"],
            given["suffix"],
            integer(node, "core", 1),
            speeds[1:],
            sharing_policy(node, "sharing_policy", "SPLITDUPLEX"),
            word(node, "topology", "FLAT", TOPOLOGIES),
            given.get("topo_parameters", ""),
            backbone,
            quantity(node, "bb_lat", parse_time) if given.get("bb_lat") else 0.0,
            word(node, "bb_sharing_policy", "SHARED", {"SHARED", "FATPIPE"}),
            given.get("router_id", ""),
            optional_bandwidth(node, "limiter_link"),
            loopback,
            quantity(node, "loopback_lat", parse_time) if given.get("loopback_lat") else 0.0,
            self._properties(node),
        )

    def _config(self, node: Node) -> Config:
        """Build SimGrid options."""
        self._children(node)
        return Config(self._properties(node), node.attributes.get("id", ""))

    def _actor(self, node: Node) -> DeployedActor:
        """Build an actor."""
        given = node.attributes
        self._children(node)
        for child in node.children:
            if child.tag == "argument":
                self._check_attributes(child)
        # SimGrid starts at once what starts before 0, and never kills what is killed before 0.
        start, kill = number(node, "start_time", -1.0), number(node, "kill_time", -1.0)
        return DeployedActor(
            given["host"],
            given["function"],
            tuple(
                child.attributes["value"]
                for child in node.children
                if child.tag == "argument" and "value" in child.attributes
            ),
            max(start, 0.0),
            kill if kill >= 0 else None,
            word(node, "on_failure", "DIE", {"DIE", "RESTART"}),
            self._properties(node),
        )

    def _uses(self, node: Node) -> tuple[LinkUse, ...]:
        """Build the links of a route."""
        return tuple(self._children(node))

    def _route(self, node: Node) -> Route:
        """Build a route between hosts."""
        given = node.attributes
        uses = self._uses(node)
        return Route(given["src"], given["dst"], uses, symmetrical=symmetrical(node))

    def _bypass_route(self, node: Node) -> BypassRoute:
        """Build a bypass between hosts."""
        return BypassRoute(node.attributes["src"], node.attributes["dst"], self._uses(node))

    def _zone_route(self, node: Node) -> ZoneRoute:
        """Build a route between zones."""
        given = node.attributes
        uses = self._uses(node)
        ends = (given["src"], given["dst"], given["gw_src"], given["gw_dst"])
        return ZoneRoute(*ends, uses, symmetrical=symmetrical(node))

    def _bypass_zone_route(self, node: Node) -> BypassZoneRoute:
        """Build a bypass between zones."""
        given = node.attributes
        ends = (given["src"], given["dst"], given["gw_src"], given["gw_dst"])
        return BypassZoneRoute(*ends, self._uses(node))


_ROUTES = (Route, ZoneRoute, BypassRoute, BypassZoneRoute)


def _link_use(node: Node) -> LinkUse:
    """Build a link of a route."""
    return LinkUse(node.attributes["id"], word(node, "direction", "NONE", DIRECTIONS))


def _router(node: Node) -> Router:
    """Build a router."""
    return Router(node.attributes["id"], coordinates(node))


def _peer(node: Node) -> Peer:
    """Build a peer."""
    given = node.attributes
    return Peer(
        given["id"],
        quantity(node, "speed", parse_speed),
        quantity(node, "bw_in", parse_bandwidth),
        quantity(node, "bw_out", parse_bandwidth),
        coordinates(node),
        given.get("speed_file") or given.get("availability_file", ""),
        given.get("state_file", ""),
    )


def _cabinet(node: Node) -> Cabinet:
    """Build a cabinet."""
    given = node.attributes
    return Cabinet(
        given["id"],
        given["radical"],
        quantity(node, "speed", parse_speed),
        quantity(node, "bw", parse_bandwidth),
        quantity(node, "lat", parse_time),
        given["prefix"],
        given["suffix"],
    )


def _backbone(node: Node) -> Backbone:
    """Build a backbone."""
    bandwidth = quantity(node, "bandwidth", parse_bandwidth)
    return Backbone(node.attributes["id"], bandwidth, quantity(node, "latency", parse_time))


def _host_link(node: Node) -> HostLink:
    """Build a host link."""
    given = node.attributes
    return HostLink(given["id"], given["up"], given["down"])


def _profile(node: Node) -> Profile:
    """Build a profile."""
    given = node.attributes
    period = number(node, "periodicity", -1.0)
    return Profile(given["id"], node.text, given.get("file", ""), period)


def _profile_use(node: Node) -> ProfileUse:
    """Build that an element follows a profile."""
    given = node.attributes
    return ProfileUse(given["trace"], given["element"], word(node, "kind", "HOST_AVAIL", KINDS))


def _opaque(node: Node) -> Opaque:
    """Keep an element as it is."""
    return Opaque(node.tag, node.attributes)
