"""What a peer knows: what tasks are worth to itself."""

from __future__ import annotations

import math

from simplugin.elementary import log
from simplugin.workloads.bundle_markets import TOLERANCE


class OwnTasks:
    """Tasks of one peer, each worth less than the one before; logarithms, as these never underflow.

    Parameters
    ----------
    value : float
        What the first task is worth, V_i [price].
    cap : int
        How many tasks it takes at most.
    q : float
        How much less each further task is worth.

    Attributes
    ----------
    log_q : float
        Logarithm of q.
    cap : int
        As above, and no more than there are once it has heard that.
    """

    def __init__(self, value: float, cap: int, q: float) -> None:
        self._log_value, self.log_q = float(log(value)), float(log(q))
        self.cap = int(cap)

    def limit(self, m: float) -> int:
        """Never take more tasks than there are; return how many at most."""
        self.cap = min(self.cap, int(m))
        return self.cap

    def log_worth(self, number: int) -> float:
        """Return what the task of a number, from 1 on, is worth, Eq. (10)."""
        return self._log_value + (number - 1) * self.log_q

    def bought(self, log_price: float) -> int:
        """Return how many tasks it buys at a price, Eqs. (12-1) and (12-2)."""
        return self.above(log_price - TOLERANCE)

    def above(self, log_price: float) -> int:
        """Return how many tasks are worth at least a price, to the last bit."""
        if math.isinf(log_price):
            return self.cap if log_price < 0 else 0
        many = 1 + (log_price - self._log_value) / self.log_q
        count = int(min(max(many, 0.0), float(self.cap)))
        # The quotient may be rounded to the wrong side of a whole number.
        while count < self.cap and self.log_worth(count + 1) >= log_price:
            count += 1
        while count > 0 and self.log_worth(count) < log_price:
            count -= 1
        return count

    def log_mean(self, first: int, count: int) -> float:
        """Return the mean of what some tasks in a row are worth, Eq. (7); of none, the first's."""
        top = self.log_worth(first)
        if not count:
            return top
        return top + math.log(math.expm1(count * self.log_q) / math.expm1(self.log_q) / count)
