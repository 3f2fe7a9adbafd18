"""How long a peer remembers what it has sold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from simplugin.elementary import exp
from simplugin.errors import WorkloadError

Counters = Literal["reset", "kept"] | float


@dataclass
class DiscountCounter:
    """Number of tasks that count as sold already for a peer's discount, a_i.

    The next task is worth V_i q_i^a_i to it.

    Attributes
    ----------
    lifetime : float
        Time constant with which it forgets [s]: 0 at once, inf never.
    amount, since : float
        Tasks that counted at the date of the last sale, and that date [s].
    """

    lifetime: float
    amount: float = 0.0
    since: float = 0.0

    def sold(self, now: float) -> float:
        """Return how many tasks still count at a date [s]."""
        if self.lifetime == 0:
            return 0.0
        return self.amount * exp((self.since - now) / self.lifetime)

    def sell(self, now: float, amount: int) -> None:
        """Count tasks that are sold at a date [s]."""
        self.amount, self.since = self.sold(now) + amount, now


def lifetime(counters: Counters) -> float:
    """Return the time constant of discount counters [s].

    Parameters
    ----------
    counters : {"reset", "kept"} or float
        Each bundle starts anew; what was sold counts for ever; or a time constant [s].

    Raises
    ------
    WorkloadError
        It is none of these.
    """
    if isinstance(counters, str):
        if counters in ("reset", "kept"):
            return 0.0 if counters == "reset" else math.inf
    elif not isinstance(counters, bool) and counters > 0:
        return float(counters)
    raise WorkloadError(
        f"counters is {counters!r}; give 'reset', 'kept' or a time constant above 0 s"
    )
