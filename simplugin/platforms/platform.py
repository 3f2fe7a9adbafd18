"""Zones and the platform that they make up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from simplugin.core.errors import PlatformError
from simplugin.core.formatting import html_table, readable
from simplugin.platforms.deployment import DeployedActor
from simplugin.platforms.hosts import HOSTS, Cabinet, Cluster, Host, Peer, Router, computing_of
from simplugin.platforms.links import (
    AnyRoute,
    Backbone,
    BypassRoute,
    BypassZoneRoute,
    HostLink,
    Link,
    Route,
    ZoneRoute,
)
from simplugin.platforms.profiles import Profile, ProfileUse
from simplugin.platforms.validation import (
    MOST_HOSTS,
    Name,
    Properties,
    Text,
    check_fields,
    choice,
    require_choice,
)

ROUTINGS = ("Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "Vivaldi", "Wifi", "None")
_ROUTING_OF = {routing.casefold(): routing for routing in ROUTINGS}


def _as_routing(what: str, routing: str) -> str:
    """Return a routing as SimGrid writes it."""
    found = _ROUTING_OF.get(routing.casefold(), routing)
    require_choice(what, found, ROUTINGS)
    return found


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the network with a routing of its own.

    It holds either zones and clusters or hosts and routers, never both.

    Attributes
    ----------
    id : str
        Its name, unlike that of any other zone.
    routing : str
        ``Full`` (every route given), ``Floyd``, ``Dijkstra`` or ``DijkstraCache`` (shortest
        paths over the routes given), ``Cluster`` (a star: host links around a backbone),
        ``Vivaldi`` (from coordinates), ``Wifi``, ``None``.
    elements : tuple
        Hosts, routers, links, zones, clusters, ... in the order of the file. SimGrid's parser
        takes a zone for one of hosts unless a zone, cluster or peer comes first, and wants
        profiles last: where another order is given, the first of the former moves to the front,
        and the latter move to the end.
    routes : tuple
        Routes between its hosts or between its zones, in the order of the file.
    properties : mapping of str to str
        Free annotations.

    Raises
    ------
    PlatformError
        SimGrid has no such routing in platform files, or hosts and zones are mixed.
    """

    id: Name
    routing: Annotated[str, _as_routing]
    elements: tuple[ZoneElement, ...] = ()
    routes: tuple[AnyRoute, ...] = ()
    properties: Properties = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self)
        parts = (*self.elements, *self.routes)
        inner, leaf = _first_of(parts, _INNER), _first_of(parts, _LEAF)
        if inner is not None and leaf is not None:
            raise PlatformError(
                f"zone {self.id!r} holds a {_kind(leaf)} beside a {_kind(inner)}",
                remedy="put hosts, routers and their routes into a zone of their own",
            )
        first = _first_of(self.elements, _INNER)
        if first is not None or _first_of(self.elements, _LAST) is not None:
            ordered = sorted(
                self.elements, key=lambda part: (part is not first, isinstance(part, _LAST))
            )
            object.__setattr__(self, "elements", tuple(ordered))

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Its own explicit hosts."""
        return _of_type(self.elements, Host)

    @property
    def links(self) -> tuple[Link, ...]:
        """Its own links."""
        return _of_type(self.elements, Link)

    @property
    def routers(self) -> tuple[Router, ...]:
        """Its own routers."""
        return _of_type(self.elements, Router)

    @property
    def zones(self) -> tuple[Zone, ...]:
        """The zones directly in it."""
        return _of_type(self.elements, Zone)

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters directly in it."""
        return _of_type(self.elements, Cluster)


# What makes a zone one of zones, and what makes it one of hosts.
_INNER = (Zone, Cluster, Peer, ZoneRoute, BypassZoneRoute)
_LAST = (Profile, ProfileUse)
_LEAF = (Host, Router, HostLink, Cabinet, Route, BypassRoute)


def _kind(part: object) -> str:
    """Return the element that a message calls a part."""
    return str(getattr(part, "tag", type(part).__name__.lower()))


@dataclass(frozen=True, slots=True)
class Config:
    """SimGrid options that a platform file sets.

    Attributes
    ----------
    options : mapping of str to str
        Option to value, for instance ``{"network/model": "CM02"}``.
    id : str
        A label; SimGrid does not use it.
    """

    options: Properties = field(default_factory=dict, hash=False)
    id: Text = ""

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, "a config")


@dataclass(frozen=True, slots=True)
class Opaque:
    """An element that SimGrid reads past, kept as it was written.

    Attributes
    ----------
    tag : str
        Its name; ``random`` is the only one.
    attributes : mapping of str to str
        As in the file.
    """

    tag: Annotated[str, choice("random")]
    attributes: Properties = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, "an element to keep")


PlatformElement = Zone | Cluster | Profile | ProfileUse | Peer | Cabinet
ZoneElement = PlatformElement | Host | Router | Link | Backbone | HostLink


@dataclass(frozen=True, slots=True)
class Platform:
    """The hardware of a simulation.

    Attributes
    ----------
    elements : tuple
        Zones, usually one; also clusters and profiles, in the order of the file.
    config : tuple of Config
        SimGrid options that the platform sets.
    actors : tuple of DeployedActor
        A deployment within the platform file.
    directory : Path, optional
        Base of relative profile files after the current directory: that of the file
        it was read from. Not part of a comparison.

    Raises
    ------
    PlatformError
        It has more than `MOST_HOSTS` hosts.
    """

    elements: tuple[PlatformElement, ...] = ()
    config: tuple[Config | Opaque, ...] = ()
    actors: tuple[DeployedActor, ...] = ()
    directory: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check the fields; a single zone will do."""
        check_fields(self, "the platform")
        if self.directory is not None:
            object.__setattr__(self, "directory", Path(self.directory))
        if self.host_count > MOST_HOSTS:
            raise PlatformError(
                f"the platform has {self.host_count:,} hosts, more than {MOST_HOSTS:,}",
                remedy="make it smaller: SimGrid needs minutes and tens of GB for as many",
            )

    def walk(self) -> Iterator[tuple[ZoneElement, Zone | None]]:
        """Yield every element with the zone it is in, in the order of the file."""
        stack: list[tuple[Zone | None, Iterator[ZoneElement]]] = [(None, iter(self.elements))]
        while stack:
            zone, elements = stack[-1]
            for element in elements:
                yield element, zone
                if isinstance(element, Zone):
                    stack.append((element, iter(element.elements)))
                    break
            else:
                stack.pop()

    def host_names(self) -> Iterator[str]:
        """Yield the name of every host, those of clusters included."""
        for element, _ in self.walk():
            if isinstance(element, HOSTS):
                yield from element.host_names()

    @property
    def host_count(self) -> int:
        """Number of hosts, without listing those of clusters."""
        return sum(element.host_count for element, _ in self.walk() if isinstance(element, HOSTS))

    def _repr_html_(self) -> str:
        """Show its counts in a notebook, as ``simplugin platform show`` names them."""
        elements = [element for element, _ in self.walk()]
        zones = _of_type(elements, Zone)
        computing = computing_of(elements)
        counts = {
            "zones": len(zones),
            "clusters": len(_of_type(elements, Cluster)),
            "hosts": computing.hosts,
            "cores": computing.cores,
            "speed": readable(computing.speed, "flop/s"),
            "links": len(_of_type(elements, Link)) + len(_of_type(elements, Backbone)),
            "routes": sum(len(zone.routes) for zone in zones),
        }
        name = next((zone.id for zone in zones), "")
        return html_table(
            (("", ""), ("", "")), counts.items(), len(counts), title=f"Platform {name}"
        )


_Element = TypeVar("_Element")


def _of_type(elements: Iterable[object], kind: type[_Element]) -> tuple[_Element, ...]:
    """Pick the elements of one kind."""
    return tuple(element for element in elements if isinstance(element, kind))


def _first_of(elements: Collection[object], kinds: tuple[type[Any], ...]) -> object:
    """Return the first element of some kinds, or None; there may be many of other kinds."""
    if not any(issubclass(kind, kinds) for kind in set(map(type, elements))):
        return None
    return next(element for element in elements if isinstance(element, kinds))
