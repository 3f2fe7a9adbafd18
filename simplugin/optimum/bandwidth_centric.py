"""Best steady state of a single application on a tree, in closed form."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.platforms.graphs import Tree


def bandwidth_centric(
    tree: Tree,
    flop: float,
    byte: float,
    *,
    port: Literal["single", "multi"] = "single",
    hosts: Collection[str] | None = None,
) -> float:
    """Return the best throughput of one application: fast links first [tasks/s].

    The largest rate of a subtree is that of its root plus those of the children, served
    by decreasing bandwidth until the port is busy all the time [1]_; children of equal bandwidth
    are served in their order. With the sums of flops and bytes over one task of each application,
    it is the throughput of macro-tasks.

    Parameters
    ----------
    tree : Tree
        The platform.
    flop : float
        Computation of a task [flop].
    byte : float
        Data of a task [byte]; may be 0.
    port : {"single", "multi"}
        ``single``: the sends of a host share one port; ``multi``: each link is used apart.
    hosts : collection of str, optional
        The hosts that may compute the tasks, the others only distribute them; None for all.

    Raises
    ------
    InfeasibleError
        No host computes.
    WorkloadError
        A size is out of its range, or `hosts` names no host of the tree.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, Y. Robert (2002). Bandwidth-centric
       allocation of independent tasks on heterogeneous platforms. IPDPS.
    """
    if not 0 < flop < np.inf or not 0 <= byte < np.inf:
        raise WorkloadError(
            f"tasks have {flop!r} flop and {byte!r} byte; give a positive number of flop and"
            " a number of byte from 0 on"
        )
    speed = tree.speed
    if hosts is not None:
        if unknown := set(hosts) - set(tree.hosts):
            raise WorkloadError(
                f"hosts names {min(unknown)!r}, which is no host of the tree of {tree.hosts[0]!r}"
            )
        speed = np.where([name in hosts for name in tree.hosts], speed, 0.0)
    if not np.any(speed > 0):
        raise InfeasibleError(
            f"no host of the tree of {tree.hosts[0]!r} computes; give one a speed above 0"
            + (", or more hosts" if hosts is not None else "")
        )
    own: list[float] = (speed / flop).tolist()
    cost: list[float] = (byte / tree.bandwidth).tolist()
    parent: list[int] = tree.parent.tolist()
    # By decreasing bandwidth, ties in the order of hosts: the order in which children are served.
    children: list[list[int]] = [[] for _ in own]
    for host in np.argsort(-tree.bandwidth, kind="stable").tolist():
        if host:
            children[parent[host]].append(host)
    most = [0.0] * len(own)
    for host in range(len(own) - 1, -1, -1):
        free, served = 1.0, 0.0
        for child in children[host]:
            rate = most[child]
            if cost[child] > 0:
                rate = min(rate, free / cost[child])
                if port == "single":
                    free = max(free - rate * cost[child], 0.0)
            served += rate
        most[host] = own[host] + served
    return most[0]
