"""LAG: a policy without rates or rounds, steered by how far each application lags."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.policy import WORKER, Policy, suits
from simplugin.elementary import exp
from simplugin.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.bags.policy import Choice, NodeState
    from simplugin.platforms.graphs import Tree
    from simplugin.workloads.applications import Bags

# Exponents beyond this would distinguish prices that no port can.
STEEPEST = 60.0

# Buffers keep children going while the port serves others, as long as it does so for less than all
# but this part of the time; a child that the port left less counts as starved.
LEFT = 0.1

# Number of children from which arrays of them are faster than one after the other.
WIDE = 32


@dataclass(frozen=True)
class Steering:
    """Strength of the reactions to observations.

    Attributes
    ----------
    eta : float
        By how much the logarithm of a type's price grows with each task that it lags.
    lead : float
        By how many tasks a type may be ahead of the one most behind for the root to send it, and
        how many later tasks may pass a task on its way through the other nodes; inf for any.
    crowding : float
        Value of the time of a child's subtree, relative to the port's.
    window : float
        Number of longest transfers for which a child gets tasks in advance; inf for any stock.
    spare : int
        Number of tasks that a child gets besides.
    refuses : bool
        True to refuse transfers that starve other children.
    """

    eta: float = 0.3
    lead: float = 8.0
    crowding: float = 0.75
    window: float = 1.5
    spare: int = 3
    refuses: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        for name, least in (
            ("eta", 0),
            ("lead", 0),
            ("crowding", 0),
            ("window", 0),
            # Without a spare task no child would ever get its first.
            ("spare", 1),
        ):
            if not getattr(self, name) >= least:
                given = getattr(self, name)
                raise WorkloadError(f"{name} is {given!r}; give a number from {least} on")


def lag(
    tree: Tree,
    bags: Bags,
    *,
    eta: float = Steering.eta,
    lead: float = Steering.lead,
    crowding: float = Steering.crowding,
    window: float = Steering.window,
    spare: int = Steering.spare,
    refuses: bool = Steering.refuses,
) -> Policy:
    """Return scheduling by lags: no rates, no rounds of messages, untyped requests.

    The root prices each type by how far it lags behind the others; prices ride on the tasks. A
    node knows these, its own speed, its children's bandwidths, and what its children have
    requested so far, from which it reads how fast their subtrees consume.

    Parameters
    ----------
    tree : Tree
        Not used: nothing is planned.
    bags : Bags
        Not used.
    eta, lead, crowding, window, spare, refuses
        See `Steering`.

    Raises
    ------
    WorkloadError
        A parameter is out of its range.
    """
    del tree, bags
    steering = Steering(eta, lead, crowding, window, spare, refuses)
    return Policy("lag", partial(lagging, steering), tag=partial(prices, steering))


def prices(steering: Steering, state: NodeState) -> tuple[float, ...]:
    """Return what the root puts on a task: the price of each type.

    Parameters
    ----------
    steering : Steering
        Uses `eta`.
    state : NodeState
        The root's.

    Returns
    -------
    tuple of float, shape (n_types,)
        exp(eta lag), where a type's lag is how many tasks, per unit of weight, it was handed
        out less than the type that is most ahead of those that have not ended; under 1 for types
        that have ended further ahead.
    """
    handed = _handed(state)
    left = [each for each, tasks in zip(handed, state.stock, strict=True) if tasks]
    top = max(left or handed)
    return tuple(exp(min(max(steering.eta * (top - each), -STEEPEST), STEEPEST)) for each in handed)


def lagging(steering: Steering, state: NodeState) -> Choice | None:
    """Choose by prices, port time, and how fast children work off what they have.

    The worker comes first. At the root it takes the type of largest price per flop, in a tie the
    one of largest CCR; elsewhere the one of largest CCR: by an exchange of tasks between a node
    and its subtree, what is hard to send is best computed where it is.

    Below the root, a task is due that `lead` later ones have passed on its way, at whatever nodes.
    The oldest of these is the worker's next one, and its type the first that the port sends. If
    not, the nodes of a long chain could each keep tasks of the same type back, and complete that
    type last, though the root handed out as many of it as of others.

    The port sends the pair of child u and type k with the largest

        free_u price_k / (b_k / b_u + crowding (stock_u / (1 + free_u)) c_k / v_u),

    where free_u and stock_u are the free and taken slots of the child's buffer, and v_u is the
    speed at which its subtree has consumed tasks. So a child that runs dry gets what is quickest
    to send, and one that is always full what earns most per flop. It does not send

    * to a child that has enough to live on for `window` of the longest transfers made here,
    * at the root, a type more than `lead` tasks ahead,
    * a task whose transfer would starve the children of more than it is worth, as long as the
      node itself or a child has something to compute.

    Children that are thought to be off count for nothing. So whenever the port rests, a worker at
    or below the node has work, and what it does next has the node look again: nothing can freeze.
    Ties go to the first child and type.

    Parameters
    ----------
    steering : Steering
        Strength of the reactions.
    state : NodeState
        The node's.
    """
    kinds = [kind for kind, tasks in enumerate(state.stock) if tasks]
    if not kinds:
        return None
    price = prices(steering, state) if state.is_root else state.tag
    price = price or (1.0,) * len(state.stock)
    waiting = zip(state.arrivals, state.passed, strict=True)
    due = [kind for kind, passed in waiting if passed >= steering.lead]
    if state.asked[WORKER] and (mine := [kind for kind in kinds if state.known.allowed[kind]]):
        first = next((kind for kind in due if state.known.allowed[kind]), None)
        return WORKER, _own(state, mine, price) if first is None else first
    if not state.port_free or not any(state.asked[1:]):
        return None
    if state.is_root:
        handed = _handed(state)
        # Nobody waits for a type that nobody who asks computes.
        able = [
            handed[kind]
            for kind in kinds
            if any(
                state.asked[child] and suits(state, child, kind)
                for child in range(1, len(state.asked))
            )
        ]
        most = min(able, default=0.0) + steering.lead
        kinds = [kind for kind in kinds if handed[kind] <= most]
    return _sent(steering, state, kinds, price, due[0] if due else None)


def _handed(state: NodeState) -> list[float]:
    """Return how many tasks of each type were handed out, if all had the smallest weight."""
    weight = state.known.weight
    least = min(weight)
    return [tasks * least / each for tasks, each in zip(state.handed, weight, strict=True)]


def _own(state: NodeState, kinds: list[int], price: tuple[float, ...]) -> int:
    """Return the type for the node's own worker."""
    flop, byte = state.known.flop, state.known.byte
    worth = price if state.is_root else (0.0,) * len(price)
    return max(kinds, key=lambda kind: (worth[kind] / flop[kind], byte[kind] / flop[kind]))


def _sent(
    steering: Steering,
    state: NodeState,
    kinds: list[int],
    price: tuple[float, ...],
    due: int | None,
) -> Choice | None:
    """Return the child and the type to send, None to let the port rest."""
    if len(state.asked) > WIDE:
        return _Children(steering, state).choice(kinds, price, due)
    known = state.known
    sent = _sending(state)
    busy = sum(sent)
    children = [
        _Child(state, target, sent[target], busy)
        for target, away in enumerate(state.away)
        if target != WORKER and not away and _has_future(state, target)
    ]
    longest = max((child.longest for child in children), default=0.0)
    offers = []
    for child in children:
        if (
            not child.free
            or child.stock + 1 > steering.spare + steering.window * child.rate * longest
        ):
            continue
        crowded = steering.crowding * child.stock / (1 + child.free)
        for kind in kinds:
            if not suits(state, child.target, kind):
                continue
            sending = known.byte[kind] / child.bandwidth
            cost = sending + crowded * known.flop[kind] * child.pace
            value = child.free * price[kind] / cost if cost > 0 else math.inf
            offers.append((value, child.target, kind, sending))
    # The best first, after what is due; the sort is stable, so that ties stay in order.
    offers.sort(key=lambda offer: (offer[2] != due, -offer[0]))
    works = known.computes and not state.asked[WORKER]
    if not steering.refuses or not (works or any(child.stock for child in children)):
        return offers[0][1:3] if offers else None
    usual = _usual(state, price)
    # What takes longer than a refused transfer of the same type starves no less.
    refused: dict[int, float] = {}
    for _, target, kind, sending in offers:
        if sending < refused.get(kind, math.inf):
            starved = sum(child.lacks_after(sending) for child in children)
            if starved * usual <= price[kind]:
                return target, kind
            refused[kind] = sending
    return None


def _has_future(state: NodeState, target: int) -> bool:
    """Return True if a child may still get tasks; one that does not ask has nothing otherwise."""
    return not state.known.restricted or any(
        can and (tasks or not ended)
        for can, tasks, ended in zip(state.can[target], state.stock, state.ended, strict=True)
    )


def _usual(state: NodeState, price: tuple[float, ...]) -> float:
    """Return the mean price, at present, of the tasks that children got so far; 1 for none."""
    tasks = value = 0.0
    for row in state.given[1:]:
        tasks += sum(row)
        value += sum(map(float.__mul__, map(float, row), price))
    return value / tasks if tasks else 1.0


def _sending(state: NodeState) -> list[float]:
    """Return how long the port has sent to each target, at present bandwidths [s]."""
    byte = state.known.byte
    times = [
        sum(map(float.__mul__, map(float, row), byte)) / bandwidth
        for row, bandwidth in zip(state.given[1:], state.known.bandwidth, strict=True)
    ]
    return [0.0, *times]


class _Child:
    """Conclusions from the requests of a child, and from the tasks that it got.

    Parameters
    ----------
    state, target
        The node's, and the child's number.
    sent, busy : float
        How long the port has sent to the child, and to all [s].

    Attributes
    ----------
    free, stock : int
        Slots of its buffer that are free, and taken.
    rate : float
        Tasks that its subtree consumed per time [tasks/s]; 0 before the second.
    pace : float
        Time that its subtree took per flop [s/flop]; the node's own pace before.
    appetite, supply : float, int
        Rate at which it is expected to consume [tasks/s], and what it is expected to have.
    longest : float
        The longest transfer to it so far [s].
    """

    def __init__(self, state: NodeState, target: int, sent: float, busy: float) -> None:
        known, row = state.known, state.given[target]
        self.target, self.bandwidth = target, known.bandwidth[target - 1]
        self.free = state.asked[target]
        given = sum(row)
        # A slot is kept for each type that it may still ask for.
        kept = known.restricted and sum(
            not (can or ended) for can, ended in zip(state.can[target], state.ended, strict=True)
        )
        # One that never asks, since nobody below it computes, has nothing.
        self.stock = max(min(state.capacity - kept - self.free, given), 0)
        # Each slot is requested again once its task is gone.
        gone = given - self.stock
        self.rate = (gone - 1) / state.now if gone > 1 and state.now > 0 else 0.0
        self.pace = 1 / known.speed if known.speed else 0.0
        if self.rate > 0:
            work = sum(map(float.__mul__, map(float, row), known.flop)) / given
            self.pace = 1 / (work * self.rate)
        # A child that starves is slow for that reason: the time that the port left it is what
        # counts, or those whom it starved for would be served for ever.
        left = max(state.now - busy + sent, sent) / LEFT
        hurry = max(state.now / left, 1.0) if left else 1.0
        self.appetite, self.supply = self.rate * hurry, self.stock
        if given and not self.rate:
            # Nothing is known yet: it counts as fast as its parent, or as the clock allows of one
            # that took two tasks so far, and as full, so that only what would last for whole
            # buffers is refused.
            clock = 2 / state.now if state.now > 0 else 0.0
            self.appetite = max(known.speed / max(known.flop), clock)
            self.supply = state.capacity
        self.longest = max(
            (size / self.bandwidth for size, tasks in zip(known.byte, row, strict=True) if tasks),
            default=0.0,
        )

    def lacks_after(self, duration: float) -> float:
        """Return how many tasks its subtree would miss if it got none for a while."""
        return max(self.appetite * duration - self.supply, 0.0)


class _Children:
    """Conclusions of `_Child` for all children of a node, as arrays, and the choice from them.

    All sums have the order of those of `_sent`, so that choices are the same to the last bit.
    """

    def __init__(self, steering: Steering, state: NodeState) -> None:
        known, now, targets = state.known, state.now, range(1, len(state.asked))
        self.steering, self.state = steering, state
        self.given = np.array(state.given[1:], dtype=np.float64)
        self.free, self.bandwidth = np.array(state.asked[1:]), np.array(known.bandwidth)
        self.here = ~np.array(state.away[1:])
        count, kept = self.given.sum(axis=1), np.zeros(len(targets))
        if known.restricted:
            self.here &= [_has_future(state, target) for target in targets]
            kept += [
                sum(not (x or over) for x, over in zip(can, state.ended, strict=True))
                for can in state.can[1:]
            ]
        self.stock = np.maximum(np.minimum(state.capacity - kept - self.free, count), 0.0)
        gone = count - self.stock
        self.rate = np.zeros(len(targets))
        if now > 0:
            self.rate[gone > 1] = (gone[gone > 1] - 1) / now
        fast = self.rate > 0
        self.pace = np.full(len(targets), 1 / known.speed if known.speed else 0.0)
        self.pace[fast] = 1 / (self._total(known.flop)[fast] / count[fast] * self.rate[fast])
        sent = self._total(known.byte) / self.bandwidth
        left = np.maximum(now - sum([0.0, *sent.tolist()]) + sent, sent) / LEFT
        hurry = np.divide(now, left, out=np.ones(len(targets)), where=left > 0)
        self.appetite, self.supply = self.rate * np.maximum(hurry, 1.0), self.stock.copy()
        fresh = (count > 0) & ~fast
        clock = 2 / now if now > 0 else 0.0
        self.appetite[fresh] = max(known.speed / max(known.flop), clock)
        self.supply[fresh] = state.capacity
        self.longest = max(
            (
                size / float(self.bandwidth[got].min())
                for kind, size in enumerate(known.byte)
                if (got := self.here & (self.given[:, kind] > 0)).any()
            ),
            default=0.0,
        )

    def _total(self, worth: Sequence[float]) -> NDArray[np.float64]:
        """Return what the tasks that each child got come to, of so much for each type."""
        total: NDArray[np.float64] = (self.given * worth).cumsum(axis=1)[:, -1]
        return total

    def choice(self, kinds: list[int], price: tuple[float, ...], due: int | None) -> Choice | None:
        """Return the child and the type to send, None to let the port rest."""
        steering, known = self.steering, self.state.known
        with np.errstate(invalid="ignore"):
            # An infinite window, at no rate, is nan: nothing is enough.
            enough = steering.spare + steering.window * self.rate * self.longest
        able = self.here & (self.free > 0) & ~(self.stock + 1 > enough)
        places = able.nonzero()[0]
        if not (places.size and kinds):
            return None
        sending = np.array([known.byte[kind] for kind in kinds]) / self.bandwidth[places, None]
        crowded = steering.crowding * self.stock[places] / (1 + self.free[places])
        flop = np.array([known.flop[kind] for kind in kinds])
        cost = sending + crowded[:, None] * flop * self.pace[places, None]
        earned = self.free[places, None] * np.array([price[kind] for kind in kinds])
        value = np.divide(earned, cost, out=np.full(cost.shape, math.inf), where=cost > 0)
        if known.restricted:
            for row, place in enumerate(places.tolist()):
                for column, kind in enumerate(kinds):
                    if not suits(self.state, place + 1, kind):
                        value[row, column] = -1.0
        works = known.computes and not self.state.asked[WORKER]
        refuses = steering.refuses and (works or bool(self.stock[self.here].any()))
        usual = self._usual(price) if refuses else 0.0
        urgent = [kind == due for kind in kinds]
        for columns in filter(any, (urgent, [not each for each in urgent])):
            worth, lasts = value[:, columns], sending[:, columns]
            while worth.max() >= 0:
                row, column = divmod(int(worth.argmax()), worth.shape[1])
                kind = [kind for kind, each in zip(kinds, columns, strict=True) if each][column]
                time = lasts[row, column]
                lacks = np.maximum(self.appetite * time - self.supply, 0.0)[self.here]
                if not refuses or sum(lacks.tolist()) * usual <= price[kind]:
                    return int(places[row]) + 1, kind
                # What takes longer starves no less.
                worth[lasts[:, column] >= time, column] = -1.0
        return None

    def _usual(self, price: tuple[float, ...]) -> float:
        """Return the mean price, at present, of the tasks that children got so far; 1 for none."""
        tasks = float(self.given.sum())
        return float(self._total(price).cumsum()[-1]) / tasks if tasks else 1.0
