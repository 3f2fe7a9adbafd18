"""Estimated completion times, and the market that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.errors import WorkloadError
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

if TYPE_CHECKING:
    from simplugin.platforms.peers import PeerSite
    from simplugin.workloads.bundles import Bundle

HOUR = 3600.0
# More tasks than any bundle has.
_NO_LIMIT = 2**53

Numbers = TypeVar("Numbers", float, Floats)


def task_time(
    flop: float, byte: float, speed: Numbers, bandwidth: Numbers, setup: Numbers
) -> Numbers:
    """Return the estimated completion time of one task, Eq. (4) of [1]_.

    Parameters
    ----------
    flop, byte : float
        Its computation and communication size, S_cp [flop] and S_cm [byte].
    speed, bandwidth : float or float64, shape (n_peers,)
        Capacities of a peer or of each, Cp [flop/s] and Cm [byte/s].
    setup : float or float64, shape (n_peers,)
        What any task takes before its data are sent, t^setup [s].

    Returns
    -------
    float or float64, shape (n_peers,)
        ECT [s].

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    return setup + byte / bandwidth + flop / speed


def completion_times(site: PeerSite, bundle: Bundle, setup: float = 0.005) -> Floats:
    """Return the estimated completion time of one task on each peer, as `task_time`.

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
    """
    setups = np.full(site.n_peers, setup, dtype=np.float64)
    return task_time(bundle.flop, bundle.byte, site.speed, site.bandwidth, setups)


@dataclass(frozen=True, eq=False)
class Terms:
    """What a market's prices follow from besides the times that tasks take.

    Arrays are copied, and cannot be written to.

    Attributes
    ----------
    alpha : float or array_like, shape (n_peers,)
        Discount rate of all peers, or of each.
    n_max : int or array_like, shape (n_peers,), optional
        How many tasks all peers, or each, get at most; as many as there are without, or where it
        is inf. Kept as None if it limits nobody, else as int or int64.
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
        alpha = _numbers(self.alpha)
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
        object.__setattr__(self, "alpha", _kept(alpha))
        if self.n_max is not None:
            object.__setattr__(self, "n_max", self._limits())

    def _limits(self) -> int | Amounts | None:
        """Return what a peer gets at most, None for no limit."""
        wanted = _numbers(self.n_max)
        if not np.all((wanted >= 0) & (wanted == np.floor(wanted))):
            raise WorkloadError(
                f"n_max is {self.n_max!r}; give whole numbers of tasks from 0 on, or None or inf"
                " for no limit"
            )
        if wanted.size and np.all(wanted == np.inf):
            return None
        limits: int | Amounts = _kept(np.minimum(wanted, _NO_LIMIT).astype(np.int64))
        return limits

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


def _numbers(given: ArrayLike | None) -> Floats:
    """Return numbers; NaN for what is none."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def _kept(values: NDArray[Any]) -> Any:
    """Return one number as such, and several so that nobody can write to them."""
    if not values.ndim:
        return values.item()
    values.flags.writeable = False
    return values
