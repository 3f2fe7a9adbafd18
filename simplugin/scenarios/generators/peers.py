"""Generators of sites of computing peers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from simplugin.inputs.parameters import Signature
from simplugin.inputs.quantities import Bandwidth, HostSpeed, Latency, LinkBandwidth
from simplugin.inputs.validation import table
from simplugin.platforms import Platform
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.platforms.twelve_peers import SEED, consistent_site, scaled_site
from simplugin.scenarios.generators.topologies import Seed


def peer_site(
    speed: tuple[HostSpeed, ...] | None = None,
    bandwidth: tuple[LinkBandwidth, ...] | None = None,
    seed: Seed | None = None,
    degree: float | None = None,
    latency: Latency = 0.0,
    uplink: Annotated[Bandwidth, Field(gt=0)] = math.inf,
    prefix: str = "peer",
    scheduler: str = "scheduler",
) -> Platform:
    """Return a site of computing peers, with the host ``scheduler`` of its local scheduler.

    Without speeds and bandwidths it has twelve peers, with all
    properties that Zheng et al. (2011) give of theirs.

    Parameters
    ----------
    speed, bandwidth : tuple of float, optional
        Capacities of the peers ``peer-1`` and so on [flop/s], [byte/s].
    seed : int, optional
        Of `simplugin.platforms.twelve_peers.consistent_site`; `chosen_site` without.
    degree : float, optional
        Heterogeneity degree of those twelve, if another one is wanted, as in `scaled_site`.
    latency : float
        From the local scheduler to any peer [s].
    uplink : float
        Capacity from the local scheduler to all peers together [byte/s]; inf: only the peers' own
        links limit it.
    prefix : str
        Of the names of peers.
    scheduler : str
        Name of the local scheduler's host.
    """
    further = {"latency": latency, "uplink": uplink, "scheduler": scheduler}
    return _site(speed, bandwidth, seed, degree, prefix=prefix, **further).platform()


def _site(
    speed: tuple[float, ...] | None,
    bandwidth: tuple[float, ...] | None,
    seed: int | None,
    degree: float | None,
    **further: Any,
) -> PeerSite:
    """Return the peers given, or some that fit the paper."""
    if (speed is None) != (bandwidth is None):
        raise ValueError("speed and bandwidth go together; give both or neither")
    if speed is None:
        number = SEED if seed is None else seed
        site = consistent_site(number) if degree is None else scaled_site(number, degree)
        speeds, bandwidths = site.speed, site.bandwidth
    elif seed is not None or degree is not None:
        raise ValueError("seed and degree have no effect with speed; remove them")
    else:
        speeds, bandwidths = np.array(speed), np.array(bandwidth)
    return PeerSite.numbered(speeds, bandwidths, **further)


def _given(**parameters: Any) -> dict[str, Any]:
    """Return the parameters of a site that a table has."""
    return parameters


if TYPE_CHECKING:
    SiteTable = dict[str, Any]
else:
    SiteTable = table(_given, **Signature.of(peer_site).types)


def peer_grid(
    sites: int | tuple[SiteTable, ...] = 3,
    seed: Seed | None = None,
    bandwidth: LinkBandwidth = 1.25e9,
    latency: Latency = 0.0,
) -> Platform:
    """Return sites of computing peers under the host ``global-scheduler``.

    Parameters
    ----------
    sites : int or tuple of SiteTable
        How many sites with twelve peers each as `peer_site` has them, the first one that of the
        seed; or the parameters of `peer_site` for each. The first one's hosts are called
        ``scheduler-1``, ``peer-1-1`` and so on by default.
    seed : int, optional
        Of the first site; each other has the next one.
    bandwidth : float
        Of the backbone between the schedulers [byte/s].
    latency : float
        Of the backbone [s].
    """
    first = SEED if seed is None else seed
    if isinstance(sites, int):
        sites = tuple({"seed": first + number} for number in range(sites))
    elif seed is not None:
        raise ValueError("seed has no effect with tables of sites; remove it")
    absent: dict[str, Any] = dict.fromkeys(("speed", "bandwidth", "seed", "degree"))
    found = [
        _site(**absent | {"prefix": f"peer-{at}", "scheduler": f"scheduler-{at}"} | own)
        for at, own in enumerate(sites, start=1)
    ]
    names = tuple(f"site-{at}" for at in range(1, len(found) + 1))
    return PeerGrid(names, tuple(found), bandwidth, latency).platform()
