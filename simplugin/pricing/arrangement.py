"""Agents in an order in which compiled sweeps stream through memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.pricing import _sweeps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.workloads.sharing import Sharing

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int32]

MOST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The agents, hosts and links of a problem in the order of a depth-first tour.

    All agents of a host are neighbours, and hosts are in the order in which a tour of the first
    application's tree meets them: what a sweep reads of hosts, links and fathers is then in the
    cache. Where another application's tree goes against that order (between its master and the
    first one's, if they share a platform that is a tree) the agents above come first of all, so
    that fathers precede their sons everywhere.

    Attributes
    ----------
    trees : Trees
        The columns of the agents.
    agents, hosts, links : int32
        What of the problem stands at each place.
    masters : int32, shape (n_applications,)
        Place of the master's agent of each application.
    speed : float64, shape (n_hosts,)
        Of the host at each place [flop/s].
    bandwidth : float64, shape (n_links,)
        Of the link at each place [byte/s].
    """

    trees: _sweeps.Trees
    agents: Indices
    hosts: Indices
    links: Indices
    masters: Indices
    speed: Floats
    bandwidth: Floats


def arrange(sharing: Sharing) -> Arrangement:
    """Return the arrangement of a problem.

    Parameters
    ----------
    sharing : Sharing
        The problem.

    Raises
    ------
    WorkloadError
        The problem has more than 2^31 - 1 agents or links: indices have 32 bits.
    """
    if max(sharing.n_agents, sharing.n_links) > MOST:
        raise WorkloadError(f"more than {MOST} agents or links; use the numpy iterations")
    agents = _sweeps.arrange(
        sharing.father, sharing.application, sharing.host, sharing.n_applications, sharing.n_hosts
    )
    place = _inverse(agents)
    father = sharing.father[agents]
    # Masters have the father -1, which place[-1] would take for the last agent.
    above = np.where(father >= 0, place[father], np.int32(-1))
    host = sharing.host[agents].astype(np.int32)
    host_place = _sweeps.first_met(host, sharing.n_hosts)
    link = sharing.link[agents].astype(np.int32)
    link_place = _sweeps.first_met(link, sharing.n_links)
    hosts, links = _inverse(host_place), _inverse(link_place)
    trees = _sweeps.Trees(
        above,
        np.where(link >= 0, link_place[link], np.int32(-1)) if sharing.n_links else link,
        host_place[host],
        sharing.application[agents].astype(np.int32),
        sharing.computes[agents],
        sharing.byte,
        sharing.flop,
        sharing.n_links,
        sharing.n_hosts,
    )
    return Arrangement(
        trees,
        agents,
        hosts,
        links,
        place[sharing.masters],
        sharing.speed[hosts],
        sharing.bandwidth[links],
    )


def as_given(order: Indices, arranged: Floats) -> Floats:
    """Return values of agents, hosts or links in the order of the problem.

    Parameters
    ----------
    order : int32, shape (n,)
        The `agents`, `hosts` or `links` of the arrangement.
    arranged : float64, shape (n,)
        In the order of the arrangement.
    """
    values = np.empty_like(arranged)
    values[order] = arranged
    return values


def _inverse(order: Indices) -> Indices:
    """Return the inverse of a permutation."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    return places
