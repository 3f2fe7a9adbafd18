"""Facts of Grid'5000: sites, clusters of identical hosts, switches, the backbone.

Rates are in bit/s and speeds in flop/s, as the reference repository has them [1]_; there are no
latencies in it.

References
----------
.. [1] Grid'5000 reference repository, https://gitlab.inria.fr/grid5000/reference-repository.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

from simplugin.core.errors import PlatformError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.platforms import radical
from simplugin.platforms.validation import (
    Name,
    ValidatedElement,
    check_fields,
    require_count,
    require_positive,
)

ETHERNET = "Ethernet"
Speed = Annotated[float, partial(require_positive, unit="flop/s")]
Rate = Annotated[float, partial(require_positive, unit="bit/s")]


@dataclass(frozen=True, slots=True)
class Adapter(ValidatedElement):
    """A network adapter that is in use.

    Attributes
    ----------
    interface : str
        ``Ethernet``, ``InfiniBand``, ``Omni-Path``...
    rate : float
        In each direction [bit/s].
    switch : str
        Uid of the equipment that it hangs from; empty where the reference names none.
    """

    kind: ClassVar[str] = "adapter"
    interface: Name
    rate: Rate
    switch: str = ""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes of a cluster that are alike in all that matters here.

    Attributes
    ----------
    numbers : str
        Of the nodes, as a radical: ``"1-32,34"`` for ``gros-1`` to ``gros-32`` and ``gros-34``.
    cores : int
        Of each node.
    speed : float
        Of each core [flop/s].
    adapter : Adapter
        The Ethernet adapter by which the node is on the site's network.
    fast_adapter : Adapter, optional
        A second network within the cluster, InfiniBand or Omni-Path.
    """

    numbers: str
    cores: Annotated[int, partial(require_count, least=1)]
    speed: Speed
    adapter: Adapter
    fast_adapter: Adapter | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        radical.require_radical("the radical of a group of nodes", self.numbers)
        check_fields(self, f"nodes {self.numbers}")

    @property
    def count(self) -> int:
        """Number of nodes."""
        return radical.count(self.numbers)


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A cluster.

    Attributes
    ----------
    uid : str
        Its name, unlike that of any other cluster of any site.
    groups : tuple of NodeGroup
        Its nodes, each in one group; one group if all are alike.
    """

    uid: str
    groups: tuple[NodeGroup, ...]

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(group.count for group in self.groups)


@dataclass(frozen=True, slots=True)
class Uplink(ValidatedElement):
    """The cables from a switch towards the router.

    Attributes
    ----------
    switch : str
        Uid of the equipment.
    towards : str
        Uid of the next one on the way to the router, or of the router itself.
    rate : float
        Of all cables between the two together, in each direction [bit/s].
    """

    switch: Name
    towards: str
    rate: Rate


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """A site.

    Attributes
    ----------
    uid : str
        Its name.
    router : str
        Uid of the router that joins it to the backbone.
    clusters : tuple of ClusterFacts
        In the order of their names.
    uplinks : tuple of Uplink
        One for each switch that nodes hang from, and for those on the way from it to the router.
    """

    uid: str
    router: str
    clusters: tuple[ClusterFacts, ...]
    uplinks: tuple[Uplink, ...] = ()

    @property
    def groups(self) -> list[NodeGroup]:
        """The groups of nodes of all clusters."""
        return [group for cluster in self.clusters for group in cluster.groups]

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(group.count for group in self.groups)

    @property
    def core_count(self) -> int:
        """Number of cores."""
        return sum(group.count * group.cores for group in self.groups)

    @property
    def speed(self) -> float:
        """Speed of all cores together [flop/s]."""
        return math.fsum(group.count * group.cores * group.speed for group in self.groups)


@dataclass(frozen=True, slots=True)
class BackboneLink:
    """A link of the backbone.

    Attributes
    ----------
    ends : tuple of (str, str)
        Points of presence, such as ``renater-paris``, or the uid of a site for the link that joins
        the site's router to its point of presence.
    rate : float
        In each direction [bit/s].
    assumed : bool
        True if the reference lacks it, and it is assumed so that the site can be reached.
    """

    ends: tuple[str, str]
    rate: Rate
    assumed: bool = False

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "ends", tuple(self.ends))
        check_fields(self, f"the backbone link {' - '.join(self.ends)}")


@dataclass(frozen=True, slots=True)
class SitePosition:
    """Position of a site or a point of presence.

    Attributes
    ----------
    name : str
        Its uid.
    latitude, longitude : float
        [degrees].
    """

    name: str
    latitude: float
    longitude: float

    def __post_init__(self) -> None:
        """Check the fields."""
        require_place(self.name, self.latitude, self.longitude)


@dataclass(frozen=True, slots=True)
class Grid5000:
    """Facts of Grid'5000 at one date.

    Attributes
    ----------
    date : str
        Of the facts, for instance ``"2026-03"``; empty if unknown.
    sites : tuple of SiteFacts
        In the order of their names; those without nodes are left out.
    backbone : tuple of BackboneLink
        The links between points of presence, and between these and sites.
    places : tuple of SitePosition
        Where sites and points of presence are, as far as the reference has it; also of those
        that have no nodes or were not selected.
    """

    date: str
    sites: tuple[SiteFacts, ...]
    backbone: tuple[BackboneLink, ...] = ()
    places: tuple[SitePosition, ...] = ()


@dataclass(frozen=True, slots=True)
class DataWarning:
    """A missing or contradictory fact, and how it was resolved.

    Attributes
    ----------
    kind : str
        ``left-out``: something is not in the result. ``contradiction``: two places disagree, one
        was believed. ``assumed``: a fact is missing and another took its place.
    place : str
        The file, or the path within the dump, that says so.
    message : str
        The fault and its resolution.
    about : tuple of str
        Its subject: ``("site", site)``, ``("cluster", site, cluster)`` (an empty cluster:
        one without a name), ``("switch", site, switch)``, ``("uplink", site, switch, towards)``,
        ``("link", end, end)`` of the backbone, ``("point", point of presence)``, ``("backbone",)``
        or ``("grid",)``. If empty, that is not known.
    """

    kind: str
    place: str
    message: str
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.place}: {self.kind}: {self.message}"


def require_place(name: str, latitude: float, longitude: float) -> None:
    """Raise unless a place is on the globe.

    Parameters
    ----------
    name : str
        Name of the place, for the message.
    latitude, longitude : float
        [degrees].

    Raises
    ------
    PlatformError
        One of the two is out of its range.
    """
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise PlatformError(
            f"the place of {name!r} is {latitude!r}, {longitude!r}",
            remedy="give latitude and longitude in degrees",
        )


def selected(
    facts: Grid5000,
    sites: Sequence[str] = (),
    clusters: Sequence[str] = (),
    warnings: Iterable[DataWarning] = (),
) -> Grid5000:
    """Return the facts of some sites and clusters only.

    Parameters
    ----------
    facts : Grid5000
        All facts.
    sites : sequence of str, optional
        Uids of sites; all if there are none.
    clusters : sequence of str, optional
        Uids of clusters of these sites; all if there are none.
    warnings : iterable of DataWarning, optional
        Reasons why sites and clusters were left out of the facts, for messages.

    Returns
    -------
    Grid5000
        The chosen clusters in the order of `facts`; of switches those on their way to the router,
        of the backbone what can be on a way between the sites, nothing for one site.

    Raises
    ------
    PlatformError
        A name is unknown, a cluster is at a site that was not chosen, or a chosen site has none of
        the chosen clusters.
    """
    if not sites and not clusters:
        return facts
    by_name = {site.uid: site for site in facts.sites}
    owner = {cluster.uid: site.uid for site in facts.sites for cluster in site.clusters}
    warnings = tuple(warnings)
    there = [name for name, site in owner.items() if site in sites]
    every = f"clusters are at {', '.join(dict.fromkeys(owner.values()))}"
    for kind, asked, known, otherwise in (
        ("site", sites, by_name, f"choose among {', '.join(sorted(by_name))}"),
        (
            "cluster",
            clusters,
            owner,
            f"choose among {', '.join(there)}" if there else f"{every}: name a site to see its own",
        ),
    ):
        for name in asked:
            if name not in known:
                raise PlatformError(
                    f"there is no {kind} {name!r}{_left_out(kind, name, warnings)}",
                    remedy=did_you_mean(name, known) or otherwise,
                )
    for cluster in clusters:
        if sites and owner[cluster] not in sites:
            raise PlatformError(
                f"cluster {cluster!r} is at {owner[cluster]}, not at {', '.join(sites)}",
                remedy=f"choose site {owner[cluster]} too, or no sites",
            )
    for site in sites:
        if clusters and not any(owner[cluster] == site for cluster in clusters):
            raise PlatformError(
                f"site {site!r} has none of the clusters {', '.join(clusters)}",
                remedy=f"leave it out, or choose clusters of it: "
                f"{', '.join(cluster.uid for cluster in by_name[site].clusters)}",
            )
    wanted = set(clusters or owner)
    chosen = {
        site.uid: _site(site, wanted)
        for site in facts.sites
        if (not sites or site.uid in sites) and any(each.uid in wanted for each in site.clusters)
    }
    return replace(facts, sites=tuple(chosen.values()), backbone=_backbone(facts, chosen))


def _left_out(kind: str, name: str, warnings: Iterable[DataWarning]) -> str:
    """Return why a site or cluster was left out, as an addition to a message."""
    for warning in warnings:
        about = (warning.about[0], warning.about[-1]) if warning.about else ("", "")
        if about == (kind, name) and warning.kind == "left-out":
            return f": {warning.message}"
    return ""


def _site(site: SiteFacts, wanted: Collection[str]) -> SiteFacts:
    """Return a site with some of its clusters."""
    clusters = tuple(cluster for cluster in site.clusters if cluster.uid in wanted)
    if len(clusters) == len(site.clusters):
        return site
    towards = {uplink.switch: uplink.towards for uplink in site.uplinks}
    # The switches in use, and those on their way to the router.
    kept: set[str] = set()
    for at in {group.adapter.switch for cluster in clusters for group in cluster.groups}:
        while at in towards and at not in kept:
            kept.add(at)
            at = towards[at]
    uplinks = tuple(uplink for uplink in site.uplinks if uplink.switch in kept)
    return replace(site, clusters=clusters, uplinks=uplinks)


def _backbone(facts: Grid5000, chosen: Collection[str]) -> tuple[BackboneLink, ...]:
    """Return the backbone without ends that lead to no chosen site."""
    if len(chosen) < 2:
        return ()
    dropped = {site.uid for site in facts.sites} - set(chosen)
    links = list(facts.backbone)
    while True:
        ends = [end for link in links for end in link.ends]
        dropped |= {end for end in ends if end not in chosen and ends.count(end) == 1}
        kept = [link for link in links if dropped.isdisjoint(link.ends)]
        if len(kept) == len(links):
            return tuple(links)
        links = kept


def concerning(
    warnings: Iterable[DataWarning],
    facts: Grid5000,
    sites: Collection[str] = (),
    clusters: Collection[str] = (),
) -> tuple[DataWarning, ...]:
    """Return the warnings about a selection.

    Parameters
    ----------
    warnings : iterable of DataWarning
        All of them.
    facts : Grid5000
        The facts after the selection.
    sites, clusters : collection of str
        The selection; all sites, and all clusters of the sites, if empty.

    Returns
    -------
    tuple of DataWarning
        In their order; all if nothing was selected. Otherwise those on what is left: its sites,
        the selected clusters, the switches and cables on their way to the router, the links
        of the backbone; also on clusters of selected sites that were left out, unless clusters
        were selected; and those of which it is not known what they concern.
    """
    if not sites and not clusters:
        return tuple(warnings)
    left = {site.uid for site in facts.sites}
    links = {frozenset(link.ends) for link in facts.backbone}
    uplinks = {
        (site.uid, each.switch, each.towards) for site in facts.sites for each in site.uplinks
    }
    switches = {(site.uid, site.router) for site in facts.sites}
    switches |= {(site, switch) for site, switch, _ in uplinks}

    def is_left(about: tuple[str, ...]) -> bool:
        """Return True if the subject of a warning is left, or was before it was left out."""
        match about:
            case ("grid",):
                return False
            case ("site", site):
                return site in left
            case ("cluster", site, cluster):
                return site in left and (not clusters or cluster in clusters)
            case ("switch", site, switch):
                return (site, switch) in switches
            case ("uplink", _, _, _):
                return about[1:] in uplinks
            case ("link", one, other):
                return frozenset((one, other)) in links
            case ("point", point):
                return any(point in ends for ends in links)
            case ("backbone",):
                return bool(links)
        return True

    return tuple(warning for warning in warnings if is_left(warning.about))
