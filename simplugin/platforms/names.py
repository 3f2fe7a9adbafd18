"""Names of a platform, in the order in which SimGrid learns them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from simplugin.core.name_suggestions import did_you_mean
from simplugin.platforms import radical
from simplugin.platforms.hosts import Cabinet, Cluster, Host, Peer, Router
from simplugin.platforms.links import SPLITDUPLEX, Backbone, Link
from simplugin.platforms.platform import Zone, ZoneElement
from simplugin.platforms.validation import ERROR, WARNING, PlatformProblem

ROOT = "_world_"
# Maximum number of names among which similar ones are searched.
_MOST_COMPARED = 5_000


@dataclass(frozen=True, slots=True)
class Broken:
    """An element that is meant to exist, although it could not be built.

    Attributes
    ----------
    id : str
        Its name.
    hosts : tuple of (prefix, suffix), optional
        Prefix and suffix of the hosts of a cluster that could not be built.
    """

    id: str
    hosts: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class NamedElement:
    """The element that a name denotes.

    Attributes
    ----------
    kind : str
        ``host``, ``router``, ``zone``, or ``broken`` for an element that could not be built.
    zone : str
        The zone or cluster that it is directly in.
    """

    kind: str
    zone: str


# Many elements are of one kind and in one zone.
_place = lru_cache(maxsize=1024)(NamedElement)


class Names:
    """Names declared so far: hosts, routers and zones in one space, links in another.

    Parameters
    ----------
    broken : iterable of Broken
        Elements that could not be built; nothing is reported about them.

    Attributes
    ----------
    problems : list of PlatformProblem
        Names declared twice; the rules of `consistency` add theirs.
    mixed_up : bool
        True if a name denotes two things.
    parents : dict of str to str
        The zone around each zone and cluster.
    peopled : set of str
        Zones and clusters that hold hosts directly.
    leaves : Counter
        Number of those in each zone or cluster, at any depth.
    """

    def __init__(self, broken: Iterable[Broken] = ()) -> None:
        broken = list(broken)
        self.problems: list[PlatformProblem] = []
        self.mixed_up = False
        self._broken = frozenset(element.id for element in broken)
        self._places: dict[str, NamedElement] = dict.fromkeys(
            self._broken, NamedElement("broken", "")
        )
        self._links: set[str] = set(self._broken)
        self._split_links: set[str] = set(self._broken)
        self._clusters: dict[str, Cluster] = {}
        self._has_inner_links = False
        self._trusted = [element.hosts for element in broken if element.hosts is not None]
        self._broken_clusters = [element.id for element in broken if element.hosts is not None]
        self.parents: dict[str, str] = {ROOT: ""}
        self.peopled: set[str] = set()
        self.leaves: Counter[str] = Counter()

    def declare(self, element: ZoneElement, zone: str) -> None:
        """Enter an element of a zone under SimGrid's names, and a problem if one is in use.

        As in SimGrid, the name then denotes the later element.
        """
        # The most frequent kinds come first.
        if isinstance(element, Host):
            self._enter(element, "host", element.id, zone)
        elif isinstance(element, Link):
            if element.sharing_policy == SPLITDUPLEX:
                self._split_links.add(element.id)
            self._enter_links(element, element.simgrid_names)
        elif isinstance(element, Router):
            self._enter(element, "router", element.id, zone)
        elif isinstance(element, Zone):
            self._enter_zone(element, "zone", zone)
        elif isinstance(element, Cluster):
            self._enter_zone(element, "cluster", zone)
            self._enter_hosts(element, element.id)
            if element.router_name is not None:
                self._enter(element, "router", element.router_name, element.id)
            self._clusters[element.id] = element
            # SimGrid numbers the links within fat trees, tori and dragonflies as it makes them.
            self._has_inner_links |= element.topology != "FLAT"
        elif isinstance(element, Cabinet):
            self._enter_hosts(element, zone)
            self._enter_links(element, _host_links(element.host_names()))
        elif isinstance(element, Backbone):
            self._enter_links(element, [element.id])
        elif isinstance(element, Peer):
            self._enter(element, "host", element.id, zone)
            self._enter_links(element, _host_links([element.id]))

    def _enter(self, part: object, kind: str, name: str, zone: str) -> None:
        """Enter a host, router, zone or cluster."""
        before = self._places.get(name)
        self._places[name] = _place("zone" if kind == "cluster" else kind, zone)
        if kind == "host" and zone not in self.peopled:
            self._people(zone)
        if before is not None and before.kind != "broken":
            self._report_taken(part, kind, name, before.kind)

    def _enter_zone(self, part: Zone | Cluster, kind: str, parent: str) -> None:
        """Enter a zone or cluster."""
        if part.id == ROOT:
            self._report_taken(part, kind, ROOT, "zone")
        else:
            self._enter(part, kind, part.id, parent)
        self.parents.setdefault(part.id, parent)

    def _enter_hosts(self, part: Cluster | Cabinet, zone: str) -> None:
        """Enter the hosts of a cluster, up to the first name in use."""
        self._people(zone)
        place = NamedElement("host", zone)
        places = self._places
        for name in part.host_names():
            before = places.setdefault(name, place)
            if before is not place and name not in self._broken:
                self._report_taken(part, "host", name, before.kind)
                return

    def _enter_links(self, part: object, names: Iterable[str]) -> None:
        """Enter a link under SimGrid's names, up to the first that is in use."""
        for name in names:
            if self.has_link(name) and name not in self._broken:
                message = f"link {name!r} is declared twice"
                self.problems.append(PlatformProblem(message, "give each link its own name", part))
                return
            self._links.add(name)

    def _report_taken(self, part: object, kind: str, name: str, other: str) -> None:
        """Add the problem that a name is in use, by a certain kind of element."""
        # SimGrid lets a host follow a router or a zone of its name, and then mixes them up.
        taken = kind == other or kind != "host"
        self.mixed_up |= not taken
        also = "another" if kind == other else f"a {other} already"
        message = f"{kind} {name!r} has the name of {also}"
        severity = ERROR if taken else WARNING
        self.problems.append(
            PlatformProblem(message, "give each a name of its own", part, severity)
        )

    def _people(self, zone: str) -> None:
        """Record that a zone, and the zones around it, hold hosts."""
        if zone not in self.peopled:
            self.peopled.add(zone)
            at = zone
            while at:
                self.leaves[at] += 1
                at = self.parents.get(at, "")

    def place(self, name: str) -> NamedElement | None:
        """Return the kind and zone of a declared name; None if it is unknown."""
        element = self._places.get(name)
        if element is None:
            for prefix, suffix in self._trusted:
                if name.startswith(prefix) and name.endswith(suffix):
                    return NamedElement("broken", "")
        return element

    def is_host(self, name: str) -> bool:
        """Return True if a name denotes a host, or an element that could not be built."""
        place = self.place(name)
        return place is not None and place.kind in {"host", "broken"}

    def has_hosts(self, zone: str) -> bool:
        """Return True if a zone or cluster has hosts, at any depth."""
        return self.leaves[zone] > 0

    def zone_of(self, name: str) -> str:
        """Return the zone or cluster that an element is directly in; empty for none."""
        place = self.place(name)
        return "" if place is None else place.zone

    def has_link(self, name: str) -> bool:
        """Return True if a link of this name was declared."""
        return name in self._links or self._cluster_link(name, split=False)

    def has_split_link(self, name: str) -> bool:
        """Return True if a split-duplex link of this name was declared."""
        return name in self._split_links or self._cluster_link(name, split=True)

    def similar(self, name: str, *, link: bool = False) -> str:
        """Ask whether a similar name is meant; empty if there is none."""
        known = self._links | self._split_links if link else self._places
        return did_you_mean(name, known) if len(known) <= _MOST_COMPARED else ""

    def is_inside(self, name: str, zone: str) -> bool:
        """Return True if a host or router is in a zone, at any depth."""
        place = self.place(name)
        if place is None or place.kind == "broken" or zone in self._broken:
            return True
        at = place.zone
        while at and at != zone:
            at = self.parents.get(at, "")
        return at == zone

    def _cluster_link(self, name: str, *, split: bool) -> bool:
        """Return True if SimGrid makes a link of this name for a cluster."""
        if not self._clusters and not self._broken_clusters:
            return False
        if any(name.startswith(f"{cluster}_") for cluster in self._broken_clusters):
            return True
        if self._has_inner_links and "link_from_" in name:
            return True
        at = name.rfind("_")
        while at > 0:
            cluster = self._clusters.get(name[:at])
            if cluster is not None and _is_link_of(cluster, name[at + 1 :], split=split):
                return True
            at = name.rfind("_", 0, at)
        return False


def reached(start: str, targets: Mapping[str, Iterable[str]]) -> set[str]:
    """Return a name, and all that chains of targets lead to from it."""
    seen, stack = {start}, [start]
    while stack:
        fresh = set(targets.get(stack.pop(), ())) - seen
        seen |= fresh
        stack += fresh
    return seen


def _host_links(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of the links from hosts and to them."""
    return (f"link_{name}_{way}" for name in names for way in ("UP", "DOWN"))


def _is_link_of(cluster: Cluster, rest: str, *, split: bool) -> bool:
    """Return True if a cluster has a link of this name after its id."""
    if cluster.topology != "FLAT":
        return rest.startswith("link_")
    if rest == "backbone":
        return not split and cluster.backbone_bandwidth is not None
    if not rest.startswith("link_"):
        return False
    number, _, end = rest.removeprefix("link_").partition("_")
    if not number.isdigit() or not any(
        int(number) in part for part in radical.ranges(cluster.radical)
    ):
        return False
    is_split = cluster.sharing_policy == "SPLITDUPLEX"
    if split:
        return is_split and not end
    return end in {
        *(("UP", "DOWN") if is_split else ("",)),
        *(("limiter",) if cluster.limiter_bandwidth is not None else ()),
        *(("loopback",) if cluster.loopback_bandwidth is not None else ()),
    }
