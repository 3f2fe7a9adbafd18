"""Which of the tasks at hand goes where: the pure decisions of Beaumont et al.'s heuristics.

Each takes a `NodeState` and returns one of its `servable` pairs, or None where there is none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simplugin.bags.nodes import WORKER, is_unplanned, servable

if TYPE_CHECKING:
    from simplugin.bags.nodes import Choice, NodeState


def balanced(state: NodeState) -> Choice | None:
    """Choose by one-dimensional load balancing, section 5.1: LP and DATA-CENTRIC.

    The pair to which (given + 1) / rate is smallest, of those whose rate in the plan is positive;
    ties go to the first target and type. A type that has no rate at all here, which a plan that
    has just changed can leave behind, goes to whoever asks.
    """
    assert state.plan is not None
    rates = state.plan.rates
    best, least = None, math.inf
    bare = []
    for target, kind in servable(state):
        rate = rates[target][kind]
        if rate > 0:
            due = (state.given[target][kind] + 1) / rate
            if due < least:
                best, least = (target, kind), due
        else:
            bare.append((target, kind))
    if best is None:
        return next((pair for pair in bare if is_unplanned(state, pair[1])), None)
    return best


def first_come_first_served(state: NodeState) -> Choice | None:
    """Choose the oldest request and the oldest task, section 5.2: FCFS.

    The root takes types in turn, in proportion to their weights. While the port sends, the oldest
    request that can be served is the worker's, if it asks.
    """
    if not any(state.stock) or not (state.port_free or state.asked[WORKER]):
        return None
    for target in state.queue:
        if target == WORKER or state.port_free:
            return target, _next_type(state)
    return None


def bandwidth_centric(state: NodeState) -> Choice | None:
    """Choose the request that comes from nearest, section 5.3: CGBC and BCS.

    The worker first, as a child of infinite bandwidth, then children by decreasing bandwidth;
    ties go to the first.
    """
    if not any(state.stock):
        return None
    if state.asked[WORKER]:
        return WORKER, _next_type(state)
    if not state.port_free:
        return None
    best, widest = None, -math.inf
    for child, bandwidth in enumerate(state.known.bandwidth, 1):
        if state.asked[child] and bandwidth > widest:
            best, widest = child, bandwidth
    return None if best is None else (best, _next_type(state))


def _next_type(state: NodeState) -> int:
    """Return the type of the oldest task; at the root, types take turns by their weights."""
    if not state.is_root:
        return state.arrivals[0]
    handed = [sum(column) for column in zip(*state.given, strict=True)]
    kinds = [kind for kind, tasks in enumerate(state.stock) if tasks]
    return min(kinds, key=lambda kind: (handed[kind] + 1) / state.known.weight[kind])
