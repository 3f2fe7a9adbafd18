"""Markets for bundles: estimated times, terms, and the outcome of an assignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.platforms.peers import PeerSite
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats
from simplugin.workloads.bundles import Bundle

HOUR = 3600.0
# Default discount rate.
COMMON_RATE = 0.01
# Above the number of tasks of any bundle.
_NO_LIMIT = 2**53

Numbers = TypeVar("Numbers", float, Floats)


def task_time(
    flop: float, byte: float, speed: Numbers, bandwidth: Numbers, setup: Numbers
) -> Numbers:
    """Return the estimated completion time of one task, Eq. (4) of [1]_.

    Parameters
    ----------
    flop, byte : float
        Computation and communication size of the task, S_cp [flop] and S_cm [byte].
    speed, bandwidth : float or float64, shape (n_peers,)
        Capacities of a peer or of each, Cp [flop/s] and Cm [byte/s].
    setup : float or float64, shape (n_peers,)
        Time of each task before its data are sent, t^setup [s].

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
        Time of each task before its data are sent, t^setup [s].

    Returns
    -------
    float64, shape (n_peers,)
        ECT [s].
    """
    setups = np.full(site.n_peers, setup, dtype=np.float64)
    return task_time(bundle.flop, bundle.byte, site.speed, site.bandwidth, setups)


@dataclass(frozen=True, eq=False)
class MarketTerms:
    """Terms of a market, which determine its prices together with the times of tasks.

    Arrays are copied and read-only.

    Attributes
    ----------
    alpha : float or array_like, shape (n_peers,)
        Discount rate of all peers, or of each.
    n_max : int or array_like, shape (n_peers,), optional
        Maximum number of tasks of all peers, or of each; None or inf for no limit. Stored as None
        if all are unlimited, else as int or int64.
    price_unit : float
        Price of a task that takes one second [G$ s]; the paper's figures need 3600: G$ for a
        task an hour.
    setup : float
        Time of each task before its data are sent, t^setup [s].
    discounts : array_like, shape (n_factors,), optional
        Instead of alpha: values of a peer's first, second and further tasks, relative to the
        first, from 0 to 1 and not rising; the last one holds for all further tasks.

    Raises
    ------
    WorkloadError
        A number is out of its range.
    """

    alpha: ArrayLike = COMMON_RATE
    n_max: ArrayLike | None = None
    price_unit: float = HOUR
    setup: float = 0.005
    discounts: ArrayLike | None = None

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
        if self.discounts is not None:
            object.__setattr__(self, "discounts", self._factors())
        if self.n_max is not None:
            object.__setattr__(self, "n_max", self._limits())

    def _factors(self) -> Floats:
        """Return the discounts."""
        if np.any(self.alpha != np.float64(COMMON_RATE)):
            raise WorkloadError("alpha cannot be combined with discounts; give one of the two")
        factors: Floats = _numbers(self.discounts)
        within = (factors >= 0) & (factors <= 1)
        if factors.ndim != 1 or not factors.size or not np.all(within):
            raise WorkloadError(f"discounts are {self.discounts!r}; give factors from 0 to 1")
        if np.any(rising := factors[1:] > factors[:-1]):
            place = int(np.argmax(rising))
            raise WorkloadError(
                f"discounts rise from {factors[place]:g} for task {place + 1} to"
                f" {factors[place + 1]:g} for the next; give none above the one before"
            )
        kept: Floats = _kept(factors)
        return kept

    def _limits(self) -> int | Amounts | None:
        """Return the maximum number of tasks of a peer; None for no limit."""
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
        values = self.values(times)
        if self.discounts is None:
            return BundleMarket(values, m, caps, 1 - np.asarray(self.alpha))
        # Only as many as can be sold, so that infeasible markets do not allocate memory.
        most = int(min(m, np.max(caps)))
        return BundleMarket(discounted(values[:, None], self.discounts, 0.0, most), m, caps)


def discounted(value: ArrayLike, factors: ArrayLike, sold: float, count: int) -> Floats:
    """Return the values of tasks to a peer that has sold some before.

    Parameters
    ----------
    value : float or float64, shape (n_peers, 1)
        Value of a first task [price].
    factors : array_like, shape (n_factors,)
        As `MarketTerms.discounts`, interpolated between two of them.
    sold : float
        Number of tasks sold before that still count.
    count : int
        Number of tasks; 0 is taken as 1.

    Returns
    -------
    float64, shape (count,) or (n_peers, count)
        Values of the tasks, not rising [price].
    """
    known = np.asarray(factors, dtype=np.float64)
    places = sold + np.arange(max(count, 1))
    parts = np.minimum.accumulate(np.interp(places, np.arange(len(known)), known))
    return np.asarray(value) * parts


def _numbers(given: ArrayLike | None) -> Floats:
    """Return numbers; NaN if the value is not numeric."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def _kept(values: NDArray[Any]) -> Any:
    """Return a single number as a scalar, several as a read-only array."""
    if not values.ndim:
        return values.item()
    values.flags.writeable = False
    return values


@dataclass(frozen=True, eq=False)
class PricedAssignment:
    """An assignment, its price and its times.

    Attributes
    ----------
    market : BundleMarket
        The market.
    amounts : int64, shape (n_peers,)
        Tasks of each peer, A.
    price : float
        Price of each task, p* [price].
    times : float64, shape (n_peers,)
        Time of each peer for all its tasks, T_i [s]: estimated or measured.
    payments : float64, shape (n_peers,), optional
        Payment of each peer for all its tasks; None for the price of each [price].

    Raises
    ------
    WorkloadError
        The amounts do not place all tasks under the caps, or the shapes differ.
    """

    market: BundleMarket
    amounts: Amounts
    price: float
    times: Floats
    payments: Floats | None = None

    def __post_init__(self) -> None:
        """Check the amounts."""
        object.__setattr__(self, "amounts", self.market.check(self.amounts))
        times = np.asarray(self.times, dtype=np.float64)
        if times.shape != self.amounts.shape or not np.all(times >= 0):
            raise WorkloadError(f"times are {self.times!r}; give one a peer, from 0 on")
        object.__setattr__(self, "times", times)
        if self.payments is not None:
            object.__setattr__(self, "payments", checked_payments(self.payments, self.amounts))

    @property
    def benefit(self) -> float:
        """Global benefit U^G, Eq. (3) [price]."""
        return self.market.benefit(self.amounts)

    @property
    def revenue(self) -> float:
        """Revenue of the local scheduler, U^L, Eq. (1) [price]."""
        return self.price * self.market.m if self.payments is None else float(self.payments.sum())

    @property
    def paid(self) -> Floats:
        """Payment of each peer for all its tasks [price]; shape (n_peers,)."""
        if self.payments is not None:
            return self.payments
        return self.amounts.astype(np.float64) * self.price

    @property
    def profits(self) -> Floats:
        """Profit of each peer, U_i^C, Eq. (2) [price]; shape (n_peers,)."""
        return self.market.sums(self.amounts) - self.paid

    @property
    def completion(self) -> float:
        """Completion time: the longest time of a peer [s]."""
        return float(self.times.max())

    @property
    def total(self) -> float:
        """Total time: the sum of the times of all peers [s]."""
        return float(self.times.sum())

    @property
    def fairness(self) -> float:
        """Workload fairness FI, Eq. (14), peers without tasks included."""
        return jain_index(self.times)


def jain_index(times: ArrayLike) -> float:
    """Return Jain's index of times, Eq. (14): 1 if all are equal, 1/n if one has all [1]_.

    References
    ----------
    .. [1] R. Jain, D. Chiu, W. Hawe (1984). A quantitative measure of fairness and discrimination
       for resource allocation in shared computer systems. DEC research report TR-301.
    """
    values = np.asarray(times, dtype=np.float64)
    largest = values.max(initial=0.0)
    if not largest > 0:
        raise WorkloadError("all times are 0, so that fairness is undefined; give times above 0")
    shares = values / largest
    return float(shares.sum() ** 2 / (len(shares) * np.sum(shares**2)))


def heterogeneity(computation: ArrayLike, communication: ArrayLike) -> float:
    """Return the heterogeneity degree H_D of peers, Eq. (13).

    It is the mean of two standard deviations (of all peers, not of a sample) in different units,
    on which it depends.

    Parameters
    ----------
    computation, communication : array_like, shape (n_peers,)
        Capacities Cp and Cm in the units of the result.
    """
    return 0.5 * float(np.std(np.asarray(computation)) + np.std(np.asarray(communication)))


def checked_payments(payments: ArrayLike, amounts: Amounts) -> Floats:
    """Return payments, one for each peer, which are 0 for peers without tasks.

    Raises
    ------
    WorkloadError
        The payments are invalid.
    """
    rule = f"{len(amounts)} finite numbers, one for each peer"
    given: Floats = decided("the payments are", payments, rule, amounts.shape)
    if np.any(given[amounts == 0] != 0):
        peer = int(np.flatnonzero((amounts == 0) & (given != 0))[0])
        raise WorkloadError(f"peer {peer} pays {given[peer]:g} for no task; let it pay nothing")
    return given


@dataclass(eq=False)
class DealRecord:
    """A bundle as recorded by its local scheduler.

    Attributes
    ----------
    bundle, site : int
        Numbers of the bundle and of the site that served it.
    called, agreed, finished : float
        Dates at which the local scheduler began to negotiate, had the agreement, and received the
        end of the last task [s].
    amounts : int64, shape (n_peers,)
        Tasks of each peer, A.
    price : float
        Price of each task, p*; the mean where each peer has a payment of its own [price].
    peer_finish : array_like, shape (n_peers,)
        Date at which the local scheduler received the end of each peer's last task; `agreed` for
        peers without tasks [s].
    rounds, messages : int
        Calls of the negotiation, and its messages by both sides, without the announcement and the
        award to each peer.
    bytes : float
        Size of these messages [byte].
    payments : float64, shape (n_peers,), optional
        Payment of each peer for all its tasks; None for the price of each [price].
    """

    bundle: int
    site: int
    called: float
    agreed: float
    finished: float
    amounts: Amounts
    price: float
    peer_finish: Any
    rounds: int = 0
    messages: int = 0
    bytes: float = 0.0
    payments: Floats | None = None


@dataclass(eq=False, kw_only=True)
class Deal(DealRecord):
    """A bundle with its sale and its execution.

    Attributes
    ----------
    market : BundleMarket
        The market of the site: values at the date of the sale, caps and discounts.
    times : float64, shape (n_peers,)
        Estimated time of one task on each peer, t_i [s].
    submitted : float
        Date of its submission by the user [s].
    """

    market: BundleMarket
    times: Floats
    submitted: float

    def outcome(self) -> PricedAssignment:
        """Return the outcome, with the times that peers took since the agreement."""
        return self._priced(self.peer_finish - self.agreed)

    def estimated(self) -> PricedAssignment:
        """Return the outcome under the times that peers expected."""
        return self._priced(self.amounts * self.times)

    def _priced(self, times: Floats) -> PricedAssignment:
        """Return the outcome under times of peers for all their tasks."""
        return PricedAssignment(self.market, self.amounts, self.price, times, self.payments)

    @property
    def negotiation(self) -> float:
        """Time until the agreement [s]."""
        return self.agreed - self.called

    @property
    def response(self) -> float:
        """Time from the submission to the end of the last task [s]."""
        return self.finished - self.submitted
