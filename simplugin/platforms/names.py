"""Names of a platform, in the order in which SimGrid learns them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from simplugin.core.name_suggestions import did_you_mean
from simplugin.platforms import radical
from simplugin.platforms.hosts import Cabinet, Cluster

ROOT = "_world_"
# Of how many names similar ones are looked for.
_MOST_COMPARED = 5_000


@dataclass(frozen=True, slots=True)
class Broken:
    """An element that is meant to exist, although it could not be built.

    Attributes
    ----------
    id : str
        Its name.
    hosts : tuple of (prefix, suffix), optional
        Of the hosts that it would have had.
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
        Elements that could not be built; nothing is said about them.
    """

    def __init__(self, broken: Iterable[Broken] = ()) -> None:
        broken = list(broken)
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
        # Zones and clusters with hosts of their own, and how many of these each holds or is.
        self.peopled: set[str] = set()
        self.leaves: Counter[str] = Counter()

    def place(self, name: str) -> NamedElement | None:
        """Return the kind and zone of a declared name; None if it is unknown."""
        found = self._places.get(name)
        if found is None:
            for prefix, suffix in self._trusted:
                if name.startswith(prefix) and name.endswith(suffix):
                    return NamedElement("broken", "")
        return found

    def declare(self, name: str, kind: str, zone: str) -> NamedElement | None:
        """Enter a host, router or zone; return the place of the name before, if it was in use.

        As to SimGrid, the name then denotes the later one.
        """
        before = self._places.get(name)
        self._places[name] = _place(kind, zone)
        if kind == "host" and zone not in self.peopled:
            self._people(zone)
        return None if before is not None and before.kind == "broken" else before

    def declare_zone(self, name: str, parent: str) -> NamedElement | None:
        """Enter a zone; return the place of the name before, if it was in use."""
        before = NamedElement("zone", "") if name == ROOT else self.declare(name, "zone", parent)
        self.parents.setdefault(name, parent)
        return before

    def declare_hosts(
        self, cluster: Cluster | Cabinet, zone: str
    ) -> tuple[str, NamedElement | None]:
        """Enter the hosts of a cluster; return the first name in use, and its place if any is."""
        self._people(zone)
        place = NamedElement("host", zone)
        places = self._places
        for name in cluster.host_names():
            before = places.setdefault(name, place)
            if before is not place and name not in self._broken:
                return name, before
        return "", None

    def _people(self, zone: str) -> None:
        """Record that a zone, and so those around it, have hosts."""
        if zone not in self.peopled:
            self.peopled.add(zone)
            at = zone
            while at:
                self.leaves[at] += 1
                at = self.parents.get(at, "")

    def has_hosts(self, zone: str) -> bool:
        """Return True if a zone or cluster has hosts, at any depth."""
        return self.leaves[zone] > 0

    def zone_of(self, name: str) -> str:
        """Return the zone or cluster that an element is directly in; empty for none."""
        place = self.place(name)
        return "" if place is None else place.zone

    def declare_cluster_links(self, cluster: Cluster) -> None:
        """Enter the links of a cluster."""
        self._clusters[cluster.id] = cluster
        # SimGrid numbers the links within fat trees, tori and dragonflies as it makes them.
        self._has_inner_links |= cluster.topology != "FLAT"

    def declare_link(self, names: Iterable[str], split: str | None) -> str | None:
        """Enter a link under SimGrid's names; return one that is in use."""
        for name in names:
            if self.has_link(name) and name not in self._broken:
                return name
            self._links.add(name)
        if split is not None:
            self._split_links.add(split)
        return None

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


def _is_link_of(cluster: Cluster, rest: str, *, split: bool) -> bool:
    """Return True if a cluster has a link whose name continues like this after its id."""
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
