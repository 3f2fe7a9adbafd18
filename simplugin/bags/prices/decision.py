"""Which of the tasks at hand goes where, when rates have been negotiated by prices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simplugin.bags.nodes import is_unplanned, servable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.bags.nodes import Choice, NodeState

# How many tasks a target of the root may be ahead of the pair most behind; each of its types has
# its part of them, and one at least.
LEAD = 30.0


def priced(state: NodeState) -> Choice | None:
    """Choose the pair most behind its planned rate, of those that can be served.

    The next task of a pair of target and type is due at (given + 1) / rate, in planned time. A
    pair that is ahead of the one most behind is refused, even if it is the only one that asks:

    * At the root, where the others are all pairs, if its next task is due `LEAD` tasks later than
      that of the one most behind; of these tasks, each type of a target counts its part in what
      the target gets, and one at least. Otherwise types that are cheap there run away; and a
      long task that is due much later fills an idle moment, and keeps a worker or the port from
      those that are due.
    * Elsewhere, where the others are those of its type, if it is a whole task ahead. Otherwise
      whoever asks first, mostly the worker, takes what the others need soon.

    This does not block. Below the root, the pair most behind of a type at hand is never refused,
    and sooner or later asks: its node uses up what it has of any type at hand, by induction from
    the leaves on. So the pair most behind at the root asks sooner or later, too. But all wait for
    a host that is much slower than planned: then a new plan is needed.

    Parameters
    ----------
    state : NodeState
        With a plan.
    """
    assert state.plan is not None
    rates, given = state.plan.rates, state.given
    best, least = None, math.inf
    for target, kind in servable(state):
        rate = rates[target][kind]
        if rate > 0:
            due = (given[target][kind] + 1) / rate
            if due < least and not _is_ahead(state, target, kind):
                best, least = (target, kind), due
        elif best is None and is_unplanned(state, kind):
            # Whatever an earlier plan has left here goes to whoever asks, after all else.
            best = target, kind
    return best


def _is_ahead(state: NodeState, target: int, kind: int) -> bool:
    """Whether a pair is too far ahead of the one most behind."""
    assert state.plan is not None
    rates, given = state.plan.rates, state.given
    kinds: Sequence[int] = (kind,)
    lead = 1.0
    if state.is_root:
        kinds = [each for each, tasks in enumerate(state.stock) if tasks]
        lead = max(lead, LEAD * rates[target][kind] / sum(rates[target]))
    behind = min(
        (given[other][each] + 1) / row[each]
        for other, row in enumerate(rates)
        for each in kinds
        if row[each] > 0
    )
    return given[target][kind] + 1 - rates[target][kind] * behind >= lead


def slots_for(rates: Sequence[Sequence[float]], capacity: int) -> tuple[int, ...]:
    """Split the slots of a buffer over the types that a node is to get, in proportion.

    Each such type gets one slot; the others are given out one by one, to the type with the most
    rate per slot that it would then have.

    Parameters
    ----------
    rates : sequence of sequence of float, shape (1 + n_children, n_types)
        What the node is to give each target [tasks/s].
    capacity : int
        Slots of its buffer.

    Returns
    -------
    tuple of int, shape (n_types,)
        Slots of each type; empty where there are not enough slots for one each, so that requests
        must not name a type, or where no type is planned.
    """
    inflow = [sum(column) for column in zip(*rates, strict=True)]
    planned = [kind for kind, rate in enumerate(inflow) if rate > 0]
    if len(planned) > capacity or not planned:
        return ()
    slots = [int(rate > 0) for rate in inflow]
    for _ in range(capacity - len(planned)):
        slots[max(planned, key=lambda kind: inflow[kind] / (slots[kind] + 1))] += 1
    return tuple(slots)
