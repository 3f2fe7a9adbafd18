"""MHEFT: HEFT for parallel tasks, each with as many processors as let it finish first.

References
----------
.. [1] H. Casanova, F. Desprez, F. Suter (2004). From Heterogeneous Task Scheduling to Heterogeneous
   Mixed Parallel Scheduling. Euro-Par.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.heft import upward_ranks
from simplugin.taskgraphs.list_schedules import Draft, by_level
from simplugin.taskgraphs.timing import task_times

if TYPE_CHECKING:
    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.schedules import Schedule
    from simplugin.workloads.graph_sets import GraphSet


def mheft(graphs: GraphSet, site: Site, *, limit: float = 1.0, transfers: bool = True) -> Schedule:
    """Schedule all tasks of all graphs by MHEFT [1]_.

    Tasks come by decreasing upward rank, as in `heft`. For each, all clusters and all numbers of
    processors are tried: p processors are those that are free first, and nothing is filled in
    before what is there. The earliest finish is taken; ties go to the first cluster, then to the
    fewest processors. Under Amdahl's law a task always gains by more processors, so that tasks take
    whole clusters and graphs lose their task parallelism: a limit remedies that.

    Parameters
    ----------
    graphs : GraphSet
        What to schedule, as one list; release dates are respected.
    site : Site
        Where.
    limit : float
        What part of a cluster a task may have at most, above 0 and up to 1; one processor is always
        allowed.
    transfers : bool
        Whether redistributions take time.

    Returns
    -------
    Schedule
        Of all tasks.

    Raises
    ------
    WorkloadError
        The limit is out of its range.
    """
    if not 0 < limit <= 1:
        raise WorkloadError(f"limit is {limit!r}; give the part of a cluster, above 0 and up to 1")
    draft = Draft(graphs, site, transfers)
    free = [np.zeros(int(count)) for count in site.processors]
    # A third of three processors is one, whatever rounding says.
    counts = [
        np.arange(1, max(1, int(limit * count * (1 + 1e-12))) + 1)
        for count in site.processors.tolist()
    ]
    flop, alpha = graphs.flop, graphs.alpha
    for task in by_level(graphs, upward_ranks(graphs, site, transfers=transfers)).tolist():
        places = []
        for cluster, count in enumerate(counts):
            start = np.maximum(
                np.sort(free[cluster])[: len(count)], draft.arrival(task, cluster, count)
            )
            finish = start + task_times(flop[task], alpha[task], count, site.speed[cluster])
            best = int(np.argmin(finish))
            places.append((float(finish[best]), cluster, best, float(start[best])))
        end, cluster, best, begin = min(places)
        chosen = np.argsort(free[cluster], kind="stable")[: best + 1]
        free[cluster][chosen] = end
        draft.place(task, cluster, site.first[cluster] + chosen, begin, end)
    return draft.schedule(by_start=False)
