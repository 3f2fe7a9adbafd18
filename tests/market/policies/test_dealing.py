import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError
from simplugin.market.policies.shares import one_by_one, round_robin

CAPS = st.lists(st.integers(0, 9), min_size=1, max_size=7)


@given(CAPS, st.data())
def test_round_robin_deals_in_turns(caps, data):
    count = data.draw(st.integers(0, sum(caps)))
    dealt, left, turn = [0] * len(caps), count, 0
    while left:
        peer = turn % len(caps)
        if dealt[peer] < caps[peer]:
            dealt[peer] += 1
            left -= 1
        turn += 1
    assert round_robin(count, np.array(caps)).tolist() == dealt


@given(CAPS, st.data())
def test_one_by_one_fills_in_order(caps, data):
    count = data.draw(st.integers(0, sum(caps)))
    order = data.draw(st.permutations(range(len(caps))))
    dealt, left = [0] * len(caps), count
    for peer in order:
        dealt[peer] = min(caps[peer], left)
        left -= dealt[peer]
    assert one_by_one(count, np.array(caps), np.array(order)).tolist() == dealt


def test_too_small_caps():
    with pytest.raises(InfeasibleError, match="4 tasks cannot be dealt"):
        round_robin(4, np.array([1, 2]))
