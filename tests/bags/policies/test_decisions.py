"""Decisions on states made by hand."""

from __future__ import annotations

import copy
from collections import deque

import pytest

from simplugin.bags.policies.classics import bandwidth_centric, first_come_first_served
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policy import Known, NodePlan, NodeState, servable


def state(
    stock: list[int],
    queue: list[int],
    *,
    bandwidth: tuple[float, ...] = (1e6, 3e6),
    rates: tuple[tuple[float, ...], ...] = (),
    slots: tuple[int, ...] = (),
    root: bool = True,
    busy: bool = False,
    weight: list[float] | None = None,
    arrivals: list[int] | None = None,
) -> NodeState:
    """Return the state of a node with a stock and requests, the oldest first."""
    kinds = len(stock)
    known = Known([1.0] * kinds, [1.0] * kinds, weight or [1.0] * kinds, 1e6, list(bandwidth))
    return NodeState(
        known,
        is_root=root,
        capacity=10,
        stock=stock,
        plan=NodePlan(rates, slots) if rates else None,
        arrivals=deque(arrivals or []),
        asked=[queue.count(target) for target in range(1 + len(bandwidth))],
        queue=deque(queue),
        port_free=not busy,
    )


ALL = ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))


class TestServable:
    def test_who_asks_and_what_is_there(self) -> None:
        assert list(servable(state([0, 2], [2, 0, 2]))) == [(0, 1), (2, 1)]
        assert list(servable(state([0, 0], [2, 0]))) == []
        assert list(servable(state([1, 1], []))) == []

    def test_a_busy_port_leaves_the_worker(self) -> None:
        assert list(servable(state([1, 1], [2, 0, 1], busy=True))) == [(0, 0), (0, 1)]

    def test_requests_that_name_types(self) -> None:
        typed = state([1, 1], [1, 1, 0], rates=ALL, slots=(5, 5))
        typed.wanted[1] = [0, 2]
        assert list(servable(typed)) == [(0, 0), (0, 1), (1, 1)]
        # One of three does not name its type.
        typed.asked[1] = 3
        assert list(servable(typed)) == [(0, 0), (0, 1), (1, 0), (1, 1)]

    def test_nobody_has_to_ask_for_what_no_plan_has(self) -> None:
        typed = state([1, 1], [1], rates=((0.0, 1.0), (0.0, 1.0), (0.0, 1.0)), slots=(0, 9))
        typed.wanted[1] = [0, 1]
        assert list(servable(typed)) == [(1, 0), (1, 1)]


class TestBalanced:
    def test_smallest_given_plus_one_over_rate(self) -> None:
        made = state([9, 9], [0, 1, 2], rates=((1.0, 2.0), (4.0, 0.5), (0.0, 3.0)))
        assert balanced(made) == (1, 0)  # 1/4 before 1/3, 1/2, 1, 2
        made.given[1][0] = 1
        assert balanced(made) == (2, 1)  # 1/3
        made.given[2][1] = 1
        assert balanced(made) == (0, 1)  # 1/2, as (1, 0), but first

    def test_only_what_can_be_served(self) -> None:
        made = state([9, 0], [2], rates=((1.0, 2.0), (4.0, 0.5), (0.0, 3.0)))
        # The child that asks gets no task of type 0; it never waits for the best pair either.
        assert balanced(made) is None
        made.asked[1], made.queue = 1, deque([2, 1])
        assert balanced(made) == (1, 0)

    def test_what_no_rate_is_left_for_goes_to_whoever_asks(self) -> None:
        made = state([1, 0], [2], rates=((0.0, 2.0), (0.0, 0.5), (0.0, 3.0)))
        assert balanced(made) == (2, 0)
        made.stock[1] = 1
        assert balanced(made) == (2, 1)


class TestFirstComeFirstServed:
    def test_oldest_request_and_oldest_task(self) -> None:
        made = state([1, 2], [2, 0, 1], root=False, arrivals=[1, 0, 1])
        assert first_come_first_served(made) == (2, 1)

    def test_a_busy_port_does_not_hold_up_the_worker(self) -> None:
        made = state([1, 1], [2, 1, 0], root=False, arrivals=[0, 1], busy=True)
        assert first_come_first_served(made) == (0, 0)
        assert first_come_first_served(state([1, 1], [2, 1], busy=True)) is None

    def test_the_root_takes_types_in_turn(self) -> None:
        made = state([5, 5], [1])
        taken = []
        for _ in range(4):
            choice = first_come_first_served(made)
            assert choice is not None
            taken.append(choice[1])
            made.given[1][choice[1]] += 1
        assert taken == [0, 1, 0, 1]

    def test_in_proportion_to_weights(self) -> None:
        made = state([50, 50], [1], weight=[3.0, 1.0])
        for _ in range(40):
            choice = first_come_first_served(made)
            assert choice is not None
            made.given[1][choice[1]] += 1
        assert made.given[1] == [30, 10]

    def test_types_that_have_ended_are_passed_over(self) -> None:
        assert first_come_first_served(state([0, 5], [1])) == (1, 1)
        assert first_come_first_served(state([0, 0], [1])) is None


class TestBandwidthCentric:
    def test_worker_then_by_bandwidth(self) -> None:
        assert bandwidth_centric(state([5], [1, 2, 0])) == (0, 0)
        assert bandwidth_centric(state([5], [1, 2])) == (2, 0)
        assert bandwidth_centric(state([5], [1])) == (1, 0)
        assert bandwidth_centric(state([5], [1, 2], bandwidth=(2.0, 2.0))) == (1, 0)

    def test_port_and_stock(self) -> None:
        assert bandwidth_centric(state([5], [1, 2], busy=True)) is None
        assert bandwidth_centric(state([5], [1, 0], busy=True)) == (0, 0)
        assert bandwidth_centric(state([0], [1, 0])) is None


@pytest.mark.parametrize("decide", [balanced, bandwidth_centric, first_come_first_served])
@pytest.mark.parametrize("busy", [False, True])
def test_decisions_change_nothing(decide, busy) -> None:  # type: ignore[no-untyped-def]
    made = state([3, 4], [2, 0, 1, 1], rates=ALL, root=False, arrivals=[1, 0] * 3, busy=busy)
    before = copy.deepcopy(made)
    first = decide(made)
    assert made == before
    assert decide(made) == first
    assert first in list(servable(made))
