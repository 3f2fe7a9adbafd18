"""Choices of hosts: all, a number, those of a zone or cluster, by name or pattern."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property

from simplugin.core.errors import DeploymentError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.platforms.hosts import Cabinet, Cluster
from simplugin.platforms.platform import Platform, Zone

ALL = "all"
_COUNT = re.compile(r"[0-9]{1,9}")
_COUNTED = re.compile(r"(?P<name>.+):(?P<count>[0-9]{1,9})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FoundHosts:
    """The hosts that one choice names.

    Attributes
    ----------
    what : str
        Text for messages: ``"zone 'nancy'"``.
    among : tuple of str
        The hosts to choose from, in the order of the platform.
    count : int, optional
        Requested number of hosts; None for all.
    """

    what: str
    among: tuple[str, ...]
    count: int | None = None

    def take(self, taken: Collection[str] = (), *, spread: bool = False) -> list[str]:
        """Return the hosts that it adds to those taken already.

        Parameters
        ----------
        taken : collection of str
            Hosts that are not chosen again.
        spread : bool
            Take a number of hosts evenly, see `HostChoice.chosen`.

        Raises
        ------
        DeploymentError
            Too few hosts are left.
        """
        free = [host for host in self.among if host not in taken]
        count = self.count
        if not free:
            raise DeploymentError(
                f"{self.what} has no host that could be chosen",
                remedy="leave it out: it has none, or none but the master and those chosen already",
            )
        if count is None:
            return free
        asked = f"{count} hosts of {self.what} are asked for"
        if count < 1:
            raise DeploymentError(asked, remedy="ask for 1 or more")
        if count > len(free):
            hosts = "host" if len(free) == 1 else "hosts"
            raise DeploymentError(
                f"{asked}, which has {len(free)} {hosts} to choose from",
                remedy=f"ask for at most {len(free)}",
            )
        if not spread:
            return free[:count]
        return [free[place * len(free) // count] for place in range(count)]


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
    def _parts(self) -> dict[str, Zone | Cluster | Cabinet]:
        """The zones, clusters and cabinets by name."""
        elements = (element for element, _ in self._platform.walk())
        return {part.id: part for part in elements if isinstance(part, Zone | Cluster | Cabinet)}

    def require(self, what: str, host: str) -> None:
        """Raise unless a host has a name.

        Parameters
        ----------
        what : str
            Text for the message: ``"the master"``.
        host : str
            The name.

        Raises
        ------
        DeploymentError
            The platform has no such host; the message has similar names.
        """
        if host not in self._hosts:
            kind = f", but a {_kind(self._parts[host])}" if host in self._parts else ""
            raise DeploymentError(
                f"{what} {host!r} is no host of the platform{kind}",
                remedy=did_you_mean(host, self._hosts) or "name a host of the platform",
            )

    def chosen(
        self, choice: str | int | Iterable[str], *, master: str = "", spread: bool = False
    ) -> tuple[str, ...]:
        """Return the hosts that a choice names.

        Parameters
        ----------
        choice : str, int, or iterable of str
            A number of hosts. An iterable: hosts by their names. A text: choices separated
            by commas, each ``all``, a number, a zone, cluster or cabinet (its hosts, at any depth),
            a host, or a pattern of names (``*``, ``?``, ``[...]``); after a zone, a cluster, a
            cabinet or a pattern, ``:N`` for N hosts of it. Each chooses among the hosts that those
            before it have left.
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
            A name is unknown, a number is too large, or nothing is left to choose.
        """
        taken: dict[str, None] = {}
        if isinstance(choice, str):
            asked = [self.item(item, master) for item in choice.split(",")]
        elif isinstance(choice, int):
            asked = [FoundHosts("the platform", self._others(master), choice)]
        else:
            asked = [self._host(host) for host in choice]
        for found in asked:
            taken |= dict.fromkeys(found.take(taken, spread=spread))
        if not taken:
            raise DeploymentError("no host is chosen", remedy="choose at least one")
        return tuple(taken)

    def item(self, item: str, master: str = "") -> FoundHosts:
        """Return the hosts of one of several choices.

        Parameters
        ----------
        item : str
            A choice without commas, as in the text that `chosen` takes.
        master : str
            A host that none but its own name chooses.

        Raises
        ------
        DeploymentError
            There is nothing of this name; the message has similar names.
        """
        found = self.find(item, master)
        if found is not None:
            return found
        match = _COUNTED.fullmatch(item.strip())
        name = item.strip() if match is None else match["name"]
        raise DeploymentError(
            f"{name!r} is no host, zone, cluster or cabinet of the platform, and matches no host",
            remedy=did_you_mean(name, [*self._parts, *self._hosts])
            or "choose all, a number, or a name or pattern of hosts",
        )

    def find(self, item: str, master: str = "") -> FoundHosts | None:
        """Return the same as `item`, but None where there is nothing of this name.

        Parameters
        ----------
        item, master : str
            As `item` takes them.
        """
        item = item.strip()
        if _COUNT.fullmatch(item):
            return FoundHosts("the platform", self._others(master), int(item))
        found = self._named(item, master)
        match = _COUNTED.fullmatch(item)
        if found is not None or match is None:
            return found
        counted = self._named(match["name"], master)
        if counted is None:
            return None
        return FoundHosts(counted.what, counted.among, int(match["count"]))

    def _host(self, name: str) -> FoundHosts:
        """Return the choice of a host by its name."""
        self.require("the host", name)
        return FoundHosts(f"host {name!r}", (name,))

    def _others(self, master: str) -> tuple[str, ...]:
        """Return all hosts but one."""
        return tuple(host for host in self._hosts if host != master)

    def _named(self, name: str, master: str) -> FoundHosts | None:
        """Return the hosts of a name or pattern; None where there is no such thing."""
        if name == ALL:
            return FoundHosts("the platform", self._others(master))
        if name in self._hosts:
            return FoundHosts(f"host {name!r}", (name,))
        part = self._parts.get(name)
        if part is not None:
            hosts = Platform((part,)).host_names() if isinstance(part, Zone) else part.host_names()
            among = tuple(host for host in hosts if host != master)
            return FoundHosts(f"{_kind(part)} {name!r}", among)
        fits = re.compile(translate(name)).match
        hosts_that_fit = tuple(host for host in self._others(master) if fits(host))
        return FoundHosts(f"pattern {name!r}", hosts_that_fit) if hosts_that_fit else None


def _kind(part: Zone | Cluster | Cabinet) -> str:
    """Return the kind of a part of a platform."""
    return type(part).__name__.lower()
