"""Grids of two tiers: sites of computing peers under a global scheduler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simplugin.errors import PlatformError
from simplugin.platforms.hosts import Host
from simplugin.platforms.links import Link
from simplugin.platforms.names import ROOT
from simplugin.platforms.peer_sites import PeerSite
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.routes import ZoneRoute

# Zones around all, the second of them the global scheduler's.
_GRID, _GLOBAL = "grid", "global"


@dataclass(frozen=True, eq=False)
class PeerGrid:
    """Sites whose local schedulers get bundles from a global scheduler over one backbone.

    Attributes
    ----------
    names : tuple of str
        Of the sites.
    sites : tuple of PeerSite
        The sites; no two hosts have the same name.
    bandwidth : float
        Of the backbone, shared by all that passes it [byte/s].
    latency : float
        From the global scheduler to any local scheduler [s].
    scheduler : str
        Name of the global scheduler's host.

    Raises
    ------
    PlatformError
        A length or a range is wrong, or two names are alike: sites and hosts, as SimGrid knows
        both by names, and ``"grid"`` and ``"global"``, which are the grid's own zones.
    """

    names: tuple[str, ...]
    sites: tuple[PeerSite, ...]
    bandwidth: float = 1.25e9
    latency: float = 0.0
    scheduler: str = "global-scheduler"

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "sites", tuple(self.sites))
        if not self.sites or len(self.names) != len(self.sites):
            raise PlatformError(
                f"a grid of peers has {len(self.names)} names and {len(self.sites)} sites; give at"
                " least one site, and a name for each"
            )
        hosts = [self.scheduler]
        for site in self.sites:
            hosts += [site.scheduler, *site.names]
        _require_distinct("sites", [*self.names])
        _require_distinct("hosts", hosts)
        _require_apart({ROOT, _GRID, _GLOBAL}, self.names, hosts)
        if not 0 < self.bandwidth < np.inf:
            raise PlatformError(
                f"bandwidth of a grid of peers is {self.bandwidth!r}; give a positive number"
            )
        if not 0 <= self.latency < np.inf:
            raise PlatformError(f"latency of a grid of peers is {self.latency!r}; give 0 or more")

    def platform(self) -> Platform:
        """Return the grid for SimGrid; the local schedulers are the gates of their sites."""
        backbone = Link("backbone", self.bandwidth, self.latency)
        top = Zone(_GLOBAL, "Full", (Host(self.scheduler, speed=1e9),))
        zones = [site.zone(name) for name, site in zip(self.names, self.sites, strict=True)]
        routes = [
            ZoneRoute(_GLOBAL, name, self.scheduler, site.scheduler, (backbone.id,))
            for name, site in zip(self.names, self.sites, strict=True)
        ]
        return Platform((Zone(_GRID, "Full", (top, *zones, backbone), tuple(routes)),))


def _require_distinct(what: str, names: list[str]) -> None:
    """Refuse a name that stands for two things."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise PlatformError(f"two {what} of a grid of peers are called {twice!r}; rename one")


def _require_apart(own: set[str], sites: tuple[str, ...], hosts: list[str]) -> None:
    """Refuse a name that stands for a zone and for something else."""
    for site in sites:
        if site in own:
            raise PlatformError(
                f"a site of a grid of peers is called {site!r}, as a zone around it is; rename it"
            )
    for host in hosts:
        if host in own.union(sites):
            raise PlatformError(
                f"a host of a grid of peers is called {host!r}, as a site or a zone around it is;"
                " rename it"
            )
