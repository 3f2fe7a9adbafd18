"""Metrics, tables and curves of a run through changes, for rates put together by hand."""

import math

import numpy as np
import pytest

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms.graphs import Graph
from simplugin.pricing.assessment import Recovery, Stretch, events_of
from simplugin.pricing.changes import Change, intervals
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import Upkeep
from simplugin.workloads import AlphaFair, Application

# One host of 1000 flop/s; tasks of 1 flop; half the speed from 2.0 s, nearly none from 2.1 s on.
GRAPH = Graph.duplex("A", np.array([1e3]), np.zeros((0, 2)), np.zeros(0))
APPLICATIONS = [
    Application("x", "A", 1.0, 0.0, end=9.0),
    Application("late", "A", 1.0, 0.0, start=9.0),
]
CHANGES = [Change(2.0, "A", 500.0), Change(2.1, "A", 1e2), Change(4.0, "A", 0.0)]
CHANGES += [Change(4.5, "A", 100.0)]
RATES = [900.0, 1020.0, 999.0, 1001.0, 105.5, 104.0, 103.0, 0.0, 100.0]
DATES = [0.1, 0.6, 1.1, 1.6, 2.2, 2.7, 3.2, 4.2, 4.7]


@pytest.fixture(scope="module")
def recovery():
    sharing = deploy(GRAPH, APPLICATIONS)
    rates = np.stack([RATES, np.zeros(len(RATES))], axis=1)
    prices = np.array([1e-2]), np.zeros(0)
    kept = Upkeep(np.array(DATES), rates, rates, *prices, 0.5, 100.0, None)
    parts = intervals(sharing, APPLICATIONS, CHANGES, 5.0)
    return Recovery(
        sharing,
        AlphaFair(1.0),
        kept,
        [Stretch(kept, part, fair_sharing(part.sharing)) for part in parts],
        events_of(sharing, APPLICATIONS, CHANGES),
    )


def test_times_are_from_the_change_to_the_last_return(recovery):
    # From 2 s to 2.1 s nobody looked; from 4 s to 4.5 s there is nothing to share.
    found = recovery.listings()[0]
    assert found.column("from") == (0.0, 2.0, 2.1, 4.5)
    assert found.column("to 5 %") == pytest.approx((0.6, None, 0.6, 0.2))
    assert found.column("periods to 5 %") == (2, None, 2, 1)
    # Overloads count as errors do: 1.02 is 2 % too much.
    assert found.column("to 1 %") == pytest.approx((1.1, None, None, 0.2))
    assert found.column("worst error at end") == pytest.approx((0.001, None, 0.03, 0.0))
    assert found.column("overload at end") == pytest.approx((0.001, None, 0.03, 0.0))
    assert found.column("what changed") == (
        "start",
        "A has 500 flop/s",
        "A has 100 flop/s",
        "A comes back",
    )


def test_metrics_are_of_the_end(recovery):
    metrics = {metric.name: metric.value for metric in recovery.metrics()}
    assert metrics["objective"] == pytest.approx(math.log(100.0))
    assert recovery.best.value == pytest.approx(math.log(100.0), rel=1e-9)
    assert (metrics["intervals"], metrics["intervals_within_1_percent"]) == (4, 2)
    assert metrics["longest_return_to_1_percent"] is None
    hosts = recovery.listings()[2]
    assert hosts.lines == (("A", 100.0, pytest.approx(1.0), pytest.approx(1e7), hosts.lines[0][4]),)
    assert hosts.lines[0][4] == pytest.approx(1e7, rel=1e-6)


def test_curves_have_gaps_where_there_is_nothing_to_share(recovery):
    throughputs, errors = recovery.figures()
    _, ratio = throughputs.series["x"]
    expected = np.array([*RATES[:4], 1055.0, 1040.0, 1030.0, math.nan, 1000.0]) / 1e3
    np.testing.assert_allclose(ratio, expected, rtol=1e-9)
    assert np.all(np.isnan(throughputs.series["late"][1]))
    assert errors.series["error"][1][2] == pytest.approx(1e-3)


def test_events_in_words():
    graph = Graph.duplex("AB", [1e9, 2e6], [(0, 1)], [4e3])
    applications = [
        Application("x", "A", 1.0, 0.0),
        Application("y", "B", 1.0, 0.0, start=1.0, end=7.0),
    ]
    changes = [
        Change(3.0, "A->B", 2.5e3),
        Change(1.0, "A", 0.0),
        Change(7.0, "A", 1.5e9),
        Change(8.0, "A", 1.5e9),
    ]
    assert events_of(deploy(graph, applications), applications, changes) == {
        1.0: ["A fails", "y arrives"],
        3.0: ["A->B has 2.5 kB/s"],
        7.0: ["A comes back", "A has 1.5 Gflop/s", "y leaves"],
        8.0: [],
    }
