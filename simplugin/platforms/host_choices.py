"""Choosing hosts of a platform: all, so many, those of a zone or cluster, by name or pattern."""

from __future__ import annotations

import re
from difflib import get_close_matches
from fnmatch import translate
from functools import cached_property
from typing import TYPE_CHECKING

from simplugin.errors import DeploymentError
from simplugin.platforms.cluster import Cluster
from simplugin.platforms.platform import Platform, Zone

if TYPE_CHECKING:
    from collections.abc import Iterable

    # What it is, the hosts that it stands for, and how many of them it takes (None for all).
    _Choice = tuple[str, list[str], int | None]

ALL = "all"
_COUNT = re.compile(r"[0-9]{1,9}")
_COUNTED = re.compile(r"(?P<name>.+):(?P<count>[0-9]{1,9})", re.DOTALL)


class HostChoice:
    """The hosts of a platform, to choose among.

    Parameters
    ----------
    platform : Platform
        Where; its hosts are listed once.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._hosts = dict.fromkeys(platform.host_names())

    @property
    def hosts(self) -> tuple[str, ...]:
        """All hosts, in the order of the platform."""
        return tuple(self._hosts)

    @cached_property
    def _parts(self) -> dict[str, Zone | Cluster]:
        """The zones and clusters by name."""
        elements = (element for element, _ in self._platform.walk())
        return {part.id: part for part in elements if isinstance(part, Zone | Cluster)}

    def require(self, what: str, host: str) -> None:
        """Refuse a name of no host.

        Parameters
        ----------
        what : str
            What is to be there, for the message: ``"the master"``.
        host : str
            The name.

        Raises
        ------
        DeploymentError
            The platform has no such host; the message tells names that are near.
        """
        if host not in self._hosts:
            kind = ", but a zone or cluster" if host in self._parts else ""
            raise DeploymentError(
                f"{what} {host!r} is no host of the platform{kind}",
                remedy=_perhaps(host, self._hosts) or "name a host of the platform",
            )

    def chosen(
        self, choice: str | int | Iterable[str], *, master: str = "", spread: bool = False
    ) -> tuple[str, ...]:
        """Return the hosts that a choice names.

        Parameters
        ----------
        choice : str, int, or iterable of str
            A number: so many hosts. An iterable: hosts by their names. A text: choices separated
            by commas, each ``all``, a number, a zone or cluster (its hosts, at any depth), a host,
            or a pattern of names (``*``, ``?``, ``[...]``); after a zone, a cluster or a pattern,
            ``:N`` for N hosts of it. Each chooses among the hosts that those before it have left.
        master : str
            A host that none but its own name chooses.
        spread : bool
            Where a number is given: take hosts evenly over all that there are to choose from,
            the i-th of n among m being the one at floor(i m / n), counted from 0; otherwise the
            first ones.

        Returns
        -------
        tuple of str
            Hosts, each once, in the order of the choices and then of the platform.

        Raises
        ------
        DeploymentError
            A name is unknown, a number larger than what is left, or nothing is left to choose.
        """
        taken: dict[str, None] = {}
        if isinstance(choice, str):
            asked = [self._item(item.strip(), master) for item in choice.split(",")]
        elif isinstance(choice, int):
            asked = [("the platform", self._others(master), choice)]
        else:
            asked = [self._host(host) for host in choice]
        for what, among, count in asked:
            taken |= dict.fromkeys(_taken(what, among, count, taken, spread=spread))
        if not taken:
            raise DeploymentError("no host is chosen", remedy="choose at least one")
        return tuple(taken)

    def _host(self, name: str) -> _Choice:
        """Return the choice of a host by its name."""
        self.require("the host", name)
        return f"host {name!r}", [name], None

    def _others(self, master: str) -> list[str]:
        """Return all hosts but one."""
        return [host for host in self._hosts if host != master]

    def _item(self, item: str, master: str) -> _Choice:
        """Return what one of several choices stands for."""
        if item == ALL or _COUNT.fullmatch(item):
            return "the platform", self._others(master), None if item == ALL else int(item)
        found = self._named(item, master)
        if found is not None:
            return *found, None
        match = _COUNTED.fullmatch(item)
        if match is not None:
            name = match["name"]
            found = ("the platform", self._others(master)) if name == ALL else None
            found = found or self._named(name, master)
            if found is not None:
                return *found, int(match["count"])
            item = name
        raise DeploymentError(
            f"{item!r} is no host, zone or cluster of the platform, and matches no host",
            remedy=_perhaps(item, [*self._parts, *self._hosts])
            or "choose all, a number, or a name or pattern of hosts",
        )

    def _named(self, name: str, master: str) -> tuple[str, list[str]] | None:
        """Return what a name or pattern is and its hosts; None where there is no such thing."""
        if name in self._hosts:
            return f"host {name!r}", [name]
        part = self._parts.get(name)
        if part is not None:
            kind = "zone" if isinstance(part, Zone) else "cluster"
            hosts = Platform((part,)).host_names()
            return f"{kind} {name!r}", [host for host in hosts if host != master]
        fits = re.compile(translate(name)).match
        hosts_that_fit = [host for host in self._others(master) if fits(host)]
        return (f"pattern {name!r}", hosts_that_fit) if hosts_that_fit else None


def _taken(
    what: str, among: list[str], count: int | None, taken: dict[str, None], *, spread: bool
) -> list[str]:
    """Return the hosts that one choice adds."""
    free = [host for host in among if host not in taken]
    if not free:
        raise DeploymentError(
            f"{what} has no host that could be chosen",
            remedy="leave it out: all are chosen already, or it has none but the master",
        )
    if count is None:
        return free
    if count < 1:
        raise DeploymentError(f"{count} hosts of {what} are asked for", remedy="ask for 1 or more")
    if count > len(free):
        hosts = "host" if len(free) == 1 else "hosts"
        raise DeploymentError(
            f"{count} hosts of {what} are asked for, which has {len(free)} {hosts} to choose from",
            remedy=f"ask for at most {len(free)}",
        )
    return [free[place * len(free) // count] for place in range(count)] if spread else free[:count]


def _perhaps(name: str, names: Iterable[str]) -> str | None:
    """Say which names are near."""
    near = get_close_matches(name, list(names), 3)
    return f"perhaps {', '.join(map(repr, near))}?" if near else None
