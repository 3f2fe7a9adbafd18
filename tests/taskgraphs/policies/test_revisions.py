"""Shares that are revised while tasks run, in whichever way, executed on SimGrid."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from small_graphs import graph_of, run_on

from simplugin.errors import WorkloadError
from simplugin.platforms.sites import LILLE
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.taskgraphs.policies.revisions import Rebalanced, Revised, competing
from simplugin.taskgraphs.policies.shipped import POLICIES
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.workloads.graph_generators import combination
from simplugin.workloads.graph_sets import GraphSet

SITE = LILLE.site()
GRAPHS = combination("random", 4, 1)
MAKERS = {
    "arrival": lambda graphs, policy, readings: Revised(graphs, SITE, policy, "arrival", readings),
    "event": lambda graphs, policy, readings: Revised(graphs, SITE, policy, "event", readings),
    "rebalanced": lambda graphs, _, readings: Rebalanced(graphs, SITE, readings=readings),
}
TOGETHER = Readings(redistribution="together")


def run(graphs, release=(), *, revise=None, beta=None, policy="wps_width", readings=PAPER):
    """Execute; who has no share yet starts with least, which nobody may notice."""
    beta = np.full(len(graphs), 1e-9) if beta is None else beta
    allocations = [
        scrap_max(graph, SITE, share, readings)
        for graph, share in zip(graphs, beta.tolist(), strict=True)
    ]
    how = {"release": release, "allocations": allocations, "readings": readings}
    if revise is not None:
        joint = GraphSet(tuple(graphs), np.array(release, dtype=float))
        how["revise"] = MAKERS[revise](joint, POLICIES[policy], readings)
    return run_on(LILLE, tuple(graphs), **how).schedule


@cache
def alone(number, readings=PAPER):
    return run([GRAPHS[number]], beta=np.ones(1), readings=readings).makespan


@pytest.mark.parametrize("policy", ["s", "ps_work"])
def test_on_arrival_is_as_before_if_all_arrive_at_once(policy):
    fixed = run(GRAPHS, beta=POLICIES[policy](GRAPHS, SITE))
    given = run(GRAPHS, revise="arrival", policy=policy)
    for name in ("cluster", "start", "finish", "processor", "processor_start"):
        assert np.array_equal(getattr(fixed, name), getattr(given, name)), name


@pytest.mark.parametrize("revise", MAKERS)
@pytest.mark.parametrize(
    "readings", [TOGETHER, Readings(fixing="start")], ids=["together", "start"]
)
def test_a_graph_alone_runs_as_if_nobody_watched(revise, readings):
    found = run([GRAPHS[2]], revise=revise, readings=readings)
    assert found.makespan == pytest.approx(alone(2, readings), rel=1e-9)


@pytest.mark.parametrize("revise", MAKERS)
def test_who_comes_when_all_have_left_suffers_nothing(revise):
    found = run(GRAPHS[:3], [0.0, 0.0, 1e4], revise=revise)
    assert np.max(found.completion[:2]) < 1e4
    assert found.makespans[2] == pytest.approx(alone(2), rel=1e-6)


@pytest.mark.parametrize("revise", MAKERS)
def test_nobody_peeks_into_the_future(revise):
    last = replace(combination("random", 1, 77)[0], name="random-3")
    assert last.n_tasks != GRAPHS[2].n_tasks
    one, other = (
        run([*GRAPHS[:2], graph], [0.0, 5.0, date], revise=revise)
        for graph, date in ((GRAPHS[2], 20.0), (last, 21.0))
    )
    n_tasks = sum(graph.n_tasks for graph in GRAPHS[:2])
    begun = one.start[:n_tasks] < 20.0
    assert 5 < np.count_nonzero(begun) < n_tasks
    # Waiting for a date cuts activities in two, which costs last digits.
    assert np.array_equal(other.start[:n_tasks] < 20.0, begun)
    assert other.start[:n_tasks][begun] == pytest.approx(one.start[:n_tasks][begun], rel=1e-9)
    assert np.array_equal(other.allocation[:n_tasks][begun], one.allocation[:n_tasks][begun])


def test_shares_of_those_that_compete_are_1_together():
    joint = GraphSet(GRAPHS)
    asked = []

    def spy(graphs, site):
        beta = POLICIES["ps_work"](graphs, site)
        asked.append(([(graph.name, graph.n_tasks) for graph in graphs], float(np.sum(beta))))
        return beta

    revised = Revised(joint, SITE, spy)
    mapped = np.zeros(joint.n_tasks, dtype=bool)
    half = int(joint.first[0]) + GRAPHS[0].n_tasks // 2
    for active in ([0], [0, 1, 2], [0, 1, 2], [1, 2], [1, 2, 3]):
        found = revised(0.0, active, mapped.tolist(), None)
        assert list(found) in ([], [each for each in active if each != 2 or not mapped.all()])
        mapped[:half] = True
    sizes = [graph.n_tasks for graph in GRAPHS]
    assert [len(graphs) for graphs, _ in asked] == [1, 3, 2, 3]
    assert asked[1][0][0] == ("random-1", sizes[0] - half)
    assert [total for _, total in asked] == pytest.approx([1.0] * 4)


def test_only_arrivals_count_on_arrival():
    joint = GraphSet(GRAPHS)
    revised = Revised(joint, SITE, POLICIES["es"], "arrival")
    mapped = [False] * joint.n_tasks
    found = [
        list(revised(0.0, active, mapped, None)) for active in ([0], [0, 1, 2], [1, 2], [2, 3])
    ]
    assert found == [[0], [1, 2], [], [3]]


def test_who_has_nothing_left_to_compute_competes_no_more():
    # A graph whose last task is no work would leave shares by work undefined.
    graphs = tuple(graph_of(name, [1e9, 0.0], [(0, 1)]) for name in "xy")
    joint = GraphSet(graphs)
    assert list(competing(joint, [0, 1], [True, False, False, False])) == [1]
    revised = Revised(joint, SITE, POLICIES["ps_work"])
    assert len(revised(0.0, [0, 1], [False] * 4, None)) == 2
    assert revised(1.0, [1], [True, False, True, False], None) == {}
    found = run(graphs, revise="event", policy="ps_work")
    assert found.makespan > 0


def test_started_tasks_keep_their_processors():
    # The second graph's arrival changes nothing of what has been mapped before.
    first, both = (
        run(GRAPHS[:2], [0.0, date], revise="event", readings=Readings(fixing="start"))
        for date in (1e4, 30.0)
    )
    begun = first.start[: GRAPHS[0].n_tasks] < 30.0
    assert 0 < np.count_nonzero(begun) < GRAPHS[0].n_tasks
    for task in np.flatnonzero(begun):
        assert np.array_equal(first.processors_of(task), both.processors_of(task))
        assert first.start[task] == pytest.approx(both.start[task], rel=1e-9)


def test_nonsense_is_refused():
    joint = GraphSet(GRAPHS)
    with pytest.raises(WorkloadError, match="choose 'arrival' or 'event'"):
        Revised(joint, SITE, POLICIES["es"], "never")
    for wrong in ({"length": np.nan}, {"waste": -1.0}, {"part": 0.0}):
        with pytest.raises(WorkloadError, match="give numbers above 0"):
            Rebalanced(joint, SITE, **wrong)
