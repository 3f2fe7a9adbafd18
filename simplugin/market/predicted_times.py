"""How long peers take for their tasks, in closed form, where that goes beyond their estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.market.agents.messages import AWARD

if TYPE_CHECKING:
    from simplugin.platforms.peers import PeerSite
    from simplugin.workloads.bundle_markets import Amounts, Floats
    from simplugin.workloads.bundles import Bundle


def one_by_one(
    site: PeerSite,
    bundle: Bundle,
    amounts: Amounts,
    setup: float,
    *,
    transfers: float = 1.0,
    latencies: float = 1.0,
) -> Floats:
    """Return how long each peer takes whose tasks come one after another, on links of its own.

    It hears of its award, then sets up, fetches, computes and acknowledges every task. Without
    latency this is A_i t_i, but for what the award takes.

    Parameters
    ----------
    site : PeerSite
        The peers.
    bundle : Bundle
        Identical tasks.
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    setup : float
        What any task takes before its data are sent [s].
    transfers, latencies : float
        By what factors transfers and latencies are longer than nominal.

    Returns
    -------
    float64, shape (n_peers,)
        From the agreement to the end of the last task; 0 for none [s].
    """
    latency = site.latency * latencies
    task = setup + 2 * latency + bundle.byte / site.bandwidth * transfers
    times = _award(site, transfers, latency) + amounts * (task + bundle.flop / site.speed)
    return np.where(amounts > 0, times, 0.0)


def overlapped(site: PeerSite, bundle: Bundle, amounts: Amounts, setup: float) -> Floats:
    """Return how long each peer takes that fetches its next task while it computes one.

    The first fetch and the last execution have nothing beside them; in between the longer of the
    two sets the pace.

    Parameters
    ----------
    site, bundle, amounts, setup
        As those of `one_by_one`.
    """
    fetch = setup + site.latency + bundle.byte / site.bandwidth
    execution = bundle.flop / site.speed
    times = fetch + (amounts - 1) * np.maximum(fetch, execution) + execution + site.latency
    return np.where(amounts > 0, _award(site, 1.0, site.latency) + times, 0.0)


def shared_transfers(site: PeerSite, bundle: Bundle, amounts: Amounts) -> Floats:
    """Return how long all transfers to each peer take over the shared uplink, back to back.

    All peers fetch all the time until they have their data. Each gets an equal part of the uplink,
    or the bandwidth of its own link if that is less; what it leaves goes to the others.

    Parameters
    ----------
    site, bundle, amounts
        As those of `one_by_one`.
    """
    left = amounts * bundle.byte
    times = np.zeros(site.n_peers)
    now = 0.0
    while np.any(left > 0):
        rate = _rates(site, left > 0)
        fetching = np.flatnonzero(left > 0)
        steps = left[fetching] / rate[fetching]
        step = float(steps.min())
        now += step
        left[fetching] -= step * rate[fetching]
        over = fetching[steps <= step * (1 + 1e-12)]
        left[over], times[over] = 0.0, now
    return times


def _rates(site: PeerSite, fetching: np.ndarray) -> Floats:
    """Return what each peer that is fetching gets of the uplink [byte/s]."""
    rates = np.zeros(site.n_peers)
    left, count = site.uplink, int(fetching.sum())
    for peer in np.argsort(site.bandwidth, kind="stable"):
        if fetching[peer]:
            rates[peer] = min(float(site.bandwidth[peer]), left / count)
            left, count = left - rates[peer], count - 1
    return rates


def _award(site: PeerSite, transfers: float, latency: float) -> Floats:
    """Return how long each peer's award is under way [s]."""
    return latency + AWARD / site.bandwidth * transfers
