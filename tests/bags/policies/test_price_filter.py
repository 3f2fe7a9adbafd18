"""Which links are too slow for which types: worked by hand."""

from __future__ import annotations

import pytest

from simplugin.bags.policies.price_negotiation import Sieve
from simplugin.bags.policy import Known

# Tasks of b go to the second child, where they are rare.
RATES = [[0.0, 1.0], [2.0, 0.0], [0.98, 0.02]]


def known(byte, weight=1.0):
    """Return what a node knows of two types and of two children with links of 1 byte/s."""
    return Known([1.0] * 2, [0.1, byte], [1.0, weight], 1.0, [1.0, 1.0])


def test_a_transfer_costs_what_children_could_have_used_after_their_buffers():
    # Nine tasks last the first child 4.5 s, the second 9 s. A task of b takes 10 s to the second.
    lost, banned = Sieve(10).judge(known(10.0), RATES)
    assert lost == pytest.approx((0.02 * (5.5 * 2 + 1.0 * 0.98), 0.02 * 1.0 * 0.02))
    # Each brings one task of b, and costs twelve of a.
    assert banned == {(1, 1)}


def test_what_a_buffer_hides_costs_nothing():
    assert Sieve(10).judge(known(4.5), RATES) == ((0.0, 0.0), frozenset())
    assert Sieve(21).judge(known(10.0), RATES) == ((0.0, 0.0), frozenset())


@pytest.mark.parametrize(
    ("harsh", "weight", "banned"), [(13, 1.0, False), (11, 1.0, True), (13, 2.0, True)]
)
def test_a_ban_needs_a_loss_above_what_the_flow_brings(harsh, weight, banned):
    # 11.98 tasks of a are lost for one of b.
    lost, found = Sieve(10, harsh).judge(known(10.0, weight), RATES)
    assert lost[0] == pytest.approx(0.02 * 11.98)
    assert bool(found) is banned


def test_children_that_get_nothing_lose_nothing():
    rates = [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert Sieve(10).judge(known(10.0), rates) == ((0.0, 0.0), frozenset())
