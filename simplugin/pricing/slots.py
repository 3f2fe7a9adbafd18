"""The slots of agents: who bids for what, on which host and link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import InfeasibleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.workloads.sharing import Sharing

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Slots:
    """Who bids for what.

    Attributes
    ----------
    demand : float64, shape (2, n_agents)
        What a task asks of the host [flop] and of the link above [byte]; 0 without a slot.
    bound : float64, shape (2, n_agents)
        What an agent alone could compute, and receive for all below it [tasks/s]; 0 without a slot.
    alone : float64, shape (n_applications,)
        What each application would reach alone [tasks/s].
    used : int64, shape (n_slots,)
        The slots there are, in the raveled order of `demand`.
    resource : int64, shape (n_slots,)
        The host of each, or ``n_hosts`` plus the link.
    capacity : float64, shape (n_hosts + n_links,)
        Of each resource.
    n_hosts : int
        How many hosts there are.
    """

    demand: Floats
    bound: Floats
    alone: Floats
    used: Integers
    resource: Integers
    capacity: Floats
    n_hosts: int


def slots(sharing: Sharing) -> Slots:
    """Return the slots of all agents, in one sweep down and one up.

    Parameters
    ----------
    sharing : Sharing
        The problem.

    Raises
    ------
    InfeasibleError
        An application reaches no host that computes; the message names it.
    """
    flop, byte = sharing.flop[sharing.application], sharing.byte[sharing.application]
    # The last stands for the link that a master lacks.
    bandwidth = np.append(sharing.bandwidth, np.inf)
    with np.errstate(divide="ignore"):
        across = np.where((byte > 0) & (sharing.link >= 0), bandwidth[sharing.link] / byte, np.inf)
    reached = across > 0
    for level in sharing.levels[1:]:
        reached[level] &= reached[sharing.father[level]]
    computing = np.where(reached & sharing.computes, sharing.speed[sharing.host] / flop, 0.0)
    below = computing.copy()
    for level in reversed(sharing.levels[1:]):
        np.add.at(below, sharing.father[level], np.minimum(below[level], across[level]))
    alone = below[sharing.masters]
    if np.any(alone <= 0):
        name = sharing.applications[int(np.argmin(alone))]
        raise InfeasibleError(f"application {name!r} reaches no host that computes; give it one")
    receiving = np.where((across < np.inf) & reached, np.minimum(below, across), 0.0)
    bound = np.stack([computing, receiving])
    demand = np.where(bound > 0, np.stack([flop, byte]), 0.0)
    used = np.flatnonzero(bound > 0)
    return Slots(
        demand,
        bound,
        alone,
        used,
        np.concatenate([sharing.host, sharing.n_hosts + sharing.link])[used],
        np.concatenate([sharing.speed, sharing.bandwidth]),
        sharing.n_hosts,
    )


def inverted(values: Floats) -> Floats:
    """Return 1 / values, and 0 where they are 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
