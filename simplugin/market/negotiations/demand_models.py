"""What a local scheduler guesses of peers' demand from their answers."""

from __future__ import annotations

import numpy as np

from simplugin.workloads.bundle_markets import Amounts, Floats

# Worths of a peer may be equal but for that, as a logarithm; a ratio is below 1 by that or more.
_SLIGHT = 1e-16


class DemandModel:
    """Worth of each peer's tasks, taken to fall by the same ratio from one to the next.

    Guesses choose prices, nothing else: what is agreed upon does not depend on them.

    Parameters
    ----------
    numbers : int64, shape (n_peers,)
        A task of each peer.
    worth : float64, shape (n_peers,)
        Logarithm of what it is worth.
    caps : int64, shape (n_peers,)
        How many tasks each takes at most.
    """

    def __init__(self, numbers: Amounts, worth: Floats, caps: Amounts) -> None:
        self._numbers, self._caps = numbers, caps
        self._worth = np.where(numbers > 0, worth, 0.0)
        # Between these each worth falls from one task to the next, as a logarithm.
        self._least, self._most = np.zeros(len(caps)), np.full(len(caps), np.inf)

    def heard(self, log_price: float, counts: Amounts) -> None:
        """Learn from how many tasks are worth at least a price."""
        further = counts - self._numbers
        gap = self._worth - log_price
        with np.errstate(divide="ignore", invalid="ignore"):
            last, next_ = gap / further, gap / (further + 1)
        # The last task taken is worth the price, the next one is not.
        taken, left = counts > 0, counts < self._caps
        above, below = taken & (further > 0), taken & (further < 0)
        self._most[above] = np.minimum(self._most, last)[above]
        self._least[below] = np.maximum(self._least, last)[below]
        above, below = left & (further >= 0), left & (further < -1)
        self._least[above] = np.maximum(self._least, next_)[above]
        self._most[below] = np.minimum(self._most, next_)[below]

    def falls(self) -> Floats:
        """Return by how much the logarithms of each peer's worths fall; NaN if nothing tells.

        If one number is possible for all, that is taken.
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
        """Return the prices at which peers want as many tasks together as each of some numbers.

        Parameters
        ----------
        totals : tuple of float
            Numbers of tasks.
        low, high : float
            Logarithms of prices between which these must be; either may be infinite.

        Returns
        -------
        float64, shape (n_totals,)
            Their logarithms; NaN if nothing tells.
        """
        falls = self.falls()
        if np.any(np.isnan(falls)):
            return np.full(len(totals), np.nan)
        # Demand is linear but for its bends, where a peer begins to buy and where it stops.
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
