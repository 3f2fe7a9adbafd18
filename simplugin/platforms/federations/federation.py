"""Federations: sites of clusters, switches, and a backbone between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from simplugin.platforms.federations.draws import DrawnCluster, DrawnSwitch, Draws, drawn_sites
from simplugin.platforms.federations.network import Network, pool
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
from simplugin.platforms.hosts import Cluster
from simplugin.platforms.laws import Law
from simplugin.platforms.links import Link, LinkUse, ZoneRoute
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.validation import require_name

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

    name: str
    sites: tuple[SiteGroup, ...]
    backbone: SiteBackbone | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the fields."""
        require_name("a federation", self.name)
        object.__setattr__(self, "sites", tuple(self.sites))
        if not self.sites:
            raise FederationError(
                f"federation {self.name!r} has no site", "name", remedy="give it one"
            )
        if self.seed < 0 or self.seed != int(self.seed):
            raise FederationError(
                f"the seed is {self.seed!r}", "seed", remedy="give a whole number, 0 or more"
            )
        _require_few_clusters(self.sites)
        sites = [(name, at) for at, group in enumerate(self.sites) for name in group.names]
        require_apart("sites", ((name, ("sites", at, "name")) for name, at in sites))
        if self.backbone is None and len(sites) > 1:
            raise FederationError(
                f"nothing joins the {len(sites)} sites of federation {self.name!r}",
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
        return _Layout(self).platform()


class _Layout:
    """Turns drawn sites into zones, routers and routes."""

    def __init__(self, federation: Federation) -> None:
        self._name = federation.name
        self._network = Network()
        self._around: list[Zone | Cluster] = []
        self._routes: list[ZoneRoute] = []
        draws = Draws(federation.seed)
        backbone = federation.backbone
        sites = drawn_sites(federation.sites, backbone, draws)
        self._is_tree = True
        if backbone is None or len(sites) == 1:
            self._place(next(iter(sites.values())), None)
        elif backbone.kind == "star":
            hub = draws.switch(backbone.hub, "hub", "hub")
            hub.switches += sites.values()
            self._place(hub, None)
        else:
            self._join_sites(sites, backbone, draws)

    def platform(self) -> Platform:
        """Return the whole."""
        if len(self._around) == 1:
            return Platform((Zone(self._name, "Full", (self._around[0],)),))
        network = self._network.zone(self._network_id, is_tree=self._is_tree)
        elements = (*self._around, network)
        return Platform((Zone(self._name, "Floyd", elements, tuple(self._routes)),))

    @property
    def _network_id(self) -> str:
        """Name of the zone of routers."""
        return f"{self._name}-network"

    def _join_sites(
        self, sites: dict[str, DrawnSwitch], backbone: SiteBackbone, draws: Draws
    ) -> None:
        """Place the sites, each below a router at which cables to others end."""
        for name, site in sites.items():
            edge = DrawnSwitch(f"edge.{name}", switches=[site]) if site.uplink else site
            self._place(edge, None)
        edges = {name: f"edge.{name}" if site.uplink else site.id for name, site in sites.items()}
        joined = site_links(backbone, list(sites))
        self._is_tree = len(joined) == len(sites) - 1
        for link in joined:
            ends = sorted((link.source, link.destination))
            called = f"{link.source}--{link.destination}"
            wire = draws.wire(link.wire, called, "backbone", *ends)
            use = self._network.add_wire(wire)
            self._network.join(edges[link.source], edges[link.destination], use, wire.latency)

    def _place(self, switch: DrawnSwitch, above: tuple[str, str] | None) -> None:
        """Place a switch below the routers for coming in to and going out of the one above it."""
        limits = switch.bandwidth is not None
        alone = len(switch.switches) + len(switch.clusters) == 1
        # Below a switch that limits, only what must pass it may be at its two routers.
        merges = above is not None and (alone or above[0] == above[1])
        if above is not None and not switch.switches and (limits or alone):
            self._attach(switch, switch.clusters, above)
        elif limits:
            self._place_limit(switch, above)
        elif above is not None and merges and switch.uplink is None:
            self._place_below(switch, above)
        else:
            self._network.routers.append(switch.id)
            if above is not None:
                self._step(switch, (switch.id, switch.id), above)
            self._place_below(switch, (switch.id, switch.id))

    def _place_below(self, switch: DrawnSwitch, routers: tuple[str, str]) -> None:
        """Place what hangs from a switch that limits nothing."""
        for inner in switch.switches:
            self._place(inner, routers)
        for cluster in switch.clusters:
            self._attach(DrawnSwitch(cluster.id), [cluster], routers)

    def _place_limit(self, switch: DrawnSwitch, above: tuple[str, str] | None) -> None:
        """Place a switch with a bandwidth, which leads from one router to another."""
        network = self._network
        inner = (f"{switch.id}-in", f"{switch.id}-out")
        network.routers += inner
        # What hangs directly from it has passed it when it comes out, and before it goes in.
        if switch.clusters:
            through = self._attach(switch, switch.clusters, (inner[1], inner[0]), direct=True)
        else:
            assert switch.bandwidth is not None
            network.links.append(Link(switch.id, switch.bandwidth, switch.latency))
            through = switch.id
        network.lead(*inner, LinkUse(through), switch.latency)
        if above is not None:
            self._step(switch, inner, above)
        for each in switch.switches:
            self._place(each, inner)

    def _uplink(self, switch: DrawnSwitch) -> LinkUse:
        """Return the use of the cable to the switch above, on the way up."""
        if switch.uplink is None:
            return self._network.cable()
        return self._network.add_wire(switch.uplink)

    def _step(
        self,
        switch: DrawnSwitch,
        inner: tuple[str, str],
        above: tuple[str, str],
    ) -> None:
        """Join a switch with the one above it."""
        network = self._network
        latency = 0.0 if switch.uplink is None else switch.uplink.latency
        up = self._uplink(switch)
        if inner[0] == inner[1] and above[0] == above[1]:
            network.join(inner[0], above[0], up, latency)
            return
        network.lead(inner[1], above[0], up, latency)
        network.lead(above[1], inner[0], up.back(), latency)

    def _attach(
        self,
        switch: DrawnSwitch,
        clusters: list[DrawnCluster],
        routers: tuple[str, str],
        *,
        direct: bool = False,
    ) -> str:
        """Put clusters around the network; return the name of the link that is their switch.

        Over the uplink of their switch, or directly where that is in the network itself.
        """
        zone, gateway, link = _zone_of(switch, clusters)
        self._around.append(zone)
        self._network.widest = max(self._network.widest, *(each.bandwidth for each in clusters))
        up = self._network.cable() if direct else self._uplink(switch)
        self._network.entries[routers[0]] = None
        self._network.exits[routers[1]] = None
        add = self._routes.append
        if routers[0] == routers[1]:
            add(ZoneRoute(zone.id, self._network_id, gateway, routers[0], [up]))
            return link
        down = [up.back()]
        add(ZoneRoute(zone.id, self._network_id, gateway, routers[0], [up], symmetrical=False))
        add(ZoneRoute(self._network_id, zone.id, routers[1], gateway, down, symmetrical=False))
        return link


def _zone_of(switch: DrawnSwitch, clusters: list[DrawnCluster]) -> tuple[Zone | Cluster, str, str]:
    """Return the clusters of a switch as a zone, its gateway, and the link that is the switch."""
    if len(clusters) > 1:
        return pool(switch, clusters)
    only = clusters[0]
    gateway = f"{only.name}-router.{only.site}"
    cluster = Cluster(
        only.id,
        f"1-{only.hosts}",
        only.speed,
        only.bandwidth,
        only.latency,
        prefix=f"{only.name}-",
        suffix=f".{only.site}",
        cores=only.cores,
        backbone_bandwidth=switch.bandwidth,
        backbone_latency=switch.latency,
        router=gateway,
    )
    return cluster, gateway, f"{only.id}_backbone"


def site_links(backbone: SiteBackbone, sites: list[str]) -> list[SiteLink]:
    """Return the cables between sites of any backbone but a star.

    Parameters
    ----------
    backbone : SiteBackbone
        Of the kind mesh, ring, chain or links.
    sites : list of str
        In their order.

    Returns
    -------
    list of SiteLink
        Each once.
    """
    if backbone.kind == "links":
        return list(backbone.links)
    assert backbone.wire is not None
    pairs = list(combinations(sites, 2)) if backbone.kind == "mesh" else list(pairwise(sites))
    if backbone.kind == "ring" and len(sites) > 2:
        pairs.append((sites[-1], sites[0]))
    return [SiteLink(*pair, backbone.wire) for pair in pairs]


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
