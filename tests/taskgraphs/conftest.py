"""Graphs, sites and allocations that tests share."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simplugin.platforms.sites import Site
from simplugin.workloads.graph_sets import GraphSet
from simplugin.workloads.task_graphs import TaskGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def without_data(
    flop: Sequence[float], alpha: Sequence[float], edges: Sequence[tuple[int, int]]
) -> TaskGraph:
    """Return a graph without data."""
    names = tuple(f"t{task}" for task in range(len(flop)))
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return TaskGraph(
        "graph", names, np.array(flop), np.array(alpha), np.zeros(len(flop)), pairs,
        np.zeros(len(pairs)),
    )  # fmt: skip


def in_levels(seed: int, n_tasks: int, n_levels: int) -> TaskGraph:
    """Return a random graph of some levels, whose tasks need 1e9 to 1e12 flop."""
    rng = np.random.default_rng(seed)
    level = np.sort(np.append(rng.integers(0, n_levels, n_tasks - n_levels), range(n_levels)))
    edges = [
        (int(parent), task)
        for task in range(n_tasks)
        for parent in rng.permutation(np.flatnonzero(level == level[task] - 1))[:3]
    ]
    order = rng.permutation(n_tasks)
    return without_data(
        10 ** rng.uniform(9, 12, n_tasks),
        rng.uniform(0, 0.25, n_tasks),
        [(int(order[one]), int(order[other])) for one, other in rng.permutation(edges)],
    )


@pytest.fixture(scope="session", name="dataless")
def _dataless() -> Callable[..., TaskGraph]:
    """Return what makes a graph of computation, alpha and edges."""
    return without_data


@pytest.fixture(scope="session", name="layered")
def _layered() -> Callable[..., TaskGraph]:
    """Return what draws a graph of some levels."""
    return in_levels


@pytest.fixture(scope="session")
def instance():
    """Return what draws graphs, allocations and a site; most numbers are round, for ties."""
    return _instance


@pytest.fixture(scope="session")
def site_of():
    """Return what makes a site of processors and speeds by cluster, without latency."""
    return _site


@pytest.fixture(scope="session")
def graph_of():
    """Return what makes a graph of times on one processor of 1 flop/s, and of edges."""
    return _graph


@pytest.fixture(scope="session")
def allocated():
    """Return what allocates the same number of processors to all tasks of some graphs."""
    return _allocated


@pytest.fixture(scope="session")
def followed():
    """Return what asks a mapper as things happen."""
    return _followed


def _site(processors, speed, bandwidth=1.0, latency=0.0, shared=np.inf):
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


def _graph(name, flop, edges=(), byte=0.0, alpha=0.0):
    count, links = len(flop), len(edges)
    return TaskGraph(
        name,
        tuple(f"t{number}" for number in range(count)),
        np.asarray(flop, dtype=float),
        np.broadcast_to(np.asarray(alpha, dtype=float), count).copy(),
        np.zeros(count),
        np.asarray(edges, dtype=np.int64).reshape(-1, 2),
        np.broadcast_to(np.asarray(byte, dtype=float), links).copy(),
    )


def _allocated(graphs, site, processors, time=None):
    return [
        SimpleNamespace(
            processors=np.full((site.n_clusters, graph.n_tasks), processors, dtype=np.int64),
            time=graph.flop if time is None else time,
        )
        for graph in graphs.graphs
    ]


def _instance(seed):
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(1, 4))
    site = _site(
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
        graph = _graph(
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


def _followed(graphs, mapper, world=None, plain=None, revise=None):
    """Ask a mapper as things happen; a world says when a mapped task starts and finishes.

    Without a world that is as estimated. Who revises is told the instant, and how many are done.

    Returns what was mapped, and the dates. The plain version is asked too, and must agree.
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
