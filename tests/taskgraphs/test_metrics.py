"""Metrics of numbers and schedules made up by hand."""

import numpy as np
import pytest
from small_graphs import graph_of, site_of

from simplugin.errors import WorkloadError
from simplugin.taskgraphs import metrics
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.graph_sets import GraphSet


def test_unfairness_of_the_papers_example():
    # Section 7: eight graphs of ten do not suffer, two take five times as long. The text has 0.1
    # for 0.2 in its formula, but 2.56 is what 0.2 gives.
    slowdowns = metrics.slowdown(np.full(10, 2.0), [2.0] * 8 + [10.0] * 2)
    assert slowdowns.tolist() == [1.0] * 8 + [0.2] * 2
    assert metrics.average_slowdown(slowdowns) == pytest.approx(0.84)
    assert metrics.unfairness(slowdowns) == pytest.approx(2.56)
    assert metrics.unfairness_per_graph(slowdowns) == pytest.approx(0.256)
    assert metrics.worst_slowdown(slowdowns) == 0.2


def test_who_suffers_alike_is_treated_fairly():
    assert metrics.unfairness([0.25] * 4) == 0.0
    assert metrics.jain_index([0.25] * 4) == pytest.approx(1.0)


def test_jain_index():
    # (1 + 0.5)^2 / (2 (1 + 0.25)).
    assert metrics.jain_index([1.0, 0.5]) == pytest.approx(0.9)


def test_efficiency():
    # On two hosts of 1 flop/s and one of 2 flop/s: 16 flop in 10 s of 4 flop/s.
    site = site_of([2, 1], [1.0, 2.0])
    graphs = GraphSet((graph_of("a", [8.0, 2.0]), graph_of("b", [6.0])))
    dates = np.array([0.0, 8.0, 0.0]), np.array([4.0, 10.0, 3.0])
    places = np.array([0, 2, 3, 4]), np.array([0, 1, 0, 2])
    done = Schedule(site, graphs, np.array([0, 0, 1]), *dates, *places, np.array([0, 2, 1]))
    assert metrics.efficiency(done) == pytest.approx(0.4)


def test_nothing_to_do_is_done_efficiently():
    site, graphs = site_of([1], [1.0]), GraphSet((graph_of("a", [0.0]),))
    zero, one = np.array([0]), np.array([0, 1])
    nothing = Schedule(site, graphs, zero, np.zeros(1), np.zeros(1), one, zero, zero)
    assert metrics.efficiency(nothing) == 1.0


def test_what_is_no_makespan_is_refused():
    with pytest.raises(WorkloadError, match=r"own makespans have shape \(2,\), shared ones \(1,\)"):
        metrics.slowdown([1.0, 2.0], [1.0])
    with pytest.raises(WorkloadError, match=r"shared makespans are \[0\.0\].*numbers above 0"):
        metrics.slowdown([1.0], [0.0])
    with pytest.raises(WorkloadError, match=r"own makespans are \[-1\.0\]; give numbers from 0 on"):
        metrics.slowdown([-1.0], [1.0])
    for wrong in ([], [1.0, np.nan], [1.0, 0.0]):
        with pytest.raises(WorkloadError, match="at least one, all above 0"):
            metrics.unfairness(wrong)


def test_graphs_without_work_do_not_suffer():
    slowdowns = metrics.slowdown([0.0, 0.0, 3.0], [0.0, 2.0, 6.0])
    assert slowdowns.tolist() == [1.0, 1.0, 0.5]
