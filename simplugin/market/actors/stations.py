"""Knowledge of local schedulers and peers at the start, and records of peers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.elementary import exp, log
from simplugin.errors import WorkloadError
from simplugin.market.actors.messages import Announcement, Capacity
from simplugin.market.model import discounted, task_time
from simplugin.market.policies.negotiation import negotiation_seed, own_generator
from simplugin.workloads.bundle_markets import Floats

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


@dataclass(frozen=True, slots=True)
class SchedulerStation:
    """Knowledge of a local scheduler at the start: nothing of its peers' capacities.

    Attributes
    ----------
    host : str
        Where it is.
    peers : tuple of str
        Hosts of its peers.
    site, seed : int
        Its site's number and the execution's seed, for what it draws.
    reports : bool
        True if a global scheduler on another host asks it how long bundles would take, and gets
        their ends.
    patience : float, optional
        How long it waits for a peer before it takes it for absent [s]; None if peers do not fail.
    """

    host: str
    peers: tuple[str, ...]
    site: int
    seed: int
    reports: bool
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class PeerStation:
    """Knowledge of a peer at the start: nothing of others.

    Attributes
    ----------
    host : str
        Where it computes.
    speed, bandwidth : float
        Its capacities as it believes them, Cp [flop/s] and Cm [byte/s].
    q : float
        1 - alpha with its discount rate.
    n_max : int, optional
        Maximum number of tasks of a bundle.
    price_unit : float
        Price of a task that takes one second [price s].
    setup : float
        Time of each task before its data are sent, t^setup [s].
    lifetime : float
        Lifetime of its discounts [s].
    overlap : bool
        True if it fetches the next task while it computes one.
    number, site, seed : int
        Its number at its site, the site's, and the execution's seed, for what it draws.
    reports : bool
        True if it reports its capacities to the local scheduler of a grid's site.
    discounts : tuple of float
        As `simplugin.market.model.Terms.discounts`, instead of q; empty for q.
    patience : float, optional
        How long it waits for the local scheduler [s]; None if nothing fails.
    """

    host: str
    speed: float
    bandwidth: float
    q: float
    n_max: int | None
    price_unit: float
    setup: float
    lifetime: float
    overlap: bool
    number: int
    site: int
    seed: int
    reports: bool = False
    discounts: tuple[float, ...] = ()
    patience: float | None = None

    @property
    def capacity(self) -> Capacity:
        """The report to its local scheduler."""
        most = math.inf if self.n_max is None else float(self.n_max)
        prices = (self.setup, self.price_unit, self.q)
        return Capacity(self.speed, self.bandwidth, *prices, most, self.discounts)

    def completion_time(self, announced: Announcement) -> float:
        """Return how long it expects a task to take, Eq. (4) [s]."""
        return task_time(announced.flop, announced.byte, self.speed, self.bandwidth, self.setup)

    def generator(self, announced: Announcement) -> np.random.Generator:
        """Return its random numbers for a bundle."""
        return own_generator(
            negotiation_seed(self.seed, announced.number, self.site), peer=self.number
        )


@dataclass
class Ledger:
    """Records of a peer.

    Attributes
    ----------
    counter : DiscountCounter
        Tasks that it has sold.
    times : dict of int to float
        By the number of the bundle, what it expected a task to take [s].
    values : dict of int to float or float64, shape (n_tasks,)
        Value of a first task to it, or of all under `PeerStation.discounts`; discounts of earlier
        bundles included, when it was first announced [price].
    done : dict of int to int
        By the number of the bundle, the tasks that it has done where hosts may fail.
    """

    counter: DiscountCounter
    times: dict[int, float] = field(default_factory=dict)
    values: dict[int, float | Floats] = field(default_factory=dict)
    done: dict[int, int] = field(default_factory=dict)

    def cap(self, station: PeerStation, announced: Announcement) -> int:
        """Return how many tasks it takes at most, after what it has done of the bundle."""
        most = math.inf if station.n_max is None else station.n_max
        return int(min(most - self.done.get(announced.number, 0), announced.m))

    def note(self, number: int, now: float) -> None:
        """Note that a task of a bundle is done, and sold, at a date [s]."""
        self.counter.sell(now, 1)
        self.done[number] = self.done.get(number, 0) + 1

    def value(self, station: PeerStation, announced: Announcement, now: float) -> float | Floats:
        """Return, and write down, what a first task is worth at a date, or each."""
        time = station.completion_time(announced)
        done = self.done.get(announced.number, 0)
        # Tasks of this bundle count whatever the lifetime of discounts.
        value, sold = station.price_unit / time, max(self.counter.sold(now), float(done))
        if station.discounts:
            worth = discounted(value, station.discounts, sold, self.cap(station, announced))
            self.times.setdefault(announced.number, time)
            self.values.setdefault(announced.number, worth)
            return worth
        if sold:
            # A power of q alone would be 0 long before this.
            value = exp(log(value) + sold * log(station.q))
        if not value > 0:
            raise WorkloadError(
                f"peer {station.host!r} has sold {sold:.6g} tasks at alpha {1 - station.q:.6g}, so"
                f" that another is worth less to it than {math.ulp(0.0):g}, the least number there"
                " is; let discount counters be reset, or decay, or give a smaller alpha or a larger"
                " price_unit"
            )
        self.times.setdefault(announced.number, time)
        self.values.setdefault(announced.number, value)
        return value


@dataclass
class DealRecord:
    """A bundle as its local scheduler saw it.

    Attributes
    ----------
    number, site : int
        Of the bundle and of the site.
    called, agreed, finished : float
        When the negotiation began, when it had ended, and when the last task's end was known [s].
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Price of each task [price].
    payments : float64, shape (n_peers,), optional
        Payment of each peer for all its tasks; None for the price of each [price].
    peer_finish : list of float, shape (n_peers,)
        When the end of each peer's last task was known; `agreed` where it has none [s].
    rounds, messages : int
        Of the negotiation: calls, and messages of both sides.
    bytes : float
        Their size [byte].
    """

    number: int
    site: int
    called: float
    agreed: float
    finished: float
    amounts: NDArray[np.int64]
    price: float
    peer_finish: list[float]
    rounds: int = 0
    messages: int = 0
    bytes: float = 0.0
    payments: NDArray[np.float64] | None = None
