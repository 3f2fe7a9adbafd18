"""How long a peer remembers what it has sold."""

from __future__ import annotations

import math
from typing import Literal

from simplugin.elementary import exp
from simplugin.errors import WorkloadError

Counters = Literal["reset", "kept"] | float


class DiscountCounter:
    """How many tasks a peer's discount counts as sold already, a_i.

    The next task is worth V_i q_i^a_i to it.

    Parameters
    ----------
    lifetime : float
        Time constant with which it forgets [s]: 0 at once, inf never.
    """

    def __init__(self, lifetime: float) -> None:
        self._lifetime = lifetime
        self._sold, self._since = 0.0, 0.0

    def sold(self, now: float) -> float:
        """Return how many tasks still count at a date [s]."""
        if self._lifetime == 0:
            return 0.0
        return self._sold * float(exp((self._since - now) / self._lifetime))

    def sell(self, now: float, amount: int) -> None:
        """Count tasks that are sold at a date [s]."""
        self._sold, self._since = self.sold(now) + amount, now


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
