"""Shares of a site's power among graphs: policies of the report, and policies of a user's own.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.platforms.sites import Site
from simplugin.taskgraphs.policies.allocation import reference_of, remedy_of
from simplugin.taskgraphs.timing import task_times
from simplugin.workloads.task_graphs import TaskGraph


class SharingPolicy(Protocol):
    """Function that gives each of the graphs that compete for a site a share of its power.

    Further parameters are keywords, whose types scenarios check::

        def depth(graphs, site, *, power: float = 1.0):
            levels = np.array([graph.level.max() + 1.0 for graph in graphs]) ** power
            return levels / levels.sum()
    """

    def __call__(self, graphs: Sequence[TaskGraph], site: Site, /) -> NDArray[np.float64]:
        """Return the shares.

        Parameters
        ----------
        graphs : sequence of TaskGraph
            The competing graphs, at least one.
        site : Site
            The site.

        Returns
        -------
        float64, shape (n_graphs,)
            Beta of each graph, above 0 and at most 1; the sum may exceed 1.
        """


Characteristic = Literal["cp", "width", "work"]


def contribution(
    graphs: Sequence[TaskGraph], site: Site, characteristic: Characteristic
) -> NDArray[np.float64]:
    """Return the contribution of each graph to a set of graphs (section 6 of [1]_).

    Parameters
    ----------
    graphs : sequence of TaskGraph
        The set.
    site : Site
        The site of the reference cluster.
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
        The characteristic is unknown.
    """
    if characteristic == "cp":
        speed = reference_of(site).speed
        times = (task_times(graph.flop, graph.alpha, 1, speed) for graph in graphs)
        pairs = zip(graphs, times, strict=True)
        return np.array([np.max(graph.bottom_levels(time)) for graph, time in pairs])
    if characteristic == "width":
        return np.array([graph.width for graph in graphs], dtype=np.float64)
    if characteristic == "work":
        return np.array([graph.work for graph in graphs])
    raise WorkloadError(f"graphs have no {characteristic!r}; give 'cp', 'width' or 'work'")


def proportional(gamma: ArrayLike) -> NDArray[np.float64]:
    """Return shares in proportion to contributions, Eq. (1) of [1]_.

    Parameters
    ----------
    gamma : float64, shape (n_graphs,)
        Contribution of each graph, in any unit.

    Returns
    -------
    float64, shape (n_graphs,)
        Shares, 1 together.

    Raises
    ------
    WorkloadError
        A contribution is negative or not finite, or all are 0.
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
        Contribution of each graph, in any unit.
    mu : float
        Weight of the equal shares, from 0 to 1.

    Returns
    -------
    float64, shape (n_graphs,)
        Shares, 1 together.

    Raises
    ------
    WorkloadError
        `mu` is out of its range, a contribution is negative or not finite, or all are 0.
    """
    if not 0 <= mu <= 1:
        raise WorkloadError(f"mu is {mu!r}; give a number from 0 to 1")
    shares = proportional(gamma)
    return mu / len(shares) + (1 - mu) * shares


def checked_shares(
    beta: ArrayLike, n_graphs: int, policy: str = "the policy"
) -> NDArray[np.float64]:
    """Return shares as an array.

    Parameters
    ----------
    beta : float64, shape (n_graphs,)
        The shares of a policy.
    n_graphs : int
        Number of graphs.
    policy : str
        Name of the policy in messages.

    Raises
    ------
    WorkloadError
        A share is not above 0 and at most 1, or the number of shares is wrong.
    """
    rule = f"{n_graphs} numbers above 0 and up to 1, one for each graph"
    shares = decided(f"{policy} gives shares", beta, rule, (n_graphs,), least=0.0, most=1.0)
    if np.any(shares == 0):
        graph = int(np.argmin(shares))
        raise WorkloadError(
            f"{policy} gives graph {graph} the share 0.0; give {rule}{remedy_of(0.0)}"
        )
    return shares


def s(graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:  # noqa: ARG001 # the protocol
    """Give every graph the whole site: all are selfish."""
    return np.ones(len(graphs))


def es(graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:  # noqa: ARG001 # the protocol
    """Give all graphs equal shares."""
    return np.full(len(graphs), 1 / len(graphs))


def ps_cp(graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:
    """Share in proportion to critical paths, Eq. (1) of [1]_."""
    return proportional(contribution(graphs, site, "cp"))


def ps_width(graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:
    """Share in proportion to largest precedence levels, Eq. (1) of [1]_."""
    return proportional(contribution(graphs, site, "width"))


def ps_work(graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:
    """Share in proportion to computation, Eq. (1) of [1]_."""
    return proportional(contribution(graphs, site, "work"))


def wps_cp(graphs: Sequence[TaskGraph], site: Site, *, mu: float = 0.5) -> NDArray[np.float64]:
    """Weigh critical paths against equal shares, Eq. (2) of [1]_, with its `mu`.

    Parameters
    ----------
    graphs, site
        The graphs and the site.
    mu : float
        See `weighted`.
    """
    return weighted(contribution(graphs, site, "cp"), mu)


def wps_width(graphs: Sequence[TaskGraph], site: Site, *, mu: float = 0.5) -> NDArray[np.float64]:
    """Weigh largest precedence levels against equal shares, Eq. (2) of [1]_.

    The paper takes a `mu` of 0.5 for random graphs, and of 0.3 where all are of FFTs.

    Parameters
    ----------
    graphs, site
        The graphs and the site.
    mu : float
        See `weighted`.
    """
    return weighted(contribution(graphs, site, "width"), mu)


def wps_work(graphs: Sequence[TaskGraph], site: Site, *, mu: float = 0.7) -> NDArray[np.float64]:
    """Weigh computation against equal shares, Eq. (2) of [1]_, with its `mu`.

    Parameters
    ----------
    graphs, site
        The graphs and the site.
    mu : float
        See `weighted`.
    """
    return weighted(contribution(graphs, site, "work"), mu)
