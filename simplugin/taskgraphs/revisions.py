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


class Revised:
    """Shares by a policy, of the graphs that are there.

    Graphs all of whose tasks are mapped compete no more.

    Parameters
    ----------
    graphs : GraphSet
        All graphs, those to come included; they are not looked at before their release.
    site : Site
        Where.
    policy : Policy
        Gives shares.
    when : {"arrival", "event"}
        Whether a graph keeps the share that it got when it was submitted; or all shares, of what
        is left of the graphs, are computed anew whenever a graph is submitted or completed.
    readings : Readings
        For allocations.

    Attributes
    ----------
    shares : list of (float, dict of int to float)
        Of each revision its date and the shares that it gave [s].
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
        self.shares: list[tuple[float, dict[int, float]]] = []

    def __call__(
        self,
        now: float,
        active: Sequence[int],
        mapped: Sequence[bool],
        _forecast: Forecast,
        /,
    ) -> dict[int, Allocation]:
        """Return new allocations if a graph came or went."""
        before, self._active = self._active, list(active)
        if self._active == before:
            return {}
        done = self._done(active, mapped)
        competing = [graph for graph in active if not np.all(done[graph])]
        if self._when == "arrival" and not set(competing) - set(before):
            return {}
        if not competing:
            return {}
        left = [self._graphs.graphs[graph].without(done[graph]) for graph in competing]
        beta = checked_shares(self._policy(left, self._site), len(left))
        shares = dict(zip(competing, beta.tolist(), strict=True))
        if self._when == "arrival":
            shares = {graph: share for graph, share in shares.items() if graph not in before}
        self.shares.append((now, shares))
        return {
            graph: self._allocation(graph, share, done[graph]) for graph, share in shares.items()
        }

    def _done(self, active: Sequence[int], mapped: Sequence[bool]) -> dict[int, NDArray[np.bool_]]:
        """Return which tasks of each graph keep what they have."""
        flags, first = np.asarray(mapped, dtype=np.bool_), self._graphs.first
        return {graph: flags[first[graph] : first[graph + 1]] for graph in active}

    def _allocation(self, graph: int, share: float, done: NDArray[np.bool_]) -> Allocation:
        """Return what the rest of a graph gets."""
        return scrap_max(self._graphs.graphs[graph], self._site, share, self._readings, done=done)
