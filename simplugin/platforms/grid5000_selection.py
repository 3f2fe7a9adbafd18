"""Some sites or clusters of Grid'5000, and what joins them."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from simplugin.platforms.grid5000 import BackboneLink, Grid5000, SiteFacts, Uplink


def selected(facts: Grid5000, sites: Sequence[str] = (), clusters: Sequence[str] = ()) -> Grid5000:
    """Return the facts of some sites and clusters only.

    Parameters
    ----------
    facts : Grid5000
        What to choose from.
    sites : sequence of str, optional
        Uids of sites; all if there are none.
    clusters : sequence of str, optional
        Uids of clusters of these sites; all if there are none.

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
    _require_known("site", sites, by_name)
    _require_known("cluster", clusters, owner)
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


def _require_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that nothing has."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known) or sorted(known)
            raise PlatformError(
                f"there is no {what} {name!r}",
                remedy=f"choose among {', '.join(near[:20])}" + ", ..." * (len(near) > 20),
            )


def _site(site: SiteFacts, wanted: Collection[str]) -> SiteFacts:
    """Return a site with some of its clusters."""
    clusters = tuple(cluster for cluster in site.clusters if cluster.uid in wanted)
    if len(clusters) == len(site.clusters):
        return site
    used = {group.adapter.switch for cluster in clusters for group in cluster.groups}
    return replace(site, clusters=clusters, uplinks=_uplinks(site.uplinks, used))


def _uplinks(uplinks: tuple[Uplink, ...], used: set[str]) -> tuple[Uplink, ...]:
    """Return the uplinks of the switches in use, and of those on their way to the router."""
    towards = {uplink.switch: uplink.towards for uplink in uplinks}
    kept: set[str] = set()
    for switch in used:
        at = switch
        while at in towards and at not in kept:
            kept.add(at)
            at = towards[at]
    return tuple(uplink for uplink in uplinks if uplink.switch in kept)


def _backbone(facts: Grid5000, chosen: Collection[str]) -> tuple[BackboneLink, ...]:
    """Return what is left of the backbone without ends that lead to no chosen site."""
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
