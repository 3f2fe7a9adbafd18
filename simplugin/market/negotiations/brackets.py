"""What a local scheduler knows of demand: two prices, and how many tasks each peer wants there."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simplugin.elementary import exp
from simplugin.market.negotiations.protocol import Agreement, Call, Message
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats


@dataclass(frozen=True, eq=False)
class Bracket:
    """Two prices between which a bundle clears; both are logarithms.

    Attributes
    ----------
    m : int
        How many tasks there are.
    low, high : float
        At `low` peers want m tasks together or more, at `high` fewer.
    most, least : int64, shape (n_peers,)
        How many each wants there.
    """

    m: int
    low: float
    high: float
    most: Amounts
    least: Amounts

    @classmethod
    def everything(cls, m: int, caps: Amounts) -> Bracket:
        """Return the bracket of all prices.

        Raises
        ------
        InfeasibleError
            The caps leave tasks over.
        """
        BundleMarket(np.ones(len(caps)), m, caps, 0.5)  # refuses what does not fit
        return cls(m, -np.inf, np.inf, caps, np.zeros_like(caps))

    @property
    def doubtful(self) -> Amounts:
        """How many tasks of each peer may be sold or not; shape (n_peers,)."""
        return self.most - self.least

    @property
    def doubt(self) -> int:
        """How many tasks may be sold or not."""
        return int(self.doubtful.sum())

    def decided(self, few: int) -> bool:
        """Return True if one more round settles it: few tasks are in doubt, or all are equal."""
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
        """Return the bracket after peers have said how many tasks they want at a price."""
        total = int(counts.sum())
        if total >= self.m and log_price > self.low:
            return replace(self, low=log_price, most=counts)
        if total < self.m and log_price < self.high:
            return replace(self, high=log_price, least=counts)
        return self

    def settle(self) -> Generator[Call, list[Message], Agreement]:
        """Sell the best of the doubtful tasks, at the price of the last of them; a round, or none.

        The price is what the last task sold is worth, the highest that clears the market. Peers
        are asked what each of their doubtful tasks is worth; if all of these are sold, only what
        the last one is worth. Of equal tasks those of the lowest peer are sold first.
        """
        question: Message = ("worths", self.low, self.high)
        doubtful = self.doubtful
        if self._clears:
            question, doubtful = ("lowest", self.low), np.minimum(doubtful, 1)
        sure = self.most - doubtful
        peers = np.repeat(np.arange(len(sure)), doubtful)
        worth = np.full(len(peers), self.low)
        if not self._alike:
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


def weighted_median(values: Floats, weights: NDArray[np.int64]) -> float:
    """Return a value that is at least, and at most, values of half the weight.

    Parameters
    ----------
    values : float64, shape (n,)
        Those without weight do not matter.
    weights : int64, shape (n,)
        From 0 on; not all 0.
    """
    order = np.argsort(-values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(2 * reached, reached[-1])])
