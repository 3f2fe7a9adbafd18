"""Knowledge of local schedulers and peers at the start, and records of peers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from simplugin.core.elementary import exp, log
from simplugin.core.errors import WorkloadError
from simplugin.market.actors.messages import Announcement, Capacity
from simplugin.market.model import discounted, task_time
from simplugin.market.policies.dispatch import DISPATCHERS
from simplugin.market.policies.negotiation import negotiation_seed, party_generator
from simplugin.workloads.bundle_markets import Floats
from simplugin.workloads.parameter_ranges import one_of

Counters = Literal["reset", "kept"] | float


@dataclass
class DiscountCounter:
    """Number of sold tasks that count for a peer's discount, a_i.

    The value of its next task is V_i q_i^a_i.

    Attributes
    ----------
    lifetime : float
        Time constant of its decay [s]; 0 to reset with each bundle, inf to keep.
    amount, since : float
        Value of the counter at the date of the last sale, and that date [s].
    """

    lifetime: float
    amount: float = 0.0
    since: float = 0.0

    def sold(self, now: float) -> float:
        """Return the value of the counter at a date [s]."""
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
        Reset for each bundle; keep; or decay with a time constant [s].

    Raises
    ------
    WorkloadError
        The value is invalid.
    """
    if isinstance(counters, str):
        if counters in ("reset", "kept"):
            return 0.0 if counters == "reset" else math.inf
    elif not isinstance(counters, bool) and counters > 0:
        return float(counters)
    raise WorkloadError(
        f"counters is {counters!r}; give 'reset', 'kept' or a time constant above 0 s"
    )


@dataclass(frozen=True, kw_only=True)
class ServiceRules:
    """The service of bundles by sites and peers.

    Attributes
    ----------
    overlap : bool
        True if a peer fetches its next task while it computes one.
    counters : {"reset", "kept"} or float
        Effect of tasks sold in earlier bundles on the values in the next, V_i q^a_i: none, for
        ever, or decaying with a time constant [s].
    dispatch : str
        Rule by which the global scheduler of a grid chooses sites, a name of `DISPATCHERS`.
    patience : float, optional
        Where hosts of peers and links may fail: time without a message after which a peer counts
        as absent [s], longer than a task takes there. An absent peer takes no task, and the others
        start the negotiation again. Once they have done their tasks, those left undone are sold to
        all peers that answer then, including peers that have returned or joined. Peers pay for the
        tasks that they have done, at the price of their sale. None if nothing fails.

    Raises
    ------
    WorkloadError
        A value is out of its range, or patience is combined with overlap.
    """

    overlap: bool = False
    counters: Counters = "reset"
    dispatch: str = "first_idle"
    patience: float | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        lifetime(self.counters)
        one_of("dispatch", self.dispatch, DISPATCHERS)
        if self.patience is not None and not 0 < self.patience < math.inf:
            raise WorkloadError(f"patience is {self.patience!r}; give a time above 0 s")
        if self.patience is not None and self.overlap:
            raise WorkloadError(
                "patience is given with overlap, where no host may fail; remove one"
            )


@dataclass(frozen=True, slots=True)
class SchedulerStation:
    """Initial knowledge of a local scheduler, without the capacities of its peers.

    Attributes
    ----------
    host : str
        Its host.
    peers : tuple of str
        Hosts of its peers.
    site, seed : int
        Number of its site, and seed of the execution; both seed its random numbers.
    reports : bool
        True if it sends estimates and ends of bundles to a global scheduler on another host.
    patience : float, optional
        Time without a message after which a peer counts as absent [s]; None if peers do not fail.
    """

    host: str
    peers: tuple[str, ...]
    site: int
    seed: int
    reports: bool
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class PeerStation:
    """Initial knowledge of a peer about itself.

    Attributes
    ----------
    host : str
        Its host.
    capacity : Capacity
        Its believed capacities, and its terms.
    rules : ServiceRules
        The service of bundles.
    site, seed : int
        Number of its site, and seed of the execution; both seed its random numbers.
    reports : bool
        True if it reports its capacity to the local scheduler of a grid's site.
    number : int
        Its number at its site, which seeds its random numbers.
    """

    host: str
    capacity: Capacity
    rules: ServiceRules
    site: int
    seed: int
    reports: bool
    number: int

    def generator(self, announced: Announcement) -> np.random.Generator:
        """Return its random numbers for a bundle."""
        return party_generator(
            negotiation_seed(self.seed, announced.number, self.site), peer=self.number
        )


@dataclass
class PeerRecords:
    """Records of a peer.

    Attributes
    ----------
    counter : DiscountCounter
        Counter of its sold tasks.
    times : dict of int to float
        Expected time of a task, by the number of the bundle [s].
    values : dict of int to float or float64, shape (n_tasks,)
        Value of a first task to it, or of all under `Capacity.discounts`; discounts of earlier
        bundles included, when it was first announced [price].
    done : dict of int to int
        Number of completed tasks, by the number of the bundle, where hosts may fail.
    """

    counter: DiscountCounter
    times: dict[int, float] = field(default_factory=dict)
    values: dict[int, float | Floats] = field(default_factory=dict)
    done: dict[int, int] = field(default_factory=dict)

    def cap(self, station: PeerStation, announced: Announcement) -> int:
        """Return the maximum number of further tasks of the bundle."""
        done = self.done.get(announced.number, 0)
        return int(min(station.capacity.n_max - done, announced.m))

    def note(self, number: int, now: float) -> None:
        """Record that a task of a bundle is completed, and sold, at a date [s]."""
        self.counter.sell(now, 1)
        self.done[number] = self.done.get(number, 0) + 1

    def value(self, station: PeerStation, announced: Announcement, now: float) -> float | Floats:
        """Record and return the value of a first task at a date, or of all tasks."""
        own, number = station.capacity, announced.number
        time = task_time(announced.flop, announced.byte, own.speed, own.bandwidth, own.setup)
        # Tasks of this bundle count whatever the lifetime of discounts.
        sold = max(self.counter.sold(now), float(self.done.get(number, 0)))
        value: float | Floats = own.price_unit / time
        if own.discounts:
            value = discounted(value, own.discounts, sold, self.cap(station, announced))
        elif sold:
            # A power of q alone would be 0 long before this.
            value = exp(log(own.price_unit / time) + sold * log(own.q))
        if not own.discounts and not value > 0:
            raise WorkloadError(
                f"peer {station.host!r} has sold {sold:.6g} tasks at alpha {1 - own.q:.6g}, so"
                f" that another is worth less to it than {math.ulp(0.0):g}, the least number there"
                " is; let discount counters be reset, or decay, or give a smaller alpha or a larger"
                " price_unit"
            )
        self.times.setdefault(number, time)
        self.values.setdefault(number, value)
        return value
