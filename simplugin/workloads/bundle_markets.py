"""Values of the tasks of a bundle on each computing peer, and demands at a price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.elementary import exp, expm1, log
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.workloads.parameter_ranges import numbers

Floats = NDArray[np.float64]
Amounts = NDArray[np.int64]
# A task with a value equal to the price within this relative rounding error is accepted.
TOLERANCE = 1e-12
# A share within this relative distance of a whole number is one, at most the second in tasks.
WHOLE_SHARE, MOST_OFF = 1e-12, 1e-6
# The logarithm that all prices above 0 exceed: that of 0 is -inf.
LOWEST = -float(np.finfo(np.float64).max)
# From here on floats do not distinguish numbers of tasks, and integers cannot add up caps.
_MOST, _MOST_TOGETHER = 2**53, 2.0**63


@dataclass(eq=False, init=False)
class BundleMarket:
    """Tasks of one bundle, and peers to which they are worth ever less, or no more.

    The k-th task on peer i is worth V_i q_i^(k-1), Eqs. (6) and (10) of [1]_; or any number that is
    given for it, none above the one before. Of tasks that are worth 0 all are alike, and take a
    price of 0. A peer that is absent has a cap of 0. Arrays are copied, and cannot be written to.

    Parameters
    ----------
    values : array_like, shape (n_peers,) or (n_peers, n_tasks)
        Value of its first task to each peer, V_i^b; or of its first, second and further tasks, as
        many as it takes at most or more; from 0 on [price].
    m : int
        Number of tasks there are, fewer than 2^53.
    caps : array_like, shape (n_peers,)
        Most tasks that each peer takes, N_max; one number for all will do.
    q : array_like, shape (n_peers,), optional
        1 - alpha with the discount rate alpha of each peer, one number for all will do; None with
        the values of all tasks.

    Attributes
    ----------
    values : float64, shape (n_peers,)
        Value of its first task to each peer [price].
    m : int
        As above.
    caps : int64, shape (n_peers,)
        As above, none more than m.
    table : float64, shape (n_peers, n_tasks), optional
        The values of all tasks, if they were given [price].

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
    table: Floats | None
    _q: Floats | None

    def __init__(
        self, values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike | None = None
    ) -> None:
        """Check and broadcast the arguments."""
        worth = np.array(numbers("values", values))
        if worth.ndim not in (1, 2) or not worth.size:
            raise WorkloadError("there is no computing peer; give the value of a task on each")
        if not np.all(np.isfinite(worth) & (worth >= 0)):
            raise WorkloadError(f"a value is {_first(worth, worth >= 0)}; give numbers from 0 on")
        rule = "a whole number of tasks from 1 on, below 2^53"
        self.m = int(decided("m is", m, rule, whole=True, least=1, most=_MOST - 1))
        self.caps = _limits(caps, self.m, len(worth))
        self.table = None if worth.ndim == 1 else _table(worth, self.caps)
        self.values = worth if self.table is None else np.array(worth[:, 0])
        self._q = _kept(q, len(worth), worth.ndim)
        if float(worth.max()) > np.finfo(np.float64).max / max(self.m, len(worth)):
            raise WorkloadError(
                f"a value is {float(worth.max())!r}, too large to be added up over {self.m} tasks"
                f" and {len(worth)} peers; give values in a larger unit of price"
            )
        for array in (self.values, self.caps, self.table, self._q):
            if array is not None:
                array.flags.writeable = False
        total = int(self.caps.sum())
        if total < self.m:
            same = np.all(self.caps == self.caps[0])
            each = f"at most {self.caps[0]} each, " if same else ""
            raise InfeasibleError(
                f"{self.m} tasks cannot be placed: {len(worth)} peers take {each}{total} together"
                f" (m > n N_max); raise N_max to {-(-self.m // len(worth))} or more"
            )

    @property
    def n_peers(self) -> int:
        """Number of computing peers."""
        return len(self.values)

    @property
    def arguments(self) -> tuple[Floats, int, Amounts, Floats | None]:
        """Values, m, caps and q, as a policy takes them; those of all tasks and None for a table.

        A policy makes a market of them again.
        """
        given = self.values if self.table is None else self.table
        return given, self.m, self.caps, self._q

    @property
    def known(self) -> tuple[list[Any], list[int], list[Any]]:
        """Private data of each peer: its value or those of its tasks, its cap, and q or None."""
        values = self.values.tolist() if self.table is None else list(self.table)
        q = [None] * self.n_peers if self._q is None else self._q.tolist()
        return values, self.caps.tolist(), q

    def among(
        self,
        peers: NDArray[np.bool_] | None = None,
        m: int | None = None,
        caps: ArrayLike | None = None,
        factors: ArrayLike = 1.0,
    ) -> BundleMarket:
        """Return the market of some of the peers, with other tasks, caps or values.

        Parameters
        ----------
        peers : bool, shape (n_peers,), optional
            True for those; all without.
        m : int, optional
            Number of tasks; that of this market without.
        caps : array_like, shape (n_peers,), optional
            None above that of this market, which hold without.
        factors : array_like, shape (n_peers,)
            What values are multiplied by.
        """
        chosen = np.ones(self.n_peers, dtype=bool) if peers is None else peers
        limits = np.broadcast_to(self.caps if caps is None else np.asarray(caps), self.caps.shape)
        by = np.broadcast_to(np.asarray(factors, dtype=np.float64), self.caps.shape)
        values = (self.arguments[0].T * by).T[chosen]
        q = None if self._q is None else self._q[chosen]
        return BundleMarket(values, self.m if m is None else m, limits[chosen], q)

    @property
    def q(self) -> Floats:
        """1 - alpha of each peer; shape (n_peers,).

        Raises
        ------
        WorkloadError
            The values of all tasks were given.
        """
        if self._q is None:
            raise WorkloadError(
                "this needs discount rates, and each task has a value of its own; give rates"
                " (alpha) in place of the discounts of each task"
            )
        return self._q

    @cached_property
    def log_value(self) -> Floats:
        """Logarithms of `values`; shape (n_peers,)."""
        return log(self.values)

    @cached_property
    def log_q(self) -> Floats:
        """Logarithms of `q`, below 0; shape (n_peers,)."""
        return log(self.q)

    @cached_property
    def _log_table(self) -> Floats | None:
        """Logarithms of `table`, so that equal values stay equal."""
        return None if self.table is None else log(self.table)

    @cached_property
    def valuable(self) -> Amounts:
        """Number of tasks worth more than 0 to each peer; shape (n_peers,)."""
        return self.above(LOWEST)

    def log_worth(self, number: ArrayLike, peers: ArrayLike | None = None) -> Floats:
        """Return the logarithm of each peer's value of a task, numbered from 1.

        All comparisons of values are of these, since values themselves may underflow.

        Parameters
        ----------
        number : array_like
            One for all, or one a peer.
        peers : array_like, optional
            Which; all without. They may come several times.
        """
        which = np.asarray(number)
        chosen = slice(None) if peers is None else np.asarray(peers)
        if self._log_table is None:
            return self.log_value[chosen] + (which - 1) * self.log_q[chosen]
        last = self._log_table.shape[1]
        rows = np.arange(self.n_peers)[chosen]
        found = self._log_table[rows, np.clip(which, 1, last) - 1]
        return np.where(which <= last, found, -np.inf)

    def worth(self, number: ArrayLike) -> Floats:
        """Return each peer's value of a task, numbered from 1, Eq. (10)."""
        return exp(self.log_worth(number))

    def sums(self, amounts: ArrayLike, after: ArrayLike = 0) -> Floats:
        """Return the total value of all tasks of each peer, V_i^k of Eq. (7).

        Parameters
        ----------
        amounts : array_like, shape (n_peers,)
            Tasks of each; of a part of a table's task, that part of its value.
        after : array_like, shape (n_peers,)
            Whole numbers of first tasks that do not count.
        """
        given = np.asarray(amounts, dtype=np.float64)
        first = np.asarray(after)
        if self.table is None:
            value = self.values * exp(first * self.log_q)
            sums: Floats = value * expm1((given - first) * self.log_q) / expm1(self.log_q)
            return sums
        shape = (self.n_peers,)
        spans = np.broadcast_to(first, shape).tolist(), np.broadcast_to(given, shape).tolist()
        return np.array(
            [
                # Slices, as differences of whole sums would lose digits.
                row[start : int(end)].sum() + (end % 1 and end % 1 * row[int(end)])
                for row, start, end in zip(self.table, *spans, strict=True)
            ]
        )

    def log_means(self, after: Amounts, counts: Amounts | Floats) -> Floats:
        """Return the logarithm of the mean worth of some tasks in a row; of none, the next's.

        Parameters
        ----------
        after : int64, shape (n_peers,)
            Number of first tasks that do not count.
        counts : int64, shape (n_peers,)
            Number of tasks that do.
        """
        means = self.log_worth(after + 1)
        some = counts > 0
        if self._log_table is None:
            many, rate = counts[some], self.log_q[some]
            means[some] += log(expm1(many * rate) / expm1(rate) / many)
        else:
            for peer in np.flatnonzero(some).tolist():
                start = int(after[peer])
                means[peer] = log_mean(self._log_table[peer, start : start + int(counts[peer])])
        return means

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
        if self._log_table is not None:
            low, high = np.zeros_like(self.caps), self.caps.copy()
            while (open_ := np.flatnonzero(low < high)).size:
                middle = (low[open_] + high[open_]) // 2
                bought = self._log_table[open_, middle] >= log_price
                low[open_] = np.where(bought, middle + 1, low[open_])
                high[open_] = np.where(bought, high[open_], middle)
            return low
        with np.errstate(over="ignore"):
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
        rule = f"{self.n_peers} whole numbers"
        given: Amounts = decided("the amounts are", amounts, rule, self.values.shape, whole=True)
        wrong = (given < 0) | (given > self.caps)
        if np.any(wrong):
            at = int(np.argmax(wrong))
            raise WorkloadError(
                f"peer {at} gets {given[at]} tasks; give it from 0 to {self.caps[at]}"
            )
        if int(given.sum()) != self.m:
            raise WorkloadError(f"{int(given.sum())} tasks are placed; place all {self.m}")
        return given


def rows_of(values: Sequence[Floats]) -> Floats:
    """Return values of the tasks of each peer as a table, in which missing ones are 0."""
    table = np.zeros((len(values), max(1, *map(len, values))))
    for row, own in zip(table, values, strict=True):
        row[: len(own)] = own
    return table


def in_order(count: int, room: Amounts) -> Amounts:
    """Return how many of `count` tasks peers get if the lowest take as many as they may."""
    dealt: Amounts = np.clip(count - (np.cumsum(room) - room), 0, room)
    return dealt


def log_mean(logarithms: Floats) -> float:
    """Return the logarithm of a mean, which is never above all of them; NaN of none."""
    if not len(logarithms):
        return float(np.nan)
    top = float(logarithms.max())
    if top == -np.inf:
        return top
    return top + log(np.sum(exp(logarithms - top)) / len(logarithms))


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


def _limits(caps: ArrayLike, m: int, n_peers: int) -> Amounts:
    """Return how many tasks each peer takes at most, none more than there are."""
    wanted = numbers("caps", caps)
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


def _table(worth: Floats, caps: Amounts) -> Floats:
    """Return values of all tasks that peers may take; raise WorkloadError where some rise."""
    most = int(caps.max())
    if most > worth.shape[1]:
        raise WorkloadError(
            f"values are given of {worth.shape[1]} tasks a peer, and peer {int(caps.argmax())}"
            f" takes up to {most}; give as many, or caps of {worth.shape[1]} at most"
        )
    if np.any(rising := worth[:, 1:] > worth[:, :-1]):
        peer, place = np.argwhere(rising)[0].tolist()
        raise WorkloadError(
            f"values of peer {peer} rise from {worth[peer, place]:g} for task {place + 1} to"
            f" {worth[peer, place + 1]:g} for the next; give none above the one before"
        )
    return np.array(worth[:, : max(most, 1)])


def _kept(q: ArrayLike | None, n_peers: int, dimensions: int) -> Floats | None:
    """Return q of each peer; None if values of all tasks are given."""
    if (q is None) != (dimensions == 2):
        raise WorkloadError(
            "q is missing; give 1 - alpha, or values of all tasks, a row for each peer"
            if q is None
            else "q has no effect with values of all tasks; leave it out"
        )
    if q is None:
        return None
    kept: Floats = np.array(_broadcast("q", numbers("q", q), n_peers))
    if not np.all((kept > 0) & (kept < 1)):
        raise WorkloadError(
            f"q is {_first(kept, (kept > 0) & (kept < 1))}; give 1 - alpha, between 0 and 1"
        )
    return kept


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
