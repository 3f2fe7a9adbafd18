"""Federations: sites of clusters, switches, and a backbone between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from simplugin.platforms.federations.network import Draws, Layout
from simplugin.platforms.federations.parts import (
    MOST_CLUSTERS,
    MOST_ROUTED_SITES,
    ClusterGroup,
    FederationError,
    SiteBackbone,
    SiteGroup,
    SiteLink,
    in_digits,
    require_apart,
)
from simplugin.platforms.laws import Law
from simplugin.platforms.platform import Platform
from simplugin.platforms.validation import Name, check_fields, require_count

_Claim = tuple[str, str, tuple[str | int, ...]]

# Host 3 of cluster c at s is c-3.s.
_HOST = re.compile(r"-([1-9][0-9]*)\.")


def require_clear_names(
    name: str, sites: tuple[SiteGroup, ...], backbone: SiteBackbone | None
) -> None:
    """Raise if two parts would have the same name in the platform.

    Parameters
    ----------
    name : str
        Of the federation.
    sites : tuple of SiteGroup
        Of it.
    backbone : SiteBackbone, optional
        Between them.

    Raises
    ------
    FederationError
        Two parts would have the same name, such as cluster ``router`` of a site and its router.
    """
    seen: dict[str, str] = {}
    claims = [*_of_network(name, sites, backbone), *_of_sites(sites)]
    for claim, what, about in claims:
        if claim in seen:
            raise FederationError(
                f"{what} and {seen[claim]} would both be called {claim!r}",
                *about,
                remedy="rename one of them",
            )
        seen[claim] = what
    _require_unlike_hosts(claims, sites)


def _require_unlike_hosts(claims: list[_Claim], sites: tuple[SiteGroup, ...]) -> None:
    """Raise if a part has the name of a host; a cluster of drawn size may have any number."""
    hosts: dict[tuple[str, str], ClusterGroup] = {
        (cluster, site): group
        for sited in sites
        for site in sited.names
        for group in sited.clusters
        for cluster in group.names
    }
    for claim, what, about in claims:
        for match in _HOST.finditer(claim):
            cluster, site = claim[: match.start()], claim[match.end() :]
            group = hosts.get((cluster, site))
            if group is None:
                continue
            if isinstance(group.hosts, Law) or int(match[1]) <= group.hosts:
                raise FederationError(
                    f"{what} would be called {claim!r}, as a host of cluster "
                    f"{cluster!r} of site {site!r}",
                    *about,
                    remedy="rename one of them",
                )


def _of_network(
    name: str, sites: tuple[SiteGroup, ...], backbone: SiteBackbone | None
) -> Iterator[_Claim]:
    """Yield the names of routers and zones that are made, then the federation's."""
    star = backbone is not None and backbone.kind == "star"
    if star:
        for end in ("", "-in", "-out"):
            yield f"hub{end}", "the hub", ("backbone", "hub")
    for at, group in enumerate(sites):
        about = ("sites", at, "name")
        for site in group.names:
            yield f"router.{site}", f"the router of site {site!r}", about
            if group.switch is not None and group.one_switch:
                for end in ("", "-router", "-in", "-out"):
                    yield f"switch.{site}{end}", f"the switch of site {site!r}", about
            if group.uplink is not None and not star:
                yield f"edge.{site}", f"the router at the end of the uplink of site {site!r}", about
    yield name, "the federation", ("name",)
    yield f"{name}-network", "the zone of the federation's routers", ("name",)


def _of_sites(sites: tuple[SiteGroup, ...]) -> Iterator[_Claim]:
    """Yield the names of switches and clusters, and of their routers."""
    for at, sited in enumerate(sites):
        for site in sited.names:
            for number, switch in enumerate(sited.switches):
                about = ("sites", at, "switches", number, "name")
                for end in ("", "-router", "-in", "-out"):
                    yield (
                        f"{switch.name}.{site}{end}",
                        f"switch {switch.name!r} of site {site!r}",
                        about,
                    )
            for number, group in enumerate(sited.clusters):
                about = ("sites", at, "clusters", number, "name")
                for cluster in group.names:
                    what = f"cluster {cluster!r} of site {site!r}"
                    yield f"{cluster}.{site}", what, about
                    yield f"{cluster}-router.{site}", f"the router of {what}", about


@dataclass(frozen=True, slots=True)
class Federation:
    """Sites of clusters, and what joins them.

    Host 3 of cluster ``chti`` at ``lille`` is ``chti-3.lille``; the cluster is ``chti.lille``.

    Attributes
    ----------
    name : str
        Of the zone around all.
    sites : tuple of SiteGroup
        At least one.
    backbone : SiteBackbone, optional
        Between the sites; one site needs none.
    seed : int
        Of the draws, at least 0.

    Raises
    ------
    FederationError
        Sites are alike or not joined, a cable of the backbone joins nothing, two parts would have
        the same name, or there is more than can be.
    """

    name: Name
    sites: tuple[SiteGroup, ...]
    backbone: SiteBackbone | None = None
    seed: Annotated[int, partial(require_count, least=0)] = 0

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        if not self.sites:
            raise FederationError(f"{what} has no site", "name", remedy="give it one")
        _require_few_clusters(self.sites)
        sites = [(name, at) for at, group in enumerate(self.sites) for name in group.names]
        require_apart("sites", ((name, ("sites", at, "name")) for name, at in sites))
        if self.backbone is None and len(sites) > 1:
            raise FederationError(
                f"nothing joins the {len(sites)} sites of {what}",
                *("sites", sites[1][1]),
                remedy="give it a backbone",
            )
        if self.backbone is not None:
            _check_backbone(self.backbone, self.sites, dict(sites))
        require_clear_names(self.name, self.sites, self.backbone)

    def platform(self) -> Platform:
        """Return the platform.

        Clusters are around one zone of routers, that of all switches and cables between them;
        so SimGrid has as few zones as there can be, whose number times that of the hosts is what
        loading takes. Each transfer passes each switch and each cable on its way once.

        Returns
        -------
        Platform
            The same for the same seed.
        """
        return Layout(self.name, self.sites, self.backbone, Draws(self.seed)).platform()


def _check_backbone(
    backbone: SiteBackbone, groups: tuple[SiteGroup, ...], sites: dict[str, int]
) -> None:
    """Raise unless a backbone joins the sites, each given with the position of its group."""
    if backbone.kind == "star":
        if backbone.wire is None:
            for at, group in enumerate(groups):
                if group.uplink is None:
                    raise FederationError(
                        f"site {group.name!r} has no cable to the hub",
                        *("sites", at),
                        remedy="give it an uplink, or the backbone a bandwidth and a latency",
                    )
        return
    if backbone.kind in {"mesh", "ring"} and len(sites) > MOST_ROUTED_SITES:
        raise FederationError(
            f"a {backbone.kind} joins {len(sites):,} sites, more than the {MOST_ROUTED_SITES:,} "
            "whose routes are made",
            *("backbone", "kind"),
            remedy="use a star or a chain",
        )
    _check_links(backbone, sites)


def _check_links(backbone: SiteBackbone, sites: dict[str, int]) -> None:
    """Raise unless the cables join all sites."""
    joined: dict[str, set[str]] = {site: set() for site in sites}
    for at, link in enumerate(backbone.links):
        _check_link(link, at, joined)
        joined[link.source].add(link.destination)
        joined[link.destination].add(link.source)
    if backbone.kind != "links":
        return
    first = next(iter(sites))
    reached, ahead = {first}, [first]
    while ahead:
        fresh = joined[ahead.pop()] - reached
        reached |= fresh
        ahead += fresh
    for site, group in sites.items():
        if site not in reached:
            raise FederationError(
                f"no way leads from site {first!r} to site {site!r}",
                *("sites", group, "name"),
                remedy="add a link to the backbone",
            )


def _check_link(link: SiteLink, at: int, joined: dict[str, set[str]]) -> None:
    """Raise if a cable ends nowhere, or is the second between two sites."""
    about = ("backbone", "links", at, "between")
    for end in (link.source, link.destination):
        if end not in joined:
            listed = ", ".join(list(joined)[:20])
            raise FederationError(
                f"a link of the backbone ends at {end!r}, which is no site",
                *about,
                remedy=f"name two of {listed}",
            )
    if link.source == link.destination:
        raise FederationError(
            f"a link of the backbone joins site {link.source!r} to itself",
            *about,
            remedy="name two sites",
        )
    if link.destination in joined[link.source]:
        raise FederationError(
            f"two links of the backbone join {link.source!r} and {link.destination!r}",
            *about,
            remedy="remove one of them",
        )


def _require_few_clusters(sites: tuple[SiteGroup, ...]) -> None:
    """Raise if there are more than `MOST_CLUSTERS`, before their names are made."""
    counts = [(site.repeat or 1) * site.cluster_count for site in sites]
    if sum(counts) > MOST_CLUSTERS:
        largest = counts.index(max(counts))
        raise FederationError(
            f"there are {in_digits(sum(counts))} clusters, more than the {MOST_CLUSTERS:,} that "
            "are made",
            *("sites", largest, "repeat"),
            remedy="repeat sites or clusters less often",
        )
