"""What an assignment of a bundle's tasks is worth, to whom, and how long it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.errors import WorkloadError
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats


@dataclass(frozen=True, eq=False)
class Outcome:
    """An assignment, its price and its times.

    Attributes
    ----------
    market : BundleMarket
        What was traded.
    amounts : int64, shape (n_peers,)
        Tasks of each peer, A.
    price : float
        What peers pay for each task, p* [price].
    times : float64, shape (n_peers,)
        How long each peer takes for all its tasks, T_i [s]: estimated or measured.
    payments : float64, shape (n_peers,), optional
        What each peer pays for all its tasks; the price for each of them without [price].

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

    @classmethod
    def estimated(
        cls,
        market: BundleMarket,
        amounts: Amounts,
        price: float,
        times: Floats,
        payments: Floats | None = None,
    ) -> Outcome:
        """Return the outcome if tasks take their estimated times one after the other.

        Parameters
        ----------
        market, amounts, price, payments
            As the attributes.
        times : float64, shape (n_peers,)
            Estimated completion time of one task on each peer, t_i [s].
        """
        return cls(market, amounts, price, np.asarray(amounts) * times, payments)

    @property
    def benefit(self) -> float:
        """Global benefit U^G, Eq. (3) [price]."""
        return self.market.benefit(self.amounts)

    @property
    def revenue(self) -> float:
        """Of the local scheduler, U^L, Eq. (1) [price]."""
        return self.price * self.market.m if self.payments is None else float(self.payments.sum())

    @property
    def paid(self) -> Floats:
        """What each peer pays for all its tasks [price]; shape (n_peers,)."""
        if self.payments is not None:
            return self.payments
        return self.amounts.astype(np.float64) * self.price

    @property
    def profits(self) -> Floats:
        """Of each peer, U_i^C, Eq. (2) [price]; shape (n_peers,)."""
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
        raise WorkloadError("nobody takes any time, so that fairness has no value")
    shares = values / largest
    return float(shares.sum() ** 2 / (len(shares) * np.sum(shares**2)))


def heterogeneity(computation: ArrayLike, communication: ArrayLike) -> float:
    """Return the heterogeneity degree H_D of peers, Eq. (13).

    It adds standard deviations (of all peers, not of a sample) of quantities with different units,
    so that its value depends on those.

    Parameters
    ----------
    computation, communication : array_like, shape (n_peers,)
        Capacities Cp and Cm in the units wanted.
    """
    return 0.5 * float(np.std(np.asarray(computation)) + np.std(np.asarray(communication)))


def checked_payments(payments: ArrayLike, amounts: Amounts) -> Floats:
    """Return payments if there is one for each peer, and none but for tasks.

    Raises
    ------
    WorkloadError
        They are no such numbers.
    """
    given = np.asarray(payments, dtype=np.float64)
    if given.shape != amounts.shape or not np.all(np.isfinite(given)):
        raise WorkloadError(f"payments are {payments!r}; give {len(amounts)} numbers, one a peer")
    if np.any(given[amounts == 0] != 0):
        peer = int(np.flatnonzero((amounts == 0) & (given != 0))[0])
        raise WorkloadError(f"peer {peer} pays {given[peer]:g} for no task; let it pay nothing")
    return given
