"""What tasks of a bundle are worth on each computing peer, and how many peers want at a price."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.errors import InfeasibleError, WorkloadError

Floats = NDArray[np.float64]
Amounts = NDArray[np.int64]
# A task whose value is the price but for rounding is taken; relative.
TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class BundleMarket:
    """Tasks of one bundle, and peers to which they are worth ever less.

    The k-th task on peer i is worth V_i q_i^(k-1), Eqs. (6) and (10) of [1]_.

    Attributes
    ----------
    values : float64, shape (n_peers,)
        What its first task is worth to each peer, V_i^b [price].
    m : int
        How many tasks there are.
    caps : int64, shape (n_peers,)
        How many each peer takes at most, N_max; one number for all will do.
    q : float64, shape (n_peers,)
        1 - alpha with the discount rate alpha of each peer; one number for all will do.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over.

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """

    values: Floats
    m: int
    caps: Amounts
    q: Floats

    def __init__(self, values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike) -> None:
        """Check and broadcast the arguments."""
        worth = np.array(values, dtype=np.float64)
        if worth.ndim != 1 or not worth.size:
            raise WorkloadError("there is no computing peer; give the value of a task on each")
        if not np.all(np.isfinite(worth) & (worth > 0)):
            raise WorkloadError(f"a value is {_first(worth, worth > 0)}; give positive numbers")
        if isinstance(m, bool) or int(m) != m or m < 1:
            raise WorkloadError(f"m is {m!r}; give a whole number of tasks from 1 on")
        wanted = np.asarray(caps)
        limits = _broadcast("caps", np.minimum(wanted, m), len(worth)).astype(np.int64)
        if (
            np.any(wanted < 0)
            or np.any(np.isnan(wanted))
            or np.any(limits != np.minimum(wanted, m))
        ):
            raise WorkloadError(f"caps are {caps!r}; give whole numbers of tasks from 0 on")
        kept = np.array(_broadcast("q", np.asarray(q, dtype=np.float64), len(worth)))
        if not np.all((kept > 0) & (kept < 1)):
            raise WorkloadError(
                f"q is {_first(kept, (kept > 0) & (kept < 1))}; give 1 - alpha, between 0 and 1"
            )
        for name, value in (("values", worth), ("m", int(m)), ("caps", limits), ("q", kept)):
            object.__setattr__(self, name, value)
        total = int(limits.sum())
        if total < m:
            same = np.all(limits == limits[0])
            each = f"at most {limits[0]} each, " if same else ""
            raise InfeasibleError(
                f"{m} tasks cannot be placed: {len(worth)} peers take {each}{total} together"
                f" (m > n N_max); raise N_max to {-(-int(m) // len(worth))} or more"
            )

    @property
    def n_peers(self) -> int:
        """How many computing peers there are."""
        return len(self.values)

    @cached_property
    def log_value(self) -> Floats:
        """Logarithms of `values`; shape (n_peers,)."""
        return np.log(self.values)

    @cached_property
    def log_q(self) -> Floats:
        """Logarithms of `q`, below 0; shape (n_peers,)."""
        return np.log(self.q)

    def log_worth(self, number: ArrayLike) -> Floats:
        """Return the logarithm of what the task of a number, from 1 on, is worth to each peer.

        All comparisons of values are of these, since values themselves may underflow.
        """
        return self.log_value + (np.asarray(number) - 1) * self.log_q

    def worth(self, number: ArrayLike) -> Floats:
        """Return what the task of a number, from 1 on, is worth to each peer, Eq. (10)."""
        return np.exp(self.log_worth(number))

    def sums(self, amounts: ArrayLike) -> Floats:
        """Return what all tasks of each peer are worth together, V_i^k of Eq. (7)."""
        given = np.asarray(amounts, dtype=np.float64)
        return self.values * np.expm1(given * self.log_q) / np.expm1(self.log_q)

    def mean_prices(self, amounts: ArrayLike) -> Floats:
        """Return the mean deal price of each peer, v_i(k) of Eq. (7); the base price for none."""
        given = np.asarray(amounts, dtype=np.float64)
        means = self.sums(given) / np.maximum(given, 1)
        return np.where(given > 0, means, self.values)

    def benefit(self, amounts: ArrayLike) -> float:
        """Return the global benefit U^G, Eq. (3)."""
        return float(np.sum(self.sums(amounts)))

    def response(self, price: float) -> Amounts:
        """Return how many tasks each peer buys at a price, Eqs. (12-1) and (12-2)."""
        return self.response_to_log(float(np.log(price)) if price > 0 else -np.inf)

    def response_to_log(self, log_price: float) -> Amounts:
        """Return the same for the logarithm of a price."""
        return self.above(log_price - TOLERANCE)

    def above(self, log_price: float) -> Amounts:
        """Return how many tasks are worth at least a price to each peer, to the last bit."""
        if log_price == -np.inf:
            return self.caps.copy()
        many = np.floor(1 + (log_price - self.log_value) / self.log_q)
        amounts = np.clip(many, 0, self.caps).astype(np.int64)
        # The quotient may be rounded to the wrong side of a whole number.
        amounts += (amounts < self.caps) & (self.log_worth(amounts + 1) >= log_price)
        amounts -= (amounts > 0) & (self.log_worth(amounts) < log_price)
        return amounts

    def check(self, amounts: ArrayLike) -> Amounts:
        """Return the amounts if they place all tasks under the caps.

        Raises
        ------
        WorkloadError
            They do not; the message says where.
        """
        given = np.asarray(amounts)
        if given.shape != self.values.shape or np.any(given != np.floor(given)):
            raise WorkloadError(f"amounts are {amounts!r}; give {self.n_peers} whole numbers")
        wrong = (given < 0) | (given > self.caps)
        if np.any(wrong):
            at = int(np.argmax(wrong))
            raise WorkloadError(
                f"peer {at} gets {given[at]} tasks; give it from 0 to {self.caps[at]}"
            )
        if int(given.sum()) != self.m:
            raise WorkloadError(f"{int(given.sum())} tasks are placed; place all {self.m}")
        return given.astype(np.int64)


def _broadcast(name: str, values: NDArray[np.generic], count: int) -> NDArray[np.generic]:
    """Return one value a peer."""
    try:
        return np.broadcast_to(values, (count,))
    except ValueError:
        raise WorkloadError(
            f"{name} has shape {values.shape}; give one number, or one a peer: {count}"
        ) from None


def _first(values: Floats, right: NDArray[np.bool_]) -> str:
    """Return the first value that is not right, for messages."""
    wrong = values[~(right & np.isfinite(values))]
    return repr(float(wrong[0]))
