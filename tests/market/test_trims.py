import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simplugin.market.trims import from_last, proportionally


def test_the_last_peers_give_back():
    assert from_last(np.array([5, 0, 4, 3]), 7).tolist() == [5, 0, 2, 0]


def test_all_give_back_in_proportion():
    assert proportionally(np.array([50, 30, 20, 0]), 50).tolist() == [25, 15, 10, 0]
    assert proportionally(np.array([2, 1, 1]), 3).tolist() == [1, 1, 1]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.data())
def test_m_tasks_are_left(amounts, data):
    m = data.draw(st.integers(0, sum(amounts)))
    for trim in (from_last, proportionally):
        left = trim(np.array(amounts), m)
        assert left.sum() == m
        assert np.all((left >= 0) & (left <= amounts))
