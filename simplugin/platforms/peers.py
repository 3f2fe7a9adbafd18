"""Sites of computing peers around local schedulers, and grids of them under a global one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import PlatformError
from simplugin.platforms.arrays import set_array
from simplugin.platforms.hosts import Host, spoke
from simplugin.platforms.links import FATPIPE, Link, ZoneRoute
from simplugin.platforms.names import ROOT
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.validation import (
    Bandwidth,
    Latency,
    check_fields,
    read_number,
    require_distinct,
)


@dataclass(frozen=True, eq=False)
class PeerSite:
    """Computing peers, each behind a link of its own, and the local scheduler that serves them.

    Attributes
    ----------
    names : tuple of str
        Of the peers' hosts.
    speed : float64, shape (n_peers,)
        Computation capacity of each peer, Cp [flop/s].
    bandwidth : float64, shape (n_peers,)
        Communication capacity of each peer, Cm [byte/s].
    latency : float
        From the local scheduler to any peer [s].
    uplink : float
        Capacity from the local scheduler to all peers together [byte/s]; inf: only the peers' own
        links limit it.
    scheduler : str
        Name of the local scheduler's host.

    Raises
    ------
    PlatformError
        A length or a range is wrong, or two hosts are alike.
    """

    names: tuple[str, ...]
    speed: NDArray[np.float64]
    bandwidth: NDArray[np.float64]
    latency: Latency = 0.0
    uplink: float = np.inf
    scheduler: str = "scheduler"

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, "a site of peers")
        if not self.names:
            raise PlatformError("a site of peers has no peer; give at least one")
        require_distinct("hosts of a site of peers", (self.scheduler, *self.names))
        for field, unit in (("speed", "flop/s"), ("bandwidth", "byte/s")):
            set_array(self, field, (len(self.names),), "finite numbers > 0", unit=unit)
            values = getattr(self, field).copy()
            values.flags.writeable = False
            object.__setattr__(self, field, values)
        uplink = read_number("uplink of a site of peers", self.uplink, "byte/s")
        object.__setattr__(self, "uplink", uplink)
        if not uplink > 0:
            raise PlatformError(f"uplink of a site of peers is {uplink!r}; give more than 0")

    @classmethod
    def numbered(
        cls,
        speed: NDArray[np.float64],
        bandwidth: NDArray[np.float64],
        prefix: str = "peer",
        latency: float = 0.0,
        uplink: float = np.inf,
        scheduler: str = "scheduler",
    ) -> PeerSite:
        """Return a site of peers with the names ``peer-1``, ``peer-2`` and so on.

        Parameters
        ----------
        speed, bandwidth : float64, shape (n_peers,)
            Capacities of the peers [flop/s], [byte/s].
        prefix : str
            Prefix of the names.
        latency, uplink, scheduler
            As of `PeerSite`.
        """
        names = tuple(f"{prefix}-{number}" for number in range(1, len(speed) + 1))
        return cls(names, speed, bandwidth, latency, uplink, scheduler)

    @property
    def n_peers(self) -> int:
        """Number of peers."""
        return len(self.names)

    def zone(self, name: str = "site") -> Zone:
        """Return the site as a zone, a star of all hosts."""
        own = f"{self.scheduler}-link"
        uplink = (
            Link(own, self.uplink)
            if np.isfinite(self.uplink)
            else Link(own, float(self.bandwidth.max()), sharing_policy=FATPIPE)
        )
        peers = zip(self.names, self.speed.tolist(), self.bandwidth.tolist(), strict=True)
        spokes = [
            spoke(Host(self.scheduler, speed=float(self.speed.max())), uplink),
            *(
                spoke(Host(host, speed), Link(f"{host}-link", bandwidth, self.latency))
                for host, speed, bandwidth in peers
            ),
        ]
        hosts, links, ends = zip(*spokes, strict=True)
        return Zone(name, "Cluster", (*hosts, *links, *ends))

    def platform(self) -> Platform:
        """Return the site for SimGrid."""
        return Platform((self.zone(),))


# Zones around all, the second of them the global scheduler's.
_GRID, _GLOBAL = "grid", "global"


@dataclass(frozen=True, eq=False)
class PeerGrid:
    """Sites that get bundles from a global scheduler over one backbone.

    Attributes
    ----------
    names : tuple of str
        Of the sites.
    sites : tuple of PeerSite
        The sites; names of hosts are unique.
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
    bandwidth: Bandwidth = 1.25e9
    latency: Latency = 0.0
    scheduler: str = "global-scheduler"

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self, "a grid of peers")
        if not self.sites or len(self.names) != len(self.sites):
            raise PlatformError(
                f"a grid of peers has {len(self.names)} names and {len(self.sites)} sites; give at"
                " least one site, and a name for each"
            )
        hosts = [self.scheduler]
        for site in self.sites:
            hosts += [site.scheduler, *site.names]
        require_distinct("sites of a grid of peers", self.names)
        require_distinct("hosts of a grid of peers", hosts)
        around = {ROOT, _GRID, _GLOBAL}
        for what, names, zones in (
            ("site", self.names, around),
            ("host", hosts, around.union(self.names)),
        ):
            if name := next((name for name in names if name in zones), ""):
                raise PlatformError(
                    f"a {what} of a grid of peers is called {name!r}, as a zone is; rename it"
                )

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
