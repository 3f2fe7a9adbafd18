"""Global ordering: all tasks of all graphs in one list, which postpones small graphs.

This is what the mapping of ready tasks is compared with in [1]_, section 5 and Figure 1.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.platforms.sites import Site
from simplugin.taskgraphs.allocation import Allocation
from simplugin.taskgraphs.allocation_checks import check_allocations
from simplugin.taskgraphs.list_schedules import Draft, by_level
from simplugin.taskgraphs.timing import task_times
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.taskgraphs.schedules import Schedule


def global_ordering(
    graphs: GraphSet, allocations: Sequence[Allocation], site: Site, *, transfers: bool = True
) -> Schedule:
    """Map all tasks of all graphs in the order of their bottom levels, without backfilling.

    A task goes to the cluster where it finishes first (ties: the first cluster), to the processors
    that are free first. It waits for its predecessors, and for all tasks before it in the list to
    have started: no task overtakes another one, on any processor.

    Parameters
    ----------
    graphs : GraphSet
        What to map. Release dates are respected, but the list is that of all graphs.
    allocations : sequence of Allocation
        One for each graph.
    site : Site
        Where.
    transfers : bool
        Whether redistributions take time.

    Returns
    -------
    Schedule
        Of all tasks.

    Raises
    ------
    WorkloadError
        The allocations do not fit; the message names the graph.
    """
    check_allocations(graphs, allocations, site)
    parts = zip(graphs.graphs, allocations, strict=True)
    level = np.concatenate([graph.bottom_levels(each.time) for graph, each in parts])
    allocation = np.concatenate([each.processors for each in allocations], axis=1)
    time = task_times(graphs.flop, graphs.alpha, allocation, site.speed[:, np.newaxis])
    draft = Draft(graphs, site, transfers)
    free = [np.zeros(int(count)) for count in site.processors]
    last_start = 0.0
    for task in by_level(graphs, level).tolist():
        places = []
        for cluster in range(site.n_clusters):
            count = allocation[cluster, task]
            chosen = np.argsort(free[cluster], kind="stable")[:count]
            [arrival] = draft.arrival(task, cluster, count[np.newaxis])
            start = max(float(arrival), float(free[cluster][chosen[-1]]), last_start)
            places.append((start + float(time[cluster, task]), cluster, start, chosen))
        finish, cluster, last_start, chosen = min(places, key=lambda place: place[:2])
        free[cluster][chosen] = finish
        draft.place(task, cluster, site.first[cluster] + chosen, last_start, finish)
    return draft.schedule(by_start=False)
