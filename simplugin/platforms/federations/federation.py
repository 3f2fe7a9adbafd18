"""Federations: sites of clusters, switches, and a backbone between them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from simplugin.platforms.federations.network import Draws, FederationLayout
from simplugin.platforms.federations.parts import (
    MOST_CLUSTERS,
    MOST_ROUTED_SITES,
    FederationError,
    SiteBackbone,
    SiteGroup,
    in_digits,
    require_apart,
)
from simplugin.platforms.laws import Law
from simplugin.platforms.names import reached
from simplugin.platforms.platform import Platform
from simplugin.platforms.validation import Name, check_fields, require_count

_Path = tuple[str | int, ...]
# Host 3 of cluster c at s is c-3.s.
_HOST = re.compile(r"-([1-9][0-9]*)\.")


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

    name: Name = "federation"
    sites: tuple[SiteGroup, ...] = ()
    backbone: SiteBackbone | None = None
    seed: Annotated[int, partial(require_count, least=0, most=math.inf)] = 0

    def __post_init__(self) -> None:
        """Check the fields."""
        what = check_fields(self)
        if not self.sites:
            raise FederationError(f"{what} has no site", "name", remedy="give it one")
        # Before their names are made.
        counts = [(site.repeat or 1) * site.cluster_count for site in self.sites]
        if sum(counts) > MOST_CLUSTERS:
            raise FederationError(
                f"there are {in_digits(sum(counts))} clusters, more than the "
                f"{MOST_CLUSTERS:,} that are made",
                *("sites", counts.index(max(counts)), "repeat"),
                remedy="repeat sites or clusters less often",
            )
        sites = [(name, at) for at, group in enumerate(self.sites) for name in group.names]
        require_apart("sites", ((name, ("sites", at, "name")) for name, at in sites))
        if self.backbone is None and len(sites) > 1:
            raise FederationError(
                f"nothing joins the {len(sites)} sites of {what}",
                *("sites", sites[1][1]),
                remedy="give it a backbone",
            )
        if self.backbone is not None:
            self._check_backbone(self.backbone, dict(sites))
        self._check_names()

    def _check_names(self) -> None:
        """Raise if two parts would get the same name, such as a site's router and its cluster."""
        hosts = {
            (cluster, site): group.hosts
            for sited in self.sites
            for site in sited.names
            for group in sited.clusters
            for cluster in group.names
        }
        seen: dict[str, str] = {}
        for claim, what, about in self._claims():
            if claim in seen:
                message = f"{what} and {seen[claim]} would both be called {claim!r}"
                raise FederationError(message, *about, remedy="rename one of them")
            seen[claim] = what
        for claim, what, about in self._claims():
            for match in _HOST.finditer(claim):
                cluster, site = claim[: match.start()], claim[match.end() :]
                count = hosts.get((cluster, site), 0)
                # A cluster of drawn size may have any number.
                if isinstance(count, Law) or int(match[1]) <= count:
                    host = f"a host of cluster {cluster!r} of site {site!r}"
                    message = f"{what} would be called {claim!r}, as {host}"
                    raise FederationError(message, *about, remedy="rename one of them")

    def _claims(self) -> Iterator[tuple[str, str, _Path]]:
        """Yield the name of each part that is made, the part, and the field that names it."""
        yield self.name, "the federation", ("name",)
        yield f"{self.name}-network", "the zone of the federation's routers", ("name",)
        star = self.backbone is not None and self.backbone.kind == "star"
        for end in ("", "-in", "-out") if star else ():
            yield f"hub{end}", "the hub", ("backbone", "hub")
        for at, sited in enumerate(self.sites):
            own: _Path = ("sites", at, "name")
            for site in sited.names:
                of_site = f"of site {site!r}"
                yield f"router.{site}", f"the router {of_site}", own
                if sited.uplink is not None and not star:
                    yield f"edge.{site}", f"the router at the end of the uplink {of_site}", own
                switches: list[tuple[str, str, _Path]] = []
                if sited.switch is not None and sited.one_switch:
                    switches.append((f"switch.{site}", f"the switch {of_site}", own))
                for number, each in enumerate(sited.switches):
                    path = ("sites", at, "switches", number, "name")
                    switches.append(
                        (f"{each.name}.{site}", f"switch {each.name!r} {of_site}", path)
                    )
                for switch, what, about in switches:
                    for end in ("", "-router", "-in", "-out"):
                        yield f"{switch}{end}", what, about
                for number, group in enumerate(sited.clusters):
                    own_name: _Path = ("sites", at, "clusters", number, "name")
                    for cluster in group.names:
                        what = f"cluster {cluster!r} {of_site}"
                        yield f"{cluster}.{site}", what, own_name
                        yield f"{cluster}-router.{site}", f"the router of {what}", own_name

    def _check_backbone(self, backbone: SiteBackbone, sites: dict[str, int]) -> None:
        """Raise unless the backbone joins the sites, each given with the position of its group."""
        if backbone.kind == "star":
            bare = next((at for at, group in enumerate(self.sites) if group.uplink is None), None)
            if bare is not None and backbone.wire is None:
                raise FederationError(
                    f"site {self.sites[bare].name!r} has no cable to the hub",
                    *("sites", bare),
                    remedy="give it an uplink, or the backbone a bandwidth and a latency",
                )
            return
        if backbone.kind in {"mesh", "ring"} and len(sites) > MOST_ROUTED_SITES:
            raise FederationError(
                f"a {backbone.kind} joins {len(sites):,} sites, more than the "
                f"{MOST_ROUTED_SITES:,} whose routes are made",
                *("backbone", "kind"),
                remedy="use a star or a chain",
            )
        _check_links(backbone, sites)

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
        return FederationLayout(self.name, self.sites, self.backbone, Draws(self.seed)).platform()


def _check_links(backbone: SiteBackbone, sites: dict[str, int]) -> None:
    """Raise unless the cables join all sites, each once."""
    joined: dict[str, set[str]] = {site: set() for site in sites}
    for at, link in enumerate(backbone.links):
        one, other = link.source, link.destination
        fault, remedy = "", "name two sites"
        if one not in joined or other not in joined:
            unknown = other if one in joined else one
            fault = f"a link of the backbone ends at {unknown!r}, which is no site"
            remedy = f"name two of {', '.join([*joined][:20])}"
        elif one == other:
            fault = f"a link of the backbone joins site {one!r} to itself"
        elif other in joined[one]:
            fault = f"two links of the backbone join {one!r} and {other!r}"
            remedy = "remove one of them"
        if fault:
            raise FederationError(fault, *("backbone", "links", at, "between"), remedy=remedy)
        joined[one].add(other)
        joined[other].add(one)
    if backbone.kind != "links":
        return
    first = next(iter(sites))
    together = reached(first, joined)
    for site, group in sites.items():
        if site not in together:
            raise FederationError(
                f"no way leads from site {first!r} to site {site!r}",
                *("sites", group, "name"),
                remedy="add a link to the backbone",
            )
