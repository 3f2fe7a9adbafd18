r"""The rates that a node of a tree keeps while applications are traded, and how they change.

With :math:`\alpha_u^{(k)}` the tasks of type k that node u computes and
:math:`sent_{u \to v}^{(k)}` those that it sends to its child v [tasks/s], a node knows its own row
of the former, its own rows of the latter, its speed, the bandwidths to its children and the types.
Section 5.5 of Beaumont et al. (2008), "Centralized versus distributed schedulers for bag-of-tasks
applications", IEEE TPDS 19(5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from simplugin.bags.nodes import WORKER, NodePlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.bags.nodes import Known

# In which order nodes are offered tasks; the paper leaves it open.
Order = Literal["fast", "breadth", "slow"]
ORDERS: tuple[Order, ...] = ("fast", "breadth", "slow")

# What is free of a CPU or a port below this share is rounding.
NOISE = 1e-9


class Offer(NamedTuple):
    """How much a subtree can take, by the nodes of it that come first.

    Attributes
    ----------
    rank : float
        Breadth first: how many levels below the subtree's root those nodes are. Else 0.
        inf if there are none.
    amount : float
        [tasks/s] of the type that lags, or [byte/s] of the leading type, see `tradable`.
    """

    rank: float
    amount: float


NO_OFFER = Offer(math.inf, 0.0)


@dataclass(slots=True)
class Rates:
    """What a node of the tree sends and computes.

    Attributes
    ----------
    known : Known
        What it knows of tasks, and has measured around itself.
    is_root : bool
        Whether it has no parent.
    compute : list of float, shape (n_types,)
        Tasks of each type that it computes [tasks/s].
    sent : list of list of float, shape (n_children, n_types)
        Tasks of each type that each child gets from it [tasks/s].
    cost : list of list of float, shape (n_types, 1 + n_children)
        How long its port sends a task to each target [s]; 0 to its own worker.
    """

    known: Known
    is_root: bool
    compute: list[float] = field(init=False)
    sent: list[list[float]] = field(init=False)
    cost: list[list[float]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        types, bandwidth = range(len(self.known.flop)), self.known.bandwidth
        self.compute = [0.0 for _ in types]
        self.sent = [[0.0 for _ in types] for _ in bandwidth]
        self.cost = [
            [0.0, *(byte / width if width > 0 else math.inf for width in bandwidth)]
            for byte in self.known.byte
        ]

    def throughput(self) -> list[float]:
        """Return the tasks of each type that the subtree computes [tasks/s], shape (n_types,)."""
        return [sum(column) for column in zip(self.compute, *self.sent, strict=True)]

    def plan(self) -> NodePlan:
        """Return the rates as a plan."""
        return NodePlan((tuple(self.compute), *map(tuple, self.sent)))


# ---- what there is room for ----


def cpu_room(rates: Rates) -> float:
    """Return what is free of the node's CPU, c_u (1 - CPU) [flop/s]."""
    speed, used = rates.known.speed, 0.0
    for rate, flop in zip(rates.compute, rates.known.flop, strict=True):
        used += rate * flop
    return speed - used if speed - used > NOISE * speed else 0.0


def port_room(rates: Rates) -> float:
    """Return which share of the node's port is free, 1 - bus_occupation(u)."""
    room = 1.0
    for costs, flow in zip(rates.cost, zip(*rates.sent, strict=True), strict=False):
        for cost, rate in zip(costs[1:], flow, strict=True):
            if rate:
                room -= cost * rate
    return room if room > NOISE else 0.0


def fillable(rates: Rates, low: int) -> float:
    """Return how many more tasks of a type the node itself can compute [tasks/s]: gap filling."""
    return cpu_room(rates) / rates.known.flop[low]


def has_trade(known: Known, high: int, low: int) -> bool:
    """Return whether communication trading applies: H has the higher CCR, and L has data."""
    return known.byte[low] > 0 and (
        known.byte[high] * known.flop[low] > known.byte[low] * known.flop[high]
    )


def tradable(rates: Rates, high: int, low: int) -> float:
    r"""Return how many byte/s of the leading type the node can take in the lagging one instead.

    Communication trading keeps the bytes on all links from the root,
    :math:`\varepsilon_L b^{(L)} = \varepsilon_H b^{(H)} = \beta`, so that only the node's own CPU
    and tasks limit it. Its load rises by :math:`\beta (c^{(L)}/b^{(L)} - c^{(H)}/b^{(H)})`, which
    has to fit in; this is the second term of the paper's minimum for :math:`\varepsilon_H`. That
    minimum lacks :math:`\varepsilon_H \le \alpha_u^{(H)}`, without which rates get negative. The
    text has tasks of type H sent in place of type L, the formulas the reverse: the latter hold.

    The root gets nothing over a link, so it trades in its own way.
    """
    flop, byte = rates.known.flop, rates.known.byte
    if rates.is_root or not rates.compute[high] or not has_trade(rates.known, high, low):
        return 0.0
    denser = flop[low] / byte[low] - flop[high] / byte[high]
    return min(rates.compute[high] * byte[high], cpu_room(rates) / denser)


# ---- how an amount spreads over a node and its subtrees ----


def sequence(bandwidth: Sequence[float], order: Order) -> tuple[int, ...]:
    """Return a node's targets in the order in which they are offered tasks.

    Its own worker counts as a child of infinite bandwidth; ties go to the first child.
    """
    children = range(1, 1 + len(bandwidth))
    if order == "slow":
        return (*sorted(children, key=lambda child: bandwidth[child - 1]), WORKER)
    if order == "breadth":
        return (WORKER, *children)
    return (WORKER, *sorted(children, key=lambda child: -bandwidth[child - 1]))


def pour(
    amount: float,
    offers: Sequence[float],
    cost: Sequence[float],
    room: float,
    targets: Sequence[int],
) -> list[float]:
    """Give each target in turn all that it can take.

    Parameters
    ----------
    amount : float
        What there is to give; inf to see how much can be given.
    offers, cost : sequence of float, shape (1 + n_children,)
        What each target can take, and what each unit of it takes from `room`.
    room : float
        Limit of all costs together.
    targets : sequence of int
        In their order.

    Returns
    -------
    list of float, shape (1 + n_children,)
    """
    given = [0.0] * len(offers)
    for target in targets:
        take = min(offers[target], amount)
        if take > 0 and cost[target] > 0:
            take = min(take, room / cost[target])
            room = max(room - take * cost[target], 0.0) if take else room
        given[target] = take
        amount -= take
    return given


def first_offers(own: float, below: Sequence[Offer], order: Order) -> tuple[float, list[float]]:
    """Return the rank of those in a subtree that come first, and what each target can take."""
    if order != "breadth":
        return 0.0, [own, *(offer.amount for offer in below)]
    rank = 0.0 if own > 0 else 1 + min((offer.rank for offer in below), default=math.inf)
    return rank, [
        0.0 if rank else own,
        *(offer.amount if offer.rank + 1 == rank else 0.0 for offer in below),
    ]


# ---- the operations, as far as one node goes ----


def fill(rates: Rates, low: int, given: Sequence[float]) -> None:
    """Add tasks of a type for each target [tasks/s]: gap filling."""
    rates.compute[low] += given[WORKER]
    for row, amount in zip(rates.sent, given[1:], strict=True):
        row[low] += amount


def swap(rates: Rates, high: int, low: int, given: Sequence[float]) -> None:
    """Replace byte/s of the leading type for each target: communication trading."""
    less, more = 1 / rates.known.byte[high], 1 / rates.known.byte[low]
    for row, amount in zip((rates.compute, *rates.sent), given, strict=True):
        row[high] = max(row[high] - amount * less, 0.0)
        row[low] += amount * more


def scale(rates: Rates, high: int, factor: float) -> None:
    """Scale the leading type down: bus desaturation in the branch concerned."""
    for row in (rates.compute, *rates.sent):
        row[high] *= factor


def swap_at_root(rates: Rates, high: int, low: int, amount: float) -> None:
    """Replace tasks of the leading type that the root computes by as much work of the other."""
    flop = rates.known.flop
    rates.compute[high] = max(rates.compute[high] - amount, 0.0)
    rates.compute[low] += amount * flop[high] / flop[low]
