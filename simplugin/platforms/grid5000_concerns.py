"""Which remarks on the facts of Grid'5000 concern a selection of sites and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from simplugin.platforms.grid5000 import Grid5000, Remark


def concerning(
    remarks: Iterable[Remark],
    facts: Grid5000,
    sites: Collection[str] = (),
    clusters: Collection[str] = (),
) -> tuple[Remark, ...]:
    """Return the remarks on what was asked for.

    Parameters
    ----------
    remarks : iterable of Remark
        All of them.
    facts : Grid5000
        What is left after the selection.
    sites, clusters : collection of str
        What was selected; all sites, and all clusters of the sites, if empty.

    Returns
    -------
    tuple of Remark
        In their order; all if nothing was selected. Otherwise those on what is left: its sites,
        the selected clusters, the switches and cables on their way to the router, the links
        of the backbone; also on clusters of selected sites that were left out, unless clusters
        were selected; and those of which it is not known what they concern.
    """
    if not sites and not clusters:
        return tuple(remarks)
    left = _Left(facts, clusters)
    return tuple(remark for remark in remarks if left.has(remark.about))


class _Left:
    """What is left after a selection, as remarks name it."""

    def __init__(self, facts: Grid5000, clusters: Collection[str]) -> None:
        self._clusters = clusters
        self._sites = {site.uid for site in facts.sites}
        self._links = {frozenset(link.ends) for link in facts.backbone}
        self._uplinks = {
            (site.uid, uplink.switch, uplink.towards)
            for site in facts.sites
            for uplink in site.uplinks
        }
        self._switches = {(site.uid, site.router) for site in facts.sites}
        self._switches |= {(site, switch) for site, switch, _ in self._uplinks}

    def has(self, about: tuple[str, ...]) -> bool:
        """Whether there is what a remark is about, or was before it was left out."""
        match about:
            case ("grid",):
                return False
            case ("site", site):
                return site in self._sites
            case ("cluster", site, cluster):
                return site in self._sites and (not self._clusters or cluster in self._clusters)
            case ("switch", site, switch):
                return (site, switch) in self._switches
            case ("uplink", _, _, _):
                return about[1:] in self._uplinks
            case ("link", one, other):
                return frozenset((one, other)) in self._links
            case ("point", point):
                return any(point in ends for ends in self._links)
            case ("backbone",):
                return bool(self._links)
        return True
