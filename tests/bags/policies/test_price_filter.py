"""Which links are too slow for which types: worked by hand."""

from __future__ import annotations

import pytest

from simplugin.bags.policies.price_negotiation import Sieve
from simplugin.bags.policy import Known


def known(byte, bandwidth, weight=None):
    """Return what a node knows of types that differ in their data."""
    kinds = len(byte)
    return Known([1.0] * kinds, byte, weight or [1.0] * kinds, 1.0, bandwidth)


def test_a_transfer_costs_what_children_could_have_used_after_their_buffers():
    # Nine tasks last the first child 4.5 s, the second 9 s. A task of b takes 10 s to the second.
    lost, banned = Sieve(10).judge(
        known([0.1, 10.0], [1.0, 1.0]), [[0.0, 1.0], [2.0, 0.0], [0.98, 0.02]]
    )
    assert lost == pytest.approx((0.02 * (5.5 * 2 + 1.0 * 0.98), 0.02 * 1.0 * 0.02))
    # Each brings one task of b, and costs twelve of a.
    assert banned == {(1, 1)}


def test_what_a_buffer_hides_costs_nothing():
    rates = [[0.0, 1.0], [2.0, 0.0], [0.98, 0.02]]
    assert Sieve(10).judge(known([0.1, 4.5], [1.0, 1.0]), rates) == ((0.0, 0.0), frozenset())
    assert Sieve(21).judge(known([0.1, 10.0], [1.0, 1.0]), rates) == ((0.0, 0.0), frozenset())


@pytest.mark.parametrize(
    ("harsh", "weight", "banned"), [(13, 1.0, False), (11, 1.0, True), (13, 2.0, True)]
)
def test_a_ban_needs_a_loss_above_what_the_flow_brings(harsh, weight, banned):
    # 11.98 tasks of a are lost for one of b.
    rates = [[0.0, 1.0], [2.0, 0.0], [0.98, 0.02]]
    measured = known([0.1, 10.0], [1.0, 1.0], [1.0, weight])
    lost, found = Sieve(10, harsh).judge(measured, rates)
    assert lost[0] == pytest.approx(0.02 * 11.98)
    assert bool(found) is banned


def test_children_that_get_nothing_lose_nothing():
    lost, banned = Sieve(10).judge(known([10.0], [1.0, 1.0]), [[1.0], [0.0], [0.0]])
    assert lost == (0.0,)
    assert not banned
