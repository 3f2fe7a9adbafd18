"""Elements of platform and deployment files: their data classes, attributes and content."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from simplugin.formats.attributes import (
    BANDWIDTH,
    BANDWIDTHS,
    COORDINATES,
    FILE,
    INTEGER,
    KILL,
    LIMIT,
    NUMBER,
    SPEED,
    SPEEDS,
    START,
    TEXT,
    TIME,
    YES,
    Attribute,
    may,
    need,
    word,
)
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
from simplugin.platforms.platform import Config, Zone
from simplugin.platforms.profiles import KINDS, Profile, ProfileUse


@dataclass(frozen=True)
class Element:
    """An element.

    Attributes
    ----------
    make : callable
        The data class, or a function that makes its objects.
    attributes : tuple of Attribute
        In the order in which they are written.
    content : tuple of str
        Fields of the elements in it, in this order: ``properties`` or ``options`` of ``<prop>``,
        another of all others.
    text : str
        The field of the text in it.
    names : set of str
        Attributes of which nothing is asked but that they be names, whatever the others are, so
        that a part may be a copy of another one with other names; empty where there are few.
    """

    make: Callable[..., Any]
    attributes: tuple[Attribute, ...]
    content: tuple[str, ...] = ()
    text: str = ""
    names: frozenset[str] = frozenset()

    @cached_property
    def by_key(self) -> dict[str, Attribute]:
        """The attributes by their names in files."""
        return {each.key: each for each in self.attributes}

    @cached_property
    def properties(self) -> str:
        """The field of properties; empty if it has none."""
        return next((name for name in self.content if name in ("properties", "options")), "")

    @cached_property
    def parts(self) -> str:
        """The field of other elements; empty if it has none."""
        return next((name for name in self.content if name != self.properties), "")

    @cached_property
    def getters(self) -> Sequence[tuple[Attribute, Callable[[Any], Any], Any]]:
        """Each attribute with what returns its value, and the value that is not written."""
        parameters = inspect.signature(self.make).parameters
        found = []
        for each in self.attributes:
            # Data classes with several speeds have all of them as `speeds`, and so on.
            getter = attrgetter(f"{each.field}s" if each.further else each.field)
            default = inspect.Parameter.empty if each.always else parameters[each.field].default
            found.append((each, getter, default))
        return found


def _disk(**values: Any) -> Disk:
    """Return a disk, which SimGrid calls "/" by default."""
    return Disk(**{"id": "/", **values})


def _argument(value: str) -> str:
    """Return an argument of an actor, which has no data class."""
    return value


_POLICIES = {"SHARED", "SPLITDUPLEX", "FATPIPE"}
# FULLDUPLEX is the old name.
_OLD = {"FULLDUPLEX": "SPLITDUPLEX"}
_ENDS = (need("src", field="source"), need("dst", field="destination"))
_GATEWAYS = (need("gw_src", field="gateway_source"), need("gw_dst", field="gateway_destination"))
_LINKS = ("links",)
_ID = frozenset({"id"})
_CABINET = (need("id"), need("prefix"), need("suffix"), need("radical"))

ELEMENTS: dict[str, Element] = {
    "zone": Element(Zone, (need("id"), need("routing")), ("properties", "elements")),
    "host": Element(
        Host,
        (
            need("id"),
            need("speed", SPEEDS, further="further_speeds"),
            may("core", INTEGER, "cores"),
            may("pstate", INTEGER),
            may("speed_file", FILE, "speed_profile"),
            may("state_file", FILE, "state_profile"),
            may("coordinates", COORDINATES),
        ),
        ("properties", "disks"),
        names=_ID,
    ),
    "disk": Element(
        _disk,
        (
            may("id", always=True),
            need("read_bw", BANDWIDTH, "read_bandwidth"),
            need("write_bw", BANDWIDTH, "write_bandwidth"),
        ),
        ("properties",),
    ),
    "host_link": Element(
        HostLink,
        (need("id", field="host"), need("up"), need("down")),
        names=frozenset({"id", "up", "down"}),
    ),
    "cluster": Element(
        Cluster,
        (
            *_CABINET,
            need("speed", SPEEDS, further="further_speeds"),
            may("core", INTEGER, "cores"),
            need("bw", BANDWIDTH, "bandwidth"),
            need("lat", TIME, "latency"),
            may("sharing_policy", word(*_POLICIES, **_OLD)),
            may("topology", word(*TOPOLOGIES)),
            may("topo_parameters", TEXT, "topology_parameters"),
            may("bb_bw", LIMIT, "backbone_bandwidth"),
            may("bb_lat", TIME, "backbone_latency", beside="backbone_bandwidth"),
            may("bb_sharing_policy", word("SHARED", "FATPIPE"), "backbone_sharing_policy"),
            may("router_id", TEXT, "router"),
            may("limiter_link", LIMIT, "limiter_bandwidth"),
            may("loopback_bw", LIMIT, "loopback_bandwidth"),
            may("loopback_lat", TIME, "loopback_latency", beside="loopback_bandwidth"),
        ),
        ("properties",),
    ),
    "cabinet": Element(
        Cabinet,
        (
            *_CABINET,
            need("speed", SPEED),
            need("bw", BANDWIDTH, "bandwidth"),
            need("lat", TIME, "latency"),
        ),
    ),
    "peer": Element(
        Peer,
        (
            need("id"),
            need("speed", SPEED),
            need("bw_in", BANDWIDTH, "bandwidth_in"),
            need("bw_out", BANDWIDTH, "bandwidth_out"),
            may("coordinates", COORDINATES),
            may("speed_file", FILE, "speed_profile"),
            may("state_file", FILE, "state_profile"),
        ),
    ),
    "router": Element(Router, (need("id"), may("coordinates", COORDINATES)), names=_ID),
    "backbone": Element(
        Backbone, (need("id"), need("bandwidth", BANDWIDTH), need("latency", TIME))
    ),
    "link": Element(
        Link,
        (
            need("id"),
            need("bandwidth", BANDWIDTHS, further="further_bandwidths"),
            # The DTD has a default latency, but SimGrid 4.1 refuses a link that leaves it out.
            need("latency", TIME),
            may("sharing_policy", word(*_POLICIES, "WIFI", **_OLD)),
            may("bandwidth_file", FILE, "bandwidth_profile"),
            may("latency_file", FILE, "latency_profile"),
            may("state_file", FILE, "state_profile"),
        ),
        ("properties",),
        names=_ID,
    ),
    "route": Element(
        Route, (*_ENDS, may("symmetrical", YES)), _LINKS, names=frozenset({"src", "dst"})
    ),
    "zoneRoute": Element(ZoneRoute, (*_ENDS, *_GATEWAYS, may("symmetrical", YES)), _LINKS),
    "bypassRoute": Element(BypassRoute, _ENDS, _LINKS),
    "bypassZoneRoute": Element(BypassZoneRoute, (*_ENDS, *_GATEWAYS), _LINKS),
    "link_ctn": Element(
        LinkUse, (need("id", field="link"), may("direction", word(*DIRECTIONS))), names=_ID
    ),
    "trace": Element(
        Profile,
        (need("id"), may("file", FILE), need("periodicity", NUMBER, "period")),
        text="text",
    ),
    "trace_connect": Element(
        ProfileUse,
        (need("trace", field="profile"), need("element"), may("kind", word(*KINDS), always=True)),
    ),
    "config": Element(Config, (may("id"),), ("options",)),
    "actor": Element(
        DeployedActor,
        (
            need("host"),
            need("function"),
            may("start_time", START),
            may("kill_time", KILL),
            may("on_failure", word("DIE", "RESTART")),
        ),
        ("arguments", "properties"),
    ),
    "argument": Element(_argument, (need("value"),)),
}
TAGS: dict[Any, str] = {each.make: tag for tag, each in ELEMENTS.items()} | {Disk: "disk"}
