"""Negotiations that find the clearing price from demands: bisection, medians and secants."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp
from simplugin.market.policies.negotiation import (
    Agreement,
    AnsweringPeer,
    BundleNegotiation,
    Call,
    Message,
    Scheduler,
    following,
)
from simplugin.workloads.bundle_markets import LOWEST, Amounts, BundleMarket, Floats, in_order


@dataclass(frozen=True, eq=False)
class Bracket:
    """Two prices between which a bundle clears; both are logarithms.

    Attributes
    ----------
    m : int
        The number of tasks.
    low, high : float
        Peers together want at least m tasks at `low`, and fewer at `high`.
    most, least : int64, shape (n_peers,)
        Demand of each peer at `low` and at `high`.
    """

    m: int
    low: float
    high: float
    most: Amounts
    least: Amounts

    @classmethod
    def everything(cls, m: int, caps: Amounts) -> Bracket:
        """Return the bracket of all prices."""
        return cls(m, -np.inf, np.inf, caps, np.zeros_like(caps))

    @property
    def doubtful(self) -> Amounts:
        """Number of tasks of each peer that may be sold or not; shape (n_peers,)."""
        return self.most - self.least

    @property
    def doubt(self) -> int:
        """Number of tasks that may be sold or not."""
        return int(self.doubtful.sum())

    def decided(self, few: int) -> bool:
        """Return True if one more round suffices: few tasks are in doubt, or all are equal."""
        return self.doubt <= few or self._clears or self._alike

    @property
    def _clears(self) -> bool:
        """True if peers want m tasks at the lower price, so that all doubtful ones are sold."""
        return int(self.most.sum()) == self.m

    @property
    def _alike(self) -> bool:
        """True if no number is between the prices: all doubtful tasks are worth the lower one."""
        return bool(self.high <= np.nextafter(self.low, np.inf))

    def heard(self, log_price: float, counts: Amounts) -> Bracket:
        """Return the bracket updated by the demand at a price."""
        total = int(counts.sum())
        if total >= self.m and log_price > self.low:
            return replace(self, low=log_price, most=counts)
        if total < self.m and log_price < self.high:
            return replace(self, high=log_price, least=counts)
        return self

    def settle(self) -> Generator[Call, list[Message], Agreement]:
        """Sell the best of the doubtful tasks in one round, or none if all are equal.

        The price is the value of the last task sold, the highest that clears the market. Peers
        report the values of their doubtful tasks, or only the last value if all of these are sold.
        Of equal tasks those of the lowest peer are sold first.
        """
        if self._alike:
            amounts = self.least + in_order(self.m - int(self.least.sum()), self.doubtful)
            return Agreement(amounts, exp(self.low))
        question: Message = ("worths", self.low, self.high)
        doubtful = self.doubtful
        if self._clears:
            question, doubtful = ("lowest", self.low), np.minimum(doubtful, 1)
        sure = self.most - doubtful
        peers = np.repeat(np.arange(len(sure)), doubtful)
        replies = yield Call(tuple(np.flatnonzero(doubtful).tolist()), question)
        worth = np.concatenate([reply[1:] for reply in replies])
        best = np.argsort(-worth, kind="stable")[: self.m - int(sure.sum())]
        amounts = sure + np.bincount(peers[best], minlength=len(sure))
        return Agreement(amounts, exp(float(worth[best[-1]])))


def ask_all(n_peers: int, message: Message) -> Generator[Call, list[Message], Floats]:
    """Ask all peers; return their numbers, shape (numbers of each, n_peers)."""
    replies = yield Call(tuple(range(n_peers)), message)
    return np.array([reply[1:] for reply in replies], dtype=np.float64).T


def counts_of(numbers: Floats) -> Amounts:
    """Return numbers of tasks as whole ones."""
    return numbers.astype(np.int64)


def opening(
    n_peers: int, m: int, question: Message
) -> Generator[Call, list[Message], tuple[Amounts, Floats]]:
    """Query the caps of all peers for m tasks.

    Returns
    -------
    caps : int64, shape (n_peers,)
        First number of each answer.
    numbers : float64, shape (further numbers of each, n_peers)
        Further numbers.

    Raises
    ------
    InfeasibleError
        The caps leave tasks over.
    """
    numbers = yield from ask_all(n_peers, question)
    caps = counts_of(numbers[0])
    BundleMarket(np.ones(n_peers), m, caps, 0.5)  # raises if the caps leave tasks over
    return caps, numbers[1:]


def weighted_median(values: Floats, weights: NDArray[np.int64]) -> float:
    """Return the weighted median: values of half the weight are at least it, and half at most.

    Parameters
    ----------
    values : float64, shape (n,)
        Values.
    weights : int64, shape (n,)
        Weights from 0 on, not all 0.
    """
    order = np.argsort(-values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(2 * reached, reached[-1])])


# Smallest decrease from one value of a peer to the next, as a logarithm.
_SLIGHT = 1e-16


class DemandModel:
    """Model of each peer's values, which fall by a constant ratio from one task to the next.

    The model only proposes prices: the agreement does not depend on it.

    Parameters
    ----------
    numbers : int64, shape (n_peers,)
        Number of one task of each peer.
    worth : float64, shape (n_peers,)
        Logarithm of the value of that task.
    caps : int64, shape (n_peers,)
        Maximum number of tasks of each peer.
    """

    def __init__(self, numbers: Amounts, worth: Floats, caps: Amounts) -> None:
        # Peers to which that task is worthless are not modelled.
        modelled = np.isfinite(worth)
        self._numbers, self._caps = np.where(modelled, (numbers, caps), 0)
        self._worth = np.where((numbers > 0) & modelled, worth, 0.0)
        # Bounds of the decrease from one value to the next, as a logarithm.
        self._least, self._most = np.zeros(len(caps)), np.full(len(caps), np.inf)

    def heard(self, log_price: float, counts: Amounts) -> None:
        """Update the model by the number of tasks with at least the value of a price."""
        if log_price <= LOWEST:
            return
        counts = np.minimum(counts, self._caps)
        further = counts - self._numbers
        gap = self._worth - log_price
        with np.errstate(divide="ignore", invalid="ignore"):
            last, next_ = gap / further, gap / (further + 1)
        # The last task taken has at least the value of the price, the next one less.
        taken, left = counts > 0, counts < self._caps
        above, below = taken & (further > 0), taken & (further < 0)
        self._most[above] = np.minimum(self._most, last)[above]
        self._least[below] = np.maximum(self._least, last)[below]
        above, below = left & (further >= 0), left & (further < -1)
        self._least[above] = np.maximum(self._least, next_)[above]
        self._most[below] = np.minimum(self._most, next_)[below]

    def falls(self) -> Floats:
        """Return the decrease of the logarithms of each peer's values; NaN if unknown.

        A single value is used if it is possible for all peers.
        """
        low, high = float(self._least.max()), float(self._most.min())
        least, most = self._least, self._most
        if low < high and np.isfinite(high):
            least, most = np.full_like(least, low), np.full_like(most, high)
        middle = np.where(np.isfinite(most), 0.5 * (least + most), 2 * least)
        middle = np.where(middle > 0, middle, np.nan)
        known = np.isfinite(middle)
        if np.any(known):
            others = np.clip(np.median(middle[known]), least, most)
            middle = np.where(known, middle, others)
        return np.maximum(middle, _SLIGHT)

    def prices(self, totals: tuple[float, ...], low: float, high: float) -> Floats:
        """Return the prices at which the total demand is each of some numbers.

        Parameters
        ----------
        totals : tuple of float
            Numbers of tasks.
        low, high : float
            Logarithms of the bounds of the prices; either may be infinite.

        Returns
        -------
        float64, shape (n_totals,)
            Logarithms of the prices; NaN if unknown.
        """
        falls = self.falls()
        if np.any(np.isnan(falls)):
            return np.full(len(totals), np.nan)
        # Demand is piecewise linear; it bends where a peer begins or stops to buy.
        begin = self._worth + (self._numbers - 0.5) * falls
        prices = np.concatenate([begin, begin - self._caps * falls])
        order = np.argsort(-prices, kind="stable")
        bends = prices[order]
        rates = np.cumsum(np.concatenate([1 / falls, -1 / falls])[order])
        wanted = np.concatenate([[0.0], np.cumsum(rates[:-1] * (bends[:-1] - bends[1:]))])
        # Rounding must not let it fall again.
        wanted = np.maximum.accumulate(wanted)
        found: Floats = np.interp(np.asarray(totals), wanted, bends)
        return np.clip(found, low, high)


# Mean number of doubtful tasks of each peer that the last round settles.
SETTLED = 2
# Below this logarithm of a price, tasks may be worthless.
DEEP = -(2.0**20)


def bisection(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    """Announce prices until few tasks are in doubt, then query their values.

    The first price is 1. Steps of 1, 2, 4 and so on of its logarithm find two prices between which
    the bundle clears; these are bisected until no more than two tasks a peer are in doubt. If the
    steps reach exp(-2^20), peers report once the number of tasks of any value. Peers report values
    only of tasks that are in doubt at the end. The result is optimal, ties included.
    `simplugin.papers.zheng.negotiations.bisection_rounds` is the maximum number of rounds.

    Parameters
    ----------
    n_peers, m : int
        Numbers of peers and of tasks.
    generator : Generator
        Not drawn from.
    """
    caps, _ = yield from opening(n_peers, m, ("open", m))
    bracket = Bracket.everything(m, caps)
    price, step = 0.0, 1.0
    while not bracket.decided(SETTLED * n_peers):
        (counts,) = yield from ask_all(n_peers, ("price", price))
        bracket = bracket.heard(price, counts_of(counts))
        if bracket.high == math.inf:
            price, step = bracket.low + step, 2 * step
        elif bracket.low > LOWEST:
            price = 0.5 * (bracket.low + bracket.high)
        elif bracket.low < LOWEST and bracket.high - step < DEEP:
            price = LOWEST
        else:
            price, step = bracket.high - step, 2 * step
    return (yield from bracket.settle())


BISECTION = BundleNegotiation("bisection", bisection, AnsweringPeer)


def median(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    r"""Announce weighted medians of the values of peers' middle tasks.

    Each peer answers with its demand at a price and above it, and with the values of its middle
    doubtful tasks on both sides, so that one round replaces two. Half the doubtful tasks belong to
    peers whose middle value is at least the median, and half of these have at least that value;
    likewise a quarter has at most that value. A round thus settles a quarter of the doubtful tasks,
    or is the last. The number of rounds depends on the number of tasks only, not on values or
    discount rates. It is selection of the m-th largest from sorted lists [1]_. See
    `simplugin.papers.zheng.negotiations.median_rounds`.

    Parameters
    ----------
    n_peers, m : int
        Numbers of peers and of tasks.
    generator : Generator
        Not drawn from.

    References
    ----------
    .. [1] G. N. Frederickson, D. B. Johnson (1982). The complexity of selection and ranking in
       X + Y and matrices with sorted columns. J. Computer and System Sciences 24.
    """
    caps, _ = yield from opening(n_peers, m, ("open", m))
    return (yield from settle_by_medians(Bracket.everything(m, caps), SETTLED * n_peers))


def settle_by_medians(bracket: Bracket, few: int) -> Scheduler:
    """Announce medians until few tasks are in doubt, then sell the best of these."""
    n_peers = len(bracket.most)
    if not bracket.decided(few):
        (middles,) = yield from ask_all(n_peers, ("middle", bracket.low, bracket.high))
    while not bracket.decided(few):
        pivot = weighted_median(middles, bracket.doubtful)
        asked = ("split", bracket.low, pivot, bracket.high)
        counts, more, above, below = yield from ask_all(n_peers, asked)
        bracket = bracket.heard(pivot, counts_of(counts))
        bracket = bracket.heard(following(pivot), counts_of(more))
        middles = above if more.sum() >= bracket.m else below
    return (yield from bracket.settle())


MEDIAN = BundleNegotiation("median", median, AnsweringPeer)


# Doubtful tasks beyond `SETTLED` a peer that the last round settles.
SPARE = 2
# Guesses that may be made before half the doubtful tasks are settled.
GUESSES = 2


def secant(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    r"""Announce two prices a round, between which the bundle should clear.

    Peers first quote the value of their last task in an equal split: at the lowest quote they want
    at least m tasks, above the highest fewer, and if all buy and have one discount rate the mean of
    the quotes clears the bundle to half a task a peer. The change of demand with the price then
    gives the decrease of each peer's values, and so the two prices at which half of n + 2 tasks
    more, and fewer, than m are wanted. Once two prices leave no more than 2 n + 2 tasks in doubt,
    one round settles them.

    These guesses may fail for peers whose values fall in another way. If two guesses do not halve
    the doubtful tasks, two rounds find and announce the weighted median of the middle ones, which
    settles a quarter of them, see `simplugin.papers.zheng.negotiations.secant_rounds`. The result
    is optimal, ties included.

    Parameters
    ----------
    n_peers, m : int
        Numbers of peers and of tasks.
    generator : Generator
        Not drawn from.
    """
    bracket, model, pair = yield from _opened(n_peers, m)
    few = SETTLED * n_peers + SPARE
    if not bracket.decided(few):
        bracket = yield from _announce(bracket, model, pair)
    while not bracket.decided(few):
        aim, guesses = bracket.doubt // 2, 0
        pair = _guessed(bracket, model)
        while guesses < GUESSES and bracket.doubt > aim and pair[0] < pair[1]:
            bracket = yield from _announce(bracket, model, pair)
            if bracket.decided(few):
                return (yield from bracket.settle())
            pair = _guessed(bracket, model)
            guesses += 1
        if bracket.doubt > aim:
            (middles,) = yield from ask_all(n_peers, ("middle", bracket.low, bracket.high))
            pivot = weighted_median(middles, bracket.doubtful)
            bracket = yield from _announce(bracket, model, (pivot, following(pivot)))
    return (yield from bracket.settle())


def _opened(
    n_peers: int, m: int
) -> Generator[Call, list[Message], tuple[Bracket, DemandModel, tuple[float, float]]]:
    """Query caps and the values of tasks in an equal split; return the first two prices."""
    share = -(-m // n_peers)
    caps, (worth,) = yield from opening(n_peers, m, ("quote", share, m))
    bracket = Bracket.everything(m, caps)
    if np.minimum(caps, share).sum() < m:
        # The least number of tasks of a peer such that all are placed under the caps.
        sizes = np.sort(caps)
        before = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        open_ = np.arange(len(caps), 0, -1)
        levels = -(-(m - before) // open_)
        share = int(levels[np.argmax(levels <= sizes)])
        _, worth = yield from ask_all(n_peers, ("quote", share, m))
    some = worth[(caps >= share) & (worth > -np.inf)]
    if not some.size:
        return bracket, DemandModel(np.minimum(caps, share), worth, caps), (-np.inf, LOWEST)
    low = float(np.clip(some.mean(), some.min(), some.max()))
    high = max(float(some[some >= low].mean()), following(low))
    return bracket, DemandModel(np.minimum(caps, share), worth, caps), (low, high)


def _announce(
    bracket: Bracket, model: DemandModel, pair: tuple[float, float]
) -> Generator[Call, list[Message], Bracket]:
    """Ask all peers how many tasks they want at two prices."""
    answers = yield from ask_all(len(bracket.most), ("prices", *pair))
    for price, counts in zip(pair, answers, strict=True):
        wanted = counts_of(counts)
        model.heard(price, wanted)
        bracket = bracket.heard(price, wanted)
    return bracket


def _guessed(bracket: Bracket, model: DemandModel) -> tuple[float, float]:
    """Return two prices between which about n tasks are in doubt; NaN if unknown."""
    margin = 0.5 * (SETTLED - 1) * len(bracket.most) + 0.5 * SPARE
    totals = (bracket.m + margin, bracket.m - margin)
    low, high = model.prices(totals, bracket.low, bracket.high).tolist()
    return low, high


SECANT = BundleNegotiation("secant", secant, AnsweringPeer)
