import math
from dataclasses import replace

import numpy as np
import pytest
from small_trees import execute

from simplugin.bags.assessment import experimental, fair
from simplugin.bags.policies.shipped import POLICIES
from simplugin.core.errors import WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont import comparisons
from simplugin.papers.beaumont.comparisons import Loss, Ratios, losses, ratios
from simplugin.papers.beaumont.conditions import arguments
from simplugin.papers.beaumont.instances import instance

SEED = 2008


def lost(*values):
    """Return a loss from the ratios of throughputs in the plain model to those under others."""
    with np.errstate(divide="ignore"):
        ratio = Ratios(np.log(values), np.full(len(values), 5))
    return Loss("conditions", "policy", ratio, ratio)


def test_ratios_by_hand(column):
    found = ratios(column(4.0, 1.0, 1.0, 8.0, 1.0), column(1.0, 1.0, 2.0, 2.0, 0.0))
    assert found.mean == pytest.approx((4 * 1 * 0.5 * 4) ** 0.25)
    # Of the two trees of 50 and 100 nodes one has a throughput.
    assert found.large == pytest.approx(4.0)
    assert found.small == pytest.approx((4 * 1 * 0.5) ** (1 / 3))
    assert (found.worst, found.apart) == (math.inf, 1)
    assert found.near_zero.tolist() == [False] * 4 + [True]
    assert found.same.tolist() == [False, True, True, False, False]
    assert found.of(np.array([0, 0, 3])).mean == pytest.approx(4.0)
    assert found.over(found).log[:4].tolist() == [0.0] * 4
    assert found.written() == "1.682, worst inf (1 apart)"


def test_same_is_within_five_percent_and_near_zero_a_thousandth(column):
    assert ratios(column(1.0, 1.0, 1.0), column(0.951, 0.949, 3.0)).same.sum() == 2
    assert Ratios(np.log([999.0, 1001.0]), np.array([5, 5])).near_zero.tolist() == [False, True]
    nothing = ratios(column(0.0, 2.0), column(0.0, 1.0))
    assert (nothing.apart, nothing.mean, nothing.worst) == (1, 2.0, 2.0)


def test_ratios_of_different_trees(column):
    for pair in ((column(1.0), column(1.0, seed=1)), ([], [])):
        with pytest.raises(WorkloadError):
            ratios(*pair)


def test_best_is_that_of_a_policy_that_reaches_the_optimum(column):
    assert comparisons.best(column(0.8, 0.0, 0.2, optimum=0.4)) == pytest.approx(1.0)


def test_policies_without_expectation_have_no_deviation(column):
    found = column(0.9, 1.1, theory=1.0, slope=0.7) + column(1.0, theory=None)
    assert comparisons.deviations(found) == pytest.approx([0.1, -0.1, math.nan], nan_ok=True)
    found = comparisons.deviations(found, by="slope")
    assert found == pytest.approx([0.3, 0.3, math.nan], nan_ok=True)


def test_the_largest_and_the_least_mean():
    found = [Ratios(np.log([value] * 9), np.full(9, 5)) for value in (1.5, 2.0)]
    assert comparisons.extreme(found).interval == pytest.approx((2.0, 2.0))
    assert comparisons.extreme(found, "least").value == pytest.approx(1.5)
    assert comparisons.extreme(found, failed=math.inf).interval == (math.inf, math.inf)
    # What a full run measures further may be larger, or less.
    assert comparisons.extreme(found, more=True).interval == pytest.approx((2.0, math.inf))
    least = comparisons.extreme(found, "least", more=True)
    assert least.interval == pytest.approx((-math.inf, 1.5))


def test_nothing_is_lost_in_the_plain_model():
    [each] = losses((5,), ("fcfs",), ("plain",))
    assert each.lost.log.tolist() == [0.0]
    assert not each.fails
    assert each.behind.mean > 1


def test_a_loss_is_the_ratio_of_two_executions():
    (found,) = losses((1,), ("fcfs",), ("load comes",))
    tree, bags = instance("A", SEED, 1)
    horizon = float(bags.count[0]) / steady_state(tree, bags).fair
    made = POLICIES["fcfs"](tree, bags)
    plain = execute(tree, bags, made)
    further = arguments("load comes", tree, np.random.default_rng([SEED, 1, 5]), horizon, bags)
    loaded = execute(tree, bags, made, **further)
    ratio = fair(experimental(plain), bags.weight) / fair(experimental(loaded), bags.weight)
    assert found.lost.log == pytest.approx([math.log(ratio)], abs=1e-9)


def test_trees_where_nothing_is_left_count():
    found = lost(2.0, 1.0, math.inf)
    assert found.parts == pytest.approx([0.5, 0.0, 1.0])
    assert (found.starved, found.fails) == (1, True)
    # The square root of 2 is the geometric mean of the two that are left.
    assert found.written() == "29.3% (at most 100.0%), nothing left on 1 of 3 trees"
    assert lost(math.inf).written().startswith("all (at most 100.0%)")
    # A throughput of 0 in both is nothing left, though nothing was lost.
    assert lost(math.nan, 0.5).starved == 1
    assert lost(math.nan, 0.5).parts == pytest.approx([-1.0])
    # A throughput that was 0 and is not any more is no loss.
    assert (lost(0.0, 2.0).starved, lost(0.0, 2.0).parts.tolist()) == (0, pytest.approx([0.5]))
    assert lost(math.nan).written() == "has nothing to lose"
    undone = replace(lost(2.0), undone=3)
    assert undone.fails
    assert undone.written().endswith("tasks undone on 3 trees")


def test_lp_with_measured_rates_does_better_where_the_window_bounds_them():
    window = ("default model, latency 6 ms to 10 s",)
    known, unknown = losses((1, 2), ("lp", "lp, unmeasured"), window)
    assert known.behind.log.tolist() == [0.0] * 2
    assert unknown.behind.mean > 1
    assert unknown.mean > known.mean
