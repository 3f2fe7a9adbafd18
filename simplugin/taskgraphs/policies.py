"""The shipped policies for concurrent task graphs, by their names in scenarios.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simplugin import policy_names
from simplugin.errors import WorkloadError
from simplugin.taskgraphs.balanced import balanced
from simplugin.taskgraphs.shares import contribution, proportional, weighted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.workloads.task_graphs import TaskGraph


class Policy(Protocol):
    """Gives each of the graphs that compete for a site a share of its power."""

    def __call__(self, graphs: Sequence[TaskGraph], site: Site, /) -> NDArray[np.float64]:
        """Return the shares.

        Parameters
        ----------
        graphs : sequence of TaskGraph
            Those that compete, at least one.
        site : Site
            What they compete for.

        Returns
        -------
        float64, shape (n_graphs,)
            Beta of each graph, above 0 and up to 1; more than 1 together if graphs may get into
            each other's way.
        """


def s(graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:  # noqa: ARG001 # as all
    """Let every graph be selfish: all of the site for each."""
    return np.ones(len(graphs))


def es(graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:  # noqa: ARG001 # as all
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
    """Weigh critical paths against equal shares, Eq. (2) of [1]_, with its `mu`."""
    return weighted(contribution(graphs, site, "cp"), mu)


def wps_width(graphs: Sequence[TaskGraph], site: Site, *, mu: float = 0.5) -> NDArray[np.float64]:
    """Weigh largest precedence levels against equal shares, Eq. (2) of [1]_.

    The paper takes a `mu` of 0.5 for random graphs, and of 0.3 where all are of FFTs.
    """
    return weighted(contribution(graphs, site, "width"), mu)


def wps_work(graphs: Sequence[TaskGraph], site: Site, *, mu: float = 0.7) -> NDArray[np.float64]:
    """Weigh computation against equal shares, Eq. (2) of [1]_, with its `mu`."""
    return weighted(contribution(graphs, site, "work"), mu)


POLICIES: Mapping[str, Policy] = {
    "balanced": balanced,
    "s": s,
    "es": es,
    "ps_cp": ps_cp,
    "ps_width": ps_width,
    "ps_work": ps_work,
    "wps_cp": wps_cp,
    "wps_width": wps_width,
    "wps_work": wps_work,
}


def policy_called(name: str, **parameters: Any) -> Policy:
    """Return a policy, with parameters of its own.

    Parameters
    ----------
    name : str
        Of a shipped one, or ``module:function`` of one's own.
    **parameters
        What the policy takes by keyword; its defaults otherwise.

    Raises
    ------
    WorkloadError
        There is none of this name, or it has no such parameter.
    """
    policy = policy_names.policy_called(name, POLICIES)
    # The first two are the graphs and the site.
    taken = list(inspect.signature(policy).parameters)[2:]
    for parameter in parameters:
        if parameter not in taken:
            has = ", ".join(map(repr, taken)) or "none"
            raise WorkloadError(f"policy {name!r} has no parameter {parameter!r}; it has {has}")
    return partial(policy, **parameters) if parameters else policy
