"""The policy whose plan is the optimum of a linear program that knows the whole tree: LP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from simplugin.bags.decisions import balanced
from simplugin.bags.nodes import NodePlan, Policy

if TYPE_CHECKING:
    from simplugin.platforms.graphs import Tree
    from simplugin.workloads.applications import Bags

# Share of the throughput, divided by the number of hosts, under which a flow is not used.
CUT = 1e-3


def lp(
    tree: Tree,
    bags: Bags,
    *,
    port: Literal["single", "multi"] = "single",
    cut: float = CUT,
    least_communication: bool = True,
) -> Policy:
    """Return scheduling by the rates of the fairest steady state, section 5.1 of [1]_.

    Each node serves the pair of target and type that is most behind its rate. A pair with a
    minute rate would be served whenever nobody else asks: such flows are cut, though the optimum
    of least communication has hardly any.

    Parameters
    ----------
    tree : Tree
        As measured.
    bags : Bags
        The tasks.
    port : {"single", "multi"}
        Which steady state, see `steady_state`; nodes send one task at a time with either.
    cut : float
        Flows under this share of a throughput, divided by the number of hosts, are not used.
    least_communication : bool
        Whether to take, of all optima, the one that communicates least.

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
    return Policy("lp", balanced, plans=plans, theory=best.fair)
