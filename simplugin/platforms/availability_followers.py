"""Which hosts and links of a platform can follow profiles, and the names that they go by."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import translate
from typing import TYPE_CHECKING

from simplugin.errors import DeploymentError, PlatformError
from simplugin.near_names import perhaps
from simplugin.platforms.cluster import Cluster
from simplugin.platforms.host_choices import ALL, FoundHosts, HostChoice
from simplugin.platforms.hosts import Cabinet, Peer
from simplugin.platforms.links import FATPIPE, SPLITDUPLEX, WIFI, Backbone, Link
from simplugin.platforms.platform import Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simplugin.platforms.platform import Platform, ZoneElement

WRITTEN_OUT = "write the clusters out host by host (--expand; write_platform with expand=True)"
_NAME_ONE = "name one of the platform"


def limits_nothing(link: Link | Backbone) -> bool:
    """Whether a link is there only because SimGrid wants one on every route.

    A fat pipe without latency lets each transfer have all of its bandwidth at once. What
    generators put between parts that are joined directly, a router and its switch say, is so.

    Parameters
    ----------
    link : Link or Backbone
        Of a platform.
    """
    return isinstance(link, Link) and link.sharing_policy == FATPIPE and link.latency == 0


@dataclass(frozen=True)
class Followers:
    """Hosts and links of a platform by name, pattern, and the clusters and zones around them.

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
        Names of links that follow no profile, or how they begin (up to a _), and whose they are.
    """

    choice: HostChoice
    host_names: frozenset[str]
    parts: dict[str, Link | Backbone] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=lambda: {ALL: []})
    sealed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, platform: Platform) -> Followers:
        """Go through a platform."""
        choice = HostChoice(platform)
        found = cls(choice, frozenset(choice.hosts))
        for element in platform.elements:
            found._enter(element, (ALL,))
        return found

    def _enter(self, element: ZoneElement, around: tuple[str, ...]) -> None:
        """Note an element of the groups around it."""
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
        """Return the hosts that choices stand for, in the order of the choices.

        Parameters
        ----------
        names : str or iterable of str
            As `with_availability` takes them.

        Raises
        ------
        PlatformError
            There are no such hosts, or not so many.
        """
        taken: dict[str, None] = {}
        try:
            for name in _items(names):
                taken |= dict.fromkeys(self._host_item(names, name).take(taken))
        except DeploymentError as error:
            raise PlatformError(error.message, remedy=error.remedy) from None
        return taken

    def _host_item(self, names: str | Iterable[str], name: str) -> FoundHosts:
        """Return what one choice of hosts stands for: by itself, first of all a host's name."""
        if not isinstance(names, str) and name in self.host_names:
            return FoundHosts(f"host {name!r}", (name,))
        return self.choice.item(name)

    def links(self, names: str | Iterable[str]) -> dict[str, None]:
        """Return the links that names stand for, in the order of the names.

        Parameters
        ----------
        names : str or iterable of str
            As `with_availability` takes them.

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
        """Return the links that a name or pattern stands for; None where there are none such."""
        if name in self.parts:
            return [name]
        if name in self.groups:
            return self.groups[name]
        fits = re.compile(translate(name)).match
        return [link for link in self.groups[ALL] if fits(link)] or None

    def spared(self, names: str | Iterable[str]) -> set[tuple[str, str]]:
        """Return all that names stand for, as pairs of ``host`` or ``link`` and a name.

        Parameters
        ----------
        names : str or iterable of str
            As `with_availability` takes them.

        Raises
        ------
        PlatformError
            There are no such hosts and no such links, or not so many hosts.
        """
        spared: set[tuple[str, str]] = set()
        for name in _items(names):
            links, hosts = self._find_links(name), self.choice.find(name)
            if links is None and hosts is None:
                near = perhaps(name, [*self.groups, *self.parts, *self.host_names])
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
        near = perhaps(name, [*self.groups, *self.parts])
        return PlatformError(f"there is no link or zone {name!r}", remedy=near or _NAME_ONE)

    def plan(self, names: Iterable[str], kind: str) -> Iterator[tuple[str, str, float]]:
        """Yield whose stream, which of SimGrid's links, and what a level of 1 stands for.

        Parameters
        ----------
        names : iterable of str
            Links.
        kind : str
            ``LINK_AVAIL``, ``BANDWIDTH`` or ``LATENCY``.
        """
        for name in names:
            part = self.parts[name]
            nominal = {"BANDWIDTH": part.bandwidth, "LATENCY": part.latency}.get(kind, 1.0)
            if nominal == 0:
                continue
            split = isinstance(part, Link) and part.sharing_policy == SPLITDUPLEX
            for way in ("_UP", "_DOWN") if split else ("",):
                source = name if kind == "LINK_AVAIL" else name + way
                yield source, name + way, nominal


def _items(names: str | Iterable[str]) -> list[str]:
    """Return names given as one text, with commas between, or one by one."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
