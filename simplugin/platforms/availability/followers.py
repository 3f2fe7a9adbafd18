"""Failures, churn and load of hosts and links, as profiles that they follow."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import translate
from hashlib import sha256

import numpy as np

from simplugin.core.errors import DeploymentError, PlatformError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.platforms.availability.processes import Levels, Process
from simplugin.platforms.host_choices import ALL, FoundHosts, HostChoice
from simplugin.platforms.hosts import Cabinet, Cluster, Host, Peer
from simplugin.platforms.links import FATPIPE, SPLITDUPLEX, WIFI, Backbone, Link
from simplugin.platforms.platform import Platform, Zone, ZoneElement
from simplugin.platforms.profiles import HOST_KINDS, Profile, ProfileUse

WRITTEN_OUT = "write the clusters out host by host (--expand; write_platform with expand=True)"
_NAME_ONE = "name one of the platform"


def limits_nothing(link: Link | Backbone) -> bool:
    """Return True if a link exists only because SimGrid requires one on every route.

    A fat pipe without latency lets each transfer have all of its bandwidth at once. What
    generators put between parts that are joined directly, a router and its switch say, is so.

    Parameters
    ----------
    link : Link or Backbone
        Of a platform.
    """
    return isinstance(link, Link) and link.sharing_policy == FATPIPE and link.latency == 0


class Followers:
    """Hosts and links of a platform by name, pattern, and the clusters and zones around them.

    Parameters
    ----------
    platform : Platform
        Where.

    Attributes
    ----------
    choice : HostChoice
        The hosts, to choose among.
    host_names : frozenset of str
        Their names.
    parts : dict
        Links and backbones that can follow a profile, by name.
    groups : dict
        The names of those in each zone; those that limit nothing are left out.
    sealed : dict
        Names of links that follow no profile, or their beginnings (up to a _), and their owners.
    """

    def __init__(self, platform: Platform) -> None:
        self.choice = HostChoice(platform)
        self.host_names = frozenset(self.choice.hosts)
        self.parts: dict[str, Link | Backbone] = {}
        self.groups: dict[str, list[str]] = {ALL: []}
        self.sealed: dict[str, str] = {}
        for element in platform.elements:
            self._enter(element, (ALL,))

    def _enter(self, element: ZoneElement, around: tuple[str, ...]) -> None:
        """Record an element in the groups around it."""
        if isinstance(element, Zone):
            self.groups.setdefault(element.id, [])
            for inner in element.elements:
                self._enter(inner, (*around, element.id))
        elif isinstance(element, Peer):
            self.sealed[f"link_{element.id}_"] = f"peer {element.id!r}"
        elif isinstance(element, Cluster):
            for name in (element.id, f"{element.id}_"):
                self.sealed[name] = f"cluster {element.id!r}"
        elif isinstance(element, Cabinet):
            for name in (element.id, *(f"link_{host}_" for host in element.host_names())):
                self.sealed[name] = f"cabinet {element.id!r}"
        elif isinstance(element, Link) and element.sharing_policy == WIFI:
            self.sealed[element.id] = "Wi-Fi"
        elif isinstance(element, Link | Backbone):
            self.parts[element.id] = element
            for group in () if limits_nothing(element) else around:
                self.groups[group].append(element.id)

    def hosts(self, names: str | Iterable[str]) -> dict[str, None]:
        """Return the hosts that choices name, in the order of the choices.

        Parameters
        ----------
        names : str or iterable of str
            As of `Availability`.

        Raises
        ------
        PlatformError
            A choice names no host, or too many of them.
        """
        taken: dict[str, None] = {}
        try:
            for name in _items(names):
                # One by one, a host's name comes first.
                is_host = not isinstance(names, str) and name in self.host_names
                own = FoundHosts(f"host {name!r}", (name,))
                found = own if is_host else self.choice.item(name)
                taken |= dict.fromkeys(found.take(taken))
        except DeploymentError as error:
            raise PlatformError(error.message, remedy=error.remedy) from None
        return taken

    def links(self, names: str | Iterable[str]) -> dict[str, None]:
        """Return the links that names denote, in the order of the names.

        Parameters
        ----------
        names : str or iterable of str
            As of `Availability`.

        Raises
        ------
        PlatformError
            There are no such links, or they follow no profile.
        """
        taken: dict[str, None] = {}
        for name in _items(names):
            found = self._find_links(name)
            if found is None:
                raise self._no_link(name)
            taken |= dict.fromkeys(found)
        return taken

    def _find_links(self, name: str) -> list[str] | None:
        """Return the links that a name or pattern denotes; None where there are none such."""
        if name in self.parts:
            return [name]
        if name in self.groups:
            return self.groups[name]
        fits = re.compile(translate(name)).match
        return [link for link in self.groups[ALL] if fits(link)] or None

    def spared(self, names: str | Iterable[str]) -> set[tuple[str, str]]:
        """Return all that names denote, as pairs of ``host`` or ``link`` and a name.

        Parameters
        ----------
        names : str or iterable of str
            As of `Availability`.

        Raises
        ------
        PlatformError
            A name denotes neither hosts nor links, or a choice names too many hosts.
        """
        spared: set[tuple[str, str]] = set()
        for name in _items(names):
            links, hosts = self._find_links(name), self.choice.find(name)
            if links is None and hosts is None:
                near = did_you_mean(name, [*self.groups, *self.parts, *self.host_names])
                raise PlatformError(
                    f"there is no host or link {name!r} to spare", remedy=near or _NAME_ONE
                )
            spared.update(("link", link) for link in links or ())
            if hosts is not None and hosts.among:
                spared.update(("host", host) for host in self.hosts([name]))
        return spared

    def _no_link(self, name: str) -> PlatformError:
        """Return the error for a name of no link that follows a profile."""
        ends = [at + 1 for at, letter in enumerate(name) if letter == "_"]
        for prefix in (name, *(name[:end] for end in ends)):
            owner = self.sealed.get(prefix)
            if owner is not None:
                return PlatformError(
                    f"{name!r} is or has links of {owner}, which follow no profile in SimGrid 4.1",
                    remedy=WRITTEN_OUT if owner.startswith("cluster") else "leave it out",
                )
        fits = re.compile(translate(name)).match
        idle = [link for link in self.parts if fits(link)]
        if idle:
            return PlatformError(
                f"pattern {name!r} fits only links that limit nothing, {idle[0]!r} for one",
                remedy="give their names if they are to follow a profile",
            )
        near = did_you_mean(name, [*self.groups, *self.parts])
        return PlatformError(f"there is no link or zone {name!r}", remedy=near or _NAME_ONE)

    def profiles(
        self, names: Iterable[str], kind: str, process: Process, until: float, seed: int
    ) -> Iterator[Profile | ProfileUse]:
        """Yield the profiles that hosts or links follow; of a kind and by a process."""
        for name in names:
            part = None if kind in HOST_KINDS else self.parts[name]
            nominal = 1.0
            if part is not None and kind != "LINK_AVAIL":
                nominal = part.bandwidth if kind == "BANDWIDTH" else part.latency
            if nominal == 0:
                continue
            split = isinstance(part, Link) and part.sharing_policy == SPLITDUPLEX
            for follower in (f"{name}_UP", f"{name}_DOWN") if split else (name,):
                # A split-duplex link is on or off as a whole.
                source = stream(seed, kind, name if kind == "LINK_AVAIL" else follower)
                try:
                    points = process.points(source, until)
                except PlatformError as error:
                    message = f"{_WORDS[kind]} of {follower!r}: {error.message}"
                    raise PlatformError(message, remedy=error.remedy) from None
                if points:
                    title = f"{follower}.{_WORDS[kind]}"
                    scaled = [(date, value * nominal) for date, value in points]
                    yield Profile.of_points(title, scaled)
                    yield ProfileUse(title, follower, kind)


def _items(names: str | Iterable[str]) -> list[str]:
    """Return names given as one text, with commas between, or one by one."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


# The kind in the name of a profile.
_WORDS = {
    "HOST_AVAIL": "state",
    "SPEED": "speed",
    "LINK_AVAIL": "link_state",
    "BANDWIDTH": "bandwidth",
    "LATENCY": "latency",
}


@dataclass(frozen=True)
class Availability:
    """Processes that hosts and links of a platform follow, and which of them do.

    Attributes
    ----------
    hosts : str or iterable of str
        The hosts of `states` and `speeds`, as `HostChoice.chosen` takes it as text: ``"all"``, a
        number, a zone, cluster or cabinet, a host, or a pattern of names, also with a count
        (``"chti:4"``), several with commas; or such choices one by one, where the name of a host
        comes first.
    states : Outages or Churn, optional
        When hosts are on.
    speeds : Levels, optional
        Fraction of their speed that background load leaves.
    links : str or iterable of str
        The links of the following: links and backbones, zones for those in them, patterns of
        names, several with commas or one by one; ``"all"`` for all that can follow a profile.
        Fat pipes without latency limit nothing, and exist only because SimGrid wants a link
        on each route: they follow a profile only where they are named exactly.
    link_states : Outages or Churn, optional
        When links are on.
    bandwidths : Levels, optional
        Fraction of their bandwidth that cross-traffic leaves.
    latencies : Levels, optional
        The factor by which their latency grows; links without latency are skipped.
    spared : str or iterable of str
        Hosts and links to leave unchanged, for instance a master's host: choices of both.
    """

    hosts: str | Iterable[str] = ALL
    states: Process | None = None
    speeds: Levels | None = None
    links: str | Iterable[str] = ALL
    link_states: Process | None = None
    bandwidths: Levels | None = None
    latencies: Levels | None = None
    spared: str | Iterable[str] = ()


# The fields of `Availability` that are processes, by the kind of their profiles.
_PROCESSES = {
    "hosts": {"HOST_AVAIL": "states", "SPEED": "speeds"},
    "links": {"LINK_AVAIL": "link_states", "BANDWIDTH": "bandwidths", "LATENCY": "latencies"},
}


def with_availability(
    platform: Platform, until: float, seed: int, availability: Availability
) -> Platform:
    """Let hosts and links of a platform follow profiles drawn at random.

    Each profile has its own stream of random numbers, from the seed, the kind and the name of its
    follower: other hosts, links and processes change none. A split-duplex link is on or off as a
    whole; each of its directions has its own cross-traffic. A follower whose process never changes
    its nominal value gets no profile.

    Parameters
    ----------
    platform : Platform
        Its clusters stay clusters.
    until : float
        Date of the last change [s]: afterwards states and levels stay.
    seed : int
        At least 0.
    availability : Availability
        The processes and their followers.

    Returns
    -------
    Platform
        The same with a `Profile` and a `ProfileUse` for each follower and kind at its end.

    Raises
    ------
    PlatformError
        A name is unknown, even if no process applies to it; a link cannot follow a profile in
        SimGrid 4.1 (those of clusters, cabinets and peers, and Wi-Fi); hosts or links are chosen
        without a process for them; a follower already has a profile of the kind; there is no
        follower; `until` or the seed is out of range; a profile gets too long.
    """
    if not 0 < until < math.inf:
        raise PlatformError(f"until is {until!r} s", remedy="give a date above 0")
    if seed < 0:
        raise PlatformError(f"the seed is {seed!r}", remedy="give 0 or more")
    followers = Followers(platform)
    left_out = followers.spared(availability.spared)
    added: list[Profile | ProfileUse] = []
    for what, names, find in (
        ("hosts", availability.hosts, followers.hosts),
        ("links", availability.links, followers.links),
    ):
        fields = {kind: getattr(availability, name) for kind, name in _PROCESSES[what].items()}
        wanted = {kind: process for kind, process in fields.items() if process is not None}
        if wanted or names != ALL:
            chosen = [name for name in find(names) if (what[:-1], name) not in left_out]
            _require_followers(what, chosen, _PROCESSES[what].values() if not wanted else ())
        for kind, process in wanted.items():
            added += followers.profiles(chosen, kind, process, until, seed)
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


def _require_followers(what: str, chosen: list[str], missing: Iterable[str]) -> None:
    """Raise if nothing is chosen, or no process applies to the choice."""
    if missing := " or ".join(missing):
        message = f"{what} are chosen, but nothing is for {what}"
        raise PlatformError(message, remedy=f"leave {what} out, or give {missing}")
    if not chosen:
        remedy = "name hosts"
        if what == "links":
            remedy = (
                "name links (fat pipes without latency, which limit nothing, follow by name only);"
                f" for those of clusters, {WRITTEN_OUT}"
            )
        raise PlatformError(f"there is no {what[:-1]} that could follow a profile", remedy=remedy)


def _require_new(platform: Platform, added: Collection[Profile | ProfileUse]) -> None:
    """Raise for a second profile of a kind or of a name."""
    taken: set[tuple[str, str]] = set()
    titles: set[str] = set()
    for part, _ in platform.walk():
        if isinstance(part, Profile):
            titles.add(part.id)
        elif isinstance(part, ProfileUse):
            taken.add((part.element, part.kind))
        elif isinstance(part, Host | Peer | Link):
            names = part.simgrid_names if isinstance(part, Link) else (part.id,)
            taken.update((name, kind) for kind in part.profile_files for name in names)
    for each in added:
        if isinstance(each, ProfileUse) and (each.element, each.kind) in taken:
            message = f"{each.element!r} follows a profile of its {_WORDS[each.kind]} already"
            raise PlatformError(message, remedy="spare it, or take the other profile away")
    for each in added:
        if isinstance(each, Profile) and each.id in titles:
            message = f"the platform has a profile {each.id!r} already"
            raise PlatformError(message, remedy="give that one another id")
