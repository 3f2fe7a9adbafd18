"""Estimates that count contention, by hand and against SimGrid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_graphs import allocation_of, graph_of, run_on, site_of, star

from simplugin.errors import PlatformError
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.workloads.graph_sets import GraphSet

TOGETHER = Readings(redistribution="together", packing="off")


def starts(multi, graph):
    """Return when tasks start by estimates, apart and together, and on SimGrid."""
    graphs, allocations = GraphSet((graph,)), [allocation_of(graph, 1)]
    apart, together = (
        plan(graphs, allocations, multi.site(), readings=readings).start
        for readings in (PAPER, TOGETHER)
    )
    done = run_on(multi, (graph,), counts=1, readings=TOGETHER)
    return apart, together, done.schedule.start


def test_who_sends_to_two_shares_its_links():
    # From one processor to two others, 1 GB each; one stays where it is, and costs as much.
    graph = graph_of("g", [1e9, 3e9, 3e9], [(0, 1), (0, 2)], 1e9)
    apart, together, real = starts(star(3, switch_bandwidth=1e12), graph)
    assert apart.tolist() == pytest.approx([0.0, 2.0, 2.0])
    assert together.tolist() == pytest.approx([0.0, 3.0, 3.0])
    assert real.tolist() == pytest.approx([0.0, 3.0, 3.0], rel=1e-6)


def test_who_receives_from_two_shares_its_links():
    graph = graph_of("g", [1e9, 1e9, 3e9], [(0, 2), (1, 2)], 1e9)
    apart, together, real = starts(star(3, switch_bandwidth=1e12), graph)
    assert apart[2] == pytest.approx(2.0)
    assert together[2] == pytest.approx(3.0)
    assert real[2] == pytest.approx(3.0, rel=1e-6)


def test_what_passes_a_switch_waits_for_what_passes_it_before():
    # Two pairs of tasks hand 1 GB each through a switch of 1 GB/s: the first task that is mapped
    # is estimated to get its data before the other; really they share.
    graph = graph_of("g", [1e9, 1e9, 3e9, 3e9], [(0, 2), (1, 3)], 1e9)
    apart, together, real = starts(star(4), graph)
    assert apart[2:].tolist() == pytest.approx([2.0, 2.0])
    assert together[2:].tolist() == pytest.approx([2.0, 3.0])
    assert np.max(real) == pytest.approx(np.max(together), rel=1e-6)


def test_clusters_know_their_switch():
    for one_switch, switches in ((True, [0, 0]), (False, [0, 1])):
        assert star(1, 2, one_switch=one_switch).site().switch.tolist() == switches
    # Each has one unless told otherwise.
    assert site_of([1, 1, 1], [1.0, 1.0, 1.0]).switch.tolist() == [0, 1, 2]


@pytest.mark.parametrize("switch", [[0], [0, 2], [-1, 0]])
def test_switches_out_of_range_are_refused(switch):
    with pytest.raises(PlatformError, match="switch"):
        replace(star(1, 1).site(), switch=np.array(switch))
