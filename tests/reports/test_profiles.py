"""Performance profiles, against their definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import SimpluginError
from simplugin.reports.profiles import profiles

COST = st.one_of(st.none(), st.floats(0.1, 1e3))


def within(found, group, factor):
    """Return the part of the instances on which a group is within a factor of the best."""
    return np.count_nonzero(found.ratios[group] <= factor) / max(found.n, 1)


def test_more_is_better():
    found = profiles({"a": {1: 1.0, 2: 4.0}, "b": {1: 2.0, 2: 2.0}}, sense="max")
    assert found.ratios["a"].tolist() == [1.0, 2.0]
    assert found.ratios["b"].tolist() == [1.0, 2.0]


def test_far_from_the_best_is_no_failure():
    found = profiles({"a": {1: 1e-200}, "b": {1: 1e200}, "c": {1: None}})
    assert within(found, "b", 1e300) == 0.0
    assert within(found, "b", math.nextafter(math.inf, 0)) == 1.0
    assert found.ratios["c"].tolist() == [math.inf]


def test_instances_that_not_all_were_tried_on_are_counted_apart():
    found = profiles({"a": {1: 1.0, 2: 4.0, 9: None}, "b": {1: 2.0, 5: 2.0, 9: math.nan}})
    assert (found.n, found.apart, found.unsolved) == (1, 2, 1)
    assert found.ratios["b"].tolist() == [2.0]
    with pytest.raises(SimpluginError, match="group 'a' has a value of 0"):
        profiles({"a": {1: 0.0}, "b": {1: 1.0}})


@given(st.lists(st.tuples(COST, COST, COST), min_size=1, max_size=15), st.floats(1.0, 1e4))
def test_profiles_are_what_dolan_and_more_define(rows, factor):
    groups = {str(s): {p: row[s] for p, row in enumerate(rows)} for s in range(3)}
    found = profiles(groups)
    costs = np.array([[math.inf if each is None else each for each in row] for row in rows])
    solved = [row for row in costs if np.isfinite(row).any()]
    assert (found.n, found.unsolved) == (len(solved), len(rows) - len(solved))
    for s in range(3):
        expected = sum(row[s] / row.min() <= factor for row in solved) / max(len(solved), 1)
        assert within(found, str(s), factor) == pytest.approx(expected)
    # Each instance has a best group.
    if solved:
        assert sum(within(found, str(s), 1.0) for s in range(3)) >= 1 - 1e-12
