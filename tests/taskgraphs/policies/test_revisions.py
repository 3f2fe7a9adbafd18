"""Shares that are revised while tasks run, or balanced on plans and on forecasts."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from naming import raises_naming
from small_graphs import graph_of, run_on

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import LILLE
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.metrics import slowdown, unfairness
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.taskgraphs.policies.balanced import (
    LEAST,
    PLANS,
    BalancedShares,
    alone,
    balanced,
    corrected,
    fairest,
    starts,
)
from simplugin.taskgraphs.policies.mapping import Mapper, plan
from simplugin.taskgraphs.policies.revisions import Forecaster, Rebalanced, Revised, competing
from simplugin.taskgraphs.policies.shipped import POLICIES
from simplugin.workloads.graph_generators import combination
from simplugin.workloads.task_graphs import GraphSet

SITE = LILLE.site()
GRAPHS = combination("random", 4, 1)
MAKERS = {
    "arrival": lambda graphs, policy, assumptions: Revised(
        graphs, SITE, policy, "arrival", assumptions
    ),
    "event": lambda graphs, policy, assumptions: Revised(
        graphs, SITE, policy, "event", assumptions
    ),
    "rebalanced": lambda graphs, _, assumptions: Rebalanced(graphs, SITE, assumptions=assumptions),
}
TOGETHER = ModelAssumptions(redistribution="together")


def run(graphs, release=(), *, revise=None, beta=None, policy="wps_width", assumptions=PAPER):
    """Execute; who has no share yet starts with least, which nobody may notice."""
    beta = np.full(len(graphs), 1e-9) if beta is None else beta
    allocations = [
        scrap_max(graph, SITE, share, assumptions)
        for graph, share in zip(graphs, beta.tolist(), strict=True)
    ]
    how = {"release": release, "decisions": allocations, "assumptions": assumptions}
    if revise is not None:
        joint = GraphSet(tuple(graphs), np.array(release, dtype=float))
        how["revise"] = MAKERS[revise](joint, POLICIES[policy], assumptions)
    return run_on(LILLE, tuple(graphs), **how).schedule


@cache
def makespan_alone(number, assumptions=PAPER):
    return run([GRAPHS[number]], beta=np.ones(1), assumptions=assumptions).makespan


@pytest.mark.parametrize("policy", ["s", "ps_work"])
def test_on_arrival_is_as_before_if_all_arrive_at_once(policy):
    fixed = run(GRAPHS, beta=POLICIES[policy](GRAPHS, SITE))
    given = run(GRAPHS, revise="arrival", policy=policy)
    for name in ("cluster", "start", "finish", "processor", "processor_start"):
        assert np.array_equal(getattr(fixed, name), getattr(given, name)), name


@pytest.mark.parametrize("revise", MAKERS)
@pytest.mark.parametrize(
    "assumptions", [TOGETHER, ModelAssumptions(fixing="start")], ids=["together", "start"]
)
def test_a_graph_alone_runs_as_if_nobody_watched(revise, assumptions):
    found = run([GRAPHS[2]], revise=revise, assumptions=assumptions)
    assert found.makespan == pytest.approx(makespan_alone(2, assumptions), rel=1e-9)


@pytest.mark.parametrize("revise", MAKERS)
def test_who_comes_when_all_have_left_suffers_nothing(revise):
    found = run(GRAPHS[:3], [0.0, 0.0, 1e4], revise=revise)
    assert np.max(found.completion[:2]) < 1e4
    assert found.makespans[2] == pytest.approx(makespan_alone(2), rel=1e-6)


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
        run(GRAPHS[:2], [0.0, date], revise="event", assumptions=ModelAssumptions(fixing="start"))
        for date in (1e4, 30.0)
    )
    begun = first.start[: GRAPHS[0].n_tasks] < 30.0
    assert 0 < np.count_nonzero(begun) < GRAPHS[0].n_tasks
    for task in np.flatnonzero(begun):
        assert np.array_equal(first.processors_of(task), both.processors_of(task))
        assert first.start[task] == pytest.approx(both.start[task], rel=1e-9)


def test_nonsense_is_refused():
    joint = GraphSet(GRAPHS)
    with raises_naming(WorkloadError, "'arrival'", "'event'"):
        Revised(joint, SITE, POLICIES["es"], "never")
    for wrong in ({"length": np.nan}, {"waste": -1.0}, {"part": 0.0}):
        with raises_naming(WorkloadError, *wrong, *wrong.values()):
            Rebalanced(joint, SITE, **wrong)


FOUR = combination("random", 4, 3)


def fixed(graphs, beta):
    return [
        scrap_max(graph, SITE, share)
        for graph, share in zip(graphs.graphs, np.asarray(beta).tolist(), strict=True)
    ]


def planned(beta):
    graphs = GraphSet(FOUR)
    found = plan(graphs, fixed(graphs, beta), SITE, assumptions=PLANS)
    own = [alone(graph, scrap_max(graph, SITE, 1.0), SITE) for graph in FOUR]
    return unfairness(slowdown(own, found.makespans)), found.makespan


def test_plans_are_fairer_and_no_longer_than_under_wps_width():
    fair, length = planned(balanced(FOUR, SITE))
    usual, usual_length = planned(POLICIES["wps_width"](FOUR, SITE))
    assert fair < usual
    assert length <= usual_length


def without_work(graphs):
    return [
        replace(graph, name=f"idle {number}", flop=0 * graph.flop, edge_byte=0 * graph.edge_byte)
        for number, graph in enumerate(graphs)
    ]


def test_graphs_without_work_are_balanced_too():
    idle = without_work(FOUR[:2])
    found = balanced([*FOUR[:2], *idle], SITE)
    assert np.all((found >= LEAST) & (found <= 1.0))
    assert np.all(balanced(idle, SITE) <= 1.0)


def test_longer_schedules_are_fairer():
    found = [planned(balanced(FOUR, SITE, length=length)) for length in (0.9, 1.0, 10.0)]
    unfair = [each[0] for each in found]
    assert unfair == sorted(unfair, reverse=True)


@dataclass
class Linear:
    """A world where graphs are served in proportion to shares over their needs."""

    need: np.ndarray

    def point(self, beta):
        beta = np.clip(beta, LEAST, 1.0)
        served = beta / self.need
        return BalancedShares(
            beta, served / np.mean(served), unfairness(served), float(np.max(self.need))
        )


def test_corrections_end_where_all_suffer_alike():
    planner = Linear(np.array([1.0, 2.0, 5.0]))
    found = corrected(planner.point, np.full(3, 1 / 3), 4)
    assert len(found) == 5
    assert found[0].relief == pytest.approx(np.array([1, 1 / 2, 1 / 5]) / (1.7 / 3))
    # One correction by the whole ratio is all that it takes here.
    assert found[1].relief == pytest.approx(np.ones(3))
    assert found[-1].cost == pytest.approx(0.0, abs=1e-12)


def test_the_fairest_within_a_limit():
    points = [
        BalancedShares(np.ones(1), np.ones(1), cost, makespan)
        for cost, makespan in ((3.0, 8.0), (1.0, 12.0), (2.0, 10.0))
    ]
    assert fairest(points, 11.0).cost == 2.0
    assert fairest(points, 12.0).cost == 1.0
    assert fairest(points, 5.0).cost == 3.0  # the shortest


def test_starts_are_strategies_and_twice_as_much():
    found = starts(FOUR, SITE)
    names = ("wps_width", "ps_work", "wps_work")
    for factor, part in ((1, found[:3]), (2, found[3:])):
        for name, each in zip(names, part, strict=True):
            assert each == pytest.approx(factor * POLICIES[name](FOUR, SITE))


@pytest.mark.parametrize("wrong", [{"length": 0.0}, {"rounds": -1}])
def test_nonsense_of_balances_is_refused(wrong):
    with raises_naming(WorkloadError, *wrong, *wrong.values()):
        balanced(FOUR, SITE, **wrong)


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


class Asked:
    """A forecast that counts how often it is asked."""

    def __init__(self, graphs):
        self.mapper = Mapper(graphs, fixed(graphs, np.ones(graphs.n_graphs)), SITE)
        self.count = 0

    def __call__(self, now, allocations=None):
        self.count += 1
        return self.mapper.forecast(now, allocations)


def test_it_is_time_when_graphs_come_or_go_or_enough_tasks_are_mapped():
    # Graph 3 comes later: neither its tasks nor its makespan count before.
    graphs = GraphSet(FOUR, [0.0, 0.0, 0.0, 10.0])
    known = int(graphs.first[3])
    revise, asked = Rebalanced(graphs, SITE, part=0.1), Asked(graphs)
    mapped = [False] * graphs.n_tasks

    def is_time(active, n_mapped):
        before = asked.count
        now = 10.0 if 3 in active else 0.0
        revise(now, active, [number < n_mapped for number in range(len(mapped))], asked)
        return asked.count > before

    needed = int(np.ceil(0.1 * known))
    assert needed < 0.1 * graphs.n_tasks  # or it would not tell
    assert is_time([0, 1, 2], 0)
    assert not is_time([0, 1, 2], 0)
    assert not is_time([0, 1, 2], needed - 1)
    assert is_time([0, 1, 2], needed)
    assert not is_time([0, 1, 2], 2 * needed - 1)
    assert is_time([0, 1, 2, 3], 2 * needed - 1)
    assert is_time([1, 2, 3], 2 * needed - 1)


def test_shares_that_stay_leave_allocations_alone():
    graphs = GraphSet(FOUR[:1])
    revise, asked = Rebalanced(graphs, SITE), Asked(graphs)
    [allocation] = revise(0.0, [0], [False] * graphs.n_tasks, asked).values()
    assert np.array_equal(allocation.processors, scrap_max(FOUR[0], SITE, 1.0).processors)
    mapped = [number < graphs.n_tasks // 2 for number in range(graphs.n_tasks)]
    assert revise(1.0, [0], mapped, asked) == {}


def test_graphs_without_work_are_executed():
    # One is there from the start, another comes while the rest is busy.
    graphs = GraphSet((*FOUR[:2], *without_work(FOUR[2:])), [0.0, 0.0, 0.0, 0.3])
    how = {"decisions": fixed(graphs, np.ones(4)), "revise": Rebalanced(graphs, SITE)}
    done = run_on(LILLE, graphs.graphs, release=graphs.release, **how)
    own = [alone(graph, scrap_max(graph, SITE, 1.0), SITE) for graph in graphs.graphs]
    assert own[2:] == [0.0, 0.0]
    assert slowdown(own, done.schedule.makespans)[2:].tolist() == [1.0, 1.0]


def test_all_tasks_mapped_is_nothing_to_balance():
    graphs = GraphSet(FOUR)
    assert Rebalanced(graphs, SITE)(0.0, [0, 2], [True] * graphs.n_tasks, Asked(graphs)) == {}


def test_alone_is_a_plan_that_counts_contention():
    graphs = GraphSet(FOUR[1:2])
    found = plan(graphs, fixed(graphs, [1.0]), SITE, assumptions=TOGETHER).makespan
    assert alone(FOUR[1], scrap_max(FOUR[1], SITE, 1.0), SITE) == found
