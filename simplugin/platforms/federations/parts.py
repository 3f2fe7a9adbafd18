"""Descriptions of federations: groups of clusters and sites, switches, cables, a backbone.

A quantity is a number or a law; of a law, each cluster, switch and cable has a draw of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

from simplugin.core.errors import PlatformError
from simplugin.platforms.laws import Law
from simplugin.platforms.validation import (
    MOST_HOSTS,
    Name,
    check_fields,
    require_name,
    require_not_negative,
    require_positive,
)

# Assumed: loading takes SimGrid their number times that of the hosts, a minute for 1,000 with
# 100,000 hosts.
MOST_CLUSTERS = 100_000
# SimGrid's int.
MOST_CORES = 2**31 - 1
# Assumed: each route between two sites is written, 7 MB for a ring of 100 sites.
MOST_ROUTED_SITES = 1_000


class FederationError(PlatformError):
    """A part of a federation that does not fit the rest, or is beyond all bounds.

    Parameters
    ----------
    message : str
        The fault, naming the culprit.
    *about : str or int
        The fields and positions that lead to the culprit from the object that was to be made, such
        as ``"sites", 1, "clusters", 0, "hosts"``; none for the object itself.
    remedy : str, optional
        The remedy.
    """

    def __init__(self, message: str, *about: str | int, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.about = about


def require_at_most(what: str, value: float, most: int, field: str) -> None:
    """Raise if a number is above its bound.

    Parameters
    ----------
    what : str
        The dimension.
    value : float
        The number.
    most : int
        Its bound.
    field : str
        The field concerned.

    Raises
    ------
    FederationError
        It is greater.
    """
    if value > most:
        raise FederationError(
            f"{what} cannot be {in_digits(value)}, more than the {most:,} that are made",
            field,
            remedy=f"give a number up to {most:,}",
        )


def require_apart(what: str, names: Iterable[tuple[str, tuple[str | int, ...]]]) -> None:
    """Raise if a name occurs twice.

    Parameters
    ----------
    what : str
        The kind of the named parts, in the plural.
    names : iterable of (str, tuple)
        Each with what an error about it is about.
    """
    seen = set()
    for name, about in names:
        if name in seen:
            raise FederationError(
                f"two {what} are called {name!r}", *about, remedy="name them apart"
            )
        seen.add(name)


def in_digits(number: float) -> str:
    """Write a number so that it fits a line."""
    return f"{int(number):,}" if number < 1e15 else f"{number:.3g}"


Quantity = float | Law


def _numbers(check: Callable[[str, float], Any]) -> Callable[[str, Quantity], Any]:
    """Return a check of numbers that accepts every law."""

    def checked(what: str, value: Quantity) -> Any:
        return value if isinstance(value, Law) else check(what, value)

    return checked


def _count_to(most: int, plural: str) -> Callable[[str, Quantity], Any]:
    """Return a check of whole numbers from 1 to a bound, or of laws with rounded draws."""

    def check(what: str, value: float) -> None:
        if not (value >= 1 and float(value).is_integer()):
            raise FederationError(
                f"{what} cannot be {value!r}", remedy="give a whole number from 1 on"
            )
        require_at_most(what, value, most, plural)

    return _numbers(check)


Rate = Annotated[Quantity, _numbers(partial(require_positive, unit="byte/s"))]
Delay = Annotated[Quantity, _numbers(partial(require_not_negative, unit="s"))]
Repeat = Annotated[int, _count_to(MOST_CLUSTERS, "repeat")]

BACKBONES = ("star", "mesh", "ring", "chain", "links")


@dataclass(frozen=True, slots=True)
class Wire:
    """A cable between switches or sites.

    Attributes
    ----------
    bandwidth : float or Law
        Capacity [byte/s].
    latency : float or Law
        Latency [s].
    duplex : bool
        True if each direction has the bandwidth of its own; both share it otherwise.
    """

    bandwidth: Rate
    latency: Delay = 0.0
    duplex: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, "a cable")


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of a site; every transfer passes it once, also between hosts of one cluster.

    Attributes
    ----------
    name : str
        Unlike that of any other switch of the site. Empty for the switch of a whole site, of a
        cluster, or the hub between sites, which need none.
    bandwidth : float or Law, optional
        Capacity, shared by all transfers [byte/s]; None for a switch that limits nothing.
    latency : float or Law
        Latency [s].
    uplink : Wire, optional
        To the switch above it; None where only the two switches limit what passes.
    to : str
        Name of the switch above it; empty for the router of the site.
    """

    name: str = ""
    bandwidth: Rate | None = None
    latency: Delay = 0.0
    uplink: Wire | None = None
    to: str = ""

    def __post_init__(self) -> None:
        """Check the fields."""
        what = f"switch {self.name!r}" if self.name else "a switch"
        check_fields(self, what)
        if self.bandwidth is None and self.latency != 0:
            raise FederationError(
                f"{what} has a latency without a bandwidth", remedy="give both or none"
            )


@dataclass(frozen=True, slots=True)
class ClusterGroup:
    """One cluster, or several that are drawn alike.

    Attributes
    ----------
    name : str
        Unlike that of any other cluster of the site; of several, the name before the number.
    hosts : int or Law
        Number of hosts; a draw is rounded, to 1 at least.
    speed : float or Law
        Of each core [flop/s].
    bandwidth, latency : float or Law
        Of the link of each host, in each direction [byte/s], [s].
    cores : int or Law
        Of each host; a draw is rounded, to 1 at least.
    backbone : Switch, optional
        A switch of the cluster's own: its bandwidth and latency.
    uplink : Wire, optional
        Between the cluster and the switch that it hangs from.
    switch : str
        The switch that it hangs from; empty for the site's one, or else its router.
    repeat : int, optional
        Number of clusters: ``<name>1`` and so on. None for one that is called as the group.
    """

    kind: ClassVar[str] = "cluster"
    name: Name
    hosts: Annotated[Quantity, _count_to(MOST_HOSTS, "hosts")]
    speed: Annotated[Quantity, _numbers(partial(require_not_negative, unit="flop/s"))]
    bandwidth: Rate
    latency: Delay
    cores: Annotated[Quantity, _count_to(MOST_CORES, "cores")] = 1
    backbone: Switch | None = None
    uplink: Wire | None = None
    switch: str = ""
    repeat: Repeat | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        _require_capacity(f"the backbone of {what}", self.backbone, "backbone")

    @property
    def names(self) -> tuple[str, ...]:
        """The clusters in it."""
        return _numbered(self.name, self.repeat)


@dataclass(frozen=True, slots=True)
class SiteGroup:
    """One site, or several that are drawn alike.

    Attributes
    ----------
    name : str
        Unlike that of any other site; of several, the name before the number.
    clusters : tuple of ClusterGroup
        At least one.
    switch : Switch, optional
        That of all clusters, or of each: bandwidth and latency; and if of each, the uplink.
    one_switch : bool
        True if all hosts of the site hang from one switch, or those of each cluster from another.
    switches : tuple of Switch
        Instead of `switch`: a tree of switches, to which clusters refer by name.
    uplink : Wire, optional
        Between the site and the backbone; in a star, instead of the backbone's own cable.
    repeat : int, optional
        Number of sites: ``<name>1`` and so on. None for one that is called as the group.
    """

    kind: ClassVar[str] = "site"
    name: Name
    clusters: tuple[ClusterGroup, ...] = ()
    switch: Switch | None = None
    one_switch: bool = True
    switches: tuple[Switch, ...] = ()
    uplink: Wire | None = None
    repeat: Repeat | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        if not self.clusters:
            raise FederationError(f"{what} has no cluster", remedy="give it one at least")
        require_at_most(
            f"the number of clusters of {what}", self.cluster_count, MOST_CLUSTERS, "clusters"
        )
        require_apart(
            f"clusters of {what}",
            (
                (name, ("clusters", at, "name"))
                for at, group in enumerate(self.clusters)
                for name in group.names
            ),
        )
        _require_capacity(f"the switch of {what}", self.switch, "switch")
        if self.switch is None and not self.one_switch:
            remedy = "remove it, or describe the switch: switch = { ... }"
            raise FederationError(f"one_switch of {what} is False", "one_switch", remedy=remedy)
        if self.switch is not None and self.switches:
            message = f"{what} has a switch and switches"
            raise FederationError(message, "switch", remedy="give one of the two")
        if self.switch is not None and self.one_switch and self.switch.uplink is not None:
            message = f"the one switch of {what} has an uplink"
            raise FederationError(message, "switch", remedy="give it to the site")
        self._check_switches(what)
        names = [switch.name for switch in self.switches]
        for at, group in enumerate(self.clusters):
            of = f"cluster {group.name!r} of site {self.name!r}"
            if group.switch and group.switch not in names:
                raise FederationError(
                    f"{of} hangs from {group.switch!r}, which is no switch of the site",
                    *("clusters", at, "switch"),
                    remedy=f"name one of {', '.join(names)}"
                    if names
                    else "describe it in the site",
                )
            if not self.one_switch and (group.backbone or group.uplink):
                raise FederationError(
                    f"{of} has a backbone or an uplink beside the switch that its site gives it",
                    *("clusters", at, "backbone" if group.backbone else "uplink"),
                    remedy="remove either",
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The sites in it."""
        return _numbered(self.name, self.repeat)

    @property
    def cluster_count(self) -> int:
        """Number of clusters of each of its sites."""
        return sum(group.repeat or 1 for group in self.clusters)

    def _check_switches(self, what: str) -> None:
        """Raise unless the switches form a tree and something hangs from each."""
        above = {switch.name: switch.to for switch in self.switches}
        require_apart(
            f"switches of {what}",
            ((switch.name, ("switches", at, "name")) for at, switch in enumerate(self.switches)),
        )
        used = {group.switch for group in self.clusters} | set(above.values())
        for number, switch in enumerate(self.switches):
            require_name(f"a switch of {what}", switch.name)
            if switch.to and switch.to not in above:
                raise FederationError(
                    f"switch {switch.name!r} of {what} goes to {switch.to!r}, which is no switch",
                    *("switches", number, "to"),
                    remedy=f"name one of {', '.join(above)}, or none for the site's router",
                )
            if switch.name not in used:
                raise FederationError(
                    f"nothing hangs from switch {switch.name!r} of {what}",
                    *("switches", number, "name"),
                    remedy=f'write switch = "{switch.name}" in a cluster, or remove it',
                )
            at, seen = switch.name, set()
            while at:
                if at in seen:
                    raise FederationError(
                        f"the switches of {what} form a ring through {at!r}",
                        *("switches", number, "to"),
                        remedy="let one of them go to the site's router",
                    )
                seen.add(at)
                at = above[at] if above[at] in above else ""


@dataclass(frozen=True, slots=True)
class SiteLink:
    """A cable between two sites of a backbone of kind ``links``.

    Attributes
    ----------
    source, destination : str
        The sites.
    wire : Wire
        The cable.
    """

    source: str
    destination: str
    wire: Wire


@dataclass(frozen=True, slots=True)
class SiteBackbone:
    """The network between the sites.

    Attributes
    ----------
    kind : str
        ``star`` (each site has a cable to a hub), ``mesh`` (a cable between any two sites),
        ``ring`` and ``chain`` (in the order of the sites), or ``links``.
    wire : Wire, optional
        Each of the cables; not for ``links``, which list theirs.
    hub : Switch, optional
        Of a star: what all transfers between sites share.
    links : tuple of SiteLink
        Of the kind ``links``. A transfer takes those of the least latency in all, and of these
        the fewest.
    """

    kind: str
    wire: Wire | None = None
    hub: Switch | None = None
    links: tuple[SiteLink, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, "a backbone")
        kinds, links, wired = ", ".join(BACKBONES), len(self.links), self.wire is not None
        listed, star = self.kind == "links", self.kind == "star"
        for wrong, fault, field, remedy in (
            (self.kind not in BACKBONES, "is unknown", "kind", f"give one of {kinds}"),
            (listed is not bool(links), f"has {links} links", "kind", "list them for 'links' only"),
            (listed and wired, "has a bandwidth", "bandwidth", "give each link its own"),
            (not (listed or star or wired), "has no bandwidth", "kind", "give that of each cable"),
            (self.hub is not None and not star, "has a hub", "hub", "remove it, or use a star"),
        ):
            if wrong:
                message = f"a backbone of kind {self.kind!r} {fault}"
                raise FederationError(message, field, remedy=remedy)
        _require_capacity("the hub", self.hub, "hub")


def _numbered(name: str, repeat: int | None) -> tuple[str, ...]:
    """Return the names of the members of a group."""
    return (name,) if repeat is None else tuple(f"{name}{at + 1}" for at in range(repeat))


def _require_capacity(what: str, switch: Switch | None, field: str) -> None:
    """Raise if a switch that is given has no bandwidth."""
    if switch is not None and switch.bandwidth is None:
        message = f"{what} has no bandwidth"
        raise FederationError(message, field, remedy="give it one, or leave it out")
