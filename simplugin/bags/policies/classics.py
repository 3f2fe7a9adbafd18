"""Policies of Beaumont et al. that need no plan: FCFS, CGBC and BCS.

A decision takes a `NodeState` and returns one of its `servable` pairs, None if there is none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simplugin.bags.policy import WORKER, BagPolicy, message_size, suits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simplugin.bags.policy import Choice, NodeState
    from simplugin.platforms.graphs import Tree
    from simplugin.workloads.applications import Bags

# First requests are spread over this many times the slowest one.
SPREAD = 100.0


def first_come_first_served(state: NodeState) -> Choice | None:
    """Choose the oldest request and the oldest task, section 5.2: FCFS.

    The root takes types in turn, in proportion to their weights. While the port sends, the oldest
    request that can be served is the worker's, if it asks.
    """
    if not any(state.stock) or not (state.port_free or state.asked[WORKER]):
        return None
    for target in state.queue:
        if target == WORKER or state.port_free:
            kind = _next_type(state, target)
            if kind is not None:
                return target, kind
    return None


def bandwidth_centric(state: NodeState) -> Choice | None:
    """Choose the request that comes from nearest, section 5.3: CGBC and BCS.

    The worker first, as a child of infinite bandwidth, then children by decreasing bandwidth;
    ties go to the first.
    """
    if not any(state.stock):
        return None
    if state.asked[WORKER] and (kind := _next_type(state, WORKER)) is not None:
        return WORKER, kind
    if not state.port_free:
        return None
    best, widest = None, -math.inf
    for child, bandwidth in enumerate(state.known.bandwidth, 1):
        if (
            state.asked[child]
            and bandwidth > widest
            and (kind := _next_type(state, child)) is not None
        ):
            best, widest = (child, kind), bandwidth
    return best


def _next_type(state: NodeState, target: int) -> int | None:
    """Return the type of the oldest task that serves a target, None if there is none.

    At the root, types take turns by their weights.
    """
    if not state.is_root:
        return next((kind for kind in state.arrivals if suits(state, target, kind)), None)
    handed = state.handed
    kinds = [kind for kind, tasks in enumerate(state.stock) if tasks and suits(state, target, kind)]
    weight = state.known.weight
    return min(kinds, key=lambda kind: (handed[kind] + 1) / weight[kind], default=None)


def fcfs(tree: Tree, bags: Bags) -> BagPolicy:
    """Return first come, first served, section 5.2 of [1]_: the root takes types in turn.

    Results can depend twofold on the order of the first requests, see `first_request_delays`.

    Parameters
    ----------
    tree : Tree
        Not used: the policy expects nothing of the platform.
    bags : Bags
        Not used.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    del tree, bags
    return BagPolicy("fcfs", first_come_first_served)


def cgbc(tree: Tree, bags: Bags) -> BagPolicy:
    """Return coarse-grained bandwidth-centric scheduling, section 5.3 of [1]_.

    Tasks travel bundled, one of each application (in proportion to weights), to the requesting
    child of the widest link. Hosts that may not compute all applications only distribute bundles.

    Parameters
    ----------
    tree : Tree
        The tree as measured, for the expected throughput.
    bags : Bags
        The tasks.

    Raises
    ------
    InfeasibleError
        No host computes all applications.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    from simplugin.optimum.bandwidth_centric import bandwidth_centric as best

    # A bundle per second is this many tasks per second and unit of weight.
    share = bags.weight / bags.weight.min()
    flop, byte = float((share * bags.flop).sum()), float((share * bags.byte).sum())
    able = bags.allowed(tree.hosts, tree.speed, bundled=True)[:, 0]
    hosts = [name for name, computes in zip(tree.hosts, able.tolist(), strict=True) if computes]
    expected = best(tree, flop, byte, hosts=set(hosts)) / float(bags.weight.min())
    return BagPolicy("cgbc", bandwidth_centric, bundled=True, expected_throughput=expected)


def bcs(tree: Tree, bags: Bags, *, buffer_per_application: bool = False) -> BagPolicy:
    """Return separate bandwidth-centric scheduling of each application, section 5.4 of [1]_.

    Each application has its own schedulers and workers; they share ports and CPUs in equal time.

    Parameters
    ----------
    tree : Tree
        Not used: no throughput is expected.
    bags : Bags
        Not used.
    buffer_per_application : bool
        True if each application has a buffer of all slots at each node; False if the
        applications share the slots of one.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    del tree, bags
    return BagPolicy(
        "bcs", bandwidth_centric, parallel=True, buffer_per_application=buffer_per_application
    )


def first_request_delays(tree: Tree, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return dates of first requests that put them in a random order, for `execute`.

    The dates are spread over 100 durations of the slowest request, so that transfers keep the
    order; compared with tasks of some seconds this is negligible.

    Parameters
    ----------
    tree : Tree
        The platform.
    generator : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    float64, shape (n_hosts,)
        Delays [s].
    """
    slowest = float((tree.latency + message_size(1) / tree.bandwidth).max())
    return generator.uniform(0.0, SPREAD * slowest, tree.n_hosts)
