"""When shares are balanced again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from small_graphs import run_on

from simplugin.platforms.sites import LILLE
from simplugin.taskgraphs.metrics import slowdown
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.taskgraphs.policies.balanced import alone
from simplugin.taskgraphs.policies.mapping import Mapper, plan
from simplugin.taskgraphs.policies.revisions import Rebalanced
from simplugin.taskgraphs.readings import Readings
from simplugin.workloads.graph_generators import combination
from simplugin.workloads.graph_sets import GraphSet

SITE = LILLE.site()
GRAPHS = combination("random", 4, 3)
TOGETHER = Readings(redistribution="together")


def fixed(graphs, beta):
    return [
        scrap_max(graph, SITE, share)
        for graph, share in zip(graphs.graphs, np.asarray(beta).tolist(), strict=True)
    ]


class Asked:
    """A forecast that counts how often it is asked."""

    def __init__(self, graphs):
        self.mapper = Mapper(graphs, fixed(graphs, np.ones(graphs.n_graphs)), SITE)
        self.count = 0

    def __call__(self, now, allocations=None):
        self.count += 1
        return self.mapper.forecast(now, allocations)


def test_it_is_time_when_graphs_come_or_go_or_enough_tasks_are_mapped():
    # Graph 3 comes later: neither its tasks nor its makespan count before.
    graphs = GraphSet(GRAPHS, [0.0, 0.0, 0.0, 10.0])
    known = int(graphs.first[3])
    revise, asked = Rebalanced(graphs, SITE, part=0.1), Asked(graphs)
    mapped = [False] * graphs.n_tasks

    def is_time(active, n_mapped):
        before = asked.count
        now = 10.0 if 3 in active else 0.0
        revise(now, active, [number < n_mapped for number in range(len(mapped))], asked)
        return asked.count > before

    needed = int(np.ceil(0.1 * known))
    assert needed < 0.1 * graphs.n_tasks  # or it would not tell
    assert is_time([0, 1, 2], 0)
    assert not is_time([0, 1, 2], 0)
    assert not is_time([0, 1, 2], needed - 1)
    assert is_time([0, 1, 2], needed)
    assert not is_time([0, 1, 2], 2 * needed - 1)
    assert is_time([0, 1, 2, 3], 2 * needed - 1)
    assert is_time([1, 2, 3], 2 * needed - 1)


def test_shares_that_stay_leave_allocations_alone():
    graphs = GraphSet(GRAPHS[:1])
    revise, asked = Rebalanced(graphs, SITE), Asked(graphs)
    [allocation] = revise(0.0, [0], [False] * graphs.n_tasks, asked).values()
    assert np.array_equal(allocation.processors, scrap_max(GRAPHS[0], SITE, 1.0).processors)
    mapped = [number < graphs.n_tasks // 2 for number in range(graphs.n_tasks)]
    assert revise(1.0, [0], mapped, asked) == {}


def test_graphs_without_work_are_executed():
    # One is there from the start, another comes while the rest is busy.
    idle = [
        replace(graph, name=f"idle {number}", flop=0 * graph.flop, edge_byte=0 * graph.edge_byte)
        for number, graph in enumerate(GRAPHS[2:])
    ]
    graphs = GraphSet((*GRAPHS[:2], *idle), [0.0, 0.0, 0.0, 0.3])
    how = {"allocations": fixed(graphs, np.ones(4)), "revise": Rebalanced(graphs, SITE)}
    done = run_on(LILLE, graphs.graphs, release=graphs.release, **how)
    own = [alone(graph, scrap_max(graph, SITE, 1.0), SITE) for graph in graphs.graphs]
    assert own[2:] == [0.0, 0.0]
    assert slowdown(own, done.schedule.makespans)[2:].tolist() == [1.0, 1.0]


def test_all_tasks_mapped_is_nothing_to_balance():
    graphs = GraphSet(GRAPHS)
    assert Rebalanced(graphs, SITE)(0.0, [0, 2], [True] * graphs.n_tasks, Asked(graphs)) == {}


def test_alone_is_a_plan_that_counts_contention():
    graphs = GraphSet(GRAPHS[1:2])
    found = plan(graphs, fixed(graphs, [1.0]), SITE, readings=TOGETHER).makespan
    assert alone(GRAPHS[1], scrap_max(GRAPHS[1], SITE, 1.0), SITE) == found
