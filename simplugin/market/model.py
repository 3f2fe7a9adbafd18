"""Estimated completion times, and the market that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from simplugin.errors import WorkloadError
from simplugin.workloads.bundle_markets import BundleMarket, Floats

if TYPE_CHECKING:
    from simplugin.platforms.peer_sites import PeerSite
    from simplugin.workloads.bundles import Bundle

HOUR = 3600.0


def completion_times(site: PeerSite, bundle: Bundle, setup: float = 0.005) -> Floats:
    """Return the estimated completion time of one task on each peer, Eq. (4) of [1]_.

    Parameters
    ----------
    site : PeerSite
        The peers.
    bundle : Bundle
        The tasks.
    setup : float
        What any task takes before its data are sent, t^setup [s].

    Returns
    -------
    float64, shape (n_peers,)
        ECT [s].

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    return setup + bundle.byte / site.bandwidth + bundle.flop / site.speed


@dataclass(frozen=True, eq=False)
class Terms:
    """What a market's prices follow from besides the times that tasks take.

    Attributes
    ----------
    alpha : float or array_like, shape (n_peers,)
        Discount rate of all peers, or of each.
    n_max : int or array_like, optional
        How many tasks a peer gets at most; as many as there are without.
    price_unit : float
        What a task is worth that takes one second [G$ s]; the paper's figures need 3600: G$ for a
        task an hour.
    setup : float
        What any task takes before its data are sent, t^setup [s].

    Raises
    ------
    WorkloadError
        A number is out of its range.
    """

    alpha: ArrayLike = 0.01
    n_max: ArrayLike | None = None
    price_unit: float = HOUR
    setup: float = 0.005

    def __post_init__(self) -> None:
        """Check the fields."""
        try:
            alpha = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError):
            alpha = np.array(np.nan)
        if not np.all((alpha > 0) & (alpha < 1)):
            raise WorkloadError(f"alpha is {self.alpha!r}; give discount rates between 0 and 1")
        if not np.all(1 - alpha < 1):
            raise WorkloadError(
                f"alpha is {self.alpha!r}, which 1 - alpha does not tell from 0; give discount"
                " rates from 1.2e-16 on"
            )
        if not 0 < self.price_unit < np.inf:
            raise WorkloadError(f"price_unit is {self.price_unit!r}; give a positive number")
        if not 0 <= self.setup < np.inf:
            raise WorkloadError(f"setup is {self.setup!r}; give seconds from 0 on")

    def values(self, times: ArrayLike) -> Floats:
        """Return the base price of each peer, V_i^b of Eq. (6) [G$]."""
        return self.price_unit / np.asarray(times, dtype=np.float64)

    def market(self, times: ArrayLike, m: int) -> BundleMarket:
        """Return the market of `m` tasks for peers with estimated completion times [s].

        Raises
        ------
        InfeasibleError
            The tasks cannot be placed: m > n N_max.
        """
        caps = m if self.n_max is None else self.n_max
        return BundleMarket(self.values(times), m, caps, 1 - np.asarray(self.alpha))


def largest_share(m: int, n_peers: int, factor: float) -> int:
    """Return N_max as a multiple, lambda, of the mean number of tasks of a peer.

    The paper rounds the mean down, which leaves tasks over at lambda 1 unless n divides m; here it
    is rounded up.

    Parameters
    ----------
    m, n_peers : int
        How many tasks and peers there are.
    factor : float
        Lambda, from 1 on.
    """
    if not 1 <= factor < np.inf:
        raise WorkloadError(f"lambda is {factor!r}; give a number from 1 on")
    return int(np.floor(factor * -(-m // n_peers)))
