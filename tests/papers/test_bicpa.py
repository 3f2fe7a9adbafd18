"""The published figure of CPA, met on SimGrid, and what CPA comes to with other beliefs."""

import numpy as np
import pytest

from simplugin.papers.ntakpe.bicpa import CLUSTER, GRAPH, executed, schedule
from simplugin.papers.statements import statements
from simplugin.taskgraphs.assumptions import ModelAssumptions
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.allocation import Allocation
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.schedule import violations
from simplugin.taskgraphs.timing import task_times
from simplugin.workloads.task_graphs import GraphSet

# As printed: seconds, processor seconds, processors.
MAKESPAN, AREA, PEAK = 218.630, 3241.080, 20


def test_published_figure():
    done = executed(20).schedule
    assert done.makespan == pytest.approx(MAKESPAN, abs=5e-4)
    assert done.area == pytest.approx(AREA, abs=5e-4)
    assert len(np.unique(done.processor)) == PEAK
    stated = {each.quantity: each.paper for each in statements("simplugin.papers.ntakpe")}
    assert [stated[name] for name in ("makespan", "area", "peak")] == [MAKESPAN, AREA, PEAK]
    # It needs local data to be sent.
    assert abs(executed(20, local="kept").makespan - MAKESPAN) > 0.1


@pytest.mark.parametrize("planned", [False, True])
def test_the_mapping_of_this_package_meets_it_too_without_packing(planned):
    counts = schedule(20).allocation
    times = task_times(GRAPH.flop, GRAPH.alpha, counts, 1e9)
    graphs, site = GraphSet((GRAPH,)), CLUSTER.site()
    decisions = [Allocation(counts, times, counts[np.newaxis, :])]
    assumptions = ModelAssumptions(packing="off")
    if planned:
        decisions = plan(graphs, decisions, site, assumptions=assumptions)
    how = {"platform": CLUSTER.platform(), "assumptions": assumptions}
    done = execute(graphs, site, decisions, **how).schedule
    assert done.makespan == pytest.approx(MAKESPAN, abs=5e-4)
    assert done.area == pytest.approx(AREA, abs=5e-4)


def test_the_more_it_believes_in_the_more_it_takes():
    rows = [executed(size).schedule for size in range(1, 21)]
    assert np.all(np.diff([row.area for row in rows]) >= 0)
    # One processor each is all work, whatever the order; nothing is faster than all work spread
    # over all processors, or than the largest task with all of them.
    assert rows[0].area == pytest.approx(GRAPH.work / 1e9)
    alone = task_times(GRAPH.flop, GRAPH.alpha, 20, 1e9)
    assert min(row.makespan for row in rows) > max(GRAPH.work / 20e9, np.max(alone))
    # On one processor each, the longest path with its data: 2, 4, 7, 9 and three redistributions
    # over one link or, within a host, over that host's own link.
    path = GRAPH.flop[[1, 3, 6, 8]].sum() / 1e9
    moved = GRAPH.edge_byte[[0, 3, 5]].sum() / 125e6
    assert path <= rows[0].makespan <= path + 3 * (6e-4 + moved)
    assert all(violations(schedule(size), transfers=True) == [] for size in (1, 7, 20))
