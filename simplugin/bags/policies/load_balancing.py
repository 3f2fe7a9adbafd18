"""LP: the rates of a linear program that knows the whole tree, followed by load balancing."""

from __future__ import annotations

import math
from typing import Literal

from simplugin.bags.policy import BagPolicy, Choice, NodePlan, NodeState, is_unplanned, servable
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

# Share of the throughput, divided by the number of hosts, under which a flow is not used.
CUT = 1e-3


def balanced(state: NodeState) -> Choice | None:
    """Choose by one-dimensional load balancing, section 5.1: LP and DATA-CENTRIC.

    The pair with the smallest (given + 1) / rate among those with a positive rate in the plan;
    ties go to the first target and type. A type without any rate, left from an earlier plan,
    goes to the first requesting target.
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


def lp(
    tree: Tree,
    bags: Bags,
    *,
    port: Literal["single", "multi"] = "single",
    cut: float = CUT,
    least_communication: bool = True,
) -> BagPolicy:
    """Return scheduling by the rates of the fairest steady state, section 5.1 of [1]_.

    Each node serves the pair of target and type that is most behind its rate. A pair with a
    minute rate would be served whenever no other target requests tasks: such flows are cut,
    although the optimum of least communication has hardly any.

    Parameters
    ----------
    tree : Tree
        As measured.
    bags : Bags
        The tasks.
    port : {"single", "multi"}
        Model of the steady state, see `steady_state`; nodes send one task after the other anyway.
    cut : float
        Flows under this share of a throughput, divided by the number of hosts, are not used.
    least_communication : bool
        True to take, of all optima, the one that communicates least.

    Raises
    ------
    InfeasibleError
        No host computes.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    from simplugin.optimum.steady_state import steady_state

    best = steady_state(tree, bags, port=port, cut=cut, least_communication=least_communication)
    plans = tuple(NodePlan(best.rates(host)) for host in range(tree.n_hosts))
    return BagPolicy("lp", balanced, plans=plans, expected_throughput=best.fair)
