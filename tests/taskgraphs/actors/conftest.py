"""Graphs, sites and allocations of round numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from simplugin.platforms.sites import MultiCluster
from simplugin.taskgraphs.policies.allocation import Allocation
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.graph_sets import GraphSet
from simplugin.workloads.task_graphs import TaskGraph


@pytest.fixture(scope="session")
def graph():
    """Return what makes a graph of flop, edges (source, target, byte) and Amdahl parts."""
    return _graph


@pytest.fixture(scope="session")
def star():
    """Return what makes a multi-cluster without latency: 1 Gflop/s, 1 GB/s, switch 1 GB/s."""
    return _star


@pytest.fixture(scope="session")
def allocated():
    """Return what allocates given numbers of processors on each cluster."""
    return _allocated


@pytest.fixture(scope="session")
def scheduled():
    """Return what makes a schedule of (task, processors), in that order, without dates."""
    return _scheduled


@pytest.fixture(scope="session")
def by_hand():
    """Return what makes a mapper that has a list of processors for each task."""
    return ByHand


def _graph(name, flop, edges=(), alpha=0.0):
    count = len(flop)
    return TaskGraph(
        name,
        tuple(f"t{number}" for number in range(count)),
        np.array(flop, dtype=float),
        np.full(count, alpha),
        np.zeros(count),
        np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2),
        np.array([edge[2] for edge in edges], dtype=float),
    )


def _star(*processors, **numbers):
    clusters = tuple((f"c{number}", count, 1e9) for number, count in enumerate(processors))
    chosen = {
        "bandwidth": 1e9,
        "latency": 0.0,
        "switch_bandwidth": 1e9,
        "switch_latency": 0.0,
        **numbers,
    }
    return MultiCluster("star", clusters, **chosen)


def _allocated(graph, counts, n_clusters=1):
    counts = np.broadcast_to(np.asarray(counts, dtype=np.int64), (graph.n_tasks,))
    return Allocation(
        counts.copy(), graph.flop / 1e9 / counts, np.tile(counts, (n_clusters, 1)).copy()
    )


def _scheduled(graphs, site, places):
    graphs = graphs if isinstance(graphs, GraphSet) else GraphSet(graphs)
    processors = dict(places)
    ordered = [processors[task] for task in range(graphs.n_tasks)]
    return Schedule(
        site,
        graphs,
        np.array([np.searchsorted(site.first, each[0], side="right") - 1 for each in ordered]),
        np.zeros(graphs.n_tasks),
        np.zeros(graphs.n_tasks),
        np.cumsum([0, *(len(each) for each in ordered)]),
        np.concatenate([np.array(each) for each in ordered]),
        np.array([task for task, _ in places]),
    )


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
