"""Small task graphs, sites and allocations of tests, and random ones with many ties."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from simplugin.platforms.sites import MultiCluster, Site
from simplugin.taskgraphs.assumptions import PAPER
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.allocation import Allocation
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.task_graphs import GraphSet, TaskGraph


def graph_of(name, flop, edges=(), byte=0.0, alpha=0.0) -> TaskGraph:
    """Return a graph of tasks t0, t1, ...; edges are (source, target) or (source, target, byte)."""
    if any(len(edge) > 2 for edge in edges):
        byte = [edge[2] for edge in edges]
    return TaskGraph(
        name,
        tuple(f"t{task}" for task in range(len(flop))),
        np.array(flop, dtype=float),
        np.broadcast_to(np.asarray(alpha, dtype=float), len(flop)).copy(),
        np.zeros(len(flop)),
        np.array([tuple(edge)[:2] for edge in edges], dtype=np.int64).reshape(-1, 2),
        np.broadcast_to(np.asarray(byte, dtype=float), len(edges)).copy(),
    )


def in_levels(seed, n_tasks, n_levels) -> TaskGraph:
    """Return a random graph of some levels, whose tasks need 1e9 to 1e12 flop."""
    rng = np.random.default_rng(seed)
    level = np.sort(np.append(rng.integers(0, n_levels, n_tasks - n_levels), range(n_levels)))
    edges = [
        (parent, task)
        for task in range(n_tasks)
        for parent in rng.permutation(np.flatnonzero(level == level[task] - 1))[:3]
    ]
    edges = rng.permutation(n_tasks)[rng.permutation(edges)]
    flop, alpha = 10 ** rng.uniform(9, 12, n_tasks), rng.uniform(0, 0.25, n_tasks)
    return graph_of("graph", flop, edges, alpha=alpha)


def site_of(processors, speed, bandwidth=1.0, latency=0.0, shared=np.inf) -> Site:
    """Return a site of processors and speeds by cluster."""
    count = len(processors)
    return Site(
        "site",
        tuple(f"c{number}" for number in range(count)),
        tuple(tuple(f"c{k}-{number}" for number in range(n)) for k, n in enumerate(processors)),
        np.asarray(speed, dtype=float),
        np.broadcast_to(np.asarray(bandwidth, dtype=float), count).copy(),
        np.broadcast_to(np.asarray(latency, dtype=float), (count, count)).copy(),
        np.broadcast_to(np.asarray(shared, dtype=float), (count, count)).copy(),
    )


def star(*processors, **numbers) -> MultiCluster:
    """Return clusters without latency: 1 Gflop/s a processor, links and a switch of 1 GB/s."""
    clusters = tuple((f"c{number}", count, 1e9) for number, count in enumerate(processors))
    usual = {"bandwidth": 1e9, "latency": 0.0, "switch_bandwidth": 1e9, "switch_latency": 0.0}
    return MultiCluster("star", clusters, **usual | numbers)


def allocated(graphs, site, processors, time=None):
    """Return allocations of the same number of processors to all tasks of some graphs."""
    return [
        SimpleNamespace(
            processors=np.full((site.n_clusters, graph.n_tasks), processors, dtype=np.int64),
            time=graph.flop if time is None else time,
        )
        for graph in graphs.graphs
    ]


def allocation_of(graph, counts, n_clusters=1) -> Allocation:
    """Return an allocation of given numbers of processors of 1 Gflop/s on each cluster."""
    counts = np.broadcast_to(np.asarray(counts, dtype=np.int64), (graph.n_tasks,))
    return Allocation(
        counts.copy(), graph.flop / 1e9 / counts, np.tile(counts, (n_clusters, 1)).copy()
    )


def random_scene(seed):
    """Return random graphs, allocations and a site; most numbers are round, for ties."""
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(1, 4))
    site = site_of(
        rng.integers(1, 6, n_clusters),
        rng.choice([1.0, 2.0, 3.0], n_clusters),
        rng.choice([1.0, 4.0, 0.3], n_clusters),
        rng.choice([0.0, 0.1, 1.0], (n_clusters, n_clusters)),
        rng.choice([1.0, 5.0, np.inf], (n_clusters, n_clusters)),
    )
    graphs, allocations = [], []
    for number in range(int(rng.integers(1, 4))):
        n_tasks = int(rng.integers(1, 9))
        pairs = [(i, j) for j in range(n_tasks) for i in range(j) if rng.random() < 0.3]
        names = rng.permutation(n_tasks)
        graph = graph_of(
            f"g{number}",
            rng.choice([0.0, 1.0, 2.0, 6.0, rng.uniform(0.0, 5.0)], n_tasks),
            names[np.array(pairs, dtype=np.int64).reshape(-1, 2)],
            rng.choice([0.0, 1.0, 3.0, rng.uniform(0.0, 5.0)], len(pairs)),
            rng.choice([0.0, 0.25, 1.0, rng.uniform()], n_tasks),
        )
        graphs.append(graph)
        processors = rng.integers(1, site.processors[:, np.newaxis] + 1, (n_clusters, n_tasks))
        time = rng.choice([1.0, 2.0, rng.uniform(0.0, 5.0)], n_tasks)
        allocations.append(SimpleNamespace(processors=processors, time=time))
    release = rng.choice([0.0, 1.0, rng.uniform(0.0, 4.0)], len(graphs))
    # Data between clusters on one switch pass it once.
    site = replace(site, switch=rng.integers(n_clusters, size=n_clusters))
    return GraphSet(tuple(graphs), release), allocations, site


def followed(graphs, mapper, world=None, plain=None, revise=None):
    """Ask a mapper as things happen, and a plain version, which must agree.

    A world says when a mapped task starts and finishes; without one, it does as estimated.
    Revisions get the instant and the number of finished tasks. Returns what was mapped, and dates.
    """
    mapped, events, done, asked = [], [], set(), set()
    for graph, first, release in zip(graphs.graphs, graphs.first, graphs.release, strict=False):
        events += [(release, "ready", int(first + task)) for task in graph.entries]
    dates = {}
    while events:
        earliest = min(events)[0]
        batch = sorted(event for event in events if event[0] <= earliest * (1 + 1e-9))
        events = [event for event in events if event not in batch]
        now = batch[-1][0]
        for each in [mapper] if plain is None else [mapper, plain]:
            for kind in ("started", "finished"):
                for date, _, task in (event for event in batch if event[1] == kind):
                    getattr(each, kind)(task, date)
        if all(kind == "started" for _, kind, _ in batch):
            continue
        done |= {task for _, kind, task in batch if kind == "finished"}
        ready = [task for _, kind, task in batch if kind == "ready"]
        for task in range(graphs.n_tasks):
            before = graphs.predecessors.of(task).tolist()
            if before and task not in asked and done.issuperset(before):
                ready.append(task)
        asked |= set(ready)
        if revise is not None:
            revise(now, len(done))
        news = mapper.map_ready(now, ready[::-1])
        if plain is not None:
            assert [each.task for each in news] == plain.map_ready(now, ready)
            estimates, _ = plain.dates(now)
            for each in news:
                assert (each.cluster, each.processors.tolist()) == plain.mapped[each.task][:2]
                assert (each.start, each.finish) == estimates[each.task]
        for each in news:
            found = (each.start, each.finish)
            if world is not None:
                found = world(each, now, dates, mapped)
            start, finish = dates[each.task] = found
            mapped.append(each)
            events += [(start, "started", each.task), (finish, "finished", each.task)]
    return mapped, dates


def scheduled(graphs, site, places) -> Schedule:
    """Return a schedule of (task, processors), in that order, without dates."""
    graphs = graphs if isinstance(graphs, GraphSet) else GraphSet(graphs)
    processors = dict(places)
    ordered = [processors[task] for task in range(graphs.n_tasks)]
    zeros = np.zeros(graphs.n_tasks)
    return Schedule.of(site, graphs, ordered, zeros, zeros, [task for task, _ in places])


def run_on(multi, graphs, *, release=(), places=None, counts=None, planned=False, **how):
    """Execute graphs on a multi-cluster: on given processors, or on a number of processors each."""
    site, graphs = multi.site(), GraphSet(graphs, np.array(release, dtype=float))
    if places is not None:
        how["decisions"] = scheduled(graphs, site, places)
    if counts is not None:
        n_clusters = site.n_clusters
        how["decisions"] = [allocation_of(each, counts, n_clusters) for each in graphs.graphs]
    if planned:
        assumptions = how.get("assumptions", PAPER)
        how["decisions"] = plan(graphs, how["decisions"], site, assumptions=assumptions)
    return execute(graphs, site, platform=multi.platform(), **how)


class ByHand:
    """A mapper that has processors for each task, and maps those of an instant backwards."""

    def __init__(self, processors):
        self.processors = processors
        self.log = []

    def map_ready(self, now, tasks):
        self.log.append(("map", now, list(tasks)))
        return [
            SimpleNamespace(task=task, processors=np.array(self.processors[task]))
            for task in reversed(tasks)
        ]

    def started(self, task, date):
        self.log.append(("start", date, task))

    def finished(self, task, date):
        assert ("start", task) in [(what, each) for what, _, each in self.log]
        self.log.append(("finish", date, task))

    def set_allocation(self, graph, allocation):
        raise AssertionError(f"nobody revises graph {graph}: {allocation}")
