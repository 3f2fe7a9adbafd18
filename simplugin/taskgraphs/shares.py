"""Shares of a site's power among graphs: what each contributes, and Eqs. (1) and (2) of [1]_.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.reference import reference_of
from simplugin.taskgraphs.timing import task_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from simplugin.platforms.sites import Site
    from simplugin.workloads.task_graphs import TaskGraph

Characteristic = Literal["cp", "width", "work"]


def contribution(
    graphs: Sequence[TaskGraph], site: Site, characteristic: Characteristic
) -> NDArray[np.float64]:
    """Return what each graph contributes to a set of graphs (section 6 of [1]_).

    Parameters
    ----------
    graphs : sequence of TaskGraph
        The set.
    site : Site
        Whose reference cluster times are on.
    characteristic : {"cp", "width", "work"}
        Length of the critical path with one reference processor a task and without
        redistributions [s]; size of the largest precedence level; computation of all tasks [flop].

    Returns
    -------
    float64, shape (n_graphs,)
        Gamma of each graph.

    Raises
    ------
    WorkloadError
        There is no such characteristic.
    """
    if characteristic == "cp":
        speed = reference_of(site).speed
        return np.array([_critical_path(graph, speed) for graph in graphs])
    if characteristic == "width":
        return np.array([graph.width for graph in graphs], dtype=np.float64)
    if characteristic == "work":
        return np.array([graph.work for graph in graphs])
    raise WorkloadError(f"graphs have no {characteristic!r}; give 'cp', 'width' or 'work'")


def _critical_path(graph: TaskGraph, speed: float) -> float:
    """Return the length of the longest path with one processor a task [s]."""
    return float(np.max(graph.bottom_levels(task_times(graph.flop, graph.alpha, 1, speed))))


def proportional(gamma: ArrayLike) -> NDArray[np.float64]:
    """Return shares in proportion to contributions, Eq. (1) of [1]_.

    Parameters
    ----------
    gamma : float64, shape (n_graphs,)
        What each graph contributes, in any unit.

    Returns
    -------
    float64, shape (n_graphs,)
        Shares, 1 together.

    Raises
    ------
    WorkloadError
        A contribution is negative or no number, or all are 0.
    """
    gamma = np.asarray(gamma, dtype=np.float64)
    if not np.all(np.isfinite(gamma) & (gamma >= 0)) or not np.any(gamma):
        raise WorkloadError(
            f"contributions {gamma.tolist()} cannot be shared after; give numbers >= 0, not all 0,"
            " or take equal shares, 'es'"
        )
    return np.asarray(gamma / np.sum(gamma))


def weighted(gamma: ArrayLike, mu: float) -> NDArray[np.float64]:
    """Return shares between equal ones and those in proportion to contributions, Eq. (2) of [1]_.

    Parameters
    ----------
    gamma : float64, shape (n_graphs,)
        What each graph contributes, in any unit.
    mu : float
        Weight of the equal shares, from 0 to 1.

    Returns
    -------
    float64, shape (n_graphs,)
        Shares, 1 together.

    Raises
    ------
    WorkloadError
        `mu` is out of its range, a contribution is negative or no number, or all are 0.
    """
    if not 0 <= mu <= 1:
        raise WorkloadError(f"mu is {mu!r}; give a number from 0 to 1")
    shares = proportional(gamma)
    return mu / len(shares) + (1 - mu) * shares


def checked_shares(
    beta: ArrayLike, n_graphs: int, policy: str = "the policy"
) -> NDArray[np.float64]:
    """Return shares as an array, or refuse them.

    Parameters
    ----------
    beta : float64, shape (n_graphs,)
        What a policy gave.
    n_graphs : int
        How many graphs it was asked about.
    policy : str
        What messages call it.

    Raises
    ------
    WorkloadError
        A share is not above 0 and up to 1, or there is not one a graph.
    """
    shares = np.asarray(beta, dtype=np.float64)
    if shares.shape != (n_graphs,):
        raise WorkloadError(
            f"{policy} gives shares of shape {shares.shape}; give ({n_graphs},), one a graph"
        )
    wrong = ~((shares > 0) & (shares <= 1))
    if np.any(wrong):
        graph = int(np.argmax(wrong))
        raise WorkloadError(
            f"{policy} gives graph {graph} the share {float(shares[graph])!r};"
            f" give one above 0 and up to 1{remedy_of(shares[graph])}"
        )
    return shares


def remedy_of(share: float) -> str:
    """Say what else to take where a share is 0: in proportion, who has no work gets nothing."""
    return "; use a weighted policy, 'wps_...', or 'es'" if share == 0 else ""
