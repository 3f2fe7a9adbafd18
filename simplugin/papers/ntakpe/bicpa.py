"""A published figure to compare with: CPA on a graph of ten tasks and a cluster of 20 hosts.

The program [1]_ of one of the authors of the paper that is implemented here simulates CPA, and
biCPA, on SimGrid. The sizes, Amdahl parts and edges below are those of its example
``daggen_ptg.dot``, and the cluster is that of its example platform; its output for CPA is a
makespan of 218.630 s, an area of 3241.080 processor seconds and a "peak" of 20 processors, which
are those that run a task at all.

biCPA lets CPA believe in clusters of 1, 2, ... processors and maps each allocation to the whole
cluster: a trade of makespan against area.

References
----------
.. [1] F. Suter (2013). biCPA, a simulator of bi-criteria scheduling of parallel task graphs.
   https://github.com/frs69wq/biCPA
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simplugin.platforms.sites import MultiCluster, Site
from simplugin.taskgraphs.execution import GraphExecution, execute
from simplugin.taskgraphs.policies.allocation import cpa
from simplugin.taskgraphs.schedule import Schedule
from simplugin.taskgraphs.timing import Local, redistribution_time, task_times
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

CLUSTER = MultiCluster(
    "bicpa",
    (("host", 20, 1e9),),
    bandwidth=125e6,
    latency=50e-6,
    switch_bandwidth=2.25e9,
    switch_latency=500e-6,
)

GRAPH = TaskGraph(
    name="daggen_ptg",
    tasks=tuple(str(number) for number in range(1, 11)),
    flop=np.array(
        [
            *(49659735022.0, 379694762866.0, 249883626824.0, 3775920707.0, 115930186069.0),
            *(64260191740.0, 6790988188.0, 353565742890.0, 368293445632.0, 155812110758.0),
        ]
    ),
    alpha=np.array([0.19, 0.19, 0.0, 0.13, 0.12, 0.16, 0.06, 0.09, 0.05, 0.07]),
    byte=np.zeros(10),
    edges=np.array([[2, 4], [3, 5], [4, 6], [4, 7], [7, 8], [7, 9], [7, 10]]) - 1,
    edge_byte=np.array(
        [411041792.0, 536870912.0, 75497472.0, 75497472.0, 209715200.0, 209715200.0, 209715200.0]
    ),
)


def schedule(believed: int) -> Schedule:
    """Return the schedule of `GRAPH` on `CLUSTER`, allocated by CPA for a cluster of some size.

    Mapped as biCPA does: all tasks by decreasing bottom level, none on fewer processors than it
    has. A task takes, of the processors that are free when its data can have arrived, those that
    got free last; if they are not enough, also those that get free next.

    Parameters
    ----------
    believed : int
        Processors that CPA believes in, from 1 on; 20 is CPA itself.
    """
    site = CLUSTER.site()
    counts = cpa(GRAPH, believed, float(site.speed[0]))
    times = task_times(GRAPH.flop, GRAPH.alpha, counts, site.speed[0])
    free = np.zeros(site.n_processors)
    start, finish = np.zeros(GRAPH.n_tasks), np.zeros(GRAPH.n_tasks)
    processors = [np.zeros(0, dtype=np.int64)] * GRAPH.n_tasks
    order = np.argsort(-GRAPH.bottom_levels(times), kind="stable")
    for task in order.tolist():
        ready = _ready(task, counts, finish, site)
        ranks = np.lexsort((np.where(free <= ready, -free, free), free > ready))
        processors[task] = ranks[: counts[task]]
        start[task] = max(ready, np.max(free[processors[task]]))
        finish[task] = free[processors[task]] = start[task] + times[task]
    return Schedule.of(site, GraphSet((GRAPH,)), processors, start, finish, order)


def _ready(task: int, counts: NDArray[np.int64], finish: NDArray[np.float64], site: Site) -> float:
    """Return the estimated date at which all data of a task have arrived [s]."""
    before = GRAPH.predecessors
    sources, edges = before.of(task), before.edges_of(task)
    times = redistribution_time(site, GRAPH.edge_byte[edges], 0, counts[sources], 0, counts[task])
    return float(np.max(finish[sources] + times, initial=0.0))


def executed(believed: int, *, local: Local = "sent") -> GraphExecution:
    """Execute that schedule; only with local data sent is the published figure met.

    Parameters
    ----------
    believed : int
        See `schedule`.
    local : {"sent", "kept"}
        See `redistribution`.
    """
    return execute(
        GraphSet((GRAPH,)),
        CLUSTER.site(),
        schedule(believed),
        platform=CLUSTER.platform(),
        local=local,
    )
