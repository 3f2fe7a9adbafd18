"""Estimates that count contention, by hand and against SimGrid."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.platforms.sites import MultiCluster, Site
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.workloads.graph_sets import GraphSet

TOGETHER = Readings(redistribution="together", packing="off")


def multi_cluster(*processors, switch_bandwidth=1e12, one_switch=True):
    """Return clusters of 1 Gflop/s and 1 GB/s without latency."""
    clusters = tuple((f"c{number}", count, 1e9) for number, count in enumerate(processors))
    return MultiCluster(
        "here", clusters, one_switch, bandwidth=1e9, latency=0.0, switch_latency=0.0,
        switch_bandwidth=switch_bandwidth,
    )  # fmt: skip


def starts(platform, graph, counts):
    """Return when tasks start by estimates, apart and together, and on SimGrid."""
    graphs, site = GraphSet((graph,)), platform.site()
    counts = np.tile(np.asarray(counts, dtype=np.int64), (site.n_clusters, 1))
    allocation = SimpleNamespace(processors=counts, time=np.asarray(graph.flop))
    found = [
        plan(graphs, [allocation], site, readings=readings).start for readings in (PAPER, TOGETHER)
    ]
    done = execute(
        graphs, site, platform=platform.platform(), allocations=[allocation], readings=TOGETHER
    )
    return *found, done.schedule.start


def test_who_sends_to_two_shares_its_links(graph_of):
    # From one processor to two others, 1 GB each; one stays where it is, and costs as much.
    graph = graph_of("g", [1e9, 3e9, 3e9], [(0, 1), (0, 2)], 1e9)
    apart, together, real = starts(multi_cluster(3), graph, [1, 1, 1])
    assert apart.tolist() == pytest.approx([0.0, 2.0, 2.0])
    assert together.tolist() == pytest.approx([0.0, 3.0, 3.0])
    assert real.tolist() == pytest.approx([0.0, 3.0, 3.0], rel=1e-6)


def test_who_receives_from_two_shares_its_links(graph_of):
    graph = graph_of("g", [1e9, 1e9, 3e9], [(0, 2), (1, 2)], 1e9)
    apart, together, real = starts(multi_cluster(3), graph, [1, 1, 1])
    assert apart[2] == pytest.approx(2.0)
    assert together[2] == pytest.approx(3.0)
    assert real[2] == pytest.approx(3.0, rel=1e-6)


def test_what_passes_a_switch_waits_for_what_passes_it_before(graph_of):
    # Two pairs of tasks hand 1 GB each through a switch of 1 GB/s: the first task that is mapped
    # is estimated to get its data before the other; really they share.
    graph = graph_of("g", [1e9, 1e9, 3e9, 3e9], [(0, 2), (1, 3)], 1e9)
    platform = multi_cluster(4, switch_bandwidth=1e9)
    apart, together, real = starts(platform, graph, [1, 1, 1, 1])
    assert apart[2:].tolist() == pytest.approx([2.0, 2.0])
    assert together[2:].tolist() == pytest.approx([2.0, 3.0])
    assert np.max(real) == pytest.approx(np.max(together), rel=1e-6)


@pytest.mark.parametrize(("one_switch", "switches"), [(True, [0, 0]), (False, [0, 1])])
def test_clusters_know_their_switch(one_switch, switches):
    assert multi_cluster(1, 2, one_switch=one_switch).site().switch.tolist() == switches


@pytest.mark.parametrize("switch", [[0], [0, 2], [-1, 0]])
def test_switches_out_of_range_are_refused(switch):
    site = multi_cluster(1, 1).site()
    with pytest.raises(PlatformError, match="switch"):
        Site(
            site.name, site.clusters, site.hosts, site.speed, site.bandwidth, site.latency,
            site.shared, np.array(switch),
        )  # fmt: skip


def test_each_cluster_has_a_switch_unless_told_otherwise(site_of):
    assert site_of([1, 1, 1], [1.0, 1.0, 1.0]).switch.tolist() == [0, 1, 2]
