"""The platform that the facts of Grid'5000 come to.

A zone a site, in it a cluster for each group of nodes that are alike, and a zone with a router for
each switch and for the site's router. Clusters hang from their switches, switches from others or
from the router, as the cables do; sites are joined by the links of the backbone along the way of
least latency. SimGrid 4.1 finds a way out of a zone of zones only over ``bypassZoneRoute``s, so
there is one for each two sites in either direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import PlatformError
from simplugin.platforms.grid5000_backbone import Backbone
from simplugin.platforms.grid5000_latencies import Latencies
from simplugin.platforms.grid5000_sites import ETHERNET_ONLY, FAST, router_zone, site_zone
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.routes import BypassZoneRoute
from simplugin.platforms.validation import require_choice

if TYPE_CHECKING:
    from simplugin.platforms.grid5000 import Grid5000

INTERCONNECTS = (ETHERNET_ONLY, FAST)


def grid5000_platform(
    facts: Grid5000, latencies: Latencies | None = None, interconnect: str = ETHERNET_ONLY
) -> Platform:
    """Return the platform of Grid'5000, or of the sites and clusters that are left of it.

    Hosts are called ``<node>.<site>.grid5000.fr``. A host's link has its adapter's rate in either
    direction, and so have the cables between switches and the links of the backbone. Switches
    themselves are never a bottleneck.

    Parameters
    ----------
    facts : Grid5000
        What is known.
    latencies : Latencies, optional
        How long data take; `Latencies()` without. Places that it lacks are those of the facts.
    interconnect : str
        ``ethernet``: all data go over Ethernet. ``fast``: where all nodes of a cluster have an
        InfiniBand adapter, or all an Omni-Path one, their links are these, and nothing else limits
        data within the cluster. What leaves a group of its nodes goes over a link as fast as all
        their Ethernet adapters together. So these are shared, and a single host can send more than
        its own, up to the rate of its fast adapter.

    Returns
    -------
    Platform
        A zone ``grid5000`` around the sites; the site alone if there is one only.

    Raises
    ------
    PlatformError
        There are no sites, a switch or a site cannot be reached, or a latency is missing.
    """
    require_choice("the interconnect", interconnect, INTERCONNECTS)
    latencies = (Latencies() if latencies is None else latencies).with_places(facts.places)
    if not facts.sites:
        raise PlatformError("there is no site", remedy="select at least one that has nodes")
    zones = [site_zone(site, latencies, interconnect) for site in facts.sites]
    if len(zones) == 1:
        return Platform((zones[0],))
    gateways = {site.uid: router_zone(site)[1] for site in facts.sites}
    ways, links = Backbone(facts.backbone, latencies).ways([site.uid for site in facts.sites])
    routes = [
        BypassZoneRoute(source, destination, gateways[source], gateways[destination], way)
        for (source, destination), way in ways.items()
    ]
    return Platform((Zone("grid5000", "Full", (*zones, *links), tuple(routes)),))
