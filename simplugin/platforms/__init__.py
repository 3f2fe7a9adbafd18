"""Hardware: platforms of zones, clusters, hosts, links and routes."""

from __future__ import annotations

from simplugin.platforms.deployment import DeployedActor, Deployment
from simplugin.platforms.hosts import Cabinet, Cluster, Disk, Host, Peer, Router
from simplugin.platforms.links import (
    Backbone,
    BypassRoute,
    BypassZoneRoute,
    HostLink,
    Link,
    LinkUse,
    Route,
    ZoneRoute,
)
from simplugin.platforms.platform import Config, Opaque, Platform, Zone
from simplugin.platforms.profiles import Profile, ProfileUse

__all__ = [
    "Backbone",
    "BypassRoute",
    "BypassZoneRoute",
    "Cabinet",
    "Cluster",
    "Config",
    "DeployedActor",
    "Deployment",
    "Disk",
    "Host",
    "HostLink",
    "Link",
    "LinkUse",
    "Opaque",
    "Peer",
    "Platform",
    "Profile",
    "ProfileUse",
    "Route",
    "Router",
    "Zone",
    "ZoneRoute",
]
