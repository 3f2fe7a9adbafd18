"""Platforms whose hosts and links fail, come back, and bear the load of others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import PlatformError
from simplugin.platforms.cluster import Cluster
from simplugin.platforms.hosts import Cabinet, Host, Peer
from simplugin.platforms.links import SPLITDUPLEX, WIFI, Backbone, Link
from simplugin.platforms.platform import Zone
from simplugin.platforms.profiles import Profile, ProfileUse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from simplugin.platforms.availability_processes import Levels, Process
    from simplugin.platforms.platform import Platform, ZoneElement

ALL = "all"
# What stands for the kind in the name of a profile.
_WORDS = {
    "HOST_AVAIL": "state",
    "SPEED": "speed",
    "LINK_AVAIL": "link_state",
    "BANDWIDTH": "bandwidth",
    "LATENCY": "latency",
}


def with_availability(
    platform: Platform,
    until: float,
    seed: int,
    *,
    hosts: str | Iterable[str] = ALL,
    states: Process | None = None,
    speeds: Levels | None = None,
    links: str | Iterable[str] = ALL,
    link_states: Process | None = None,
    bandwidths: Levels | None = None,
    latencies: Levels | None = None,
    spared: str | Iterable[str] = (),
) -> Platform:
    """Let hosts and links of a platform follow profiles drawn at random.

    Each profile has a stream of random numbers of its own, from the seed, the kind and the name
    of who follows it: other hosts, links and processes change none. A split-duplex link is on
    or off as a whole; its directions have cross-traffic of their own. What never changes gets
    no profile.

    Parameters
    ----------
    platform : Platform
        Its clusters stay clusters.
    until : float
        Nothing new happens from then on [s]: what is on stays on, and levels stay.
    seed : int
        At least 0.
    hosts : str or iterable of str
        Whom `states` and `speeds` are for: names of hosts, or of clusters, cabinets and zones
        for the hosts in them; ``"all"``.
    states : Outages or Churn, optional
        When hosts are on.
    speeds : Levels, optional
        What background load leaves of their speed.
    links : str or iterable of str
        Whom the following are for: links and backbones, or zones for those in them; ``"all"``
        for all that can follow a profile.
    link_states : Outages or Churn, optional
        When links are on.
    bandwidths : Levels, optional
        What cross-traffic leaves of their bandwidth.
    latencies : Levels, optional
        The factor by which their latency grows; those without latency are passed over.
    spared : str or iterable of str
        Hosts, clusters, links, ... that are left as they are, for instance a master's host.

    Returns
    -------
    Platform
        The same with a `Profile` and a `ProfileUse` for each follower and kind at its end.

    Raises
    ------
    PlatformError
        A name is unknown, or of a link that SimGrid 4.1 lets follow no profile (those of
        clusters, cabinets and peers, and Wi-Fi); one has a profile of the kind already; nobody
        is left to follow; `until` or the seed is out of range; a profile gets too long.
    """
    if not 0 < until < math.inf:
        raise PlatformError(f"until is {until!r} s", remedy="give a date above 0")
    if seed < 0:
        raise PlatformError(f"the seed is {seed!r}", remedy="give 0 or more")
    found = _Followers.of(platform)
    left_out = found.spared(_names(spared))
    added: list[Profile | ProfileUse] = []
    for kind, process in (("HOST_AVAIL", states), ("SPEED", speeds)):
        if process is not None:
            chosen = _chosen(found.hosts(_names(hosts)), left_out, "host")
            plan = ((name, name, 1.0) for name in chosen)
            added += _profiles(plan, kind, process, until, seed)
    for kind, process in (
        ("LINK_AVAIL", link_states),
        ("BANDWIDTH", bandwidths),
        ("LATENCY", latencies),
    ):
        if process is not None:
            chosen = _chosen(found.links(_names(links)), left_out, "link")
            added += _profiles(found.plan(chosen, kind), kind, process, until, seed)
    _require_new(platform, added)
    return replace(platform, elements=(*platform.elements, *added))


def stream(seed: int, kind: str, name: str) -> np.random.Generator:
    """Return the random numbers of one profile.

    Parameters
    ----------
    seed : int
        Of all.
    kind : str
        ``HOST_AVAIL``, ``SPEED``, ``LINK_AVAIL``, ``BANDWIDTH`` or ``LATENCY``.
    name : str
        Of the host or link.
    """
    digest = sha256(f"{kind} {name}".encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


@dataclass(frozen=True)
class _Followers:
    """Hosts and links of a platform by name, and by the clusters and zones that they are in."""

    host_groups: dict[str, list[str]]
    link_groups: dict[str, list[str]]
    parts: dict[str, Link | Backbone]
    # Names of links that follow no profile, or how they begin (up to a _), and whose they are.
    sealed: dict[str, str]

    @classmethod
    def of(cls, platform: Platform) -> _Followers:
        """Go through a platform."""
        found = cls({ALL: []}, {ALL: []}, {}, {})
        for element in platform.elements:
            found._enter(element, (ALL,))
        return found

    def _enter(self, element: ZoneElement, around: tuple[str, ...]) -> None:
        """Note an element of the groups around it."""
        if isinstance(element, Zone):
            self.link_groups.setdefault(element.id, [])
            self.host_groups.setdefault(element.id, [])
            for inner in element.elements:
                self._enter(inner, (*around, element.id))
        elif isinstance(element, Host | Peer):
            self._add(self.host_groups, around, [element.id])
            if isinstance(element, Peer):
                self.sealed[f"link_{element.id}_"] = f"peer {element.id!r}"
        elif isinstance(element, Cluster | Cabinet):
            self._add(self.host_groups, (*around, element.id), list(element.host_names()))
            self._seal(element)
        elif isinstance(element, Link) and element.sharing_policy == WIFI:
            self.sealed[element.id] = "Wi-Fi"
        elif isinstance(element, Link | Backbone):
            self.parts[element.id] = element
            self._add(self.link_groups, around, [element.id])

    def _seal(self, element: Cluster | Cabinet) -> None:
        """Note that the links of a cluster or cabinet follow no profile."""
        if isinstance(element, Cluster):
            self.sealed[element.id] = self.sealed[f"{element.id}_"] = f"cluster {element.id!r}"
            return
        self.sealed[element.id] = f"cabinet {element.id!r}"
        for name in element.host_names():
            self.sealed[f"link_{name}_"] = f"cabinet {element.id!r}"

    @staticmethod
    def _add(groups: dict[str, list[str]], around: Iterable[str], names: list[str]) -> None:
        """Put names into groups."""
        for group in around:
            groups.setdefault(group, []).extend(names)

    def hosts(self, names: Iterable[str]) -> dict[str, None]:
        """Return the hosts that names stand for, in the order of the names."""
        known = set(self.host_groups[ALL])
        found: dict[str, None] = {}
        for name in names:
            if name not in known and name not in self.host_groups:
                raise _unknown("host, cluster or zone", name, [*self.host_groups, *known])
            found |= dict.fromkeys([name] if name in known else self.host_groups[name])
        return found

    def links(self, names: Iterable[str]) -> dict[str, None]:
        """Return the links that names stand for, in the order of the names."""
        found: dict[str, None] = {}
        for name in names:
            if name not in self.parts and name not in self.link_groups:
                self._refuse_sealed(name)
                raise _unknown("link or zone", name, [*self.link_groups, *self.parts])
            found |= dict.fromkeys([name] if name in self.parts else self.link_groups[name])
        return found

    def spared(self, names: Iterable[str]) -> set[tuple[str, str]]:
        """Return all that names stand for, hosts and links."""
        known = set(self.host_groups[ALL])
        found: set[tuple[str, str]] = set()
        for name in names:
            hosts = [name] if name in known else self.host_groups.get(name, [])
            links = [name] if name in self.parts else self.link_groups.get(name, [])
            groups = (self.host_groups, self.link_groups)
            if not hosts and not links and not any(name in each for each in groups):
                raise _unknown("host or link to spare", name, [*self.host_groups, *known])
            found.update(("host", each) for each in hosts)
            found.update(("link", each) for each in links)
        return found

    def _refuse_sealed(self, name: str) -> None:
        """Say that a link follows no profile, if it is of that kind."""
        ends = [at + 1 for at, letter in enumerate(name) if letter == "_"]
        for prefix in (name, *(name[:end] for end in ends)):
            owner = self.sealed.get(prefix)
            if owner is not None:
                remedy = "leave it out"
                if owner.startswith("cluster"):
                    remedy = "write the cluster out: write_platform(..., expand=True), read again"
                raise PlatformError(
                    f"{name!r} is or has links of {owner}, which follow no profile in SimGrid 4.1",
                    remedy=remedy,
                )

    def plan(self, names: Iterable[str], kind: str) -> Iterator[tuple[str, str, float]]:
        """Yield whose stream, which of SimGrid's links, and what a level of 1 stands for."""
        for name in names:
            part = self.parts[name]
            nominal = {"BANDWIDTH": part.bandwidth, "LATENCY": part.latency}.get(kind, 1.0)
            if nominal == 0:
                continue
            split = isinstance(part, Link) and part.sharing_policy == SPLITDUPLEX
            for way in ("_UP", "_DOWN") if split else ("",):
                source = name if kind == "LINK_AVAIL" else name + way
                yield source, name + way, nominal


def _names(names: str | Iterable[str]) -> list[str]:
    """Return names given alone or as several."""
    return [names] if isinstance(names, str) else list(names)


def _chosen(found: dict[str, None], spared: set[tuple[str, str]], kind: str) -> list[str]:
    """Return who is to follow a process."""
    chosen = [name for name in found if (kind, name) not in spared]
    if not chosen:
        remedy = "name hosts"
        if kind == "link":
            remedy = "name links; those of clusters cannot, unless the clusters are written out"
        raise PlatformError(f"there is no {kind} that could follow a profile", remedy=remedy)
    return chosen


def _profiles(
    plan: Iterable[tuple[str, str, float]], kind: str, process: Process, until: float, seed: int
) -> Iterator[Profile | ProfileUse]:
    """Yield the profiles of some followers."""
    for source, name, nominal in plan:
        try:
            points = process.points(stream(seed, kind, source), until)
        except PlatformError as error:
            message = f"{_WORDS[kind]} of {name!r}: {error.message}"
            raise PlatformError(message, remedy=error.remedy) from None
        if points:
            title = f"{name}.{_WORDS[kind]}"
            scaled = [(date, value * nominal) for date, value in points]
            yield Profile.of_points(title, scaled)
            yield ProfileUse(title, name, kind)


def _require_new(platform: Platform, added: Collection[Profile | ProfileUse]) -> None:
    """Refuse a second profile of a kind, and a second profile of a name."""
    taken: set[tuple[str, str]] = set()
    titles: set[str] = set()
    for part, _ in platform.walk():
        if isinstance(part, Profile):
            titles.add(part.id)
        taken.update(_followed(part))
    for each in added:
        if isinstance(each, ProfileUse) and (each.element, each.kind) in taken:
            message = f"{each.element!r} follows a profile of its {_WORDS[each.kind]} already"
            raise PlatformError(message, remedy="spare it, or take the other profile away")
    for each in added:
        if isinstance(each, Profile) and each.id in titles:
            message = f"the platform has a profile {each.id!r} already"
            raise PlatformError(message, remedy="give that one another id")


def _followed(part: object) -> Iterator[tuple[str, str]]:
    """Yield who follows a profile of which kind, as an element says it."""
    if isinstance(part, ProfileUse):
        yield part.element, part.kind
        return
    given: dict[str, str] = {}
    if isinstance(part, Host | Peer):
        given = {"HOST_AVAIL": part.state_profile, "SPEED": part.speed_profile}
    elif isinstance(part, Link):
        given = {
            "LINK_AVAIL": part.state_profile,
            "BANDWIDTH": part.bandwidth_profile,
            "LATENCY": part.latency_profile,
        }
    if isinstance(part, Host | Peer | Link):
        names = part.simgrid_names if isinstance(part, Link) else (part.id,)
        yield from ((name, kind) for kind, file in given.items() if file for name in names)


def _unknown(kind: str, name: str, known: Iterable[str]) -> PlatformError:
    """Return the error for a name that nothing bears."""
    near = get_close_matches(name, list(known), 3)
    remedy = f"did you mean {', '.join(map(repr, near))}?" if near else "name one of the platform"
    return PlatformError(f"there is no {kind} {name!r}", remedy=remedy)
