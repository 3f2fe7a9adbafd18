"""Shares revised while graphs come and go: running tasks are left alone, waiting ones revised.

This is what the paper [1]_ leaves for later: shares are computed anew when a graph is submitted,
and when one is completed, from what is left of the graphs that are there.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.allocation import scrap_max
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.taskgraphs.shares import checked_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.allocation import Allocation
    from simplugin.taskgraphs.online_mapping import Forecast
    from simplugin.taskgraphs.policies import Policy
    from simplugin.workloads.graph_sets import GraphSet

When = Literal["arrival", "event"]


def competing(
    graphs: GraphSet, active: Sequence[int], mapped: Sequence[bool]
) -> dict[int, NDArray[np.bool_]]:
    """Return the graphs that compete: those with something to compute that is not mapped yet.

    Parameters
    ----------
    graphs : GraphSet
        All graphs.
    active : sequence of int
        Those that are submitted and not completed.
    mapped : sequence of bool, shape (n_tasks,)
        Tasks that keep what they have.

    Returns
    -------
    dict of int to bool, shape (n_tasks of the graph,)
        Which of the tasks of each are mapped, in the order of `active`.
    """
    flags, first = np.asarray(mapped, dtype=np.bool_), graphs.first
    parts = {graph: flags[first[graph] : first[graph + 1]] for graph in active}
    return {
        graph: done for graph, done in parts.items() if np.any(graphs.graphs[graph].flop[~done])
    }


class Revised:
    """Shares by a policy, of the graphs that are there.

    It remembers which graphs were there when it was last asked, so that each execution needs its
    own, or a copy, as `simplugin.taskgraphs.execution.execute` makes.

    Parameters
    ----------
    graphs : GraphSet
        All graphs, those to come included; they are not looked at before their release.
    site : Site
        Where.
    policy : Policy
        Gives shares. It is shown what is left of each graph that competes: the tasks that are not
        mapped yet.
    when : {"arrival", "event"}
        Whether a graph keeps the share that it got when it was submitted; or all shares are
        computed anew whenever a graph is submitted or completed.
    readings : Readings
        For allocations.

    Raises
    ------
    WorkloadError
        There is no such `when`.
    """

    def __init__(
        self,
        graphs: GraphSet,
        site: Site,
        policy: Policy,
        when: When = "event",
        readings: Readings = PAPER,
    ) -> None:
        if when not in ("arrival", "event"):
            raise WorkloadError(f"when is {when!r}; choose 'arrival' or 'event'")
        self._graphs = graphs
        self._site = site
        self._policy = policy
        self._when = when
        self._readings = readings
        self._active: list[int] = []

    def __call__(
        self, _now: float, active: Sequence[int], mapped: Sequence[bool], _forecast: Forecast, /
    ) -> dict[int, Allocation]:
        """Return new allocations if a graph came or went."""
        before, self._active = self._active, list(active)
        if self._active == before:
            return {}
        done = competing(self._graphs, active, mapped)
        concerned = [graph for graph in done if self._when == "event" or graph not in before]
        if not concerned:
            return {}
        shares = self._shares(done)
        return {
            graph: scrap_max(
                self._graphs.graphs[graph],
                self._site,
                shares[graph],
                self._readings,
                done=done[graph],
            )
            for graph in concerned
        }

    def _shares(self, done: dict[int, NDArray[np.bool_]]) -> dict[int, float]:
        """Return what the policy gives those that compete."""
        left = [self._graphs.graphs[graph].without(mapped) for graph, mapped in done.items()]
        beta = checked_shares(self._policy(left, self._site), len(left))
        return dict(zip(done, beta.tolist(), strict=True))
