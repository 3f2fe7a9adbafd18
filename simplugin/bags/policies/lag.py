"""LAG: a policy without rates or rounds, steered by how far each application lags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import and_, not_, or_

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.policy import WORKER, BagPolicy, Choice, NodeState, suits
from simplugin.core.elementary import exp
from simplugin.core.errors import WorkloadError
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

# Bound of exponents; larger ones would change no choice.
STEEPEST = 60.0

# Fraction of the time that the port must leave to a child whose consumption is taken as measured.
LEFT = 0.1


@dataclass(frozen=True)
class Steering:
    """Strength of the reactions to observations.

    Attributes
    ----------
    eta : float
        Increase of the logarithm of a type's price for each task that it lags.
    lead : float
        Maximum number of tasks by which a type may be ahead of the last one at the root, and of
        later tasks that may pass a task on its way through the other nodes; inf for no limit.
    crowding : float
        Value of the time of a child's subtree, relative to the port's.
    window : float
        Number of longest transfers for which a child gets tasks in advance; inf for any stock.
    spare : int
        Number of further tasks that a child gets in advance.
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
        # Without a spare task no child would ever get its first.
        for name, least in {"eta": 0, "lead": 0, "crowding": 0, "window": 0, "spare": 1}.items():
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
) -> BagPolicy:
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
    return BagPolicy("lag", partial(lagging, steering), tag=partial(prices, steering))


def prices(steering: Steering, state: NodeState) -> tuple[float, ...]:
    """Return the tag of the root's tasks: the price of each type.

    Parameters
    ----------
    steering : Steering
        Uses `eta`.
    state : NodeState
        The root's.

    Returns
    -------
    tuple of float, shape (n_types,)
        exp(eta lag). The lag of a type is the number of tasks, per unit of weight, by which it is
        behind the most advanced type that has not ended; negative for types that ended further
        ahead.
    """
    handed = _handed(state)
    left = [each for each, tasks in zip(handed, state.stock, strict=True) if tasks]
    top = max(left or handed)
    return tuple(exp(min(max(steering.eta * (top - each), -STEEPEST), STEEPEST)) for each in handed)


def lagging(steering: Steering, state: NodeState) -> Choice | None:
    """Choose by prices, port time, and the speed at which children consume tasks.

    The worker comes first. At the root it takes the type of largest price per flop, in a tie the
    one of largest CCR; elsewhere the one of largest CCR: by an exchange of tasks between a node
    and its subtree, tasks that are expensive to send are best computed where they are.

    Below the root, a task is due if `lead` later ones have passed it on its way. The oldest due
    task is the worker's next one, and its type the first that the port sends. Otherwise the nodes
    of a long chain could each keep tasks of the same type back, and complete that type last,
    although the root distributed as many of it as of others.

    The port sends the pair of child u and type k with the largest

        free_u price_k / (b_k / b_u + crowding (stock_u / (1 + free_u)) c_k / v_u),

    where free_u and stock_u are the free and taken slots of the child's buffer, and v_u is the
    speed at which its subtree has consumed tasks. So a child with an empty buffer gets the task
    that is quickest to send, and one with a full buffer that of most value per flop. It sends

    * nothing to a child with enough tasks for `window` of the longest transfers made here,
    * at the root, no type more than `lead` tasks ahead,
    * no task whose transfer costs the waiting children more than its value, as long as the node
      or a child has a task to compute.

    Children that count as failed are ignored. Whenever the port is idle, a worker at or below the
    node has work, and its end triggers the next decision: no deadlock is possible. Ties go to the
    first child and type.

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
        if first is None:
            flop, byte = state.known.flop, state.known.byte
            worth = price if state.is_root else (0.0,) * len(price)
            first = max(mine, key=lambda kind: (worth[kind] / flop[kind], byte[kind] / flop[kind]))
        return WORKER, first
    if not state.port_free or not any(state.asked[1:]):
        return None
    if state.is_root:
        handed = _handed(state)
        # A type that no requesting child computes holds the others back no longer.
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
    """Return the served tasks of each type, scaled to the smallest weight."""
    weight = state.known.weight
    least = min(weight)
    return [tasks * least / each for tasks, each in zip(state.handed, weight, strict=True)]


def _sent(
    steering: Steering,
    state: NodeState,
    kinds: list[int],
    price: tuple[float, ...],
    due: int | None,
) -> Choice | None:
    """Return the child and the type to send, None to leave the port idle."""
    known, now = state.known, state.now
    given = np.array(state.given[1:], dtype=np.float64)
    free, bandwidth = np.array(state.asked[1:]), np.array(known.bandwidth)
    here, count, room = ~np.array(state.away[1:]), given.sum(axis=1), state.capacity - free
    if known.restricted:
        # A child that can get no further task has an empty buffer. Each type that a child may
        # still request keeps a slot.
        left = [
            tasks > 0 or not ended for tasks, ended in zip(state.stock, state.ended, strict=True)
        ]
        here &= [any(map(and_, can, left)) for can in state.can[1:]]
        room = room - [sum(map(not_, map(or_, can, state.ended))) for can in state.can[1:]]
    # A child that never requests tasks has an empty buffer.
    stock = np.maximum(np.minimum(room, count), 0.0)
    # Each slot is requested again once its task has left: this gives the tasks that subtrees
    # consumed per second, 0 before the second task.
    gone = count - stock
    rate = np.where(gone > 1, (gone - 1) / now, 0.0) if now > 0 else np.zeros(len(gone))
    enough: float | NDArray[np.float64] = np.inf
    if steering.window < math.inf:
        # By the slowest link that each type has used.
        widths = np.where(here[:, None] & (given > 0), bandwidth[:, None], np.inf).min(axis=0)
        enough = steering.spare + steering.window * rate * float((known.byte / widths).max())
    places = (here & (free > 0) & (stock + 1 <= enough)).nonzero()[0]
    if not (places.size and kinds):
        return None
    # Time of a subtree per flop; at first that of this node.
    pace, fast = np.full(len(rate), 1 / known.speed if known.speed else 0.0), rate > 0
    pace[fast] = 1 / (_totals(given, known.flop)[fast] / count[fast] * rate[fast])
    sending = np.array([known.byte[kind] for kind in kinds]) / bandwidth[places, None]
    crowded = steering.crowding * stock[places] / (1 + free[places])
    flop = np.array([known.flop[kind] for kind in kinds])
    cost = sending + crowded[:, None] * flop * pace[places, None]
    earned = free[places, None] * np.array([price[kind] for kind in kinds])
    value = np.divide(earned, cost, out=np.full(cost.shape, np.inf), where=cost > 0)
    if known.restricted:
        for row, place in enumerate(places.tolist()):
            for column, kind in enumerate(kinds):
                if not suits(state, place + 1, kind):
                    value[row, column] = -1.0
    works = known.computes and not state.asked[WORKER]
    refuses = steering.refuses and (works or bool(stock[here].any()))
    if refuses:
        # A child without tasks is slow for that reason, so its consumption is scaled to the time
        # that the port left it; else the port would serve the other children for ever.
        sent = _totals(given, known.byte) / bandwidth
        left_over = np.maximum(now - sum(sent.tolist()) + sent, sent) / LEFT
        hurry = np.divide(now, left_over, out=np.ones(len(sent)), where=left_over > 0)
        appetite, supply = rate * np.maximum(hurry, 1.0), stock.copy()
        # A child with its first tasks has no measured speed: it counts as fast as its parent, or
        # as consuming two tasks so far, and as full, so that only transfers that outlast whole
        # buffers are refused.
        fresh = (count > 0) & ~fast
        appetite[fresh] = max(known.speed / max(known.flop), 2 / now if now > 0 else 0.0)
        supply[fresh] = state.capacity
        # The mean present price of the tasks sent so far.
        tasks = float(count.sum())
        usual = float(_totals(given, price).cumsum()[-1]) / tasks if tasks else 1.0
    # Due tasks first, then by decreasing value.
    urgent = np.array([kind == due for kind in kinds])
    for columns in (urgent, ~urgent):
        worth = np.where(columns, value, -1.0)
        while worth.max() >= 0:
            row, column = divmod(int(worth.argmax()), len(kinds))
            kind, time = kinds[column], sending[row, column]
            if not refuses:
                return int(places[row]) + 1, kind
            lacks = np.maximum(appetite * time - supply, 0.0)[here]
            if sum(lacks.tolist()) * usual <= price[kind]:
                return int(places[row]) + 1, kind
            # Longer transfers cost the other children no less.
            worth[sending[:, column] >= time, column] = -1.0
    return None


def _totals(given: NDArray[np.float64], worth: Sequence[float]) -> NDArray[np.float64]:
    """Return the total of a quantity per type over the tasks of each child."""
    total: NDArray[np.float64] = np.add.accumulate(given * worth, axis=1)[:, -1]
    return total
