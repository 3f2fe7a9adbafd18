"""Schedulers of tasks on single processors against their published pseudo-code, word by word.

Every processor stands for itself here, with its own costs, and an insertion looks at every gap:
neither clusters nor lists of idle intervals are known.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from small_graphs import allocation_of, graph_of, site_of, star

from simplugin.core.errors import WorkloadError
from simplugin.taskgraphs.assumptions import ModelAssumptions
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.policies.shipped import SCHEDULERS
from simplugin.taskgraphs.schedule import violations
from simplugin.taskgraphs.timing import redistribution
from simplugin.workloads.task_graphs import GraphSet

SINGLE = ["heft", "cpop", "peft", "min_min", "max_min", "sufferage"]


class Published:
    """Costs of tasks (i) on processors (p), and of edges between different ones."""

    def __init__(self, graphs, site, transfers, local):
        self.n, self.p, self.kept = graphs.n_tasks, site.n_processors, local == "kept"
        self.cluster = np.repeat(np.arange(site.n_clusters), site.processors)
        self.w = [[flop / site.speed[k] for k in self.cluster] for flop in graphs.flop]
        self.pred, self.succ = ([{} for _ in range(self.n)] for _ in range(2))
        self.site, self.release = site, graphs.release[graphs.graph_of]
        self.graphs = [range(a, b) for a, b in pairwise(graphs.first.tolist())]
        orders = zip(graphs.graphs, graphs.first.tolist(), strict=False)
        self.order = [first + task for graph, first in orders for task in graph.order.tolist()]
        for (i, j), byte in zip(graphs.edges.tolist(), graphs.edge_byte.tolist(), strict=True):
            self.succ[i][j] = self.pred[j][i] = byte * transfers
        every = range(self.p)
        pairs = [(p, q) for p in every for q in every]
        self.mean_w = [np.mean(each) for each in self.w]
        # The mean of a cost that is linear in the data.
        unit = np.mean([self.between(1.0, p, q) - self.between(0.0, p, q) for p, q in pairs])
        start = np.mean([self.between(0.0, p, q) for p, q in pairs])
        self.mean_c = lambda byte: start + byte * unit if byte else 0.0
        # Actual start and finish of tasks, and their processors.
        self.ast, self.aft, self.on = {}, {}, {}

    def between(self, byte, p, q):
        """The time of data between two clusters, whichever processors these are."""
        k, m = self.cluster[p], self.cluster[q]
        site = self.site
        slowest = min(site.bandwidth[k], site.bandwidth[m], site.shared[k, m])
        return site.latency[k, m] + byte / slowest

    def c(self, byte, p, q):
        return 0.0 if (p == q and self.kept) or not byte else self.between(byte, p, q)

    def data(self, j, q):
        there = (self.aft[i] + self.c(b, self.on[i], q) for i, b in self.pred[j].items())
        return max([self.release[j], *there])

    def est(self, j, q, insertion):
        data = self.data(j, q)
        busy = sorted((self.ast[i], self.aft[i]) for i in self.on if self.on[i] == q)
        if not insertion:
            return max([data, *(end for _, end in busy)])
        gaps = pairwise([(0.0, 0.0), *busy, (np.inf, np.inf)])
        return next(
            max(end, data)
            for (_, end), (start, _) in gaps
            if max(end, data) + self.w[j][q] <= start
        )

    def place(self, j, q, insertion=True):
        self.ast[j] = self.est(j, q, insertion)
        self.aft[j], self.on[j] = self.ast[j] + self.w[j][q], q

    def eft(self, j, q, insertion=True):
        return self.est(j, q, insertion) + self.w[j][q]

    def rank_u(self):
        rank = {}
        for i in reversed(self.order):
            after = (self.mean_c(b) + rank[j] for j, b in self.succ[i].items())
            rank[i] = self.mean_w[i] + max(after, default=0.0)
        return rank

    def rank_d(self):
        rank = {}
        for j in self.order:
            before = (rank[i] + self.mean_w[i] + self.mean_c(b) for i, b in self.pred[j].items())
            rank[j] = max(before, default=0.0)
        return rank

    def ready(self):
        return [
            j for j in range(self.n) if j not in self.on and all(i in self.on for i in self.pred[j])
        ]

    def heft(self):
        rank, topological = self.rank_u(), {i: at for at, i in enumerate(self.order)}
        for i in sorted(range(self.n), key=lambda i: (-rank[i], topological[i])):
            self.place(i, min(range(self.p), key=lambda q: self.eft(i, q)))

    def cpop(self):
        up, down = self.rank_u(), self.rank_d()
        places = {}
        for number, tasks in enumerate(self.graphs):
            path = [max((i for i in tasks if not self.pred[i]), key=lambda i: (up[i], -i))]
            while after := self.succ[path[-1]]:
                path.append(max(after, key=lambda j: (self.mean_c(after[j]) + up[j], -j)))
            fastest = min(range(self.p), key=lambda q: sum(self.w[i][q] for i in path))
            equal = np.flatnonzero(self.cluster == self.cluster[fastest]).tolist()
            places |= dict.fromkeys(path, equal[number % len(equal)])
        while ready := self.ready():
            i = max(ready, key=lambda i: (up[i] + down[i], -i))
            self.place(i, places.get(i, min(range(self.p), key=lambda q: self.eft(i, q))))

    def peft(self):
        oct_ = [[0.0] * self.p for _ in range(self.n)]
        for i in reversed(self.order):
            for p in range(self.p):
                oct_[i][p] = max(
                    (
                        min(
                            oct_[j][q] + self.w[j][q] + self.mean_c(b * (p != q or not self.kept))
                            for q in range(self.p)
                        )
                        for j, b in self.succ[i].items()
                    ),
                    default=0.0,
                )
        rank = [np.mean(each) for each in oct_]
        while ready := self.ready():
            i = max(ready, key=lambda i: (rank[i], -i))
            self.place(i, min(range(self.p), key=lambda q: self.eft(i, q) + oct_[i][q]))

    def batch(self, merit):
        """The task of most merit by its completion on each cluster, at the end of a processor."""
        while ready := self.ready():
            # Graphs that are released later come later.
            first = min(self.release[i] for i in range(self.n) if i not in self.on)
            ready = [i for i in ready if self.release[i] == first]
            times = {i: [self.eft(i, q, insertion=False) for q in range(self.p)] for i in ready}
            merits = {i: merit([min(part) for part in self.by_cluster(times[i])]) for i in ready}
            i = max(ready, key=lambda i: (merits[i], -i))
            self.place(i, int(np.argmin(times[i])), insertion=False)

    def by_cluster(self, values):
        return [np.array(values)[self.cluster == k] for k in sorted(set(self.cluster.tolist()))]

    def min_min(self):
        self.batch(lambda best: -min(best))

    def max_min(self):
        self.batch(min)

    def sufferage(self):
        self.batch(lambda best: sorted([*best, best[0]] if len(best) == 1 else best)[1] - min(best))


def assert_equal(schedule, by_hand):
    tasks = range(by_hand.n)
    assert schedule.start.tolist() == pytest.approx([by_hand.ast[i] for i in tasks], rel=1e-9)
    assert schedule.finish.tolist() == pytest.approx([by_hand.aft[i] for i in tasks], rel=1e-9)
    assert schedule.processor.tolist() == [by_hand.on[i] for i in tasks]


@settings(max_examples=120, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(SINGLE),
    transfers=st.booleans(),
    local=st.sampled_from(["sent", "kept"]),
)
def test_schedules_are_those_of_the_published_pseudo_code(seed, name, transfers, local):
    random = np.random.default_rng(seed)
    n_clusters = int(random.integers(1, 4))
    site = site_of(
        random.integers(1, 5, n_clusters),
        random.uniform(1e9, 3e9, n_clusters),
        random.uniform(1e7, 1e9, n_clusters),
        random.uniform(0, 1e-3),
    )
    parts = []
    for number in range(random.integers(1, 4)):
        n_tasks = int(random.integers(2, 25))
        pairs = [(i, j) for j in range(n_tasks) for i in range(j) if random.random() < 0.2]
        edges = [(*each, random.choice([0.0, random.uniform(0, 3e9)])) for each in pairs]
        parts.append(graph_of(f"g{number}", random.uniform(1e8, 1e10, n_tasks), edges))
    graphs = GraphSet(tuple(parts), random.choice([0.0, 1.0, 5.0], len(parts)))
    schedule = SCHEDULERS[name](graphs, site, transfers=transfers, local=local)
    assert violations(schedule, transfers=transfers) == []
    by_hand = Published(graphs, site, transfers, local)
    getattr(by_hand, name)()
    assert_equal(schedule, by_hand)


FORK = graph_of("fork", [1e9, 1e9, 1e9], [(0, 1), (0, 2)], byte=1.25e9)


@pytest.mark.parametrize("name", SINGLE)
def test_tasks_next_to_their_data_wait_for_nothing(name):
    site = star(2, bandwidth=1.25e8)
    graphs = GraphSet((FORK,))
    kept = SCHEDULERS[name](graphs, site.site())
    how = {"platform": site.platform()}
    done = execute(graphs, site.site(), decisions=kept, **how)
    # 3 s of work on one processor, instead of 10 s for a message to the other.
    assert kept.makespan == pytest.approx(3.0)
    assert done.makespan == pytest.approx(3.0)
    assert done.schedule.local == "kept"
    assert done.moved.tolist() == [0.0, 0.0]
    sent = SCHEDULERS[name](graphs, site.site(), local="sent")
    assert sent.makespan == pytest.approx(12.0)
    assert execute(graphs, site.site(), decisions=sent, **how).moved.tolist() == [1.25e9, 1.25e9]
    with raises_naming(WorkloadError, "local", "sent", "kept"):
        execute(graphs, site.site(), decisions=kept, local="sent", **how)


@settings(max_examples=25, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(sorted(SCHEDULERS)))
def test_chains_are_executed_as_planned(seed, name):
    # Nothing meets on links: dates, and what moves, are those of SimGrid.
    random = np.random.default_rng(seed)
    multi = star(*random.integers(1, 4, 2).tolist(), one_switch=bool(random.integers(2)))
    n_tasks = int(random.integers(2, 6))
    edges = [(i, i + 1, random.uniform(0, 5e9)) for i in range(n_tasks - 1)]
    graphs = GraphSet((graph_of("g", random.uniform(1e8, 1e10, n_tasks), edges, alpha=0.1),))
    schedule = SCHEDULERS[name](graphs, multi.site(), local="kept")
    executed(graphs, multi, schedule, {"decisions": schedule})


@settings(max_examples=25, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    redistribution=st.sampled_from(["alone", "together"]),
    local=st.sampled_from(["sent", "kept"]),
)
def test_mapped_chains_are_executed_as_planned(seed, redistribution, local):
    random = np.random.default_rng(seed)
    network = {"bandwidth": 3e8, "latency": 1e-4, "switch_latency": 2e-4}
    multi = star(*random.integers(1, 5, 2).tolist(), **(network if seed % 2 else {}))
    site, n_tasks = multi.site(), int(random.integers(2, 6))
    edges = [(i, i + 1, random.uniform(0, 5e9)) for i in range(n_tasks - 1)]
    graphs = GraphSet((graph_of("g", random.uniform(1e8, 1e10, n_tasks), edges, alpha=0.1),))
    counts = random.integers(1, site.processors.min() + 1, n_tasks)
    allocations = [allocation_of(graphs.graphs[0], counts, site.n_clusters)]
    assumptions = ModelAssumptions(redistribution=redistribution)
    schedule = plan(graphs, allocations, site, assumptions=assumptions, local=local)
    how = {"decisions": allocations, "assumptions": assumptions, "local": local}
    executed(graphs, multi, schedule, how)


def executed(graphs, multi, schedule, how):
    assert violations(schedule, transfers=True) == []
    done = execute(graphs, multi.site(), platform=multi.platform(), **how)
    assert done.schedule.start == pytest.approx(schedule.start, rel=1e-6, abs=1e-9)
    assert done.schedule.processor.tolist() == schedule.processor.tolist()
    for edge, (source, target) in enumerate(graphs.edges.tolist()):
        ends = [schedule.processors_of(task).tolist() for task in (source, target)]
        _, sizes = redistribution(graphs.edge_byte[edge], *ends, local=schedule.local)
        assert done.moved[edge] == pytest.approx(np.sum(sizes))
