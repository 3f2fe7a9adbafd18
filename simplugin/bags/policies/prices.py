"""PRICES: rates as good as the linear program's, negotiated by nodes that know their neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from simplugin.bags.actors.planning import negotiated_policy
from simplugin.bags.policies.price_negotiation import (
    Follower,
    Leader,
    LinkFilter,
    NegotiationParameters,
)
from simplugin.bags.policy import (
    BUFFER,
    BagPolicy,
    Choice,
    NegotiatedRates,
    NodeKnowledge,
    NodeState,
    converse,
    is_unplanned,
    rates_of,
    servable,
)
from simplugin.inputs.quantities import Time
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags
from simplugin.workloads.parameter_ranges import whole

# Tasks that a target of the root may be ahead of the pair most behind; each of its types has its
# part of them, and one at least.
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
      the first requesting target, mostly the worker, takes tasks that the others need soon.

    This does not block. Below the root, the pair most behind of a buffered type is never refused,
    and requests a task eventually: its node consumes all buffered types, by induction from the
    leaves. So the pair most behind at the root eventually requests a task, too. But all wait for
    a host that is much slower than planned: then a new plan is needed.

    Parameters
    ----------
    state : NodeState
        With a plan.
    """
    assert state.plan is not None
    rates, given = state.plan.rates, state.given
    best, least = None, math.inf
    # When the pair most behind of each type is due; at the root, that of all types in stock.
    behind: dict[int, float] = {}
    for target, kind in servable(state):
        rate = rates[target][kind]
        if rate > 0:
            due = (given[target][kind] + 1) / rate
            if due >= least:
                continue
            if kind not in behind:
                # When the pair most behind is due: of the type, or at the root of all in stock.
                kinds = [kind]
                if state.is_root:
                    kinds = [each for each, tasks in enumerate(state.stock) if tasks]
                first = min(
                    (got[each] + 1) / row[each]
                    for row, got in zip(rates, given, strict=True)
                    for each in kinds
                    if row[each] > 0
                )
                behind |= dict.fromkeys(kinds, first)
            lead = max(1.0, LEAD * rate / sum(rates[target])) if state.is_root else 1.0
            if given[target][kind] + 1 - rate * behind[kind] < lead:
                best, least = (target, kind), due
        elif best is None and is_unplanned(state, kind):
            # Tasks left from an earlier plan go to the first requesting target.
            best = target, kind
    return best


@dataclass(frozen=True, eq=False)
class Prices(NegotiatedRates):
    """Result of a negotiation.

    Attributes
    ----------
    compute, sent, fair, plans
        See `NegotiatedRates`.
    rounds : int
        Rounds of all negotiations: sweeps down with prices and up with curves.
    negotiations : int
        Number of negotiations: one, and one for each time that links were banned.
    rent : float
        Price of a second of port [task/s].
    gap : float
        Relative distance from the optimum that the root has proved, the rent counted as a
        cost, and without the links that are banned.
    """

    rounds: int
    negotiations: int
    rent: float
    gap: float


def negotiator(
    known: NodeKnowledge,
    *,
    is_root: bool,
    negotiation: NegotiationParameters | None = None,
    link_filter: LinkFilter | None = None,
    typed_slots: int = 0,
) -> Leader | Follower:
    """Return a node that negotiates by prices.

    Parameters
    ----------
    known : NodeKnowledge
        Its knowledge.
    is_root : bool
        True for the node that leads.
    negotiation, link_filter
        As for `negotiate_prices`; the root's `negotiation` applies.
    typed_slots : int
        Slots of the node's buffer if requests name types; 0 if not.
    """
    if is_root:
        return Leader(known, link_filter, typed_slots, negotiation or NegotiationParameters())
    return Follower(known, link_filter, typed_slots)


def negotiate_prices(
    tree: Tree,
    bags: Bags,
    *,
    negotiation: NegotiationParameters | None = None,
    link_filter: LinkFilter | None = None,
) -> Prices:
    """Let the nodes of a tree negotiate their rates by prices, without simulating messages.

    The linear program (1) of [1]_ is solved by the nodes themselves: the root posts a price for
    each application, each node answers with the concave curve of what its subtree can make of
    each byte per second, and the root mixes the answers of all rounds so that the least served
    application gets most, which gives the next prices.

    Parameters
    ----------
    tree : Tree
        Where; what its nodes know of it are speeds, and bandwidths to children.
    bags : Bags
        The applications.
    negotiation : NegotiationParameters, optional
        Parameters of the negotiation, of which those of the root count.
    link_filter : LinkFilter, optional
        Bans links that are too slow for a type; None to use all links.

    Raises
    ------
    InfeasibleError
        No host computes.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    make = partial(negotiator, negotiation=negotiation, link_filter=link_filter)
    return _negotiated(tree, bags, make)


def _negotiated(tree: Tree, bags: Bags, make: Callable[..., Leader | Follower]) -> Prices:
    """Return the result of a negotiation between the nodes that are made."""
    nodes, _ = converse(tree, bags, make)
    root = nodes[0]
    assert isinstance(root, Leader)
    compute, sent, plans = rates_of(tree, nodes)
    fair = float(np.min(compute.sum(axis=0) / bags.weight))
    gap, rent = root.gaps[root.settled], root.posted.rent
    return Prices(compute, sent, fair, plans, root.sweeps, len(root.awards), rent, gap)


def prices(
    tree: Tree,
    bags: Bags,
    *,
    buffer: int = BUFFER,
    typed: bool = False,
    filter_links: bool = True,
    decentralised: bool = True,
    period: Time | None = None,
    negotiation: NegotiationParameters | None = None,
) -> BagPolicy:
    """Return our own policy: rates negotiated by prices.

    Parameters
    ----------
    tree : Tree
        As measured. With `decentralised`, only `BagPolicy.expected_throughput` follows from it.
    bags : Bags
        The applications.
    buffer : int
        Tasks that the buffer of a node holds.
    typed : bool
        True if a node keeps slots for each planned type, and its requests name a type.
        In the bags measured so far this gains nothing, and costs up to 13 % of the throughput.
    filter_links : bool
        True to stop using links for types that they would carry too slowly, see `LinkFilter`.
    decentralised : bool
        True if the nodes negotiate by messages when they start, with their own measurements;
        False if they get the same rates in advance.
    period : float, optional
        Time between checks for changes [s], inf for none; by default a twentieth of the time that
        all tasks take at the expected throughput. If the measured speed of a node, or bandwidth to
        a child, differs by more than `BagPolicy.tolerance` from that of the last negotiation, all
        nodes negotiate again with their latest measurements.
    negotiation : NegotiationParameters, optional
        Parameters of the negotiation, of which those of the root count.

    Raises
    ------
    InfeasibleError
        No host computes.
    WorkloadError
        The buffer or the period is not positive.
    """
    buffer = whole("buffer", buffer)
    make = partial(
        negotiator,
        negotiation=negotiation,
        link_filter=LinkFilter(buffer) if filter_links else None,
        typed_slots=buffer if typed else 0,
    )
    found = _negotiated(tree, bags, make)
    return negotiated_policy(
        "prices", priced, make, bags, found, decentralised=decentralised, period=period
    )
