"""Throughputs of dates made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_trees import bags_of

from simplugin.bags.assessment import experimental, fair, slope
from simplugin.bags.execution import Execution
from simplugin.errors import WorkloadError


def dated(*completion, count=None):
    """Return an execution of which only the dates of completions are known."""
    dates = tuple(np.array(each, dtype=np.float64) for each in completion)
    ones = [1.0] * len(dates)
    bags = bags_of(ones, ones, [len(each) for each in dates] if count is None else count)
    return Execution(None, bags, "by hand", dates, *([None] * 5))


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
            with pytest.raises(WorkloadError, match="epsilon"):
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
        with pytest.raises(WorkloadError, match="low"):
            slope(dated([1.0, 2.0]), *wrong)


def test_fair_is_the_least_per_weight():
    assert fair(np.array([6.0, 3.0]), np.array([3.0, 1.0])) == pytest.approx(2.0)
