"""Metrics, tables and curves of executions made up by hand; results that travel up."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from numpy.testing import assert_allclose
from small_trees import bags_of, execute, restricted_instance, tree_of

from simplugin.bags.assessment import BagAssessment, experimental, fair, slope
from simplugin.bags.execution import BagExecution
from simplugin.bags.policies.shipped import POLICIES
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance
from simplugin.papers.beaumont.trace_check import trace_violations
from simplugin.simulation.result import HostTotals, LinkTotals, Result
from simplugin.simulation.trace import Trace
from simplugin.workloads.applications import Bags

# The root distributes only; "fast" and "slow" compute 4 and 1 Gflop/s behind wide links.
TREE = replace(
    tree_of([-1, 0, 0, 1], [0.0, 4e9, 1e9, 0.0], [1e9, 1e9, 1e6]),
    hosts=("root", "fast", "slow", "idle"),
)
BAGS = Bags(("x", "y"), [1e9, 2e9], [1e6, 0.0], [1.0, 2.0], [10, 20])
# CPUs bound it: f * (1e9 * 1 + 2e9 * 2) = 5e9.
FAIR = 1.0


def executed(x, y, computed):
    busy = np.array([8.0, 0.0, 0.0, 10.0])
    totals = HostTotals(("fast", "idle", "root", "slow"), np.zeros(4), busy, np.zeros(4))
    links = LinkTotals((), np.zeros(0), np.zeros(0))
    fields = dict.fromkeys(BagExecution.__dataclass_fields__) | {
        "tree": TREE,
        "bags": BAGS,
        "completion": (np.array(x, dtype=float), np.array(y, dtype=float)),
        "computed": np.array(computed),
        "lost": 3,
        "port_busy": np.array([5.0, 0.0, 0.0, 0.0]),
        "result": Result(25.0, (), totals, links, Trace.from_columns({}), {}),
    }
    return BagExecution(**fields)


@pytest.fixture(scope="module")
def optimum():
    best = steady_state(TREE, BAGS)
    assert best.fair == pytest.approx(FAIR, rel=1e-9)
    return best


@pytest.fixture(scope="module")
def told(optimum):
    # x ends at 20 s, so that what counts is from 2 s to 18 s; y ends at 20.5 s.
    x, y = np.arange(2.0, 21.0, 2.0), np.arange(1.0, 21.0)
    y[-1] = 20.5
    done = executed(x, y, [[0, 0], [6, 19], [4, 1], [0, 0]])
    return BagAssessment(done, optimum, expected_throughput=0.9)


def metrics(told):
    return {metric.name: metric.value for metric in told.metrics()}


def columns(listing):
    return {name: listing.column(name) for name, _ in listing.columns}


def test_metrics(told):
    found = metrics(told)
    # x: 4, 6, ..., 18; y: 3, 4, ..., 18, per unit of weight; both over 16 s.
    assert found["fair_throughput"] == pytest.approx(8 / 16)
    # x: from the first to the ninth; y: from the second to the eighteenth, of weight 2.
    assert found["fair_slope"] == pytest.approx(0.5)
    assert (found["theory"], found["makespan"]) == (0.9, 20.5)
    assert (found["tasks"], found["hosts_used"]) == (30, 2)
    assert told.best.gap(found["fair_throughput"]) == pytest.approx(0.5)


def test_applications_stand_beside_their_optimum(told):
    found = columns(told.listings()[0])
    assert found["name"] == ("x", "y")
    assert found["tasks"] == (10, 20)
    assert found["throughput"] == pytest.approx((8 / 16, 16 / 16))
    assert found["slope"] == pytest.approx((0.5, 1.0))
    assert found["optimum"] == pytest.approx((1.0, 2.0), rel=1e-9)
    assert found["gap"] == pytest.approx((0.5, 0.5), rel=1e-6)


def test_nodes_have_their_use(told):
    found = columns(told.listings()[1])
    assert found["node"] == ("root", "fast", "slow", "idle")
    assert found["parent"] == ("", "root", "root", "fast")
    assert found["speed"] == (None, 4e9, 1e9, None)
    assert found["bandwidth"] == (None, 1e9, 1e9, 1e6)
    assert (found["x"], found["y"]) == ((0, 6, 4, 0), (0, 19, 1, 0))
    assert found["CPU"] == (None, 8 / 20.5, 10 / 20.5, None)
    assert found["port"] == (5 / 20.5, 0.0, None, None)


def test_nodes_left_out_are_counted(told):
    nodes = told.listings(most=1)[1]
    assert len(nodes.lines) == 1
    assert nodes.note.startswith("and 3 more, farther from the root;")


def test_curves(told):
    completions, throughputs = told.figures()
    assert list(completions.series) == ["x", "y", "x, optimum", "y, optimum"]
    dates, tasks = completions.series["x"]
    assert dates.tolist() == [0, *range(2, 21, 2)]
    assert tasks.tolist() == list(range(11))
    # Tasks of x end after 10 s at the optimum, those of y as well.
    ends, done = completions.series["y, optimum"]
    assert (ends[-1], done[-1]) == (pytest.approx(10), pytest.approx(20))
    middle, ratio = throughputs.series["x"]
    assert (middle[0], len(middle)) == (pytest.approx(20.5 / 40), 20)
    # All tasks are in some stretch.
    assert (ratio * FAIR * 20.5 / 20).sum() == pytest.approx(10)


def test_equal_optima_are_one_line(told):
    alike = Bags(("x", "y"), [1e9, 2e9], [1e6, 0.0], [1.0, 1.0], [10, 10])
    done = replace(told.execution, bags=alike)
    completions, _ = BagAssessment(done, steady_state(TREE, alike)).figures()
    assert list(completions.series) == ["x", "y", "optimum"]


def test_change_leaves_no_optimum(told):
    changed = replace(told, changes=True)
    assert changed.best is None
    assert changed.metrics()[-1].value == 3
    assert "before it changed" in changed.listings()[0].note
    completions, throughputs = changed.figures()
    assert list(completions.series) == ["x", "y"]
    assert "at the start" in throughputs.y_label


def test_nothing_done(optimum):
    told = BagAssessment(executed([], [], np.zeros((4, 2), dtype=int)), optimum)
    found = metrics(told)
    assert (found["fair_throughput"], found["fair_slope"], found["makespan"]) == (None, 0, 0)
    assert found["theory"] is None
    undone, ended = told.warnings
    assert "10 of 'x', 20 of 'y' are left" in undone
    assert ended == "No application ended, so that there is no throughput to measure."
    assert columns(told.listings()[1])["port"] == (None,) * 4
    assert [len(figure.series) for figure in told.figures()] == [4, 2]


def test_too_few_tasks_are_not_measured(optimum):
    bags = replace(BAGS, count=np.array([20, 1]))
    # The first application to end sets the time: from 2 s exclusive to 18 s.
    done = executed(np.arange(1.0, 21.0), [20.0], [[0, 0], [16, 1], [4, 0], [0, 0]])
    told = BagAssessment(replace(done, bags=bags), optimum)
    found = metrics(told)
    assert found["fair_throughput"] is None
    assert found["fair_slope"] is None
    applications = told.listings()[0]
    assert applications.column("throughput") == (pytest.approx(1.0), None)
    assert applications.column("slope") == (pytest.approx(1.0), None)
    assert applications.column("gap") == (pytest.approx(0.0), None)
    assert "measure the throughput of 'y'" in applications.note
    assert applications.document()["note"] == applications.note


@pytest.mark.parametrize("latency", [0.0, 0.01])
def test_tasks_so_small_that_requests_dominate_give_a_warning(latency):
    # At the optimum a child gets as many tasks as it computes; a request is 48 bytes long.
    tree = tree_of([-1, 0], [0.0, 1e9], 1e6, latency)
    lasts = latency + 48 / 1e6
    for share in (0.9, 1.1):
        flop = 1e9 * lasts / share
        bags = bags_of([flop], [1e-3 * flop * 0.5], 100)
        done = execute(tree, bags, POLICIES["lag"](tree, bags))
        told = BagAssessment(done, steady_state(tree, bags))
        assert bool(told.warnings) == (share > 1)
        if told.warnings:
            assert "requests dominate" in told.listings()[0].note
            assert "'h1'" in told.listings()[0].note


def dated(*completion, count=None):
    """Return an execution of which only the dates of completions are known."""
    dates = tuple(np.array(each, dtype=np.float64) for each in completion)
    ones = [1.0] * len(dates)
    bags = bags_of(ones, ones, [len(each) for each in dates] if count is None else count)
    return BagExecution(None, bags, "by hand", dates, *([None] * 5))


class TestExperimental:
    def test_counts_between_the_tenths_of_the_first_end(self):
        # T = 100: from 10 exclusive to 90 inclusive there are 20, ..., 90: eight; of b 15 and 45.
        late = [400.0 + n for n in range(6)]
        done = dated([10.0 * n for n in range(1, 11)], [5.0, 15.0, 45.0, 95.0, *late])
        assert_allclose(experimental(done), [8 / 80, 2 / 80])

    def test_epsilon(self):
        done = dated([1.0, 2.0, 3.0, 4.0])
        assert_allclose(experimental(done, 0.0), [4 / 4])
        assert_allclose(experimental(done, 0.25), [2 / 2])

        for wrong in (-0.1, 0.5, 1.0, math.nan):
            with raises_naming(WorkloadError, "epsilon", wrong):
                experimental(done, wrong)

    def test_an_application_that_never_ends_gives_no_end(self):
        done = dated([1.0, 2.0, 3.0, 4.0], [1.0, 1.5], [], count=[4, 5, 5])
        assert_allclose(experimental(done, 0.25), [2 / 2, 1 / 2, 0])
        assert np.all(np.isnan(experimental(dated([1.0], [2.0], count=[20, 20]))))

    @pytest.mark.parametrize("hosts", [1, 3])
    def test_too_few(self, hosts):
        # Each host does a task of either application a second. What is measured of n tasks is off
        # by about 1/n, and of a single wave there would be nothing to count.
        for count in range(1, 40):
            dates = [float(n // hosts + 1) for n in range(count)]
            found = experimental(dated(dates, [2.0 * date for date in dates]))
            known = count >= 10
            assert np.all(np.isfinite(found)) == known
            if known:
                assert_allclose(found, [hosts, hosts / 2], rtol=0.5)

    def test_one_straggler_ruins_it_but_not_the_slope(self):
        steady = [float(n) for n in range(1, 100)]
        done = dated([*steady, 10_000.0])
        assert experimental(done)[0] == 0.0
        assert_allclose(slope(done), [1.0])


class TestSlope:
    def test_is_between_two_fractions(self):
        # 20 tasks: from the 2nd (at 4) to the 18th (at 324).
        assert_allclose(slope(dated([float(n * n) for n in range(1, 21)])), [16 / (324 - 4)])

    def test_too_few(self):
        assert np.isnan(slope(dated([3.0], [1.0, 2.0], [4.0] * 20))).tolist() == [True] * 3
        assert slope(dated([1.0, 2.0], count=[20])).tolist() == [0.0]

    @pytest.mark.parametrize("wrong", [(-0.1, 0.9), (0.9, 0.1), (0.1, math.nan)])
    def test_fractions(self, wrong):
        with raises_naming(WorkloadError, "low", *wrong):
            slope(dated([1.0, 2.0]), *wrong)


def test_fair_is_the_least_per_weight():
    assert fair(np.array([6.0, 3.0]), np.array([3.0, 1.0])) == pytest.approx(2.0)


def test_dates_by_hand():
    # h1 computes in 1 s, its result travels for 2 s; h0 does nothing else but receive.
    tree, bags = tree_of([-1, 0], [0.0, 1e8], 1e6), bags_of([1e8], [2e6], 4)
    done = execute(tree, bags, POLICIES["fcfs"](tree, bags), direction="results", trace=True)
    assert done.completion[0] == pytest.approx([3.0, 5.0, 7.0, 9.0], abs=1e-3)
    assert done.port_busy == pytest.approx([8.0, 0.0], abs=1e-3)
    assert done.computed.tolist() == [[0], [4]]
    trace = done.result.trace
    ways = set(trace.resource[(trace.kind == "comm") & (trace.amount > 1e6)].tolist())
    assert ways == {"h1->h0"}


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), buffer=st.sampled_from([1, 4]))
def test_every_result_comes_back(name, seed, buffer):
    tree, bags = restricted_instance(seed)
    try:
        policy = POLICIES[name](tree, bags)
    except InfeasibleError:
        return
    done = execute(tree, bags, policy, buffer=buffer, direction="results", trace=True)
    assert [len(dates) for dates in done.completion] == bags.count.tolist()
    room, sides = max(buffer, bags.n_applications), {"parallel": name == "bcs"}
    assert trace_violations(done, room, bundled=name == "cgbc", **sides) == []


@pytest.mark.parametrize(("reading", "number"), [("A", 1), ("B", 3), ("C", 22)])
def test_the_optimum_is_that_of_data(reading, number):
    tree, bags = instance(reading, 2008, number)
    best = steady_state(tree, bags).fair
    for name in ("lp", "prices"):
        done = execute(tree, bags, POLICIES[name](tree, bags), direction="results")
        assert np.all(slope(done) > 0.95 * best)
        assert np.all(slope(done) < 1.05 * best)
