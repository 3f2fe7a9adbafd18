"""Values of the tasks of a bundle on each computing peer, and demands at a price."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.elementary import exp, expm1, log
from simplugin.errors import InfeasibleError, WorkloadError

Floats = NDArray[np.float64]
Amounts = NDArray[np.int64]
# A task whose value is the price but for rounding is taken; relative.
TOLERANCE = 1e-12
# A share within this relative distance of a whole number is one, at most the second in tasks.
WHOLE_SHARE, MOST_OFF = 1e-12, 1e-6
# From here on floats do not distinguish numbers of tasks, and integers cannot add up caps.
_MOST, _MOST_TOGETHER = 2**53, 2.0**63


@dataclass(frozen=True, eq=False)
class BundleMarket:
    """Tasks of one bundle, and peers to which they are worth ever less.

    The k-th task on peer i is worth V_i q_i^(k-1), Eqs. (6) and (10) of [1]_. Arrays are copied,
    and cannot be written to.

    Attributes
    ----------
    values : float64, shape (n_peers,)
        Value of its first task to each peer, V_i^b [price].
    m : int
        Number of tasks there are, fewer than 2^53.
    caps : int64, shape (n_peers,)
        Most tasks that each peer takes, N_max; one number for all will do.
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
        worth = np.array(_numbers("values", values))
        if worth.ndim != 1 or not worth.size:
            raise WorkloadError("there is no computing peer; give the value of a task on each")
        if not np.all(np.isfinite(worth) & (worth > 0)):
            raise WorkloadError(f"a value is {_first(worth, worth > 0)}; give positive numbers")
        count = _count(m)
        limits = _limits(caps, count, len(worth))
        kept = np.array(_broadcast("q", _numbers("q", q), len(worth)))
        if not np.all((kept > 0) & (kept < 1)):
            raise WorkloadError(
                f"q is {_first(kept, (kept > 0) & (kept < 1))}; give 1 - alpha, between 0 and 1"
            )
        if float(worth.max()) > np.finfo(np.float64).max / max(count, len(worth)):
            raise WorkloadError(
                f"a value is {float(worth.max())!r}, too large to be added up over {count} tasks"
                f" and {len(worth)} peers; give values in a larger unit of price"
            )
        object.__setattr__(self, "m", count)
        for name, array in (("values", worth), ("caps", limits), ("q", kept)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        total = int(limits.sum())
        if total < count:
            same = np.all(limits == limits[0])
            each = f"at most {limits[0]} each, " if same else ""
            raise InfeasibleError(
                f"{count} tasks cannot be placed: {len(worth)} peers take {each}{total} together"
                f" (m > n N_max); raise N_max to {-(-count // len(worth))} or more"
            )

    @property
    def n_peers(self) -> int:
        """Number of computing peers."""
        return len(self.values)

    @property
    def arguments(self) -> tuple[Floats, int, Amounts, Floats]:
        """Values, m, caps and q, as a policy takes them."""
        return self.values, self.m, self.caps, self.q

    @cached_property
    def log_value(self) -> Floats:
        """Logarithms of `values`; shape (n_peers,)."""
        return log(self.values)

    @cached_property
    def log_q(self) -> Floats:
        """Logarithms of `q`, below 0; shape (n_peers,)."""
        return log(self.q)

    def log_worth(self, number: ArrayLike) -> Floats:
        """Return the logarithm of what the task of a number, from 1 on, is worth to each peer.

        All comparisons of values are of these, since values themselves may underflow.
        """
        return self.log_value + (np.asarray(number) - 1) * self.log_q

    def worth(self, number: ArrayLike) -> Floats:
        """Return what the task of a number, from 1 on, is worth to each peer, Eq. (10)."""
        return exp(self.log_worth(number))

    def sums(self, amounts: ArrayLike) -> Floats:
        """Return what all tasks of each peer are worth together, V_i^k of Eq. (7)."""
        given = np.asarray(amounts, dtype=np.float64)
        return self.values * expm1(given * self.log_q) / expm1(self.log_q)

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
        return self.response_to_log(log(price) if price > 0 else -np.inf)

    def response_to_log(self, log_price: float) -> Amounts:
        """Return the same for the logarithm of a price."""
        return self.above(log_price - TOLERANCE)

    def above(self, log_price: float) -> Amounts:
        """Return how many tasks are worth at least a price to each peer, to the last bit."""
        if log_price == -np.inf:
            return self.caps.copy()
        many = np.floor(1 + (log_price - self.log_value) / self.log_q)
        amounts = np.clip(many, 0, self.caps).astype(np.int64)
        # The quotient may be rounded to the wrong side of a whole number; of several, where a
        # logarithm does not distinguish such small discounts.
        while (more := (amounts < self.caps) & (self.log_worth(amounts + 1) >= log_price)).any():
            amounts += more
        while (fewer := (amounts > 0) & (self.log_worth(amounts) < log_price)).any():
            amounts -= fewer
        return amounts

    def check(self, amounts: ArrayLike) -> Amounts:
        """Return the amounts if they place all tasks under the caps.

        Raises
        ------
        WorkloadError
            They do not; the message says where.
        """
        given = np.asarray(amounts)
        if (
            given.dtype.kind not in "iuf"
            or given.shape != self.values.shape
            or np.any(given != np.floor(given))
        ):
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


def largest_share(m: int, n_peers: int, factor: float) -> int:
    """Return N_max as a multiple, lambda, of the mean number of tasks of a peer.

    The paper rounds the mean down, which leaves tasks over at lambda 1 unless n divides m; here it
    is rounded up.

    Parameters
    ----------
    m, n_peers : int
        Numbers of tasks and peers.
    factor : float
        Lambda, from 1 on.
    """
    if not 1 <= factor < np.inf:
        raise WorkloadError(f"lambda is {factor!r}; give a number from 1 on")
    share = factor * -(-m // n_peers)
    return int(np.floor(share + min(WHOLE_SHARE * share, MOST_OFF)))


def _numbers(name: str, given: ArrayLike) -> Floats:
    """Return numbers, or refuse what is none."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise WorkloadError(f"{name} are {given!r}; give numbers") from None


def _count(m: object) -> int:
    """Return how many tasks there are, or refuse what is no such number."""
    number = m if isinstance(m, (int, float, np.integer, np.floating)) else 0
    if isinstance(m, bool) or not 1 <= number < _MOST or int(number) != number:
        raise WorkloadError(f"m is {m!r}; give a whole number of tasks from 1 on, below 2^53")
    return int(number)


def _limits(caps: ArrayLike, m: int, n_peers: int) -> Amounts:
    """Return how many tasks each peer takes at most, none more than there are."""
    wanted = _numbers("caps", caps)
    if not np.all((wanted >= 0) & ((wanted == np.floor(wanted)) | (wanted > m))):
        raise WorkloadError(f"caps are {caps!r}; give whole numbers of tasks from 0 on")
    limits = _broadcast("caps", np.minimum(wanted, m), n_peers).astype(np.int64)
    if float(limits.sum(dtype=np.float64)) >= _MOST_TOGETHER:
        raise WorkloadError(
            f"{n_peers} peers take up to {float(limits.sum(dtype=np.float64)):.3g} tasks together;"
            f" give caps, N_max, of fewer than 2^63 together; {-(-2 * m // n_peers)} each are"
            f" twice as many as {m} tasks need"
        )
    return limits


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
