"""Retail and market prices in a pass of ISGBMAT: as printed, and in logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simplugin.elementary import exp, expm1, log, power
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats


class PassPrices(Protocol):
    """How a pass calculates what peers want and the price that they are told."""

    def wanted(self, price: float, assigned: Amounts) -> Floats:
        """Return how many tasks more each peer wants at a price, Eq. (12-1); any number."""

    def market_price(
        self, assigned: Amounts, latest: Amounts, counted: NDArray[np.bool_], idle: bool
    ) -> float:
        """Return the mean of the retail prices, Eqs. (7) and (8), over the peers that count.

        Parameters
        ----------
        assigned, latest : int64, shape (n_peers,)
            Tasks of former rounds, A, and of this one, F.
        counted : bool, shape (n_peers,)
            Which peers the mean is of.
        idle : bool
            Whether the price of a peer with F = 0 is its newV^b; else it is 0/0.
        """

    def plain(self, price: float) -> float:
        """Return a price as such."""


@dataclass(frozen=True, eq=False)
class PrintedPrices:
    """Formulas as they are printed.

    Attributes
    ----------
    values, q : float64, shape (n_peers,)
        Base prices and 1 - alpha.
    """

    values: Floats
    q: Floats

    def wanted(self, price: float, assigned: Amounts) -> Floats:
        """Return floor(1 + log_q(p* / newV^b)), Eq. (12-1)."""
        with np.errstate(all="ignore"):
            return np.floor(1 + log(price / self._base(assigned)) / log(self.q))

    def market_price(
        self, assigned: Amounts, latest: Amounts, counted: NDArray[np.bool_], idle: bool
    ) -> float:
        """Return the mean of newV^b (1 - q^F) / alpha / F, steps 19 and 21 of Fig. 2."""
        base = self._base(assigned)
        with np.errstate(all="ignore"):
            retail = base * (1 - power(self.q, latest)) / (1 - self.q) / latest
            if idle:
                retail = np.where(latest == 0, base, retail)
            return float(np.sum(retail[counted]) / np.sum(counted))

    def plain(self, price: float) -> float:
        """Return the price."""
        return price

    def _base(self, assigned: Amounts) -> Floats:
        """Return newV^b, step 14."""
        base: Floats = self.values * power(self.q, assigned)
        return base


@dataclass(frozen=True, eq=False)
class LogarithmicPrices:
    """The same in logarithms, which neither underflow nor leave the dearest peer out.

    The logarithm of a mean taken relative to the largest price never exceeds that price, so that
    the dearest peer always buys. A task counts as worth its price if it is but for 1e-12.

    Attributes
    ----------
    market : BundleMarket
        Values and 1 - alpha of the peers.
    """

    market: BundleMarket

    def wanted(self, price: float, assigned: Amounts) -> Floats:
        """Return the same count from ln p*; none of a number that is none."""
        if np.isnan(price):
            return np.full(self.market.n_peers, np.nan)
        return (self.market.response_to_log(price) - assigned).astype(np.float64)

    def market_price(
        self,
        assigned: Amounts,
        latest: Amounts,
        counted: NDArray[np.bool_],
        idle: bool,
    ) -> float:
        """Return the logarithm of the same mean."""
        rate = self.market.log_q
        retail = self.market.log_worth(assigned + 1)
        bought = latest > 0
        many = latest[bought]
        mean = expm1(many * rate[bought]) / expm1(rate[bought]) / many
        retail[bought] += log(mean)
        if not (idle or np.all(bought | ~counted)):
            return float(np.nan)
        retail = retail[counted]
        if not retail.size:
            return float(np.nan)
        top = retail.max()
        return float(top + log(np.sum(exp(retail - top)) / len(retail)))

    def plain(self, price: float) -> float:
        """Return the price itself."""
        return exp(price)
