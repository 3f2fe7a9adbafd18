"""Shares that are balanced on plans, and again on forecasts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.platforms.sites import LILLE
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.taskgraphs.policies.balanced import (
    LEAST,
    PLANS,
    Point,
    alone,
    balanced,
    corrected,
    fairest,
    starts,
)
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.policies.revisions import Forecaster
from simplugin.taskgraphs.policies.shipped import POLICIES
from simplugin.workloads.graph_generators import combination
from simplugin.workloads.graph_sets import GraphSet

SITE = LILLE.site()
GRAPHS = combination("random", 4, 3)


def planned(beta):
    allocations = [
        scrap_max(graph, SITE, share) for graph, share in zip(GRAPHS, beta.tolist(), strict=True)
    ]
    found = plan(GraphSet(GRAPHS), allocations, SITE, readings=PLANS)
    own = [alone(graph, scrap_max(graph, SITE, 1.0), SITE) for graph in GRAPHS]
    return unfairness(slowdown(own, found.makespans)), found.makespan


def test_plans_are_fairer_and_no_longer_than_under_wps_width():
    fair, length = planned(balanced(GRAPHS, SITE))
    usual, usual_length = planned(POLICIES["wps_width"](GRAPHS, SITE))
    assert fair < usual
    assert length <= usual_length


def test_graphs_without_work_are_balanced_too():
    idle = [
        replace(graph, name=f"idle {number}", flop=0 * graph.flop, edge_byte=0 * graph.edge_byte)
        for number, graph in enumerate(GRAPHS[:2])
    ]
    found = balanced([*GRAPHS[:2], *idle], SITE)
    assert np.all((found >= LEAST) & (found <= 1.0))
    assert np.all(balanced(idle, SITE) <= 1.0)


def test_longer_schedules_are_fairer():
    found = [planned(balanced(GRAPHS, SITE, length=length)) for length in (0.9, 1.0, 10.0)]
    unfair = [each[0] for each in found]
    assert unfair == sorted(unfair, reverse=True)


@dataclass
class Linear:
    """A world where graphs are served in proportion to shares over their needs."""

    need: np.ndarray

    def point(self, beta):
        beta = np.clip(beta, LEAST, 1.0)
        served = beta / self.need
        return Point(beta, served / np.mean(served), unfairness(served), float(np.max(self.need)))


def test_corrections_end_where_all_suffer_alike():
    planner = Linear(np.array([1.0, 2.0, 5.0]))
    found = corrected(planner, np.full(3, 1 / 3), 4)
    assert len(found) == 5
    assert found[0].relief == pytest.approx(np.array([1, 1 / 2, 1 / 5]) / (1.7 / 3))
    # One correction by the whole ratio is all that it takes here.
    assert found[1].relief == pytest.approx(np.ones(3))
    assert found[-1].cost == pytest.approx(0.0, abs=1e-12)


def test_the_fairest_within_a_limit():
    points = [
        Point(np.ones(1), np.ones(1), cost, makespan)
        for cost, makespan in ((3.0, 8.0), (1.0, 12.0), (2.0, 10.0))
    ]
    assert fairest(points, 11.0).cost == 2.0
    assert fairest(points, 12.0).cost == 1.0
    assert fairest(points, 5.0).cost == 3.0  # the shortest


def test_starts_are_strategies_and_twice_as_much():
    found = starts(GRAPHS, SITE)
    names = ("wps_width", "ps_work", "wps_work")
    for factor, part in ((1, found[:3]), (2, found[3:])):
        for name, each in zip(names, part, strict=True):
            assert each == pytest.approx(factor * POLICIES[name](GRAPHS, SITE))


@pytest.mark.parametrize("wrong", [{"length": 0.0}, {"rounds": -1}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(WorkloadError, match="give numbers above 0"):
        balanced(GRAPHS, SITE, **wrong)


def test_forecasts_of_shares():
    # Graph 0 has competed before and keeps its share, 1 gets another, 2 is completed, 3 to come.
    asked = []

    def forecast(now, allocations):
        asked.append((now, allocations))
        return np.array([20.0, 30.0, 8.0, np.nan])

    class Told:
        def scrap_max(self, beta):
            return beta

    planner = Forecaster(
        9.0, {0: Told(), 1: Told()}, np.array([0.5, 0.2]), forecast,
        np.array([0.0, 10.0, 0.0, 50.0]), np.array([10.0, 10.0, 8.0, np.nan]), waste=0.1,
    )  # fmt: skip
    point = planner.point(np.array([0.5, 3.0]))
    assert asked == [(9.0, {1: 1.0})]
    assert point.beta.tolist() == [0.5, 1.0]
    # Slowdowns 1/2, 1/2 and 1: their mean is 2/3, and 1 is lost altogether.
    assert point.relief == pytest.approx([0.75, 0.75])
    assert point.cost == pytest.approx(1 / 6 + 1 / 6 + 1 / 3 + 0.1)
    assert point.makespan == 30.0
