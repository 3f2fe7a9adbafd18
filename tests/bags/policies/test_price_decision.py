"""Decisions by negotiated rates, and which links are too slow for which types."""

from __future__ import annotations

from collections import deque

import pytest

from simplugin.bags.policies.price_negotiation import Sieve
from simplugin.bags.policies.prices import LEAD, priced, slots_for
from simplugin.bags.policy import Known, NodePlan, NodeState


def state(rates, stock, asked, given=None, *, root=False, **fields):
    """Return a node whose requests name no type unless they are said to."""
    ones = [1.0] * len(stock)
    return NodeState(
        Known(ones, ones, ones, 1.0, [1.0] * (len(rates) - 1)),
        root,
        10,
        list(stock),
        NodePlan(tuple(map(tuple, rates))),
        asked=list(asked),
        queue=deque(),
        given=given or [[0] * len(stock) for _ in rates],
        **fields,
    )


def test_the_pair_most_behind_comes_first():
    # Due at 1/1, 3/2, 2/4 in planned time.
    rates = [[1.0, 0.0], [0.0, 2.0], [4.0, 0.0]]
    given = [[0, 0], [0, 2], [1, 0]]
    assert priced(state(rates, [5, 5], [1, 1, 1], given)) == (2, 0)
    assert priced(state(rates, [5, 5], [1, 1, 0], given)) == (0, 0)
    assert priced(state(rates, [0, 5], [1, 1, 1], given)) == (1, 1)
    assert priced(state(rates, [5, 5], [1, 1, 1], given, port_free=False)) == (0, 0)
    assert priced(state(rates, [5, 5], [0, 1, 1], given, port_free=False)) is None


def test_below_the_root_a_type_waits_for_the_target_that_is_behind():
    # The worker has had its share; the child, which is being sent something else, has not.
    rates = [[1.0, 1.0], [1.0, 0.0]]
    given = [[1, 0], [0, 0]]
    assert priced(state(rates, [3, 0], [1, 0], given)) is None
    assert priced(state(rates, [3, 0], [1, 0], [[1, 0], [1, 0]])) == (0, 0)
    # Of another type it may have more.
    assert priced(state(rates, [3, 1], [1, 0], given)) == (0, 1)


def test_the_root_lets_no_type_run_away():
    rates = [[1.0, 0.0], [0.0, 1.0]]
    lead = int(LEAD)
    # The next task of the other type is due at 1.
    assert priced(state(rates, [300, 300], [1, 0], [[lead - 1, 0], [0, 0]], root=True)) == (0, 0)
    ahead = [[lead, 0], [0, 0]]
    assert priced(state(rates, [300, 300], [1, 0], ahead, root=True)) is None
    # Once the other type has ended nobody waits for it.
    assert priced(state(rates, [300, 0], [1, 0], ahead, root=True)) == (0, 0)


def test_a_rare_type_of_a_target_does_not_come_early():
    # One in fifty of what the child gets: due when it has had fifty of the others.
    rates = [[0.0, 0.0], [50.0, 1.0]]
    asked = [0, 1]
    typed = {"wanted": [[0, 0], [0, 1]]}
    assert priced(state(rates, [300, 300], asked, [[0, 0], [10, 0]], root=True, **typed)) == (1, 1)
    early = [[0, 0], [10, 1]]
    assert priced(state(rates, [300, 300], asked, early, root=True, **typed)) is None
    due = [[0, 0], [60, 1]]
    assert priced(state(rates, [300, 300], asked, due, root=True, **typed)) == (1, 1)


def test_what_an_earlier_plan_left_goes_to_whoever_asks_last_of_all():
    rates = [[0.0, 1.0], [0.0, 0.0]]
    assert priced(state(rates, [1, 0], [0, 1])) == (1, 0)
    assert priced(state(rates, [1, 1], [1, 1])) == (0, 1)


@pytest.mark.parametrize(
    ("inflow", "capacity", "slots"),
    [
        ((1e3, 1.0), 10, (9, 1)),
        ((0.0, 1.0), 10, (0, 10)),
        ((5.0, 3.0, 2.0), 10, (5, 3, 2)),
        ((1.0, 1.0, 1.0), 3, (1, 1, 1)),
        ((1.0, 1.0, 1.0), 2, ()),
        ((0.0, 0.0), 10, ()),
    ],
)
def test_slots_are_split_in_proportion(inflow, capacity, slots):
    assert slots_for([[x / 2 for x in inflow], [x / 2 for x in inflow]], capacity) == slots


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
