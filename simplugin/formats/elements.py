"""Elements of platform and deployment files: their data classes, attributes and content."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from simplugin.core.units import (
    format_bandwidth,
    format_speed,
    format_time,
    parse_bandwidth,
    parse_bandwidths,
    parse_speed,
    parse_speeds,
    parse_time,
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

_INTEGER = re.compile(r"\s*[+-]?\d{1,9}(?:\.0+)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Codec:
    """A kind of attribute.

    Attributes
    ----------
    parse : callable
        From a text to a value; raises `ValueError` or `UnitError`.
    write : callable
        From a value to a text.
    remedy : str
        Of texts for which `parse` raises `ValueError`.
    unit : str
        The SI unit, if it has one.
    empty : bool
        True if an empty text is the same as no attribute.
    """

    parse: Callable[[str], Any]
    write: Callable[[Any], str]
    remedy: str = ""
    unit: str = ""
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an element.

    Attributes
    ----------
    key : str
        Its name in files.
    codec : Codec
        Its kind.
    field : str
        Its name in the data class.
    further : str
        The field for all values but the first, if it is a list.
    required : bool
        True if SimGrid refuses an element without it.
    always : bool
        True if it is written even if it has its default.
    beside : str
        The field without which it is not written, and with which it always is.
    """

    key: str
    codec: Codec
    field: str
    further: str = ""
    required: bool = True
    always: bool = True
    beside: str = ""


def need(key: str, codec: Codec | None = None, field: str = "", further: str = "") -> Attribute:
    """Return an attribute that SimGrid wants, by default a text with a field of the same name."""
    return Attribute(key, codec or TEXT, field or key, further)


def may(
    key: str,
    codec: Codec | None = None,
    field: str = "",
    *,
    always: bool = False,
    beside: str = "",
) -> Attribute:
    """Return an optional attribute; see `need`, and `Attribute` for the last two parameters."""
    always = always or bool(beside)
    return Attribute(key, codec or TEXT, field or key, "", False, always, beside)


def number_text(value: float) -> str:
    """Return a number without a unit, for instance ``10`` or ``0.5``."""
    return repr(float(value)).removesuffix(".0")


def word(*choices: str, synonyms: Mapping[str, str] = MappingProxyType({})) -> Codec:
    """Return the codec of attributes with a fixed set of values."""
    known = sorted({*choices, *synonyms})

    def parse(text: str) -> str:
        """Return today's word."""
        if text not in known:
            raise ValueError(text)
        return synonyms.get(text, text)

    return Codec(parse, str, f"choose among {', '.join(known)}")


def _integer(text: str) -> int:
    """Return a whole number, which may be written as ``4.0``."""
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(text)
    return int(text.partition(".")[0])


def _number(text: str) -> float:
    """Return a finite number."""
    value = float(text)
    if not math.isfinite(value) or "_" in text:
        raise ValueError(text)
    return value


def _kill_time(text: str) -> float | None:
    """Return a date; SimGrid ignores kill times before 0."""
    value = _number(text)
    return value if value >= 0 else None


def _coordinates(text: str) -> tuple[float, ...]:
    """Return network coordinates."""
    values = tuple(float(part) for part in text.split())
    if len(values) != 3:
        raise ValueError(text)
    return values


def _listed(write: Callable[[float], str]) -> Callable[[Iterable[float]], str]:
    """Return what writes several quantities, separated by commas."""
    return lambda values: ",".join([write(value) for value in values])


_speed_text = lru_cache(maxsize=4096)(format_speed)
_bandwidth_text = lru_cache(maxsize=4096)(format_bandwidth)
_time_text = lru_cache(maxsize=4096)(format_time)
_SECONDS = "give a number of seconds without a unit"

TEXT = Codec(str, str, empty=True)
# The name of a file, which is written as seen from another directory.
FILE = Codec(str, str, empty=True)
SPEED = Codec(parse_speed, _speed_text, unit="f")
SPEEDS = Codec(parse_speeds, _listed(_speed_text), unit="f")
BANDWIDTH = Codec(parse_bandwidth, _bandwidth_text, unit="Bps")
BANDWIDTHS = Codec(parse_bandwidths, _listed(_bandwidth_text), unit="Bps")
# SimGrid takes 0 for no such link.
LIMIT = Codec(lambda text: parse_bandwidth(text) or None, _bandwidth_text, unit="Bps", empty=True)
TIME = Codec(parse_time, _time_text, unit="s", empty=True)
INTEGER = Codec(_integer, str, "give a whole number")
NUMBER = Codec(_number, number_text, _SECONDS)
# SimGrid starts at once what starts before 0.
START = Codec(lambda text: max(_number(text), 0.0), number_text, _SECONDS)
KILL = Codec(_kill_time, number_text, _SECONDS)
COORDINATES = Codec(
    _coordinates,
    lambda values: " ".join(repr(float(value)) for value in values),
    "give three numbers, e.g. '25.5 9.4 1.4'",
    empty=True,
)
YES = Codec(
    lambda text: word("YES", "NO", synonyms={"yes": "YES", "no": "NO"}).parse(text) == "YES",
    lambda value: "YES" if value else "NO",
    "choose among NO, YES, no, yes",
)


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
        Attributes that are checked as names only, whatever the others are, so
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
    def free(self) -> dict[str, str]:
        """Attributes in which alike elements may differ: names, and quantities with their units."""
        units = {each.key: each.codec.unit for each in self.attributes}
        return {key: unit for key, unit in units.items() if unit or key in self.names}

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
            # Data classes with several speeds have all of them as `speeds`, and likewise for other
            # fields.
            getter = attrgetter(f"{each.field}s" if each.further else each.field)
            default = inspect.Parameter.empty if each.always else parameters[each.field].default
            found.append((each, getter, default))
        return found


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
        partial(Disk, id="/"),  # as SimGrid calls it by default
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
            may("sharing_policy", word(*_POLICIES, synonyms=_OLD)),
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
            may("sharing_policy", word(*_POLICIES, "WIFI", synonyms=_OLD)),
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
    # It has no data class.
    "argument": Element(lambda value: value, (need("value"),)),
}
TAGS: dict[Any, str] = {each.make: tag for tag, each in ELEMENTS.items()} | {Disk: "disk"}
