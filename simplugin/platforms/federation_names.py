"""Names in a federation: those of clusters and switches against each other and against routers'."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simplugin.platforms.federation_errors import FederationError
from simplugin.platforms.laws import Law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplugin.platforms.federation_parts import ClusterGroup, SiteBackbone, SiteGroup

_Claim = tuple[str, tuple[str, ...], tuple[str | int, ...]]

# Host 3 of cluster c at s is c-3.s.
_HOST = re.compile(r"-([1-9][0-9]*)\.")


def require_clear_names(
    name: str, sites: tuple[SiteGroup, ...], backbone: SiteBackbone | None
) -> None:
    """Refuse names that come to the same in the platform, where site and cluster are joined.

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
    seen: dict[str, tuple[str, ...]] = {}
    claims = [*_of_network(name, sites, backbone), *_of_sites(sites)]
    for claim, what, about in claims:
        if claim in seen:
            raise FederationError(
                f"{_said(what)} and {_said(seen[claim])} would both be called {claim!r}",
                *about,
                remedy="rename one of them",
            )
        seen[claim] = what
    _require_unlike_hosts(claims, sites)


def _require_unlike_hosts(claims: list[_Claim], sites: tuple[SiteGroup, ...]) -> None:
    """Refuse names that a host has; of a cluster whose size is drawn, any number may be one."""
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
                    f"{_said(what)} would be called {claim!r}, as a host of cluster "
                    f"{cluster!r} of site {site!r}",
                    *about,
                    remedy="rename one of them",
                )


def _of_network(
    name: str, sites: tuple[SiteGroup, ...], backbone: SiteBackbone | None
) -> Iterator[_Claim]:
    """Say what routers and zones are called whose names nobody chose, then the federation's."""
    star = backbone is not None and backbone.kind == "star"
    if star:
        for end in ("", "-in", "-out"):
            yield f"hub{end}", ("the hub",), ("backbone", "hub")
    for at, group in enumerate(sites):
        about = ("sites", at, "name")
        for site in group.names:
            yield f"router.{site}", ("the router", site), about
            if group.switch is not None and group.one_switch:
                for end in ("", "-router", "-in", "-out"):
                    yield f"switch.{site}{end}", ("the switch", site), about
            if group.uplink is not None and not star:
                yield f"edge.{site}", ("the router at the end of the uplink", site), about
    yield name, ("the federation",), ("name",)
    yield f"{name}-network", ("the zone of the federation's routers",), ("name",)


def _of_sites(sites: tuple[SiteGroup, ...]) -> Iterator[_Claim]:
    """Say what switches and clusters are called, and what comes with them."""
    for at, sited in enumerate(sites):
        for site in sited.names:
            for number, switch in enumerate(sited.switches):
                about = ("sites", at, "switches", number, "name")
                for end in ("", "-router", "-in", "-out"):
                    yield f"{switch.name}.{site}{end}", ("switch", switch.name, site), about
            for number, group in enumerate(sited.clusters):
                about = ("sites", at, "clusters", number, "name")
                for cluster in group.names:
                    what = ("cluster", cluster, site)
                    yield f"{cluster}.{site}", what, about
                    yield f"{cluster}-router.{site}", ("the router of cluster", *what[1:]), about


def _said(what: tuple[str, ...]) -> str:
    """Say what bears a name: kind, perhaps own name, perhaps site."""
    kind, *names = what
    own = "".join(f" {name!r}" for name in names[:-1])
    return kind + own + (f" of site {names[-1]!r}" if names else "")
